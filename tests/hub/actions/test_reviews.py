"""Reviews and whose word counts."""

import pytest

from cogworks.hub.actions.pulls import pull_part
from cogworks.hub.actions.reviews import (
    InlineComment,
    ReviewEvent,
    create_review,
    create_review_comment,
    dismiss_review,
    latest_opinionated,
    pending_review,
    reply,
    resolve_thread,
    review_comments,
    reviews,
    submit_review,
)
from cogworks.hub.refusals import Unprocessable
from tests.hub.bench import Bench

CHANGED = {"src/adder.py": "def add(a, b):\n    return b + a\n"}


def test_a_review_stands_for_the_head_it_was_given_on(bench: Bench) -> None:
    pull = bench.pull("topic")
    first = bench.tip("topic")
    review = create_review(bench.world, bench.owner, pull, event="APPROVE")
    bench.commit("topic", {"more.txt": "1"})

    assert (review.commit_oid, review.state) == (first, "APPROVED")
    assert pull_part(bench.now(pull)).head_oid != first
    assert latest_opinionated(bench.world, pull) == [review]


@pytest.mark.parametrize("event", ["APPROVE", "REQUEST_CHANGES"])
def test_authors_do_not_judge_their_own_work(bench: Bench, event: ReviewEvent) -> None:
    pull = bench.pull("topic")

    with pytest.raises(Unprocessable) as refused:
        create_review(bench.world, bench.writer, pull, event=event, body="Well")

    assert refused.value.detail.endswith("your own pull request")
    assert reviews(bench.world, pull, bench.writer.user) == []


def test_the_last_word_of_each_reviewer_counts_and_comments_do_not(bench: Bench) -> None:
    pull = bench.pull("topic")
    create_review(bench.world, bench.owner, pull, event="REQUEST_CHANGES", body="No")
    approved = create_review(bench.world, bench.owner, pull, event="APPROVE")
    create_review(bench.world, bench.owner, pull, event="COMMENT", body="By the way")
    by_reader = create_review(bench.world, bench.reader, pull, event="REQUEST_CHANGES", body="Hm")

    assert latest_opinionated(bench.world, pull) == [approved, by_reader]
    assert latest_opinionated(bench.world, pull, writers_only=True) == [approved]


def test_a_pending_review_is_seen_by_its_author_only_and_there_is_one(bench: Bench) -> None:
    pull = bench.pull("topic")
    begun = create_review(bench.world, bench.owner, pull, body="So far")

    assert pending_review(bench.world, pull, bench.owner.known) == begun
    assert (reviews(bench.world, pull, bench.owner.user), reviews(bench.world, pull, bench.writer.user)) == (
        [begun],
        [],
    )
    with pytest.raises(Unprocessable, match="one pending review"):
        create_review(bench.world, bench.owner, pull)
    done = submit_review(bench.world, bench.owner, begun, event="COMMENT")
    assert (done.state, done.body, done.submitted_at) == ("COMMENTED", "So far", bench.clock.now())


def test_a_comment_needs_words(bench: Bench) -> None:
    pull = bench.pull("topic")

    events: tuple[ReviewEvent, ...] = ("COMMENT", "REQUEST_CHANGES")
    for event in events:
        with pytest.raises(Unprocessable):
            create_review(bench.world, bench.owner, pull, event=event)


def test_inline_comments_show_their_hunk(bench: Bench) -> None:
    pull = bench.pull("topic", files=CHANGED)
    comments = [
        InlineComment("src/adder.py", "Why?", line=2),
        InlineComment("src/adder.py", "Old", line=2, side="LEFT"),
    ]

    review = create_review(bench.world, bench.owner, pull, event="COMMENT", comments=comments)

    assert [(each.review_id, each.diff_hunk) for each in review_comments(bench.world, pull)] == [
        (review.id, "@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a + b\n+    return b + a"),
        (review.id, "@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a + b"),
    ]


@pytest.mark.parametrize(
    "comment",
    [
        InlineComment("src/adder.py", "x", line=9),
        InlineComment("none.py", "x", line=1),
        InlineComment("src/adder.py", "x", line=2, start_line=2),
        InlineComment("src/adder.py", "x", line=1, start_line=2),
    ],
    ids=["line", "path", "no-range", "backwards"],
)
def test_a_line_outside_the_diff_is_refused_with_the_whole_review(
    bench: Bench, comment: InlineComment
) -> None:
    pull = bench.pull("topic", files=CHANGED)

    with pytest.raises(Unprocessable):
        create_review(bench.world, bench.owner, pull, event="COMMENT", body="See", comments=[comment])

    assert (reviews(bench.world, pull), review_comments(bench.world, pull)) == ([], [])


def test_several_lines_are_of_one_hunk(bench: Bench) -> None:
    before = "".join(f"{number}\n" for number in range(1, 31))
    bench.commit("main", {"long.txt": before})
    after = before.replace("\n3\n", "\nthree\n").replace("\n27\n", "\ntwenty-seven\n")
    pull = bench.pull("topic", files={"long.txt": after})

    with pytest.raises(Unprocessable, match="Validation Failed"):
        create_review_comment(
            bench.world, bench.owner, pull, InlineComment("long.txt", "x", line=28, start_line=2)
        )
    made = create_review_comment(
        bench.world, bench.owner, pull, InlineComment("long.txt", "x", line=28, start_line=26)
    )

    assert (made.start_line, made.line) == (26, 28)


def test_a_thread_is_answered_and_resolved(bench: Bench) -> None:
    pull = bench.pull("topic", files=CHANGED)
    first = create_review_comment(
        bench.world, bench.owner, pull, InlineComment("src/adder.py", "Why?", line=2)
    )
    second = reply(bench.world, bench.writer, pull, first, "Because")
    third = reply(bench.world, bench.owner, pull, second, "I see")

    resolved = resolve_thread(bench.world, bench.writer, first, is_resolved=True)

    assert [each.in_reply_to_id for each in (second, third)] == [first.id, first.id]
    assert review_comments(bench.world, pull) == [resolved, second, third]


def test_a_dismissed_review_loses_its_weight(bench: Bench) -> None:
    pull = bench.pull("topic")
    review = create_review(bench.world, bench.owner, pull, event="APPROVE")

    dismissed = dismiss_review(bench.world, bench.writer, review, "Too early")

    assert [each.state for each in latest_opinionated(bench.world, pull)] == ["DISMISSED"]
    assert bench.kinds(pull) == ["review_dismissed"]
    with pytest.raises(Unprocessable):
        dismiss_review(bench.world, bench.writer, dismissed, "Again")
