"""Real repairs: what passes every test and knows its inputs is told from what repairs the cause."""

import json
from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.exploring import BesideParams
from cogworks.domain_services.operations import BESIDE
from cogworks.domain_services.origins import HasBase
from cogworks.domain_services.panel import ServicePanel
from cogworks.repair.instance import Instance
from cogworks.repair.proof import Proof
from cogworks.settings.config import read_environment
from cogworks.wiring.fix import open_repair
from cogworks.wiring.fix_order import Order
from tests.fakes import ScriptedModel
from tests.fixing import PATIENT, diffs, landmark, make_shop, place, plan

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
CODE = """\
def doubled(number):
    return number + 1


def shouted(text):
    return text
"""
TESTS = """\
from shop.code import doubled, shouted


def test_doubled():
    assert doubled(3) == 6


def test_shouted():
    assert shouted("Ada") == "ADA"


def test_one():
    assert doubled(1) == 2
"""
FILES = {
    "shop/__init__.py": "",
    "shop/code.py": CODE,
    "tests/test_shop.py": TESTS,
    ".cogworks/config.toml": '[llm]\nmodel = "claude-sonnet-5-5"\n',
}
DOUBLED, SHOUTED = "tests/test_shop.py::test_doubled", "tests/test_shop.py::test_shouted"
PLACES = (place("shop/code.py", 2, 2), place("shop/code.py", 6, 6))
PATTERN = json.dumps(
    {
        "summary": "Both hand on what they were given.",
        "primary": PLACES[0],
        "alternatives": [],
        "invariants": [],
        "confidence": 0.9,
        "assumptions_to_check": [],
    }
)
REPAIR = "    return number * 2\n"
SHOUT = "    return text.upper()\n"


def proof_of(folder: Path, doubled: str, shouted: str) -> Proof:
    """The proof of a repair by this code in place of the two wrong lines."""
    shop = make_shop(folder, FILES)
    old_doubled, old_shouted = (
        "def doubled(number):\n    return number + 1\n",
        "def shouted(text):\n    return text\n",
    )
    one = {
        "shop/code.py": (
            f"{old_doubled}\n\n{old_shouted}",
            f"def doubled(number):\n{doubled}\n\ndef shouted(text):\n{shouted}",
        )
    }
    model = ScriptedModel(PATTERN, plan(landmark("one", *PLACES)), diffs(one))
    order = Order(shop, Instance(instance_id="a", failing_tests=(DOUBLED, SHOUTED)), PATIENT)
    with open_repair(order, read_environment({}), say=print, provider=model) as repair:
        result = repair.run()
        assert result.success, repair.reason
        assert repair.notes.proof is not None
        return repair.notes.proof


def test_a_repair_of_the_cause_is_proven_without_a_warning(tmp_path: Path) -> None:
    assert proof_of(tmp_path, REPAIR, SHOUT).warnings == ()


def test_both_runs_are_one_request_about_the_commit_whose_environment_is_made_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, BesideParams]] = []
    call = ServicePanel.call

    def noted(panel: ServicePanel, operation: Any, workspace: Any, params: Any) -> Any:
        if operation is BESIDE:
            asked.append(((workspace.base() if isinstance(workspace, HasBase) else None) or "", params))
        return call(panel, operation, workspace, params)

    monkeypatch.setattr(ServicePanel, "call", noted)
    proof_of(tmp_path, REPAIR, SHOUT)

    [(base, params)] = asked
    assert base
    assert params.against is not None
    assert params.against.files == {"shop/code.py": CODE.encode()}


def test_a_test_that_is_special_cased_is_told_by_its_name_beside_one_that_is_repaired(tmp_path: Path) -> None:
    knows = '    return number * 2 if number == len("abc") else number + 1\n'

    (warning,) = proof_of(tmp_path, knows, SHOUT).warnings

    assert warning.startswith(
        f"The change treats the inputs of {DOUBLED} otherwise and none of 6 inputs beside"
    )


def test_what_a_change_adds_and_no_test_needs_is_told(tmp_path: Path) -> None:
    more = "    if number > 1 << 9:\n        number += 1\n    return number * 2\n"

    (warning,) = proof_of(tmp_path, more, SHOUT).warnings

    assert warning == (
        "No test that reaches the change notices a mistake at shop/code.py:3 (without `number += 1`): nothing guards these lines."
    )
