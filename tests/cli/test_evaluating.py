from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from cogworks.cli.evaluating import Kept, earlier, held, keep, terms_of
from cogworks.errors import UsageError
from cogworks.evaluation.cases import parse_cases
from cogworks.repair.options import Options, Search
from cogworks.wiring.evaluation import Assignment
from tests.evaluation.results import result

TASK = '{"instance_id": "a", "repo": "lib", "failing_tests": ["t.py::one"]}'


def assignment(folder: Path, task: str = TASK) -> Assignment:
    (case,) = parse_cases(task, source="a.json")
    return Assignment(case=case, tasks=folder, artifacts=folder / "a")


def done(given: Assignment, outcome: str = "solved") -> None:
    keep(given, Kept(terms=terms_of(given), result=result("a", outcome)))


def test_what_is_done_is_not_done_again_wherever_the_folder_was_moved(tmp_path: Path) -> None:
    given = assignment(tmp_path)
    done(given)

    moved = tmp_path / "moved"
    given.artifacts.rename(moved)

    assert earlier(given) is None
    assert earlier(given.model_copy(update={"artifacts": moved, "tasks": Path("/other")})) == result("a")


@pytest.mark.parametrize(
    "change",
    [
        {"options": Options(search=Search(finalists=1))},
        {"test_cmd": "pytest tests"},
        {"replays": False},
        {"runs_commands": True},
        {"case": assignment(Path(), TASK.replace("one", "two")).case},
    ],
    ids=lambda change: next(iter(change)),
)
def test_under_other_terms_an_instance_is_done_anew(tmp_path: Path, change: dict[str, Any]) -> None:
    given = assignment(tmp_path)
    done(given)

    assert earlier(given.model_copy(update=change)) is None


def test_an_error_is_tried_again_and_a_failure_is_not(tmp_path: Path) -> None:
    given = assignment(tmp_path)

    done(given, "error")
    assert earlier(given) is None
    done(given, "unbudgeted")
    assert earlier(given) is None
    done(given, "not_solved")
    assert earlier(given) is not None


def test_what_was_done_within_another_budget_need_not_be_done_again(tmp_path: Path) -> None:
    given = assignment(tmp_path)
    done(given.model_copy(update={"max_cost_usd": Decimal(1)}))

    assert earlier(given.model_copy(update={"max_cost_usd": Decimal(2)})) == result("a")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"terms": "x"}'])
def test_a_result_that_cannot_be_read_counts_for_nothing(tmp_path: Path, text: str) -> None:
    given = assignment(tmp_path)
    done(given)
    (given.artifacts / "result.json").write_text(text)

    assert earlier(given) is None


def test_a_folder_is_one_evaluations_at_a_time(tmp_path: Path) -> None:
    with (
        held(tmp_path),
        pytest.raises(UsageError, match="another evaluation is at work"),
        held(tmp_path),
    ):
        pass

    with held(tmp_path):
        pass
