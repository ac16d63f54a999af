from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, model_validator

from cogworks.canonical import canonical_text
from cogworks.llm.replies import MAX_PROBLEM_CHARS, MAX_PROBLEMS, Fits, Misfits, parse_json, read_reply
from cogworks.llm.schemas import full_schema


class Verdict(BaseModel):
    passed: bool
    findings: list[Annotated[str, Field(max_length=5)]] = []

    @model_validator(mode="after")
    def _agrees(self) -> "Verdict":
        if self.passed and "block" in self.findings:
            raise ValueError("passed, but a finding blocks")
        return self


SCHEMA = full_schema(Verdict)


def test_a_reply_that_fits_is_typed() -> None:
    assert read_reply('{"passed": true}', SCHEMA, Verdict) == Fits(Verdict(passed=True))


def test_all_problems_are_listed_in_the_order_of_the_reply() -> None:
    found = read_reply('{"passed": "yes", "findings": ["ok", "too long", 3]}', SCHEMA, Verdict)

    assert found == Misfits(
        (
            "$.findings[1]: 'too long' is too long: 8 characters, and 5 are the most",
            "$.findings[2]: 3 is not of type 'string'",
            "$.passed: 'yes' is not of type 'boolean'",
        )
    )


def test_what_only_the_typed_model_knows_is_a_problem_too() -> None:
    found = read_reply('{"passed": true, "findings": ["block"]}', SCHEMA, Verdict)

    assert found == Misfits(("$: Value error, passed, but a finding blocks",))


def test_long_lists_and_long_lines_are_cut() -> None:
    many = canonical_text({"passed": True, "findings": ["x" * 1000] * 100})

    found = read_reply(many, SCHEMA, Verdict)

    assert isinstance(found, Misfits)
    assert len(found.problems) == MAX_PROBLEMS + 1
    assert found.problems[-1] == "and 80 more"
    assert max(map(len, found.problems)) <= MAX_PROBLEM_CHARS + 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Expecting value"),
        ("Here you are: {}", "Expecting value"),
        ('{"a": 1} trailing', "Extra data"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": 1e999}', "Out of range"),
        ('{"a": 1, "a": 2}', "key 'a' stands twice"),
        ('{"a": "\\ud83d"}', "half a surrogate pair"),
        ("[" * 100_000, "nested too deeply"),
    ],
    ids=["empty", "prose", "trailing", "nan", "infinite", "twice", "surrogate", "deep"],
)
def test_what_is_not_one_json_value_is_told_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_json(text)

    found = read_reply(text, SCHEMA, Verdict)
    assert isinstance(found, Misfits)
    assert why in found.problems[0]


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: raw.decode("latin-1")))
def test_no_reply_whatever_makes_the_check_fail(text: str) -> None:
    assert isinstance(read_reply(text, SCHEMA, Verdict), Fits | Misfits)
