"""A visit of twelve turns on the demonstration's stage: two writers look around before they answer, and every turn is paid for."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from github.ContentFile import ContentFile

from cogworks.settings.config import CONFIG_FILE
from tests.chaos.short_way import LANE, MOST_ANSWERS, answering, speaking_to
from tests.chaos.timeline import Step, Theatre, theatre
from tests.end_to_end.test_example_pipelines import IMPLEMENTED
from tests.limits import ENDS_WITHIN_S
from tests.model_server import Answer, ModelServer, Seen, replied

TARGETS = ("README.md", "src/hourglass/parsing.py", "pyproject.toml", "src/hourglass/__init__.py", "tests")
LOOKS = {"You are a senior engineer who writes tests": 4, "You are a senior engineer. You implement": 6}
"""The first words of a prompt -> how often its reader looks before it answers."""
TURNS = sum(LOOKS.values()) + len(LOOKS)


@dataclass
class LongTalk:
    """The item, and what the model was asked, in order; the same words for the same question."""

    played: Theatre
    server: ModelServer

    @property
    def step(self) -> Step:
        """The visit of twelve turns."""
        [found] = [each for each in self.played.steps if each.node == "code_generation"]
        return found

    def asked(self) -> list[str]:
        """Everything that was asked since the last time."""
        found = [json.dumps(each.body, sort_keys=True) for each in self.server.seen]
        self.server.seen.clear()
        return found

    def views(self) -> list[list[Mapping[str, Any]]]:
        """What of the repository each first question of the visit showed, as the ledger tells."""
        remote = next(self.played.hub.rglob("HEAD")).parent
        ledger = "cogworks/ledger/1"
        names = _git(remote, "ls-tree", "-r", "--name-only", ledger).split()
        found = [
            json.loads(_git(remote, "show", f"{ledger}:{name}"))["shown"]
            for name in names
            if "code_generation" in name and "/manifest-" in name
        ]
        return [each for each in found if each]


def _git(remote: Path, *arguments: str) -> str:
    command = ["git", "-C", str(remote), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=ENDS_WITHIN_S).stdout


def _look(turn: int) -> Mapping[str, Any]:
    target = TARGETS[turn % len(TARGETS)]
    return {"look": "list" if target == "tests" else "read", "target": target}


def _reply(seen: Seen, answers: Mapping[str, Mapping[str, Any]]) -> Answer:
    asked = json.dumps(seen.body, ensure_ascii=False)
    [words] = [each for each in answers if each in asked]
    turn = sum(message["role"] == "assistant" for message in seen.body["messages"])
    if turn < LOOKS.get(words, 0):
        return replied(json.dumps({"looks": [_look(turn)], "answer": None}))
    return replied(json.dumps(answers[words]))


def _record_each_turn(opened: Theatre) -> None:
    """Let whoever spends anything have it in the ledger before it goes on."""
    repository = opened.person.repository
    there = repository.get_contents(CONFIG_FILE)
    assert isinstance(there, ContentFile)
    text = f"{there.decoded_content.decode()}\n[ledger]\ncheckpoint_usd = 0.00001\n"
    repository.update_file(CONFIG_FILE, "Record each turn", text, there.sha)


@contextmanager
def long_talk(directory: Path) -> Iterator[LongTalk]:
    """Played until the code is reviewed."""
    answers = answering(IMPLEMENTED)
    with ModelServer() as server, theatre(directory) as opened:
        server.answers(*[lambda seen: _reply(seen, answers)] * MOST_ANSWERS)
        opened.environment |= speaking_to(server)
        opened.lane = LANE
        opened.prepare = _record_each_turn
        opened.play(last="review")
        yield LongTalk(opened, server)
