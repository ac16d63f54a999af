"""Whose words a run works from: a text that somebody changed who may not ask for work waits for somebody who may."""

import hashlib
from collections.abc import Sequence
from datetime import datetime

from cogworks.pipeline.graph import Instance
from cogworks.pipeline.people import Doubt, Inputs, Wording
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import IssueNumber, SubItemKey, Value


class SeenEdit(Value):
    """The newest change of a title or of a body."""

    by: str
    """Login; empty: nobody knows."""
    at: datetime
    is_allowed: bool
    """Whoever made it may ask for work."""


class SeenText(Value):
    """The title and body of the issue, or of the sub-issue of a sub-work-item, as they are now."""

    sub_item: SubItemKey | None = None
    number: IssueNumber
    digest: str
    is_ours: bool = False
    """A sub-issue that nobody edited since it was made from the plan."""
    body_edit: SeenEdit | None = None
    title_edit: SeenEdit | None = None

    @property
    def wording(self) -> Wording:
        """What is remembered of the text."""
        return Wording(
            digest=self.digest,
            body_edited_at=self.body_edit.at if self.body_edit else None,
            title_edited_at=self.title_edit.at if self.title_edit else None,
        )


class Request(Value):
    """Somebody who may asked for work on the texts as they were at that moment."""

    by: str
    at: datetime


def unjudged(text: SeenText, inputs: Inputs) -> tuple[SeenEdit, ...]:
    """The edits of a text that nobody judged yet; none where it is as it was."""
    if text.is_ours or any(_is_about(doubt, text) for doubt in inputs.doubts):
        return ()
    pinned = _pinned(text, inputs)
    if pinned is not None and pinned.digest == text.digest:
        return ()
    return _newer(text, pinned)


def worded(
    state: RunState, texts: Sequence[SeenText], requests: Sequence[Request], *, is_new: bool
) -> RunState:
    """The state in which every text is either stood for by somebody who may ask for work, or in doubt.

    A request takes every text as it was then; an edit of the same second may be the later one, for GitHub tells no less.

    Args:
        requests: what people newly asked for, oldest first.
        is_new: nothing was made from the issue yet, so its digest in the state says nothing.
    """
    asked = requests[-1] if requests else None
    inputs = state.inputs
    found: dict[SubItemKey | None, Wording] = {}
    doubts: list[Doubt] = []
    for text in texts:
        if text.is_ours:
            continue
        known = "" if is_new or text.sub_item is not None else state.issue_digest
        judged = _judged(text, inputs, asked, known_digest=known)
        if isinstance(judged, Doubt):
            doubts.append(judged)
        pinned = _pinned(text, inputs) if isinstance(judged, Doubt) else judged
        if pinned is not None:
            found[text.sub_item] = pinned
    after = inputs.model_copy(
        update={
            "request": found.pop(None, inputs.request),
            "sub_requests": {key: wording for key, wording in found.items() if key is not None},
            "doubts": tuple(doubts),
        }
    )
    return state if after == inputs else state.model_copy(update={"inputs": after})


def is_in_doubt(state: RunState, at: Instance) -> bool:
    """Whether a node would be told something that nobody who may stands for."""
    return any(doubt.sub_item in (None, at.sub_item) for doubt in state.inputs.doubts)


def input_digest(state: RunState, issue_digest: str, at: Instance) -> str:
    """sha256 of what a visit is asked for: the issue, and the sub-issue where people edited it."""
    edited = state.inputs.sub_requests.get(at.sub_item) if at.sub_item is not None else None
    if edited is None:
        return issue_digest
    return hashlib.sha256(f"{issue_digest}\x1f{edited.digest}".encode()).hexdigest()


def _judged(text: SeenText, inputs: Inputs, asked: Request | None, *, known_digest: str) -> Wording | Doubt:
    pinned = _pinned(text, inputs)
    if pinned is not None and pinned.digest == text.digest:
        return pinned
    if pinned is None and text.digest == known_digest:
        # A ledger from before wordings were kept, and nothing was edited since its run began.
        return text.wording
    before = next((doubt for doubt in inputs.doubts if _is_about(doubt, text)), None)
    late = _newer(text, pinned) if asked is None else [edit for edit in _edits(text) if edit.at >= asked.at]
    if asked is not None and not late:
        return text.wording.model_copy(update={"by": asked.by})
    if before is not None:
        return before
    strangers = tuple(dict.fromkeys(edit.by for edit in late if not edit.is_allowed))
    # A text that differs although no edit of it is known was changed by nobody knows whom.
    if late and not strangers:
        return text.wording.model_copy(update={"by": max(late, key=lambda edit: edit.at).by})
    if not late and pinned is None and text.sub_item is None and not known_digest:
        return text.wording
    return Doubt(
        sub_item=text.sub_item,
        number=text.number,
        wording=text.wording,
        by=tuple(name for name in strangers if name),
        asked_by=asked.by if asked else pinned.by if pinned else "",
    )


def _edits(text: SeenText) -> tuple[SeenEdit, ...]:
    return tuple(edit for edit in (text.body_edit, text.title_edit) if edit is not None)


def _newer(text: SeenText, pinned: Wording | None) -> tuple[SeenEdit, ...]:
    """The edits that made the text differ from the pinned one; an earlier one shows in whoever wrote over it."""
    known = (pinned.body_edited_at, pinned.title_edited_at) if pinned else (None, None)
    edits = zip((text.body_edit, text.title_edit), known, strict=True)
    return tuple(edit for edit, at in edits if edit is not None and edit.at != at)


def _pinned(text: SeenText, inputs: Inputs) -> Wording | None:
    return inputs.request if text.sub_item is None else inputs.sub_requests.get(text.sub_item)


def _is_about(doubt: Doubt, text: SeenText) -> bool:
    return (doubt.sub_item, doubt.wording) == (text.sub_item, text.wording)
