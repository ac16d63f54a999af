from threading import Event

import pytest

from cogworks.errors import TryAgainLater
from cogworks.ledger.lease import Heartbeat

NEVER_S = 3600.0
AT_ONCE_S = 0.0
PATIENCE_S = 30.0
"""Only a broken heartbeat makes a test wait as long."""


def test_a_lease_is_renewed_again_and_again_while_the_node_blocks() -> None:
    renewals, enough = 0, Event()

    def renew() -> None:
        nonlocal renewals
        renewals += 1
        if renewals == 3:
            enough.set()

    with Heartbeat(renew, interval_s=AT_ONCE_S, warn=pytest.fail):
        assert enough.wait(PATIENCE_S)


def test_a_renewal_that_fails_is_told_and_left_to_the_next_one() -> None:
    warnings: list[str] = []
    renewed = Event()

    def renew() -> None:
        if not warnings:
            raise TryAgainLater("GitHub is out of order")
        renewed.set()

    with Heartbeat(renew, interval_s=AT_ONCE_S, warn=warnings.append):
        assert renewed.wait(PATIENCE_S)

    assert warnings == ["the lease could not be renewed: GitHub is out of order"]


def test_nothing_is_renewed_before_the_first_interval_is_over() -> None:
    renewed = Event()

    with Heartbeat(renewed.set, interval_s=NEVER_S, warn=pytest.fail):
        pass

    assert not renewed.is_set()


def test_the_heart_has_stopped_when_the_block_is_left_by_an_error() -> None:
    renewals = 0
    beating = Event()

    def renew() -> None:
        nonlocal renewals
        renewals += 1
        beating.set()

    heartbeat = Heartbeat(renew, interval_s=AT_ONCE_S, warn=pytest.fail)

    def node() -> None:
        with heartbeat:
            assert beating.wait(PATIENCE_S)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        node()

    assert not heartbeat._thread.is_alive()
