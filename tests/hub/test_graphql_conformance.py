"""Every field that the hub answers, asked for once, its answer held against the official schema."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    extend_schema,
    get_named_type,
    is_abstract_type,
    parse,
)

from cogworks.hub.graphql.catalogue import ANSWERS
from tests.hub.graphql_busy import Numbers, make_busy
from tests.hub.graphql_world import Hub, running_hub
from tests.published import SCHEMAS, published_schema

REPOSITORY = 'repository(owner: "octo", name: "demo")'
SHARED = {
    "PageInfo": {"endCursor", "hasNextPage", "hasPreviousPage", "startCursor"},
    "SubIssuesSummary": {"total", "completed", "percentCompleted"},
    "IssueDependenciesSummary": {"blockedBy", "blocking"},
    "RateLimit": {"cost", "limit", "nodeCount", "remaining", "resetAt", "used"},
    "IssueConnection": {"edges", "nodes", "pageInfo", "totalCount"},
    "IssueEdge": {"cursor", "node"},
    "CheckRunStateCount": {"count", "state"},
    "StatusContextStateCount": {"count", "state"},
    "CheckAnnotationSpan": {"start", "end"},
    "CheckAnnotationPosition": {"line", "column"},
}
"""What is answered without an entry of its own in the catalogue."""
OFFERED: dict[str, set[str]] = {name: set(fields) for name, fields in SHARED.items()}
for _type, _field in ANSWERS:
    OFFERED.setdefault(_type, set()).add(_field)

ALWAYS_NULL = {
    ("IssueComment", "databaseId"),  # larger than 32 bits
    ("PullRequestReview", "databaseId"),
    ("PullRequestReviewComment", "databaseId"),
    ("PullRequestReview", "editor"),  # the hub keeps no edits of reviews
    ("PullRequestReview", "lastEditedAt"),
    ("PullRequestReviewComment", "editor"),
    ("PullRequestReviewComment", "lastEditedAt"),
    ("PullRequest", "reviewDecision"),  # no rules require reviews
    ("PullRequestReviewThread", "startLine"),
    ("PullRequestReviewThread", "startDiffSide"),
    ("PullRequestReviewThread", "originalStartLine"),
    ("PullRequestReviewComment", "startLine"),
    ("PullRequestReviewComment", "originalStartLine"),
    ("Milestone", "closedAt"),  # the hub closes no milestones
    ("Milestone", "dueOn"),
    ("ReopenedEvent", "stateReason"),
}
NEVER_HAPPENS = {
    "TransferredEvent",
    "BaseRefForcePushedEvent",
    "HeadRefRestoredEvent",
    "ReviewRequestRemovedEvent",
    "Organization",
}
"""Types of which this hub has no example: their fields are checked by the schema alone."""


@pytest.fixture(scope="module")
def schema() -> GraphQLSchema:
    """The official description, without any of the hub's code."""
    extensions = (SCHEMAS / "github-extensions.graphql").read_text("utf-8")
    return extend_schema(published_schema(), parse(extensions), assume_valid=True)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hub, Numbers]]:
    with running_hub(Path(tmp_path_factory.mktemp("busy"))) as hub:
        yield hub, make_busy(hub)


def ways(numbers: Numbers) -> dict[str, tuple[str, ...]]:
    """Type -> paths from the root of a query to examples of it."""
    issue = f"{REPOSITORY} {{ issue(number: {numbers.issue})"
    pulls = [
        f"{REPOSITORY} {{ pullRequest(number: {number})"
        for number in (numbers.open_pull, numbers.merged_pull, numbers.closed_pull)
    ]
    head = f"{pulls[0]} {{ headRef {{ target"
    commit = f'{REPOSITORY} {{ object(expression: "main")'
    rollup = f"{head} {{ ... on Commit {{ statusCheckRollup"
    annotations = (
        f"{rollup} {{ contexts(first: 5) {{ nodes {{ ... on CheckRun {{ annotations(first: 5) {{ nodes"
    )
    review = f"{pulls[0]} {{ reviews(first: 10) {{ nodes"
    thread = f"{pulls[0]} {{ reviewThreads(first: 10) {{ nodes"
    actors = f"{issue} {{ comments(first: 5) {{ nodes {{ author"
    return {
        "Query": ("",),
        "User": ("viewer", "user(login: \"octo\")"),
        "Bot": (actors,),
        "Repository": (REPOSITORY,),
        "RepositoryCollaboratorEdge": (f"{REPOSITORY} {{ collaborators(first: 5) {{ edges",),
        "LanguageConnection": (f"{REPOSITORY} {{ languages(first: 5)",),
        "LanguageEdge": (f"{REPOSITORY} {{ languages(first: 5) {{ edges",),
        "Language": (f"{REPOSITORY} {{ languages(first: 5) {{ nodes",),
        "Label": (f'{REPOSITORY} {{ label(name: "area: core")',),
        "Milestone": (f"{REPOSITORY} {{ milestone(number: 1)",),
        "Issue": (issue, f"{issue} {{ subIssues(first: 1) {{ nodes", f"{REPOSITORY} {{ issues(first: 50) {{ nodes"),
        "PullRequest": tuple(pulls),
        "IssueComment": (f"{issue} {{ comments(first: 5) {{ nodes", f"{pulls[0]} {{ comments(first: 5) {{ nodes"),
        "ReactionGroup": (f"{issue} {{ reactionGroups",),
        "Reaction": (f"{issue} {{ reactions(first: 5) {{ nodes",),
        "ReactionConnection": (f"{issue} {{ reactions(first: 5)",),
        "SubIssuesSummary": (f"{issue} {{ subIssuesSummary",),
        "IssueDependenciesSummary": (f"{issue} {{ issueDependenciesSummary",),
        "RateLimit": ("rateLimit",),
        "IssueConnection": (f"{REPOSITORY} {{ issues(first: 2)",),
        "IssueEdge": (f"{REPOSITORY} {{ issues(first: 2) {{ edges",),
        "PageInfo": (f"{REPOSITORY} {{ issues(first: 2) {{ pageInfo",),
        "IssueTimelineItemsConnection": (f"{issue} {{ timelineItems(first: 5)",),
        "PullRequestTimelineItemsConnection": (f"{pulls[0]} {{ timelineItems(first: 5)",),
        "Ref": (f"{pulls[0]} {{ headRef", f"{REPOSITORY} {{ defaultBranchRef"),
        "Comparison": (f'{pulls[0]} {{ headRef {{ compare(headRef: "main")',),
        "ComparisonCommitConnection": (f'{REPOSITORY} {{ defaultBranchRef {{ compare(headRef: "topic") {{ commits(first: 5)',),
        "Commit": (head, commit),
        "Tree": (f'{REPOSITORY} {{ object(expression: "main:src")',),
        "Blob": (f'{REPOSITORY} {{ object(expression: "main:README.md")',),
        "Tag": (f'{REPOSITORY} {{ ref(qualifiedName: "refs/tags/v1") {{ target',),
        "TreeEntry": (f'{commit} {{ ... on Commit {{ file(path: "src/calc.py")',),
        "GitActor": (f"{commit} {{ ... on Commit {{ author",),
        "GpgSignature": (f"{head} {{ ... on Commit {{ signature",),
        "PullRequestCommit": (f"{pulls[0]} {{ commits(first: 5) {{ nodes",),
        "PullRequestChangedFile": (f"{pulls[0]} {{ files(first: 5) {{ nodes",),
        "ReviewRequest": (f"{pulls[0]} {{ reviewRequests(first: 5) {{ nodes",),
        "PullRequestReview": (review,),
        "PullRequestReviewThread": (thread,),
        "PullRequestReviewComment": (f"{thread} {{ comments(first: 5) {{ nodes",),
        "StatusCheckRollup": (rollup,),
        "StatusCheckRollupContextConnection": (f"{rollup} {{ contexts(first: 5)",),
        "CheckRunStateCount": (f"{rollup} {{ contexts(first: 5) {{ checkRunCountsByState",),
        "StatusContextStateCount": (f"{rollup} {{ contexts(first: 5) {{ statusContextCountsByState",),
        "CheckSuite": (f"{head} {{ ... on Commit {{ checkSuites(first: 5) {{ nodes",),
        "App": (f"{head} {{ ... on Commit {{ checkSuites(first: 5) {{ nodes {{ app",),
        "CheckRun": (f"{rollup} {{ contexts(first: 5) {{ nodes",),
        "CheckAnnotation": (annotations,),
        "CheckAnnotationConnection": (f"{rollup} {{ contexts(first: 5) {{ nodes {{ ... on CheckRun {{ annotations(first: 5)",),
        "CheckAnnotationSpan": (f"{annotations} {{ location",),
        "CheckAnnotationPosition": (f"{annotations} {{ location {{ start", f"{annotations} {{ location {{ end"),
        "StatusContext": (f"{rollup} {{ contexts(first: 5) {{ nodes",),
        "Status": (f"{head} {{ ... on Commit {{ status",),
        **{
            name: tuple(f"{start} {{ timelineItems(first: 100) {{ nodes {{ ... on Node" for start in (f"{REPOSITORY} {{ issues(first: 50) {{ nodes", *pulls))
            for name in OFFERED
            if name.endswith("Event")
        },
    }  # fmt: skip


ARGUMENTS: Mapping[tuple[str, str], str] = {
    ("Query", "node"): 'id: "VXNlcjox"',
    ("Query", "nodes"): 'ids: ["VXNlcjox"]',
    ("Query", "repository"): 'owner: "octo", name: "demo"',
    ("Query", "resource"): 'url: "http://127.0.0.1:8000/octo/demo/issues/1"',
    ("Query", "user"): 'login: "wanda"',
    ("Query", "repositoryOwner"): 'login: "octo"',
    ("User", "repository"): 'name: "demo"',
    ("Repository", "issue"): "number: 1",
    ("Repository", "issueOrPullRequest"): "number: 1",
    ("Repository", "label"): 'name: "bug"',
    ("Repository", "milestone"): "number: 1",
    ("Repository", "object"): 'expression: "main"',
    ("Repository", "ref"): 'qualifiedName: "refs/heads/main"',
    ("Repository", "refs"): 'refPrefix: "refs/heads/"',
    ("Commit", "file"): 'path: "README.md"',
    ("Ref", "compare"): 'headRef: "topic"',
    ("Status", "context"): 'name: "lint"',
}


def selection(schema: GraphQLSchema, type_name: str, numbers: Numbers) -> str:
    """All offered fields of a type, with what arguments and sub-selections they need."""
    owner = schema.type_map[type_name]
    assert isinstance(owner, GraphQLObjectType)
    return " ".join(
        one_field(type_name, name, owner, numbers)
        for name in sorted(OFFERED[type_name])
        if (type_name, name) != ("Query", "organization")
    )


def one_field(type_name: str, name: str, owner: GraphQLObjectType, numbers: Numbers) -> str:
    field = owner.fields[name]
    given = [ARGUMENTS[type_name, name]] if (type_name, name) in ARGUMENTS else []
    if (type_name, name) == ("Repository", "pullRequest"):
        given = [f"number: {numbers.open_pull}"]
    if "first" in field.args:
        given.append("first: 5")
    below = get_named_type(field.type)
    text = name + (f"({', '.join(given)})" if given else "")
    if isinstance(below, GraphQLObjectType) and {"nodes", "totalCount"} <= below.fields.keys():
        return f"{text} {{ totalCount nodes {{ __typename }} }}"
    is_composite = isinstance(below, GraphQLObjectType) or is_abstract_type(below)
    return f"{text} {{ __typename }}" if is_composite else text


def ask(hub: Hub, schema: GraphQLSchema, type_name: str, way: str, fields: str) -> list[dict[str, Any]]:
    """The objects of the type at the end of a way, each with the fields."""
    if not way:
        return [hub.data(f"{{ __typename {fields} }}")]
    document = f"{{ {way} {{ __typename ... on {type_name} {{ {fields} }} }}" + " }" * way.count("{") + " }"
    return [
        found
        for found in objects(hub.data(document))
        if found.get("__typename") == type_name and len(found) > 1
    ]


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """All objects in an answer, outer ones first."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from objects(inner)


FORMS: Mapping[str, Callable[[Any], bool]] = {
    "String": lambda value: isinstance(value, str),
    "ID": lambda value: isinstance(value, str) and bool(value),
    "Boolean": lambda value: isinstance(value, bool),
    "Int": lambda value: isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31,
    "Float": lambda value: isinstance(value, int | float),
    "BigInt": lambda value: isinstance(value, str) and re.fullmatch(r"-?\d+", value) is not None,
    "DateTime": lambda value: re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value) is not None,
    "GitTimestamp": lambda value: re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)", value) is not None,
    "GitObjectID": lambda value: re.fullmatch(r"[0-9a-f]{40}", value) is not None,
    "URI": lambda value: re.fullmatch(r"(http://[^\s]+|/[^\s]*)", value.replace(" ", "%20")) is not None,
    "HTML": lambda value: isinstance(value, str),
    "Base64String": lambda value: re.fullmatch(r"[A-Za-z0-9+/]*=*", value) is not None,
}  # fmt: skip


def conforms(schema: GraphQLSchema, kind: Any, value: Any) -> bool:
    """Whether a value is what a type of the official schema allows."""
    if isinstance(kind, GraphQLNonNull):
        return value is not None and conforms(schema, kind.of_type, value)
    if value is None:
        return True
    if isinstance(kind, GraphQLList):
        return isinstance(value, list) and all(conforms(schema, kind.of_type, item) for item in value)
    if isinstance(kind, GraphQLScalarType):
        return FORMS[kind.name](value)
    if isinstance(kind, GraphQLEnumType):
        return value in kind.values
    if isinstance(kind, GraphQLInterfaceType | GraphQLUnionType):
        return value["__typename"] in {possible.name for possible in schema.get_possible_types(kind)}
    return isinstance(value, dict) and value.get("__typename", kind.name) == kind.name


CHECKED = sorted(OFFERED.keys() - NEVER_HAPPENS - {"Mutation"})


@pytest.mark.parametrize("type_name", CHECKED)
def test_every_offered_field_answers_as_the_official_schema_says(
    type_name: str, busy: tuple[Hub, Numbers], schema: GraphQLSchema
) -> None:
    hub, numbers = busy
    owner = schema.type_map[type_name]
    assert isinstance(owner, GraphQLObjectType)
    fields = selection(schema, type_name, numbers)
    examples = [
        example for way in ways(numbers)[type_name] for example in ask(hub, schema, type_name, way, fields)
    ]

    assert examples, f"no example of {type_name}"
    wrong = {
        (name, repr(example[name]))
        for example in examples
        for name in OFFERED[type_name] & example.keys()
        if not conforms(schema, owner.fields[name].type, example[name])
    }
    assert wrong == set()
    silent = {
        name
        for name in OFFERED[type_name]
        if (type_name, name) not in ALWAYS_NULL | {("Query", "organization")}
        and all(example.get(name) is None for example in examples)
    }
    assert silent == set(), "fields that never had a value"


def test_every_offered_field_exists_in_the_official_schema(schema: GraphQLSchema) -> None:
    unknown = {
        (type_name, name)
        for type_name, names in OFFERED.items()
        for name in names
        if name not in getattr(schema.type_map.get(type_name), "fields", {})
    }

    assert unknown == set()


def test_every_offered_mutation_has_been_carried_out_by_the_busy_hub() -> None:
    text = (
        Path(__file__).with_name("graphql_busy.py").read_text()
        + Path(__file__).with_name("graphql_world.py").read_text()
    )

    assert {name for name in OFFERED["Mutation"] if f'"{name}"' not in text} == set()


@pytest.mark.parametrize("type_name", [name for name in CHECKED if "id" in OFFERED[name]])
def test_every_node_id_that_is_given_out_leads_back_to_its_object(
    type_name: str, busy: tuple[Hub, Numbers], schema: GraphQLSchema
) -> None:
    hub, numbers = busy
    given_out = {
        example["id"]
        for way in ways(numbers)[type_name]
        for example in ask(hub, schema, type_name, way, "id")
    } - {"Query"}

    found = hub.data("query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }", ids=sorted(given_out))[
        "nodes"
    ]

    assert found == [{"__typename": type_name, "id": each} for each in sorted(given_out)]


@pytest.mark.parametrize("type_name", [name for name in CHECKED if "id" in OFFERED[name]])
def test_a_stranger_finds_nothing_by_a_node_id_of_a_private_repository(
    type_name: str, busy: tuple[Hub, Numbers], schema: GraphQLSchema
) -> None:
    hub, numbers = busy
    if type_name in {"Query", "User", "Bot", "App"}:
        return
    given_out = [
        example["id"]
        for way in ways(numbers)[type_name]
        for example in ask(hub, schema, type_name, way, "id")
    ]

    answer = hub.answer("query($id: ID!) { node(id: $id) { __typename } }", "stranger", id=given_out[0])

    assert answer["data"] == {"node": None}
    assert [error["type"] for error in answer["errors"]] == ["NOT_FOUND"]
