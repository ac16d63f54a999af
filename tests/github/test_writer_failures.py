"""What becomes of a publication when requests, answers or the program itself are lost."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pytest

from cogworks.errors import CogworksError, PermissionRefused, TryAgainLater
from cogworks.forge.effects import Effect
from cogworks.forge.publication import Published
from cogworks.github.documents import Answer, GraphQLProblem, OutcomeUnknown
from tests.exhaustive import tasted
from tests.github.fake_github import FakeGitHub, Killed
from tests.github.visit import (
    COMMENT,
    COMMIT,
    LINK,
    OTHER_VISIT,
    PULL,
    SPEC,
    publish,
    spec_pull,
    sub_issue,
)


@pytest.mark.parametrize("lost", ["lose_answers", "lose_requests"])
def test_a_lost_answer_leaves_everything_there_exactly_once(lost: str) -> None:
    github = FakeGitHub()
    getattr(github, lost).add(1)

    published = publish(github, COMMIT, PULL, COMMENT)

    assert published.pull_requests == (spec_pull(),)
    assert [len(github.pulls), len(github.comments[4]), len(github.heads[SPEC])] == [1, 1, 2]
    assert github.slept[0] == 2.0


@pytest.mark.parametrize("lost", ["lose_answers", "lose_requests"])
def test_a_lost_answer_among_sub_issues_creates_none_twice(lost: str) -> None:
    github = FakeGitHub()
    getattr(github, lost).add(2)

    published = publish(github, *[sub_issue(f"k{place}") for place in range(12)])

    assert [made.key for made in published.sub_issues] == [f"k{place}" for place in range(12)]
    assert sorted(issue["title"] for issue in github.issues.values()) == sorted(
        f"Part k{n}" for n in range(12)
    )


def test_a_list_that_lags_behind_does_not_lead_to_a_second_comment() -> None:
    github = FakeGitHub(lose_answers={1}, lists_behind=1)

    published = publish(github, COMMENT)

    assert len(github.comments[4]) == 1
    assert [comment.topic for comment in published.comments] == ["status"]
    assert (github.slept, github.reads) == ([2.0, 2.0], 2)


@pytest.mark.parametrize("said", [None, {"commentEdge": {"node": {}}}, {"commentEdge": "x"}, 7])
def test_an_answer_that_says_nothing_is_looked_into_before_anything_is_repeated(said: Any) -> None:
    class Silent(FakeGitHub):
        def mutate(self, document: str, variables: Mapping[str, Any]) -> Answer:
            answer = super().mutate(document, variables)
            return Answer({"e0": said}, (), answer.server_date) if len(self.documents) == 1 else answer

    github = Silent()

    published = publish(github, COMMENT)

    assert len(github.comments[4]) == len(published.comments) == 1
    assert len(github.documents) == 1


def test_an_answer_lost_twice_is_left_to_the_next_step() -> None:
    github = FakeGitHub(lose_requests={1, 2})

    with pytest.raises(OutcomeUnknown):
        publish(github, COMMENT)
    assert len(github.documents) == 2


def test_a_crash_before_the_last_document_is_completed_by_the_next_run() -> None:
    github = FakeGitHub(lose_requests={2, 3})
    effects = [sub_issue(key) for key in "abcdefg"]
    with pytest.raises(OutcomeUnknown):
        publish(github, *effects)

    published = publish(github, *effects)

    assert len(published.sub_issues) == len(github.issues) == 7


FATES = ("fine", "lose_answers", "lose_requests", "crash_before", "crash_after")


@pytest.mark.parametrize("lists_behind", [0, 1])
@pytest.mark.parametrize("first", FATES)
def test_whatever_befalls_the_first_four_documents_everything_is_there_once_in_the_end(
    first: str, lists_behind: int
) -> None:
    """Every schedule: each document passes, loses its request or its answer, or the program is killed around it."""
    effects: tuple[Effect, ...] = (COMMIT, PULL, COMMENT, *[sub_issue(key) for key in "abcdefg"], LINK)
    schedules = product(FATES, repeat=3)
    for fates in tasted(schedules, days=4):
        github = FakeGitHub(lists_behind=lists_behind)
        for document, fate in enumerate((first, *fates), start=1):
            if fate != "fine":
                getattr(github, fate).add(document)

        published = run_until_published(github, effects)

        there = (len(github.heads[SPEC]), len(github.pulls), len(github.comments[4]), len(github.issues))
        assert there == (2, 1, 1, 7), fates
        assert len(published.sub_issues) == 7
        assert github.blocked_by in ([], [("I12", "I11")])


def run_until_published(github: FakeGitHub, effects: Sequence[Effect]) -> Published:
    for _ in range(6):
        try:
            return publish(github, *effects)
        except (OutcomeUnknown, Killed):
            continue
    raise AssertionError("six runs were not enough")


def test_a_pull_request_that_does_not_see_its_new_branch_is_sent_alone_once() -> None:
    def not_visible(github: FakeGitHub, mutation: str, given: Mapping[str, Any]) -> GraphQLProblem | None:
        if mutation == "createPullRequest" and len(github.documents) == 1:
            return GraphQLProblem((), "UNPROCESSABLE", "No commits between main and cogworks/4/spec")
        return None

    github = FakeGitHub(faults=[not_visible])

    published = publish(github, COMMIT, PULL)

    assert published.pull_requests == (spec_pull(),)
    assert github.documents[1:] == [["createPullRequest"]]
    assert (github.slept, github.reads) == ([], 0)


def test_a_pull_request_without_any_change_ends_with_githubs_reason() -> None:
    github = FakeGitHub()
    github.heads[SPEC] = list(github.heads["main"])

    with pytest.raises(CogworksError, match="No commits between main and cogworks/4/spec"):
        publish(github, PULL)


def test_a_pull_request_that_somebody_opened_meanwhile_is_adopted() -> None:
    github = FakeGitHub()
    publish(github, COMMIT)
    before = github.snapshot()
    publish(github, PULL)

    assert publish(github, PULL, snapshot=before).pull_requests == (spec_pull(),)
    assert len(github.pulls) == 1


def test_a_branch_that_somebody_else_moved_meanwhile_is_left_alone() -> None:
    github = FakeGitHub()
    publish(github, COMMIT)
    before = github.snapshot()
    github.add_commit(SPEC, "A person's commit")
    rework = COMMIT.model_copy(update={"visit_key": OTHER_VISIT})

    with pytest.raises(TryAgainLater, match=r"somebody moved branch .* Nothing of theirs was touched"):
        publish(github, rework, PULL, snapshot=before)
    assert github.heads[SPEC][-1][1] == "A person's commit"
    assert [pull["open"] for pull in github.pulls] == [False]


def test_a_stale_answer_with_nobody_else_at_work_is_tried_once_more() -> None:
    def lagging(github: FakeGitHub, mutation: str, given: Mapping[str, Any]) -> GraphQLProblem | None:
        if mutation == "createCommitOnBranch" and len(github.documents) == 2:
            return GraphQLProblem((), "STALE_DATA", "Expected branch to point to ... but it did not.")
        return None

    github = FakeGitHub(faults=[lagging])
    publish(github, COMMIT)
    rework = COMMIT.model_copy(update={"visit_key": OTHER_VISIT})

    published = publish(github, rework)

    assert published.commits[0].oid == github.heads[SPEC][-1][0]
    assert len(github.heads[SPEC]) == 3


@pytest.mark.parametrize(
    ("effect", "refused", "kind", "message"),
    [
        (
            PULL,
            "createPullRequest",
            PermissionRefused,
            "refused to open a pull request from 'cogworks/4/spec' to 'main'",
        ),
        (COMMENT, "addComment", PermissionRefused, "refused to post the comment 'status' on #4"),
        (
            sub_issue("a"),
            "createIssue",
            PermissionRefused,
            r"refused to create the sub-issue 'a' \('Part a'\)",
        ),
    ],
    ids=["pull-request", "comment", "sub-issue"],
)
def test_a_refusal_names_what_was_refused_and_is_not_repeated(
    effect: Effect, refused: str, kind: type[CogworksError], message: str
) -> None:
    def forbidden(github: FakeGitHub, mutation: str, given: Mapping[str, Any]) -> GraphQLProblem | None:
        return GraphQLProblem((), "FORBIDDEN", "not permitted") if mutation == refused else None

    github = FakeGitHub(faults=[forbidden])

    with pytest.raises(kind, match=message):
        publish(github, COMMIT, effect)
    assert len(github.documents) <= 2


@pytest.mark.parametrize("github", [FakeGitHub(lose_requests={2}), FakeGitHub(lose_answers={2})])
def test_links_without_an_answer_are_sent_again(github: FakeGitHub) -> None:
    published = publish(github, sub_issue("a"), sub_issue("b"), LINK)

    assert github.blocked_by == [("I12", "I11")]
    assert (published.warnings, github.reads) == ((), 0)


def test_links_that_get_no_answer_twice_are_a_warning() -> None:
    github = FakeGitHub(lose_requests={2, 3})

    published = publish(github, sub_issue("a"), sub_issue("b"), LINK)

    assert published.warnings == ("dependency links may be missing: the answer is lost",)
    assert [len(sent) for sent in github.documents] == [2, 1, 1]
