"""How a run's state and its visits are written to files of the ledger branch, and read back."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from cogworks.errors import CogworksError, LostRace
from cogworks.leaving import masked
from cogworks.pipeline.expected import cost_line
from cogworks.pipeline.noticing import seen_line
from cogworks.pipeline.state import SCHEMA_VERSION, RunState
from cogworks.pipeline.visits import Lease, VisitRecord
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Value

STATE_FILE = "state.json"
ROOT_BRANCH = BranchName("cogworks/ledger/root")


class LedgerUnreadable(CogworksError):
    """The ledger holds something this version cannot read; nothing may be written over it."""

    exit_code = 2
    outcome = "ledger_unreadable"


class Change(Value):
    """One commit to the ledger: files to add or replace, and the message that explains it."""

    headline: str
    body: str
    files: Mapping[str, str]

    @property
    def message(self) -> str:
        return f"{self.headline}\n\n{self.body}"


def ledger_branch(number: IssueNumber) -> BranchName:
    """The branch that holds a work item's ledger."""
    return BranchName(f"cogworks/ledger/{number}")


def read_state(text: str, *, branch: str) -> RunState:
    """The state kept in `state.json`.

    Raises:
        LedgerUnreadable: no text, not JSON, an unknown schema version, or fields of the wrong shape.
    """
    where = f"`{STATE_FILE}` on branch `{branch}`"
    try:
        data = json.loads(text)
    # JSON that is nested too deep raises that; it is no more ours than any other text.
    except (ValueError, RecursionError) as error:
        message = f"{where} is not JSON ({error}). Restore it with `git revert` on that branch; nothing was written."
        raise LedgerUnreadable(message) from None
    # Before the shape: another version has another shape, and that is no damage.
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != SCHEMA_VERSION:
        message = (
            f"{where} has schema version {version!r}; this cogworks reads {SCHEMA_VERSION!r}. "
            "Run the version of cogworks that wrote it, or a newer one; nothing was written."
        )
        raise LedgerUnreadable(message)
    try:
        return RunState.model_validate_json(text)
    except ValidationError as error:
        places = ", ".join(sorted({".".join(str(part) for part in item["loc"]) for item in error.errors()}))
        message = f"{where} does not have the expected shape at: {places}. Restore it with `git revert` on that branch; nothing was written."
        raise LedgerUnreadable(message) from None


def state_text(state: RunState) -> str:
    """`state.json`: the same text for equal states, one field a line so that history reads as diffs."""
    return canonical(state.model_dump(mode="json"))


def canonical(data: Any) -> str:
    """JSON with sorted keys and a final newline."""
    return json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def visit_files(state: RunState, visit: VisitRecord, output: Mapping[str, Any] | None) -> dict[str, str]:
    """The files that finish a visit: `visit.json`, and `output.json` where the node produced one."""
    folder = state.folder(visit.index, visit.instance)
    files = {f"{folder}/visit.json": canonical(visit.model_dump(mode="json"))}
    if output is not None:
        files[f"{folder}/output.json"] = canonical(dict(output))
    return files


def view_file(state: RunState, visit: VisitRecord, view: Mapping[str, Any]) -> dict[str, str]:
    """`view.json`: what the conditions of a visit's edges read, kept for the routing visit that decides them."""
    return {view_path(state, visit): canonical(dict(view))}


def view_path(state: RunState, visit: VisitRecord) -> str:
    """Where the view of a visit is kept."""
    return f"{state.folder(visit.index, visit.instance)}/view.json"


def edges_file(
    state: RunState, visit: VisitRecord, evaluations: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """`edges.json`: every edge that was looked at when the visit was recorded, with what was read and who decided."""
    return {f"{state.folder(visit.index, visit.instance)}/edges.json": canonical(list(evaluations))}


def kept(text: str, secrets: Iterable[str] = ()) -> str:
    """A text as the ledger keeps it: tokens of known services leave it; a text of JSON stays one.

    Args:
        secrets: further ones, of which nobody writes one by chance.
    """
    return masked(text, secrets, is_code=True)


def as_kept(state: RunState) -> RunState:
    """The state as the ledger will say it: a runner that takes over reads, and asks, the same."""
    text = state_text(state)
    return state if kept(text) == text else RunState.model_validate_json(kept(text))


def output_as_kept(output: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same of a node's output."""
    text = canonical(dict(output))
    known: Mapping[str, Any] = output if kept(text) == text else json.loads(kept(text))
    return known


def output_sha256(output: Mapping[str, Any] | None) -> str:
    """64 hex digits that stand for `output.json` as `visit_files` writes it; empty where there is none."""
    # Of the text as it is committed, so that people can compare it with the file that they look at.
    return "" if output is None else hashlib.sha256(canonical(dict(output)).encode()).hexdigest()


def reply_files(
    folder: str, number: int, reply: Mapping[str, Any], manifest: Mapping[str, Any]
) -> dict[str, str]:
    """The files of one finished model reply; `number` counts from 1 within the visit."""
    return {
        f"{folder}/reply-{number}.json": canonical(dict(reply)),
        f"{folder}/manifest-{number}.json": canonical(dict(manifest)),
    }


def change_for(
    state: RunState,
    lease: Lease,
    verb: str,
    files: Mapping[str, str],
    *,
    sequence: int,
    waits_for: str = "",
    edges: str = "",
) -> Change:
    """The commit that moves a visit on.

    Args:
        verb: `claim`, `checkpoint`, `succeeded`, `failed`, `released`, …
        sequence: how many ledger commits this runner made for this visit before; makes each message unique,
            so that a runner recognises its own commit after a lost answer.
        waits_for: as `rest_line` says it, when the item now waits for people.
        edges: which edges this commit looked at, and whether they hold.
    """
    lines = [
        f"Visit: {lease.visit_key}",
        f"Run: {state.run_id}",
        f"Holder: {lease.holder}",
        f"Attempt: {lease.attempt}",
        f"Sequence: {sequence}",
        *([f"Edges: {edges}"] if edges else []),
        "",
    ]
    if waits_for:
        lines.append(f"Cogworks-Waits-For: {waits_for}")
    if seen := seen_line(state.inputs):
        lines.append(f"Cogworks-Seen: {seen}")
    if state.came_to is not None and state.status == "done":
        lines.append(f"Cogworks-Cost: {cost_line(state.came_to)}")
    # GitHub obeys it: no workflow runs for a commit of the ledger. It has to be the last of the trailers:
    # https://docs.github.com/en/actions/managing-workflow-runs/skipping-workflow-runs
    lines.append("skip-checks: true")
    node = f"{lease.node}@{lease.sub_item}" if lease.sub_item else lease.node
    return Change(
        headline=f"cogworks: {node} {verb} [skip ci]",
        body="\n".join(lines),
        files={STATE_FILE: state_text(state), **files},
    )


class LedgerCommit(Value):
    """A commit that moved the ledger, and what else its answer said."""

    oid: CommitOid
    echoed: Mapping[str, str]
    """The files that were asked back, path -> text; those under a folder by their full path."""
    issue_is_open: bool
    labels: frozenset[str]


class Tip(Value):
    """The ledger as it is now."""

    oid: CommitOid
    state_text: str
    history: tuple[tuple[str, datetime], ...]
    """Message and committed date, newest first, at most 50."""
    server_date: datetime


class StaleTip(LostRace):
    """The branch was moved by somebody else since it was read; nothing was written."""
