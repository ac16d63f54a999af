"""What checks say, as changes that are asked for: cut to what a prompt has room for, and without secrets."""

from cogworks.forge.facts import CheckSeen, FailedCheck, Remarked
from cogworks.forge.unmergeable import (
    MAX_CHECKS,
    MAX_LOG,
    MAX_LOG_LINES,
    MAX_REMARKS,
    changes_of,
    failed_of,
    last_lines,
)
from cogworks.vocabulary import IssueNumber

NUMBER = IssueNumber(9)


def test_only_the_first_checks_tell_more_than_their_names() -> None:
    told = [FailedCheck(name=f"c{place}") for place in range(MAX_CHECKS + 2)]

    changes = changes_of(NUMBER, told)

    assert [change.check for change in changes] == [*(f"c{place}" for place in range(MAX_CHECKS)), "c5"]
    assert changes[-1].text == "These checks failed as well: c5, c6."


def test_remarks_that_do_not_fit_are_counted() -> None:
    remarks = tuple(Remarked(path="a.py", line=line, text="no") for line in range(MAX_REMARKS + 3))

    changes = changes_of(NUMBER, [FailedCheck(name="lint", remarks=remarks)])

    assert [change.text for change in changes] == [
        "The check lint failed.",
        *["no"] * MAX_REMARKS,
        "3 remarks more",
    ]


def test_the_end_of_a_log_is_what_is_told() -> None:
    log = "\n".join(f"line {number}" for number in range(500))

    assert last_lines(log).splitlines() == [f"line {number}" for number in range(500 - MAX_LOG_LINES, 500)]
    assert last_lines("x" * (MAX_LOG + 9)) == "… " + "x" * MAX_LOG


def test_a_secret_that_a_log_shows_and_what_moves_a_cursor_reach_no_prompt() -> None:
    log = f"token ghp_{'a' * 36}\n\x1b[31mred\x1b[0m\n"

    (change,) = changes_of(NUMBER, [FailedCheck(name="tests", log_tail=log)])

    assert "ghp_" not in change.text
    assert change.text.endswith("\nred")


def test_a_key_that_a_log_shows_is_hidden_before_the_log_is_cut() -> None:
    key = "\n".join(
        ["-----BEGIN RSA PRIVATE KEY-----", *["Q7x" * 20] * MAX_LOG_LINES, "-----END RSA PRIVATE KEY-----"]
    )

    (change,) = changes_of(NUMBER, [FailedCheck(name="tests", log_tail=f"{key}\nred\n")])

    assert "Q7x" not in change.text
    assert change.text.endswith("red")


def test_nothing_failed_before_all_have_ended() -> None:
    failed = CheckSeen(node_id="1", name="a", is_failed=True)
    pending = CheckSeen(node_id="2", name="b", is_pending=True)
    ours = CheckSeen(node_id="3", name="c", is_pending=True, is_failed=True, is_ours=True)

    assert failed_of([failed, pending]) == ()
    assert failed_of([failed, ours]) == (failed,)
