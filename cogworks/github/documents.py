"""The GraphQL documents cogworks sends, read from the package and put together from their fragments.

Several writes as one GraphQL document: what each is called, takes and gives back.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

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
    starts = [(found.start(), found[1]) for found in _FRAGMENT.finditer(text)]
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
