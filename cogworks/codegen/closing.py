"""Why a repair did not succeed, for people: what became of the diffs, then the one that came nearest. Pure."""

from cogworks.codebase.diffparsing import parse_diff
from cogworks.codegen.repair_job import Notes, Tried

MAX_CHARS = 600
_MAX_ENDED = 200
_SEARCHED = ("given_up", "no_valid_patch", "no_suspects")
"""Ends whose reason is that nothing good was found; what was found tells more than the last attempt."""
_GATES = ("gate_static", "gate_landmark", "gate_targeted", "gate_regression", "gate_smoke", "gate_full")


def why_not(notes: Notes, error: str) -> str:
    """The reason in at most `MAX_CHARS` characters; where no diff was given, the error alone.

    Args:
        error: what ended the run, which begins with a code.
    """
    valid = {each.id for each in notes.proposals}
    # A diff that was tried on two trees is one that was not left out.
    untried = len(valid - {each.candidate for each in notes.tried}) + notes.unread
    tried = len(notes.tried)
    failed = sum(not each.result.is_kept for each in notes.tried)
    if not (tried or notes.refused_diffs or untried):
        return _cut(error, MAX_CHARS)
    ended = error.partition(":")[0] if error.startswith(_SEARCHED) else _cut(error, _MAX_ENDED)
    noun = "diff" if tried == 1 else "diffs"
    counts = f"{tried} {noun} tried, {failed} failed, {notes.refused_diffs} refused, {untried} untried"
    said = f"{counts} ({ended}). "
    return said + _cut(_nearest(notes), MAX_CHARS - len(said))


def _nearest(notes: Notes) -> str:
    missed = [each for each in notes.tried if not each.result.is_kept]
    if not missed:
        return f"Last refusal: {notes.refused[-1]}" if notes.refused else "No diff was refused."
    # Of equals the first: it is the one the model believed in most.
    best = max(missed, key=_reached)
    diffs = {each.id: each.diff for each in notes.proposals}
    places = [
        f"{file.path}:{file.hunks[0].old_start}" if file.hunks else file.path
        for file in parse_diff(diffs.get(best.candidate, "")).diff.files
    ]
    told = "; ".join(best.result.reasons) or best.result.code
    return f"Nearest miss: {', '.join(places) or best.landmark}: {best.result.code}: {told}"


def _reached(tried: Tried) -> tuple[int, int]:
    """How far a diff came: the gate that stopped it, and how few tests failed with it there."""
    code, after = tried.result.code, tried.result.after
    gate = _GATES.index(code) if code in _GATES else -1
    return gate, -len(after.failing) if after else 0


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
