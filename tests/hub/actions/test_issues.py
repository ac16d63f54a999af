"""Issues, labels, comments, sub-issues and who may touch them."""

from datetime import timedelta

import pytest

from cogworks.hub.actions import hierarchy
from cogworks.hub.actions.access import (
    ANONYMOUS,
    association,
    authenticate,
    find_issue,
    find_repository,
    role_of,
)
from cogworks.hub.actions.comments import (
    add_reaction,
    create_comment,
    delete_comment,
    edit_comment,
    minimize_comment,
    reactions,
    remove_reaction,
)
from cogworks.hub.actions.issues import (
    add_assignees,
    close_issue,
    create_issue,
    create_milestone,
    edit_issue,
    lock_issue,
    reopen_issue,
    set_milestone,
    unlock_issue,
)
from cogworks.hub.actions.labels import (
    add_labels,
    create_label,
    delete_label,
    find_label,
    labels_named,
    remove_labels,
    set_labels,
    update_label,
)
from cogworks.hub.actions.repositories import change_repository, put_collaborator
from cogworks.hub.actions.timeline import events, timeline
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Comment, Event, Label
from cogworks.hub.refusals import Forbidden, Gone, NotFound, Unauthenticated, Unprocessable
from cogworks.hub.seeding import add_token, add_user
from tests.hub.bench import Bench


def test_an_issue_of_someone_without_push_access_loses_its_labels(bench: Bench) -> None:
    made = create_issue(
        bench.world, bench.reader, bench.repository, title="Mine", labels=["bug"], assignees=["ada"]
    )

    assert (made.label_ids, made.assignee_ids) == ((), ())


@pytest.mark.parametrize(
    ("title", "body"), [("  ", None), ("x" * 257, None), ("x", "y" * 65_537)], ids=["blank", "title", "body"]
)
def test_limits_of_an_issue(bench: Bench, title: str, body: str | None) -> None:
    with pytest.raises(Unprocessable):
        bench.issue(title, body)
    assert bench.issue("x" * 256, "y" * 65_536).number == 1


def test_an_edit_remembers_who_and_when(bench: Bench) -> None:
    issue = bench.issue("Old", "Old", bench.reader)
    bench.clock.advance(60)

    edited = edit_issue(bench.world, bench.writer, issue, title="New", body="New")

    assert (edited.title, edited.body, edited.editor_id) == ("New", "New", bench.writer.known.id)
    assert (edited.last_edited_at, edited.updated_at) == (bench.clock.now(), bench.clock.now())
    assert [event.details for event in events(bench.world, issue)] == [{"from": "Old", "to": "New"}]


def test_an_author_edits_and_closes_their_own_issue_and_a_stranger_does_not(bench: Bench) -> None:
    mine, other = bench.issue(actor=bench.reader), bench.issue(actor=bench.owner)

    assert close_issue(bench.world, bench.reader, mine, "not_planned").state_reason == "not_planned"
    for change in (close_issue, reopen_issue):
        with pytest.raises(Forbidden):
            change(bench.world, bench.reader, other)
    with pytest.raises(Forbidden):
        edit_issue(bench.world, bench.reader, other, title="Mine now")


def test_closing_and_reopening_leave_their_trace(bench: Bench) -> None:
    issue = bench.issue()
    bench.clock.advance(5)
    shut = close_issue(bench.world, bench.owner, issue)
    open_again = reopen_issue(bench.world, bench.owner, shut)

    assert (shut.state, shut.closed_at, shut.closed_by_id) == (
        "closed",
        bench.clock.now(),
        bench.owner.known.id,
    )
    assert (open_again.state, open_again.state_reason, open_again.closed_at) == ("open", "reopened", None)
    assert bench.kinds(issue) == ["closed", "reopened"]


def test_labels_are_a_set_and_only_a_change_is_an_event(bench: Bench) -> None:
    issue = bench.issue()
    bug, question = (find_label(bench.world, bench.repository, name) for name in ("BUG", "question"))

    add_labels(bench.world, bench.writer, issue, [bug])
    add_labels(bench.world, bench.writer, issue, [bug, question])
    remove_labels(bench.world, bench.writer, issue, [bug])
    remove_labels(bench.world, bench.writer, issue, [bug])
    set_labels(bench.world, bench.writer, issue, [bug])

    assert bench.now(issue).label_ids == (bug.id,)
    assert [(event.kind, event.details["label_name"]) for event in events(bench.world, issue)] == [
        ("labeled", "bug"),
        ("labeled", "question"),
        ("unlabeled", "bug"),
        ("unlabeled", "question"),
        ("labeled", "bug"),
    ]


def test_a_label_is_created_by_name_only_by_writers(bench: Bench) -> None:
    put_collaborator(bench.world, bench.repository, bench.reader.known, Role.TRIAGE)

    made = labels_named(bench.world, bench.writer, bench.repository, ["brand new", "bug", "brand new"])

    assert [label.name for label in made] == ["brand new", "bug"]
    with pytest.raises(Forbidden):
        labels_named(bench.world, bench.reader, bench.repository, ["another"])
    assert add_labels(bench.world, bench.reader, bench.issue(), made).label_ids == tuple(
        each.id for each in made
    )


@pytest.mark.parametrize(
    ("name", "color"), [("bug", "ffffff"), ("x" * 51, "ffffff"), ("ok", "red"), (" ", "ffffff")]
)
def test_a_label_that_github_would_not_take_is_refused(bench: Bench, name: str, color: str) -> None:
    with pytest.raises(Unprocessable):
        create_label(bench.world, bench.owner, bench.repository, name=name, color=color)


def test_a_renamed_label_stays_on_its_issues_and_a_deleted_one_goes(bench: Bench) -> None:
    label = create_label(bench.world, bench.owner, bench.repository, name="old", color="ABCDEF")
    issue = add_labels(bench.world, bench.owner, bench.issue(), [label])

    renamed = update_label(bench.world, bench.owner, label, bench.repository, name="new")
    assert (renamed.color, bench.world.store.many(Label, issue.label_ids)) == ("abcdef", [renamed])
    delete_label(bench.world, bench.owner, renamed, bench.repository)
    assert bench.now(issue).label_ids == ()


def test_comment_ids_do_not_fit_into_32_bits_and_grow(bench: Bench) -> None:
    issue = bench.issue()
    made = [create_comment(bench.world, bench.reader, issue, text) for text in ("one", "two")]

    assert made[0].id > 2**31
    assert made[1].id > made[0].id
    assert bench.world.store.children(Comment, issue.id) == made


def test_a_deleted_comment_is_told_of(bench: Bench) -> None:
    issue = bench.issue()
    comment = create_comment(bench.world, bench.reader, issue, "Oops")
    add_reaction(bench.world, bench.owner, comment, "-1")

    delete_comment(bench.world, bench.owner, comment)

    assert (bench.world.store.children(Comment, issue.id), reactions(bench.world, comment)) == ([], [])
    assert [(event.kind, event.details) for event in events(bench.world, issue)] == [
        ("comment_deleted", {"author_id": bench.reader.known.id})
    ]
    with pytest.raises(NotFound):
        edit_comment(bench.world, bench.owner, comment, "Back")


def test_an_edited_comment_says_by_whom(bench: Bench) -> None:
    comment = create_comment(bench.world, bench.reader, bench.issue(), "One")
    bench.clock.advance(10)

    edited = edit_comment(bench.world, bench.owner, comment, "Two")

    assert edited.last_edited_at == comment.created_at + timedelta(seconds=10)
    assert edited.editor_id == bench.owner.known.id
    assert minimize_comment(bench.world, bench.owner, edited, "outdated").minimized_reason == "outdated"


@pytest.mark.parametrize("body", ["", " \n", "x" * 65_537])
def test_limits_of_a_comment(bench: Bench, body: str) -> None:
    with pytest.raises(Unprocessable):
        create_comment(bench.world, bench.owner, bench.issue(), body)


def test_a_locked_conversation_is_for_writers(bench: Bench) -> None:
    issue = lock_issue(bench.world, bench.owner, bench.issue(), "too heated")

    with pytest.raises(Forbidden):
        create_comment(bench.world, bench.reader, issue, "But")
    assert create_comment(bench.world, bench.writer, issue, "Enough").body == "Enough"
    unlock_issue(bench.world, bench.owner, issue)
    assert create_comment(bench.world, bench.reader, issue, "Sorry").body == "Sorry"


def test_one_reaction_of_each_kind_per_user(bench: Bench) -> None:
    issue = bench.issue()
    first, is_new = add_reaction(bench.world, bench.reader, issue, "eyes")
    again, is_new_again = add_reaction(bench.world, bench.reader, issue, "eyes")

    assert (first, is_new, is_new_again) == (again, True, False)
    assert remove_reaction(bench.world, bench.reader, issue, "eyes") == first
    with pytest.raises(NotFound):
        remove_reaction(bench.world, bench.reader, issue, "eyes")


def test_a_sub_issue_has_one_parent_and_no_circle(bench: Bench) -> None:
    parent, other, child = bench.issue("Parent"), bench.issue("Other"), bench.issue("Child")
    hierarchy.add_sub_issue(bench.world, bench.owner, parent, child)

    for upper, lower in ((parent, child), (other, child), (child, parent), (parent, parent)):
        with pytest.raises(Unprocessable):
            hierarchy.add_sub_issue(bench.world, bench.owner, upper, lower)
    moved = hierarchy.add_sub_issue(bench.world, bench.owner, other, child, replace_parent=True)

    assert (moved.sub_issue_ids, bench.now(parent).sub_issue_ids) == ((child.id,), ())
    assert bench.now(child).parent_id == other.id


def test_a_hundred_sub_issues_are_the_limit(bench: Bench) -> None:
    parent = bench.issue()
    for number in range(100):
        hierarchy.add_sub_issue(bench.world, bench.owner, parent, bench.issue(f"{number}"))

    with pytest.raises(Unprocessable, match="more than 100"):
        hierarchy.add_sub_issue(bench.world, bench.owner, parent, bench.issue("One too many"))


def test_dependencies_form_no_circle(bench: Bench) -> None:
    first, second, third = (bench.issue(title) for title in ("1", "2", "3"))
    hierarchy.add_blocked_by(bench.world, bench.owner, second, first)
    hierarchy.add_blocked_by(bench.world, bench.owner, third, second)

    for issue, blocking in ((first, third), (first, first), (second, first)):
        with pytest.raises(Unprocessable):
            hierarchy.add_blocked_by(bench.world, bench.owner, issue, blocking)
    close_issue(bench.world, bench.owner, first)
    assert hierarchy.blocked_by(bench.world, second) == [bench.now(first)]
    assert hierarchy.blocking(bench.world, second) == [third]


def test_a_mention_is_told_once_and_never_of_itself(bench: Bench) -> None:
    target, source = bench.issue("Target"), bench.issue("Source", "Me: #2")
    create_comment(bench.world, bench.owner, source, "See #1")
    create_comment(bench.world, bench.owner, source, "I said: #1")

    assert [event.details for event in events(bench.world, target)] == [{"source_id": source.id}]
    assert bench.kinds(source) == []


def test_a_timeline_is_in_the_order_of_what_happened(bench: Bench) -> None:
    issue = bench.issue()
    comment = create_comment(bench.world, bench.owner, issue, "First")
    close_issue(bench.world, bench.owner, issue)
    later = create_comment(bench.world, bench.owner, issue, "Later")

    found = timeline(bench.world, bench.now(issue))

    assert [found[0], found[2]] == [comment, later]
    assert isinstance(found[1], Event)


def test_assignees_must_be_able_to_read(bench: Bench) -> None:
    add_user(bench.world, "stranger")

    assert add_assignees(bench.world, bench.owner, bench.issue(), ["stranger", "RITA"]).assignee_ids == (
        bench.reader.known.id,
    )


def test_a_milestone_is_given_by_number(bench: Bench) -> None:
    made = create_milestone(bench.world, bench.owner, bench.repository, title="1.0")
    issue = set_milestone(bench.world, bench.owner, bench.issue(), made.number)

    assert issue.milestone_id == made.id
    assert set_milestone(bench.world, bench.owner, issue, None).milestone_id is None
    assert bench.kinds(issue) == ["milestoned", "demilestoned"]
    with pytest.raises(Unprocessable):
        set_milestone(bench.world, bench.owner, issue, 99)


def test_a_private_repository_does_not_exist_for_strangers(bench: Bench) -> None:
    stranger = add_user(bench.world, "stranger")
    add_token(bench.world, stranger, "strange")

    for actor in (ANONYMOUS, authenticate(bench.world, "strange")):
        with pytest.raises(NotFound):
            find_repository(bench.world, actor, "octo", "demo")
    assert find_repository(bench.world, bench.reader, "OCTO", "Demo") == bench.repository
    assert [role_of(bench.world, bench.repository, user) for user in (None, stranger)] == [
        Role.NONE,
        Role.NONE,
    ]


def test_tokens_expire_and_unknown_ones_are_refused(bench: Bench) -> None:
    expires_at = bench.clock.now() + timedelta(hours=1)
    add_token(bench.world, bench.owner.known, "short", expires_at=expires_at)
    assert authenticate(bench.world, "short").known == bench.owner.known
    bench.clock.advance(3600)

    for token in ("short", "unknown"):
        with pytest.raises(Unauthenticated, match="Bad credentials"):
            authenticate(bench.world, token)


def test_a_token_carries_no_more_than_its_permissions(bench: Bench) -> None:
    add_token(bench.world, bench.bot.known, "issues", kind="installation", permissions={"issues": "write"})
    narrow = authenticate(bench.world, "issues")

    assert create_comment(bench.world, narrow, bench.issue(), "May").body == "May"
    with pytest.raises(Forbidden, match="Resource not accessible by integration"):
        change_repository(bench.world, narrow, bench.repository, description="May not")


def test_an_archived_repository_is_read_only_and_disabled_issues_are_gone(bench: Bench) -> None:
    issue = bench.issue()
    change_repository(bench.world, bench.owner, bench.repository, has_issues=False)
    with pytest.raises(Gone):
        find_issue(bench.world, bench.repository, issue.number)
    change_repository(bench.world, bench.owner, bench.repository, has_issues=True, is_archived=True)
    with pytest.raises(Forbidden, match="archived"):
        create_comment(bench.world, bench.owner, issue, "Too late")
    change_repository(bench.world, bench.owner, bench.repository, is_archived=False)
    assert create_comment(bench.world, bench.owner, issue, "In time").id


def test_an_app_is_never_more_than_a_contributor(bench: Bench) -> None:
    ids = [actor.known.id for actor in (bench.owner, bench.writer, bench.bot)]

    assert [association(bench.world, bench.repository, each) for each in ids] == [
        "OWNER",
        "COLLABORATOR",
        "CONTRIBUTOR",
    ]
