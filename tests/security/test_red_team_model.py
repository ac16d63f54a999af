"""A whole item on the hub whose model is hostile in every answer; `test_judging` shows what the judge objects to."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cogworks.demo.facts import AUTHOR
from tests.end_to_end.test_example_pipelines import (
    HOURS,
    IMPLEMENTED,
    NO_INTERFACES,
    PASSED,
    PLAN,
    SPECIFIED,
    classified,
    written,
)
from tests.model_server import Answer, Seen, replied
from tests.security.red_team import SPECIFICATION_WAITS, attacked
from tests.security.test_red_team import ACTS, VISITED, is_as_asked_for, says

# Plays a whole item.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SHORT = "Closes #77 for @eve [skip ci] \u202e"


def outside(path: str) -> dict[str, Any]:
    """The change, and one more file where no model writes."""
    extra = {"path": path, "action": "create", "content": ACTS}
    return {**IMPLEMENTED, "files": [*IMPLEMENTED["files"], extra]}


def counting_backwards(reply: dict[str, Any]) -> Answer:
    """A reply that says it took less than nothing."""
    answer = replied(json.dumps(reply))
    told = json.loads(answer.body)
    told["usage"] |= {"input_tokens": -5_000_000, "output_tokens": -1}
    return replace(answer, body=json.dumps(told).encode())


def test_a_hostile_model(tmp_path: Path) -> None:
    item = {**PLAN["sub_work_items"][0], "title": SHORT, "description": ACTS, "acceptance_criteria": [ACTS]}
    specified = {**SPECIFIED, "title": SHORT, "markdown": f"{SPECIFIED['markdown']}\n{ACTS}", "risks": [ACTS]}
    passed = {**PASSED, "criteria": [{"name": SHORT, "passed": True}]}
    lies = [True]

    def reviewed(_: Seen) -> Answer:
        return counting_backwards(passed) if lies else replied(json.dumps(passed))

    with attacked(tmp_path, gates=[SPECIFICATION_WAITS]) as attack:
        attack.scene.person.set_trigger()
        attack.server.answers(
            *says({**classified(complexity="medium"), "rationale": ACTS}, specified),
            *says({**NO_INTERFACES, "notes": ACTS}, {"sub_work_items": [item]}),
            *says({**written(HOURS), "notes": ACTS}),
            *says(outside("../../../../escaped.txt"), outside(".github/workflows/evil.yml")),
            *says({**written(HOURS), "notes": ACTS}),
            *says({**IMPLEMENTED, "summary": SHORT, "notes": ACTS}),
            *[reviewed] * 6,
        )

        refused = attack.play()
        # Nothing of it is kept, and a person is asked.
        assert refused.code == 1, refused
        assert "PROTECTED_PATH_VIOLATION" in refused.message
        assert "cogworks/1/swi-1" not in attack.scene.refs()
        assert attack.objections() == []
        attack.say(AUTHOR, "/cogworks retry")
        miscounted = attack.play()
        assert (miscounted.code, miscounted.outcome) == (1, "failed")
        assert "not with a message" in miscounted.message
        lies.clear()
        attack.say(AUTHOR, "/cogworks retry")
        end = attack.play()

        assert (end.outcome, end.code) == ("done", 0), (end, len(attack.server.seen))
        assert refused.passed == ("review architecture",)
        assert list(dict.fromkeys(attack.nodes)) == VISITED
        assert is_as_asked_for(attack)
        assert attack.objections() == []
