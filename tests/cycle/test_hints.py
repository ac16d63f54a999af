from cogworks.codegen.suitability import Hints, import_hint
from cogworks.cycle.events import Event, ExecutionComplete
from cogworks.cycle.results import ActionResult, Outcome, TestFacts


def facts(*errors: str) -> TestFacts:
    return TestFacts(exit_status=2, collected=0, passed=0, collection_errors=errors)


def event(tests: TestFacts | None) -> Event:
    result = ActionResult(outcome=Outcome.UNCOLLECTED, tests=tests)
    body = ExecutionComplete(success=True, result=result, result_digest="", error_code="")
    return Event(seq=1, cycle=1, body=body, prev_hash="", hash="")


def test_a_module_that_is_missing_is_named_with_what_to_do() -> None:
    hint = import_hint(
        [
            "tests/test_a.py: E   ModuleNotFoundError: No module named 'attr'",
            "tests/test_b.py: E   ModuleNotFoundError: No module named 'attr'",
            "tests/test_c.py: E   ModuleNotFoundError: No module named 'yaml.nodes'",
        ]
    )

    assert hint.startswith("tests could not be loaded: no module named attr, yaml.nodes. ")
    assert "name it among the dependencies that the repository declares" in hint
    assert "`pythonpath`" in hint


def test_tests_that_cannot_be_loaded_for_another_reason_give_no_hint() -> None:
    assert import_hint(["tests/test_a.py: E   SyntaxError: invalid syntax"]) == ""
    assert import_hint([]) == ""


def test_a_hint_is_told_once_in_a_run() -> None:
    told: list[str] = []
    hints = Hints(told.append)

    for tests in (facts("No module named 'attr'"), None, facts("No module named 'attr'")):
        hints(event(tests))

    assert told == [import_hint(["No module named 'attr'"])]
