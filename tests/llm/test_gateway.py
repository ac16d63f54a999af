from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, Field

from cogworks.errors import BudgetReached, ConfigurationError, InvalidReply, TryAgainLater
from cogworks.llm.budget import Budget, shipped_prices
from cogworks.llm.gateway import Gateway, Meter, ModelSettings, ReplyRecord
from cogworks.llm.prompts import SystemText, shipped_prompts
from cogworks.llm.provider import Message, ModelReply, Usage
from cogworks.llm.schemas import full_schema, reduced_schema
from tests.fakes import ScriptedModel, finished

MODEL = "claude-sonnet-5-5"
PRICE_OF_A_CALL = Decimal("0.0007")
"""100 input tokens at 2 and 50 output tokens at 10 dollars per million."""
QUESTION = {"number": "Pick a number.\n--- user ---\nAt most {{ most }}.\n"}


class Number(BaseModel):
    value: int = Field(le=10)


def gateway(
    model: ScriptedModel,
    *,
    budget: Budget | None = None,
    memory: Mapping[str, ModelReply] | None = None,
    on_reply: Callable[[ReplyRecord], None] = lambda _: None,
    **settings: Any,
) -> Gateway:
    return Gateway(
        model,
        shipped_prompts(QUESTION),
        ModelSettings(model=MODEL, **settings),
        prices=shipped_prices(),
        budget=budget or Budget(),
        memory=memory,
        on_reply=on_reply,
    )


def ask(gateway: Gateway, purpose: str = "intake-1") -> Number:
    return gateway.ask("number", {"most": 10}, Number, purpose=purpose)


def test_a_question_becomes_one_request_and_a_typed_reply() -> None:
    model = ScriptedModel('{"value": 7}')

    found = ask(gateway(model))

    assert found == Number(value=7)
    (request,) = model.requests
    assert (request.model, request.system, request.purpose) == (
        MODEL,
        SystemText("Pick a number.").text,
        "intake-1",
    )
    assert request.messages == (Message(role="user", text="At most 10."),)
    assert request.output_schema == reduced_schema(full_schema(Number))


def test_a_template_may_show_the_schema_of_the_reply() -> None:
    model = ScriptedModel('{"value": 7}')
    shows = Gateway(
        model,
        shipped_prompts({"number": "{{ output_schema }}\n--- user ---\nGo\n"}),
        ModelSettings(model=MODEL),
        prices=shipped_prices(),
        budget=Budget(),
    )

    shows.ask("number", {}, Number, purpose="p")

    assert '"maximum": 10' in model.requests[0].system


def test_a_reply_that_does_not_fit_goes_back_with_its_problems() -> None:
    model = ScriptedModel('{"value": 11}', "seven", '{"value": 7}')

    found = ask(gateway(model))

    assert found == Number(value=7)
    assert [request.purpose for request in model.requests] == [
        "intake-1",
        "intake-1-repair1",
        "intake-1-repair2",
    ]
    turns = model.requests[2].messages
    assert [turn.role for turn in turns] == ["user", "assistant", "user", "assistant", "user"]
    assert (turns[1].text, turns[3].text) == ('{"value": 11}', "seven")
    assert "- $.value: 11 is greater than the maximum of 10\n</data-" in turns[2].text
    assert "the reply is not one JSON value: Expecting value" in turns[4].text


def test_an_empty_reply_is_repaired_without_an_empty_turn() -> None:
    model = ScriptedModel("", '{"value": 7}')

    ask(gateway(model))

    assert model.requests[1].messages[1].text == "(empty reply)"


def test_after_two_repair_rounds_the_question_fails_with_the_last_problems() -> None:
    model = ScriptedModel('{"value": 11}', '{"value": 12}', '{"value": 13}')
    asking = gateway(model)

    with pytest.raises(InvalidReply) as failed:
        ask(asking)

    assert str(failed.value) == (
        "intake-1: no reply of claude-sonnet-5-5 fitted its schema, not even after 2 repair round(s). "
        "The last one has 1 problem(s):\n  - $.value: 13 is greater than the maximum of 10\n"
        "Retry, or choose a stronger model under `[llm] model`."
    )
    assert asking.meter == Meter(calls=3, input_tokens=300, output_tokens=150, cost_usd=3 * PRICE_OF_A_CALL)


def test_what_was_paid_is_counted_per_question_and_altogether() -> None:
    usage = Usage(
        input_tokens=10, output_tokens=20, cache_creation_input_tokens=30, cache_read_input_tokens=40
    )
    reply = ModelReply(text='{"value": 1}', stop_reason="end_turn", usage=usage, model=MODEL)
    asking = gateway(ScriptedModel('{"value": 99}', '{"value": 1}', reply))

    ask(asking, "one")
    ask(asking, "two")

    two = Meter(calls=1, input_tokens=80, output_tokens=20, cost_usd=Decimal("0.000299"))
    one = Meter(calls=2, input_tokens=200, output_tokens=100, cost_usd=2 * PRICE_OF_A_CALL)
    assert asking.meter == one + two
    assert (asking.budget.spent_usd, asking.budget.spent_tokens) == (Decimal("0.001699"), 400)
    assert (asking.budget.reserved_usd, asking.budget.reserved_tokens) == (Decimal(0), 0)


@pytest.mark.parametrize(
    ("stop_reason", "message"),
    [
        ("refusal", "declined to answer"),
        ("model_context_window_exceeded", "filled its context window"),
        ("pause_turn", "stopped with 'pause_turn' instead of finishing"),
    ],
)
def test_a_reply_cut_short_is_told_as_that_paid_and_never_repaired(stop_reason: str, message: str) -> None:
    model = ScriptedModel(finished('{"value": 7}', stop_reason=stop_reason))
    records: list[ReplyRecord] = []
    asking = gateway(model, on_reply=records.append)

    with pytest.raises(InvalidReply, match="intake-1: claude-sonnet-5-5 ") as failed:
        ask(asking)

    assert message in str(failed.value)
    assert len(model.requests) == len(records) == 1
    assert asking.meter.cost_usd == PRICE_OF_A_CALL


CUT = [finished(text, stop_reason="max_tokens") for text in ('{"val', 'ue"', ": ", "1")]


@pytest.mark.parametrize(
    "rest", [[CUT[1], ": 7}"], ['ue": 7}'], ['```json\nue": 7}\n```'], ['```\nue": 7}']], ids=repr
)
def test_an_answer_that_reached_its_length_is_gone_on_with_and_judged_as_one_text(rest: list[Any]) -> None:
    model = ScriptedModel(CUT[0], *rest)
    records: list[ReplyRecord] = []

    assert ask(gateway(model, on_reply=records.append)) == Number(value=7)

    first, second = model.requests[:2]
    assert (second.purpose, second.output_schema) == ("intake-1-more1", {})
    assert second.messages[:-1] == (*first.messages, Message(role="assistant", text='{"val'))
    assert "Go on exactly where it ends" in second.messages[-1].text
    assert len(records) == len(model.requests) == 1 + len(rest)


def test_an_answer_that_was_gone_on_with_is_repaired_as_a_whole() -> None:
    model = ScriptedModel(CUT[0], 'ue": 11}', '{"value": 7}')

    assert ask(gateway(model)) == Number(value=7)
    assert model.requests[2].messages[1].text == '{"value": 11}'
    assert model.requests[2].output_schema == model.requests[0].output_schema


@pytest.mark.parametrize(
    ("said", "times"),
    [(CUT, 4), ([finished(" ", stop_reason="max_tokens")], 1)],
    ids=["no-end", "nothing-but-thoughts"],
)
def test_an_answer_that_cannot_be_brought_to_an_end_names_the_setting_and_is_paid(
    said: list[ModelReply], times: int
) -> None:
    model = ScriptedModel(*said)
    asking = gateway(model)

    with pytest.raises(
        InvalidReply, match=r"reached 16000 output tokens .*; raise `\[llm\] max_output_tokens`"
    ):
        ask(asking)

    assert len(model.requests) == times
    assert asking.meter.cost_usd == times * PRICE_OF_A_CALL


def test_the_rest_of_an_answer_needs_budget_like_any_call() -> None:
    model = ScriptedModel(CUT[0], 'ue": 7}')
    asking = gateway(model, budget=Budget(limit_tokens=1400), max_output_tokens=1000)

    with pytest.raises(BudgetReached, match="asked for: intake-1-more1"):
        ask(asking)

    assert len(model.requests) == 1


def test_every_paid_reply_is_handed_over_before_it_is_judged() -> None:
    records: list[ReplyRecord] = []
    model = ScriptedModel("no JSON", '{"value": 7}')

    ask(gateway(model, on_reply=records.append))

    assert [record.request_key for record in records] == [request.key for request in model.requests]
    assert [record.purpose for record in records] == ["intake-1", "intake-1-repair1"]
    assert [record.reply.text for record in records] == ["no JSON", '{"value": 7}']
    assert {record.cost_usd for record in records} == {PRICE_OF_A_CALL}
    first, second = (record.manifest for record in records)
    assert first.template == ".cogworks/prompts/number.md.j2"
    assert first.messages_sha256 != second.messages_sha256
    assert first.model_copy(update={"messages_sha256": second.messages_sha256}) == second
    assert ReplyRecord.model_validate_json(records[0].model_dump_json()) == records[0]


def test_a_crash_after_the_hand_over_pays_no_reply_twice() -> None:
    kept: dict[str, ModelReply] = {}

    def keep_then_crash(record: ReplyRecord) -> None:
        kept[record.request_key] = record.reply
        if len(kept) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(gateway(ScriptedModel('{"value": 11}', '{"value": 12}'), on_reply=keep_then_crash))
    second_attempt = ScriptedModel('{"value": 7}')
    records: list[ReplyRecord] = []
    asking = gateway(second_attempt, memory=kept, on_reply=records.append)

    assert ask(asking) == Number(value=7)
    assert [request.purpose for request in second_attempt.requests] == ["intake-1-repair2"]
    assert len(records) == 1
    assert asking.meter == Meter(
        calls=1, reused=2, input_tokens=100, output_tokens=50, cost_usd=PRICE_OF_A_CALL
    )


def test_a_call_that_could_pass_the_budget_is_not_made() -> None:
    model = ScriptedModel('{"value": 7}')
    asking = gateway(model, budget=Budget(limit_usd=Decimal(2), spent_usd=Decimal("1.84")))

    with pytest.raises(BudgetReached) as refused:
        ask(asking)

    assert model.requests == []
    assert str(refused.value).startswith("budget: 1.84 of 2.00 USD spent, this call needs up to 0.16")
    assert str(refused.value).endswith("(asked for: intake-1)")


def test_a_repair_round_is_a_call_like_any_other_and_can_pass_the_budget() -> None:
    model = ScriptedModel('{"value": 11}', '{"value": 7}')
    asking = gateway(model, budget=Budget(limit_tokens=1400), max_output_tokens=1000)

    with pytest.raises(BudgetReached, match=r"150 of 1400 tokens spent.*\(asked for: intake-1-repair1\)"):
        ask(asking)

    assert len(model.requests) == 1


def test_a_reply_of_an_earlier_attempt_needs_no_budget() -> None:
    model = ScriptedModel('{"value": 7}')
    ask(gateway(model))

    found = ask(
        gateway(
            ScriptedModel(),
            memory={model.requests[0].key: finished('{"value": 7}')},
            budget=Budget(limit_usd=Decimal(0)),
        )
    )

    assert found == Number(value=7)


def test_a_call_that_failed_gives_its_reservation_back() -> None:
    asking = gateway(
        ScriptedModel(TryAgainLater("down"), '{"value": 7}'), budget=Budget(limit_usd=Decimal("0.3"))
    )

    with pytest.raises(TryAgainLater):
        ask(asking)

    assert asking.budget == Budget(limit_usd=Decimal("0.3"))
    assert ask(asking) == Number(value=7)


OTHER = "claude-opus-5-5"


def overloaded() -> TryAgainLater:
    return TryAgainLater("529", is_overload=True)


def test_where_a_model_is_overloaded_the_fallback_is_asked_from_then_on_at_its_own_price() -> None:
    model = ScriptedModel(overloaded(), '{"value": 7}', '{"value": 8}')
    records: list[ReplyRecord] = []
    asking = gateway(model, on_reply=records.append, fallback_model=OTHER)

    assert [ask(asking, "one"), ask(asking, "two")] == [Number(value=7), Number(value=8)]

    assert [request.model for request in model.requests] == [MODEL, OTHER, OTHER]
    assert [record.reply.model for record in records] == [OTHER, OTHER]
    assert asking.meter.cost_usd == 2 * Decimal("0.0014")


@pytest.mark.parametrize(
    ("error", "settings"),
    [
        (TryAgainLater("429"), {"fallback_model": OTHER}),
        (overloaded(), {}),
        (overloaded(), {"fallback_model": MODEL}),
    ],
    ids=["no-overload", "no-fallback", "the-same"],
)
def test_nobody_else_is_asked_without_need_or_leave(error: TryAgainLater, settings: dict[str, Any]) -> None:
    model = ScriptedModel(error)

    with pytest.raises(TryAgainLater):
        ask(gateway(model, **settings))

    assert len(model.requests) == 1


def test_an_overloaded_fallback_is_the_end() -> None:
    with pytest.raises(TryAgainLater):
        ask(gateway(ScriptedModel(overloaded(), overloaded()), fallback_model=OTHER))


def test_what_the_fallback_was_paid_for_is_not_asked_for_again() -> None:
    records: list[ReplyRecord] = []
    ask(gateway(ScriptedModel(overloaded(), '{"value": 7}'), on_reply=records.append, fallback_model=OTHER))
    memory = {record.request_key: record.reply for record in records}

    assert ask(gateway(ScriptedModel(), memory=memory, fallback_model=OTHER)) == Number(value=7)


def test_a_fallback_without_a_price_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(ConfigurationError, match=r"llm\.prices"):
        gateway(ScriptedModel(), fallback_model="unknown")


def test_a_model_without_a_price_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(ConfigurationError, match=r"llm\.prices"):
        Gateway(
            ScriptedModel(),
            shipped_prompts(QUESTION),
            ModelSettings(model="unknown"),
            prices=shipped_prices(),
            budget=Budget(),
        )
