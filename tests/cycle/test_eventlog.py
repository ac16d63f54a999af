"""A log reads back as it was written, and whatever was changed in it is found by its line."""

import json
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.cycle import eventlog
from cogworks.cycle.eventlog import (
    LogDamaged,
    event_fields,
    line_of,
    read_events,
    segment_names,
    segments,
    text_of,
)
from cogworks.cycle.events import KINDS, Event
from cogworks.cycle.replay import verify
from cogworks.cycle.results import Action
from tests.cycle.remembered import remembered
from tests.cycle.scripted import cycle, rechained, recorded
from tests.exhaustive import MANY, examples

LOG = recorded()
TEXT = text_of(segments(LOG))
LINES = TEXT.splitlines()


def test_a_log_reads_back_as_it_was_written() -> None:
    assert read_events(TEXT) == LOG


def test_every_kind_of_event_reads_back() -> None:
    from cogworks.cycle.flow import Draft
    from cogworks.cycle.proposing import Generator

    run = cycle(
        generators=(Generator("g", lambda _: [Draft(Action.ABORT, 1.0), Draft(Action.APPLY_PATCH, 0.1)]),),
        experience=[remembered("APPLY_PATCH", 0)],
    )
    run.force(Action.LINT, 'é \u2028 \ud800 "quoted"')
    run.force(Action.ABORT, "b")
    run.force(Action.RUN_TESTS, "c")
    run.run_until_done()

    found = read_events(text_of(segments(run.events)))

    assert found == run.events
    assert {event.kind for event in found} == set(KINDS)


def test_events_are_told_as_ordered_objects() -> None:
    first = [event_fields(event) for event in LOG][1]

    assert (first["seq"], first["event"], set(first["payload"])) == (1, "CYCLE_START", {"context_digest"})
    assert json.loads(json.dumps(first)) == first


def test_a_long_log_has_several_segments_and_no_event_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eventlog, "MAX_SEGMENT_CHARS", 5_000)

    parts = segments(LOG)

    assert len(parts) > 3
    assert all(part.endswith("\n") for part in parts)
    assert read_events(text_of(parts)) == LOG


def test_segments_are_found_among_other_files_in_their_order() -> None:
    names = [
        "v/events-10.ndjson",
        "v/events-2.ndjson",
        "v/reply-1.json",
        "v/events-1.ndjson",
        "v/events-x.ndjson",
    ]

    assert segment_names(names) == ["v/events-1.ndjson", "v/events-2.ndjson", "v/events-10.ndjson"]


def replaced(number: int, line: str) -> str:
    return "\n".join([*LINES[: number - 1], line, *LINES[number:], ""])


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (replaced(3, LINES[2].replace('"saliency":0.9', '"saliency":0.8')), 3, "was changed"),
        (replaced(4, LINES[3] + " "), 4, "is not written as an event is"),
        (replaced(4, "{}"), 4, "is not written as an event is"),
        (replaced(4, "nonsense"), 4, "is not JSON"),
        (replaced(4, LINES[4]), 4, "has the sequence number 4; 3 is its place"),
        ("\n".join([*LINES[:3], *LINES[4:], ""]), 4, "has the sequence number"),
        (TEXT[:-1], len(LINES), "does not end with a line feed"),
        ("\n".join([*LINES[1:], ""]), 1, "has the sequence number 1; 0 is its place"),
        (replaced(3, LINES[2].replace('"at_ms":0.0', '"at_ms":9.0')), 3, "was changed in `wall`"),
    ],
    ids=["score", "blank", "empty", "nonsense", "swapped", "missing", "cut-off", "no-header", "wall"],
)
def test_what_was_changed_is_found_by_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(LogDamaged, match=problem) as raised:
        read_events(text)
    assert raised.value.line == line


def test_a_line_chained_anew_is_found_by_the_line_after_it() -> None:
    changed = LOG[3].model_copy(update={"body": LOG[3].body.model_copy(update={"score": 1})})
    forged = rechained([*LOG[:3], changed])[3]

    with pytest.raises(LogDamaged, match="line 5 of the event log does not follow the line before it"):
        read_events(replaced(4, line_of(forged)))


@pytest.mark.parametrize(
    "cases", [100, pytest.param(MANY, id="many", marks=[pytest.mark.slow, pytest.mark.timeout(900)])]
)
def test_any_changed_byte_is_found_on_its_line_or_the_next(cases: int) -> None:
    data = TEXT.encode()

    @settings(max_examples=examples(cases))
    @given(st.integers(0, len(data) - 1), st.integers(1, 255))
    def holds(at: int, flip: int) -> None:
        changed = bytearray(data)
        changed[at] ^= flip
        number = data[:at].count(b"\n") + 1
        with pytest.raises(LogDamaged) as raised:
            read_events(changed.decode(errors="replace"))
        # Nothing behind the change is wrong before it; a line feed in the wrong place moves what follows by one.
        assert number <= raised.value.line <= number + 1 or raised.value.line == TEXT.count("\n")

    holds()


def mutations(every: int) -> Iterator[tuple[int, list[Event]]]:
    """The log deleted from, doubled in, swapped or moved to another cycle, at every so many-th place, with that place."""
    for at in range(1, len(LOG) - 1, every):
        yield at, [*LOG[:at], *LOG[at + 1 :]]
        yield at, [*LOG[:at], LOG[at], *LOG[at:]]
        yield at, [*LOG[:at], LOG[at + 1], LOG[at], *LOG[at + 2 :]]
        moved = LOG[at].model_copy(update={"cycle": LOG[at].cycle + 1})
        yield at, [*LOG[:at], moved, *LOG[at + 1 :]]


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_any_mutation_that_is_chained_anew_is_found_by_the_replay(every: int) -> None:
    for at, log in mutations(every):
        replayed = verify(rechained(log))

        assert replayed.divergence is not None or not replayed.is_complete
        first = replayed.divergence.seq if replayed.divergence else replayed.events
        assert first <= at + 1


def changed_fields(event: Event) -> Sequence[Event]:
    """The event with each of its simple fields changed."""
    made = []
    for name, value in event.body.model_dump().items():
        other: object = None
        if isinstance(value, bool):
            other = not value
        elif isinstance(value, int):
            other = value + 1
        elif isinstance(value, str) and name not in ("action", "error_type"):
            other = value + "x"
        if other is not None:
            made.append(event.model_copy(update={"body": event.body.model_copy(update={name: other})}))
    return made


def test_any_changed_field_that_is_chained_anew_is_found_by_the_replay() -> None:
    for at, event in enumerate(LOG[1:20], 1):
        for changed in changed_fields(event):
            replayed = verify(rechained([*LOG[:at], changed, *LOG[at + 1 :]]))
            assert replayed.divergence is not None
            assert replayed.divergence.seq == at
            assert replayed.divergence.field.startswith("payload.")
