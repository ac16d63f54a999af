import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cogworks.codegen.dossier import dossier, run_log
from cogworks.domain_services.messages import Message
from cogworks.errors import InvalidReply
from cogworks.repair.options import Options, Search
from tests.codebase.repositories import git
from tests.cycle.repair_scene import RepairScene
from tests.cycle.runlog_grammar import problems
from tests.cycle.test_repairing import BOTH, PATTERN, WHOLE
from tests.fixing import diffs, place, plan
from tests.repair.benches import make_worktree, on_disk
from tests.repair.sandbox_pools import ScriptedSandbox, ScriptedSandboxPool, event, traced


def tracing(_room: ScriptedSandbox, method: str, params: Any) -> Sequence[Message]:
    """Of the four definitions the fourth runs, and returns what the failure shows."""
    if method != "trace":
        return ()
    ran = [event("call", 4, artifact="a.txt"), event("return", 4, artifact="a.txt", value="'1'")]
    return [traced(*ran, test=params.test, message="'1'")]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_worktree(tmp_path)


def test_suspects_are_probed_between_localisation_and_pattern_and_every_kind_of_event_is_told(
    tree: Path,
) -> None:
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(BOTH), sandbox_pool=ScriptedSandboxPool(tracing))

    result = scene.run()

    assert result.success, result.error
    assert problems(run_log(scene.cycle.events)) == []
    assert scene.moments[1:4] == ["subgraph.built", "candidates.recalled", "investigations.start"]
    assert scene.moments.count("probe.start") == scene.moments.count("probe.done") == 4
    assert scene.moments.index("candidates.probed") < scene.moments.index("combine.start")
    assert any("probe-1: trace of a." in line for line in scene.said)


def test_the_pattern_is_asked_for_with_what_was_found_out_and_the_likeliest_first(tree: Path) -> None:
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(BOTH), sandbox_pool=ScriptedSandboxPool(tracing))

    scene.run()

    shown = scene.model.asked[0][2]
    assert "## What probes found out" in shown
    assert '"returned":["\'1\'"]' in shown
    assert 'of="observations' in shown
    localised = scene.work.notes.localised
    assert localised is not None
    beliefs = [each.belief or 0.0 for each in localised.suspects]
    assert beliefs == sorted(beliefs, reverse=True)
    assert localised.suspects[0].symbol.id == "a.d"


def test_the_artifacts_of_the_investigation_are_whole(tree: Path) -> None:
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(BOTH), sandbox_pool=ScriptedSandboxPool(tracing))
    scene.run()

    found = dossier(scene.cycle.events, scene.work.notes, patch=scene.patch)

    board = json.loads(found["blackboard.json"])
    assert sorted(board) == ["evidence", "invariants", "observables", "probe_patches", "suspects"]
    # Each of the four suspects is asked one thing until a plan has failed.
    assert len(board["evidence"]) == 4
    assert {each["kind"] for each in board["observables"]} == {each["kind"] for each in board["evidence"]}
    candidates = json.loads(found["candidates.json"])
    assert sorted(each["id"] for each in candidates["recalled"]) == ["a.a", "a.b", "a.c", "a.d"]
    assert {each["suspect"] for each in candidates["probed"]} == {each["id"] for each in board["suspects"]}
    assert json.loads(found["understanding.json"])["summary"] == json.loads(PATTERN)["summary"]


def test_without_investigations_no_probe_is_sent(tree: Path) -> None:
    sandbox_pool = ScriptedSandboxPool(tracing)
    options = Options(search=Search(investigations_enabled=False))
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(BOTH), options=options, sandbox_pool=sandbox_pool)

    assert scene.run().success
    assert sandbox_pool.lent == 0
    assert "investigations.start" not in scene.moments
    assert "What probes found out" not in scene.model.asked[0][2]


def test_how_many_probes_are_sent_is_an_option(tree: Path) -> None:
    sandbox_pool = ScriptedSandboxPool(tracing)
    options = Options(search=Search(max_probes=2, probe_pool=1))

    assert (
        RepairScene(tree, PATTERN, plan(WHOLE), diffs(BOTH), options=options, sandbox_pool=sandbox_pool)
        .run()
        .success
    )
    assert (sandbox_pool.lent, sandbox_pool.most_alive) == (2, 1)


def test_a_model_is_asked_for_probes_only_when_an_option_says_so(tree: Path) -> None:
    recall = json.dumps({"candidates": [{"hypothesis": "a is bad", "place": place("a.txt", 1, 1)}]})
    edit = {"path": "a.txt", "search": "a = bad", "replace": "a = checked"}
    probe = {"suspect": "a.a", "purpose": "assert", "edits": [edit], "rationale": "shows it"}
    scene = RepairScene(
        tree,
        recall,
        json.dumps({"probes": [probe]}),
        PATTERN,
        plan(WHOLE),
        diffs(BOTH),
        options=Options(search=Search(model_probes=1)),
        sandbox_pool=ScriptedSandboxPool(tracing, texts={"a.txt": (tree / "a.txt").read_text()}),
    )

    assert scene.run().success
    assert [template for template, _, _ in scene.model.asked[:3]] == ["recall", "probe_patches", "combine"]
    findings = scene.work.notes.findings
    assert findings is not None
    assert [(each.purpose, each.rationale) for each in findings.patches] == [("assert", "shows it")]
    assert [each.hypothesis for each in scene.work.notes.recalled if each.id == "model-1"] == ["a is bad"]
    assert problems(run_log(scene.cycle.events)) == []


def test_a_probe_that_changes_the_worktree_aborts_the_run(tree: Path) -> None:
    before = on_disk(tree)
    sandbox_pool = ScriptedSandboxPool(tracing, spoil=lambda lent: lent > 1)
    scene = RepairScene(tree, sandbox_pool=sandbox_pool, options=Options(search=Search(probe_pool=1)))

    result = scene.run()

    assert not result.success
    assert "changed the worktree that is repaired" in result.error
    assert scene.course == ["RUN_TESTS: failed", "ANALYZE_FAILURE: error", "ABORT: done"]
    assert scene.model.asked == []
    assert on_disk(tree) == before


def test_an_analysis_of_the_same_tree_goes_on_where_the_last_one_ended(tree: Path) -> None:
    sandbox_pool = ScriptedSandboxPool(tracing)
    no = InvalidReply("no")
    scene = RepairScene(
        tree, PATTERN, plan(WHOLE), no, no, plan(WHOLE), no, no, PATTERN, plan(WHOLE), diffs(BOTH), sandbox_pool=sandbox_pool
    )  # fmt: skip

    assert scene.run().success
    findings = scene.work.notes.findings
    assert findings is not None
    assert sandbox_pool.lent == 11
    asked = [(report.suspect, report.kind) for report in findings.reports]
    assert len(asked) == len({*asked}) == 11
    assert git(tree, "status", "--porcelain") == ""
