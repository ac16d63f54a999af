"""GitHub's schema with every field wired to what answers it."""

import gc
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import Any

from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    GraphQLUnionType,
    build_schema,
)
from graphql.pyutils import camel_to_snake

from cogworks.hub.graphql import scalars
from cogworks.hub.graphql.catalogue import ANSWERS
from cogworks.hub.graphql.connections import Connection, connect
from cogworks.hub.graphql.limits import is_connection
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.sight import guard
from cogworks.hub.graphql.tables import Answer, typename
from cogworks.hub.refusals import NotImplementedHere

Info = GraphQLResolveInfo[Request]


@cache
def official_schema(*, with_extensions: bool) -> GraphQLSchema:
    """The wired schema; built once per process, in about half a second.

    Args:
        with_extensions: whether the fields are there that github.com has and older GitHub Enterprise Servers lack.
    """
    folder = resources.files("cogworks.hub") / "schema"
    text = (folder / "github-schema.graphql").read_text(encoding="utf-8")
    if with_extensions:
        text += (folder / "github-extensions.graphql").read_text(encoding="utf-8")
    with _without_collections():
        schema = build_schema(text, assume_valid=True, no_location=True)
        scalars.install(schema)
        wire(schema, ANSWERS, ABSENT)
    return schema


@contextmanager
def _without_collections() -> Iterator[None]:
    """Nothing of a schema is garbage, and looking for some in between would take as long as building it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def wire(
    schema: GraphQLSchema, known: Mapping[tuple[str, str], Answer], absent: Container[tuple[str, str]]
) -> None:
    """Give every field of `schema` its resolver; one that nobody answers gets the policy of `_unanswered`."""
    for named in schema.type_map.values():
        if named.name.startswith("__"):
            continue
        if isinstance(named, GraphQLObjectType):
            for name, field in named.fields.items():
                where = (named.name, name)
                answer = known.get(where) or _shared(*where)
                field.resolve = (
                    _unanswered(*where, field, is_absent=where in absent)
                    if answer is None
                    else _resolver(answer)
                )
        if isinstance(named, GraphQLObjectType | GraphQLInterfaceType):
            _snake_case(argument for field in named.fields.values() for argument in field.args.items())
        elif isinstance(named, GraphQLInputObjectType):
            _snake_case(named.fields.items())
        if isinstance(named, GraphQLInterfaceType | GraphQLUnionType):
            named.resolve_type = _resolve_type


_PAGES: Mapping[str, Mapping[str, Answer]] = {
    "Connection": {
        "nodes": lambda page, _: page.nodes,
        "edges": lambda page, _: page.edges,
        "pageInfo": lambda page, _: page.page_info,
        "totalCount": lambda page, _: len(page.items),
    },
    "Edge": {"node": lambda edge, _: edge.node, "cursor": lambda edge, _: edge.cursor},
}
"""What all connections and their edges have in common."""


def _shared(type_name: str, name: str) -> Answer | None:
    """How a field is answered that means the same on every connection or edge."""
    return next((fields.get(name) for suffix, fields in _PAGES.items() if type_name.endswith(suffix)), None)


def _resolve_type(value: Any, _info: Info, _abstract: Any) -> str:
    return typename(value)


def _snake_case(named: Iterable[tuple[str, Any]]) -> None:
    for name, argument in named:
        argument.out_name = camel_to_snake(name)


def _resolver(answer: Answer) -> Any:
    def resolve(source: Any, info: Info, **arguments: Any) -> object:
        value = answer(source, info.context, **arguments)
        guard(info.context, source, value)
        return value

    return resolve


def _unanswered(type_name: str, name: str, field: GraphQLField, *, is_absent: bool) -> Any:
    """How a field is answered that no table names.

    From a payload: what it holds under that name. Of a thing that no hub has: none, as an empty page, an empty list
    or null. Anything else is an error that names the field: null would say that there is nothing, and nobody looked.
    """
    is_list = isinstance(
        field.type.of_type if isinstance(field.type, GraphQLNonNull) else field.type, GraphQLList
    )

    def resolve(source: Any, _info: Info, **arguments: Any) -> object:
        if isinstance(source, Mapping) and name in source:
            return source[name]
        if not is_absent:
            raise NotImplementedHere(f"The hub does not implement {_named(type_name, name)}.")
        if is_connection(field):
            return _empty(arguments)
        return [] if is_list else None

    return resolve


def _named(type_name: str, name: str) -> str:
    return f"the mutation '{name}'" if type_name == "Mutation" else f"the field '{name}' of '{type_name}'"


def _empty(arguments: dict[str, Any]) -> Connection[object]:
    nothing: tuple[object, ...] = ()
    return connect(nothing, arguments, key=id)


_NONE: Mapping[str, str] = {
    "App": "description",
    "CheckRun": "deployment pendingDeploymentRequest",
    "CheckSuite": "workflowRun",
    "Commit": "comments deployments pushedDate",
    "Issue": "linkedBranches projectCards projectItems projectV2 projectsV2",
    "Organization": """
        announcement announcementBanner announcementCreatedAt announcementExpiresAt announcementUserDismissible
        description location packages pinnedItems project projectV2 projects projectsV2 recentProjects ruleset rulesets
        team teams twitterUsername websiteUrl
    """,
    "PullRequest": """
        autoMergeRequest mergeQueue mergeQueueEntry projectCards projectItems projectV2 projectsV2
    """,
    "PullRequestReview": "minimizedReason onBehalfOf",
    "PullRequestReviewComment": "minimizedReason",
    "Ref": "branchProtectionRule refUpdateRule rules",
    "Repository": """
        branchProtectionRules commitComments deployKeys deployments discussion discussionCategories discussionCategory
        discussions environment environments forks homepageUrl interactionAbility latestRelease lockReason mergeQueue
        mirrorUrl packages parent pinnedDiscussions pinnedEnvironments pinnedIssues project projectV2 projects projectsV2
        recentProjects release releases repositoryTopics ruleset rulesets stargazers templateRepository
        vulnerabilityAlert vulnerabilityAlerts
    """,
    "User": """
        bio commitComments company followers following gist gistComments gists location organization organizations
        packages pinnedItems project projectV2 projects projectsV2 pronouns recentProjects savedReplies socialAccounts
        starredRepositories status twitterUsername websiteUrl
    """,
}

# A field belongs here only when "none" is the truth of every hub, because nobody can bring the thing about here. What a hub
# might well have and does not look at, such as the licence among a repository's files, answers that it is not implemented.
ABSENT: frozenset[tuple[str, str]] = frozenset(
    (type_name, name) for type_name, names in _NONE.items() for name in names.split()
)
"""`(type, field)` of everything that every hub is without."""
