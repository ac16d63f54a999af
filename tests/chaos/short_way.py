"""The lane `small` on the demonstration's stage: a model server that answers by what it is asked, however often that is."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cogworks.demo.scenarios import recorded_replies, scenario_named
from tests.chaos.timeline import Theatre, theatre
from tests.end_to_end.test_example_pipelines import (
    FIXED,
    HOURS,
    IMPLEMENTED,
    PARSING,
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


def _proposing() -> dict[str, Any]:
    """A review that passes and gives the exact fix of a warning, on the line that the fix is about."""
    number, line = next(
        each for each in enumerate(FIXED.splitlines(), start=1) if each[1].startswith("_PART")
    )
    suggestion = {
        "first_line": number,
        "last_line": number,
        "replacement": f"# Decimals as well.\n{line}",
    }
    finding = {
        "file": PARSING,
        "line": number,
        "severity": "warning",
        "criterion": "design",
        "explanation": "Say what it reads.",
        "suggestion": suggestion,
    }
    return {**PASSED, "findings": [finding]}


PROPOSING = _proposing()


def answering(coder: Mapping[str, Any], reviewer: Mapping[str, Any] = PASSED) -> dict[str, Mapping[str, Any]]:
    """The first words of a prompt -> what is answered to it."""
    return {
        "You take in issues": classified(),
        "You are a senior engineer who writes tests": written(HOURS),
        "You are a senior engineer. You implement": coder,
        "You review a change": reviewer,
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
def conflicting(directory: Path) -> Iterator[Theatre]:
    """An item of `small` that was done, whose pull request conflicts since somebody moved the base; played until both hold."""
    scenario = scenario_named("merge-conflict")
    with recorded_replies(scenario) as replies, theatre(directory) as opened:
        opened.environment["COGWORKS_CASSETTE_DIR"] = replies
        opened.issue, opened.lane = scenario.issue, LANE
        opened.play()
        assert opened.person.move_base(scenario.base_becomes)
        # Whoever asks first is told that GitHub does not know yet.
        assert all(opened.person.sees_conflict() for _ in range(2))
        opened.play_on()
        yield opened


@contextmanager
def short_way(directory: Path, *, moves_up: bool = False, mends: bool = False) -> Iterator[Theatre]:
    """An item in `small`, played to its end; with `moves_up` to the first node of the whole way.

    Args:
        mends: the review gives an exact fix, which is applied.
    """
    answers = answering(WIDE if moves_up else IMPLEMENTED, PROPOSING if mends else PASSED)
    with ModelServer() as server, theatre(directory) as opened:
        server.answers(*[lambda seen: answer_to(seen, answers)] * MOST_ANSWERS)
        opened.environment |= speaking_to(server)
        opened.lane = LANE
        opened.play(last="architecture" if moves_up else "")
        yield opened
