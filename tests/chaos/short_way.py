"""The lane `small` on the demonstration's stage: a model server that answers by what it is asked, however often that is."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.chaos.timeline import Theatre, theatre
from tests.end_to_end.test_example_pipelines import (
    HOURS,
    IMPLEMENTED,
    PASSED,
    SPECIFIED,
    WIDE,
    classified,
    written,
)
from tests.model_server import Answer, ModelServer, Seen, replied

LANE = "cogworks:lane:small"
MOST_ANSWERS = 100_000
"""More than any sweep asks for."""


def answering(coder: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The first words of a prompt -> what is answered to it."""
    return {
        "You take in issues": classified(),
        "You are a senior engineer who writes tests": written(HOURS),
        "You are a senior engineer. You implement": coder,
        "You review a change": PASSED,
        "You are the software architect": SPECIFIED,
    }


def answer_to(seen: Seen, answers: Mapping[str, Mapping[str, Any]]) -> Answer:
    asked = json.dumps(seen.body, ensure_ascii=False)
    [reply] = [answer for words, answer in answers.items() if words in asked]
    return replied(json.dumps(reply))


def speaking_to(server: ModelServer) -> dict[str, str]:
    """What has a runner ask this server."""
    return {
        "COGWORKS_LLM_PROVIDER": "anthropic",
        "COGWORKS_LLM_API_KEY": "a-key-of-these-tests",
        "COGWORKS_LLM_BASE_URL": server.url,
    }


@contextmanager
def short_way(directory: Path, *, moves_up: bool) -> Iterator[Theatre]:
    """An item in `small`, played to its end; with `moves_up` to the first node of the whole way."""
    answers = answering(WIDE if moves_up else IMPLEMENTED)
    with ModelServer() as server, theatre(directory) as opened:
        server.answers(*[lambda seen: answer_to(seen, answers)] * MOST_ANSWERS)
        opened.environment |= speaking_to(server)
        opened.lane = LANE
        opened.play(last="architecture" if moves_up else "")
        yield opened
