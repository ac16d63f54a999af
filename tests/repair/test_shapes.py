"""What a repair writes down can be read back as it was, and nothing slips in that nobody knows."""

import pytest
from pydantic import ValidationError

from cogworks.codebase.patchtree import TreeState
from cogworks.codegen.repair_job import Job, Tried
from cogworks.domain_services.exploring import CallEdge, CallGraph
from cogworks.domain_services.messages import Message
from cogworks.repair.branches import course_of, planned_branches
from cogworks.repair.instance import Instance
from cogworks.repair.ladder import Ladder, Rung
from cogworks.repair.landmarks import Alternative, FailurePattern, RepairTarget, Span
from cogworks.repair.localise.localising import Localised
from cogworks.repair.localise.slices import Slice
from cogworks.repair.localise.suspects import Ranking
from cogworks.repair.options import Options
from cogworks.repair.planning import Planned
from cogworks.repair.probe.probes import Blackboard, ProbeReport, facts_of
from cogworks.repair.probe.schedule import Schedule, Waiting
from cogworks.repair.proposing import Proposal, Proposals
from cogworks.repair.transact.gates import Limits, Selection
from cogworks.repair.transact.measure import Measurement, StaticError
from cogworks.repair.transact.outcomes import Result, Terms, TransactionEvent
from cogworks.repair.violations import Span as StepSpan
from cogworks.repair.violations import Step, Violation
from cogworks.vocabulary import CommitOid, RunId, Value
from tests.repair.examples import node, suspect

SPAN = Span(artifact="shop.py", lines=(3, 9), symbol="shop.total")
LANDMARK = RepairTarget(
    id="fix-total",
    intent="Add up.",
    target_spans=(SPAN,),
    constraints=("allow_api:shop.total",),
    landmark_test="tests/test_shop.py::test_total",
    rollback_on=("static", "mu"),
    risk=0.2,
    confidence=0.9,
    try_after=("first",),
    join="all",
)
PATTERN = FailurePattern(
    summary="it subtracts",
    primary_location=SPAN,
    alternatives=(Alternative(span=SPAN.model_copy(update={"lines": (20, 21)}), why="it rounds"),),
    invariants=("whole amounts stay whole",),
    confidence=0.7,
    assumptions_to_check=("prices are numbers",),
)
SLICE = Slice(artifact="shop.py", lines=(1, 2), text="a\nb\n")
SUSPECT = suspect("shop.total", (3, 9), 0.61)
RANKING = Ranking(suspects=(SUSPECT,), weights={"stack": 1.0}, missing=("hop",))
BEFORE = Measurement(
    failing=frozenset({"t::a"}),
    passing=frozenset({"t::b"}),
    uncollected=frozenset({"t2"}),
    static=frozenset({StaticError("shop.py", "syntax_error", "no")}),
    flaky=frozenset({"t::c"}),
    churn=2.5,
)
STEP = Step(id="fix-total", files=("shop.py",), spans=(StepSpan("shop.py", 3, 9),))
RESULT = Result(
    code="mu_regressed",
    reasons=("breaks t::b",),
    printed=("t::b printed:\nboom",),
    violations=(Violation("loc", "too long"),),
    proposal="ab" * 32,
    before=BEFORE,
    after=BEFORE,
    oid=CommitOid("c" * 40),
)
INSTANCE = Instance(instance_id="shop-1", failing_tests=("t::a",), metadata={"repo": "shop", "n": [1, None]})
REPORT = ProbeReport(
    id="p1",
    kind="trace",
    suspect="shop.total",
    result="informative",
    information_gain=0.2,
    recommendation="likely_cause",
    observations={"lines": [3, 4]},
)
COURSE = course_of(planned_branches([LANDMARK], PATTERN, [SLICE]))
assert COURSE is not None
SHAPES: list[Value | Message] = [
    SPAN,
    PATTERN,
    LANDMARK,
    SLICE,
    SUSPECT,
    RANKING,
    Localised(
        suspects=(SUSPECT,), slices=(SLICE,), ranking=RANKING, nodes=7, covering={"shop.py": ("t::a",)}
    ),
    Planned(pattern=PATTERN, landmarks=(LANDMARK,), problems=("circle",)),
    COURSE,
    COURSE.branches[0],
    Ladder(climbed=(Rung.PROPOSE_AGAIN, Rung.WIDEN)),
    Proposal(id="ab" * 32, diff="diff --git a/x b/x\n", rationale="it adds", score=0.5),
    Proposals(kept=(), refused=("shape",)),
    STEP,
    Selection(targeted=("t::a",), is_last=True, is_part=True),
    Terms(run=RunId("r"), sub_item="A", step=STEP, selection=Selection(full=True), base=CommitOid("0" * 40)),
    Limits(full_s=3),
    BEFORE,
    RESULT,
    TransactionEvent(kind="txn.gate", step="T6", data={"gate": "static", "reason": ""}),
    Tried(landmark="fix-total", candidate="ab" * 32, result=RESULT),
    REPORT,
    Blackboard().with_facts(facts_of(REPORT)),
    Schedule(waiting=(Waiting(id="p1", suspect="shop.total", suspicion=0.4),), probes=3),
    INSTANCE,
    Job(run=RunId("r"), instance=INSTANCE, options=Options(), handed_over=("t.py",)),
    Options(),
    CallGraph(
        nodes=(node("shop.total", (3, 9)), node("shop.count", (20, 21))),
        edges=(CallEdge(source="shop.total", target="shop.count", kind="calls", weight=0.5),),
    ),
    TreeState(head=CommitOid("a" * 40), tree="b" * 40, manifest="c" * 64, untracked=("cache/",)),
]


@pytest.mark.parametrize("shape", SHAPES, ids=[type(shape).__name__ for shape in SHAPES])
def test_every_shape_survives_its_own_text(shape: Value | Message) -> None:
    assert type(shape).model_validate_json(shape.model_dump_json()) == shape


# What services answer may hold fields of a later version of the Extension API; those are passed over.
OURS = [shape for shape in SHAPES if not isinstance(shape, Message)]


@pytest.mark.parametrize("shape", OURS, ids=[type(shape).__name__ for shape in OURS])
def test_a_field_nobody_knows_is_refused(shape: Value) -> None:
    told = {**shape.model_dump(mode="json"), "nobody_knows": 1}

    with pytest.raises(ValidationError, match="nobody_knows"):
        type(shape).model_validate(told)
