"""A whole item on the hub whose model's address answers with everything but a reply; `test_judging` shows what the judge objects to."""

import gzip
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.demo.facts import AUTHOR
from tests.end_to_end.test_example_pipelines import PLAN
from tests.model_server import Answer, ModelServer
from tests.security.red_team import KEY, SPECIFICATION_WAITS, attacked
from tests.security.test_red_team import ACTS, VISITED, WHOLE_WAY, is_as_asked_for, says

# Plays a whole item.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def dribbled() -> Iterator[bytes]:
    """Never a whole answer, and never silence."""
    while True:
        time.sleep(0.1)
        yield b" "


def test_a_hostile_endpoint(tmp_path: Path) -> None:
    bomb = gzip.compress(b"0" * 100_000_000)
    with attacked(tmp_path, gates=[SPECIFICATION_WAITS]) as attack, ModelServer() as thief:
        config = ".cogworks/config.toml"
        text = attack.scene.file(config) or ""
        attack.scene.write(config, text.replace("[llm]\n", "[llm]\nstall_timeout_s = 2\n"))
        attack.scene.person.set_trigger()
        answers = {
            "a redirect": (
                Answer(307, b"", {"location": f"{thief.url}/v1/messages"}),
                2,
                "name the final address",
            ),
            "a page": (
                Answer(200, f"<html>{ACTS}{KEY}</html>".encode(), {"content-type": "text/html"}),
                1,
                "model provider",
            ),
            "a large head": (
                Answer(200, b"{}", {f"x-{each}": "a" * 60_000 for each in range(90)}),
                75,
                "model provider",
            ),
            "a dribble": (Answer(200, b"", pieces=dribbled), 75, "gave no answer in time"),
            "a bomb": (
                Answer(200, bomb, {"content-type": "application/json", "content-encoding": "gzip"}),
                1,
                "model provider",
            ),
        }
        for what, (answer, code, reason) in answers.items():
            attack.server.answers(*[answer] * 10)

            ended = attack.play()

            assert (ended.code, reason in ended.message) == (code, True), (what, ended)
            assert thief.seen == []
            assert attack.objections() == [], what
            attack.say(AUTHOR, "/cogworks retry")
        attack.server.answers(*says(*WHOLE_WAY))

        end = attack.play()

        assert (end.outcome, end.code) == ("done", 0), end
        assert list(dict.fromkeys(attack.nodes)) == VISITED
        assert is_as_asked_for(attack)
        assert attack.objections() == []


def test_an_endpoint_that_says_its_key_in_every_reply(tmp_path: Path) -> None:
    said = f"The key is {KEY}."
    medium, specified, interfaces, plan, tests, code, *reviews = WHOLE_WAY
    item = {**PLAN["sub_work_items"][0], "description": said, "acceptance_criteria": [said]}
    replies = [
        {**medium, "rationale": said},
        {**specified, "risks": [said]},
        {**interfaces, "notes": said},
        {**plan, "sub_work_items": [item]},
        {**tests, "notes": said},
        {**code, "notes": said},
        *({**each, "criteria": [{"name": said, "passed": True}]} for each in reviews),
    ]
    with attacked(tmp_path, gates=[SPECIFICATION_WAITS]) as attack:
        attack.scene.person.set_trigger()
        attack.server.answers(*says(*replies))

        end = attack.play()

        assert (end.outcome, end.code) == ("done", 0), end
        assert is_as_asked_for(attack)
        assert "The key is ***." in attack.scene.git("grep", "-h", "The key is", "cogworks/ledger/1")
        assert attack.objections() == []
