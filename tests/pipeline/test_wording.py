"""Which texts a run works from, as a rule: no word of somebody who may not ask for work, unless somebody who may took it."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from cogworks.pipeline.graph import Instance
from cogworks.pipeline.people import Doubt, Wording
from cogworks.pipeline.wording import (
    Request,
    SeenEdit,
    SeenText,
    input_digest,
    is_in_doubt,
    unjudged,
    worded,
)
from cogworks.vocabulary import IssueNumber, NodeId, SubItemKey
from tests.pipeline.runs import new_run

START = datetime(2026, 1, 2, tzinfo=UTC)
ISSUE = IssueNumber(7)
CODE_A = Instance(NodeId("code"), SubItemKey("A"))
CODE_B = Instance(NodeId("code"), SubItemKey("B"))


def at(second: int) -> datetime:
    return START + timedelta(seconds=second)


def text(digest: str, *edits: SeenEdit, sub_item: str | None = None) -> SeenText:
    body = edits[0] if edits else None
    return SeenText(
        sub_item=SubItemKey(sub_item) if sub_item else None, number=ISSUE, digest=digest, body_edit=body
    )


def by(login: str, second: int) -> SeenEdit:
    return SeenEdit(by=login, at=at(second), is_allowed=login == "ann")


def test_a_changed_text_without_a_known_edit_is_somebodys_whom_nobody_knows() -> None:
    state = worded(new_run(), [text("one")], [Request(by="ann", at=at(1))], is_new=True)

    after = worded(state, [text("two")], [], is_new=False)

    [doubt] = after.inputs.doubts
    assert (doubt.by, doubt.asked_by) == ((), "ann")


def test_a_doubt_is_judged_once_and_goes_with_the_text_it_is_about() -> None:
    trap = text("trap", by("eve", 5))
    asked = worded(new_run(), [text("one")], [Request(by="ann", at=at(1))], is_new=True)
    assert unjudged(trap, asked.inputs) == (by("eve", 5),)

    doubted = worded(asked, [trap], [], is_new=False)

    assert unjudged(trap, doubted.inputs) == ()
    assert worded(doubted, [trap], [], is_new=False) == doubted
    assert worded(doubted, [text("one", by("eve", 6))], [], is_new=False).inputs.doubts == ()


def test_a_doubt_about_a_sub_issue_is_no_doubt_about_its_siblings() -> None:
    state = new_run()
    doubt = Doubt(sub_item=SubItemKey("A"), number=ISSUE, wording=Wording(digest="x"))
    inputs = state.inputs.model_copy(update={"doubts": (doubt,)})
    doubted = state.model_copy(update={"inputs": inputs})

    assert is_in_doubt(doubted, CODE_A)
    assert not is_in_doubt(doubted, CODE_B)


def test_what_a_visit_is_asked_for_has_another_digest_once_its_sub_issue_is_edited() -> None:
    state = worded(new_run(), [text("new", by("ann", 3), sub_item="A")], [], is_new=False)

    assert input_digest(state, "issue", CODE_A) != "issue"
    assert input_digest(state, "issue", CODE_B) == "issue"


@given(
    st.lists(
        st.tuples(st.sampled_from(["ann", "eve", "run", "step"]), st.integers(0, 1)), min_size=1, max_size=12
    )
)
def test_no_strangers_text_is_ever_taken_that_nobody_took_after_it_was_written(
    happenings: list[tuple[str, int]],
) -> None:
    """Edits of a writer and a stranger, requests and steps in any order, some of them within one second."""
    now, body, digest = 0, "ann", "d0"
    edit: SeenEdit | None = None
    is_distinct = True
    taken_at = now
    state = worded(new_run(), [text(digest)], [Request(by="ann", at=at(now))], is_new=True)
    asked: list[Request] = []
    for count, (what, seconds) in enumerate(happenings, 1):
        now += seconds
        if what in ("ann", "eve"):
            is_distinct = edit is None or edit.at < at(now)
            body, digest, edit = what, f"d{count}", by(what, now)
        elif what == "run":
            asked.append(Request(by="ann", at=at(now)))
            taken_at = now
        else:
            state = worded(state, [text(digest, edit) if edit else text(digest)], asked, is_new=False)
            asked = []
            is_taken = not state.inputs.doubts
            if body == "eve" and edit is not None and edit.at >= at(taken_at):
                assert not is_taken
            # Two edits of one second look like one, and nobody knows whose the text is.
            if body == "ann" and is_distinct:
                assert is_taken
