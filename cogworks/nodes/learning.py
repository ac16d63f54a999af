"""What a visit's publication teaches: ids for the state, heads and pull requests for the facts."""

from typing import Any

from cogworks.github.publication import Published
from cogworks.github.snapshot import Snapshot
from cogworks.github.surface import STATUS_TOPIC
from cogworks.pipeline.graph import Instance
from cogworks.pipeline.people import CommentRef
from cogworks.pipeline.position import Facts, PullFacts
from cogworks.pipeline.revalidation import looked_at
from cogworks.pipeline.state import KnownPull, RunState
from cogworks.vocabulary import BranchName, CommitOid


def known(state: RunState, published: Published) -> RunState:
    """The state with the ids that publishing taught."""
    pulls = {pull.slug: pull for pull in state.pull_requests}
    pulls.update(
        (p.slug, KnownPull(slug=p.slug, number=p.number, node_id=p.node_id, head=p.head, base=p.base))
        for p in published.pull_requests
    )
    comment = next((c for c in published.comments if c.topic == STATUS_TOPIC), None)
    update: dict[str, Any] = {"pull_requests": tuple(pulls.values())}
    if comment is not None:
        update["status_comment"] = CommentRef(node_id=comment.node_id, database_id=comment.database_id)
    return state.model_copy(update=update)


def with_head(
    state: RunState, at: Instance, branch: BranchName, snapshot: Snapshot, published: Published
) -> RunState:
    """The state that knows which head of its branch a sub-work-item's visit made, or else looked at."""
    sub_item = at.sub_item
    made = next((commit.oid for commit in published.commits if commit.branch == branch), None)
    there = snapshot.branches.get(branch)
    head = made or (there.oid if there else None)
    return looked_at(state, sub_item, head) if sub_item is not None and head is not None else state


def with_published(facts: Facts, state: RunState, snapshot: Snapshot, published: Published) -> Facts:
    """The facts with the pull requests that the visit opened and the heads that it made."""
    heads = {name: branch.oid for name, branch in snapshot.branches.items()}
    made = {commit.branch: commit.oid for commit in published.commits}
    pulls = dict(facts.pulls)
    for pull in state.pull_requests:
        if pull.number in pulls and pull.head in made:
            # What was approved is not what is there now.
            moved = {"head_oid": made[pull.head], "approved_by": ""}
            pulls[pull.number] = pulls[pull.number].model_copy(update=moved)
    for opened in published.pull_requests:
        oid = (heads | made).get(opened.head, CommitOid(""))
        new = PullFacts(number=opened.number, state="open", head_oid=oid, url=opened.url)
        pulls.setdefault(opened.number, new)
    return facts.model_copy(update={"pulls": pulls})
