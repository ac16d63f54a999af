"""The log of a run tells every kind of thing that happens, each when it may; a log that was tampered with is found out."""

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cogworks.codegen.dossier import Record, dossier, run_log
from cogworks.cycle.eventlog import read_events
from cogworks.cycle.replay import verify
from cogworks.cycle.results import Action
from cogworks.errors import BudgetReached
from tests.cycle.repair_scene import RepairScene
from tests.cycle.runlog_grammar import FOLLOWS, NAMED, problems
from tests.cycle.test_investigation import tracing
from tests.cycle.test_repairing import BOTH, BREAKS, PATTERN, USELESS, WHOLE
from tests.fixing import diffs, plan
from tests.repair.benches import make_worktree
from tests.repair.sandbox_pools import ScriptedSandboxPool


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_worktree(tmp_path)


def scene_with_retries(tree: Path) -> RepairScene:
    """Two diffs are taken back, one request has to be repeated, the last diff is kept."""
    return RepairScene(
        tree,
        PATTERN,
        plan(WHOLE),
        diffs(BREAKS, USELESS),
        diffs(BOTH),
        sandbox_pool=ScriptedSandboxPool(tracing),
    )


@pytest.fixture(scope="module")
def legal(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, ...]:
    scene = scene_with_retries(make_worktree(tmp_path_factory.mktemp("legal")))
    assert scene.run().success
    return run_log(scene.cycle.events)


def test_a_run_tells_every_kind_of_thing_in_a_legal_order(legal: Sequence[Record]) -> None:
    assert problems(legal) == []
    assert {record.kind for record in legal} >= NAMED
    assert {record.kind for record in legal} <= FOLLOWS.keys()
    assert (legal[0].kind, legal[-1].kind) == ("controller.start", "controller.finish")
    assert legal[-1].data == {
        "action": "FINALIZE",
        "success": True,
        "reason": "2 test(s) repaired",
        "cycles": legal[-1].data["cycles"],
    }


def test_what_is_kept_on_the_disk_is_that_log_and_the_decisions_can_be_replayed(tree: Path) -> None:
    scene = scene_with_retries(tree)
    scene.run()

    found = dossier(scene.cycle.events, scene.work.notes, patch=scene.patch)

    records = [json.loads(line) for line in found["events.ndjson"].splitlines()]
    assert [set(record) for record in records] == [{"ts", "ts_iso", "kind", "data"}] * len(records)
    assert [record["kind"] for record in records] == [
        each.kind for each in run_log(read_events(found["events-1.ndjson"]))
    ]
    replayed = verify(read_events(found["events-1.ndjson"]))
    assert (replayed.divergence, replayed.is_complete) == (None, True)


def ticking(pace: int) -> Callable[[], float]:
    """A clock that goes on by so many seconds whenever somebody looks at it."""
    ticks = itertools.count(1_700_000_000, pace)
    return lambda: float(next(ticks))


def test_each_thing_is_told_with_the_time_when_it_happened(tree: Path) -> None:
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(BOTH), now=ticking(1))
    scene.run()

    log = run_log(scene.cycle.events)

    assert problems(log) == []
    times = [record.ts for record in log]
    assert len(set(times)) == len(times)
    assert log[0].ts_iso == "2023-11-14T22:13:21+00:00"
    assert log[0].ts == 1_700_000_001


def test_times_are_no_part_of_what_two_equal_runs_have_in_common(tmp_path: Path) -> None:
    tree = make_worktree(tmp_path)
    slow, fast = (RepairScene(tree, now=ticking(pace)) for pace in (2, 1))

    slow.cycle.run_cycle()
    fast.cycle.run_cycle()

    assert [event.hash for event in slow.cycle.events] == [event.hash for event in fast.cycle.events]
    assert [event.wall for event in slow.cycle.events] != [event.wall for event in fast.cycle.events]


def test_a_run_that_is_broken_off_tells_how_far_it_came(tree: Path) -> None:
    scene = RepairScene(tree, BudgetReached("nothing is left"))

    with pytest.raises(BudgetReached):
        scene.run()

    log = run_log(scene.cycle.events, scene.work.unreported)
    assert problems(log) == []
    assert [record.kind for record in log][-2:] == ["combine.start", "action.broken"]
    assert log[-1].data == {"action": "ANALYZE_FAILURE"}


def test_a_run_that_is_stopped_says_why(tree: Path) -> None:
    scene = RepairScene(tree)
    scene.cycle.force(Action.ABORT, "somebody wants it")
    scene.run()

    log = run_log(scene.cycle.events)

    assert problems(log) == []
    assert log[-1].data == {"action": "ABORT", "success": False, "reason": "somebody wants it", "cycles": 1}


@given(data=st.data())
def test_a_record_that_is_missing_moved_or_repeated_is_found_out(
    legal: tuple[Record, ...], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(legal) - 2))
    kind, following = legal[place].kind, legal[place + 1].kind
    how = data.draw(st.sampled_from(["missing", "moved", "repeated"]))
    # Gates are as many as the selection asks for, and whether a branch is settled follows from the plan.
    assume(kind not in ("txn.gate", "branch.settled"))
    if how == "missing":
        changed = (*legal[:place], *legal[place + 1 :])
    elif how == "repeated":
        changed = (*legal[: place + 1], *legal[place:])
    else:
        # Several probes run at the same time, so that which of two begins or ends first means nothing.
        assume(kind != following and not kind.startswith("probe."))
        changed = (*legal[:place], legal[place + 1], legal[place], *legal[place + 2 :])

    assert problems(changed), (how, kind)
