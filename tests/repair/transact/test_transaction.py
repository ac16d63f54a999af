"""A diff is kept whole with everything proven, or the tree is byte by byte what it was; the user's work is never touched."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cogworks.codebase.diffmodel import Diff, render
from cogworks.codebase.diffplacing import between
from cogworks.codebase.failures import CodebaseError
from cogworks.codebase.patchtree import PatchTree, StagedFile, TreeState
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.transact.gates import Selection
from cogworks.repair.transact.outcomes import Result, Terms, TransactionEvent, staging_refusal
from cogworks.repair.transact.transaction import TransactionPorts, transact
from cogworks.vocabulary import CommitOid
from tests.codebase.repositories import BOT, git
from tests.limits import ENDS_WITHIN_S, Started
from tests.repair.benches import FILES, FactChecks, make_worktree, on_disk, patch_tree, real_git, terms


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_worktree(tmp_path)


def edit(path: str, old: str, new: str) -> str:
    return render(Diff(files=(between(path, FILES[path], FILES[path].replace(old, new)),)))


FIX = edit("a.txt", "a = bad", "a = good")
FIX_BOTH = edit("a.txt", "= bad", "= good")
BREAK = edit("a.txt", "b = good", "b = bad")
FIX_TWO_BREAK_ONE = edit("a.txt", FILES["a.txt"], "a = good\nb = bad\nc = good\nd = good\n")
NOTHING = edit("b.txt", "line 1\n", "line one\n")
NEW = (
    "diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n"
)


def tried(
    tree: Path, text: str, checks: FactChecks | None = None, under: Terms | None = None
) -> tuple[Result, list[TransactionEvent]]:
    moments: list[TransactionEvent] = []
    ports = TransactionPorts(patch_tree(tree), checks or FactChecks(tree), tell=moments.append)
    return transact(text, under or terms(tree), ports), moments


def test_a_diff_that_repairs_a_test_is_committed_with_its_trailers(tree: Path) -> None:
    before = git(tree, "rev-parse", "HEAD")

    result, _ = tried(tree, FIX)

    message = git(tree, "log", "-1", "--format=%B")
    assert result.is_kept
    assert (result.oid, git(tree, "rev-parse", "HEAD^")) == (git(tree, "rev-parse", "HEAD"), before)
    assert message.splitlines() == [
        "txn:fix-1",
        "",
        "Cogworks-Run: run-1",
        "Cogworks-Swi: A",
        "Cogworks-Step: fix-1",
        f"Cogworks-Proposal: {result.proposal}",
        "Cogworks-Mu-Pre: 200",
        "Cogworks-Mu-Post: 101",
    ]
    assert git(tree, "branch", "--show-current") == "cogworks/7/swi-1"
    assert git(tree, "status", "--porcelain") == ""
    assert (tree / "a.txt").read_text().startswith("a = good\n")


def test_a_diff_that_makes_an_ignored_file_is_rejected_with_the_rule(tree: Path) -> None:
    before = on_disk(tree)

    result, _ = tried(tree, NEW.replace("new.txt", "new.log"))

    assert result.code == "rejected"
    assert any(
        reason.startswith("path: new.log is ignored by .gitignore:1 `*.log`") for reason in result.reasons
    )
    assert on_disk(tree) == before


def test_the_same_diff_on_the_same_commit_is_the_same_commit(tmp_path: Path) -> None:
    oids = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        oids.append(tried(make_worktree(tmp_path / name), FIX)[0].oid)

    assert oids[0] == oids[1]


def spoil_with_litter(place: Path) -> None:
    (place / "report.log").write_text("litter")
    (place / "litter.txt").write_text("litter")
    (place / "made" / "deep").mkdir(parents=True, exist_ok=True)
    (place / "sub" / "c.txt").write_text("x = bad\n")
    (place / "sub" / "c.txt").chmod(0o755)


def test_only_what_is_staged_is_committed_and_litter_of_the_gates_goes(tree: Path) -> None:
    result, _ = tried(tree, FIX, FactChecks(tree, lambda place: (place / "litter.txt").write_text("x")))

    assert result.is_kept
    assert git(tree, "show", "--name-only", "--format=") == "a.txt"
    assert not (tree / "litter.txt").exists()
    assert (tree / "old.log").read_text() == "kept as well"


def test_what_is_written_after_the_last_test_is_in_no_commit(tree: Path) -> None:
    def litter(moment: TransactionEvent) -> None:
        if moment.kind == "txn.judged":
            (tree / "litter.txt").write_text("x")
            (tree / "b.txt").write_text("spoilt")

    result = transact(FIX, terms(tree), TransactionPorts(patch_tree(tree), FactChecks(tree), tell=litter))

    assert result.is_kept, result.reasons
    assert git(tree, "show", "--name-only", "--format=", "HEAD") == "a.txt"
    assert (tree / "b.txt").read_text() == FILES["b.txt"]
    assert git(tree, "status", "--porcelain") == ""


def stage_once_it_is_applied(place: Path) -> None:
    if "a = good" in (place / "a.txt").read_text():
        (place / "sneaked.txt").write_text("x")
        git(place, "add", "sneaked.txt")


def test_what_a_gate_stages_is_not_committed_with_the_diff(tree: Path) -> None:
    before, head = on_disk(tree), git(tree, "rev-parse", "HEAD")

    result, _ = tried(tree, FIX, FactChecks(tree, stage_once_it_is_applied))

    assert result.code == "apply_mismatch"
    assert result.reasons == ("git staged ['a.txt', 'sneaked.txt'], the diff names ['a.txt']",)
    assert (on_disk(tree), git(tree, "rev-parse", "HEAD")) == (before, head)
    assert git(tree, "status", "--porcelain") == ""


def test_after_a_refusal_the_next_candidate_starts_from_the_same_commit(tree: Path) -> None:
    clean = tried(make_worktree(_made(tree.parent / "clean")), FIX)[0]
    head = git(tree, "rev-parse", "HEAD")
    ports = TransactionPorts(patch_tree(tree), FactChecks(tree))

    refused = transact(FIX_TWO_BREAK_ONE, terms(tree), ports)
    kept = transact(FIX, terms(tree), ports)

    assert (refused.code, kept.code) == ("gate_targeted", "kept")
    assert git(tree, "rev-parse", "HEAD^") == head
    # Nothing of the refused one is in it: without that one it is the same commit.
    assert kept.oid == clean.oid


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def cheat(place: Path) -> None:
    """Tests that write the outcome they want into the tree."""
    (place / "a.txt").write_text(FILES["a.txt"].replace("bad", "good"))


def test_what_one_run_writes_does_not_judge_the_next(tree: Path) -> None:
    under = terms(tree, Selection(landmark=("a.txt::d",), regression=("sub/c.txt",)))

    result, _ = tried(tree, FIX, FactChecks(tree, after=cheat), under)

    assert result.code == "gate_landmark"
    assert result.before is not None
    assert result.before.failing == {"a.txt::d"}


CONFIGURED = {
    "apply.ignoreWhitespace": "change",
    "apply.whitespace": "error-all",
    "diff.noprefix": "true",
    "diff.suppressBlankEmpty": "true",
    "diff.renames": "copies",
    "status.showUntrackedFiles": "no",
    "core.abbrev": "4",
}


def test_what_a_repository_configures_changes_nothing(tree: Path) -> None:
    for key, value in CONFIGURED.items():
        git(tree, "config", key, value)
    text = FILES["b.txt"].replace("line 9\n", "line nine  \n\n")
    blank = render(Diff(files=(between("b.txt", FILES["b.txt"], text),)))

    result, _ = tried(tree, FIX + blank)

    assert result.is_kept, result.reasons
    assert result.after is not None
    assert result.after.churn == 2.0
    (tree / "mine.txt").write_text("mine")
    assert tried(tree, FIX)[0].code == "dirty_tree"


def replace_folder_by_link(place: Path) -> None:
    if not (place / "sub").is_symlink():
        (place / "sub" / "c.txt").unlink()
        (place / "sub").rmdir()
        (place / "sub").symlink_to(place.parent / "main" / "sub")


def replace_file_by_folder(place: Path) -> None:
    if (place / "b.txt").is_file():
        (place / "b.txt").unlink()
        (place / "b.txt" / "x").mkdir(parents=True)


@pytest.mark.parametrize(
    ("text", "spoil", "code", "reason"),
    [
        (FIX_TWO_BREAK_ONE, None, "gate_targeted", "breaks a.txt::b"),
        (BREAK, None, "gate_targeted", "breaks a.txt::b"),
        (edit("sub/c.txt", "good", "bad"), None, "gate_regression", "breaks sub/c.txt::x"),
        (edit("a.txt", "c = good\n", ""), None, "gate_targeted", "makes disappear a.txt::c"),
        (edit("a.txt", "c = good", "c = broken"), None, "gate_static", "syntax_error: c is broken"),
        (edit("b.txt", "line 3\n", "line 4\n"), None, "mu_regressed", "improves nothing"),
        (NEW, None, "mu_regressed", "improves nothing"),
        (FIX.replace("a = bad", "a = worse"), None, "rejected", "expects 'a = worse\\n'"),
        ("nonsense", None, "rejected", "expected 'diff --git'"),
        (NEW.replace("new.txt", "../new.txt"), None, "rejected", "'..' is not allowed"),
        (BREAK, spoil_with_litter, "gate_targeted", "breaks a.txt::b"),
        (NEW, replace_folder_by_link, "mu_regressed", "improves nothing"),
        (NEW, replace_file_by_folder, "mu_regressed", "improves nothing"),
    ],
    ids=[
        "fixes two and breaks one",
        "breaks one",
        "breaks an unrelated one",
        "deletes a test",
        "static error",
        "changes nothing for the better",
        "new file",
        "other base",
        "no diff",
        "path escape",
        "gates leave litter and spoil a file",
        "gates put a link in the place of a folder",
        "gates put a folder in the place of a file",
    ],
)
def test_what_is_refused_leaves_no_trace(
    tree: Path, text: str, spoil: Callable[[Path], None] | None, code: str, reason: str
) -> None:
    before, head = on_disk(tree), git(tree, "rev-parse", "HEAD")

    result, moments = tried(tree, text, FactChecks(tree, spoil or (lambda _: None)))

    assert result.code == code
    assert any(reason in each for each in result.reasons), result.reasons
    assert on_disk(tree) == before
    assert git(tree, "rev-parse", "HEAD") == head
    assert git(tree, "status", "--porcelain") == ""
    assert moments[-1].kind == "txn.rollback"


def test_a_rejected_diff_touches_no_file(tree: Path) -> None:
    stamps = {path: path.lstat().st_mtime_ns for path in tree.rglob("*")}

    result, _ = tried(tree, FIX + FIX)

    assert result.code == "rejected"
    assert {path: path.lstat().st_mtime_ns for path in tree.rglob("*")} == stamps


def test_one_line_may_be_replaced_without_targeted_tests(tree: Path) -> None:
    under = terms(tree, Selection(regression=("a.txt",)))

    assert tried(tree, FIX, under=under)[0].is_kept


@pytest.mark.parametrize(
    ("selection", "text", "code"),
    [
        (Selection(landmark=("a.txt::a",), targeted=("a.txt",)), FIX, "kept"),
        (Selection(landmark=("a.txt::d",), targeted=("a.txt",)), FIX, "gate_landmark"),
        (Selection(targeted=("a.txt",), is_last=True), FIX, "gate_targeted"),
        (Selection(targeted=("a.txt",), is_last=True), FIX_BOTH, "kept"),
        (Selection(targeted=("a.txt::a",), full=True), edit("sub/c.txt", "good", "bad"), "gate_full"),
        (Selection(targeted=("a.txt::a",), full=True), FIX, "kept"),
        (
            Selection(targeted=("a.txt::a",), smoke=("sub/c.txt",)),
            edit("sub/c.txt", "good", "bad"),
            "gate_smoke",
        ),
        (Selection(), FIX, "no_tests"),
    ],
)
def test_what_the_selection_asks(tree: Path, selection: Selection, text: str, code: str) -> None:
    assert tried(tree, text, under=terms(tree, selection))[0].code == code


SHORT = Selection(targeted=("a.txt::a",), regression=("a.txt",), full=True, is_short=True)


@pytest.mark.parametrize(
    ("text", "code", "is_told"),
    [
        (FIX, "kept", True),
        (NOTHING, "mu_regressed", True),
        (edit("a.txt", "b = good", "b = bad"), "gate_regression", False),
        (edit("sub/c.txt", "good", "bad"), "gate_full", False),
    ],
)
def test_a_short_suite_runs_once_for_all_gates(tree: Path, text: str, code: str, is_told: bool) -> None:
    checks = FactChecks(tree)
    before = transact(NOTHING, terms(tree, SHORT), TransactionPorts(patch_tree(tree), checks)).before
    checks.runs.clear()

    result, _ = tried(tree, text, checks, terms(tree, SHORT, before=before))

    assert (result.code, result.suite is not None) == (code, is_told)
    # What fails anew runs by itself before it counts.
    new = {"gate_regression": ("a.txt::b",), "gate_full": ("sub/c.txt::x",)}.get(code)
    assert checks.runs == [(), *([new] * 2 if new else [])]


def test_the_suite_of_a_change_with_a_flaky_test_is_not_handed_on(tree: Path) -> None:
    runs = iter(range(9))

    def spoil(place: Path) -> None:
        text = "bad" if next(runs) == 0 else "good"
        (place / "sub" / "c.txt").write_text(f"x = {text}\n")

    before = tried(tree, NOTHING, under=terms(tree, SHORT))[0].before

    result, _ = tried(tree, FIX, FactChecks(tree, spoil), terms(tree, SHORT, before=before))

    assert result.is_kept, result.reasons
    assert result.after is not None
    assert (result.after.flaky, result.suite) == (frozenset({"sub/c.txt::x"}), None)


def test_the_steps_come_in_their_order(tree: Path) -> None:
    _, moments = tried(tree, FIX)

    assert [moment.step for moment in moments] == [
        "T1",
        "T2",
        "T3",
        "T4",
        "T4",
        "T5",
        "T6",
        "T6",
        "T6",
        "T7",
        "T8",
        "T9",
    ]
    gates = [moment.data["gate"] for moment in moments if moment.kind == "txn.gate"]
    assert gates == ["static", "targeted", "regression"]


def test_uncommitted_work_is_refused_and_not_touched(tree: Path) -> None:
    (tree / "a.txt").write_text("mine\n")
    (tree / "mine.txt").write_text("mine\n")
    before = on_disk(tree)

    result, moments = tried(tree, FIX)

    assert result.code == "dirty_tree"
    assert len(result.reasons) == 2
    assert on_disk(tree) == before
    assert moments == []


def test_work_in_the_users_own_checkout_survives_every_outcome(tree: Path) -> None:
    main = tree.parent / "main"
    (main / "a.txt").write_text("mine\n")
    (main / "mine.txt").write_text("mine\n")
    before = on_disk(main)

    codes = [tried(tree, text)[0].code for text in (BREAK, "nonsense", FIX)]

    assert codes == ["gate_targeted", "rejected", "kept"]
    assert on_disk(main) == before


HOLDER = """
import sys, os
from pathlib import Path
from tests.repair.benches import patch_tree
with patch_tree(Path(sys.argv[1])).hold() as is_ours:
    print(is_ours, flush=True)
    sys.stdin.read()
"""


def test_while_another_process_works_in_the_tree_it_is_locked(tree: Path) -> None:
    root = Path(__file__).parents[2]
    with Started[bytes](
        [sys.executable, "-c", HOLDER, str(tree)], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"True\n"
        locked, _ = tried(tree, FIX)
        other.kill()
        other.wait(timeout=ENDS_WITHIN_S)

    assert locked.code == "locked"
    assert tried(tree, FIX)[0].is_kept


def test_a_measurement_of_the_same_tree_is_not_made_twice(tree: Path) -> None:
    checks = FactChecks(tree)
    ports = TransactionPorts(patch_tree(tree), checks)

    transact(BREAK, terms(tree), ports)
    first = len(checks.runs)
    transact("nonsense", terms(tree), ports)

    assert len(checks.runs) == first
    transact("nonsense", terms(tree, command="other"), ports)
    assert len(checks.runs) > first


def test_the_static_checks_of_the_same_tree_are_not_asked_twice(tree: Path) -> None:
    checks = FactChecks(tree)
    ports = TransactionPorts(patch_tree(tree), checks)

    transact(BREAK, terms(tree), ports)
    transact(FIX, terms(tree), ports)
    transact(edit("b.txt", "line 3\n", "line 4\n"), terms(tree), ports)

    assert checks.static_runs == [("a.txt",), ("a.txt",), ("a.txt",), ("b.txt",), ("b.txt",)]


def test_after_a_commit_the_static_checks_are_asked_anew(tree: Path) -> None:
    checks = FactChecks(tree)
    ports = TransactionPorts(patch_tree(tree), checks)
    kept = transact(FIX, terms(tree), ports)
    text = FILES["a.txt"].replace("a = bad", "a = good")
    second = render(Diff(files=(between("a.txt", text, text.replace("d = bad", "d = broken")),)))

    result = transact(second, terms(tree), ports)

    assert kept.is_kept
    assert result.code == "gate_static"
    assert len(checks.static_runs) == 4


@pytest.mark.parametrize(
    ("must_pass", "text", "runs"),
    [
        (("a.txt",), edit("a.txt", "b = good", "b = bad"), []),
        ((), edit("a.txt", "b = good", "b = bad"), [("a.txt::b",)] * 2),
    ],
    ids=["a target that fails all the same", "nothing but the new failure"],
)
def test_new_failures_run_again_only_where_that_may_change_the_verdict(
    tree: Path, must_pass: tuple[str, ...], text: str, runs: list[tuple[str, ...]]
) -> None:
    checks = FactChecks(tree)
    selection = Selection(landmark=must_pass, regression=("a.txt",))

    result, _ = tried(tree, text, checks, terms(tree, selection))

    assert result.code.startswith("gate_")
    assert result.reasons == ("breaks a.txt::b",)
    baseline = 3
    assert checks.runs[baseline + 1 :] == runs


def test_a_test_that_is_known_to_be_flaky_is_not_run_a_third_time(tree: Path) -> None:
    checks = Flaky(tree, "sub/c.txt::x", 2)

    result, _ = tried(tree, FIX, checks)

    assert result.is_kept
    assert checks.runs[-1] == ("sub/c.txt::x",)
    assert checks.runs.count(("sub/c.txt::x",)) == 1


class Grouping(FactChecks):
    """The same, several gates at once where it can; obeys `cogworks.repair.transact.transaction.RunsGroups` as well."""

    def __init__(
        self, tree: Path, spoil: Callable[[Path], None] = lambda _: None, *, can: bool = True
    ) -> None:
        super().__init__(tree, spoil)
        self._can = can
        self.asked: list[list[list[str]]] = []

    def run_groups(self, groups: Sequence[Sequence[str]], *, timeout_s: float) -> TestReport | None:
        if not self._can:
            return None
        self.asked.append([list(group) for group in groups])
        cases: list[TestCase] = []
        for group in groups:
            cases += super().run(group, timeout_s=timeout_s).cases
            del self.runs[-1]
            if any(case.outcome == "failed" for case in cases):
                break
        return TestReport(cases=tuple(cases))


@pytest.mark.parametrize(
    ("text", "code", "after"),
    [
        (FIX_BOTH, "kept", []),
        (FIX, "kept", [("b.txt", "sub/c.txt")]),
        (BREAK, "gate_targeted", [("a.txt::b",)] * 2),
        (edit("sub/c.txt", "good", "bad"), "gate_regression", [("b.txt", "sub/c.txt"), *[("sub/c.txt::x",)] * 2]),
    ],
    ids=["all gates at once", "a failure that may stay", "stopped in the first", "stopped in the second"],
)  # fmt: skip
def test_several_gates_share_a_run_and_have_one_of_their_own_where_it_stopped(
    tree: Path, text: str, code: str, after: list[tuple[str, ...]]
) -> None:
    checks, plain = Grouping(tree), FactChecks(tree)
    baseline = 3

    alone, _ = tried(tree, text, plain)
    git(tree, "reset", "--quiet", "--hard", "main")
    together, moments = tried(tree, text, checks)

    assert checks.asked == [[["a.txt"], ["b.txt", "sub/c.txt"]]]
    assert checks.runs[baseline:] == after
    assert (together.code, together.reasons, together.after) == (code, alone.reasons, alone.after)
    gates = [moment.data["gate"] for moment in moments if moment.kind == "txn.gate"]
    assert gates[:2] == ["static", "targeted"]


def test_what_cannot_run_several_gates_at_once_runs_each(tree: Path) -> None:
    checks = Grouping(tree, can=False)

    assert tried(tree, FIX, checks)[0].is_kept
    assert checks.runs[3:] == [("a.txt",), ("b.txt", "sub/c.txt")]


def test_litter_of_a_run_of_several_gates_is_undone(tree: Path) -> None:
    result, _ = tried(tree, FIX_BOTH, Grouping(tree, spoil_with_litter))

    assert result.is_kept
    assert git(tree, "status", "--porcelain") == ""


class Flaky(FactChecks):
    """One test fails in the given runs of it, counted from 1."""

    def __init__(self, tree: Path, test: str, *failing: int) -> None:
        super().__init__(tree)
        self._test, self._failing, self._count = test, failing, 0

    def run(self, tests: tuple[str, ...], *, timeout_s: float) -> TestReport:  # type: ignore[override]  # narrower on purpose
        report = super().run(tests, timeout_s=timeout_s)
        if not any(case.id == self._test for case in report.cases):
            return report
        self._count += 1
        bad = self._count in self._failing
        cases = [
            TestCase(id=case.id, outcome="failed") if bad and case.id == self._test else case
            for case in report.cases
        ]
        return TestReport(cases=tuple(cases))


@pytest.mark.parametrize(
    ("failing", "code", "further_runs"),
    [((2,), "kept", 1), ((2, 3), "kept", 2), ((2, 3, 4), "gate_regression", 2)],
    ids=["once of three", "twice of three", "always"],
)
def test_a_flaky_test_decides_nothing_and_runs_no_more_once_it_passed(
    tree: Path, failing: tuple[int, ...], code: str, further_runs: int
) -> None:
    checks = Flaky(tree, "sub/c.txt::x", *failing)

    result, _ = tried(tree, FIX, checks)

    assert result.code == code
    assert result.after is not None
    assert ("sub/c.txt::x" in result.after.flaky) is (code == "kept")
    assert checks.runs.count(("sub/c.txt::x",)) == further_runs


def test_a_flaky_target_keeps_the_last_landmark_from_being_done(tree: Path) -> None:
    under = terms(tree, Selection(targeted=("a.txt::a",), is_last=True))

    result, _ = tried(tree, FIX, Flaky(tree, "a.txt::a", 4), under)

    assert result.code == "gate_targeted"


class Hanging(FactChecks):
    """The suite does not end from the given run on."""

    def __init__(self, tree: Path, first: int) -> None:
        super().__init__(tree)
        self._first = first

    def run(self, tests: tuple[str, ...], *, timeout_s: float) -> TestReport:  # type: ignore[override]  # narrower on purpose
        report = super().run(tests, timeout_s=timeout_s)
        return report.model_copy(update={"timed_out": len(self.runs) >= self._first})


@pytest.mark.parametrize(("first", "code"), [(1, "baseline_timeout"), (4, "gate_targeted")])
def test_a_suite_that_hangs_ends_the_transaction(tree: Path, first: int, code: str) -> None:
    before = on_disk(tree)

    assert tried(tree, FIX, Hanging(tree, first))[0].code == code
    assert on_disk(tree) == before


def test_too_much_churn_in_all_is_refused(tree: Path) -> None:
    result, _ = tried(tree, FIX, under=terms(tree, max_total_churn=0.5))

    assert result.code == "mu_regressed"
    assert "churn of 1; at most 0.5" in result.reasons[0]


def test_a_check_that_raises_leaves_the_tree_as_it_was(tree: Path) -> None:
    before = on_disk(tree)

    def explode(place: Path) -> None:
        if "a = good" in (place / "a.txt").read_text():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tried(tree, FIX, FactChecks(tree, explode))
    assert on_disk(tree) == before
    assert tried(tree, FIX)[0].is_kept


@pytest.mark.parametrize("step", [f"T{number}" for number in range(1, 10)])
def test_a_listener_that_raises_leaves_the_tree_as_it_was(tree: Path, step: str) -> None:
    before, head = on_disk(tree), git(tree, "rev-parse", "HEAD")

    def tell(moment: TransactionEvent) -> None:
        if moment.step == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        transact(FIX, terms(tree), TransactionPorts(patch_tree(tree), FactChecks(tree), tell=tell))
    assert (on_disk(tree), git(tree, "rev-parse", "HEAD")) == (before, head)
    assert git(tree, "status", "--porcelain") == ""


def test_what_was_ignored_and_is_changed_by_a_gate_is_no_successful_rollback(tree: Path) -> None:
    result, _ = tried(tree, BREAK, FactChecks(tree, lambda place: (place / "old.log").write_text("spoilt")))

    assert result.code == "rollback_failed"
    assert "left other files than before" in result.reasons[0]
    assert (tree / "a.txt").read_text() == FILES["a.txt"]


def test_lines_that_git_would_convert_are_not_committed(tmp_path: Path) -> None:
    tree = make_worktree(tmp_path, {**FILES, ".gitattributes": "a.txt text eol=lf\n"})
    before = on_disk(tree)
    text = FIX.replace("+a = good\n", "+a = good\r\n")

    result, _ = tried(tree, text)

    assert result.code == "apply_mismatch"
    assert result.reasons == ("git reads these files otherwise than the diff writes them: a.txt",)
    assert on_disk(tree) == before


class Refused(PatchTree):
    """Cannot commit."""

    def commit(self, message: str, state: TreeState) -> CommitOid:
        super().commit(message, state)
        raise CodebaseError("the disk is full")


def test_a_commit_that_fails_is_rolled_back(tree: Path) -> None:
    before, head = on_disk(tree), git(tree, "rev-parse", "HEAD")
    refused = Refused(tree, real_git(tree.parent), identity=BOT)

    result = transact(FIX, terms(tree), TransactionPorts(refused, FactChecks(tree)))

    assert (result.code, result.reasons) == ("commit_failed", ("the disk is full",))
    assert (on_disk(tree), git(tree, "rev-parse", "HEAD")) == (before, head)


class Careless(PatchTree):
    """Applies something else than it is given."""

    def apply(self, diff: str) -> str | None:
        return super().apply(diff.replace("+a = good", "+a = better"))


def test_what_was_not_staged_as_understood_is_rolled_back(tree: Path) -> None:
    before = on_disk(tree)
    careless = Careless(tree, real_git(tree.parent), identity=BOT)

    result = transact(FIX, terms(tree), TransactionPorts(careless, FactChecks(tree)))

    assert result.code == "apply_mismatch"
    assert on_disk(tree) == before


MODIFIED = StagedFile("a.txt", "100644", "100644", "x\n")


@pytest.mark.parametrize(
    ("staged", "reason"),
    [
        ((MODIFIED,), None),
        ((), "git staged []"),
        ((MODIFIED, StagedFile("b.txt", None, "100644", "")), "git staged ['a.txt', 'b.txt']"),
        ((MODIFIED._replace(text="y\n"),), "was not staged as the diff says"),
        ((MODIFIED._replace(text=None, new_mode=None),), "was not staged as the diff says"),
        ((MODIFIED._replace(new_mode="100755"),), "has mode 100755 instead of 100644"),
    ],
)
def test_what_git_staged_has_to_be_what_the_diff_says(
    staged: tuple[StagedFile, ...], reason: str | None
) -> None:
    diff = Diff(files=(between("a.txt", "w\n", "x\n"),))

    found = staging_refusal(diff, {"a.txt": "x\n"}, staged)

    assert found is None if reason is None else reason in (found or "")


WORDS = st.sampled_from(["good", "bad", "broken"])
IMAGES = st.lists(st.tuples(st.sampled_from("abcde"), WORDS), max_size=6, unique_by=lambda fact: fact[0]).map(
    lambda facts: "".join(f"{name} = {word}\n" for name, word in facts)
)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(images=st.lists(st.tuples(st.sampled_from(["a.txt", "sub/c.txt"]), IMAGES), min_size=1, max_size=3))
def test_nothing_that_passed_ever_fails_in_what_is_kept(
    tmp_path_factory: pytest.TempPathFactory, images: list[tuple[str, str]]
) -> None:
    tree = make_worktree(tmp_path_factory.mktemp("any"))
    checks = FactChecks(tree)
    passing = {case.id for case in checks.run((), timeout_s=1).cases if case.outcome == "passed"}
    for path, image in images:
        head, before = git(tree, "rev-parse", "HEAD"), on_disk(tree)
        file = between(path, (tree / path).read_text(), image)

        result, _ = tried(tree, render(Diff(files=(file,))), checks)

        now = {case.id for case in checks.run((), timeout_s=1).cases if case.outcome == "passed"}
        assert passing <= now
        assert (result.oid or head) == git(tree, "rev-parse", "HEAD")
        assert result.is_kept or on_disk(tree) == before
        passing = now
