"""A run of a small pipeline at any point, for the tests of states and decisions."""

from typing import Any

from cogworks.pipeline.facts import Facts, PullFacts
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import KnownPull, RunState, SubItem, visit_key
from cogworks.pipeline.transitions import settle
from cogworks.pipeline.visits import Lease, VisitRecord
from cogworks.vocabulary import (
    BranchName,
    CommitOid,
    IssueNumber,
    NodeId,
    RunId,
    SubItemKey,
)
from tests.pipeline.graphs import document, edge, loop, parse

URL = "https://github.com/octo-org/adder/issues/7"
GRAPH = parse(
    document(
        [
            {
                "id": "spec",
                "type": "llm",
                "outputs": ["specification"],
                "gate": "human-gated",
                "slug": "spec",
                "produces_code": True,
            },
            {"id": "plan", "type": "llm", "inputs": ["specification"], "outputs": ["plan"]},
            {
                "id": "code",
                "type": "llm",
                "scope": "sub-item",
                "slug": "swi",
                "inputs": ["plan", "review"],
                "outputs": ["code"],
                "produces_code": True,
            },
            {
                "id": "review",
                "type": "llm",
                "scope": "sub-item",
                "inputs": ["code"],
                "outputs": ["review"],
                "evaluation": "first-matching",
            },
            {
                "id": "ship",
                "type": "deterministic",
                "method": "builtin",
                "scope": "sub-item",
                "slug": "swi",
                "inputs": ["code", "review"],
                "outputs": ["pull"],
            },
        ],
        [
            edge("spec>plan"),
            edge("plan>code"),
            edge("code>review"),
            loop("review>code", 2, when="review.passed == false", preserve=["review"]),
            edge("review>ship", condition={"expr": "review.passed == true"}),
        ],
    )
)
PLAN = (
    SubItem(key=SubItemKey("A"), ordinal=1, title="a", number=IssueNumber(21), node_id="I_21"),
    SubItem(
        key=SubItemKey("B"),
        ordinal=2,
        title="b",
        depends_on=(SubItemKey("A"),),
        number=IssueNumber(22),
        node_id="I_22",
    ),
)
VIEWS: dict[str, dict[str, Any]] = {"review": {"review": {"passed": True}}}


def at(name: str) -> Instance:
    """`node` or `node@sub-item`."""
    node, _, sub = name.partition("@")
    return Instance(NodeId(node), SubItemKey(sub) if sub else None)


def new_run(pipeline: Pipeline = GRAPH, **changes: Any) -> RunState:
    """A run that has not begun."""
    fields: dict[str, Any] = {
        "run_id": RunId("run-1"),
        "repository_id": "R_1",
        "repository": "octo-org/adder",
        "issue": IssueNumber(7),
        "issue_digest": "d" * 64,
        "pipeline": pipeline.name,
        "graph_hash": pipeline.graph_hash,
    }
    return RunState(**{**fields, **changes})


def visit(state: RunState, name: str, **changes: Any) -> VisitRecord:
    """The next visit of a node, finished well."""
    instance, index = at(name), state.next_index()
    fields: dict[str, Any] = {
        "index": index,
        "node": instance.node,
        "sub_item": instance.sub_item,
        "visit_key": visit_key(state, instance, index),
        "ordinal": state.ordinal_of_next(instance),
        "attempt": 1,
        "status": "succeeded",
        "summary": f"{name} is done",
        "has_output": True,
        "spend": Spend(cost_usd=0.1, input_tokens=10, output_tokens=5, model_calls=1),
    }
    return VisitRecord(**{**fields, **changes})


def lease(state: RunState, name: str, **changes: Any) -> Lease:
    """A lease on the next visit of a node."""
    instance, index = at(name), state.next_index()
    fields: dict[str, Any] = {
        "visit_key": visit_key(state, instance, index),
        "index": index,
        "node": instance.node,
        "sub_item": instance.sub_item,
        "ordinal": state.ordinal_of_next(instance),
        "holder": "ann:1",
        "attempt": 1,
        "reserved_usd": 0.5,
        "graph_hash": state.graph_hash,
        "input_digest": state.issue_digest,
    }
    return Lease(**{**fields, **changes})


def finished(state: RunState, *names: str, pipeline: Pipeline = GRAPH) -> RunState:
    """The state after these nodes finished well, in this order; the plan has two sub-items, B after A."""
    for name in names:
        state = settle(state, pipeline, visit(state, name), VIEWS.get(at(name).node, {}))
        if name == "plan":
            state = state.model_copy(update={"sub_items": PLAN})
        if name == "spec":
            state = with_pull(state, "spec", 31)
        if name.startswith("ship@"):
            ordinal = state.sub_item(SubItemKey(name[-1])).ordinal
            state = with_pull(state, f"swi-{ordinal}", 40 + ordinal)
    return state


def with_pull(state: RunState, slug: str, number: int) -> RunState:
    """The state that knows one more pull request."""
    pull = KnownPull(
        slug=slug,
        number=IssueNumber(number),
        node_id=f"P_{number}",
        head=BranchName(f"cogworks/7/{slug}"),
        base=BranchName("main"),
    )
    return state.model_copy(update={"pull_requests": (*state.pull_requests, pull)})


def facts(*pulls: PullFacts, **changes: Any) -> Facts:
    """An open issue with its trigger label."""
    fields: dict[str, Any] = {
        "issue_is_open": True,
        "issue_url": URL,
        "is_triggered": True,
        "trigger": "cogworks:run",
        "pulls": {pull.number: pull for pull in pulls},
        "lease_ages_s": {},
        "max_cost_usd": 10.0,
        "small_max_cost_usd": 2.0,
        "max_tokens": 500_000,
    }
    return Facts(**{**fields, **changes})


def pull(number: int, state: str = "open", **changes: Any) -> PullFacts:
    """A pull request at the head `aaa…`."""
    fields: dict[str, Any] = {
        "number": IssueNumber(number),
        "state": state,
        "head_oid": CommitOid("a" * 40),
        "url": f"https://github.com/octo-org/adder/pull/{number}",
    }
    return PullFacts(**{**fields, **changes})


MERGED_SPEC = pull(31, "merged", merged_by="ann")
