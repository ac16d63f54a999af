"""Keeps what was asked of a provider and what it answered: always by digests, in words only when the user wants that."""

import json
from collections.abc import Callable

from cogworks.canonical import canonical_text, sha256
from cogworks.llm.provider import ModelReply, ModelRequest, Provider
from cogworks.llm.waiting import counted_by
from cogworks.vocabulary import Value

_CHARS_PER_TOKEN = 4
_CUT = "[…]"


class PromptRecord(Value):
    """One question and its answer."""

    purpose: str
    model: str
    request_key: str
    """Equal for requests that are the same to a model."""
    system_sha256: str
    messages_sha256: str
    schema_sha256: str
    reply_sha256: str = ""
    """Empty: there was no answer."""
    stop_reason: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    system: str | None = None
    """The words, without secrets and cut; None: they are not kept."""
    messages: tuple[str, ...] | None = None
    reply: str | None = None


class PromptLog:
    """Asks another provider and remembers every question; obeys `Provider`."""

    def __init__(
        self,
        provider: Provider,
        *,
        is_full: bool = False,
        max_tokens: int = 20_000,
        redact: Callable[[str], str] = lambda text: text,
    ) -> None:
        """Args:
        is_full: whether the words are kept, not only what names them.
        max_tokens: of one text that is kept, at four characters each; its end is cut off.
        redact: takes secrets out of a text.
        """
        self._provider = provider
        self._is_full = is_full
        self._max_chars = max_tokens * _CHARS_PER_TOKEN
        self._redact = redact
        self._records: list[PromptRecord] = []

    @property
    def records(self) -> tuple[PromptRecord, ...]:
        """Every question so far, in its order."""
        return tuple(self._records)

    def complete(self, request: ModelRequest) -> ModelReply:
        """The provider's answer. A question that is not answered is on record all the same. Raises as the provider."""
        place = len(self._records)
        self._records.append(self._record_of(request))
        reply = self._provider.complete(request)
        answered = {
            "reply_sha256": sha256(reply.text),
            "stop_reason": reply.stop_reason,
            "input_tokens": reply.usage.total_input,
            "output_tokens": reply.usage.output_tokens,
            "reply": self._words(reply.text),
        }
        self._records[place] = self._records[place].model_copy(update=answered)
        return reply

    def count(self, request: ModelRequest) -> int | None:
        """As the other provider does; a count is no question."""
        return counted_by(self._provider, request)

    def text(self) -> str:
        """One JSON line for each question."""
        return "".join(line_of(each) for each in self._records)

    def _record_of(self, request: ModelRequest) -> PromptRecord:
        turns = [message.model_dump(mode="json") for message in request.messages]
        words = tuple(cut for message in request.messages if (cut := self._words(message.text)) is not None)
        return PromptRecord(
            purpose=request.purpose,
            model=request.model,
            request_key=request.key,
            system_sha256=sha256(request.system),
            messages_sha256=sha256(canonical_text(turns)),
            schema_sha256=sha256(canonical_text(request.output_schema)),
            system=self._words(request.system),
            messages=words if self._is_full else None,
        )

    def _words(self, text: str) -> str | None:
        if not self._is_full:
            return None
        # Secrets first: a cut in the middle of one would hide it from the search for secrets.
        clean = self._redact(text)
        return clean if len(clean) <= self._max_chars else clean[: self._max_chars] + _CUT


def line_of(record: PromptRecord) -> str:
    """One question as a line of JSON; words that are not kept are not mentioned."""
    return json.dumps(record.model_dump(mode="json", exclude_none=True), sort_keys=True) + "\n"
