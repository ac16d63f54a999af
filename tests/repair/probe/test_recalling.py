import json
from collections.abc import Mapping
from typing import Any

import pytest

from cogworks.codebase.diffparsing import parse_diff
from cogworks.errors import BudgetReached, InvalidReply
from cogworks.repair.localise.localising import localise
from cogworks.repair.planning import Situation
from cogworks.repair.probe.recalling import (
    MAX_CHANGED_LINES,
    MAX_HYPOTHESIS_WORDS,
    Proposed,
    proposed,
    recalled,
)
from tests.fixing import place
from tests.repair.exploring import COVERAGE, FAILING, NODES, SHOP, TARGET, ScriptedExplorer
from tests.repair.scripted_model import Answers

FOUND = localise(FAILING, ScriptedExplorer({"shop.py": SHOP}, nodes=NODES, coverage=COVERAGE))
SITUATION = Situation(failing=FAILING, suspects=FOUND.suspects, slices=FOUND.slices, targets=(TARGET,))
TEST_FILE = "def test_total():\n    unused = 1\n    assert total([1]) == 1\n"
TEXTS: Mapping[str, str] = {"shop.py": SHOP, "tests/test_shop.py": TEST_FILE}
CHECK = (
    "    return sum(prices) - 1\n",
    "    assert sum(prices) - 1 == sum(prices), 'cogworks_probe_sum'\n    return sum(prices) - 1\n",
)


def candidates(*places: Mapping[str, Any], hypothesis: str = "one is taken away") -> str:
    return json.dumps({"candidates": [{"hypothesis": hypothesis, "place": each} for each in places]})


def probes(*edits: tuple[str, str, str], purpose: str = "assert", suspect: str = "shop.total") -> str:
    """One probe for each edit: path, what is searched, what takes its place."""
    return json.dumps(
        {
            "probes": [
                {
                    "suspect": suspect,
                    "purpose": purpose,
                    "edits": [{"path": path, "search": old, "replace": new}],
                    "rationale": "shows the difference",
                }
                for path, old, new in edits
            ]
        }
    )


def asked(*answers: str | Exception, most: int = 3) -> tuple[Proposed, Answers]:
    model = Answers(*answers)
    return proposed(SITUATION, model, TEXTS.get, most=most, purpose="i"), model


def test_without_a_model_every_suspect_is_a_candidate_with_its_strongest_signal() -> None:
    first, *others = recalled(FOUND.suspects)

    assert (first.id, first.hypothesis) == ("shop.total", "failing tests execute it more than passing ones")
    assert first.spans[0].lines == (1, 2)
    assert first.evidence["suspicion"] == FOUND.suspects[0].suspicion
    assert len(others) == len(FOUND.suspects) - 1


def test_a_models_hypotheses_and_changes_come_in_the_form_of_git() -> None:
    long = " ".join(["word"] * 30)
    found, model = asked(candidates(place("shop.py", 1, 2), hypothesis=long), probes(("shop.py", *CHECK)))

    assert found.problems == ()
    (candidate,) = found.candidates
    assert candidate.spans[0].symbol == "shop.total"
    assert len(candidate.hypothesis.split()) == MAX_HYPOTHESIS_WORDS
    (patch,) = found.patches
    assert (patch.suspect, patch.purpose, patch.loc_changed) == ("shop.total", "assert", 1)
    assert parse_diff(patch.diff).diff.paths == ("shop.py",)
    assert [(template, purpose) for template, purpose, _ in model.asked] == [
        ("recall", "i-recall"),
        ("probe_patches", "i-probes"),
    ]
    assert "model-1: word word" in model.asked[1][2]
    assert "at most 3 probes" in model.asked[1][2]


def test_a_shorter_test_may_be_proposed_and_no_other_change_of_tests() -> None:
    edit = ("tests/test_shop.py", "    unused = 1\n", "")
    shorter, _ = asked(candidates(), probes(edit, purpose="reduce"))
    changed, _ = asked(candidates(), probes(edit, purpose="assert"))

    assert [patch.purpose for patch in shorter.patches] == ["reduce"]
    assert changed.patches == ()
    assert changed.problems == ("probe 1: 'tests/test_shop.py' is not among shop.py",)


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ((candidates(place("shop.py", 90, 91)), probes()), "candidate 1: shop.py:90-91 is in none of the windows"),
        ((candidates(place("shop.py", 2, 1)), probes()), "candidate 1: shop.py:2-1 is in none of the windows"),
        ((candidates(), probes(("shop.py", *CHECK), suspect="shop.nobody")), "probe 1: 'shop.nobody' is no suspect"),
        ((candidates(), probes(("../evil.py", "", "x"))), "probe 1: '../evil.py' is not among shop.py"),
        ((candidates(), probes(("shop.py", "no such text", "x"))), "shop.py"),
        ((candidates(), probes(("shop.py", CHECK[0], "    x = 1\n" * (MAX_CHANGED_LINES + 1)))), "are allowed"),
        ((InvalidReply("no JSON"),), "no JSON"),
        ((candidates(), BudgetReached("enough")), "enough"),
    ],
    ids=["unseen", "backwards", "nobody", "outside", "misfit", "too large", "no reply", "budget"],
)  # fmt: skip
def test_what_makes_no_sense_is_left_out_and_told(answers: tuple[str | Exception, ...], problem: str) -> None:
    found, _ = asked(*answers)

    assert (found.candidates, found.patches) == ((), ())
    assert problem in " ".join(found.problems)


def test_no_more_changes_are_taken_than_were_asked_for_and_equal_ones_once() -> None:
    other = ("shop.py", CHECK[0], CHECK[1].replace("sum'", "other'"))
    found, _ = asked(candidates(), probes(("shop.py", *CHECK), ("shop.py", *CHECK), other), most=2)

    assert len(found.patches) == 1
