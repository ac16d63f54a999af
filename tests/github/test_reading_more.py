"""Reads that one answer does not satisfy: further pages, smaller documents, files that are cut off."""

import base64
import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from cogworks.errors import CogworksError, TryAgainLater
from cogworks.github.documents import Answer, BrokenOff, GraphQLProblem, ResourceLimitsExceeded
from cogworks.github.reading import Habit, RememberedHere, SnapshotReader
from cogworks.unexpected import UnexpectedAnswer
from tests.github.test_reading import ADDRESS, NOW, RECORDED, WHOLE, Scripted, further_page

TOO_LARGE = ResourceLimitsExceeded("Resource limits for this query exceeded")
STATE = {
    "inputs": {"last_comment_id": 5_000_000_001, "trigger_event_id": "LE_1"},
    "pull_requests": [{"node_id": "PR_41"}],
    "status_comment": {"node_id": "IC_1"},
}


def recorded(state: Mapping[str, Any] | None = None) -> dict[str, Any]:
    data: dict[str, Any] = copy.deepcopy(RECORDED["data"])
    if state is not None:
        data["repository"]["ledger"]["target"]["file"]["object"]["text"] = json.dumps(state)
    return data


def older(name: str, data: dict[str, Any], *, split_at: int) -> Answer:
    """Takes the first entries of a list of the issue away into a page before it."""
    found = data["repository"]["issue"][name]
    page = {**found, "nodes": found["nodes"][:split_at]}
    found.update(nodes=found["nodes"][split_at:], pageInfo={"hasPreviousPage": True, "startCursor": "cursor"})
    return further_page(**{name: page})


def read(github: Scripted, **parts: Any) -> Any:
    return SnapshotReader(github, sleep=lambda _: None, **parts).read(ADDRESS)


@pytest.mark.parametrize(
    ("name", "document"),
    [("comments", "MoreComments"), ("inputs", "MoreLabelEvents"), ("references", "MoreReferences")],
)
def test_older_entries_are_read_until_the_list_is_whole(name: str, document: str) -> None:
    data = recorded()
    page = older(name, data, split_at=1)
    github = Scripted([Answer(data, (), NOW), page])

    snapshot = read(github)

    assert snapshot == read(Scripted([WHOLE]))
    text, variables = github.asked[1]
    assert document in text
    assert variables == {
        "owner": "octo-org",
        "name": "old-name",
        "number": 42,
        "ledger": "refs/heads/cogworks/ledger/42",
        "cursor": "cursor",
    }


def test_further_sub_issues_are_read_with_their_dependencies() -> None:
    data = recorded()
    found = data["repository"]["issue"]["subIssues"]
    second = {**found["nodes"][0], "id": "I_51", "number": 51}
    found.update(totalCount=2, pageInfo={"hasNextPage": True, "endCursor": "cursor"})
    last = {"totalCount": 2, "pageInfo": {"hasNextPage": False, "endCursor": "z"}, "nodes": [second]}
    github = Scripted([Answer(data, (), NOW), further_page(subIssues=last)])

    snapshot = read(github)

    assert [(item.number, item.blocked_by) for item in snapshot.issue.sub_issues] == [
        (50, (49,)),
        (51, (49,)),
    ]
    assert "blockedBy" in github.asked[1][0]


@pytest.mark.parametrize("name", ["comments", "inputs", "references"])
def test_lists_are_paged_back_only_to_what_the_ledger_recorded(name: str) -> None:
    data = recorded(STATE)
    found = data["repository"]["issue"][name]
    found["pageInfo"] = {"hasPreviousPage": True, "startCursor": "cursor"}
    github = Scripted([Answer(data, (), NOW)])

    read(github)

    assert len(github.asked) == 1


def test_a_status_comment_older_than_every_page_is_read_by_its_id() -> None:
    data = recorded({**STATE, "inputs": {"last_comment_id": 5_000_000_002}})
    comments = data["repository"]["issue"]["comments"]
    status = comments["nodes"].pop()
    comments["pageInfo"]["hasPreviousPage"] = True
    github = Scripted(
        [Answer(data, (), NOW), Answer({"nodes": [{**status, "issue": {"id": "I_42"}}]}, (), NOW)]
    )

    snapshot = read(github)

    assert [comment.node_id for comment in snapshot.issue.comments] == ["IC_1", "IC_2"]
    assert github.asked[1][1] == {"ids": ["IC_1"]}
    assert not snapshot.issue.has_all_comments
    assert (snapshot.issue.sought_comments, snapshot.strangers) == (("IC_1",), ())


def test_a_comment_of_another_issue_is_no_status_comment_whatever_the_ledger_says() -> None:
    data = recorded({**STATE, "inputs": {"last_comment_id": 5_000_000_002}})
    comments = data["repository"]["issue"]["comments"]
    foreign = {**comments["nodes"].pop(), "issue": {"id": "I_of_another"}}
    comments["pageInfo"]["hasPreviousPage"] = True

    snapshot = read(Scripted([Answer(data, (), NOW), Answer({"nodes": [foreign]}, (), NOW)]))

    assert [comment.node_id for comment in snapshot.issue.comments] == ["IC_2"]
    assert snapshot.strangers == ("comment IC_1 is not on this issue",)


def test_a_status_comment_that_is_gone_is_not_looked_for_in_a_whole_list() -> None:
    data = recorded({**STATE, "status_comment": {"node_id": "IC_deleted"}})
    github = Scripted([Answer(data, (), NOW)])

    read(github)

    assert len(github.asked) == 1


def test_a_page_of_another_moment_starts_the_read_again() -> None:
    data = recorded()
    page = older("comments", data, split_at=1)
    moved = copy.deepcopy(page.data["repository"])
    moved["ledger"]["target"]["oid"] = "9" * 40
    github = Scripted([Answer(data, (), NOW), Answer({"repository": moved}, (), NOW), WHOLE])

    assert read(github) == read(Scripted([WHOLE]))
    assert len(github.asked) == 3


def test_a_repository_that_never_rests_is_left_for_later() -> None:
    data = recorded()
    page = older("comments", data, split_at=1)
    moved = copy.deepcopy(page.data["repository"])
    moved["defaultBranchRef"]["target"]["oid"] = "9" * 40
    github = Scripted([Answer(data, (), NOW), Answer({"repository": moved}, (), NOW)] * 4)

    with pytest.raises(TryAgainLater, match="changed during each of 4 reads"):
        read(github)


def test_a_list_without_end_is_no_list() -> None:
    data = recorded()
    page = older("comments", data, split_at=1)
    page.data["repository"]["issue"]["comments"]["pageInfo"] = {"hasPreviousPage": True, "startCursor": "c"}

    with pytest.raises(UnexpectedAnswer, match=r"repository\.issue\.comments: a list of more than 50 pages"):
        read(Scripted([Answer(data, (), NOW), *[page] * 60]))


def halves() -> tuple[Answer, Answer]:
    core, work = recorded(), recorded()
    for name in ("subIssues", "references"):
        del core["repository"]["issue"][name]
    del core["repository"]["refs"]
    kept = {"id", "defaultBranchRef", "ledger", "refs", "issue"}
    work["repository"] = {name: value for name, value in work["repository"].items() if name in kept}
    short = {"defaultBranchRef": {"target": {"oid": "1" * 40}}, "ledger": {"target": {"oid": "4" * 40}}}
    work["repository"].update(short)
    whole = work["repository"]["issue"]
    work["repository"]["issue"] = {name: whole[name] for name in ("id", "subIssues", "references")}
    return Answer(core, (), NOW), Answer(work, (), NOW)


@pytest.mark.parametrize("failure", [TOO_LARGE, BrokenOff("answered 502"), BrokenOff("answered 504")])
def test_a_read_that_github_does_not_manage_is_halved_then_split_and_that_is_remembered(
    failure: Exception,
) -> None:
    habits = RememberedHere()
    github = Scripted([failure, failure, *halves(), *halves()])
    reader = SnapshotReader(github, sleep=lambda _: None, habits=habits)

    snapshots = [reader.read(ADDRESS), reader.read(ADDRESS)]

    assert snapshots == [read(Scripted([WHOLE]))] * 2
    names = [text.split("(")[0] for text, _ in github.asked]
    assert names == ["query WorkItem"] * 2 + ["query WorkItemCore", "query WorkItemWork"] * 2
    sizes = [(variables.get("page"), variables.get("branches")) for _, variables in github.asked]
    assert sizes == [(None, None), (50, 20), (50, None), (50, 20), (50, None), (50, 20)]
    assert github.repeats == [1, 1, 3, 3, 3, 3]
    assert habits.load() == Habit(size="split")


def test_half_a_read_is_enough_when_it_works_and_its_pages_are_as_small() -> None:
    data = recorded()
    page = older("comments", data, split_at=1)
    habits = RememberedHere()
    github = Scripted([TOO_LARGE, Answer(data, (), NOW), page])

    assert read(github, habits=habits) == read(Scripted([WHOLE]))
    assert github.asked[2][1]["page"] == 50
    assert habits.load() == Habit(size="half")


@pytest.mark.parametrize(
    "problem",
    [
        GraphQLProblem(("repository", "refs"), "RESOURCE_LIMITS_EXCEEDED", "Resource limits exceeded"),
        GraphQLProblem(("repository", "refs"), "", "Something went wrong while executing your query."),
    ],
    ids=["limits", "time-out"],
)
def test_a_part_that_github_gave_up_on_is_not_taken_for_an_empty_one(problem: GraphQLProblem) -> None:
    data = recorded()
    data["repository"]["refs"] = None

    assert read(Scripted([Answer(data, (problem,), NOW), WHOLE])) == read(Scripted([WHOLE]))


def test_an_outage_is_not_remembered() -> None:
    habits = RememberedHere()

    with pytest.raises(BrokenOff):
        read(Scripted([BrokenOff("answered 502")] * 3), habits=habits)
    assert habits.load() == Habit()


def test_two_halves_of_different_moments_are_read_again() -> None:
    habits = RememberedHere()
    habits.keep(Habit(size="split"))
    core, work = halves()
    stale = copy.deepcopy(work.data)
    stale["repository"]["ledger"]["target"]["oid"] = "9" * 40
    github = Scripted([core, Answer(stale, (), NOW), core, work])

    assert read(github, habits=habits) == read(Scripted([WHOLE]))


@dataclass
class Blobs:
    """Whole files by object id."""

    contents: Mapping[str, bytes]
    asked: list[str] = field(default_factory=list)

    def read_blob(self, oid: str) -> bytes:
        self.asked.append(oid)
        return self.contents[oid]


def cut(data: dict[str, Any]) -> None:
    configuration = data["repository"]["defaultBranchRef"]["target"]["configuration"]["object"]
    configuration["entries"][0]["object"] = {
        "oid": "a1",
        "text": "[lab",
        "isTruncated": True,
        "isBinary": False,
    }
    logo = {"oid": "b2", "text": None, "isTruncated": True, "isBinary": True}
    configuration["entries"][1]["object"] = logo
    state = {"oid": "c3", "text": '{"sche', "isTruncated": True, "isBinary": False}
    data["repository"]["ledger"]["target"]["file"]["object"] = state


def test_files_that_are_cut_off_are_fetched_whole_by_their_object_id() -> None:
    data = recorded()
    cut(data)
    blobs = Blobs({"a1": b"[labels]\n", "c3": b'{"schema_version": "1"}'})

    snapshot = read(Scripted([Answer(data, (), NOW)]), blobs=lambda: blobs)

    assert snapshot == read(Scripted([WHOLE]))
    assert blobs.asked == ["a1", "c3"]


def test_a_cut_file_that_is_not_text_is_left_out() -> None:
    data = recorded()
    cut(data)
    blobs = Blobs({"a1": base64.b64decode("/w=="), "c3": b"{}"})

    snapshot = read(Scripted([Answer(data, (), NOW)]), blobs=lambda: blobs)

    assert set(snapshot.repository.config_files) == {"prompts/intake.md.j2"}


def test_without_a_source_of_blobs_a_cut_file_is_an_error_and_never_half_a_configuration() -> None:
    data = recorded()
    cut(data)

    with pytest.raises(CogworksError, match=r"'config\.toml' is too large"):
        read(Scripted([Answer(data, (), NOW)]))


@pytest.mark.parametrize("name", ["comments", "subIssues"])
def test_a_list_that_is_longer_or_shorter_than_its_count_is_read_again(name: str) -> None:
    data = recorded()
    data["repository"]["issue"][name]["totalCount"] += 1
    github = Scripted([Answer(data, (), NOW), WHOLE])

    read(github)

    assert len(github.asked) == 2


def test_branches_that_do_not_fit_their_count_are_read_again() -> None:
    data = recorded()
    data["repository"]["refs"]["nodes"].pop()
    github = Scripted([Answer(data, (), NOW), WHOLE])

    assert len(read(github).branches) == 2
