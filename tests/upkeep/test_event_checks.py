"""`fsck` and event logs: a changed, shortened or doubled one is a finding; one that is still being written is not."""

import json

import pytest

from cogworks.cycle import eventlog
from cogworks.cycle.eventlog import segments
from cogworks.cycle.events import Committed
from cogworks.upkeep.checking import check_events
from tests.cycle.scripted import rechained, recorded

FOLDER = "visits/0005-code_generation@2"
LOG = recorded()
TEXT = "".join(segments(LOG))
OUTPUT = json.dumps({"cycle": {"events_head": LOG[-1].hash}})


def problems(text: str | None, output: str | None = OUTPUT) -> list[str]:
    files = {
        f"{FOLDER}/events-1.ndjson": text,
        f"{FOLDER}/output.json": output,
        "visits/0001-intake/visit.json": "{}",
    }
    return [found.problem for found in check_events(files)]


def test_a_log_as_it_was_written_is_fine() -> None:
    assert problems(TEXT) == []


def test_a_log_in_several_segments_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eventlog, "MAX_SEGMENT_CHARS", 3_000)
    files = {f"{FOLDER}/events-{n}.ndjson": text for n, text in enumerate(segments(LOG), 1)}

    assert len(files) > 9
    assert list(check_events(files)) == []


def test_what_a_dead_runner_left_behind_an_empty_segment_is_no_part_of_the_log() -> None:
    files = {
        f"{FOLDER}/events-1.ndjson": TEXT,
        f"{FOLDER}/events-2.ndjson": "",
        f"{FOLDER}/events-3.ndjson": "something older\n",
        f"{FOLDER}/output.json": OUTPUT,
    }

    assert list(check_events(files)) == []


def test_a_log_that_is_still_being_written_is_fine() -> None:
    assert problems("".join(segments(LOG[:20])), None) == []


def doubled() -> str:
    at = next(number for number, event in enumerate(LOG) if isinstance(event.body, Committed))
    return "".join(segments(rechained([*LOG[: at + 1], *LOG[at:]])))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            TEXT.replace('"saliency":0.9', '"saliency":0.8', 1),
            "line 3 of the event log was changed: its hash is another",
        ),
        (doubled(), "event 6 (cycle 1): commit 2 in one cycle"),
        (
            "".join(segments(LOG[:-1])),
            f"the log does not end with event {LOG[-1].hash[:12]}, as `output.json` says",
        ),
        (None, "has a segment that GitHub does not give as text"),
    ],
    ids=["changed", "two-decisions", "shortened", "too-large"],
)
def test_what_is_wrong_with_a_log_is_a_finding(text: str | None, problem: str) -> None:
    assert problems(text)[0] == problem


def test_an_output_without_a_cycle_promises_nothing() -> None:
    assert problems(TEXT, "[]") == []
    assert problems(TEXT, "nonsense") == []
