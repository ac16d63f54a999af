"""A proof says of every test what it did before and after, and what speaks against the change."""

import pytest

from cogworks.codebase.diffmodel import Diff
from cogworks.codebase.diffplacing import between
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.proof import (
    BELIEVED,
    Outcome,
    Proof,
    Runs,
    Summary,
    Tree,
    Verdict,
    caution,
    markdown,
    promise,
    proven_tests,
    summarised,
)
from cogworks.repair.unloaded import Unloaded
from cogworks.repair.violations import TestRules
from cogworks.repair.weakening import Weakened, weakened_lines
from cogworks.vocabulary import CommitOid


def report(**outcomes: str) -> TestReport:
    cases = [{"id": test, "outcome": outcome} for test, outcome in outcomes.items() if outcome != "absent"]
    return TestReport(cases=tuple(TestCase.model_validate(case) for case in cases))


@pytest.mark.parametrize(
    ("base", "head", "reruns", "verdict"),
    [
        ("failed", "passed", (), "fail_to_pass"),
        ("error", "passed", (), "fail_to_pass"),
        ("passed", "passed", (), "pass_to_pass"),
        ("absent", "passed", (), "new_and_passes"),
        ("skipped", "passed", (), "new_and_passes"),
        ("failed", "failed", (), "still_fails"),
        ("passed", "failed", (), "broken"),
        ("passed", "error", (), "broken"),
        ("absent", "failed", (), "broken"),
        ("skipped", "failed", (), "broken"),
        ("passed", "absent", (), "deleted"),
        ("failed", "absent", (), "deleted"),
        ("passed", "skipped", (), "skipped_now"),
        ("skipped", "skipped", (), "skipped_before"),
        ("failed", "passed", ("passed", "passed"), "fail_to_pass"),
        ("failed", "passed", ("failed",), "flaky"),
        ("passed", "failed", ("failed", "passed"), "flaky"),
        ("passed", "failed", ("failed", "failed"), "broken"),
    ],
)
def test_the_verdict_of_one_test(
    base: Outcome, head: Outcome, reruns: tuple[Outcome, ...], verdict: Verdict
) -> None:
    runs = Runs(report(t=base), report(t=head), [report(t=outcome) for outcome in reruns])

    (found,) = proven_tests(runs)

    assert (found.base, found.head, found.reruns, found.verdict) == (base, head, reruns, verdict)


def proof(runs: Runs, **more: object) -> Proof:
    return Proof(
        base=Tree(commit=CommitOid("b" * 40), tree="1" * 40),
        head=Tree(commit=CommitOid("c" * 40), tree="2" * 40),
        commands=("python -m pytest -q",),
        versions={"pytest": "8.3", "python": "3.11"},
        tests=proven_tests(runs),
    ).model_copy(update=more)


GOOD = Runs(report(a="failed", b="passed"), report(a="passed", b="passed"))


@pytest.mark.parametrize(
    ("found", "is_proven"),
    [
        (proof(GOOD), True),
        (proof(Runs(report(b="passed"), report(b="passed"))), False),
        (proof(Runs(GOOD.base, report(a="passed", b="failed"))), False),
        (proof(Runs(GOOD.base, report(a="passed"))), False),
        (proof(Runs(GOOD.base, report(a="passed", b="skipped"))), False),
        (proof(GOOD, weakened=(Weakened("tests/t.py", "assert x"),)), False),
        (proof(GOOD, uncollected=("tests/u.py: no",)), False),
        (proof(Runs(GOOD.base, GOOD.head, [report(a="failed")])), False),
    ],
    ids=["good", "nothing fixed", "broken", "deleted", "skipped", "weakened", "uncollected", "flaky"],
)
def test_when_a_change_is_proven(found: Proof, is_proven: bool) -> None:
    assert found.is_proven is is_proven


def test_a_proof_survives_its_file() -> None:
    found = proof(GOOD, weakened=(Weakened("tests/t.py", "assert x"),))

    assert Proof.model_validate_json(found.model_dump_json()) == found


TEST = "def test_a():\n    assert x == 1\n    assert y\n"


@pytest.mark.parametrize(
    ("path", "after", "wanted"),
    [
        ("tests/test_a.py", TEST.replace("    assert y\n", ""), ["assert y"]),
        ("tests/test_a.py", TEST.replace("x == 1", "x"), ["assert x == 1"]),
        ("tests/test_a.py", f"import pytest\n@pytest.mark.skip\n{TEST}", ["@pytest.mark.skip"]),
        ("tests/test_a.py", TEST.replace("    assert y", "        assert y"), []),
        ("tests/test_a.py", TEST + "    assert z\n", []),
        ("src/a.py", TEST.replace("    assert y\n", ""), []),
        ("tests/test_a.py", f"{TEST}\n\n@pytest.mark.skipif(OLD)\n@other\ndef test_b(): ...\n", []),
        ("tests/test_a.py", f"{TEST}\n\ndef test_b():\n    pytest.skip()\n", []),
        ("tests/test_a.py", TEST.replace("    assert x", "    pytest.skip()\n    assert x"), ["pytest.skip()"]),
        (
            "tests/test_a.py",
            "@pytest.mark.skip\ndef test_a():\n    pass\n",
            ["assert x == 1", "assert y", "@pytest.mark.skip"],
        ),
        (
            "tests/test_a.py",
            f"{TEST}def test_b():\n    ...\npytest.skip(allow_module_level=True)\n",
            ["pytest.skip(allow_module_level=True)"],
        ),
    ],
    ids=[
        "assertion gone", "assertion changed", "skip", "moved", "more", "no test file", "marker of a new test", "new test skips",
        "old test skips", "old test written anew", "whole file below a new test",
    ],
)  # fmt: skip
def test_what_weakens_a_test(path: str, after: str, wanted: list[str]) -> None:
    found = weakened_lines(Diff(files=(between(path, TEST, after),)), TestRules())

    assert [each.line for each in found] == wanted
    assert {each.path for each in found} <= {path}


def test_cases_that_are_stated_in_another_way_are_told_and_never_called_kept() -> None:
    found = summarised(proof(GOOD, restated=tuple(f"tests/t.py::test_x[{number}]" for number in range(5))))

    assert promise(found).endswith(
        "5 test(s) or case(s) of tests from before are stated in another way now, as the new tests have it; see the table."
    )
    assert "- stated in another way now: `tests/t.py::test_x[1]`\n- and 3 more of these\n" in markdown(
        found, rows=2
    )


def test_the_table_shows_what_changed_and_stays_a_table() -> None:
    runs = Runs(
        report(**{"t::a[x|y]": "failed", "t::b": "passed", "t::c`": "passed"}),
        report(**{"t::a[x|y]": "passed", "t::b": "passed", "t::c`": "failed"}),
        [report(**{"t::c`": "failed"})],
    )

    assert markdown(summarised(proof(runs))) == (
        "**Not proven**: 1 test(s) failed before and pass now, 1 passed before and still do, 1 speak against the change.\n"
        "\n"
        "| test | before | after | verdict |\n"
        "|---|---|---|---|\n"
        "| `t::a[x\\|y]` | failed | passed | fail to pass |\n"
        "| `t::c'` | passed | failed, failed | broken |\n"
        "\n"
        "Tree 111111111111 → 222222222222; `python -m pytest -q` (pytest 8.3, python 3.11).\n"
        f"\n{BELIEVED}\n"
    )


def test_a_long_table_is_cut_and_says_so() -> None:
    names = {f"t::{number:03}": "failed" for number in range(60)}

    text = markdown(summarised(proof(Runs(report(**names), report(**dict.fromkeys(names, "passed"))))))

    assert text.count("| fail to pass |") == 50
    assert "\nNot listed: 10 fail to pass.\n" in text


def test_a_short_table_leaves_out_nothing_that_speaks_against_the_change() -> None:
    better = [f"t::a{number}" for number in range(20)]
    base = report(
        **{
            **dict.fromkeys(better, "failed"),
            "t::z_old": "failed",
            "t::z_gone": "passed",
            "t::z_skip": "passed",
        }
    )
    head = report(**{**dict.fromkeys(better, "passed"), "t::z_old": "failed", "t::z_skip": "skipped"})

    lines = markdown(summarised(proof(Runs(base, head))), rows=10, whole="`proof.json`").splitlines()

    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| `")]
    assert [row[3] for row in rows] == ["fail to pass"] * 8 + ["deleted", "skipped now"]
    assert "Not listed: 12 fail to pass, 1 still fails. All of them are in `proof.json`." in lines


def test_what_newly_passes_comes_first_then_what_still_fails_then_what_is_lost() -> None:
    base = report(**{"t::a": "passed", "t::b": "failed", "t::c": "failed"})
    head = report(**{"t::b": "failed", "t::c": "passed", "t::d": "passed"})

    text = markdown(summarised(proof(Runs(base, head))))

    rows = [line.split(" | ")[3].strip(" |") for line in text.splitlines() if line.startswith("| `")]
    assert rows == ["fail to pass", "new and passes", "still fails", "deleted"]
    assert "Not listed" not in text


def test_a_test_that_could_not_be_loaded_before_failed_before() -> None:
    base = TestReport(cases=(), collection_errors=("t.py: ImportError: no a",))

    new, repaired = proven_tests(Runs(base, report(**{"t.py::a": "passed", "s.py::b": "passed"})))

    assert (new.verdict, repaired.base, repaired.verdict) == ("new_and_passes", "error", "fail_to_pass")


def test_a_summary_counts_every_test_and_lists_those_that_changed() -> None:
    base = report(a="failed", b="passed", c="failed", d="skipped")
    found = summarised(proof(Runs(base, report(a="passed", b="passed", c="failed", d="skipped"))))

    assert found.counts == {"fail_to_pass": 1, "pass_to_pass": 1, "still_fails": 1, "skipped_before": 1}
    assert [test.id for test in found.tests] == ["a", "c"]
    assert Summary.model_validate_json(found.model_dump_json()) == found
    assert "1 failed before and still do." in markdown(found)


def test_where_no_test_shows_the_difference_nothing_more_is_claimed() -> None:
    text = markdown(summarised(proof(Runs(report(b="passed"), report(b="passed")), commands=(), versions={})))

    assert text == (
        "**Nothing is worse**: 0 test(s) failed before and pass now, 1 passed before and still do, 0 speak against the change.\n"
        "\n"
        "Tree 111111111111 → 222222222222.\n"
        f"\n{BELIEVED}\n"
    )


LEFT = Unloaded(place="tests/x.py", reason="no y")


@pytest.mark.parametrize(
    ("found", "promised"),
    [
        (proof(GOOD), "No test that passed before fails, is skipped or is gone."),
        (
            proof(GOOD, unloaded=(LEFT,)),
            "No test that could be run and passed before fails, is skipped or is gone.",
        ),
        (
            proof(Runs(report(a="passed"), report(a="failed"), [report(a="passed")])),
            "No test that passed before fails in every run, is skipped or is gone; 1 passed in one run and failed in another.",
        ),
        (
            proof(Runs(report(a="passed"), report())),
            "1 test(s) speak against this change; see the table.",
        ),
        (proof(GOOD, guard="empty"), ""),
        (proof(GOOD, guard="off"), ""),
    ],
    ids=["whole", "unloaded", "flaky", "deleted", "empty", "off"],
)
def test_no_more_is_promised_than_was_run(found: Proof, promised: str) -> None:
    assert promise(summarised(found)) == promised


@pytest.mark.parametrize(
    ("found", "first", "is_proven"),
    [
        (proof(GOOD), "", True),
        (
            proof(GOOD, unloaded=(LEFT,)),
            "Not proven for `tests/x.py`, which could not be loaded: `no y`.",
            False,
        ),
        (proof(GOOD, guard="empty"), "No test guarded this change: none passed before it.", True),
        (proof(GOOD, guard="off"), "Not proven against the tests that were there before: ", False),
        (
            proof(GOOD, unloaded=(LEFT.model_copy(update={"after": False}),)),
            "Not proven for `tests/x.py` as it was before, for it could not be loaded then: `no y`.",
            True,
        ),
    ],
    ids=["whole", "unloaded", "empty", "off", "before"],
)
def test_what_was_not_run_is_the_first_line(found: Proof, first: str, is_proven: bool) -> None:
    summary = summarised(found)

    assert summary.is_proven == is_proven
    assert caution(summary).startswith(first)
    assert markdown(summary).startswith(f"{first}" if first else "**Proven**")
    assert Summary.model_validate_json(summary.model_dump_json()) == summary


def test_a_file_that_skipped_itself_and_has_tests_now_lost_none() -> None:
    base = TestReport(cases=(TestCase(id="tests/x.py", outcome="skipped"),))
    head = TestReport(cases=(TestCase(id="tests/x.py::a", outcome="passed"),))

    assert [(test.id, test.verdict) for test in proven_tests(Runs(base, head))] == [
        ("tests/x.py::a", "new_and_passes")
    ]
    lost = {test.id: test.verdict for test in proven_tests(Runs(head, base))}
    assert lost == {"tests/x.py": "skipped_before", "tests/x.py::a": "deleted"}
