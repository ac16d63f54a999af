"""The GraphQL documents cogworks sends, and what GitHub answered to one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any

from cogworks.errors import CogworksError, LostRace, PermissionRefused, TryAgainLater, UsageError
from cogworks.forge.facts import RateLimit

_DEPENDENCIES_PLACE = "# dependencies"
_SPREAD = re.compile(r"\.\.\.(?!\s*on\b)(\w+)")
_FRAGMENT = re.compile(r"^fragment (\w+) on ", re.MULTILINE)


@cache
def document(name: str, *, with_dependencies: bool = False) -> str:
    """`documents/<name>.graphql` with the fragments it uses.

    Args:
        with_dependencies: ask which issue blocks which, where the document lists sub-issues; an older GitHub Enterprise
            Server refuses the whole document then.
    """
    text = _with_fragments(_text(name))
    if with_dependencies and _DEPENDENCIES_PLACE in text:
        return text.replace(_DEPENDENCIES_PLACE, "...Dependencies") + "\n" + _fragments()["Dependencies"]
    return text


def read_work_item(*, with_dependencies: bool) -> str:
    """The one query that reads a whole work item; the variables `page` and `branches` say how much of each list."""
    return document("read-work-item", with_dependencies=with_dependencies)


def _text(name: str) -> str:
    return (
        resources.files("cogworks.github")
        .joinpath("documents", f"{name}.graphql")
        .read_text(encoding="utf-8")
    )


def _with_fragments(text: str) -> str:
    fragments = _fragments()
    used: list[str] = []
    waiting = _SPREAD.findall(text)
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.append(name)
            waiting += _SPREAD.findall(fragments[name])
    return "\n".join([text, *(fragments[name] for name in sorted(used))])


@cache
def _fragments() -> dict[str, str]:
    text = _text("fragments")
    starts = [(match.start(), match[1]) for match in _FRAGMENT.finditer(text)]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    return {name: text[start:end].strip() + "\n" for (start, name), end in zip(starts, ends, strict=True)}


@dataclass(frozen=True)
class Operation:
    """One write of a document."""

    alias: str
    """Its name in the answer; unique in the document."""
    mutation: str
    """One of `SHAPES`."""
    input: Mapping[str, Any]
    is_needed: bool = True
    """False: its effect may be there already, and what follows shows whether it is."""


SHAPES: Mapping[str, tuple[str, str]] = {
    "addBlockedBy": ("AddBlockedByInput", "issue { id }"),
    "addComment": ("AddCommentInput", "commentEdge { node { id fullDatabaseId url } }"),
    "addLabelsToLabelable": ("AddLabelsToLabelableInput", "labelable { __typename }"),
    "addReaction": ("AddReactionInput", "subject { __typename }"),
    "addPullRequestReview": ("AddPullRequestReviewInput", "pullRequestReview { id }"),
    "addSubIssue": ("AddSubIssueInput", "issue { id }"),
    "closeIssue": ("CloseIssueInput", "issue { id }"),
    "closePullRequest": ("ClosePullRequestInput", "pullRequest { id }"),
    "createCommitOnBranch": ("CreateCommitOnBranchInput", "commit { oid }"),
    "createIssue": ("CreateIssueInput", "issue { id number url }"),
    "createPullRequest": ("CreatePullRequestInput", "pullRequest { id number url }"),
    "createRef": ("CreateRefInput", "ref { target { oid } }"),
    "reopenPullRequest": ("ReopenPullRequestInput", "pullRequest { id }"),
    "removeLabelsFromLabelable": ("RemoveLabelsFromLabelableInput", "labelable { __typename }"),
    "updatePullRequest": ("UpdatePullRequestInput", "pullRequest { id }"),
    "updateRefs": ("UpdateRefsInput", "clientMutationId"),
    "updateIssueComment": ("UpdateIssueCommentInput", "issueComment { id }"),
}
"""Mutation -> type of its input, and what is asked of its result."""


def compose(operations: Sequence[Operation]) -> tuple[str, dict[str, Any]]:
    """One document and its variables. GitHub runs the operations in this order, the later ones even if an earlier failed."""
    declared = ", ".join(f"${operation.alias}: {SHAPES[operation.mutation][0]}!" for operation in operations)
    fields = "\n".join(
        f"  {operation.alias}: {operation.mutation}(input: ${operation.alias}) {{ {SHAPES[operation.mutation][1]} }}"
        for operation in operations
    )
    return f"mutation Write({declared}) {{\n{fields}\n}}\n", {
        operation.alias: dict(operation.input) for operation in operations
    }


class OutcomeUnknown(TryAgainLater):
    """A write was sent and no answer came: it may or may not have happened. Read before repeating it."""


class ResourceLimitsExceeded(TryAgainLater):
    """GitHub gave up on the query because it costs too much; a smaller one may pass."""


class BrokenOff(ResourceLimitsExceeded):
    """GitHub ended a read with 502 or 504 every time, as it does with one that takes more than its 10 seconds."""


@dataclass(frozen=True)
class GraphQLProblem:
    """One entry of `errors`."""

    path: tuple[str | int, ...]
    """Where in the data it happened; empty when the whole document was refused."""
    type: str
    """GitHub's word, e.g. `NOT_FOUND`; for a document that does not fit the schema the code, e.g. `undefinedField`."""
    message: str


@dataclass(frozen=True)
class Answer:
    """One answered document; partial data and errors come together."""

    data: Mapping[str, Any]
    errors: tuple[GraphQLProblem, ...]
    server_date: datetime
    """GitHub's clock, from the `Date` header."""
    rate: RateLimit | None = None

    def problem_at(self, alias: str) -> GraphQLProblem | None:
        """The first problem below a top-level field."""
        return next((problem for problem in self.errors if problem.path[:1] == (alias,)), None)


SOMETHING_WENT_WRONG = "something went wrong while executing your query"
_NOT_FOR_US = ("not accessible by integration", "not accessible by personal access token")
_UNDEFINED_FIELD = ("doesn't exist on type", "cannot query field", "is not defined by type", "unknown type")


def is_limited(problem: GraphQLProblem) -> bool:
    """Whether it says that we asked too much in too short a time (primary or secondary)."""
    text = problem.message.lower()
    return (
        problem.type in ("RATE_LIMITED", "RATE_LIMIT")
        or "secondary rate limit" in text
        or "submitted too quickly" in text
    )


def is_internal(problem: GraphQLProblem) -> bool:
    """Whether GitHub broke down: what it was doing may or may not be done."""
    return problem.type in (
        "INTERNAL",
        "SERVICE_UNAVAILABLE",
        "INTERNAL_SERVER_ERROR",
    ) or problem.message.lower().startswith(SOMETHING_WENT_WRONG)


def is_forbidden(problem: GraphQLProblem) -> bool:
    """Whether the token may not do or see this."""
    return problem.type in ("FORBIDDEN", "INSUFFICIENT_SCOPES") or any(
        words in problem.message.lower() for words in _NOT_FOR_US
    )


def is_undefined_field(problem: GraphQLProblem) -> bool:
    """Whether this GitHub does not know a field or an input type of the document; then it did nothing at all."""
    text = problem.message.lower()
    return problem.type == "undefinedField" or any(words in text for words in _UNDEFINED_FIELD)


def as_error(problem: GraphQLProblem, *, doing: str) -> CogworksError:
    """The failure that one problem means, when nothing better is known about it.

    Args:
        doing: what was asked, e.g. `open a pull request from 'a' to 'b'`; starts the message.
    """
    where = f" (at {'.'.join(map(str, problem.path))})" if problem.path else ""
    text = f"GitHub refused to {doing}: {problem.type or 'error'}, {problem.message}{where}."
    if problem.type == "RESOURCE_LIMITS_EXCEEDED":
        return ResourceLimitsExceeded(
            f"{text} The query is too large for GitHub at the moment; run the step again later."
        )
    if is_limited(problem):
        return TryAgainLater(f"{text} The rate limit is used up; run the step again later.")
    if is_internal(problem):
        return TryAgainLater(f"{text} GitHub is out of order; run the step again later.")
    if "commenting is disabled" in problem.message.lower():
        return PermissionRefused(
            f"{text} Nothing more can be posted there. cogworks keeps what it has posted up to date."
        )
    if is_forbidden(problem):
        return PermissionRefused(f"{text} Grant the token what this needs and run the step again.")
    if problem.type == "STALE_DATA":
        return LostRace(f"{text} Somebody else moved the branch first; nothing was written.")
    if problem.type == "NOT_FOUND":
        return UsageError(f"{text} It does not exist or the token cannot see it.")
    return CogworksError(f"{text} Nothing was changed by this part.")
