"""What goes wrong, in the form in which GitHub says so."""

from typing import Any

import pytest
from graphql import ExecutionResult, GraphQLError

from cogworks.hub.graphql import execute as post
from cogworks.hub.graphql.answers import of_result
from cogworks.hub.graphql.endpoint import execute
from cogworks.hub.ratelimits import RateLimits
from cogworks.hub.refusals import invalid
from tests.hub.graphql_world import Hub


def repository(selection: str) -> str:
    return f'query Ask {{ repository(owner: "octo", name: "demo") {{ {selection} }} }}'


@pytest.mark.parametrize(
    ("selection", "error"),
    [
        (
            "nope",
            {
                "path": ["query Ask", "repository", "nope"],
                "extensions": {"code": "undefinedField", "typeName": "Repository", "fieldName": "nope"},
                "message": "Field 'nope' doesn't exist on type 'Repository'",
            },
        ),
        (
            "one: issue(number: 1) { ... on Issue { nope } }",
            {
                "path": ["query Ask", "repository", "one", "... on Issue", "nope"],
                "extensions": {"code": "undefinedField", "typeName": "Issue", "fieldName": "nope"},
                "message": "Field 'nope' doesn't exist on type 'Issue'",
            },
        ),
        (
            "issue(nr: 1, number: 1) { id }",
            {
                "path": ["query Ask", "repository", "issue", "nr"],
                "extensions": {
                    "code": "argumentNotAccepted", "name": "issue", "typeName": "Field", "argumentName": "nr",
                },
                "message": "Field 'issue' doesn't accept argument 'nr'",
            },
        ),
        (
            "issue { id }",
            {
                "path": ["query Ask", "repository", "issue"],
                "extensions": {
                    "code": "missingRequiredArguments", "className": "Field", "name": "issue", "arguments": "number",
                },
                "message": "Field 'issue' is missing required arguments: number",
            },
        ),
        (
            "owner",
            {
                "path": ["query Ask", "repository", "owner"],
                "extensions": {
                    "code": "selectionMismatch", "nodeName": "field 'owner'", "typeName": "RepositoryOwner",
                },
                "message": "Field must have selections (field 'owner' returns RepositoryOwner but has no selections. "
                "Did you mean 'owner { ... }'?)",
            },
        ),
        (
            "id { length }",
            {
                "path": ["query Ask", "repository", "id"],
                "extensions": {"code": "selectionMismatch", "nodeName": "field 'id'", "typeName": "ID"},
                "message": "Selections can't be made on scalars (field 'id' returns ID but has selections)",
            },
        ),
    ],
    ids=["field", "field-in-fragment", "argument", "missing-argument", "no-selection", "selection-on-scalar"],
)  # fmt: skip
def test_a_document_that_does_not_fit_the_schema_is_refused_whole(
    graphql_hub: Hub, selection: str, error: dict[str, Any]
) -> None:
    answer = graphql_hub.answer(repository(selection))

    assert answer.keys() == {"errors"}
    (found,) = answer["errors"]
    assert found.pop("locations")
    assert found == error


def test_what_github_has_no_words_of_its_own_for_is_refused_all_the_same(graphql_hub: Hub) -> None:
    answer = graphql_hub.answer("query($unused: Int) { viewer { login } }", unused=1)

    assert answer.keys() == {"errors"}


def test_without_the_extensions_their_fields_are_unknown(graphql_hub: Hub) -> None:
    issue = graphql_hub.issue()
    document = repository(
        f"issue(number: {issue['number']}) {{ number blockedBy(first: 1) {{ totalCount }} }}"
    )
    actor = graphql_hub.actor("owner")

    assert "errors" not in execute(graphql_hub.world, actor, document)
    (error,) = execute(graphql_hub.world, actor, document, with_extensions=False)["errors"]
    assert error["extensions"] == {"code": "undefinedField", "typeName": "Issue", "fieldName": "blockedBy"}


def test_text_that_is_not_graphql_is_an_error_with_its_place(graphql_hub: Hub) -> None:
    (error,) = graphql_hub.errors("{ viewer {")

    assert error["locations"] == [{"line": 1, "column": 11}]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "A query attribute must be specified and must be a string."),
        ({"query": 5}, "A query attribute must be specified and must be a string."),
        ({"query": "{ viewer { id } }", "variables": []}, "Variables must be a JSON object."),
        ({"query": "query A { viewer { id } } query B { viewer { id } }"}, "An operation name is required"),
        ({"query": "query A { viewer { id } }", "operationName": "C"}, 'No operation named "C"'),
    ],
    ids=["nothing", "not-text", "variables-no-object", "which-operation", "unknown-operation"],
)
def test_a_body_that_asks_for_nothing_is_refused(
    graphql_hub: Hub, body: dict[str, Any], message: str
) -> None:
    answer = post(graphql_hub.world, graphql_hub.actor("owner"), body)

    assert [error["message"] for error in answer["errors"]] == [message]


def test_an_operation_is_chosen_by_its_name(graphql_hub: Hub) -> None:
    body = {
        "query": "query A { viewer { login } } query B { viewer { id } }",
        "operationName": "A",
        "variables": None,
    }

    assert post(graphql_hub.world, graphql_hub.actor("owner"), body) == {
        "data": {"viewer": {"login": "octo"}}
    }


def test_a_required_variable_that_is_missing_is_named(graphql_hub: Hub) -> None:
    (error,) = graphql_hub.errors("query($login: String!) { user(login: $login) { id } }")

    assert error.pop("locations") == [{"line": 1, "column": 7}]
    assert error == {
        "extensions": {
            "value": None,
            "problems": [{"path": [], "explanation": "Expected value to not be null"}],
        },
        "message": "Variable $login of type String! was provided invalid value",
    }


def test_a_variable_of_another_type_is_refused(graphql_hub: Hub) -> None:
    answer = graphql_hub.answer(
        'query($n: Int!) { repository(owner: "octo", name: "demo") { issue(number: $n) { id } } }', n="one"
    )

    assert answer.get("data") is None
    assert answer["errors"]


@pytest.mark.parametrize(
    ("selection", "type_"),
    [
        ("issues { totalCount }", "MISSING_PAGINATION_BOUNDARIES"),
        ("issues(first: 101) { totalCount }", "EXCESSIVE_PAGINATION"),
        ('issues(first: 1, after: "x") { totalCount }', "INVALID_CURSOR_ARGUMENTS"),
    ],
)
def test_a_page_that_cannot_be_had_is_an_error_with_type_and_path(
    graphql_hub: Hub, selection: str, type_: str
) -> None:
    (error,) = graphql_hub.errors(repository(selection))

    assert (error["type"], error["path"]) == (type_, ["repository", "issues"])


@pytest.mark.parametrize(
    ("document", "path", "message"),
    [
        ('{ repository(owner: "octo", name: "x") { id } }', ["repository"], "Could not resolve to a Repository with the name 'octo/x'."),
        ('{ user(login: "nobody") { id } }', ["user"], "Could not resolve to a User with the login of 'nobody'."),
        ('{ organization(login: "octo") { id } }', ["organization"], "Could not resolve to an Organization with the login of 'octo'."),
        ('{ node(id: "nonsense") { id } }', ["node"], "Could not resolve to a node with the global id of 'nonsense'"),
        (repository("pullRequest(number: 7) { id }"), ["repository", "pullRequest"], "Could not resolve to a PullRequest with the number of 7."),
        (repository("issueOrPullRequest(number: 7) { __typename }"), ["repository", "issueOrPullRequest"], "Could not resolve to an issue or pull request with the number of 7."),
    ],
    ids=["repository", "user", "organization", "node", "pull", "issue-or-pull"],
)  # fmt: skip
def test_what_is_not_there_is_named_and_null(
    graphql_hub: Hub, document: str, path: list[str], message: str
) -> None:
    (error,) = graphql_hub.errors(document)

    assert error.pop("locations")
    assert error == {"type": "NOT_FOUND", "path": path, "message": message}


def test_a_private_repository_does_not_exist_for_a_stranger(graphql_hub: Hub) -> None:
    (error,) = graphql_hub.errors(repository("id"), "stranger")

    assert error["type"] == "NOT_FOUND"


def test_a_field_that_nobody_answers_is_an_error_beside_the_rest(graphql_hub: Hub) -> None:
    answer = graphql_hub.answer(repository("name licenseInfo { name } fundingLinks { url }"))

    assert answer["data"] == {
        "repository": None
    }  # a list of links may not be null, and so neither may what holds it
    assert [(error["type"], error["path"], error["message"]) for error in answer["errors"]] == [
        ("NOT_IMPLEMENTED", ["repository", name], f"The hub does not implement the field '{name}' of 'Repository'.")
        for name in ("licenseInfo", "fundingLinks")
    ]  # fmt: skip
    (error,) = graphql_hub.errors(repository("name licenseInfo { name }"))
    assert error["path"] == ["repository", "licenseInfo"]
    assert graphql_hub.answer(repository("name licenseInfo { name }"))["data"] == {
        "repository": {"name": "demo", "licenseInfo": None}
    }


def test_what_no_hub_has_is_none(graphql_hub: Hub) -> None:
    selection = (
        "mergeQueue { id } rulesets(first: 1) { totalCount } releases(first: 1) { totalCount nodes { id } }"
    )

    assert graphql_hub.repo(selection) == {
        "mergeQueue": None, "rulesets": {"totalCount": 0}, "releases": {"totalCount": 0, "nodes": []},
    }  # fmt: skip


def test_a_search_is_refused_rather_than_answered_with_nothing(graphql_hub: Hub) -> None:
    (error,) = graphql_hub.errors('{ search(query: "x", type: ISSUE, first: 1) { issueCount } }')

    assert (error["type"], error["path"]) == ("NOT_IMPLEMENTED", ["search"])


def test_nodes_answers_each_id_on_its_own(graphql_hub: Hub) -> None:
    issue = graphql_hub.issue()

    answer = graphql_hub.answer(
        "query($ids: [ID!]!) { nodes(ids: $ids) { id } }", ids=[issue["id"], "gone", issue["id"]]
    )

    assert answer["data"] == {"nodes": [{"id": issue["id"]}, None, {"id": issue["id"]}]}
    assert [(error["type"], error["path"]) for error in answer["errors"]] == [("NOT_FOUND", ["nodes", 1])]


def test_a_spent_rate_limit_is_an_error_of_the_whole_document(graphql_hub: Hub) -> None:
    graphql_hub.world.limits = RateLimits(graphql_hub.clock.now, {"core": 1, "graphql": 2})
    document = "{ rateLimit { limit cost used remaining nodeCount resetAt } }"

    assert graphql_hub.data(document)["rateLimit"] == {
        "limit": 2, "cost": 1, "used": 1, "remaining": 1, "nodeCount": 0, "resetAt": "2026-03-01T13:00:00Z",
    }  # fmt: skip
    assert graphql_hub.data(document)["rateLimit"]["remaining"] == 0
    assert graphql_hub.answer(document) == {
        "errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for octo."}]
    }


def test_the_schema_can_be_asked_about_itself(graphql_hub: Hub) -> None:
    data = graphql_hub.data('{ __schema { queryType { name } } __type(name: "Issue") { kind name } }')

    assert data == {
        "__schema": {"queryType": {"name": "Query"}},
        "__type": {"kind": "OBJECT", "name": "Issue"},
    }


def test_a_fault_of_the_hub_is_raised_and_not_answered() -> None:
    error = GraphQLError("'x'", original_error=KeyError("x"))

    with pytest.raises(KeyError):
        of_result(ExecutionResult(data=None, errors=[error]))


def test_a_refusal_says_what_its_details_say() -> None:
    error = GraphQLError(
        "Validation Failed", path=["it"], original_error=invalid("Issue", "title", message="too long")
    )

    assert of_result(ExecutionResult(data={"it": None}, errors=[error])) == {
        "data": {"it": None},
        "errors": [{"type": "UNPROCESSABLE", "path": ["it"], "locations": [], "message": "too long"}],
    }
