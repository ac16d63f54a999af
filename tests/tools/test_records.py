"""An audit is a chain: whoever edits, removes, adds or moves a line is found out by its number."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.canonical import canonical, sha256
from cogworks.leaving import HIDDEN
from cogworks.tools.plans import Goal
from cogworks.tools.records import (
    MAX_KEPT_CHARS,
    AuditDamaged,
    Identity,
    Record,
    Redactor,
    Trail,
    comparable,
    is_closed,
    line_of,
    read_records,
)
from cogworks.tools.registry import ToolRegistry
from tests.exhaustive import examples
from tests.tools.tooling import PROFILE, Handler, World, allowing, failing, reading


def recorded(seed: str = "seed") -> tuple[Record, ...]:
    registry = ToolRegistry()
    reading(registry, "a", Handler(failing(), {"n": 1}))
    reading(registry, "b", Handler(ValueError("no")))
    world = World(registry, [allowing("a", "b")], seed=seed)
    world.controller.run(Goal(text="a b", inputs={"x": 1}), PROFILE)
    return world.trail.records


LINES = [line_of(record) + "\n" for record in recorded()]


def test_an_audit_is_read_back_as_it_was_written() -> None:
    assert read_records("".join(LINES)) == recorded()
    assert is_closed(recorded())


def edited(lines: list[str]) -> list[str]:
    return [*lines[:3], lines[3].replace('"attempt":0', '"attempt":9'), *lines[4:]]


def reforged(lines: list[str]) -> list[str]:
    """An edit with a fitting hash: the line behind it knows the old one."""
    data = {**json.loads(lines[3]), "attempt": 9}
    data["hash"] = sha256(canonical({name: value for name, value in data.items() if name != "hash"}))
    return [*lines[:3], canonical(data) + "\n", *lines[4:]]


@pytest.mark.parametrize(
    ("change", "line", "problem"),
    [
        (edited, 4, "was edited: its hash is another"),
        (reforged, 5, "does not follow the line before it"),
        (lambda lines: [*lines[:3], *lines[4:]], 4, "does not follow the line before it (it is record 4)"),
        (lambda lines: lines[1:], 1, "does not follow the line before it"),
        (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], 3, "was taken away, added or moved"),
        (lambda lines: [*lines[:3], lines[2], *lines[3:]], 4, "was taken away, added or moved"),
        (lambda lines: [*lines[:2], "nonsense\n"], 3, "is no record"),
        (lambda lines: [*lines[:2], lines[2][:-1]], 3, "was cut off inside it"),
        (lambda lines: [*lines[:2], lines[2].replace(",", ", ", 1)], 3, "was edited"),
    ],
    ids=["edited", "reforged", "removed", "first-removed", "moved", "doubled", "nonsense", "cut", "blank"],
)
def test_what_was_done_to_an_audit_is_found_where_it_was_done(
    change: Callable[[list[str]], list[str]], line: int, problem: str
) -> None:
    with pytest.raises(AuditDamaged) as damaged:
        read_records("".join(change(LINES)))

    assert (damaged.value.line, problem in damaged.value.problem) == (line, True)


@settings(deadline=None, max_examples=examples(40))
@given(st.data())
def test_any_changed_character_is_found_on_its_line_or_the_next(data: st.DataObject) -> None:
    text = "".join(LINES)
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(codec="utf-8").filter(lambda character: character != text[at]))

    with pytest.raises(AuditDamaged) as damaged:
        read_records(text[:at] + other + text[at + 1 :])

    assert damaged.value.line - text[:at].count("\n") in (1, 2)


def test_an_audit_without_its_end_says_so() -> None:
    assert not is_closed(read_records("".join(LINES[:-1])))
    assert not is_closed(())


def test_equal_runs_differ_only_in_times() -> None:
    one, other = recorded(), recorded()
    later = tuple(record.model_copy(update={"at_s": record.at_s + 9, "duration_ms": 7.0}) for record in other)

    assert [comparable(record) for record in one] == [comparable(record) for record in later]
    assert [comparable(record) for record in one] != [comparable(record) for record in recorded("another")]


def test_a_document_is_kept_with_the_digest_of_what_it_really_was() -> None:
    trail = Trail(Identity(), now=lambda: 0.0, redactor=Redactor(), keep=lambda record: None)
    long = {"text": "x" * MAX_KEPT_CHARS}

    secret, large = trail.add("plan_step", input={"token": "t"}), trail.add("plan_step", input=long)

    assert (secret.input_redacted, secret.input_digest) == ({"token": HIDDEN}, sha256('{"token":"t"}'))
    assert (large.input_redacted, large.input_digest) == (HIDDEN, sha256(canonical(long)))
