import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cogworks.llm.provider import ModelReply, ModelRequest, Provider, Usage
from cogworks.llm.providers.anthropic import AnthropicProvider
from cogworks.llm.providers.cassette import CassetteProvider, RecordingProvider
from cogworks.llm.providers.command import CommandProvider
from cogworks.llm.providers.openai import OpenAIProvider
from tests.asked import question
from tests.fakes import ScriptedModel
from tests.model_server import ModelServer, completed, replied

Script = list[tuple[ModelRequest, ModelReply]]
Telling = Callable[[Script], Provider]
"""A provider that was told what to answer to each request, in this order."""
PROGRAM = """
import json, sys
asked = json.load(sys.stdin)
print(json.dumps(json.load(open(sys.argv[1]))[asked["messages"][0]["text"]]))
"""


def reply(text: str, stop_reason: str = "end_turn") -> ModelReply:
    usage = Usage(input_tokens=1, output_tokens=2, cache_creation_input_tokens=3, cache_read_input_tokens=4)
    return ModelReply(text=text, stop_reason=stop_reason, usage=usage, model="claude-sonnet-5-5")


@pytest.fixture(params=["scripted", "cassette", "recording", "anthropic", "openai", "command"])
def telling(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Telling]:
    def scripted(script: Script) -> Provider:
        return ScriptedModel(*(said for _, said in script))

    def recording(script: Script) -> Provider:
        return RecordingProvider(scripted(script), tmp_path)

    def cassette(script: Script) -> Provider:
        recorder = recording(script)
        for asked, _ in script:
            recorder.complete(asked)
        return CassetteProvider(tmp_path, misses=tmp_path / "misses")

    def command(script: Script) -> Provider:
        said = {asked.messages[0].text: reply.model_dump(mode="json") for asked, reply in script}
        (tmp_path / "said.json").write_text(json.dumps(said))
        return CommandProvider([sys.executable, "-c", PROGRAM, str(tmp_path / "said.json")], environment={})

    with ModelServer() as server:
        asking = AnthropicProvider("sk-1", sleep=lambda _: None, jitter=lambda: 0.0, base_url=server.url)
        local = OpenAIProvider("", sleep=lambda _: None, jitter=lambda: 0.0, base_url=server.url)

        def real(script: Script) -> Provider:
            server.answers(
                *(replied(said.text, usage=said.usage, stop_reason=said.stop_reason) for _, said in script)
            )
            return asking

        def openai(script: Script) -> Provider:
            server.answers(
                *(completed(said.text, usage=said.usage, stop_reason=said.stop_reason) for _, said in script)
            )
            return local

        with asking, local:
            makers = {"scripted": scripted, "cassette": cassette, "recording": recording, "anthropic": real}
            yield {**makers, "openai": openai, "command": command}[request.param]


@pytest.mark.parametrize(
    "said",
    [
        reply('{"a":"größer \\"als\\"\\n1","b":[1,2.5,null]}'),
        reply("I would rather not.", stop_reason="refusal"),
        reply('{"cut":"of', stop_reason="max_tokens"),
        reply(""),
    ],
    ids=["json", "refusal", "cut", "empty"],
)
def test_the_caller_gets_the_whole_reply_as_it_was_said(telling: Telling, said: ModelReply) -> None:
    asked = question("One?", purpose="one")

    assert telling([(asked, said)]).complete(asked) == said


def test_each_request_gets_its_own_reply(telling: Telling) -> None:
    script = [(question(f"{word}?", purpose=word), reply(f'"{word}"')) for word in ("one", "two", "three")]
    provider = telling(script)

    assert [provider.complete(asked) for asked, _ in script] == [said for _, said in script]
