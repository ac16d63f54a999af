import json
from pathlib import Path

import pytest

from cogworks.codegen.dossier import MAX_CHARS, dossier, run_log, why_not
from cogworks.codegen.governed import POLICY
from cogworks.cycle.eventlog import read_events
from cogworks.domain_services.exploring import Coverage
from cogworks.errors import BudgetReached, InvalidReply
from cogworks.repair.offline import Nobody
from cogworks.repair.options import Gates, Options, Search, Sizes, Transactions
from tests.codebase.repositories import git
from tests.cycle.repair_scene import COVERAGE, RepairScene
from tests.cycle.runlog_grammar import problems
from tests.fixing import diffs, landmark, place, plan
from tests.fixing import pattern as shop_pattern
from tests.repair.benches import FILES, make_worktree, on_disk

GOOD_A = {"a.txt": ("a = bad", "a = good")}
GOOD_D = {"a.txt": ("d = bad", "d = good")}
BOTH = {"a.txt": ("a = bad\nb = good\nc = good\nd = bad", "a = good\nb = good\nc = good\nd = good")}
BREAKS = {"a.txt": ("a = bad\nb = good", "a = good\nb = bad")}
USELESS = {"a.txt": ("a = bad", "a = worse")}
WHOLE = landmark("all", place("a.txt", 1, 4))
PATTERN = json.dumps({**json.loads(shop_pattern()), "primary": place("a.txt", 1, 1), "alternatives": []})


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_worktree(tmp_path)


def test_two_landmarks_become_two_commits_and_one_patch(tree: Path) -> None:
    steps = plan(
        landmark("fix-a", place("a.txt", 1, 1), test="a.txt::a"),
        landmark("fix-d", place("a.txt", 4, 4), after=["fix-a"]),
    )
    scene = RepairScene(tree, PATTERN, steps, diffs(GOOD_A), diffs(GOOD_D))

    result = scene.run()

    assert result.success, result.error
    assert git(tree, "log", "--format=%s").splitlines() == ["txn:fix-d", "txn:fix-a", "before"]
    assert scene.course == [
        "RUN_TESTS: failed",
        "ANALYZE_FAILURE: found",
        "GENERATE_PATCH: proposed",
        "APPLY_PATCH: committed",
        "GENERATE_PATCH: proposed",
        "APPLY_PATCH: committed",
        "RUN_TESTS: passed",
        "VALIDATE: green",
        "FINALIZE: done",
    ]
    assert scene.patch.count("\n+") == 3
    assert scene.work.notes.proof is not None
    assert scene.work.notes.proof.having("fail_to_pass") == ("a.txt::a", "a.txt::d")
    assert scene.work.notes.proof.commands == ("facts", "facts a.txt::a a.txt::d")
    assert scene.work.notes.proof.versions == {"facts": "1"}
    assert result.seriality_maintained


def test_the_tenth_alternative_of_one_answer_is_tried_when_nine_fail_alike(tree: Path) -> None:
    useless = [{"a.txt": ("a = bad", f"a = worse{number}")} for number in range(9)]
    options = Options(search=Search(diffs_per_step=10, finalists=10), tnr=Transactions(actions_per_txn=10))
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(*useless, BOTH), options=options)

    result = scene.run()

    assert result.success, result.error
    assert scene.codes == ["gate_targeted"] * 9 + ["kept"]


def test_all_diffs_of_an_answer_are_tried_before_anything_is_asked_again(tree: Path) -> None:
    useless = [{"a.txt": ("a = bad", f"a = worse{number}")} for number in range(2)]
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(*useless, BOTH))

    result = scene.run()

    assert result.success, result.error
    assert scene.codes == ["gate_targeted"] * 2 + ["kept"]


def test_the_sub_events_of_a_run_come_in_a_legal_order(tree: Path) -> None:
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(BOTH))

    scene.run()

    assert problems(run_log(scene.cycle.events)) == []
    assert scene.moments == [
        "vcs.checkpoint",
        "subgraph.built",
        "candidates.recalled",
        "combine.start",
        "combine.done",
        "planner.synthesize.start",
        "planner.synthesize.done",
        "planner.landmarks.start",
        "planner.landmarks.done",
        "branch.chosen",
        "step.begin",
        "step.test_cmd",
        "proposer.start",
        "proposer.done",
        "rerank.done",
        "txn.start",
        "txn.checkpoint",
        "txn.measured",
        "txn.validated",
        "txn.applied",
        "file.write",
        "txn.compared",
        *["txn.gate"] * 3,
        "txn.measured",
        "txn.judged",
        "txn.commit",
        "txn.result",
        "branch.settled",
        "vcs.checkpoint",
    ]


def test_the_next_request_is_told_why_a_diff_was_taken_back(tree: Path) -> None:
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(BREAKS), diffs(BOTH))

    result = scene.run()

    assert result.success, result.error
    assert scene.codes == ["gate_targeted", "kept"]
    second = scene.model.asked[3][2]
    assert "does not make these tests pass: a.txt::d" in second
    assert "failing with this change: a.txt::d" in second


def test_a_diff_that_breaks_another_test_is_refused_by_that_test(tree: Path) -> None:
    bad = {"a.txt": ("a = bad\nb = good\nc = good\nd = bad", "a = good\nb = bad\nc = good\nd = good")}
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(bad), diffs(BOTH))

    assert scene.run().success
    assert scene.codes == ["gate_regression", "kept"]
    assert scene.work.notes.tried[0].result.reasons == ("breaks a.txt::b",)


def test_a_test_outside_the_regression_subset_that_breaks_takes_the_commit_back(tree: Path) -> None:
    options = Options(gates=Gates(regression=False))
    bad = {"a.txt": ("a = bad\nb = good\nc = good\nd = bad", "a = good\nb = bad\nc = good\nd = good")}
    scene = RepairScene(
        tree, PATTERN, plan(WHOLE), diffs(bad), PATTERN, plan(WHOLE), diffs(BOTH), options=options
    )

    result = scene.run()

    assert result.success, result.error
    assert scene.course[4:7] == ["RUN_TESTS: regressed", "REVERT_PATCH: done", "ANALYZE_FAILURE: found"]
    assert git(tree, "log", "--format=%s").splitlines() == ["txn:all", "before"]
    assert "-b = good" not in scene.patch


def test_proposals_that_keep_no_rule_climb_the_ladder_and_end_with_their_reasons(tree: Path) -> None:
    escaping = diffs({"../evil": ("", "x")})
    scene = RepairScene(
        tree, PATTERN, plan(WHOLE), escaping, escaping, plan(WHOLE), escaping, escaping, PATTERN, plan(WHOLE),
        escaping, escaping, PATTERN, plan(WHOLE), escaping, escaping,
    )  # fmt: skip
    before = on_disk(tree)

    result = scene.run()

    assert not result.success
    assert result.error.startswith("no_valid_patch: ")
    assert "path" in result.error
    assert scene.modes == ["replan", "recombine", "widen"]
    assert on_disk(tree) == before
    assert scene.patch == ""


def test_an_end_after_diffs_that_were_tried_is_no_lack_of_valid_ones_and_tells_the_nearest_miss(
    tree: Path,
) -> None:
    escaping = diffs({"../evil": ("", "x")})
    scene = RepairScene(
        tree, PATTERN, plan(WHOLE), diffs(USELESS, BREAKS), escaping, escaping, plan(WHOLE), escaping, escaping,
        PATTERN, plan(WHOLE), escaping, escaping, PATTERN, plan(WHOLE), escaping, escaping,
    )  # fmt: skip

    result = scene.run()

    assert result.error.startswith("given_up: ")
    told = why_not(scene.work.notes, result.error)
    assert told.startswith(
        "2 diffs tried, 2 failed, 8 refused, 0 untried (given_up). Nearest miss: a.txt:1: "
    )
    assert "gate_targeted: does not make these tests pass" in told
    assert len(told) <= MAX_CHARS


def test_the_budget_of_finalists_is_named_and_the_others_wait_in_vain(tree: Path) -> None:
    options = Options(search=Search(finalists=5), tnr=Transactions(actions_per_txn=1))
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(BOTH, USELESS), diffs(BOTH), options=options)

    assert scene.run().success
    (reached,) = (entry for entry in scene.entries if entry.kind == "budget.reached")
    assert reached.data == {"names": ["actions_per_txn"], "untried": 1}
    # The small one went first, and the other one waited for the next request.
    assert scene.codes == ["gate_targeted", "kept"]


def test_a_budget_that_nothing_waits_for_is_not_reached(tree: Path) -> None:
    options = Options(search=Search(finalists=1))
    few = RepairScene(tree, PATTERN, plan(WHOLE), diffs(USELESS), diffs(BOTH), options=options)

    assert few.run().success
    assert few.codes == ["gate_targeted", "kept"]
    assert "budget.reached" not in few.moments


def test_a_diff_that_breaks_a_rule_uses_up_no_budget(tree: Path) -> None:
    options = Options(search=Search(finalists=1))
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs({"../evil": ("", "x")}, BOTH), options=options)

    assert scene.run().success
    assert scene.codes == ["kept"]
    assert "budget.reached" not in scene.moments


def test_a_change_that_is_kept_within_the_budget_reaches_none(tree: Path) -> None:
    options = Options(search=Search(finalists=1))
    larger = {"a.txt": ("a = bad\nb = good\nc = good\nd = bad", "a = good\nb = bad\nc = bad\nd = good")}
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(larger, BOTH), options=options)

    assert scene.run().success
    assert scene.codes == ["kept"]
    assert "budget.reached" not in scene.moments


@pytest.mark.parametrize(
    ("options", "answers", "success"),
    [
        (Options(search=Search(use_landmarks=False)), (diffs(GOOD_A), diffs(GOOD_D)), True),
        (Options(), (InvalidReply("no"), InvalidReply("no"), diffs(GOOD_A)) + (InvalidReply("no"),) * 2 + (diffs(GOOD_D),), True),
        (Options(search=Search(max_steps=1)), (PATTERN, plan(landmark("one", place("a.txt", 1, 1)), landmark("two", place("a.txt", 4, 4))), diffs(BOTH)), True),
        (Options(search=Search(diffs_per_step=1, retries_per_step=0, use_landmarks=False)), (diffs({"a.txt": ("a = bad", "a = worse")}, BOTH), *[InvalidReply("no")] * 9), False),
        (Options(limits=Sizes(max_loc_changes=1), search=Search(retries_per_step=0, use_landmarks=False)), (diffs(GOOD_A), *[InvalidReply("no")] * 3), False),
        (Options(gates=Gates(targeted_tests=False)), (PATTERN, plan(WHOLE), diffs(GOOD_A), PATTERN, plan(WHOLE), diffs(GOOD_D)), True),
    ],
    ids=["no landmarks", "no plan fits", "one step", "one diff", "one line", "fewer failures are enough"],
)  # fmt: skip
def test_what_the_options_change(
    tree: Path, options: Options, answers: tuple[str | Exception, ...], success: bool
) -> None:
    scene = RepairScene(tree, *answers, options=options)

    result = scene.run()

    assert result.success is success, result.error


def test_what_goes_on_failing_in_a_file_that_could_not_be_loaded_is_none_of_the_tasks(tmp_path: Path) -> None:
    unloadable = {**FILES, "a.txt": "a = bad\nb = good\nc = good\nd = bad\ne = unloadable\n"}
    tree = make_worktree(tmp_path, unloadable)
    repaired = {
        "a.txt": (
            "a = bad\nb = good\nc = good\nd = bad\ne = unloadable",
            "a = good\nb = good\nc = good\nd = bad\ne = good",
        )
    }
    scene = RepairScene(
        tree, PATTERN, plan(landmark("all", place("a.txt", 1, 5))), diffs(repaired), targets=("a.txt::a",)
    )

    result = scene.run()

    assert result.success, result.error
    assert scene.codes == ["kept"]
    proof = scene.work.notes.proof
    assert proof is not None
    assert proof.having("still_fails") == ("a.txt::d",)
    assert proof.having("fail_to_pass") == ("a.txt::a", "a.txt::b", "a.txt::c", "a.txt::e")


def test_smoke_tests_run_in_every_transaction(tree: Path) -> None:
    options = Options(gates=Gates(smoke=("b.txt", "sub/c.txt::x")))
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(BOTH), options=options)

    assert scene.run().success
    assert ("b.txt", "sub/c.txt::x") in scene.checks.runs


@pytest.mark.parametrize(
    ("given", "coverage", "regression"),
    [
        ((), COVERAGE, ("a.txt::b", "a.txt::c")),
        (("sub/c.txt::x",), None, ("sub/c.txt::x",)),
        ((), None, ()),
    ],
    ids=["what reaches the file", "what the task names", "the whole suite"],
)
def test_which_tests_stand_between_a_change_and_its_commit(
    tree: Path, given: tuple[str, ...], coverage: Coverage | None, regression: tuple[str, ...]
) -> None:
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(BOTH), pass_to_pass=given, coverage=coverage)

    assert scene.run().success
    # After the run of the suite, the baseline, its two further runs and the targeted gate.
    assert scene.checks.runs[5] == regression


@pytest.mark.parametrize(
    ("targets", "reason"),
    [
        (("a.txt::b",), "a.txt::b does not fail (passed); there is nothing to repair"),
        (("a.txt::aa",), "a.txt::aa is none of the"),
    ],
    ids=["passes", "unknown"],
)
def test_a_task_that_does_not_fit_the_repository_ends_before_the_model_is_asked(
    tree: Path, targets: tuple[str, ...], reason: str
) -> None:
    scene = RepairScene(tree, targets=targets)

    result = scene.run()

    assert not result.success
    assert reason in result.error
    assert scene.model.asked == []


def test_an_analysis_that_asks_and_takes_back_is_no_mere_look(tree: Path) -> None:
    only_looking = POLICY.model_copy(update={"effects": ("read", "write")})
    scene = RepairScene(tree, policy=only_looking)

    result = scene.run()

    assert not result.success
    assert "tool 'ANALYZE_FAILURE' has the effect `external`" in result.error
    assert scene.model.asked == []


def test_a_failure_that_points_nowhere_ends_with_that(tree: Path) -> None:
    scene = RepairScene(tree, coverage=None, symbols=None)

    assert scene.run().error == "no_suspects: the failure points at no place in the code"


def test_without_a_model_places_are_ranked_and_the_first_change_that_is_wanted_ends_the_run(
    tree: Path,
) -> None:
    scene = RepairScene(tree, nobody=Nobody("there is no key."))

    result = scene.run()

    assert result.error == "halt: no model was asked for a change: there is no key."
    assert scene.course == [
        "RUN_TESTS: failed",
        "ANALYZE_FAILURE: found",
        "GENERATE_PATCH: none_valid",
        "ABORT: done",
    ]
    found = dossier(scene.cycle.events, scene.work.notes, patch=scene.patch)
    assert {"candidates.json", "failure_pattern.json", "landmarks.json", "plan.json"} <= found.keys()
    assert "no model was asked" in json.loads(found["failure_pattern.json"])["summary"]
    assert scene.patch == ""


def test_a_used_up_budget_ends_the_run_and_leaves_the_log(tree: Path) -> None:
    scene = RepairScene(tree, PATTERN, plan(WHOLE), BudgetReached("enough"))

    with pytest.raises(BudgetReached):
        scene.run()

    assert scene.patch == ""
    assert scene.course == ["RUN_TESTS: failed", "ANALYZE_FAILURE: found"]


def test_a_target_that_fails_when_it_is_run_again_proves_nothing(tree: Path) -> None:
    runs: list[Path] = []

    def spoil(place: Path) -> None:
        runs.append(place)
        # The suite, the baseline and its further runs, two gates, the suite again; then what makes the proof.
        if len(runs) == 8:
            (place / "a.txt").write_text("a = bad\n")

    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(BOTH), spoil=spoil)

    result = scene.run()

    assert result.error == "halt: flaky, so that they prove nothing: a.txt::a"
    assert scene.course[-2:] == ["VALIDATE: diagnostics", "ABORT: done"]
    assert git(tree, "status", "--porcelain") == ""


def test_the_artifacts_tell_the_whole_run_and_the_log_can_be_read_back(tree: Path) -> None:
    scene = RepairScene(tree, PATTERN, plan(WHOLE), diffs(USELESS, BOTH))
    scene.run()

    found = dossier(scene.cycle.events, scene.work.notes, patch=scene.patch)

    assert sorted(found) == [
        "candidates.json",
        "events-1.ndjson",
        "events.ndjson",
        "failure_pattern.json",
        "final_patch.txt",
        "landmarks.json",
        "plan.json",
        "proof.json",
        "proof.md",
        "transactions.json",
        "understanding.json",
    ]
    assert read_events(found["events-1.ndjson"]) == scene.cycle.events
    assert [each["result"]["code"] for each in json.loads(found["transactions.json"])] == scene.codes
    assert found["final_patch.txt"] == scene.patch
    turns = json.loads(found["plan.json"])
    assert [(each["current"], each["units"], each["is_settled"]) for each in turns] == [
        ("plan", [["all"]], False),
        ("plan", [], True),
    ]
    assert turns[0]["branches"][0]["expected_utility"] < turns[0]["branches"][0]["probability"] == 1
    assert json.loads(found["candidates.json"])["missing"] == ["hop"]
