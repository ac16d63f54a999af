"""Merging pull requests."""

import pytest

from cogworks.hub.actions.merging import merge_pull, merge_state, mergeability, update_branch
from cogworks.hub.actions.pulls import close_pull, pull_commits, pull_part, reopen_pull, set_draft
from cogworks.hub.actions.repositories import change_repository
from cogworks.hub.refusals import Conflict, Forbidden, NotMergeable, Refusal, Unprocessable
from tests.hub.bench import Bench


def test_mergeability_is_unknown_at_first_and_after_every_move(bench: Bench) -> None:
    pull = bench.pull("topic")

    assert [mergeability(bench.world, pull) for _ in range(3)] == ["UNKNOWN", "MERGEABLE", "MERGEABLE"]
    bench.commit("main", {"topic.txt": "another\n"})
    after = bench.now(pull)
    assert [mergeability(bench.world, after) for _ in range(2)] == ["UNKNOWN", "CONFLICTING"]
    assert merge_state(bench.world, after, "CONFLICTING") == "DIRTY"


def test_a_merge_commit_has_both_parents_and_closes_the_pull_request(bench: Bench) -> None:
    pull = bench.pull("topic")
    base, head = bench.tip(), bench.tip("topic")

    merged = merge_pull(bench.world, bench.owner, pull)

    made = bench.git.commit(bench.tip())
    assert made is not None
    assert made.parents == (base, head)
    assert made.message == f"Merge pull request #{pull.number} from octo/topic\n\nAdd topic\n"
    assert (merged.state, pull_part(merged).merge_commit_oid) == ("closed", made.oid)
    assert [commit.oid for commit in pull_commits(bench.world, merged)] == [head]
    assert bench.git.branch("topic") == head


def test_a_squash_is_one_commit_with_the_title(bench: Bench) -> None:
    pull = bench.pull("topic")
    base = bench.tip()
    bench.commit("topic", {"more.txt": "more\n"}, "More")

    merge_pull(bench.world, bench.owner, pull, method="squash")

    made = bench.git.commit(bench.tip())
    assert made is not None
    assert made.parents == (base,)
    assert made.message == f"Add topic (#{pull.number})\n\n* Change\n\n* More\n"
    assert {path for path, _ in bench.git.walk(made.tree)} >= {"topic.txt", "more.txt"}


def test_a_rebase_replays_every_commit_on_the_base(bench: Bench) -> None:
    pull = bench.pull("topic")
    bench.commit("topic", {"more.txt": "more\n"}, "More")
    base = bench.commit("main", {"other.txt": "other\n"}, "Other")

    merge_pull(bench.world, bench.owner, bench.now(pull), method="rebase")

    new = bench.git.log(bench.tip(), f"^{base}")
    assert [(commit.headline, commit.author.name) for commit in new] == [("More", "ada"), ("Change", "ada")]
    assert {path for path, _ in bench.git.walk(new[0].tree)} >= {"topic.txt", "more.txt", "other.txt"}


def test_a_merge_of_another_head_than_expected_is_refused(bench: Bench) -> None:
    pull = bench.pull("topic")
    old = bench.tip("topic")
    bench.commit("topic", {"more.txt": "more\n"})

    with pytest.raises(Conflict, match="Head branch was modified"):
        merge_pull(bench.world, bench.owner, pull, expected_head=old)


def test_what_conflicts_is_closed_or_a_draft_is_not_merged(bench: Bench) -> None:
    conflicting = bench.pull("clash", files={"README.md": "# Mine\n"})
    draft = set_draft(bench.world, bench.writer, bench.pull("draft"), is_draft=True)
    shut = close_pull(bench.world, bench.writer, bench.pull("shut"))
    bench.commit("main", {"README.md": "# Theirs\n"})

    for pull in (conflicting, draft, shut):
        with pytest.raises(NotMergeable):
            merge_pull(bench.world, bench.owner, pull)


def test_merging_twice_is_refused(bench: Bench) -> None:
    merged = merge_pull(bench.world, bench.owner, bench.pull("topic"))

    with pytest.raises(NotMergeable):
        merge_pull(bench.world, bench.owner, merged)
    with pytest.raises(Unprocessable):
        reopen_pull(bench.world, bench.owner, merged)


def test_a_reader_does_not_merge(bench: Bench) -> None:
    pull = bench.pull("topic")

    with pytest.raises(Forbidden):
        merge_pull(bench.world, bench.reader, pull)


def test_a_method_that_is_switched_off_is_refused(bench: Bench) -> None:
    change_repository(bench.world, bench.owner, bench.repository, allow_squash_merge=False)
    pull = bench.pull("topic")

    with pytest.raises(NotMergeable, match="Squash merges are not allowed"):
        merge_pull(bench.world, bench.owner, pull, method="squash")


def test_closing_words_close_issues_when_merged_into_the_default_branch(bench: Bench) -> None:
    first, second = bench.issue("First"), bench.issue("Second")
    merge_pull(
        bench.world, bench.owner, bench.pull("topic", body=f"Fixes #{first.number}, part of #{second.number}")
    )

    assert (bench.now(first).state, bench.now(second).state) == ("closed", "open")


def test_closing_words_do_nothing_on_another_base(bench: Bench) -> None:
    issue = bench.issue()
    bench.commit("base", {"base.txt": "1"})
    merge_pull(bench.world, bench.owner, bench.pull("topic", base="base", body=f"Fixes #{issue.number}"))

    assert bench.now(issue).state == "open"


def test_the_head_is_deleted_when_the_repository_says_so_and_its_dependents_move(bench: Bench) -> None:
    change_repository(bench.world, bench.owner, bench.repository, delete_branch_on_merge=True)
    pull = bench.pull("topic")
    bench.commit("topic", {"more.txt": "1"})
    dependent = bench.pull("dependent", base="topic")

    merge_pull(bench.world, bench.owner, bench.now(pull))

    after = bench.now(dependent)
    assert bench.git.branch("topic") is None
    assert (after.state, pull_part(after).base_branch) == ("open", "main")
    assert bench.kinds(pull) == ["merged", "closed", "head_ref_deleted"]


def test_the_base_is_merged_into_a_branch_that_fell_behind(bench: Bench) -> None:
    pull = bench.pull("topic")
    with pytest.raises(Unprocessable, match="no new commits"):
        update_branch(bench.world, bench.writer, pull)
    base = bench.commit("main", {"other.txt": "other\n"})

    after = update_branch(bench.world, bench.writer, pull)

    made = bench.git.commit(pull_part(after).head_oid)
    assert made is not None
    assert made.parents == (pull_part(pull).head_oid, base)


def test_a_refusal_leaves_nothing_behind(bench: Bench) -> None:
    pull = bench.pull("clash", files={"README.md": "# Mine\n"})
    base = bench.commit("main", {"README.md": "# Theirs\n"})
    before = bench.now(pull)

    with pytest.raises(Refusal):
        merge_pull(bench.world, bench.owner, pull)

    assert (bench.now(pull), bench.tip()) == (before, base)
