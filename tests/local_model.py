"""A very small language model behind Chat Completions: it babbles words of its prompt, held to the schema it was given.

Its decoder is constrained as those of local servers are: at each place it may write only what the schema allows there.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from tests.model_server import Answer, Seen
from tests.model_streams import chunk, delta, pieces

_WORD = re.compile(r"[A-Za-z]{2,}")
_PATH = re.compile(r"\b[a-z_]+(?:/[a-z_]+)+\.[a-z]+\b")
_FIELD = re.compile(r"^- `(\w+)`:(.*(?:\n  .*)*)", re.MULTILINE)
"""What a prompt says of a field of the answer."""
_SAID_WORDS = 12
Schema = Mapping[str, Any]


class LocalModel:
    """Answers every question that comes to it; give `answer` to a `ModelServer`."""

    def answer(self, seen: Seen) -> Answer:
        """A stream of the most likely words that fit."""
        text = " ".join(turn["content"] for turn in seen.body["messages"])
        schema = seen.body["response_format"]["json_schema"]["schema"]
        said = json.dumps(_Decoder(text).value(schema))
        return Answer(200, b"", {"content-type": "text/event-stream"}, pieces=lambda: _stream(text, said))


def _stream(read: str, said: str) -> Iterator[bytes]:
    yield delta(role="assistant", content="")
    for piece in pieces(said):
        yield delta(content=piece)
    yield delta(finish_reason="stop")
    counts = {"prompt_tokens": len(read) // 4, "completion_tokens": len(said) // 4}
    yield chunk(usage={**counts, "total_tokens": sum(counts.values())})
    yield b"data: [DONE]\n\n"


class _Decoder:
    def __init__(self, text: str) -> None:
        words = _WORD.findall(text)
        self._quoted = {name for name, told in _FIELD.findall(text) if "word for word" in told}
        """What the prompt wants so."""
        self._paths = Counter(_PATH.findall(text))
        self._counts = Counter(word.lower() for word in words)
        self._after: dict[str, Counter[str]] = defaultdict(Counter)
        for word, following in pairwise(words):
            self._after[word][following] += 1

    def value(self, schema: Schema) -> Any:
        """The most likely value that the schema allows."""
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return max(schema["enum"], key=self._likelihood)
        if "anyOf" in schema:
            return self.value(schema["anyOf"][0])
        match schema.get("type"):
            case "object":
                # What has to be quoted word for word is not made of likely words; it may be empty.
                return {
                    name: "" if name in self._quoted and each.get("type") == "string" else self.value(each)
                    for name, each in schema["properties"].items()
                }
            case "array":
                is_of_paths = "path" in schema.get("description", "").lower() and bool(self._paths)
                return [max(self._paths, key=self._paths.__getitem__)] if is_of_paths else []
            case "string":
                return self._words()
            case "boolean":
                return False
            case _:
                return 1

    def _likelihood(self, option: object) -> int:
        return sum(self._counts[word.lower()] for word in _WORD.findall(str(option)))

    def _words(self) -> str:
        word = max(self._after, key=lambda each: (sum(self._after[each].values()), each))
        said = [word]
        while len(said) < _SAID_WORDS and self._after[word]:
            word = _most_frequent(self._after[word])
            said.append(word)
        return " ".join(said)


def _most_frequent(words: Counter[str]) -> str:
    return max(words, key=lambda each: (words[each], each))
