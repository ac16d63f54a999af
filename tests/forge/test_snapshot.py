import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cogworks.errors import CogworksError, ConfigurationError, PermissionRefused, TryAgainLater, UsageError
from cogworks.forge.addresses import IssueAddress
from cogworks.forge.facts import (
    Account,
    Branch,
    Checks,
    CheckSeen,
    Comment,
    LabelEvent,
    Ledger,
    LedgerCommit,
    PullRequest,
    Review,
    SubIssue,
    Viewer,
)
from cogworks.forge.snapshot import RepositoryFacts, Snapshot
from cogworks.github.documents import Answer, GraphQLProblem
from cogworks.github.parsing import parse_snapshot
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Login

RECORDED = json.loads(
    (Path(__file__).parents[1] / "data" / "github" / "answers" / "work-item.json").read_text("utf-8")
)
ADDRESS = IssueAddress("https://github.com", "octo-org", "old-name", IssueNumber(42))
NOW = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
ANN = Account(login=Login("ann"), id=7)
EVE = Account(login=Login("eve"), id=8)
COGS = Account(login=Login("cogs"), id=900, is_bot=True)
HEAD = CommitOid("1" * 40)
SPEC = BranchName("cogworks/42/spec")


def read(
    *problems: GraphQLProblem, change: Callable[[dict[str, Any]], object] = lambda data: None
) -> Snapshot:
    data = copy.deepcopy(RECORDED["data"])
    change(data)
    return parse_snapshot(Answer(data, problems, NOW), ADDRESS)


def test_the_repository_is_read_with_its_settings_at_the_head_of_the_default_branch() -> None:
    snapshot = read()

    assert snapshot.server_date == NOW
    assert snapshot.viewer == Viewer(login=Login("cogs[bot]"), id=900, is_app=True)
    assert snapshot.repository == RepositoryFacts(
        node_id="R_1",
        name_with_owner="octo-org/renamed",
        viewer_permission=None,
        default_branch=BranchName("main"),
        head_oid=HEAD,
        config_files={"config.toml": "[labels]\n", "prompts/intake.md.j2": "Read it."},
        label_ids={"cogworks:run": "LA_1", "cogworks:hold": "LA_2", "bug": "LA_9"},
    )


def test_the_ledger_is_read_with_its_history_and_state() -> None:
    claim = LedgerCommit(
        oid=CommitOid("4" * 40),
        message="cogworks: intake claim [skip ci]",
        committed_date=datetime(2026, 11, 21, 3, 59, tzinfo=UTC),
    )
    begin = LedgerCommit(
        oid=CommitOid("2" * 40),
        message="cogworks: ledger begin [skip ci]",
        committed_date=datetime(2026, 11, 20, 10, 0, tzinfo=UTC),
    )

    snapshot = read()

    assert snapshot.root_oid == "2" * 40
    assert snapshot.ledger == Ledger(
        oid=claim.oid,
        message=claim.message,
        committed_date=claim.committed_date,
        state_text='{"schema_version": "1"}',
        history=(claim, begin),
        author="cogs[bot]",
        is_signed_by_host=True,
    )


def test_comments_are_ordered_by_id_and_know_whether_they_were_edited() -> None:
    at_eleven = datetime(2026, 11, 20, 11, 0, tzinfo=UTC)
    where = "https://github.com/octo-org/renamed/issues/42#issuecomment"

    assert read().issue.comments == (
        Comment(
            node_id="IC_1",
            database_id=5_000_000_001,
            author=COGS,
            body="first",
            created_at=at_eleven,
            edited=False,
            viewer_did_author=True,
            url=f"{where}-5000000001",
        ),
        Comment(
            node_id="IC_2",
            database_id=5_000_000_002,
            author=None,
            body="second",
            created_at=at_eleven,
            edited=True,
            viewer_did_author=False,
            url=f"{where}-5000000002",
        ),
    )


def test_the_issue_is_read_with_its_labels_events_family_and_author() -> None:
    issue = read().issue

    assert (issue.node_id, issue.number, issue.title, issue.state, issue.locked) == (
        "I_42",
        42,
        "Wrong sum",
        "open",
        False,
    )
    assert (issue.author, issue.labels, issue.parent) == (EVE, ("bug", "cogworks:run"), 40)
    assert issue.label_events == (
        LabelEvent(
            id="LE_1",
            label="cogworks:run",
            added=True,
            actor=ANN,
            created_at=datetime(2026, 11, 20, 9, 0, tzinfo=UTC),
        ),
        LabelEvent(
            id="LE_2",
            label="wontfix",
            added=False,
            actor=None,
            created_at=datetime(2026, 11, 20, 9, 30, tzinfo=UTC),
        ),
    )
    assert issue.sub_issues == (
        SubIssue(
            node_id="I_50",
            number=IssueNumber(50),
            title="Part a",
            body="Do it.",
            state="closed",
            author=COGS,
            url="https://github.com/octo-org/renamed/issues/50",
            blocked_by=(IssueNumber(49),),
        ),
    )


def test_pull_requests_come_from_branches_and_references_once_each_and_forks_never_count() -> None:
    snapshot = read()

    merged = PullRequest(
        node_id="PR_41",
        number=IssueNumber(41),
        title="Old",
        body="Part of #42",
        url="https://github.com/octo-org/renamed/pull/41",
        head=BranchName("cogworks/42/interfaces"),
        base=BranchName("main"),
        head_oid=CommitOid("7" * 40),
        base_oid=HEAD,
        state="merged",
        author=COGS,
        merged_by=ANN,
    )
    opened = PullRequest(
        node_id="PR_43",
        number=IssueNumber(43),
        title="Specification",
        body="Part of #42",
        url="https://github.com/octo-org/renamed/pull/43",
        head=SPEC,
        base=BranchName("main"),
        head_oid=CommitOid("5" * 40),
        base_oid=HEAD,
        state="open",
        is_conflicting=True,
        author=COGS,
        reviews=(
            Review(
                author=ANN,
                state="approved",
                oid=CommitOid("5" * 40),
                can_push=True,
                node_id="RV_1",
                database_id=801,
                submitted_at=datetime(2026, 1, 2, 3, tzinfo=UTC),
            ),
            Review(
                author=None,
                state="changes_requested",
                oid=None,
                can_push=False,
                node_id="RV_2",
                database_id=802,
                submitted_at=datetime(2026, 1, 2, 3, 1, tzinfo=UTC),
            ),
        ),
        checks=Checks(
            state="failure",
            failed=("coverage", "unit tests"),
            seen=(
                CheckSeen(node_id="CR_1", name="unit tests", is_failed=True),
                CheckSeen(node_id="CR_2", name="lint"),
                CheckSeen(node_id="CR_3", name="slow", is_pending=True),
                # What could not run says nothing about the commit.
                CheckSeen(node_id="SC_1", name="coverage"),
            ),
        ),
    )
    assert snapshot.pulls == (merged, opened)
    assert snapshot.branches == {
        SPEC: Branch(oid=CommitOid("5" * 40), message="Specify"),
        BranchName("cogworks/42/swi-1"): Branch(oid=CommitOid("6" * 40), message="Work"),
    }


def not_found(*path: str) -> GraphQLProblem:
    return GraphQLProblem(path, "NOT_FOUND", "Could not resolve")


def test_a_new_item_has_no_ledger_no_root_and_no_configuration() -> None:
    def fresh(data: dict[str, Any]) -> None:
        repository = data["repository"]
        repository.update(root=None, ledger=None)
        repository["defaultBranchRef"]["target"]["configuration"] = None

    snapshot = read(
        not_found("repository", "root"),
        not_found("repository", "ledger"),
        not_found("repository", "defaultBranchRef", "target", "configuration"),
        change=fresh,
    )

    assert (snapshot.root_oid, snapshot.ledger, snapshot.repository.config_files) == (None, None, {})


def test_checks_that_the_token_may_not_read_are_unknown() -> None:
    def hide(data: dict[str, Any]) -> None:
        pull = data["repository"]["refs"]["nodes"][0]["associatedPullRequests"]["nodes"][0]
        pull["commits"]["nodes"][0]["commit"]["statusCheckRollup"] = None

    path = (
        "repository",
        "refs",
        "nodes",
        0,
        "associatedPullRequests",
        "nodes",
        0,
        "commits",
        "statusCheckRollup",
    )
    hidden = GraphQLProblem(path, "FORBIDDEN", "Resource not accessible by integration")

    assert read(hidden, change=hide).pulls[1].checks == Checks(is_known=False)
    assert read(change=hide).pulls[1].checks == Checks(is_known=True, state=None)


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (GraphQLProblem(("repository", "issue", "comments"), "FORBIDDEN", "no"), PermissionRefused),
        (GraphQLProblem(("repository", "ledger"), "FORBIDDEN", "no"), PermissionRefused),
        (GraphQLProblem(("repository", "issue", "comments"), "NOT_FOUND", "no"), UsageError),
        (GraphQLProblem(("repository", "refs"), "RATE_LIMITED", "slow"), TryAgainLater),
        (
            GraphQLProblem(("repository",), "", "Something went wrong while executing your query"),
            TryAgainLater,
        ),
        (GraphQLProblem((), "", "what is this"), CogworksError),
    ],
    ids=["forbidden-comments", "forbidden-ledger", "lost-comments", "limited", "broken", "unknown"],
)
def test_any_other_error_beside_the_data_leaves_no_room_for_a_decision(
    problem: GraphQLProblem, kind: type[CogworksError]
) -> None:
    with pytest.raises(kind, match=r"refused to read https://github\.com/octo-org/old-name/issues/42"):
        read(problem)


def hidden(*path: str | int) -> GraphQLProblem:
    text = "Resource protected by organization SAML enforcement."
    return GraphQLProblem(("repository", "issue", *path), "FORBIDDEN", text)


def test_what_belongs_to_repositories_that_the_token_cannot_see_does_not_matter() -> None:
    def hide(data: dict[str, Any]) -> None:
        issue = data["repository"]["issue"]
        issue["parent"] = None
        issue["references"]["nodes"][4]["source"] = None
        issue["references"]["nodes"].append(None)
        issue["subIssues"]["nodes"][0]["blockedBy"]["nodes"].append(None)
        issue["subIssues"]["nodes"].append(None)

    snapshot = read(
        hidden("parent"),
        hidden("references", "nodes", 4, "source"),
        hidden("references", "nodes", 5),
        hidden("subIssues", "nodes", 0, "blockedBy", "nodes", 1),
        hidden("subIssues", "nodes", 1),
        change=hide,
    )

    assert snapshot == read(change=lambda data: data["repository"]["issue"].update(parent=None))


def test_a_sub_issue_of_another_repository_is_none_of_ours() -> None:
    def add(data: dict[str, Any]) -> None:
        nodes = data["repository"]["issue"]["subIssues"]["nodes"]
        nodes.append({**nodes[0], "id": "I_foreign", "repository": {"id": "R_2"}})

    assert read(change=add) == read()


@pytest.mark.parametrize("name", ["references", "subIssues"])
def test_a_list_that_is_hidden_as_a_whole_leaves_no_room_for_a_decision(name: str) -> None:
    with pytest.raises(PermissionRefused):
        read(hidden(name))


def test_an_issue_that_is_not_there_is_named_with_its_url() -> None:
    def without(data: dict[str, Any]) -> None:
        data["repository"]["issue"] = None

    with pytest.raises(UsageError, match="issues/42: octo-org/old-name has no issue with this number"):
        read(not_found("repository", "issue"), change=without)


def test_a_repository_that_cannot_be_seen_is_named_with_its_url() -> None:
    def without(data: dict[str, Any]) -> None:
        data["repository"] = None

    with pytest.raises(
        UsageError, match="there is no repository octo-org/old-name, or the token cannot see it"
    ):
        read(not_found("repository"), change=without)


def test_a_repository_that_single_sign_on_hides_is_a_matter_of_permission() -> None:
    def without(data: dict[str, Any]) -> None:
        data["repository"] = None

    with pytest.raises(PermissionRefused, match="SAML"):
        read(GraphQLProblem(("repository",), "FORBIDDEN", "protected by organization SAML"), change=without)


def test_an_issue_that_moved_to_another_repository_is_not_followed() -> None:
    def moved(data: dict[str, Any]) -> None:
        data["repository"]["issue"].update(url="https://github.com/o/new/issues/1", repository={"id": "R_2"})

    with pytest.raises(UsageError, match=r"was moved to https://github\.com/o/new/issues/1"):
        read(change=moved)


def test_an_empty_repository_is_refused() -> None:
    def empty(data: dict[str, Any]) -> None:
        data["repository"]["defaultBranchRef"] = None

    with pytest.raises(UsageError, match="has no commit yet"):
        read(change=empty)


def test_a_configuration_file_that_github_cuts_is_refused_by_name() -> None:
    def cut(data: dict[str, Any]) -> None:
        entries = data["repository"]["defaultBranchRef"]["target"]["configuration"]["object"]["entries"]
        entries[0]["object"].update(isTruncated=True)

    with pytest.raises(ConfigurationError, match=r"file 'config\.toml' is too large"):
        read(change=cut)


def test_a_state_that_github_cuts_is_refused() -> None:
    def cut(data: dict[str, Any]) -> None:
        data["repository"]["ledger"]["target"]["file"]["object"].update(isTruncated=True)

    with pytest.raises(CogworksError, match=r"`state\.json` on the item's ledger is too large"):
        read(change=cut)


def test_only_open_issues_of_the_repository_hold_an_item_up() -> None:
    assert read().issue.open_blockers == (40,)
    assert read(change=lambda data: data["repository"]["issue"].pop("blockedBy")).issue.open_blockers == ()


def test_an_issue_that_was_closed_once_says_so() -> None:
    again = read(change=lambda data: data["repository"]["issue"].update(stateReason="REOPENED"))

    assert (read().issue.is_reopened, again.issue.is_reopened) == (False, True)
