"""Remarks at lines of a pull request: made once, left out where they stand already, and never lost without a word."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from cogworks.errors import CogworksError, PermissionRefused
from cogworks.forge.bodies import marked, text_below_marker
from cogworks.forge.effects import LineRemark, PostReview
from cogworks.github.documents import Answer, GraphQLProblem
from cogworks.vocabulary import CommitOid
from tests.github.fake_github import STRANGER, FakeGitHub
from tests.github.test_writer_failures import FATES, run_until_published
from tests.github.visit import COMMIT, MAIN, OTHER_VISIT, PULL, SPEC, VISIT, publish

ONE = LineRemark(key="one", path="docs/spec.md", first_line=1, last_line=1, body="Say more.")
TWO = LineRemark(key="two", path="docs/spec.md", first_line=2, last_line=4, body="Say less.")
REVIEW = PostReview(
    branch=SPEC,
    base=MAIN,
    head=CommitOid("e" * 40),
    body="For you to decide.",
    remarks=(ONE, TWO),
    visit_key=VISIT,
)
LATER = REVIEW.model_copy(update={"head": CommitOid("f" * 40), "visit_key": OTHER_VISIT})


def said(github: FakeGitHub) -> list[tuple[str, list[str]]]:
    """Body and remarks of each review, without what nobody sees."""
    return [
        (
            text_below_marker(review["body"]),
            [text_below_marker(each["body"]) for each in review["comments"]["nodes"]],
        )
        for review in github.reviews.get(101, ())
    ]


ONCE = [("For you to decide.", ["Say more.", "Say less."])]


def refusing(
    *numbers: int, message: str = "line must be part of the diff", kind: str = "UNPROCESSABLE"
) -> Any:
    """Refuses those reviews, counted from 1."""
    asked = 0

    def fault(github: FakeGitHub, mutation: str, given: Mapping[str, Any]) -> GraphQLProblem | None:
        nonlocal asked
        if mutation != "addPullRequestReview":
            return None
        asked += 1
        return GraphQLProblem((), kind, message) if asked in numbers else None

    return fault


def test_a_new_pull_request_gets_its_remarks_with_one_request_more() -> None:
    github = FakeGitHub()

    published = publish(github, COMMIT, PULL, REVIEW)

    assert published.warnings == ()
    assert github.documents[1:] == [["addPullRequestReview"]]
    assert (github.reads, said(github)) == (0, ONCE)
    first, second = github.reviews[101][0]["comments"]["nodes"]
    assert (first["path"], first["line"], first["side"], "startLine" in first) == (
        "docs/spec.md",
        1,
        "RIGHT",
        False,
    )
    assert (second["startLine"], second["startSide"], second["line"]) == (2, "RIGHT", 4)
    assert github.reviews[101][0]["commit"] == "e" * 40


def test_the_same_visit_says_it_once() -> None:
    github = FakeGitHub()

    for _ in range(2):
        publish(github, COMMIT, PULL, REVIEW)

    assert (said(github), github.reads) == (ONCE, 2)


def test_a_later_round_says_what_was_not_said_before() -> None:
    github = FakeGitHub()
    publish(github, COMMIT, PULL, REVIEW)
    new = ONE.model_copy(update={"key": "three", "body": "And this."})

    publish(github, PULL, LATER.model_copy(update={"remarks": (TWO, new)}))
    publish(github, PULL, LATER.model_copy(update={"remarks": (TWO,)}))

    assert said(github) == [*ONCE, ("For you to decide.", ["And this."])]


@pytest.mark.parametrize("author", [STRANGER, None], ids=["stranger", "gone"])
def test_what_somebody_else_marked_as_ours_is_not_taken_for_ours(author: dict[str, Any] | None) -> None:
    github = FakeGitHub()
    publish(github, COMMIT, PULL)
    body = marked("x", visit_key=VISIT, topic=f"review:{'e' * 12}")
    github.reviews[101] = [{"body": body, "author": author, "comments": {"nodes": []}}]

    publish(github, PULL, REVIEW)

    assert said(github)[1:] == ONCE


@pytest.mark.parametrize("lists_behind", [0, 1])
def test_whatever_befalls_its_documents_a_review_is_there_once_in_the_end(lists_behind: int) -> None:
    for fates in product(FATES, repeat=3):
        github = FakeGitHub(lists_behind=lists_behind)
        for number, fate in enumerate(fates, start=1):
            if fate != "fine":
                getattr(github, fate).add(number)

        run_until_published(github, (COMMIT, PULL, REVIEW))

        assert (len(github.pulls), said(github)) == (1, ONCE), fates


def test_where_no_line_is_taken_all_of_it_stands_in_the_body() -> None:
    github = FakeGitHub(faults=[refusing(1)])

    published = publish(github, COMMIT, PULL, REVIEW)

    assert published.warnings == ()
    body = "For you to decide.\n\n`docs/spec.md` line 1:\n\nSay more.\n\n`docs/spec.md` lines 2 to 4:\n\nSay less."
    assert said(github) == [(body, [])]


def test_a_review_that_is_refused_for_good_is_a_warning() -> None:
    github = FakeGitHub(faults=[refusing(*range(1, 9), message="User can only have one pending review")])

    published = publish(github, COMMIT, PULL, REVIEW)

    assert len(published.pull_requests) == 1
    [warning] = published.warnings
    assert warning == (
        "could not post the remarks of the review, so they are only in the ledger: GitHub refused to remark on lines of #101: UNPROCESSABLE, "
        "User can only have one pending review (at review). Nothing was changed by this part."
    )
    assert len(github.documents) == 3


def test_a_token_that_may_not_is_a_warning() -> None:
    class Closed(FakeGitHub):
        def mutate(self, document: str, variables: Mapping[str, Any]) -> Answer:
            if "addPullRequestReview" in document:
                raise PermissionRefused("the token lacks pull_requests:write")
            return super().mutate(document, variables)

    [warning] = publish(Closed(), COMMIT, PULL, REVIEW).warnings

    assert "the token lacks pull_requests:write" in warning


@pytest.mark.parametrize("kind", ["INTERNAL", "RATE_LIMITED"])
def test_what_may_pass_later_is_left_to_the_next_step(kind: str) -> None:
    github = FakeGitHub(faults=[refusing(1, 2, 3, kind=kind, message="later")])

    with pytest.raises(CogworksError, match="run the step again later"):
        publish(github, COMMIT, PULL, REVIEW)
    publish(github, COMMIT, PULL, REVIEW)

    assert said(github) == ONCE


def test_without_its_pull_request_a_review_is_a_warning() -> None:
    github = FakeGitHub()

    [warning] = publish(github, REVIEW).warnings

    assert warning.startswith("branch 'cogworks/4/spec' has no pull request to remark on")
    assert github.documents == []


def test_nothing_is_said_where_nobody_can_tell_what_stands_there() -> None:
    class Blind(FakeGitHub):
        def query(self, document: str, variables: Mapping[str, Any]) -> Answer:
            answer = super().query(document, variables)
            return (
                Answer({"repository": None}, (), answer.server_date) if "SaidAtLines" in document else answer
            )

    github = Blind()
    publish(github, COMMIT, PULL)

    with pytest.raises(CogworksError, match="refused to read the reviews of #101"):
        publish(github, PULL, REVIEW)
    assert github.reviews == {}
