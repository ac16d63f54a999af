import json

import pytest

from cogworks.errors import ConfigurationError
from cogworks.repair.instance import parse_instance

TASK = {"instance_id": "a-1", "failing_tests": ["t.py::a"]}


def test_an_instance_of_swe_bench_is_read_with_its_lists_inside_texts() -> None:
    data = {
        "instance_id": "org__repo-1",
        "FAIL_TO_PASS": '["t.py::a[x-y]", "t.py::b"]',
        "PASS_TO_PASS": '["t.py::c"]',
        "test_patch": "diff",
        "base_commit": "abc",
        "patch": "the reference solution",
        "hints_text": "",
    }

    found = parse_instance(json.dumps(data), source="task.json")

    assert found.failing_tests == ("t.py::a[x-y]", "t.py::b")
    assert found.pass_to_pass == ("t.py::c",)
    assert (found.test_patch, found.base_commit) == ("diff", "abc")
    assert "reference" not in found.model_dump_json()


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"failing_tsts": []}, "`failing_tsts` is not a key"),
        ({"failing_tests": []}, "wants the failing tests"),
        ({"FAIL_TO_PASS": ["t.py::b"]}, "wants the failing tests"),
        ({"failing_tests": "t.py::a"}, "`failing_tests` is no list of test ids"),
        ({"failing_tests": [1]}, "`failing_tests` is no list of test ids"),
        ({"instance_id": ""}, "wants an `instance_id`"),
        ({"instance_id": 7}, "`instance_id` is 7, wanted a text"),
        ({"targeted_expr": "a or b"}, "`targeted_expr` selects tests by parts"),
        ({"metadata": []}, "`metadata` is no object"),
    ],
)
def test_what_is_wrong_with_a_task_is_named(changed: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        parse_instance(json.dumps({**TASK, **changed}), source="task.json")


def test_all_problems_of_a_task_are_told_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_instance('{"one": 1, "two": 2}', source="task.json")

    assert len(caught.value.problems) == 4


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000], ids=["empty", "list", "half", "deep"])
def test_what_is_no_task_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"task\.json"):
        parse_instance(text, source="task.json")
