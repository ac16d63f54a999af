"""Opening and changing pull requests."""

import pytest

from cogworks.hub.actions.access import authenticate
from cogworks.hub.actions.pulls import (
    close_pull,
    create_pull,
    find_open_pull,
    pull_part,
    remove_reviewers,
    reopen_pull,
    request_reviewers,
    retarget_pull,
)
from cogworks.hub.actions.refs import create_ref, delete_ref
from cogworks.hub.actions.repositories import change_repository
from cogworks.hub.records import Issue
from cogworks.hub.refusals import Forbidden, Unprocessable
from cogworks.hub.seeding import add_token
from tests.hub.bench import Bench


def opened(bench: Bench, head: str, base: str = "main") -> Issue:
    return create_pull(bench.world, bench.writer, bench.repository, title="Title", head=head, base=base)


def test_issues_and_pull_requests_share_their_numbers(bench: Bench) -> None:
    assert [bench.issue().number, bench.pull("topic").number, bench.issue().number] == [1, 2, 3]


@pytest.mark.parametrize(
    ("head", "base", "reason"),
    [
        ("none", "main", "Validation Failed"),
        ("topic", "none", "Validation Failed"),
        ("stranger:topic", "main", "Validation Failed"),
        ("same", "main", "No commits between main and same"),
        ("topic", "main", "A pull request already exists for octo:topic."),
        ("octo:topic", "main", "A pull request already exists for octo:topic."),
    ],
    ids=["no-head", "no-base", "no-fork", "no-commits", "exists", "exists-with-owner"],
)
def test_a_pull_request_that_makes_no_sense_is_refused(
    bench: Bench, head: str, base: str, reason: str
) -> None:
    bench.pull("topic")
    create_ref(bench.world, bench.writer, bench.repository, "refs/heads/same", bench.tip())

    with pytest.raises(Unprocessable) as refused:
        opened(bench, head, base)

    assert refused.value.detail == reason


def test_a_second_one_may_be_opened_for_another_base_or_after_the_first_is_closed(bench: Bench) -> None:
    first = bench.pull("topic")
    bench.commit("base", {"base.txt": "1"})
    second = opened(bench, "topic", "base")
    close_pull(bench.world, bench.writer, first)
    third = opened(bench, "topic")

    assert second.number < third.number
    assert find_open_pull(bench.world, bench.repository, "topic", "main") == third
    with pytest.raises(Unprocessable, match="Validation Failed"):
        reopen_pull(bench.world, bench.writer, first)


def test_a_body_that_names_an_issue_shows_up_there(bench: Bench) -> None:
    issue = bench.issue()
    pull = bench.pull("topic", body=f"Part of #{issue.number} and again #{issue.number}")

    assert bench.kinds(issue) == ["cross_referenced"]
    assert bench.kinds(pull) == []


def test_workflows_open_pull_requests_only_where_an_administrator_lets_them(bench: Bench) -> None:
    add_token(bench.world, bench.bot.known, "workflow", kind="actions")
    workflow = authenticate(bench.world, "workflow")

    with pytest.raises(Forbidden, match="GitHub Actions is not permitted to create or approve pull requests"):
        bench.pull("topic", actor=workflow)
    change_repository(bench.world, bench.owner, bench.repository, actions_may_open_pull_requests=True)
    assert bench.pull("topic", actor=workflow).pull is not None


def test_a_closed_one_is_reopened_only_while_its_branches_exist(bench: Bench) -> None:
    bench.commit("base", {"base.txt": "1"})
    pull = close_pull(bench.world, bench.writer, bench.pull("topic", base="base"))
    assert reopen_pull(bench.world, bench.writer, pull).is_open
    base = bench.tip("base")
    delete_ref(bench.world, bench.writer, bench.repository, "refs/heads/base")

    with pytest.raises(Unprocessable) as refused:
        reopen_pull(bench.world, bench.writer, pull)
    create_ref(bench.world, bench.writer, bench.repository, "refs/heads/base", base)
    again = retarget_pull(bench.world, bench.writer, reopen_pull(bench.world, bench.writer, pull), "main")

    assert refused.value.detail == "state cannot be changed. The base branch has been deleted."
    assert (again.state, pull_part(again).base_branch, pull_part(again).base_oid) == (
        "open",
        "main",
        bench.tip(),
    )


def test_a_closed_one_keeps_the_head_it_had(bench: Bench) -> None:
    pull = close_pull(bench.world, bench.writer, bench.pull("topic"))
    bench.commit("topic", {"late.txt": "1"})

    assert bench.now(pull) == pull


def test_reviewers_are_collaborators_and_never_the_author(bench: Bench) -> None:
    pull = bench.pull("topic")
    asked = request_reviewers(bench.world, bench.writer, pull, ("octo", "rita"))

    assert pull_part(asked).requested_reviewer_ids == (bench.owner.known.id, bench.reader.known.id)
    assert pull_part(remove_reviewers(bench.world, bench.writer, pull, ("octo",))).requested_reviewer_ids == (
        bench.reader.known.id,
    )
    for login in ("ada", "stranger"):
        with pytest.raises(Unprocessable):
            request_reviewers(bench.world, bench.writer, pull, (login,))
