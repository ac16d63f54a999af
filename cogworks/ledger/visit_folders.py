"""What must be true of the files a ledger keeps for its visits."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from cogworks.ledger.invariants import REVERT, Finding
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import MAX_ATTEMPTS, FoldedVisits, Lease, VisitRecord

_NUMBERED = re.compile(r"(reply|manifest)-([1-9][0-9]*)\.json")
_EPSILON_USD = 1e-6
_SETTLED_LATER = {"is_discarded", "status", "summary", "changes"}
"""What the state may say otherwise than `visit.json`: edges that were decided after it was written."""
Files = Mapping[str, str | None]
"""Path -> text; None where the file is too large to be read or is no text."""


def check_folders(state: RunState, files: Files) -> Iterable[Finding]:
    """Every visit has its folder, and what is in it agrees with the state and with itself."""
    folders: set[str] = set()
    for visit in state.visits:
        if (folder := _folder(state, visit)) is not None:
            folders.add(folder)
            yield from _check_folder(visit, folder, files)
    for folded in state.folded:
        if _is_planned(state, folded):
            folders |= {state.folder(index, folded.instance) for index in folded.indices}
            yield from _check_folded(state, folded, files)
    for lease in (*state.leases, *state.given_back):
        if (folder := _folder(state, lease)) is not None:
            folders.add(folder)
            yield from _check_replies(folder, files)
    if state.run_number > 1:
        # Folders of earlier runs stay; the state of today does not know them.
        return
    for folder in sorted({_folder_of(path) for path in files} - folders):
        yield _wrong("folder", folder, "belongs to no visit of the run", REVERT)


def _is_planned(state: RunState, each: VisitRecord | FoldedVisits | Lease) -> bool:
    return state.is_planned(each.sub_item)


def _folder(state: RunState, each: VisitRecord | Lease) -> str | None:
    return state.folder(each.index, each.instance) if _is_planned(state, each) else None


def _check_folded(state: RunState, folded: FoldedVisits, files: Files) -> Iterable[Finding]:
    """Each folded visit has the folder that a visit has, and together they cost what the state says."""
    total = FoldedVisits(node=folded.node, sub_item=folded.sub_item, indices=())
    for index in folded.indices:
        folder = state.folder(index, folded.instance)
        kept = _visit(files.get(f"{folder}/visit.json"))
        if kept is None or (kept.index, kept.instance) != (index, folded.instance):
            yield _wrong(
                "visit_file", f"{folder}/visit.json", "is not the record of that folded visit", REVERT
            )
            return
        total = total.with_visit(kept)
        yield from _check_folder(kept, folder, files)
    if total.spend != folded.spend:
        where = f"state.json: folded visits of {folded.node}"
        problem = (
            f"cost {folded.spend.cost_usd:.6f} USD, but their `visit.json` say {total.spend.cost_usd:.6f}"
        )
        yield _wrong("spend", where, problem, REVERT)


def _visit(text: str | None) -> VisitRecord | None:
    try:
        return VisitRecord.model_validate_json(text) if text is not None else None
    except ValidationError:
        return None


def _check_folder(visit: VisitRecord, folder: str, files: Files) -> Iterable[Finding]:
    there = {path for path in files if _folder_of(path) == folder}
    if not there and visit.status == "failed" and visit.attempt >= MAX_ATTEMPTS:
        # Given up because its runners died: none of them came to write anything.
        return
    yield from _check_visit_file(visit, f"{folder}/visit.json", files)
    output = f"{folder}/output.json"
    if visit.has_output and output not in there:
        yield _wrong("output", output, "is missing, though the visit had an output", REVERT)
    elif output in there and not isinstance(_json(files[output]), dict):
        yield _wrong("output", output, "is not a JSON object", REVERT)
    if visit.awaits_routing and not isinstance(_json(files.get(f"{folder}/view.json")), dict):
        yield _wrong(
            "view",
            f"{folder}/view.json",
            "is missing or no JSON object, though a routing visit reads it",
            REVERT,
        )
    yield from _check_replies(folder, files)
    if visit.status == "succeeded" and visit.spend.model_calls and f"{folder}/reply-1.json" not in there:
        call_count = visit.spend.model_calls
        yield _wrong(
            "reply",
            folder,
            f"has no reply-1.json, though the visit asked a model {call_count} time(s)",
            REVERT,
        )
    paid_usd = sum(_cost_usd(_json(files[path])) for path in there if "/reply-" in path)
    if paid_usd > visit.spend.cost_usd + _EPSILON_USD:
        problem = f"holds replies for {paid_usd:.6f} USD, but the visit booked {visit.spend.cost_usd:.6f}"
        yield _wrong("spend", folder, problem, REVERT)


def _check_visit_file(visit: VisitRecord, path: str, files: Files) -> Iterable[Finding]:
    if path not in files:
        yield _wrong("visit_file", path, "is missing", REVERT)
        return
    kept = _json(files[path])
    if not isinstance(kept, dict):
        yield _wrong("visit_file", path, "is not a JSON object", REVERT)
        return
    expected = visit.model_dump(mode="json")
    # What an earlier version did not write yet is what it is without a word.
    parsed = _visit(files[path])
    said = {**kept, **(parsed.model_dump(mode="json") if parsed else {})}
    differing = sorted(
        name for name in expected if name not in _SETTLED_LATER and said.get(name) != expected[name]
    )
    if differing:
        yield _wrong("visit_file", path, f"differs from the state in {', '.join(differing)}", REVERT)


def _check_replies(folder: str, files: Files) -> Iterable[Finding]:
    """Every model reply has the manifest of its prompt beside it, and they are numbered from 1 without a gap."""
    numbers: dict[str, set[int]] = {"reply": set(), "manifest": set()}
    for path in files:
        match = _NUMBERED.fullmatch(path.removeprefix(f"{folder}/"))
        if match is not None:
            numbers[match[1]].add(int(match[2]))
    replies, manifests = numbers["reply"], numbers["manifest"]
    for number in sorted(replies ^ manifests):
        has, lacks = ("reply", "manifest") if number in replies else ("manifest", "reply")
        yield _wrong("manifest", f"{folder}/{has}-{number}.json", f"has no {lacks}-{number}.json", REVERT)
    if replies and max(replies) != len(replies):
        yield _wrong("reply", folder, f"has replies {sorted(replies)}; a number is missing", REVERT)
    for number in sorted(replies & manifests):
        reply = _json(files[f"{folder}/reply-{number}.json"])
        manifest = _json(files[f"{folder}/manifest-{number}.json"])
        if not isinstance(reply, dict) or reply.get("manifest") != manifest:
            path = f"{folder}/manifest-{number}.json"
            yield _wrong(
                "manifest", path, f"is not the manifest that reply-{number}.json was made with", REVERT
            )


def _cost_usd(reply: Any) -> float:
    try:
        return float(reply["cost_usd"])
    except (TypeError, KeyError, ValueError):
        return 0.0


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def _json(text: str | None) -> Any:
    try:
        return json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None


def _wrong(rule: str, what: str, problem: str, remedy: str) -> Finding:
    return Finding(kind="ledger", rule=rule, object=what, problem=problem, remedy=remedy)
