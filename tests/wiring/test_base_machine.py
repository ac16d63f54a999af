"""What the ledger keeps of a base is believed only on a machine that can isolate code."""

from cogworks.machine_kind import machine_kind
from cogworks.services.sandbox.isolation import NO_ISOLATION, Isolation
from cogworks.wiring.step import kind_of_isolating_machine


def test_a_machine_without_isolation_is_of_no_kind() -> None:
    assert kind_of_isolating_machine(NO_ISOLATION) == ""
    assert kind_of_isolating_machine(Isolation("namespaces")) == machine_kind()
