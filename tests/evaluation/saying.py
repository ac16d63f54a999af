"""A provider that says again what is recorded for an instance, whatever it is asked."""

import re
from pathlib import Path

from cogworks.canonical import canonical_text
from cogworks.llm.provider import ModelReply, ModelRequest, Usage
from cogworks.llm.providers.cassette import Cassette

CHARS_PER_TOKEN = 4
_NUMBERED = re.compile(r"(.*?-)(\d+)((?:-again)?)")


class SaysAgain:
    """Gives the reply kept for a purpose, else that of the nearest earlier question of its kind; tokens are estimated from lengths."""

    def __init__(self, directory: Path) -> None:
        self._replies = {recording.purpose: recording.reply for recording in Cassette(directory).recordings()}

    def complete(self, request: ModelRequest) -> ModelReply:
        reply = self._reply(request.purpose)
        asked = request.system + "".join(message.text for message in request.messages)
        asked += canonical_text(request.output_schema)
        usage = Usage(
            input_tokens=len(asked) // CHARS_PER_TOKEN, output_tokens=len(reply.text) // CHARS_PER_TOKEN
        )
        return reply.model_copy(update={"usage": usage, "model": request.model})

    def _reply(self, purpose: str) -> ModelReply:
        if purpose in self._replies:
            return self._replies[purpose]
        found = _NUMBERED.fullmatch(purpose)
        for number in range(int(found[2]) if found else 0, 0, -1):
            for name in (f"{found[1]}{number}{found[3]}", f"{found[1]}{number}") if found else ():
                if name in self._replies:
                    return self._replies[name]
        raise KeyError(f"no reply is written for {purpose!r}; there are {', '.join(sorted(self._replies))}")
