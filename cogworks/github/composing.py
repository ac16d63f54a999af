"""What to send for an effect that is not there yet, and what the answer says of it."""

import base64
from typing import Any

from cogworks.errors import CogworksError, UsageError
from cogworks.forge.bodies import capped, capped_title, marked
from cogworks.forge.effects import (
    AddReaction,
    CloseIssue,
    ClosePullRequest,
    CommitFiles,
    CreateIssue,
    CreateSubIssue,
    EditComment,
    EditPullRequest,
    Effect,
    LinkDependency,
    OpenPullRequest,
    PostComment,
    PostReview,
    PushBranch,
    ReportCheck,
    SetBase,
    SetLabels,
)
from cogworks.forge.publication import (
    Known,
    Learned,
    PublishedComment,
    PublishedCommit,
    PublishedIssue,
    PublishedPull,
    PublishedSubIssue,
    Repeatable,
    commit_body,
    label_changes,
)
from cogworks.github.documents import Operation
from cogworks.leaving import in_title
from cogworks.unexpected import Node
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, SubItemKey

MAX_FILE_BYTES = 1_000_000
"""What a commit through the API carries safely; larger files go by `git push`."""


def describe(effect: Effect) -> str:
    """What an effect does, to follow `GitHub refused to`."""
    match effect:
        case CommitFiles():
            return f"commit {len(effect.files)} file(s) to branch {effect.branch!r}"
        case PushBranch() | ReportCheck() | PostReview():
            return _on_its_own(effect)
        case OpenPullRequest():
            return f"open a pull request from {effect.head!r} to {effect.base!r}"
        case CreateSubIssue() | CreateIssue():
            kind = "sub-issue" if isinstance(effect, CreateSubIssue) else "issue"
            return f"create the {kind} {effect.key!r} ({effect.title!r})"
        case LinkDependency():
            return f"say that sub-item {effect.blocked!r} is blocked by {effect.blocking!r}"
        case PostComment():
            return f"post the comment {effect.topic!r} on #{effect.number}"
        case EditComment(comment_id=subject) | AddReaction(subject_id=subject):
            return f"{'edit' if isinstance(effect, EditComment) else 'react to'} the comment {subject}"
        case SetBase() | EditPullRequest() | ClosePullRequest() | CloseIssue():
            return _change_in_words(effect)
        case SetLabels():
            return f"add labels {', '.join(effect.add) or '-'} to and remove {', '.join(effect.remove) or '-'} from #{effect.number}"


def _change_in_words(effect: SetBase | EditPullRequest | ClosePullRequest | CloseIssue) -> str:
    if isinstance(effect, ClosePullRequest):
        return f"close pull request #{effect.number}, which is approved and will not be merged"
    if isinstance(effect, CloseIssue):
        return f"close issue #{effect.number}, which is finished"
    if isinstance(effect, EditPullRequest):
        return f"edit the text of pull request #{effect.number}"
    return f"set the base of pull request #{effect.number} to {effect.base!r}"


def _on_its_own(effect: PushBranch | ReportCheck | PostReview) -> str:
    if isinstance(effect, PostReview):
        return f"remark on {len(effect.remarks)} place(s) of the pull request from {effect.branch!r}"
    if isinstance(effect, ReportCheck):
        return f"report the check {effect.name!r} of {effect.head[:10]}"
    return f"take {effect.oid[:10]} as head of branch {effect.branch!r}"


def missing_labels(effect: Effect, known: Known) -> tuple[str, ...]:
    """Names of labels that must exist before the effect can be sent."""
    names: tuple[str, ...] = ()
    if isinstance(effect, SetLabels):
        names = label_changes(effect, known)[0]
    elif isinstance(effect, CreateSubIssue | CreateIssue):
        names = effect.labels
    return tuple(name for name in names if name not in known.label_ids)


def operations(index: int, effect: Effect, known: Known) -> list[Operation]:
    """What to send for one effect; the alias `e<index>` is the one that `learned` reads.

    Raises:
        CogworksError: what the effect builds on is not there.
    """
    alias = f"e{index}"
    match effect:
        case CommitFiles():
            return _commit(index, effect, known)
        case OpenPullRequest():
            return [_pull(alias, effect, known)]
        case CreateSubIssue() | CreateIssue():
            return [Operation(alias, "createIssue", _issue(effect, known))]
        case PostComment():
            text = capped(effect.body)
            body = marked(text, visit_key=effect.visit_key, topic=effect.topic, revision=effect.revision)
            return [
                Operation(alias, "addComment", {"subjectId": _subject(effect.number, known), "body": body})
            ]
        case LinkDependency():
            ids = {
                "issueId": _sub_item(effect.blocked, known),
                "blockingIssueId": _sub_item(effect.blocking, known),
            }
            return [Operation(alias, "addBlockedBy", ids)]
        case EditComment() | AddReaction():
            return [_on_comment(alias, effect, known)]
        case SetLabels():
            return _labels(index, effect, known)
        case SetBase() | EditPullRequest() | ClosePullRequest() | CloseIssue():
            return _change(index, effect, known)
        case PushBranch() | ReportCheck() | PostReview():
            raise CogworksError(
                f"this is a defect: one request with several effects cannot {_on_its_own(effect)}. Please report it."
            )


def _commit(index: int, effect: CommitFiles, known: Known) -> list[Operation]:
    for file in effect.files:
        if (size := len(file.text.encode())) > MAX_FILE_BYTES:
            raise CogworksError(
                f"{effect.branch}: {file.path!r} has {size} bytes; a commit through the API carries {MAX_FILE_BYTES} "
                "per file at most. Split the file."
            )
    repository = known.repository.repository
    branch = known.branches.get(effect.branch)
    start = branch.oid if branch else _head_of(effect.base, known)
    additions = [
        {"path": file.path, "contents": base64.b64encode(file.text.encode()).decode()}
        for file in effect.files
    ]
    commit = Operation(
        f"e{index}",
        "createCommitOnBranch",
        {
            "branch": {"repositoryNameWithOwner": repository.name_with_owner, "branchName": effect.branch},
            "expectedHeadOid": start,
            "message": {"headline": in_title(effect.headline), "body": commit_body(effect.visit_key)},
            "fileChanges": {"additions": additions},
        },
    )
    if branch:
        return [commit]
    name = f"refs/heads/{effect.branch}"
    reference = {"repositoryId": repository.node_id, "name": name, "oid": start}
    return [Operation(f"r{index}", "createRef", reference, is_needed=False), commit]


def _head_of(base: BranchName, known: Known) -> CommitOid:
    repository = known.repository.repository
    if base == repository.default_branch:
        return repository.head_oid
    if base not in known.branches:
        raise UsageError(
            f"branch {base!r}, which the work builds on, is gone; restore it or restart the item."
        )
    return known.branches[base].oid


def _pull(alias: str, effect: OpenPullRequest, known: Known) -> Operation:
    return Operation(
        alias,
        "createPullRequest",
        {
            "repositoryId": known.repository.repository.node_id,
            "headRefName": effect.head,
            "baseRefName": effect.base,
            "title": capped_title(in_title(effect.title)),
            "body": capped(effect.body),
        },
    )


def _issue(effect: CreateSubIssue | CreateIssue, known: Known) -> dict[str, Any]:
    parent = known.repository.issue.node_id if isinstance(effect, CreateSubIssue) else None
    return {
        "repositoryId": known.repository.repository.node_id,
        **({"parentIssueId": parent} if parent else {}),
        "title": capped_title(in_title(effect.title)),
        "body": marked(capped(effect.body), visit_key=effect.visit_key, topic=effect.key),
        "labelIds": [known.label_ids[name] for name in effect.labels],
    }


def _labels(index: int, effect: SetLabels, known: Known) -> list[Operation]:
    labelable = _subject(effect.number, known)
    add, remove = label_changes(effect, known)
    changes = (("e", "addLabelsToLabelable", add), ("x", "removeLabelsFromLabelable", remove))
    return [
        Operation(
            f"{letter}{index}",
            mutation,
            {"labelableId": labelable, "labelIds": [known.label_ids[name] for name in names]},
        )
        for letter, mutation, names in changes
        if names
    ]


def _change(
    index: int, effect: SetBase | EditPullRequest | ClosePullRequest | CloseIssue, known: Known
) -> list[Operation]:
    if isinstance(effect, CloseIssue):
        closed = {"issueId": known.repository.issue.node_id, "stateReason": "COMPLETED"}
        return [Operation(f"e{index}", "closeIssue", closed)]
    if all(pull.node_id != effect.pull_id for pull in known.pulls):
        raise UsageError(
            f"GitHub showed no pull request {effect.pull_id} of {known.repository.issue.url}, so it was left alone."
        )
    if isinstance(effect, ClosePullRequest):
        return [Operation(f"e{index}", "closePullRequest", {"pullRequestId": effect.pull_id})]
    if isinstance(effect, EditPullRequest):
        edited = {"pullRequestId": effect.pull_id, "body": capped(effect.body)}
        return [Operation(f"e{index}", "updatePullRequest", edited)]
    to_base = {"pullRequestId": effect.pull_id, "baseRefName": effect.base}
    moved = Operation(f"e{index}", "updatePullRequest", to_base)
    if not effect.lost_base:
        return [moved]
    # A pull request without its base cannot be opened, and one that is closed cannot get another.
    reference = {
        "repositoryId": known.repository.repository.node_id,
        "name": f"refs/heads/{effect.lost_base}",
        "oid": effect.lost_base_oid,
    }
    return [
        Operation(f"r{index}", "createRef", reference, is_needed=False),
        Operation(f"o{index}", "reopenPullRequest", {"pullRequestId": effect.pull_id}),
        moved,
    ]


def _on_comment(alias: str, effect: EditComment | AddReaction, known: Known) -> Operation:
    subject = effect.comment_id if isinstance(effect, EditComment) else effect.subject_id
    snapshot = known.repository
    here = {comment.node_id for comment in known.comments.get(snapshot.issue.number, ())}
    if isinstance(effect, AddReaction):
        here |= {review.node_id for pull in snapshot.pulls for review in pull.reviews}
    # The id may come from the ledger, which others can write: it is good for a write once GitHub showed it on this issue.
    if subject not in known.posted and subject not in here:
        raise UsageError(
            f"comment {subject} is not among those that GitHub shows on {snapshot.issue.url}, so it was left "
            "alone. Run the step again."
        )
    if isinstance(effect, EditComment):
        changed = {"id": effect.comment_id, "body": capped(effect.body)}
        return Operation(alias, "updateIssueComment", changed)
    return Operation(alias, "addReaction", {"subjectId": effect.subject_id, "content": effect.content})


def _subject(number: IssueNumber, known: Known) -> str:
    if number not in known.subjects:
        raise UsageError(
            f"#{number} is no issue or pull request of this work item; it may have been deleted."
        )
    return known.subjects[number]


def _sub_item(key: SubItemKey, known: Known) -> str:
    if key not in known.sub_items:
        raise UsageError(f"sub-item {key!r} has no sub-issue (any more); restore it or restart the item.")
    return known.sub_items[key]


def learned(effect: Effect, payload: Node | None) -> Learned | None:
    """What the answer to an effect's main operation says; None when it does not show that it was done."""
    if payload is None:
        return None
    match effect:
        case CommitFiles():
            commit = payload.get("commit")
            return PublishedCommit(branch=effect.branch, oid=CommitOid(commit["oid"])) if commit else None
        case OpenPullRequest():
            if not (pull := payload.get("pullRequest")):
                return None
            return PublishedPull(
                slug=effect.slug,
                number=IssueNumber(pull["number"]),
                node_id=pull["id"],
                url=pull["url"],
                head=effect.head,
                base=effect.base,
                is_shown_only=effect.is_shown_only,
            )
        case CreateSubIssue() | CreateIssue():
            return _created(effect, payload.get("issue"))
        case PostComment():
            if not (comment := (payload.get("commentEdge") or {}).get("node")):
                return None
            return PublishedComment(
                topic=effect.topic,
                number=effect.number,
                node_id=comment["id"],
                database_id=int(comment["fullDatabaseId"]),
                url=comment["url"],
            )
        case (
            LinkDependency()
            | EditComment()
            | AddReaction()
            | SetLabels()
            | SetBase()
            | EditPullRequest()
            | ClosePullRequest()
            | CloseIssue()
            | PushBranch()
            | ReportCheck()
            | PostReview()
        ):
            return Repeatable()


def _created(effect: CreateSubIssue | CreateIssue, issue: Node | None) -> Learned | None:
    if not issue:
        return None
    fields = {"number": IssueNumber(issue["number"]), "node_id": issue["id"], "url": issue["url"]}
    if isinstance(effect, CreateSubIssue):
        return PublishedSubIssue(key=effect.key, **fields)
    return PublishedIssue(key=effect.key, **fields)
