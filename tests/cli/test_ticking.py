"""Whoever waits hears what is done, for how long, and how long it may take."""

import threading
import time

import pytest

from cogworks.cli.progress import loading_meanwhile, ticking
from cogworks.domain_services.transport import ServiceFailed
from cogworks.errors import ToBeContinued
from cogworks.telling import in_silence
from tests.limits import ENDS_WITHIN_S


def test_a_long_thing_is_told_from_its_beginning_to_its_end() -> None:
    lines: list[str] = []
    told = threading.Event()

    def say(line: str) -> None:
        lines.append(line)
        if len(lines) == 3:
            told.set()

    with ticking(say, first_s=0.01)("running the suite", 600):
        assert told.wait(ENDS_WITHIN_S)

    assert lines[0] == "running the suite (at most 600 s)"
    assert lines[1] == "running the suite: 0 s of at most 600 s"
    assert lines[-1].startswith("running the suite: ended after ")


def test_of_what_happens_within_an_announced_block_no_progress_is_told() -> None:
    lines: list[str] = []
    waiting = ticking(lines.append, first_s=0.01, only_long=True)

    with ticking(lambda _: None)("baseline", 600), waiting("running tests", 600):
        time.sleep(0.1)
    assert lines == []

    told = threading.Event()
    with ticking(lambda _: told.set(), first_s=0.01, only_long=True)("running tests", 600):
        assert told.wait(ENDS_WITHIN_S)


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (ServiceFailed("no pnpm", service="command", method="prepare"), "failed"),
        (RuntimeError("a defect"), "failed"),
        (ToBeContinued("half of it"), "ended"),
        (KeyboardInterrupt(), "ended"),
    ],
)
def test_what_fails_is_not_told_as_if_it_had_ended_well(error: BaseException, ending: str) -> None:
    lines: list[str] = []

    with pytest.raises(type(error)), ticking(lines.append)("making the environment", 600):
        raise error

    assert lines[-1].startswith(f"making the environment: {ending} after ")


def test_it_is_told_after_two_seconds_and_then_more_and_more_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    class Ended(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            if timeout is not None:
                pauses.append(timeout)
                timeout /= 10_000
            return super().wait(timeout)

    told = threading.Event()
    monkeypatch.setattr(threading, "Event", Ended)

    def say(_: str) -> None:
        if len(pauses) > 6:
            told.set()

    with ticking(say, only_long=True)("running the suite", 600):
        assert told.wait(ENDS_WITHIN_S)

    assert pauses[:7] == [2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]


def test_where_only_long_things_count_short_ones_are_silent_and_long_ones_tell_their_time() -> None:
    lines: list[str] = []
    told = threading.Event()

    def say(line: str) -> None:
        lines.append(line)
        told.set()

    with ticking(say, first_s=ENDS_WITHIN_S, only_long=True)("running 1 test(s)", 300):
        pass
    assert lines == []

    with ticking(say, first_s=0.01, only_long=True)("running the suite", 600):
        assert told.wait(ENDS_WITHIN_S)

    assert all(line.endswith(" s of at most 600 s") for line in lines)


def test_how_far_it_has_come_is_told_as_soon_as_it_is_known() -> None:
    lines: list[str] = []
    told = threading.Event()
    known = iter(["", "12 tokens so far"])

    def say(line: str) -> None:
        lines.append(line)
        if len(lines) == 2:
            told.set()

    with ticking(say, first_s=0.01, only_long=True)("waiting", 600, lambda: next(known, "more")):
        assert told.wait(ENDS_WITHIN_S)

    assert lines[:2] == ["waiting: 0 s of at most 600 s", "waiting: 0 s of at most 600 s, 12 tokens so far"]


def test_whoever_waits_for_the_first_long_thing_loads_meanwhile_and_once() -> None:
    loaded: list[threading.Thread] = []
    ended = threading.Event()

    def load() -> None:
        loaded.append(threading.current_thread())
        ended.set()

    during = loading_meanwhile(in_silence, load)
    assert loaded == []
    with during("running the suite", 600):
        assert ended.wait(ENDS_WITHIN_S)
    with during("running the suite", 600):
        pass

    assert len(loaded) == 1
    assert loaded[0] is not threading.current_thread()
