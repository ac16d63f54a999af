import json

import pytest

from cogworks.canonical import sha256
from cogworks.errors import TryAgainLater
from cogworks.llm.promptlog import PromptLog
from cogworks.llm.provider import Message, ModelReply, ModelRequest, Usage
from cogworks.tools.records import Redactor

SECRET = "ghp_" + "a" * 30
QUESTION = ModelRequest(
    model="m-1",
    system="You repair things.",
    messages=(Message(role="user", text=f"The token is {SECRET}. " + "x" * 100),),
    output_schema={},
    max_output_tokens=10,
    purpose="fix-diffs-1",
)


class Says:
    """Answers every question alike."""

    def __init__(self, text: str) -> None:
        self._text = text

    def complete(self, request: ModelRequest) -> ModelReply:
        usage = Usage(input_tokens=7, output_tokens=3)
        return ModelReply(text=self._text, stop_reason="end_turn", usage=usage, model=request.model)


class Refuses:
    def complete(self, request: ModelRequest) -> ModelReply:
        raise TryAgainLater("not now", retry_after_s=1.0)


def test_without_a_wish_no_word_is_kept_and_every_digest_is() -> None:
    log = PromptLog(Says("an answer nobody shall read"))

    log.complete(QUESTION)

    (told,) = [json.loads(line) for line in log.text().splitlines()]
    assert told["system_sha256"] == sha256(QUESTION.system)
    assert told["reply_sha256"] == sha256("an answer nobody shall read")
    assert told["request_key"] == QUESTION.key
    assert (told["purpose"], told["input_tokens"], told["output_tokens"]) == ("fix-diffs-1", 7, 3)
    for word in ("repair", "token is", "nobody", SECRET):
        assert word not in log.text()


def test_on_request_the_words_are_kept_without_secrets_and_cut() -> None:
    log = PromptLog(Says("b" * 100), is_full=True, max_tokens=10, redact=Redactor().text)

    log.complete(QUESTION)

    (record,) = log.records
    assert record.system == QUESTION.system
    assert record.messages == (f"The token is ***. {'x' * 22}[…]",)
    assert record.reply == "b" * 40 + "[…]"
    assert record.reply_sha256 == sha256("b" * 100)
    assert SECRET not in log.text()


def test_a_secret_at_the_cut_is_hidden_as_well() -> None:
    question = QUESTION.model_copy(update={"messages": (Message(role="user", text="x" * 38 + SECRET),)})
    log = PromptLog(Says(""), is_full=True, max_tokens=10, redact=Redactor().text)

    log.complete(question)

    assert "ghp" not in log.text()


def test_a_question_that_is_not_answered_is_on_record() -> None:
    log = PromptLog(Refuses(), is_full=True)

    with pytest.raises(TryAgainLater):
        log.complete(QUESTION)

    (record,) = log.records
    assert (record.reply_sha256, record.reply, record.system) == ("", None, QUESTION.system)
