"""What holds for the decision about any state and any facts."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.pipeline.arbiter import Proposal, Signal, choose
from cogworks.pipeline.decision import GiveUpOn, Nothing, Run, Stop, Wait, candidates, decide
from cogworks.pipeline.expected import came_to
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.inputs import HOW_TO_WRITE, Asked, Heard, Refused, obey
from cogworks.pipeline.noticing import noticed
from cogworks.pipeline.position import Standing
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import IssueNumber
from tests.exhaustive import examples
from tests.pipeline.runs import GRAPH, at, facts, finished, lease, new_run, pull, visit, with_pull

NAMES = ("spec", "plan", "code@A", "review@A", "ship@A", "code@B", "review@B", "ship@B", "gone")


@st.composite
def any_facts(draw: st.DrawFn) -> Facts:
    pulls = [
        pull(
            number,
            draw(st.sampled_from(["open", "closed", "merged"])),
            approved_by=draw(st.sampled_from(["", "ann"])),
        )
        for number in draw(st.sets(st.sampled_from([31, 41, 42])))
    ]
    flags = {
        name: draw(st.sampled_from([usual, usual, usual, not usual]))
        for name, usual in [
            ("issue_is_open", True),
            ("is_triggered", True),
            ("is_held", False),
            ("is_cancelled", False),
            ("is_safety_critical", False),
            ("take_over", False),
        ]
    }
    names = ["spec", "plan", "code@A", "ship@B", "code", "nonsense", "code@Z"]
    return facts(
        *pulls,
        max_cost_usd=draw(st.sampled_from([0.3, 10.0])),
        small_max_cost_usd=2.0,
        max_tokens=draw(st.sampled_from([20, 500_000])),
        issue_digest=draw(st.sampled_from(["", "d" * 64, "e" * 64])),
        is_status_gone=draw(st.booleans()),
        wanted=draw(st.none() | st.sampled_from(names).map(at)),
        **flags,
    )


@st.composite
def any_state(draw: st.DrawFn) -> RunState:
    """A state some run may have: visits in whatever order, failures, leases, visits given back, closed loops."""
    state = new_run(graph_hash=draw(st.sampled_from([GRAPH.graph_hash] * 5 + ["f" * 64])))
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=10)):
        instance = at(name)
        if instance.sub_item is not None and state.sub_items is None:
            continue
        match draw(st.sampled_from(["finish", "finish", "fail", "lease", "release", "rework", "pull"])):
            case "finish" if name != "gone":
                state = finished(state, name)
            case "fail":
                state = state.recorded(visit(state, name, status="failed", has_output=False))
            case "lease":
                state = state.with_lease(lease(state, name, attempt=draw(st.integers(1, 3))), identity=1)
            case "release" if state.leases:
                state = state.released(state.leases[0], Spend())
            case "rework":
                state = state.discarding(frozenset({instance}), frozenset())
            case _:
                state = with_pull(state, "swi-1", IssueNumber(41))
    return state


@st.composite
def anything_said(draw: st.DrawFn) -> Heard:
    """Commands of every kind by people who may give them, and comments that are refused."""
    said: list[Asked | Refused] = []
    names = st.sampled_from(["spec", "plan", "code@A", "code@21", "ship@B", "nonsense"])
    for number in range(1, draw(st.integers(0, 4)) + 1):
        verb = draw(st.sampled_from([*HOW_TO_WRITE, "?"]))
        place = {"by": "ann", "comment_id": number, "subject_id": f"C_{number}"}
        if verb == "?":
            said.append(
                Refused.model_validate({**place, "reason": "no verb", "is_misspelt": draw(st.booleans())})
            )
        else:
            artifact = draw(st.sampled_from(["a" * 12, "f" * 7]))
            asked = {"verb": verb, "node": draw(names), "artifact": artifact, "why": "so"}
            said.append(Asked.model_validate({**place, **asked}))
    return Heard(said=tuple(said), last_comment_id=len(said))


@given(any_state(), any_facts(), anything_said(), st.booleans())
@settings(max_examples=examples(300))
def test_a_decision_never_raises_and_the_same_input_gives_the_same_one(
    state: RunState, known: Facts, heard: Heard, is_alive: bool
) -> None:
    if is_alive:
        known = known.model_copy(update={"lease_ages_s": {held.visit_key: 1.0 for held in state.leases}})
    obeyed = obey(state, known, heard, GRAPH, fresh=lambda: new_run(run_id="run-2"))
    decision = decide(Standing(obeyed, known, GRAPH))
    reread = RunState.model_validate_json(obeyed.model_dump_json())

    assert decide(Standing(reread, known, GRAPH)) == decision
    assert obey(obeyed, known, Heard(), GRAPH, fresh=new_run) is obeyed
    if isinstance(decision, Run):
        taken = {visit.visit_key for visit in obeyed.visits}
        assert decision.visit_key not in taken
    answered = [receipt.subject_id for receipt in obeyed.inputs.receipts]
    assert answered == [said.subject_id for said in heard.said]
    if isinstance(decision, Wait):
        assert decision.waiting_for
    if isinstance(decision, Stop | Nothing | GiveUpOn):
        assert decision.reason.strip()


@given(any_state(), any_facts(), st.randoms(use_true_random=False))
@settings(max_examples=examples(150), deadline=None)
def test_the_order_in_which_moves_are_proposed_never_changes_the_choice(
    state: RunState, known: Facts, chance: Random
) -> None:
    found = list(candidates(Standing(state, known, GRAPH)))
    shuffled = chance.sample(found, k=len(found))
    signals = [each.claim for each in found if isinstance(each.claim, Signal)]

    choices = [
        choose(signals, [each.claim for each in order if isinstance(each.claim, Proposal)])
        for order in (found, shuffled)
    ]

    assert choices[0] == choices[1]
    moves = [each.move for each in found if choices[0] and each.claim == choices[0].winner]
    assert moves in ([], [decide(Standing(state, known, GRAPH))])


@given(any_state(), any_facts(), st.randoms(use_true_random=False))
@settings(max_examples=examples(100), deadline=None)
def test_the_order_in_which_leases_are_noted_never_changes_the_decision(
    state: RunState, known: Facts, chance: Random
) -> None:
    leases = tuple(chance.sample(state.leases, k=len(state.leases)))

    assert decide(Standing(state.model_copy(update={"leases": leases}), known, GRAPH)) == decide(
        Standing(state, known, GRAPH)
    )


@given(any_state(), any_facts(), st.sampled_from(["running", "done", "cancelled"]))
@settings(max_examples=examples(150), deadline=None)
def test_what_a_run_notes_of_itself_never_moves_it(state: RunState, known: Facts, status: str) -> None:
    before = Standing(state, known, GRAPH)
    news = {"gates": before.position.gates, "status": status, "came_to": came_to(state, GRAPH)}
    noted = noticed(state.model_copy(update=news), known)

    assert before.noting(noted).position == Standing(noted, known, GRAPH).position
