"""Several writes as one GraphQL document: what each is called, takes and gives back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


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
