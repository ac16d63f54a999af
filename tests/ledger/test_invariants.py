"""Which histories no ledger can have."""

from datetime import UTC, datetime

import pytest

from cogworks.ledger.history import entry
from cogworks.ledger.invariants import Link, check_graph, check_history
from cogworks.vocabulary import CommitOid
from tests.pipeline.runs import GRAPH, new_run

ROOT, FIRST, OTHER = (CommitOid(digit * 40) for digit in "012")
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def link(oid: CommitOid, *parents: CommitOid) -> Link:
    return Link(entry=entry(oid, NOW, "cogworks: spec claim [skip ci]"), parents=parents)


@pytest.mark.parametrize(
    ("chain", "root", "rule", "problem"),
    [
        ([link(FIRST, ROOT, OTHER), link(ROOT)], ROOT, "line", "has 2 parents instead of 0000000000 alone"),
        ([link(FIRST, OTHER), link(ROOT)], ROOT, "line", "has 1 parents instead of 0000000000 alone"),
        ([link(FIRST)], ROOT, "root", "is where the history begins, but it is not the root of ledgers"),
        ([link(ROOT, OTHER)], None, "root", "is where the history begins, but it is not the root of ledgers"),
    ],
    ids=["a-merge", "another-parent", "another-root", "a-root-with-a-parent"],
)
def test_a_history_is_one_line_from_the_root(
    chain: list[Link], root: CommitOid | None, rule: str, problem: str
) -> None:
    found = list(check_history(chain, root=root, state=None))

    assert (rule, problem) in [(finding.rule, finding.problem) for finding in found]


@pytest.mark.parametrize("times", [-1, 99])
def test_a_rework_edge_is_taken_no_more_often_than_it_may_be(times: int) -> None:
    (edge,) = (edge for edge in GRAPH.edges if edge.rework is not None)
    state = new_run().model_copy(update={"traversals": {f"{edge.id}": times}})

    (found,) = check_graph(state, GRAPH)

    assert found.rule == "traversals"
    assert found.problem.startswith(f"is {times}; the edge may be taken")
