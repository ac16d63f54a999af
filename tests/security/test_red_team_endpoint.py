"""A whole item on the hub whose model's address answers with everything but a reply; `test_judging` shows what the judge objects to."""

import gzip
from pathlib import Path

import pytest

from cogworks.demo.facts import AUTHOR
from tests.model_server import Answer, ModelServer
from tests.security.red_team import KEY, SPECIFICATION_WAITS, attacked
from tests.security.test_red_team import ACTS, VISITED, WHOLE_WAY, is_as_asked_for, says

# Plays a whole item.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

BOMB = gzip.compress(b"0" * 100_000_000)


def test_a_hostile_endpoint(tmp_path: Path) -> None:
    with attacked(tmp_path, gates=[SPECIFICATION_WAITS]) as attack, ModelServer() as thief:
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
            "a bomb": (
                Answer(200, BOMB, {"content-type": "application/json", "content-encoding": "gzip"}),
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
