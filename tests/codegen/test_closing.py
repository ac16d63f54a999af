"""Why a repair did not succeed begins with counts, names the nearest miss, and is short."""

from cogworks.codegen.dossier import MAX_CHARS, why_not
from cogworks.codegen.repair_job import Notes, Tried
from cogworks.repair.proposing import Proposal
from cogworks.repair.transact.measure import Measurement, Worse
from cogworks.repair.transact.outcomes import Code, Result

DIFF = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -7 +7 @@\n-a\n+b\n"


def tried(name: str, code: Code, *reasons: str, failing: tuple[str, ...] = ()) -> Tried:
    after = Measurement(failing=frozenset(failing))
    return Tried(landmark="l", candidate=name, result=Result(code=code, reasons=reasons, after=after))


def notes(*ended: Tried, untried: int = 0, refused: tuple[str, ...] = ()) -> Notes:
    found = Notes()
    found.tried = list(ended)
    names = [*(each.candidate for each in ended), *(f"left-{number}" for number in range(untried))]
    found.proposals = [
        Proposal(id=name, diff=DIFF.format(f"{name}.py"), rationale="", score=0) for name in names
    ]
    found.refused, found.refused_diffs = list(refused), len(refused)
    return found


def test_the_diff_that_passed_the_most_gates_and_left_the_fewest_failing_is_the_nearest() -> None:
    told = why_not(
        notes(
            tried("early", "gate_static", "adds an error"),
            tried("wide", "gate_targeted", "a, b and c fail", failing=("a", "b", "c")),
            tried("near", "gate_targeted", "a fails", failing=("a",)),
            tried("equal", "gate_targeted", "b fails", failing=("b",)),
            untried=2,
            refused=("diff 1: loc: too long",),
        ),
        "given_up: " + "a long last attempt " * 400,
    )

    assert told == (
        "4 diffs tried, 4 failed, 1 refused, 2 untried (given_up). Nearest miss: near.py:7: gate_targeted: a fails"
    )


def test_a_change_that_repairs_some_of_the_tests_is_told_with_what_to_do() -> None:
    result = Result(
        code="gate_targeted",
        reasons=("does not make these tests pass: " + "t.py::unbuilt, " * 60,),
        before=Measurement(failing=frozenset({"t.py::a", "t.py::b", "t.py::unbuilt"})),
        after=Measurement(failing=frozenset({"t.py::unbuilt"}), passing=frozenset({"t.py::a", "t.py::b"})),
    )
    worse = result.model_copy(update={"worse": Worse(("t.py::c",), (), (), ())})

    said, of_worse = (
        why_not(notes(Tried(landmark="l", candidate="a", result=each)), "given_up: x")
        for each in (result, worse)
    )

    assert said.endswith(
        "… It repairs t.py::a and 1 more; where the others are out of reach, name those with `--test`."
    )
    assert len(said) == MAX_CHARS
    assert "--test" not in of_worse


def test_diffs_that_were_all_refused_end_with_the_last_refusal() -> None:
    told = why_not(notes(refused=("diff 1: loc: too long", "diff 1: api: changes f")), "no_valid_patch: x")

    assert told == (
        "0 diffs tried, 0 failed, 2 refused, 0 untried (no_valid_patch). Last refusal: diff 1: api: changes f"
    )


def test_an_end_without_any_diff_keeps_its_own_reason() -> None:
    assert why_not(notes(), "halt: t.py::a does not fail") == "halt: t.py::a does not fail"


def test_whatever_came_of_it_the_reason_is_short() -> None:
    long = "no line of this ends " * 500

    for found in (notes(), notes(tried("a", "gate_full", long)), notes(refused=(long,))):
        assert len(why_not(found, f"halt: {long}")) == MAX_CHARS


def test_what_ended_the_run_otherwise_is_told_after_the_counts() -> None:
    told = why_not(notes(tried("a", "gate_full", "b fails")), "max_patches: 8 patches are used up")

    assert told.startswith(
        "1 diff tried, 1 failed, 0 refused, 0 untried (max_patches: 8 patches are used up). "
    )
