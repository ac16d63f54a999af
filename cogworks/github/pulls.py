"""The pull requests in an answer of GitHub, with their reviews and checks."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cogworks.forge.effects import OWN_CHECK
from cogworks.forge.facts import Account, Checks, CheckSeen, PullRequest, Remark, Review, ReviewText
from cogworks.github.documents import Answer, as_error
from cogworks.unexpected import Node, each
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Login

_PASSED = frozenset({"SUCCESS", "NEUTRAL", "SKIPPED"})


def account(node: Node | None) -> Account | None:
    """The account in an `Actor`; None for one that is gone."""
    if node is None:
        return None
    return Account(login=Login(node["login"]), id=node.get("databaseId"), is_bot=node["__typename"] == "Bot")


def own_reactions(node: Node) -> tuple[str, ...]:
    """What the viewer reacted with."""
    return tuple(group["content"] for group in node.get("reactionGroups") or () if group["viewerHasReacted"])


def review_texts_of(nodes: Sequence[Node | None]) -> Mapping[str, ReviewText]:
    """Node id -> the words of a review and of its inline comments; those that are gone are left out."""

    def text_of(node: Node | None) -> tuple[str, ReviewText] | None:
        if not node or node["__typename"] != "PullRequestReview":
            return None
        remarks = each(node["comments"]["nodes"], "comments.nodes", _remark)
        left_out = node["comments"]["totalCount"] - len(remarks)
        return node["id"], ReviewText(body=node["body"], remarks=remarks, left_out=left_out)

    return dict(pair for pair in each(nodes, "nodes", text_of) if pair is not None)


def _remark(node: Node) -> Remark:
    return Remark(path=node["path"], line=node["line"] or node["originalLine"] or 0, body=node["body"])


def pulls_of_branches(repository: Node, *, checks_hidden: bool) -> list[PullRequest]:
    """The newest pull request of every branch below the asked prefix."""
    pulls_by_branch = each(
        repository["refs"]["nodes"],
        "repository.refs.nodes",
        lambda ref: each(
            ref["associatedPullRequests"]["nodes"],
            "associatedPullRequests.nodes",
            lambda node: _pull_here(node, checks_hidden=checks_hidden),
        ),
    )
    return [pull for pulls in pulls_by_branch for pull in pulls if pull is not None]


def referring_pulls(issue: Node) -> list[PullRequest]:
    """The pull requests of this repository that mention the issue, in their short form."""
    pulls = each(
        issue["references"]["nodes"], "repository.issue.references.nodes", lambda event: _source(event or {})
    )
    return [pull for pull in pulls if pull is not None]


class RecordedPulls(NamedTuple):
    """What ids from the ledger led to."""

    own: tuple[PullRequest, ...]
    """Of this repository, from a branch of the item."""
    strangers: tuple[str, ...]
    """What is something else, in words: the author of these ids in the ledger was not cogworks."""


def parse_recorded_pulls(
    answer: Answer, *, repository_id: str, head_prefix: str, doing: str
) -> RecordedPulls:
    """The pull requests in an answer to `recorded`; those that are gone are left out.

    Raises:
        CogworksError: an error beside the data other than that, as the fitting kind.
    """
    refuse_other_than_gone(answer, doing=doing)
    hidden = any("statusCheckRollup" in problem.path for problem in answer.errors)
    own: list[PullRequest] = []
    strangers: list[str] = []

    def sort(node: Node | None) -> None:
        if not node or "headRefName" not in node:
            return
        # Nothing is shown of another repository: a reader of this may not be allowed to see it.
        if node["repository"]["id"] != repository_id:
            strangers.append(f"pull request {node['id']} is of another repository")
        elif node["isCrossRepository"] or not node["headRefName"].startswith(head_prefix):
            what = (
                f"#{node['number']} from branch {node['headRefName']!r}, not from one below `{head_prefix}`"
            )
            strangers.append(f"pull request {node['id']} is {what}")
        else:
            own.append(_pull(node, checks_hidden=hidden))

    each(answer.data.get("nodes"), "nodes", sort)
    return RecordedPulls(tuple(own), tuple(strangers))


def refuse_other_than_gone(answer: Answer, *, doing: str) -> None:
    """Raise the first error of an answer by ids, unless it says that something is gone or that checks are hidden."""
    for problem in answer.errors:
        is_gone = problem.type == "NOT_FOUND" and problem.path[:1] == ("nodes",)
        if not (is_gone or "statusCheckRollup" in problem.path):
            raise as_error(problem, doing=doing)


def _source(event: Node) -> PullRequest | None:
    source = event.get("source") or {}
    if source.get("__typename") != "PullRequest" or event["isCrossRepository"]:
        return None
    return _pull_here(source, checks_hidden=True)


def _pull_here(node: Node, *, checks_hidden: bool) -> PullRequest | None:
    """None for a fork's."""
    return None if node["isCrossRepository"] else _pull(node, checks_hidden=checks_hidden)


def _pull(node: Node, *, checks_hidden: bool) -> PullRequest:
    return PullRequest(
        node_id=node["id"],
        number=IssueNumber(node["number"]),
        title=node["title"],
        body=node["body"] or "",
        url=node["url"],
        head=BranchName(node["headRefName"]),
        base=BranchName(node["baseRefName"]),
        head_oid=CommitOid(node["headRefOid"]),
        base_oid=CommitOid(node["baseRefOid"]),
        state=node["pullRequestState"].lower(),
        is_conflicting=node.get("mergeable") == "CONFLICTING",
        author=account(node.get("author")),
        merged_by=account(node.get("mergedBy")),
        reviews=_reviews(node.get("latestOpinionatedReviews")),
        checks=_checks(node.get("commits"), checks_hidden=checks_hidden),
    )


def _reviews(connection: Node | None) -> tuple[Review, ...]:
    return () if connection is None else each(connection["nodes"], "latestOpinionatedReviews.nodes", _review)


def with_newer(known: Sequence[PullRequest], newer: Sequence[PullRequest]) -> tuple[PullRequest, ...]:
    """Both, in the order of their numbers; the newer look at a pull request counts."""
    pulls = {pull.number: pull for pull in (*known, *newer)}
    return tuple(pulls[number] for number in sorted(pulls))


def _review(node: Node) -> Review:
    return Review(
        author=account(node.get("author")),
        state=node["state"].lower(),
        oid=CommitOid(node["commit"]["oid"]) if node.get("commit") else None,
        can_push=node["authorCanPushToRepository"],
        node_id=node["id"],
        database_id=int(node["fullDatabaseId"]),
        submitted_at=node.get("submittedAt"),
        own_reactions=own_reactions(node),
    )


def _checks(commits: Node | None, *, checks_hidden: bool) -> Checks:
    if commits is None:
        return Checks(is_known=False)
    rollups = each(commits["nodes"], "commits.nodes", lambda node: node["commit"].get("statusCheckRollup"))
    rollup = next(iter(rollups), None)
    if rollup is None:
        return Checks(is_known=not checks_hidden)
    failed = set(each(rollup["contexts"]["nodes"], "statusCheckRollup.contexts.nodes", _failed_check)) - {
        None
    }
    return Checks(
        state=rollup["state"].lower(),
        failed=tuple(sorted(name for name in failed if name is not None)),
        seen=each(rollup["contexts"]["nodes"], "statusCheckRollup.contexts.nodes", check_seen),
    )


_TO_COME = frozenset({"QUEUED", "IN_PROGRESS", "PENDING", "REQUESTED"})
"""`WAITING` is not among them: that waits for a person."""
_FAILED = frozenset({"FAILURE", "TIMED_OUT"})
_VISIT_KEY = re.compile(r"[0-9a-f]{64}")


def check_seen(node: Node) -> CheckSeen:
    """One context of a rollup."""
    if node["__typename"] == "StatusContext":
        state = node["state"]
        return CheckSeen(
            node_id=node["id"],
            name=node["context"],
            is_pending=state == "PENDING",
            is_failed=state == "FAILURE",
        )
    # Anybody's check may be called like ours; only ours carries the key of a visit.
    is_ours = node["name"] == OWN_CHECK and bool(_VISIT_KEY.fullmatch(node.get("externalId") or ""))
    return CheckSeen(
        node_id=node["id"],
        name=node["name"],
        is_pending=node["status"] in _TO_COME,
        is_failed=node["conclusion"] in _FAILED,
        is_ours=is_ours,
    )


def _failed_check(node: Node) -> str | None:
    if node["__typename"] == "StatusContext":
        return node["context"] if node["state"] in ("FAILURE", "ERROR") else None
    return node["name"] if node["conclusion"] is not None and node["conclusion"] not in _PASSED else None
