"""Refs and commits made through GraphQL."""

from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from cogworks.hub import seeding
from tests.hub.graphql_world import Hub, commit_input, mutation

ZERO = "0" * 40
COMMIT = """
commit { oid message messageHeadline messageBody committedDate author { name email user { login } }
         parents(first: 2) { nodes { oid } } tree { entries { path } } }
ref { name prefix target { oid } }
"""


def test_a_ref_is_created_at_a_commit(graphql_hub: Hub) -> None:
    given = {"repositoryId": graphql_hub.repository_id, "name": "refs/heads/a/b", "oid": graphql_hub.tip()}

    payload = graphql_hub.mutate(
        "createRef", "clientMutationId ref { name prefix }", **given, clientMutationId="7"
    )

    assert payload == {"clientMutationId": "7", "ref": {"name": "a/b", "prefix": "refs/heads/"}}
    assert graphql_hub.tip("a/b") == graphql_hub.tip()


@pytest.mark.parametrize(
    ("name", "oid", "message"),
    [
        ("refs/heads/main", None, 'A ref named "refs/heads/main" already exists in the repository.'),
        ("refs/heads/bad..name", None, "refs/heads/bad..name is not a valid ref name."),
        ("short", None, "short is not a valid ref name. A full one such as refs/heads/short is wanted."),
        ("refs/heads/new", "1" * 40, "Object does not exist"),
    ],
    ids=["exists", "bad-name", "short-name", "no-such-commit"],
)
def test_a_ref_that_cannot_be_is_refused(graphql_hub: Hub, name: str, oid: str | None, message: str) -> None:
    given = {"repositoryId": graphql_hub.repository_id, "name": name, "oid": oid or graphql_hub.tip()}

    assert graphql_hub.refusal("createRef", **given) == {
        "type": "UNPROCESSABLE", "path": ["createRef"], "message": message,
    }  # fmt: skip


def test_a_commit_is_appended_by_the_tokens_owner_at_the_hubs_time(graphql_hub: Hub) -> None:
    hub = graphql_hub
    before = hub.tip()
    hub.clock.moment += timedelta(minutes=5)
    files = {"state.json": "{}", "src/calc.py": "fixed"}
    given = commit_input("main", files, "Fix it\n\nfor good", expectedHeadOid=before)
    given["fileChanges"]["deletions"] = [{"path": "README.md"}]

    payload = hub.mutate("createCommitOnBranch", COMMIT, "writer", **given)

    assert payload["commit"] == {
        "oid": hub.tip(),
        "message": "Fix it\n\nfor good",
        "messageHeadline": "Fix it",
        "messageBody": "for good",
        "committedDate": "2026-03-01T12:05:00Z",
        "author": {
            "name": "Wanda",
            "email": payload["commit"]["author"]["email"],
            "user": {"login": "wanda"},
        },
        "parents": {"nodes": [{"oid": before}]},
        "tree": {"entries": [{"path": ".cogworks"}, {"path": "src"}, {"path": "state.json"}]},
    }
    assert payload["ref"] == {"name": "main", "prefix": "refs/heads/", "target": {"oid": hub.tip()}}
    assert hub.repo('object(expression: "main:src/calc.py") { ... on Blob { text } }')["object"] == {
        "text": "fixed"
    }


def test_a_stale_head_is_refused_with_the_head_that_was_expected(graphql_hub: Hub) -> None:
    stale = graphql_hub.tip()
    graphql_hub.commit("main", {"a": "1"})
    before = graphql_hub.tip()

    refusal = graphql_hub.refusal(
        "createCommitOnBranch", **commit_input("main", {"b": "2"}, expectedHeadOid=stale)
    )

    assert (refusal["type"], refusal["path"]) == ("STALE_DATA", ["createCommitOnBranch"])
    assert (
        refusal["message"].split()
        == f'Expected branch to point to "{stale}" but it did not. Pull and try again.'.split()
    )
    assert graphql_hub.tip() == before


@pytest.mark.parametrize(
    ("changes", "type_"),
    [
        ({"branch": {"repositoryNameWithOwner": "octo/demo", "branchName": "missing"}}, "NOT_FOUND"),
        ({"branch": {"repositoryNameWithOwner": "octo/other", "branchName": "main"}}, "NOT_FOUND"),
        ({"branch": {"branchName": "main"}}, "UNPROCESSABLE"),
        ({"fileChanges": {"deletions": [{"path": "missing.txt"}]}}, "UNPROCESSABLE"),
        ({"fileChanges": {"additions": [{"path": "../x", "contents": ""}]}}, "UNPROCESSABLE"),
        (
            {"fileChanges": {"deletions": [{"path": p} for p in ("README.md", ".cogworks", "src")]}},
            "UNPROCESSABLE",
        ),
    ],
    ids=["no-branch", "no-repository", "half-a-name", "nothing-to-delete", "path-outside", "empty-tree"],
)
def test_a_commit_that_cannot_be_changes_nothing(
    graphql_hub: Hub, changes: dict[str, Any], type_: str
) -> None:
    before = graphql_hub.tip()
    given = {**commit_input("main", {"a": "1"}, expectedHeadOid=before), **changes}

    assert graphql_hub.refusal("createCommitOnBranch", **given)["type"] == type_
    assert graphql_hub.tip() == before


def test_file_contents_must_be_base64(graphql_hub: Hub) -> None:
    given = commit_input("main", {}, expectedHeadOid=graphql_hub.tip())
    given["fileChanges"] = {"additions": [{"path": "a", "contents": "not base64!"}]}

    answer = graphql_hub.answer(
        "mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }",
        input=given,
    )

    assert answer.get("data") is None
    assert "Base64String" in answer["errors"][0]["message"]


def test_a_branch_may_be_named_by_its_node_id_and_files_may_be_binary(graphql_hub: Hub) -> None:
    branch = graphql_hub.repo('ref(qualifiedName: "main") { id }')["ref"]["id"]
    given = commit_input("main", {}, expectedHeadOid=graphql_hub.tip())
    given["branch"] = {"id": branch}
    given["fileChanges"] = {"additions": [{"path": "bin", "contents": b64encode(b"\0\xff").decode()}]}

    graphql_hub.mutate("createCommitOnBranch", "commit { oid }", **given)

    assert graphql_hub.repo('object(expression: "main:bin") { ... on Blob { text isBinary byteSize } }')["object"] == {
        "text": None, "isBinary": True, "byteSize": 2,
    }  # fmt: skip


def test_a_workflow_file_needs_the_permission_for_workflows(graphql_hub: Hub) -> None:
    app = graphql_hub.actor("app").known
    seeding.add_token(
        graphql_hub.world, app, "narrow", kind="installation", permissions={"contents": "write"}
    )
    given = commit_input("main", {".github/workflows/ci.yml": "on: push"}, expectedHeadOid=graphql_hub.tip())

    refusal = graphql_hub.refusal("createCommitOnBranch", "narrow", **given)

    assert refusal["type"] == "FORBIDDEN"
    assert "without `workflows` permission" in refusal["message"]
    graphql_hub.mutate("createCommitOnBranch", "commit { oid }", "app", **given)


def test_a_reader_may_not_write(graphql_hub: Hub) -> None:
    given = commit_input("main", {"a": "1"}, expectedHeadOid=graphql_hub.tip())

    refusal = graphql_hub.refusal("createCommitOnBranch", "reader", **given)

    assert refusal["type"] == "FORBIDDEN"
    assert refusal["message"].startswith(
        "rita does not have the correct permissions to execute `CreateCommitOnBranch`"
    )


def test_a_stranger_does_not_even_find_the_repository(graphql_hub: Hub) -> None:
    given = {"repositoryId": graphql_hub.repository_id, "name": "refs/heads/x", "oid": graphql_hub.tip()}

    assert graphql_hub.refusal("createRef", "stranger", **given)["type"] == "NOT_FOUND"


def rows(*updates: tuple[str, str | None, str, bool]) -> list[dict[str, Any]]:
    return [
        {"name": name, "afterOid": after, "force": force, **({} if before is None else {"beforeOid": before})}
        for name, before, after, force in updates
    ]


def test_many_refs_move_together_or_not_at_all(graphql_hub: Hub) -> None:
    hub = graphql_hub
    first = hub.tip()
    second = hub.commit("main", {"a": "1"})
    hub.branch("old", first)
    moves = rows(
        ("refs/heads/new", ZERO, second, False), ("refs/heads/old", first, ZERO, False), ("refs/heads/main", second, first, True)
    )  # fmt: skip

    refusal = hub.refusal(
        "updateRefs",
        repositoryId=hub.repository_id,
        refUpdates=rows(*[("refs/heads/main", first, second, True)]) + moves[:1],
    )

    assert refusal["type"] == "STALE_DATA"
    assert hub.repo('refs(refPrefix: "refs/heads/", first: 9) { nodes { name } }')["refs"]["nodes"] == [
        {"name": "main"},
        {"name": "old"},
    ]
    hub.mutate("updateRefs", "clientMutationId", repositoryId=hub.repository_id, refUpdates=moves)
    assert hub.repo('refs(refPrefix: "refs/heads/", first: 9) { nodes { name target { oid } } }')["refs"][
        "nodes"
    ] == [
        {"name": "main", "target": {"oid": first}},
        {"name": "new", "target": {"oid": second}},
    ]


def test_a_ref_may_leave_what_branches_and_tags_show(graphql_hub: Hub) -> None:
    """A hidden ref is kept, `ref` does not show it, an expression reaches it."""
    hub = graphql_hub
    tip = hub.tip()

    hub.mutate(
        "updateRefs",
        "clientMutationId",
        repositoryId=hub.repository_id,
        refUpdates=rows(("refs/kept/1", ZERO, tip, False)),
    )

    found = hub.repo(
        'ref(qualifiedName: "refs/kept/1") { name } object(expression: "refs/kept/1") { oid } refs(refPrefix: "refs/kept/", first: 1) { totalCount }'
    )
    assert found == {"ref": None, "object": {"oid": tip}, "refs": {"totalCount": 0}}


def test_a_ref_moves_backward_only_by_force(graphql_hub: Hub) -> None:
    hub = graphql_hub
    first = hub.tip()
    second = hub.commit("main", {"a": "1"})
    hub.branch("topic", second)
    ref = hub.repo('ref(qualifiedName: "refs/heads/topic") { id }')["ref"]["id"]

    refusal = hub.refusal("updateRef", refId=ref, oid=first)

    assert (refusal["type"], refusal["message"]) == ("UNPROCESSABLE", "Update is not a fast forward")
    assert hub.mutate("updateRef", "ref { target { oid } }", refId=ref, oid=first, force=True) == {
        "ref": {"target": {"oid": first}}
    }


def test_a_deleted_ref_is_gone_but_the_default_branch_stays(graphql_hub: Hub) -> None:
    hub = graphql_hub
    hub.branch("topic")
    ids = {
        name: hub.repo(f'ref(qualifiedName: "refs/heads/{name}") {{ id }}')["ref"]["id"]
        for name in ("topic", "main")
    }

    hub.mutate("deleteRef", "clientMutationId", refId=ids["topic"])

    assert hub.repo('ref(qualifiedName: "topic") { id }') == {"ref": None}
    assert hub.refusal("deleteRef", refId=ids["topic"])["type"] == "NOT_FOUND"
    assert hub.refusal("deleteRef", refId=ids["main"])["message"] == "Cannot delete the default branch"


def test_mutations_of_one_document_run_in_order_and_a_failed_one_stops_none(graphql_hub: Hub) -> None:
    hub = graphql_hub
    tip = hub.tip()
    document = """
    mutation($ref: CreateRefInput!, $stale: CreateCommitOnBranchInput!, $good: CreateCommitOnBranchInput!, $pull: CreatePullRequestInput!) {
      made: createRef(input: $ref) { ref { name } }
      again: createRef(input: $ref) { ref { name } }
      stale: createCommitOnBranch(input: $stale) { commit { oid } }
      good: createCommitOnBranch(input: $good) { commit { messageHeadline } }
      pull: createPullRequest(input: $pull) { pullRequest { headRefName commits(first: 5) { totalCount } } }
    }
    """
    variables = {
        "ref": {"repositoryId": hub.repository_id, "name": "refs/heads/topic", "oid": tip},
        "stale": commit_input("topic", {"a": "1"}, "stale", expectedHeadOid="1" * 40),
        "good": commit_input("topic", {"a": "2"}, "good", expectedHeadOid=tip),
        "pull": {
            "repositoryId": hub.repository_id,
            "title": "T",
            "headRefName": "topic",
            "baseRefName": "main",
        },
    }

    answer = hub.answer(document, **variables)

    assert answer["data"] == {
        "made": {"ref": {"name": "topic"}},
        "again": None,
        "stale": None,
        "good": {"commit": {"messageHeadline": "good"}},
        "pull": {"pullRequest": {"headRefName": "topic", "commits": {"totalCount": 1}}},
    }
    assert [(error["type"], error["path"]) for error in answer["errors"]] == [
        ("UNPROCESSABLE", ["again"]),
        ("STALE_DATA", ["stale"]),
    ]


def test_of_many_commits_at_once_on_one_head_exactly_one_passes(graphql_hub: Hub) -> None:
    hub = graphql_hub
    head = hub.tip()
    document = mutation("createCommitOnBranch", "commit { oid }")

    def attempt(number: int) -> dict[str, Any]:
        given = commit_input("main", {"winner.txt": str(number)}, expectedHeadOid=head)
        return hub.answer(document, "writer", input=given)

    with ThreadPoolExecutor(max_workers=6) as pool:
        answers = list(pool.map(attempt, range(6)))

    passed = [answer for answer in answers if "errors" not in answer]
    assert [answer["data"]["createCommitOnBranch"]["commit"]["oid"] for answer in passed] == [hub.tip()]
    assert {answer["errors"][0]["type"] for answer in answers if "errors" in answer} == {"STALE_DATA"}
