"""Whose words a run works from: texts changed by others, and texts that give orders to the model, wait for somebody who may answer for them."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from cogworks.canonical import sha256
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.people import Cleared, Contaminated, Doubt, Inputs, Reported, Wording
from cogworks.pipeline.state import RunState, issue_digest
from cogworks.pipeline.visits import VisitRecord
from cogworks.pipeline.waiting import WaitingFor
from cogworks.vocabulary import IssueNumber, NodeId, SubItemKey, Value, VisitKey

if TYPE_CHECKING:
    from cogworks.injection.detecting import Finding


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
    wordings: dict[SubItemKey | None, Wording] = {}
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
            wordings[text.sub_item] = pinned
    after = inputs.model_copy(
        update={
            "request": wordings.pop(None, inputs.request),
            "sub_requests": {key: wording for key, wording in wordings.items() if key is not None},
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


TITLE, BODY = "the title of the issue", "the body of the issue"
READER = NodeId("intake")
"""The node whose model reports passages of the issue that give orders (docs/injections.md)."""
MAX_NAMED = 3
"""Texts that one question quotes."""
REPORTED = "reported"
"""The kind of orders that a model found; the others have the kind of their signature."""


def has_reader(state: RunState, pipeline: Pipeline, issue: str) -> bool:
    """Whether a model that reports orders reads the issue before any other does, or has read this very text.

    Args:
        issue: the digest of the issue as it is now.
    """
    if not pipeline.has(READER):
        return False
    if any(visit.node == READER and _counts(visit) for visit in state.visits):
        return state.issue_digest == issue
    return pipeline.downstream_of(READER) | {READER} == {node.id for node in pipeline.nodes}


def _counts(visit: VisitRecord) -> bool:
    return visit.status == "succeeded" and not visit.is_discarded


def suspected(
    state: RunState, texts: Iterable[tuple[str, str]], *, issue: str, holds: bool, is_read: bool
) -> RunState:
    """The state that waits for a person about each text that gives orders, unless somebody answered for this very text.

    Args:
        texts: what each is, and the text.
        issue: the digest of the issue as it is now.
        holds: False: nobody is asked; whoever reads the texts sees them marked.
        is_read: whether a model reports what in the issue gives orders (`has_reader`). It judges better than statistics do.
    """
    answered_for = {each.digest for each in state.inputs.cleared}
    left_to_reader = (TITLE, BODY) if is_read else ()
    contaminated_texts = (
        (*_orders_in(texts, answered_for, left_to_reader), *reports(state.inputs, issue)) if holds else ()
    )
    if contaminated_texts == state.inputs.contaminated:
        return state
    return state.model_copy(
        update={"inputs": state.inputs.model_copy(update={"contaminated": contaminated_texts})}
    )


def _orders_in(
    texts: Iterable[tuple[str, str]], answered_for: Collection[str], left_to_reader: Collection[str]
) -> Iterator[Contaminated]:
    # Slow to load, and a step that waits reads nothing.
    from cogworks.injection.detecting import scan  # noqa: PLC0415 - slow, and seldom needed

    for source, text in texts:
        scanned = scan(text)
        is_left = scanned.is_statistical and source in left_to_reader
        if scanned.is_injection and not is_left and sha256(text) not in answered_for:
            yield contaminated(source, text, scanned.findings)


def contaminated(source: str, text: str, findings: "tuple[Finding, ...]") -> Contaminated:
    """What is remembered of one text: its heaviest finding, fit to be shown."""
    from cogworks.injection.folding import quoted  # noqa: PLC0415 - slow, and seldom needed

    worst = max(findings, key=lambda each: each.weight)
    return Contaminated(
        source=source,
        digest=sha256(text),
        kind=worst.kind,
        signature=worst.signature,
        version=worst.version,
        line=worst.line,
        why=worst.why,
        how=worst.how,
        quote=quoted(worst.said),
    )


def with_reported(
    state: RunState, orders: Sequence[str], *, title: str, body: str, visit_key: VisitKey
) -> RunState:
    """The state that remembers which passages of the issue a model took for orders; the same where there are none.

    Args:
        title, body: of the issue as the model read it.
    """
    if not orders:
        return state
    digest = issue_digest(title, body)
    others = tuple(each for each in state.inputs.reported if each.digest != digest)
    new = tuple(
        Reported(visit_key=visit_key, digest=digest, source=_place(passage, title), quote=_fit(passage))
        for passage in orders
    )
    return state.model_copy(update={"inputs": state.inputs.model_copy(update={"reported": (*others, *new)})})


def reports(inputs: Inputs, issue: str) -> tuple[Contaminated, ...]:
    """What a model reported of the issue as it is now, unless somebody answered for it.

    Args:
        issue: the digest of the issue.
    """
    if any(each.digest == issue for each in inputs.cleared):
        return ()
    return tuple(
        Contaminated(
            source=each.source,
            digest=each.digest,
            kind=REPORTED,
            why="tries to steer whoever reads it",
            quote=each.quote,
        )
        for each in inputs.reported
        if each.digest == issue
    )


def remark(orders: Sequence[str]) -> str:
    """What people are told of passages for which nothing waits; empty where there are none."""
    passages = "; ".join(f"`{_fit(passage)}`" for passage in orders)
    ending = "It was shown as data and nothing waited for it; look at what came of it."
    return (
        f"The issue tries to steer whoever reads it, as a model judges: {passages}. {ending}"
        if passages
        else ""
    )


def _place(passage: str, title: str) -> str:
    return TITLE if " ".join(passage.split()) in " ".join(title.split()) else BODY


def _fit(passage: str) -> str:
    from cogworks.injection.folding import quoted  # noqa: PLC0415 - slow, and seldom needed

    return quoted(passage)


def answered(inputs: Inputs, *, by: str, why: str) -> Inputs:
    """The inputs after somebody said why the texts that were asked about may be used."""
    if not inputs.contaminated:
        return inputs
    # Several passages of one text are one text.
    texts = {
        each.digest: "the issue" if each.kind == REPORTED else each.source for each in inputs.contaminated
    }
    new = tuple(Cleared(source=source, digest=digest, by=by, why=why) for digest, source in texts.items())
    return inputs.model_copy(update={"contaminated": (), "cleared": (*inputs.cleared, *new)})


def question(texts: tuple[Contaminated, ...]) -> WaitingFor:
    """What a person has to decide about these texts."""
    sentences = "; ".join(_in_words(each) for each in texts[:MAX_NAMED])
    more = f"; and {len(texts) - MAX_NAMED} more" if len(texts) > MAX_NAMED else ""
    is_read = any(each.kind == REPORTED for each in texts)
    so_far = "Nothing further is begun" if is_read else "No model has read it"
    return WaitingFor(
        kind="resume",
        who="anyone with write permission",
        ask=f"{sentences}{more}. {so_far}; edit the text, or say why it may be used as it is",
        paste="/cogworks resume <why>",
    )


def _in_words(each: Contaminated) -> str:
    if each.kind == REPORTED:
        return f"{each.source} {each.why}: `{each.quote}` [a model judges so and may be wrong]"
    how = f", {each.how}" if each.how else ""
    return (
        f"{each.source} {each.why} (line {each.line}{how}): `{each.quote}` "
        f"[{each.kind}, signature {each.signature} of {each.version}]"
    )
