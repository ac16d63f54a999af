from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.transact.outcomes import MAX_CHARS, MOST_TESTS, printed


def failing(name: str, message: str) -> TestCase:
    return TestCase(id=name, outcome="failed", message=message)


def test_what_is_new_comes_first_and_what_passes_says_nothing() -> None:
    report = TestReport(
        cases=(
            failing("t::a", "old"),
            failing("t::b", "assert 1 == 2"),
            TestCase(id="t::c", outcome="passed", message="chatter"),
            failing("t::d", ""),
        )
    )

    assert printed([report], known=["t::a"]) == ("t::b printed:\nassert 1 == 2", "t::a printed:\nold")


def test_the_end_of_a_long_text_is_kept_and_secrets_are_not() -> None:
    token = "ghp_" + "a" * 30
    report = TestReport(cases=(failing("t::a", f"{'x' * 5000} token {token} E assert 1 == 2"),))

    (text,) = printed([report], known=())

    assert text.endswith("token *** E assert 1 == 2")
    assert len(text) <= MAX_CHARS + len("t::a printed:\n[…]")


def test_files_that_cannot_be_loaded_go_before_tests_and_the_list_has_an_end() -> None:
    report = TestReport(
        cases=tuple(failing(f"t::{number}", "boom") for number in range(20)),
        collection_errors=("tests/x.py: SyntaxError",),
    )

    found = printed([report], known=())

    assert found[0] == "cannot be loaded: tests/x.py: SyntaxError"
    assert len(found) == MOST_TESTS
