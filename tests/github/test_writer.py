from collections.abc import Sequence

import pytest

from cogworks.errors import CogworksError, UsageError
from cogworks.forge.bodies import marked, parse_marker, text_below_marker
from cogworks.forge.effects import (
    AddReaction,
    EditComment,
    Effect,
    FileText,
    LinkDependency,
    PushBranch,
    SetBase,
    SetLabels,
)
from cogworks.forge.publication import (
    PublicationContext,
    Published,
    PublishedComment,
    PublishedCommit,
    PublishedSubIssue,
)
from cogworks.github.writer import Writer
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, SubItemKey
from tests.github.fake_github import STRANGER, VIEWER, FakeGitHub
from tests.github.visit import (
    COMMENT,
    COMMIT,
    ISSUE,
    LINK,
    OTHER_VISIT,
    PULL,
    SPEC,
    VISIT,
    publish,
    spec_pull,
    sub_issue,
)


def test_branch_commit_and_pull_request_travel_in_one_document() -> None:
    github = FakeGitHub()

    published = publish(github, COMMIT, PULL)

    tip, message = github.heads[SPEC][-1]
    assert published == Published(
        commits=(PublishedCommit(branch=SPEC, oid=CommitOid(tip)),), pull_requests=(spec_pull(),)
    )
    assert github.documents == [["createRef", "createCommitOnBranch", "createPullRequest"]]
    assert github.reads == 0
    assert message == f"Specify\n\nCogworks-Visit: {VISIT}"
    assert github.files[SPEC] == {"docs/spec.md": "# Spec\n"}


def test_nothing_to_publish_sends_nothing() -> None:
    github = FakeGitHub()

    assert publish(github) == Published()
    assert (github.documents, github.reads) == ([], 0)


def test_what_a_dead_run_left_is_adopted_and_only_the_rest_is_sent() -> None:
    github = FakeGitHub()
    publish(github, COMMIT)

    published = publish(github, COMMIT, PULL)

    assert github.documents[1:] == [["createPullRequest"]]
    assert published.commits == (PublishedCommit(branch=SPEC, oid=CommitOid(github.heads[SPEC][-1][0])),)


def test_publishing_everything_again_sends_nothing_and_learns_the_same() -> None:
    github = FakeGitHub()
    effects = (COMMIT, PULL, COMMENT, sub_issue("a"), sub_issue("b"))
    first = publish(github, *effects)
    sent = len(github.documents)

    assert publish(github, *effects) == first
    assert len(github.documents) == sent


def test_a_second_visit_commits_on_top_of_the_branch_as_it_was_read() -> None:
    github = FakeGitHub()
    publish(github, COMMIT, PULL)
    rework = COMMIT.model_copy(update={"visit_key": OTHER_VISIT, "headline": "Rework"})

    published = publish(github, rework, PULL)

    assert github.documents[1:] == [["createCommitOnBranch"]]
    assert [message.split("\n")[0] for _, message in github.heads[SPEC]] == ["initial", "Specify", "Rework"]
    assert published.pull_requests == (spec_pull(),)


def test_a_branch_starts_from_another_branch_of_the_item() -> None:
    github = FakeGitHub()
    publish(github, COMMIT)
    base_tip = github.heads[SPEC][-1][0]
    on_top = COMMIT.model_copy(
        update={"branch": BranchName("cogworks/4/swi-2"), "base": SPEC, "visit_key": OTHER_VISIT}
    )

    publish(github, on_top)

    assert github.heads["cogworks/4/swi-2"][-2][0] == base_tip


def test_a_base_that_is_gone_is_named() -> None:
    effect = COMMIT.model_copy(update={"base": BranchName("cogworks/4/gone")})

    with pytest.raises(UsageError, match="branch 'cogworks/4/gone', which the work builds on, is gone"):
        publish(FakeGitHub(), effect)


def test_a_closed_pull_request_is_not_adopted() -> None:
    github = FakeGitHub()
    publish(github, COMMIT, PULL)
    github.pulls[0]["open"] = False

    assert publish(github, PULL).pull_requests == (spec_pull(102),)


def test_sub_issues_go_five_to_a_document_and_links_in_one_more() -> None:
    github = FakeGitHub()
    parts = [sub_issue(key) for key in "abcdefg"]

    published = publish(
        github, *parts, LINK, LinkDependency(blocked=SubItemKey("c"), blocking=SubItemKey("a"))
    )

    assert [len(sent) for sent in github.documents] == [5, 2, 2]
    assert published.sub_issues[0] == PublishedSubIssue(
        key=SubItemKey("a"), number=IssueNumber(11), node_id="I11", url="https://github.com/o/r/issues/11"
    )
    assert github.blocked_by == [("I12", "I11"), ("I13", "I11")]
    assert published.warnings == ()


def test_sub_issues_carry_their_marker_and_labels() -> None:
    github = FakeGitHub()

    publish(github, sub_issue("a", "cogworks:run", "bug"))

    marker = parse_marker(github.issues[11]["body"])
    assert marker is not None
    assert (marker.visit_key, marker.topic) == (VISIT, "a")
    assert text_below_marker(github.issues[11]["body"]) == "Do a."
    assert github.issues[11]["labelIds"] == ["L1", github.labels["bug"]]


def test_links_between_sub_issues_of_earlier_visits_are_made_and_repeating_them_is_fine() -> None:
    github = FakeGitHub()
    publish(github, sub_issue("a"), sub_issue("b"))
    context = PublicationContext(
        sub_items={SubItemKey("a"): IssueNumber(11), SubItemKey("b"): IssueNumber(12)}
    )

    first = publish(github, LINK, context=context)
    second = publish(github, LINK, context=context)

    assert github.blocked_by == [("I12", "I11")]
    assert (first.warnings, second.warnings) == ((), ())


def test_a_github_without_dependencies_costs_a_warning() -> None:
    github = FakeGitHub(knows_dependencies=False)

    published = publish(github, sub_issue("a"), sub_issue("b"), LINK)

    assert published.warnings == (
        "this GitHub has no dependencies between issues; the plan in the ledger has them",
    )
    assert len(published.sub_issues) == 2


def test_a_marker_copied_by_a_stranger_is_not_adopted() -> None:
    github = FakeGitHub()
    github.say(4, marked("Ours, honestly.", visit_key=VISIT, topic="status"), STRANGER)

    published = publish(github, COMMENT)

    assert [comment["author"]["login"] for comment in github.comments[4]] == ["eve", "ann"]
    assert published.comments[0].node_id == github.comments[4][1]["id"]


def test_a_marker_of_an_earlier_holder_is_adopted() -> None:
    github = FakeGitHub()
    github.say(4, marked("Working on it.", visit_key=VISIT, topic="status"), STRANGER)

    published = publish(github, COMMENT, context=PublicationContext(identities=(666,)))

    key = 2**31
    assert published.comments == (
        PublishedComment(
            topic="status",
            number=ISSUE,
            node_id=f"C{key}",
            database_id=key,
            url=f"https://github.com/o/r/issues/4#issuecomment-{key}",
        ),
    )
    assert github.documents == []


def test_a_comment_elsewhere_is_looked_for_in_its_own_thread() -> None:
    github = FakeGitHub()
    elsewhere = COMMENT.model_copy(update={"number": IssueNumber(9)})

    first = publish(github, elsewhere)
    second = publish(github, elsewhere)

    assert first == second
    assert len(github.comments[9]) == 1


def test_a_long_body_is_cut_and_keeps_its_marker() -> None:
    github = FakeGitHub()

    publish(github, COMMENT.model_copy(update={"body": "line\n" * 20_000}))

    body = github.comments[4][0]["body"]
    assert len(body) < 65_536
    assert parse_marker(body) is not None


def test_a_push_says_which_head_it_expects_and_comes_before_its_pull_request() -> None:
    github = FakeGitHub()
    oid = CommitOid("5" * 40)
    pushed: list[tuple[str, str, str | None]] = []

    def push(branch: BranchName, head: CommitOid, expected: CommitOid | None) -> None:
        pushed.append((branch, head, expected))
        github.heads[branch] = [*github.heads["main"], (head, "Work")]
        github.files[branch] = {}

    published = publish(github, PULL, PushBranch(branch=SPEC, oid=oid), push=push)
    again = publish(github, PushBranch(branch=SPEC, oid=oid), push=push)
    publish(github, PushBranch(branch=SPEC, oid=CommitOid("6" * 40)), push=push)

    assert pushed == [(SPEC, oid, None), (SPEC, "6" * 40, oid)]
    assert published.pull_requests == (spec_pull(),)
    assert again == Published(commits=(PublishedCommit(branch=SPEC, oid=oid),))


def test_a_push_without_a_way_to_push_is_refused() -> None:
    with pytest.raises(CogworksError, match="no way to push was given"):
        publish(FakeGitHub(), PushBranch(branch=SPEC, oid=CommitOid("5" * 40)))


def test_a_file_over_a_megabyte_is_refused_before_anything_is_sent() -> None:
    github = FakeGitHub()
    effect = COMMIT.model_copy(update={"files": (FileText(path="big.txt", text="x" * 1_000_001),)})

    with pytest.raises(CogworksError, match=r"'big\.txt' has 1000001 bytes"):
        publish(github, effect)
    assert github.documents == []


@pytest.mark.parametrize("is_there", [False, True])
def test_only_a_comment_that_github_showed_or_that_was_just_posted_is_edited(is_there: bool) -> None:
    github = FakeGitHub()
    before = github.snapshot()
    writer = Writer(github, lambda: github, sleep=github.sleep)
    if is_there:
        writer.publish([COMMENT], before, PublicationContext())
        [posted] = github.comments[ISSUE]
    else:
        posted = github.say(5, "of another issue", VIEWER)

    warning = writer.apply_views([EditComment(comment_id=posted["id"], body="new")], before)

    assert (warning is None, posted["body"] == "new") == (is_there, is_there)


def views(github: FakeGitHub, *effects: Effect) -> str | None:
    return Writer(github, lambda: github, sleep=github.sleep).apply_views(effects, github.snapshot())


def test_views_go_in_one_document_and_what_is_right_already_is_not_sent() -> None:
    github = FakeGitHub()
    comment = github.say(4, "old", VIEWER)
    labels = SetLabels(
        number=ISSUE, add=("cogworks:node:intake",), remove=("cogworks:run", "cogworks:never-there")
    )

    first = views(github, EditComment(comment_id=comment["id"], body="new"), labels)
    second = views(github, labels)

    assert (first, second) == (None, None)
    assert github.documents == [["updateIssueComment", "addLabelsToLabelable", "removeLabelsFromLabelable"]]
    assert github.on_issue == {"cogworks:node:intake"}
    assert comment["body"] == "new"


@pytest.mark.parametrize(
    ("github", "effects", "warning"),
    [
        (FakeGitHub(lose_requests={1}), [SetLabels(number=ISSUE, add=("bug",))], "the answer is lost"),
        (
            FakeGitHub(),
            [EditComment(comment_id="C1", body="x")],
            "comment C1 is not among those that GitHub shows on https://",
        ),
        (
            FakeGitHub(),
            [AddReaction(subject_id="C1", content="EYES")],
            "comment C1 is not among those that GitHub shows on",
        ),
        (
            FakeGitHub(),
            [SetBase(pull_id="P1", number=ISSUE, base=BranchName("main"))],
            "GitHub showed no pull request P1 of https://",
        ),
    ],
    ids=["lost", "comment-elsewhere", "reaction-elsewhere", "pull-elsewhere"],
)
def test_views_that_fail_are_a_warning_only(
    github: FakeGitHub, effects: Sequence[Effect], warning: str
) -> None:
    assert warning in (views(github, *effects) or "")
