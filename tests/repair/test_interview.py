"""All questions of a repair are one conversation; nothing is said twice, and nobody is asked for ever."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from cogworks.errors import InvalidReply
from cogworks.llm.budget import Budget, shipped_prices
from cogworks.llm.gateway import Gateway, LookLimits, ModelSettings
from cogworks.llm.prompts import shipped_prompts
from cogworks.llm.schemas import Schema
from cogworks.repair.interview import Interview, ModelUnusable
from cogworks.repair.planning import Caps, combined, planned
from cogworks.repair.replies import DiffsReply
from cogworks.sight.looks.schema import Look
from tests.fakes import ScriptedModel
from tests.fixing import diffs, landmark, plan
from tests.repair.test_planning import HERE, SITUATION, a_pattern


class Shelf:
    """Shows what was asked for; obeys `cogworks.llm.conversation.Looks`."""

    guide = "You may look."

    @property
    def schema(self) -> Schema:
        return Look.model_json_schema()

    def carry_out(self, looks: Sequence[Mapping[str, Any]]) -> str:
        return f"here is {looks[0]['target']}"


def interview(model: ScriptedModel, turns: int = 3) -> Interview:
    gateway = Gateway(
        model,
        shipped_prompts(),
        ModelSettings(model="claude-sonnet-5-5"),
        prices=shipped_prices(),
        budget=Budget(),
    )
    return Interview(gateway, Shelf(), LookLimits(max_turns=turns, max_input_tokens=1_000_000))


def test_every_question_goes_on_where_the_one_before_ended_and_says_only_what_is_new() -> None:
    look = json.dumps({"looks": [{"look": "read", "target": "shop.py"}], "answer": None})
    model = ScriptedModel(look, a_pattern(HERE), plan(landmark("a", HERE)))
    asks = interview(model)

    pattern = combined(SITUATION, asks, purpose="fix-combine-1").pattern
    found = planned(SITUATION, pattern, asks, caps=Caps(), purpose="fix-landmarks-1")

    assert [each.id for each in found.landmarks] == ["a"]
    assert [each.purpose for each in model.requests] == [
        "fix-combine-1",
        "fix-combine-1-look1",
        "fix-landmarks-1",
    ]
    for earlier, later in zip(model.requests, model.requests[1:], strict=False):
        assert later.messages[: len(earlier.messages)] == earlier.messages
        assert (later.system, later.output_schema) == (earlier.system, earlier.output_schema)
    last = model.requests[-1].messages[-1].text
    assert "Plan the repair" in last
    for told in (
        "2     return sum(prices) - 1",
        "an earlier diff broke test_count",
        "assert total([1]) == 1",
    ):
        assert told in model.requests[0].messages[0].text
        assert told not in last


def test_a_kept_change_is_told_once_and_every_question_says_how_many_looks_are_left() -> None:
    look = json.dumps({"looks": [{"look": "read", "target": "shop.py"}], "answer": None})
    diff = diffs({"a.txt": ("a", "b")})
    model = ScriptedModel(a_pattern(HERE), look, diff, diff)
    asks = interview(model)

    combined(SITUATION, asks, purpose="c")
    for number in (1, 2):
        asks.ask(
            "propose_diffs", {**PROPOSING, "kept": ["change 1 was kept"]}, DiffsReply, purpose=f"d{number}"
        )

    first, second, _, last = (request.messages[-1].text for request in model.requests)
    assert "change 1 was kept" in second
    assert "What became of the changes so far" not in first + last
    assert first.endswith("You have 3 turn(s) to look.")
    assert second.endswith("You may look in 3 more turn(s).")
    assert last.endswith("You may look in 2 more turn(s).")


def test_what_is_wrong_with_a_plan_is_a_further_turn() -> None:
    bad = plan(landmark("a", HERE, test="tests/t.py::gone"))
    model = ScriptedModel(a_pattern(HERE), bad, plan(landmark("a", HERE)))
    asks = interview(model)

    pattern = combined(SITUATION, asks, purpose="c").pattern
    found = planned(SITUATION, pattern, asks, caps=Caps(), purpose="l")

    assert [each.id for each in found.landmarks] == ["a"]
    last = model.requests[-1].messages[-1].text
    assert last.startswith("Your answer was not accepted")
    assert "none of those that ran" in last
    assert "gone" in model.requests[-1].messages[-2].text


def test_a_model_whose_replies_are_of_no_use_is_paid_for_two_questions() -> None:
    model = ScriptedModel(*["no JSON"] * 9)
    asks = interview(model)

    found = combined(SITUATION, asks, purpose="c")
    with pytest.raises(ModelUnusable):
        asks.ask("propose_diffs", {**PROPOSING}, DiffsReply, purpose="d")
    with pytest.raises(ModelUnusable):
        asks.ask("propose_diffs", {**PROPOSING}, DiffsReply, purpose="d2")

    assert found.problems
    assert len(model.requests) == 6


def test_one_answer_of_no_use_is_forgiven_after_a_good_one() -> None:
    model = ScriptedModel(*["no"] * 3, diffs({"a.txt": ("a", "b")}), *["no"] * 3)
    asks = interview(model)

    with pytest.raises(InvalidReply):
        asks.ask("propose_diffs", PROPOSING, DiffsReply, purpose="d1")
    assert asks.ask("propose_diffs", PROPOSING, DiffsReply, purpose="d2").diffs
    with pytest.raises(InvalidReply) as caught:
        asks.ask("propose_diffs", PROPOSING, DiffsReply, purpose="d3")

    assert not isinstance(caught.value, ModelUnusable)


PROPOSING: Mapping[str, Any] = {
    "failures": [],
    "tests": [],
    "evidence": [],
    "kept": [],
    "pattern": "p",
    "invariants": [],
    "landmark": "l",
    "test": "",
    "spans": [],
    "allow_api": [],
    "caps": {"changed_lines": 1, "files": 1},
    "most": 3,
    "windows": [],
    "reasons": [],
}
