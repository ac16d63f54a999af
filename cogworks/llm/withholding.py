"""Takes secrets out of a model's replies before anybody keeps or uses them: what the ledger holds is what was worked with."""

import json
import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

from cogworks.leaving import UNMISTAKABLE_CHARS, masked
from cogworks.llm.provider import BrokenReply, ModelReply, ModelRequest, Provider
from cogworks.llm.replies import parse_json
from cogworks.llm.waiting import counted_by
from cogworks.secretforms import WITHHELD, secret_places

_LINE_ENDS = re.compile(r"\\+[nrt]|\s+")


class Withholding:
    """Asks another provider and withholds secrets that it answers; obeys `Provider`."""

    def __init__(self, provider: Provider, secrets: Iterable[str] = ()) -> None:
        """Args:
        secrets: of this machine; short ones are words as well, and stay.
        """
        self._provider = provider
        self._secrets = frozenset(each for each in secrets if len(each) >= UNMISTAKABLE_CHARS)

    def complete(self, request: ModelRequest) -> ModelReply:
        """The provider's answer without secrets. Raises as the provider; the part that came of a broken reply has none either."""
        try:
            return self._clean(self._provider.complete(request), request)
        except BrokenReply as error:
            error.partial = self._clean(error.partial, request)
            raise

    def count(self, request: ModelRequest) -> int | None:
        """As the other provider does; a count says nothing."""
        return counted_by(self._provider, request)

    def _clean(self, reply: ModelReply, request: ModelRequest) -> ModelReply:
        texts = [request.system, *(message.text for message in request.messages)]
        return reply.model_copy(update={"text": withheld(reply.text, texts, self._secrets)})


def withheld(text: str, texts: Iterable[str], secrets: Collection[str] = frozenset()) -> str:
    """A reply with a mark in the place of each secret; what was withheld once stays as it is.

    Known secrets and tokens of known services go, which no prompt shows of a file. Whatever else looks like a secret stays
    where the question shows it: it is in the repository, and a file that is written anew has to have it again.
    """

    shown = _LINE_ENDS.sub("", "\n".join(texts))

    def clean(text: str) -> str:
        return _without(masked(text, secrets, is_code=True, mark=WITHHELD), shown)

    plain = clean(text)
    try:
        value = parse_json(plain)
    except ValueError:
        return plain
    # JSON has more than one way to write a letter.
    cleaned = _each_text(value, clean)
    return plain if cleaned == value else json.dumps(cleaned, ensure_ascii=False)


def _without(text: str, shown: str) -> str:
    kept, end = [], 0
    for begin, stop in sorted(secret_places(text)):
        if stop > end and _LINE_ENDS.sub("", text[begin:stop]) not in shown:
            kept += [text[end : max(begin, end)], WITHHELD]
            end = stop
    return "".join([*kept, text[end:]])


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each_text(each, change) for each in value]
    if isinstance(value, dict):
        return {change(key): _each_text(each, change) for key, each in value.items()}
    return value
