"""What GitHub has by now, read again after a write without an answer.

Which effects that GitHub refused can end differently when they are sent once more?

Which issues of the repository may an earlier attempt of a visit have created?
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

from cogworks.forge.bodies import work_prefix
from cogworks.forge.effects import CommitFiles, Effect, OpenPullRequest
from cogworks.forge.facts import SubIssue
from cogworks.forge.publication import Known, WrittenCommit, claimed_tip
from cogworks.forge.snapshot import Snapshot
from cogworks.github.documents import Answer, GraphQLProblem, as_error, document, is_internal, is_limited
from cogworks.github.parsing import branches_of, comments_of, issue_facts, sub_issues_of
from cogworks.github.pulls import pulls_of_branches, with_newer
from cogworks.unexpected import each, expecting
from cogworks.vocabulary import CommitOid, IssueNumber, VisitKey


class Queries(Protocol):
    """GitHub, as far as it is read."""

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer: ...


def seen_again(client: Queries, known: Known) -> Known:
    """The branches, pull requests, sub-issues and comments of the issue as they are now.

    Raises:
        CogworksError: the issue cannot be read.
    """
    issue = known.repository.issue
    answer = client.query(
        document("re-read"),
        {
            **_repository(known),
            "number": issue.number,
            "branchPrefix": f"refs/heads/{work_prefix(issue.number)}",
        },
    )
    repository = answer.data.get("repository")
    if answer.errors or not repository or not repository["issue"]:
        problem = next(iter(answer.errors), GraphQLProblem((), "NOT_FOUND", "the issue is gone"))
        raise as_error(problem, doing=f"look at {issue.url} again after a write without an answer")
    return replace(
        known,
        branches=branches_of(repository),
        pulls=with_newer(known.pulls, pulls_of_branches(repository, checks_hidden=True)),
        sub_issues=sub_issues_of(repository["issue"], known.repository.repository.node_id),
        comments={**known.comments, issue.number: comments_of(repository["issue"])},
    )


def with_thread(client: Queries, known: Known, number: IssueNumber) -> Known:
    """The same with the comments of another issue or pull request.

    Raises:
        CogworksError: it cannot be read.
    """
    answer = client.query(document("thread"), {**_repository(known), "number": number})
    thread = (answer.data.get("repository") or {}).get("thread")
    if answer.errors or not thread:
        problem = next(iter(answer.errors), GraphQLProblem((), "NOT_FOUND", "there is no such issue"))
        raise as_error(problem, doing=f"read #{number}")
    return replace(
        known,
        comments={**known.comments, number: comments_of(thread)},
        subjects={**known.subjects, number: thread["id"]},
    )


def with_written(client: Queries, known: Known, effects: Sequence[Effect]) -> Known:
    """The same with what those heads of branches did that say they are one of these effects; one request for each.

    Raises:
        CogworksError: it cannot be read.
    """
    for effect in effects:
        tip = claimed_tip(effect, known) if isinstance(effect, CommitFiles) else None
        if isinstance(effect, CommitFiles) and tip is not None and tip.oid not in known.written:
            paths = [file.path for file in effect.files]
            known = replace(
                known, written={**known.written, tip.oid: _written(client, known, tip.oid, paths)}
            )
    return known


def _written(client: Queries, known: Known, oid: CommitOid, paths: Sequence[str]) -> WrittenCommit:
    declared = "".join(f", $p{place}: String!" for place in range(len(paths)))
    files = " ".join(f"f{place}: file(path: $p{place}) {{ oid }}" for place in range(len(paths)))
    text = (
        f"query Written($owner: String!, $name: String!, $oid: GitObjectID!{declared}) {{\n"
        "  repository(owner: $owner, name: $name) { object(oid: $oid) { ... on Commit {\n"
        f"    changedFilesIfAvailable {files} parents(first: 2) {{ nodes {{ oid {files} }} }}\n"
        "  } } }\n}\n"
    )
    named = {f"p{place}": path for place, path in enumerate(paths)}
    answer = client.query(text, {**_repository(known), "oid": oid, **named})
    commit = (answer.data.get("repository") or {}).get("object")
    if answer.errors or not commit:
        problem = next(iter(answer.errors), GraphQLProblem((), "NOT_FOUND", "there is no such commit"))
        raise as_error(problem, doing=f"look into the commit {oid}")
    with expecting("repository.object"):
        parents = commit["parents"]["nodes"]
        first = parents[0] if parents else {}
        content = {
            path: (_name_of(first.get(f"f{place}")), _name_of(commit.get(f"f{place}")))
            for place, path in enumerate(paths)
        }
        return WrittenCommit(
            parents=tuple(CommitOid(each["oid"]) for each in parents),
            # GitHub does not count the files of a very large commit, which is none of ours.
            changed=-1 if commit["changedFilesIfAvailable"] is None else commit["changedFilesIfAvailable"],
            files=content,
        )


def _name_of(entry: Mapping[str, Any] | None) -> str:
    return str(entry["oid"]) if entry else ""


def _repository(known: Known) -> dict[str, str]:
    owner, _, name = known.repository.repository.name_with_owner.partition("/")
    return {"owner": owner, "name": name}


_NOT_VISIBLE_YET = (
    "no commits between",
    "head sha can't be blank",
    "head ref must be a branch",
    "not all refs are readable",
)


def is_not_visible_yet(problem: GraphQLProblem) -> bool:
    return any(words in problem.message.lower() for words in _NOT_VISIBLE_YET)


def may_pass(effect: Effect, problem: GraphQLProblem) -> bool:
    """Whether a second try, after a look at what is there, can end differently."""
    if is_internal(problem) or is_limited(problem):
        return True
    if isinstance(effect, CommitFiles):
        return problem.type == "STALE_DATA" or "expected branch to point to" in problem.message.lower()
    if isinstance(effect, OpenPullRequest):
        return is_not_visible_yet(problem) or "already exists" in problem.message.lower()
    return False


MAX_PAGES = 10
"""Of 50 issues each. A visit that was left alone for longer than that is looked for no further back."""


def newest_issues(
    client: Queries, snapshot: Snapshot, visit_keys: Collection[VisitKey]
) -> tuple[SubIssue, ...]:
    """The repository's issues created since one of these visits can have begun, newest first: one request per 50.

    Raises:
        CogworksError: they cannot be read, so nothing may be created.
    """
    owner, _, name = snapshot.repository.name_with_owner.partition("/")
    since = min((_begun_at(snapshot, key) for key in visit_keys), default=snapshot.server_date)
    issues: list[SubIssue] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        answer = client.query(document("newest-issues"), {"owner": owner, "name": name, "after": cursor})
        repository = answer.data.get("repository")
        if answer.errors or not repository:
            problem = next(iter(answer.errors), GraphQLProblem((), "NOT_FOUND", "the repository is gone"))
            raise as_error(problem, doing=f"list the newest issues of {owner}/{name}")
        with expecting("repository.issues"):
            page = repository["issues"]
            nodes = [node for node in page["nodes"] if node]
            young = [node for node in nodes if datetime.fromisoformat(node["createdAt"]) >= since]
            issues += each(young, "issues.nodes", issue_facts)
            if len(young) < len(nodes) or not page["pageInfo"]["hasNextPage"]:
                break
            cursor = page["pageInfo"]["endCursor"]
    return tuple(issues)


def _begun_at(snapshot: Snapshot, visit_key: VisitKey) -> datetime:
    """When a visit began at the earliest, as far as the newest commits of its ledger say."""
    history = snapshot.ledger.history if snapshot.ledger else ()
    own = [commit.committed_date for commit in history if visit_key in commit.message]
    return min(own or [commit.committed_date for commit in history] or [snapshot.server_date])
