"""What a visit starts from: the default branch, or what is passed and not merged."""

import pytest

from cogworks.pipeline.facts import PullFacts
from cogworks.pipeline.state import KnownPull, RunState, SubItem
from cogworks.pipeline.unmerged import Foundation, foundations
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, SubItemKey
from tests.pipeline.graphs import document, parse
from tests.pipeline.runs import at, new_run, pull

GRAPH = parse(
    document(
        [
            {
                "id": "spec",
                "type": "llm",
                "outputs": ["specification"],
                "slug": "spec",
                "evaluation": "all-matching",
            },
            {"id": "faces", "type": "llm", "outputs": ["interfaces"], "slug": "faces"},
            {"id": "manual", "type": "llm", "outputs": ["manual"], "slug": "manual"},
            {"id": "plan", "type": "llm", "outputs": ["plan"]},
            {"id": "sketch", "type": "llm", "scope": "sub-item", "outputs": ["sketch"], "slug": "sketch"},
            {"id": "code", "type": "llm", "scope": "sub-item", "outputs": ["code"], "slug": "swi"},
            {"id": "review", "type": "llm", "scope": "sub-item", "outputs": ["review"], "slug": "swi"},
        ],
        "spec>faces spec>manual faces>plan plan>sketch sketch>code code>review",
    )
)
"""`manual` leads no further, so nothing is built on it."""
PLAN = (
    SubItem(key=SubItemKey("A"), ordinal=1, title="a"),
    SubItem(key=SubItemKey("B"), ordinal=2, title="b", depends_on=(SubItemKey("A"),)),
)
NUMBERS = {"spec": 31, "faces": 32, "manual": 33, "sketch-1": 40, "swi-1": 41, "sketch-2": 50}
SPEC, FACES, SKETCH = (
    Foundation(branch=BranchName(f"cogworks/7/{slug}"), oid=CommitOid("a" * 40))
    for slug in ("spec", "faces", "sketch-1")
)
SWI = Foundation(branch=BranchName("cogworks/7/swi-1"))


def known(**bases: str) -> RunState:
    """A planned run with these pull requests, each going to that branch."""
    pulls = (
        KnownPull(
            slug=(slug := name.replace("_", "-")),
            number=IssueNumber(NUMBERS[slug]),
            node_id=f"P_{slug}",
            head=BranchName(f"cogworks/7/{slug}"),
            base=BranchName(base if base == "main" else f"cogworks/7/{base}"),
        )
        for name, base in bases.items()
    )
    return new_run(GRAPH, sub_items=PLAN, pull_requests=tuple(pulls))


def built_on(state: RunState, name: str, *pulls: PullFacts, own: str = "") -> tuple[Foundation, ...]:
    facts = {each.number: each for each in pulls}
    return foundations(state, GRAPH, facts, at(name), own=BranchName(own) if own else None)


def test_nothing_is_built_on_what_is_only_shown() -> None:
    state = known(spec="main", faces="main")
    shown = tuple(
        each.model_copy(update={"is_shown_only": each.slug == "spec"}) for each in state.pull_requests
    )
    state = state.model_copy(update={"pull_requests": shown})

    assert built_on(state, "faces", pull(31)) == ()
    assert built_on(state, "plan", pull(31), pull(32)) == (FACES,)


@pytest.mark.parametrize("node", ["plan", "code@A"])
@pytest.mark.parametrize(
    ("spec", "faces", "expected"),
    [
        ("merged", "merged", ()),
        ("merged", "open", (FACES,)),
        ("open", "open", (FACES,)),
        ("open", "merged", (SPEC,)),
        ("closed", "open", (FACES,)),
    ],
)
def test_what_was_passed_without_a_merge_is_built_on_at_its_head(
    node: str, spec: str, faces: str, expected: tuple[Foundation, ...]
) -> None:
    state = known(spec="main", faces="spec")

    assert built_on(state, node, pull(31, spec), pull(32, faces)) == expected


def test_results_beside_each_other_are_merged_into_the_nearest() -> None:
    state = known(spec="main", faces="main")

    assert built_on(state, "plan", pull(31), pull(32)) == (FACES, SPEC)


def test_nothing_is_built_on_its_own_branch_or_on_one_that_does_not_lead_to_it() -> None:
    state = known(spec="main", manual="main", faces="spec")

    assert built_on(state, "spec", pull(31), pull(32), pull(33)) == ()
    assert built_on(state, "faces", pull(31), pull(32), pull(33), own="cogworks/7/faces") == (SPEC,)


def test_a_sub_item_is_built_on_its_own_earlier_results_and_never_on_anothers() -> None:
    state = known(faces="main", sketch_1="faces", sketch_2="faces")
    pulls = (pull(32), pull(40), pull(50))

    assert built_on(state, "code@A", *pulls) == (SKETCH,)
    assert built_on(state, "plan", *pulls) == (FACES,)


def test_a_dependency_comes_before_what_it_stands_on_itself() -> None:
    state = known(faces="main", swi_1="faces")

    assert built_on(state, "sketch@B", pull(32), pull(41)) == (SWI,)
    assert built_on(state, "sketch@B", pull(32), pull(41, "merged")) == (FACES,)
    assert built_on(state, "sketch@B", pull(32, "merged"), pull(41)) == (SWI,)


def test_a_pull_request_that_github_does_not_show_counts_only_as_a_dependency() -> None:
    state = known(faces="main", swi_1="main")

    assert built_on(state, "plan") == ()
    assert built_on(state, "sketch@B") == (SWI,)


def test_work_that_is_done_again_stands_on_what_it_stood_on_before() -> None:
    """Its own pull request, which is open already, must not hide the one below it."""
    state = known(swi_1="main")
    own = KnownPull(
        slug="swi-2",
        number=IssueNumber(51),
        node_id="P_swi-2",
        head=BranchName("cogworks/7/swi-2"),
        base=BranchName("cogworks/7/swi-1"),
    )
    state = state.model_copy(update={"pull_requests": (*state.pull_requests, own)})

    assert built_on(state, "review@B", pull(41), pull(51), own="cogworks/7/swi-2") == (SWI,)
