"""People, branches, commits and files as GraphQL shows them."""

from datetime import timedelta
from typing import Any

import pytest

from cogworks.hub import seeding
from cogworks.hub.gitobjects import NewFile
from cogworks.hub.gitstore import RefUpdate
from cogworks.hub.graphql.resolvers.gitobjects import MAX_TEXT
from tests.hub.graphql_world import Hub


def test_an_app_is_a_user_with_a_suffix_as_viewer_and_a_bot_without_it_as_author(graphql_hub: Hub) -> None:
    hub = graphql_hub
    hub.mutate("createIssue", "issue { id }", "app", repositoryId=hub.repository_id, title="T")

    viewer = hub.data("{ viewer { __typename login databaseId } }", "app")["viewer"]
    author = hub.repo(
        "issue(number: 1) { author { __typename login ... on Bot { databaseId } } viewerDidAuthor }", "app"
    )["issue"]

    assert viewer == {"__typename": "User", "login": "helper[bot]", "databaseId": viewer["databaseId"]}
    assert author == {
        "author": {"__typename": "Bot", "login": "helper", "databaseId": viewer["databaseId"]},
        "viewerDidAuthor": True,
    }


@pytest.mark.parametrize(
    ("token", "permission"), [("owner", "ADMIN"), ("writer", "WRITE"), ("reader", "READ"), ("app", None)]
)
def test_the_viewers_permission_is_null_for_an_installation(
    graphql_hub: Hub, token: str, permission: str | None
) -> None:
    assert graphql_hub.repo("viewerPermission", token) == {"viewerPermission": permission}


def test_the_names_of_a_repository_lead_to_it_whatever_their_case(graphql_hub: Hub) -> None:
    found = graphql_hub.data(
        '{ repository(owner: "OCTO", name: "Demo", followRenames: true) { nameWithOwner url owner { login } } }'
    )

    assert found["repository"] == {
        "nameWithOwner": "octo/demo", "url": "http://127.0.0.1:8000/octo/demo", "owner": {"login": "octo"},
    }  # fmt: skip


def test_a_users_repositories_are_those_the_viewer_may_see(graphql_hub: Hub) -> None:
    document = '{ user(login: "octo") { repositories(first: 5) { nodes { name } } } }'

    assert graphql_hub.data(document, "reader")["user"]["repositories"]["nodes"] == [{"name": "demo"}]
    assert graphql_hub.data(document, "stranger")["user"]["repositories"]["nodes"] == []


def test_what_somebody_wrote_is_found_under_their_name(graphql_hub: Hub) -> None:
    hub = graphql_hub
    hub.mutate("createIssue", "issue { id }", "writer", repositoryId=hub.repository_id, title="T")
    hub.pull("topic", token="writer")

    document = '{ user(login: "wanda") { issues(first: 5, states: OPEN) { totalCount } pullRequests(first: 5) { nodes { headRefName } } } }'

    assert hub.data(document)["user"] == {
        "issues": {"totalCount": 1},
        "pullRequests": {"nodes": [{"headRefName": "topic"}]},
    }


@pytest.mark.parametrize(
    ("path", "typename"),
    [
        ("/octo", "User"),
        ("/octo/demo", "Repository"),
        ("/octo/demo/issues/1#x", "Issue"),
        ("/octo/demo/pull/2", "PullRequest"),
    ],
)
def test_an_address_leads_to_its_object(graphql_hub: Hub, path: str, typename: str) -> None:
    graphql_hub.issue()
    graphql_hub.pull()

    found = graphql_hub.data(
        "query($url: URI!) { resource(url: $url) { __typename } }", url=f"http://127.0.0.1:8000{path}"
    )

    assert found == {"resource": {"__typename": typename}}


@pytest.mark.parametrize("path", ["", "/nobody", "/octo/demo/wiki", "/octo/other", "/octo/demo/issues/9"])
def test_another_address_leads_nowhere(graphql_hub: Hub, path: str) -> None:
    assert graphql_hub.data(
        "query($url: URI!) { resource(url: $url) { __typename } }", url=f"http://127.0.0.1:8000{path}"
    ) == {"resource": None}


@pytest.mark.parametrize("name", ["refs/heads/a/b", "heads/a/b", "a/b"])
def test_a_branch_is_found_by_its_full_and_its_short_name(graphql_hub: Hub, name: str) -> None:
    graphql_hub.branch("a/b")

    assert graphql_hub.repo(f'ref(qualifiedName: "{name}") {{ name prefix }}')["ref"] == {
        "name": "a/b",
        "prefix": "refs/heads/",
    }


@pytest.mark.parametrize(
    "name", ["missing", "refs/pull/1/head", "refs/heads/../../config", "HEAD", "refs/heads/"]
)
def test_a_ref_that_is_no_branch_or_tag_is_null(graphql_hub: Hub, name: str) -> None:
    assert graphql_hub.repo(f'ref(qualifiedName: "{name}") {{ name }}') == {"ref": None}


def test_refs_are_listed_below_a_prefix_by_name(graphql_hub: Hub) -> None:
    hub = graphql_hub
    for name in ("x/2", "x/1", "xy/1", "x/10"):
        hub.branch(name)

    def names(arguments: str) -> list[str]:
        return [ref["name"] for ref in hub.repo(f"refs({arguments}) {{ nodes {{ name }} }}")["refs"]["nodes"]]

    assert names('refPrefix: "refs/heads/x/", first: 9') == ["x/1", "x/10", "x/2"]
    assert names('refPrefix: "refs/heads/x", first: 9, direction: DESC') == ["x/2", "x/10", "x/1"]
    assert names('refPrefix: "refs/heads/", first: 9, query: "XY"') == ["xy/1"]
    assert names('refPrefix: "refs/tags/", first: 9') == []


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("main", {"__typename": "Commit"}),
        ("HEAD", {"__typename": "Commit"}),
        ("HEAD:", {"__typename": "Tree"}),
        ("refs/heads/main:src", {"__typename": "Tree"}),
        ("main:README.md", {"__typename": "Blob"}),
        ("main:missing", None),
        ("missing:README.md", None),
        ("--all", None),
        ("main\nmain", None),
    ],
)
def test_an_expression_names_an_object(graphql_hub: Hub, expression: str, found: Any) -> None:
    data = graphql_hub.data(
        'query($e: String!) { repository(owner: "octo", name: "demo") { object(expression: $e) { __typename } } }',
        e=expression,
    )

    assert data["repository"] == {"object": found}


def test_an_object_is_found_by_its_oid_in_its_own_repository_only(graphql_hub: Hub) -> None:
    found = graphql_hub.repo(f'object(oid: "{graphql_hub.tip()}") {{ oid abbreviatedOid commitUrl }} ')[
        "object"
    ]

    tip = graphql_hub.tip()
    assert found == {
        "oid": tip,
        "abbreviatedOid": tip[:7],
        "commitUrl": f"http://127.0.0.1:8000/octo/demo/commit/{tip}",
    }
    assert graphql_hub.repo(f'object(oid: "{"1" * 40}") {{ oid }}') == {"object": None}


def test_an_object_needs_exactly_one_name(graphql_hub: Hub) -> None:
    (error,) = graphql_hub.errors('{ repository(owner: "octo", name: "demo") { object { oid } } }')

    assert (error["type"], error["path"]) == ("UNPROCESSABLE", ["repository", "object"])


def test_a_directory_lists_its_entries_with_modes_and_contents(graphql_hub: Hub) -> None:
    hub = graphql_hub
    git = hub.world.repository_git(hub.repository)
    tip = git.commit(hub.tip())
    assert tip is not None
    script, link = (
        NewFile(git.write("blob", b"#!/bin/sh\n"), "100755"),
        NewFile(git.write("blob", b"src"), "120000"),
    )
    tree = git.edited_tree(tip.tree, {"run.sh": script, "link": link})
    assert tree is not None
    git.update_refs(
        [
            RefUpdate(
                "refs/heads/more",
                git.write_commit(tree=tree, parents=(), author=tip.author, committer=tip.author, message="m"),
            )
        ]
    )

    entries = hub.repo(
        'object(expression: "more:") { ... on Tree { entries { name path mode type extension size lineCount object { __typename } } } }'
    )["object"]["entries"]

    assert [(entry["name"], entry["mode"], entry["type"], entry["size"]) for entry in entries] == [
        (".cogworks", 0o40000, "tree", 0),
        ("README.md", 0o100644, "blob", 7),
        ("link", 0o120000, "blob", 3),
        ("run.sh", 0o100755, "blob", 10),
        ("src", 0o40000, "tree", 0),
    ]
    assert [entry["extension"] for entry in entries] == [".cogworks", ".md", "", ".sh", ""]
    assert [entry["lineCount"] for entry in entries] == [None, 1, 1, 1, None]
    nested = hub.repo('object(expression: "more:src") { ... on Tree { entries { path } } }')["object"][
        "entries"
    ]
    assert nested == [{"path": "src/calc.py"}]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("src/calc.py", {"name": "calc.py", "path": "src/calc.py", "type": "blob"}),
        ("src", {"name": "src", "path": "src", "type": "tree"}),
        ("nope", None),
        ("", None),
    ],
)
def test_a_commit_finds_what_lies_at_a_path(graphql_hub: Hub, path: str, found: Any) -> None:
    selection = (
        f'object(expression: "main") {{ ... on Commit {{ file(path: "{path}") {{ name path type }} }} }}'
    )

    assert graphql_hub.repo(selection)["object"] == {"file": found}


@pytest.mark.parametrize(("size", "is_truncated"), [(MAX_TEXT, False), (MAX_TEXT + 1, True)])
def test_the_text_of_a_large_file_is_cut_and_says_so(graphql_hub: Hub, size: int, is_truncated: bool) -> None:
    graphql_hub.commit("main", {"large.txt": "x" * size})

    found = graphql_hub.repo(
        'object(expression: "main:large.txt") { ... on Blob { text isTruncated byteSize isBinary } }'
    )["object"]

    assert (len(found["text"]), found["isTruncated"], found["byteSize"], found["isBinary"]) == (
        MAX_TEXT,
        is_truncated,
        size,
        False,
    )


def test_history_is_newest_first_and_can_be_narrowed_to_a_path(graphql_hub: Hub) -> None:
    hub = graphql_hub
    for step, path in enumerate(("a", "b", "a"), start=1):
        hub.clock.moment += timedelta(hours=1)
        hub.commit("main", {path: str(step)}, f"step {step}")

    def headlines(arguments: str) -> list[str]:
        found = hub.repo(
            f'object(expression: "main") {{ ... on Commit {{ history({arguments}) {{ nodes {{ messageHeadline }} }} }} }}'
        )
        return [node["messageHeadline"] for node in found["object"]["history"]["nodes"]]

    assert headlines("first: 9") == ["step 3", "step 2", "step 1", "Initial commit"]
    assert headlines('first: 9, path: "a"') == ["step 3", "step 1"]
    assert headlines("last: 1") == ["Initial commit"]
    assert headlines('first: 9, since: "2026-03-01T14:00:00Z"') == ["step 3", "step 2"]
    assert headlines('first: 9, until: "2026-03-01T13:00:00Z"') == ["step 1", "Initial commit"]
    assert headlines('first: 9, author: {emails: ["nobody@example.org"]}') == []


def test_branches_are_compared(graphql_hub: Hub) -> None:
    hub = graphql_hub
    hub.branch("topic")
    hub.commit("topic", {"a": "1"}, "ahead 1")
    hub.commit("topic", {"a": "2"}, "ahead 2")
    hub.commit("main", {"b": "1"}, "behind")

    def compared(base: str, head: str) -> Any:
        return hub.repo(
            f'ref(qualifiedName: "{base}") {{ compare(headRef: "{head}") {{ aheadBy behindBy status commits(first: 5) {{ nodes {{ messageHeadline }} }} }} }}'
        )["ref"]["compare"]

    assert compared("main", "topic") == {
        "aheadBy": 2, "behindBy": 1, "status": "DIVERGED",
        "commits": {"nodes": [{"messageHeadline": "ahead 1"}, {"messageHeadline": "ahead 2"}]},
    }  # fmt: skip
    assert compared("main", "main")["status"] == "IDENTICAL"
    assert compared("main", "missing") is None


def test_an_empty_repository_has_no_default_branch_yet(graphql_hub: Hub) -> None:
    seeding.create_repository(graphql_hub.world, "octo/empty")

    found = graphql_hub.data(
        '{ repository(owner: "octo", name: "empty") { isEmpty defaultBranchRef { name } object(expression: "HEAD:x") { oid } refs(refPrefix: "refs/heads/", first: 1) { totalCount } } }'
    )

    assert found["repository"] == {
        "isEmpty": True,
        "defaultBranchRef": None,
        "object": None,
        "refs": {"totalCount": 0},
    }
