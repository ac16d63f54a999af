"""What a model may claim to have declared."""

import pytest

from cogworks.domain_services.answers import NotOffered
from cogworks.domain_services.checking import Interface, InterfaceMap
from cogworks.nodes.contract import Succeeded
from cogworks.nodes.interface_design import run, undeclared
from cogworks.nodes.replies import InterfaceName
from tests.nodes.examples import INTERFACES, ports, task

NOBODY = NotOffered(service="text", method="extract_interfaces", offered=("validate",))


def interface(path: str, name: str, signature: str = "", documentation: str = "") -> Interface:
    return Interface(
        name=name, kind="function", artifact=path, signature=signature, documentation=documentation
    )


def offers(*interfaces: Interface, status: str = "complete") -> InterfaceMap:
    return InterfaceMap.model_validate({"status": status, "interfaces": interfaces})


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Subtracts", "is not declared in"),
        ("_Subtracts", "is private, and what is private is no interface of"),
    ],
    ids=["missing", "private"],
)
def test_a_claimed_name_that_the_file_does_not_declare_goes_back(name: str, why: str) -> None:
    path = INTERFACES.files[0].path
    wrong = INTERFACES.interfaces[0].model_copy(update={"name": name})
    world = ports(INTERFACES.model_copy(update={"interfaces": (wrong,)}), INTERFACES)
    world.service.offered = offers(
        interface(path, "adder.contracts.Adds"), interface(path, "adder.contracts.LIMIT")
    )

    assert isinstance(run(task("interface_design"), world), Succeeded)
    assert f"interface {name!r} {why} '{path}', which offers Adds, LIMIT" in world.model.asked[1]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Adds", offers(interface("a.py", "m.Adds"))),
        ("m.Adds", offers(interface("a.py", "m.Adds"))),
        ("Adds.add(x: m.Row, y=0)", offers(interface("a.py", "m.Adds.add"))),
        ("Adds[T]", offers(interface("a.py", "m.Adds"))),
        ("shop::Adds<T>", offers(interface("a.py", "shop::Adds"))),
        ("Gone", offers(interface("b.py", "m.Adds"))),
        ("Gone", offers(interface("a.py", "m.Adds"), status="incomplete")),
        ("Gone", NOBODY),
        ("!", offers(interface("a.py", "!"))),
    ],
    ids=[
        "plain",
        "qualified",
        "with-parameters",
        "generic",
        "other-language",
        "other-file",
        "incomplete",
        "nobody",
        "sign",
    ],
)
def test_a_claim_is_believed_unless_the_service_knows_better(
    name: str, found: InterfaceMap | NotOffered
) -> None:
    assert undeclared([InterfaceName(name=name, path="a.py", purpose="")], found) == []
