"""What people see of a run: labels and the status comment, projected from the state and repaired when they differ."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from textwrap import indent

from cogworks.forge.bases import (
    base_repairs,
    bodies_put_right,
    issue_closed,
    issue_closed_with_parts,
    shown_only_closed,
)
from cogworks.forge.bodies import STATUS_TOPIC, capped, marked
from cogworks.forge.effects import AddReaction, EditComment, Effect, PostComment, SetLabels
from cogworks.forge.facts import Comment
from cogworks.forge.notices import budget_lines, cost_so_far, divided, expected_lines, insisted_on, notices
from cogworks.forge.recorded import recorded_in
from cogworks.forge.snapshot import Snapshot
from cogworks.leaving import in_markdown
from cogworks.pipeline.elements import is_routing, place_of
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.frontier import InstanceStatus
from cogworks.pipeline.gates import boundary_line, class_of, gated_nodes, slug_of
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.limits import shortages
from cogworks.pipeline.position import Position, Standing, failures, how_to_retry, instance_name, waiting_for
from cogworks.pipeline.render import View, is_drawable, mermaid
from cogworks.pipeline.state import RunState, first_visit_key
from cogworks.pipeline.unmerged import closing_pull, done_with, end_of, is_all_merged, is_all_parts_closed
from cogworks.pipeline.visits import MOST_CONTAMINATED, VisitRecord
from cogworks.pipeline.waiting import WaitingFor
from cogworks.settings.config import Config
from cogworks.vocabulary import IssueNumber, Value, VisitKey

NODE_LABEL = "cogworks:node:"
KIND_LABEL = "cogworks:kind:"
_WHO_PAYS = "- Who: anyone who may merge to the default branch raises the limit; anyone with write permission comments."
FAILED_LABEL = "cogworks:node:failed"


class Surface(Value):
    """The views of one run as they should be."""

    labels: frozenset[str]
    """Of those that cogworks writes; labels of people are never among them."""
    comment: str
    """The status comment without its marker."""
    closing: IssueNumber | None = None
    """The pull request whose merge closes the issue; None while there is no such one."""
    is_all_merged: bool = False
    """The run is done and everything it made is merged, so that the issue is to be closed."""
    is_all_parts_closed: bool = False
    """The run is done and divided its issue, and every issue that it was divided into is closed, so that this one is to be closed."""
    done_with: frozenset[IssueNumber] = frozenset()
    """Pull requests that are not to be merged and not needed any more."""
    closes_issue: bool = False
    """Whether `closing` and what is to be closed with it count: the repository may want to close its issues by hand."""


def project(standing: Standing, config: Config) -> Surface:
    """The surface of a run: the same for the same state and facts, no clock takes part."""
    position = standing.position
    waits = waiting_for(standing)
    last = closing_pull(standing)
    return Surface(
        labels=_labels(standing.state, position, waits, config),
        comment=_comment(standing.state, standing.facts, standing.pipeline, position, waits),
        closing=last.number if last else None,
        is_all_merged=is_all_merged(standing.state, standing.facts.pulls),
        is_all_parts_closed=is_all_parts_closed(standing.state, standing.facts.open_parts),
        done_with=done_with(standing),
        closes_issue=config.pull_requests.closes_issue,
    )


def differences(surface: Surface, snapshot: Snapshot, state: RunState, config: Config) -> tuple[Effect, ...]:
    """The effects that make GitHub show the surface; none where it does already.

    Args:
        state: may be newer than the snapshot, by the visit that this step made.
    """
    present = {name for name in snapshot.issue.labels if _is_view(name, config)}
    effects: list[Effect] = []
    insisted = insisted_on(snapshot, state)
    # People win: what they changed back a second time stays as they want it.
    add = tuple(sorted(surface.labels - present - insisted.gone))
    remove = tuple(sorted(present - surface.labels - insisted.there))
    if add or remove:
        effects.append(SetLabels(number=state.issue, add=add, remove=remove))
    effects.extend(comment_difference(surface.comment, snapshot, state))
    effects.extend(_missing_receipts(snapshot, state))
    effects.extend(base_repairs(snapshot, state))
    effects.extend(shown_only_closed(snapshot, state, surface.done_with))
    if surface.closes_issue:
        effects.extend(bodies_put_right(snapshot, state, surface.closing))
        effects.extend(issue_closed(snapshot, state, is_all_merged=surface.is_all_merged))
        effects.extend(issue_closed_with_parts(snapshot, is_due=surface.is_all_parts_closed))
    return tuple(effects)


def _missing_receipts(snapshot: Snapshot, state: RunState) -> Iterator[AddReaction]:
    reactions = {comment.node_id: comment.own_reactions for comment in snapshot.issue.comments}
    reactions |= {review.node_id: review.own_reactions for pull in snapshot.pulls for review in pull.reviews}
    for receipt in state.inputs.receipts:
        # Of a comment that was not read nobody knows its reactions: nothing is put on it blindly.
        if receipt.content not in reactions.get(receipt.subject_id, (receipt.content,)):
            yield AddReaction(subject_id=receipt.subject_id, content=receipt.content)


def status_comment(state: RunState, body: str, visit_key: VisitKey) -> PostComment:
    """The status comment as it is posted: its marker says which revision of the ledger it shows."""
    return PostComment(
        number=state.issue, topic=STATUS_TOPIC, body=body, visit_key=visit_key, revision=state.revision
    )


def comment_difference(body: str, snapshot: Snapshot, state: RunState) -> tuple[Effect, ...]:
    """The edit that makes the status comment say `body`; none where it does, or where it is not there."""
    comment = state.status_comment
    if comment is None:
        return ()
    key = first_visit_key(state)
    wanted = marked(capped(body), visit_key=key, topic=STATUS_TOPIC, revision=state.revision)
    shown = own_status_comment(snapshot, state)
    # A comment that is gone cannot be edited; the step that answers people posts it anew.
    if is_status_lost(snapshot, state) or (shown is not None and _same(shown.body, wanted)):
        return ()
    return (EditComment(comment_id=comment.node_id, body=wanted),)


def own_status_comment(snapshot: Snapshot, state: RunState) -> Comment | None:
    """The comment of this issue that the state names, if one of us wrote it."""
    named = state.status_comment.node_id if state.status_comment else None
    comment = next((each for each in snapshot.issue.comments if each.node_id == named), None)
    if comment is None or comment.viewer_did_author:
        return comment
    # Earlier steps of the item may have run under another account.
    return comment if comment.author is not None and comment.author.id in state.identities else None


def is_status_lost(snapshot: Snapshot, state: RunState) -> bool:
    """Whether the ledger names a status comment that the read did not find among ours on this issue: it was deleted, or
    somebody wrote the id of another comment into the ledger. One that this step posted is none of these."""
    ref, ledger, issue = state.status_comment, snapshot.ledger, snapshot.issue
    if ref is None or ledger is None or own_status_comment(snapshot, state) is not None:
        return False
    was_named = recorded_in(ledger.state_text).status_comment_id == ref.node_id
    is_foreign = any(comment.node_id == ref.node_id for comment in issue.comments)
    # That it is missing proves nothing where the read did not reach back to it.
    return was_named and (is_foreign or issue.has_all_comments or ref.node_id in issue.sought_comments)


def problem_comment(problem: str) -> str:
    """The status comment while a configuration keeps the run from being decided."""
    # What a file says may not end the block that quotes it.
    quoted = problem.replace("```", "'''")
    return (
        f"### cogworks · stopped before it could decide\n\n```text\n{quoted}\n```\n\nNothing else was written. "
        "The next step goes on by itself once this is fixed.\n"
    )


def blocked_comment(why: str) -> str:
    """The status comment while other issues have to be closed first."""
    return f"### cogworks · waiting for other issues\n\nNothing is begun yet: {why}.\n"


def _labels(
    state: RunState, position: Position, waits: tuple[WaitingFor, ...], config: Config
) -> frozenset[str]:
    labels = {f"{KIND_LABEL}{state.kind}"} if state.kind else set()
    if state.status in ("done", "cancelled"):
        return frozenset(labels)
    # A routing visit has no label of its own: it shows at the node whose edges it decides.
    active = {place_of(instance).node for instance in position.ready}
    for instance, status in position.statuses.items():
        if status in (InstanceStatus.RUNNING, InstanceStatus.WAITING_GATE, InstanceStatus.ROUTING):
            active.add(instance.node)
    labels |= {f"{NODE_LABEL}{node}" for node in active}
    if any(status is InstanceStatus.FAILED for status in position.statuses.values()):
        labels.add(FAILED_LABEL)
    # Nobody is asked to review what somebody holds.
    if any(wait.kind not in ("label", "resume") for wait in waits):
        labels.add(config.labels.awaiting_review)
    return frozenset(labels)


def _is_view(name: str, config: Config) -> bool:
    return name.startswith((NODE_LABEL, KIND_LABEL)) or name == config.labels.awaiting_review


def _comment(
    state: RunState, facts: Facts, pipeline: Pipeline, position: Position, waits: tuple[WaitingFor, ...]
) -> str:
    # What a person has to do stands first, what it came to last.
    parts = [f"### cogworks · {_headline(state, facts, pipeline, position, waits)}"]
    parts += [*_cautions(state), *_contaminated(state)]
    parts += [_waiting_line(wait) for wait in waits]
    parts += _failures(state, position, facts)
    parts += _shortages(state, facts, pipeline, position)
    parts += [*notices(state, facts), *divided(state)]
    parts += [*expected_lines(state, facts, pipeline), *budget_lines(state, facts, pipeline)]
    if boundary := boundary_line(pipeline, class_of(state, facts)):
        parts.append(f"**Shift-work boundary:** {boundary}.")
    parts.append(_picture(state, facts, pipeline, position))
    parts.append(_table(state, pipeline))
    parts.append(cost_so_far(state, facts, pipeline))
    parts.append(_folded(state))
    return "\n\n".join(parts) + "\n"


def _picture(state: RunState, facts: Facts, pipeline: Pipeline, position: Position) -> str:
    """The graph as GitHub can draw it: one box for all sub-work-items where a box for each would be too much."""
    gated = gated_nodes(pipeline, class_of(state, facts))
    # Each sub-work-item in a box of its own, else one box for all of them.
    for sub_items in (state.schedule, None):
        drawn = mermaid(pipeline, views_of(position), sub_items, gated=gated)
        if is_drawable(drawn):
            return f"```mermaid\n{drawn.rstrip()}\n```"
    return (
        f"The graph is too large to be drawn here; `cogworks graph {facts.issue_url} --format dot` prints it."
    )


def _waiting_line(wait: WaitingFor) -> str:
    line = f"- **Waiting{f' ({wait.code})' if wait.code else ''}:** {wait.ask}. Who: {wait.who}."
    return f"{line} Or comment: `{wait.paste}`" if wait.paste else line


def _headline(
    state: RunState, facts: Facts, pipeline: Pipeline, position: Position, waits: tuple[WaitingFor, ...]
) -> str:
    if state.status == "cancelled":
        return "cancelled"
    if state.status == "done":
        return _end(state, position, facts)
    if any(status is InstanceStatus.FAILED for status in position.statuses.values()):
        return "stopped: a node failed"
    if waits:
        return "waiting for a person" if waits[0].kind != "label" else "stopped by a label"
    if shortages(state, facts, pipeline, position.ready):
        return "stopped at its budget"
    ahead = ", ".join(instance_name(instance) for instance in position.ready[:3])
    return f"next: {ahead}" if ahead else "at work"


def _cautions(state: RunState) -> list[str]:
    """What the results that count leave open, each once for all visits of a sub-work-item."""
    standing = [visit for visit in state.visits if visit.caution and not visit.is_discarded]
    latest = {(visit.sub_item, visit.caution): visit.instance for visit in standing}
    lines = [
        f"> **{instance_name(instance)}:** {in_markdown(caution)}"
        for (_, caution), instance in latest.items()
    ]
    return ["\n".join(lines)] if lines else []


def _contaminated(state: RunState) -> list[str]:
    """The texts that gave orders to the model in the work that counts, each with who read it."""
    read: dict[str, list[str]] = {}
    for visit in state.visits:
        for text in () if visit.is_discarded else visit.contaminated:
            read.setdefault(text, []).append(instance_name(visit.instance))
    lines = [
        f"> **Gives orders to the model:** `{in_markdown(text.replace('`', chr(39)))}`, read by {', '.join(dict.fromkeys(names))}. "
        "It was shown as data and nothing waited for it; look at what came of it."
        for text, names in [*read.items()][:MOST_CONTAMINATED]
    ]
    return ["\n".join(lines)] if lines else []


def _end(state: RunState, position: Position, facts: Facts) -> str:
    numbers = [f"#{number}" for number in dict.fromkeys(position.rejected.values())]
    if not numbers:
        return f"done: {end_of(state, facts.pulls, facts.open_parts)}"
    what = "pull request" if len(numbers) == 1 else "pull requests"
    return f"rejected: {what} {', '.join(numbers)} {'was' if len(numbers) == 1 else 'were'} closed unmerged"


def _failures(state: RunState, position: Position, facts: Facts) -> list[str]:
    # A reason may hold a list of its own: indented, it stays inside its item.
    lines = [
        f"- **{instance_name(instance)}:** {indent(in_markdown(reason), '  ').lstrip()}"
        for instance, reason in failures(state, position)
    ]
    if retry := how_to_retry(state, facts):
        lines.append(f"- {retry}")
    return ["\n".join(lines)] if lines else []


def _shortages(state: RunState, facts: Facts, pipeline: Pipeline, position: Position) -> list[str]:
    if state.status != "running":
        return []
    lines = [f"- **Stopped:** {reason}" for reason in shortages(state, facts, pipeline, position.ready)]
    return ["\n".join([*lines, _WHO_PAYS])] if lines else []


def views_of(position: Position) -> Mapping[Instance, View]:
    """How each instance is coloured in a picture of the run; those still to come are left out."""
    names: Mapping[InstanceStatus, View] = {
        InstanceStatus.SUCCEEDED: "done",
        InstanceStatus.FAILED: "failed",
        InstanceStatus.RUNNING: "current",
        InstanceStatus.WAITING_GATE: "waiting",
        InstanceStatus.ROUTING: "current",
    }
    drawn: dict[Instance, View] = {instance: names[status] for instance, status in position.statuses.items()}
    for instance in position.ready:
        drawn[place_of(instance)] = "current"
    for instance in position.frontier.skipped:
        drawn[instance] = "skipped"
    return drawn


def _table(state: RunState, pipeline: Pipeline) -> str:
    rows = ["| | Node | Result | Visits | Cost | Link |", "|---|---|---|---|---|---|"]
    shown: dict[Instance, list[VisitRecord]] = {}
    for visit in state.visits:
        shown.setdefault(visit.instance, []).append(visit)
    for instance, visits in shown.items():
        last = visits[-1]
        sign = "✋" if last.waits else "❌" if last.status == "failed" else "↩️" if last.is_discarded else "✅"
        # Visits that were folded count in its sums, too.
        total = state.sum_of(instance)
        rows.append(
            f"| {sign} | {_title(pipeline, instance)}{_of(state, instance)} | {_cell(last.summary)} "
            f"| {len(total.indices)} | ${total.spend.cost_usd:.4f} | {_link(state, pipeline, instance)} |"
        )
    return "\n".join(rows)


def _of(state: RunState, instance: Instance) -> str:
    if instance.sub_item is None:
        return ""
    number = state.sub_item(instance.sub_item).number
    return f" of #{number}" if number else f" of {instance.sub_item}"


def _title(pipeline: Pipeline, instance: Instance) -> str:
    title = pipeline.title_of(place_of(instance).node)
    return f"{title}: where next" if is_routing(instance) else title


def _link(state: RunState, pipeline: Pipeline, instance: Instance) -> str:
    if not pipeline.has(instance.node):
        return ""
    slug = slug_of(state, pipeline.node(instance.node), instance.sub_item)
    pull = state.pull(slug) if slug else None
    return f"#{pull.number}" if pull else ""


def _cell(text: str) -> str:
    line = " ".join(in_markdown(text).split()).replace("|", "\\|")
    return line if len(line) <= 200 else f"{line[:199]}…"


def _folded(state: RunState) -> str:
    # Leases are renewed every minute, and a comment cannot hold its own id: neither may change the digest.
    settled = state.model_copy(update={"leases": (), "status_comment": None})
    # Sorted, because a state that was read back has its mappings in another order.
    text = json.dumps(settled.model_dump(mode="json"), sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    lines = [
        f"Run `{state.run_id}` of pipeline `{state.pipeline}` (graph `{state.graph_hash[:12]}`).",
        (
            f"Branch `cogworks/ledger/{state.issue}` holds the state. This comment is a view of it, and "
            "cogworks repairs it when it differs."
        ),
        f"Revision {state.revision}. State digest: `{digest}`",
    ]
    return "<details><summary>State</summary>\n\n" + "\n".join(lines) + "\n\n</details>"


def _same(shown: str, wanted: str) -> bool:
    # GitHub returns bodies with its own line ends and trims the last one.
    return [line.rstrip() for line in shown.strip().splitlines()] == [
        line.rstrip() for line in wanted.strip().splitlines()
    ]
