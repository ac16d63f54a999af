"""Everything that models write instead of what they were asked for: put right by a rule, or refused with what is wrong."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from cogworks.llm.conversation import Wanted, read_turn
from cogworks.llm.replies import MAX_PROBLEM_CHARS, Fits, Misfits, read_reply
from cogworks.llm.schemas import full_schema
from cogworks.nodes.replies import Classification

CORPUS = Path(__file__).parent / "corpus"
SCHEMA = full_schema(Classification)
FITS = "fits: "


def expected() -> Mapping[str, str]:
    """Name of a reply -> `fits: ` and the rule, or a part of what is told to be wrong."""
    return tomllib.loads((CORPUS / "expected.toml").read_text("utf-8"))


def reply(name: str) -> str:
    # As a door hands it on: what is no UTF-8 never gets here as bytes.
    return (CORPUS / f"{name}.txt").read_bytes().decode("utf-8", "replace")


def test_every_reply_has_its_verdict_and_there_are_enough() -> None:
    assert sorted(expected()) == sorted(path.stem for path in CORPUS.glob("*.txt"))
    assert len(expected()) >= 60


@pytest.mark.parametrize("name", sorted(expected()))
def test_a_malformed_reply_is_put_right_by_a_rule_or_refused_with_what_is_wrong(name: str) -> None:
    wanted = expected()[name]

    found = read_reply(reply(name), SCHEMA, Classification)

    if wanted.startswith(FITS):
        assert isinstance(found, Fits)
        assert found.value.type == "bug_fix"
    else:
        assert isinstance(found, Misfits)
        assert wanted in "\n".join(found.problems)
        assert all(len(problem) <= MAX_PROBLEM_CHARS + 1 for problem in found.problems)


@pytest.mark.parametrize("name", sorted(expected()))
def test_a_conversation_judges_a_malformed_reply_alike(name: str) -> None:
    turn = read_turn(reply(name), Wanted(Classification, SCHEMA), {"type": "object"})

    assert (turn.answer is not None) == expected()[name].startswith(FITS)
    assert turn.looks == ()
