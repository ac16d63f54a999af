"""Every key of the configuration changes what a run does; each is set alone, and compared with a run without it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cogworks.errors import BudgetReached
from cogworks.repair.options import Options, parse_options
from tests.cycle.repair_scene import SYMBOLS, RepairScene
from tests.cycle.test_repairing import BOTH, GOOD_A, PATTERN, WHOLE
from tests.fixing import diffs, landmark, place, plan
from tests.repair.benches import make_worktree

END = BudgetReached("seen enough")
TWO = plan(landmark("one", place("a.txt", 1, 1)), landmark("two", place("a.txt", 4, 4)))
ONE = plan(WHOLE)
USELESS = diffs({"a.txt": ("a = bad", "a = worse")}, {"a.txt": ("d = bad", "d = worse")})
ESCAPING = diffs({"../evil": ("", "x")})
BROKEN = {"a.txt": ("a = bad\nb = good\nc = good\nd = bad", "a = broken\nb = good\nc = good\nd = good")}
BREAKS_B = {"a.txt": ("a = bad\nb = good\nc = good\nd = bad", "a = good\nb = bad\nc = good\nd = good")}


class Row(NamedTuple):
    """A key with a value of its own, what a model says, what is looked at, and how it differs."""

    key: str
    value: str
    answers: tuple[str | Exception, ...]
    seen: Callable[[RepairScene], Any]
    usual: Any
    changed: Any


def asked(scene: RepairScene) -> list[str]:
    return [template for template, _, _ in scene.model.asked]


def says(text: str) -> Callable[[RepairScene], bool]:
    return lambda scene: text in scene.model.asked[2][2]


def whole_runs(scene: RepairScene) -> int:
    return scene.checks.runs.count(())


TABLE = [
    Row("search.max_steps", "1", (PATTERN, TWO, END), lambda scene: len(scene.work.notes.landmarks), 2, 1),
    Row("search.diffs_per_step", "1", (PATTERN, ONE, END), says("Propose up to 3 diffs"), True, False),
    Row("search.finalists", "1", (PATTERN, ONE, USELESS, END), lambda scene: len(scene.codes), 2, 1),
    Row("search.retries_per_step", "0", (PATTERN, ONE, ESCAPING, END), lambda scene: asked(scene)[-1], "propose_diffs", "landmarks"),
    Row("search.use_landmarks", "false", (END,), asked, ["combine"], ["propose_diffs"]),
    Row("search.judge", "true", (PATTERN, ONE, USELESS, END), lambda scene: asked(scene)[-1], "propose_diffs", "judge_diffs"),
    Row("limits.max_loc_changes", "1", (PATTERN, ONE, diffs(GOOD_A), END), lambda scene: len(scene.work.notes.refused), 0, 1),
    Row("limits.max_files_per_diff", "1", (PATTERN, ONE, END), says("in at most 2 file(s)"), True, False),
    Row("limits.max_total_churn", "1", (PATTERN, ONE, diffs(BOTH), END), lambda scene: scene.codes, ["kept"], ["mu_regressed"]),
    Row("tnr.actions_per_txn", "1", (PATTERN, ONE, USELESS, END), lambda scene: len(scene.codes), 2, 1),
    Row("gates.static", "false", (PATTERN, ONE, diffs(BROKEN), END), lambda scene: scene.codes, ["gate_static"], ["gate_targeted"]),
    Row("gates.targeted_tests", "false", (PATTERN, ONE, diffs(GOOD_A), END), lambda scene: scene.codes, ["gate_targeted"], ["kept"]),
    Row("gates.smoke", '["sub/c.txt::x"]', (PATTERN, ONE, diffs(BOTH)), lambda scene: ("sub/c.txt::x",) in scene.checks.runs, False, True),
    Row("gates.regression", "false", (PATTERN, ONE, diffs(BREAKS_B), END), lambda scene: scene.codes, ["gate_regression"], ["kept"]),
    Row("gates.full_before_finalize", "false", (PATTERN, ONE, diffs(BOTH)), whole_runs, 2, 1),
]  # fmt: skip


def observed(folder: Path, row: Row, options: Options) -> Any:
    folder.mkdir()
    scene = RepairScene(make_worktree(folder), *row.answers, options=options)
    try:
        scene.run()
    except BudgetReached:
        scene.work.settle()
    return row.seen(scene)


@pytest.mark.parametrize("row", TABLE, ids=[row.key for row in TABLE])
def test_a_key_alone_changes_what_is_done(tmp_path: Path, row: Row) -> None:
    table, _, name = row.key.partition(".")
    options = parse_options(f"[codegen.{table}]\n{name} = {row.value}\n", source="a.toml")

    assert observed(tmp_path / "usual", row, Options()) == row.usual
    assert observed(tmp_path / "changed", row, options) == row.changed


def test_without_the_whole_suite_at_the_end_the_proof_is_about_what_was_run(tmp_path: Path) -> None:
    options = parse_options("[codegen.gates]\nfull_before_finalize = false\n", source="a.toml")
    scene = RepairScene(make_worktree(tmp_path), PATTERN, ONE, diffs(BOTH), options=options)

    result = scene.run()

    assert result.success, result.error
    proof = scene.work.notes.proof
    assert proof is not None
    assert {test.id for test in proof.tests} == {"a.txt::a", "a.txt::b", "a.txt::c", "a.txt::d"}
    assert scene.checks.runs.count(()) == 1


@pytest.mark.parametrize(("lines", "is_shown"), [(60, True), (0, False)])
def test_the_padding_says_how_much_of_a_file_is_shown_around_a_suspect(
    tmp_path: Path, lines: int, *, is_shown: bool
) -> None:
    options = parse_options(f"[codegen.limits]\nslice_padding_lines = {lines}\n", source="a.toml")
    scene = RepairScene(make_worktree(tmp_path), END, options=options, symbols=SYMBOLS[:1])

    with pytest.raises(BudgetReached):
        scene.run()

    assert ("2 b = good" in scene.model.asked[0][2]) is is_shown


def test_every_key_has_a_test_of_its_own() -> None:
    elsewhere = {
        # `test_the_padding_says_how_much_of_a_file_is_shown_around_a_suspect`.
        "limits.slice_padding_lines",
        # Who is probed and how, as `tests/cycle/test_investigation.py` and `tests/repair/probe/test_investigating.py` show.
        "search.investigations_enabled",
        "search.max_probes",
        "search.probe_pool",
        "search.probe_seconds",
        "search.model_probes",
        # `tests/wiring/test_fix_hanging.py`.
        "gates.test_timeout_s",
        # `tests/codegen/test_doubting.py`.
        "gates.held_back_s",
        # Refused, as `tests/repair/test_options.py` shows.
        "tnr.require_mu_nonworsening",
        # What the command and its wiring do with them, as `tests/cli/test_fix.py` and `tests/wiring/test_fix.py` show.
        "logging.dir",
        "logging.stream",
        "logging.prompts",
        "logging.max_prompt_tokens",
        "model.provider",
        "model.name",
    }
    known = {
        f"{table}.{key}"
        for table, field in Options.model_fields.items()
        for key in getattr(field.annotation, "model_fields", {})
    }

    assert {row.key for row in TABLE} | elsewhere == known
