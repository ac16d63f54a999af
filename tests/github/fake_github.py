"""A GitHub in memory that understands the documents of `cogworks.github`, and fails when told to."""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from graphql import FieldNode, OperationDefinitionNode, parse

from cogworks.forge.addresses import IssueAddress
from cogworks.forge.publication import blob_name
from cogworks.forge.snapshot import Snapshot
from cogworks.github.documents import Answer, GraphQLProblem, OutcomeUnknown
from cogworks.github.parsing import parse_snapshot
from cogworks.vocabulary import IssueNumber

NOW = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
ADDRESS = IssueAddress("https://github.com", "o", "r", IssueNumber(4))
VIEWER: dict[str, Any] = {"__typename": "User", "login": "ann", "databaseId": 7}
STRANGER: dict[str, Any] = {"__typename": "User", "login": "eve", "databaseId": 666}

Fault = Callable[["FakeGitHub", str, Mapping[str, Any]], GraphQLProblem | None]
"""Called before each write with its mutation and input: a problem refuses it."""


class Killed(BaseException):
    """The program ends here; nothing of it runs any more."""


class Refused(Exception):
    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        self.message = message
        super().__init__(message)


@dataclass
class FakeGitHub:
    """One repository with issue 4; every write is kept, nothing else of GitHub is known here."""

    heads: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: {"main": [("0" * 40, "initial")]})
    """Branch -> (oid, message), newest last."""
    files: dict[str, dict[str, str]] = field(default_factory=lambda: {"main": {}})
    trees: dict[str, dict[str, str]] = field(default_factory=dict)
    """Commit that was made here -> all files in it; any other has none."""
    pulls: list[dict[str, Any]] = field(default_factory=list)
    issues: dict[int, dict[str, Any]] = field(default_factory=dict)
    reviews: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    """Number of the pull request -> reviews, oldest first."""
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=lambda: {4: []})
    labels: dict[str, str] = field(default_factory=lambda: {"cogworks:run": "L1"})
    on_issue: set[str] = field(default_factory=lambda: {"cogworks:run"})
    blocked_by: list[tuple[str, str]] = field(default_factory=list)
    documents: list[list[str]] = field(default_factory=list)
    """The mutations of each document that was sent."""
    reads: int = 0
    slept: list[float] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    lose_answers: set[int] = field(default_factory=set)
    """Documents (from 1) that are carried out, but whose answer is lost."""
    lose_requests: set[int] = field(default_factory=set)
    """Documents that never arrive, though nobody can tell."""
    crash_before: set[int] = field(default_factory=set)
    crash_after: set[int] = field(default_factory=set)
    """Documents before or after which the program that sends them is killed."""
    lists_behind: int = 0
    """So many reads do not show the newest comment and sub-issue yet."""
    knows_dependencies: bool = True

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def snapshot(self) -> Snapshot:
        return parse_snapshot(Answer(self.work_item(), (), NOW), ADDRESS)

    def work_item(self) -> dict[str, Any]:
        repository = self._repository(behind=False)
        issue = repository["issue"]
        issue.update(title="Fix it", body="It is broken.", locked=False, author=VIEWER, parent=None)
        issue.update(
            inputs={"nodes": []}, references={"nodes": []}, repository={"id": "R", "nameWithOwner": "o/r"}
        )
        issue["labels"] = {
            "nodes": [{"id": self.labels[name], "name": name} for name in sorted(self.on_issue)]
        }
        return {
            "viewer": {"login": "ann", "databaseId": 7},
            "repository": {
                **repository,
                "id": "R",
                "nameWithOwner": "o/r",
                "viewerPermission": "WRITE",
                "labels": {"nodes": [{"id": key, "name": name} for name, key in self.labels.items()]},
                "defaultBranchRef": {"name": "main", "target": {"oid": self.heads["main"][-1][0]}},
                "root": None,
                "ledger": None,
            },
        }

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer:
        self.reads += 1
        behind = self.lists_behind > 0
        self.lists_behind = max(self.lists_behind - 1, 0)
        if "query Thread" in document:
            comments = {"nodes": self.comments.setdefault(variables["number"], [])}
            thread = {"id": f"I{variables['number']}", "comments": comments}
            return Answer({"repository": {"thread": thread}}, (), NOW)
        if "query Written(" in document:
            return Answer({"repository": {"object": self._written(variables)}}, (), NOW)
        if "query SaidAtLines" in document:
            there = self.reviews.get(variables["number"], [])
            reviews = {"nodes": there[:-1] if behind else there}
            return Answer({"repository": {"pullRequest": {"reviews": reviews}}}, (), NOW)
        assert "query WhatIsThere" in document
        return Answer({"repository": self._repository(behind=behind)}, (), NOW)

    def mutate(self, document: str, variables: Mapping[str, Any]) -> Answer:
        operation = parse(document).definitions[0]
        assert isinstance(operation, OperationDefinitionNode)
        fields = [node for node in operation.selection_set.selections if isinstance(node, FieldNode)]
        self.documents.append([node.name.value for node in fields])
        if len(self.documents) in self.crash_before:
            raise Killed
        if len(self.documents) in self.lose_requests:
            raise OutcomeUnknown("the answer is lost")
        if not self.knows_dependencies and any(node.name.value == "addBlockedBy" for node in fields):
            problem = GraphQLProblem(
                (), "undefinedField", "Field 'addBlockedBy' doesn't exist on type 'Mutation'"
            )
            return Answer({}, (problem,), NOW)
        data: dict[str, Any] = {}
        problems: list[GraphQLProblem] = []
        for node in fields:
            assert node.alias is not None
            alias, mutation = node.alias.value, node.name.value
            try:
                data[alias] = self._write(mutation, variables[alias])
            except Refused as refused:
                data[alias] = None
                problems.append(GraphQLProblem((alias,), refused.kind, refused.message))
        if len(self.documents) in self.crash_after:
            raise Killed
        if len(self.documents) in self.lose_answers:
            raise OutcomeUnknown("the answer is lost")
        return Answer(data, tuple(problems), NOW)

    def _write(self, mutation: str, given: Mapping[str, Any]) -> dict[str, Any]:
        for fault in self.faults:
            problem = fault(self, mutation, given)
            if problem is not None:
                raise Refused(problem.type, problem.message)
        writes: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "addBlockedBy": self._add_blocked_by,
            "addComment": self._add_comment,
            "addLabelsToLabelable": self._add_labels,
            "addPullRequestReview": self._add_review,
            "closePullRequest": self._close_pull,
            "createCommitOnBranch": self._commit,
            "createIssue": self._create_issue,
            "createPullRequest": self._create_pull,
            "createRef": self._create_ref,
            "removeLabelsFromLabelable": self._remove_labels,
            "updateIssueComment": self._edit_comment,
        }
        return writes[mutation](given)

    def _create_ref(self, given: Mapping[str, Any]) -> dict[str, Any]:
        name = given["name"].removeprefix("refs/heads/")
        if name in self.heads:
            raise Refused("UNPROCESSABLE", f'A ref named "{given["name"]}" already exists in the repository.')
        start = next(line for line in self.heads.values() if any(oid == given["oid"] for oid, _ in line))
        self.heads[name] = list(start)
        self.files[name] = {}
        return {"ref": {"target": {"oid": given["oid"]}}}

    def _commit(self, given: Mapping[str, Any]) -> dict[str, Any]:
        name = given["branch"]["branchName"]
        line = self.heads.get(name)
        if line is None or line[-1][0] != given["expectedHeadOid"]:
            raise Refused(
                "STALE_DATA", f'Expected branch to point to "{given["expectedHeadOid"]}" but it did not.'
            )
        message = f"{given['message']['headline']}\n\n{given['message']['body']}"
        return {
            "commit": {"oid": self.add_commit(name, message, _decoded(given["fileChanges"]["additions"]))}
        }

    def add_commit(self, branch: str, message: str, files: Mapping[str, str] | None = None) -> str:
        line = self.heads[branch]
        oid = hashlib.sha1(f"{branch}{len(line)}{message}".encode(), usedforsecurity=False).hexdigest()
        self.trees[oid] = {**self.trees.get(line[-1][0], {}), **(files or {})}
        line.append((oid, message))
        self.files[branch].update(files or {})
        return oid

    def _written(self, variables: Mapping[str, Any]) -> dict[str, Any]:
        """A commit with its parent, and what lies at the paths `p0`, `p1`, … in both."""
        oid = variables["oid"]
        line = next(
            line for line in ([each for each, _ in line] for line in self.heads.values()) if oid in line
        )
        parent = line[line.index(oid) - 1]

        def files(oid: str) -> dict[str, Any]:
            tree = self.trees.get(oid, {})
            paths = {name[1:]: path for name, path in variables.items() if re.fullmatch(r"p\d+", name)}
            found = {f"f{place}": tree.get(path) for place, path in paths.items()}
            return {name: None if text is None else {"oid": blob_name(text)} for name, text in found.items()}

        before, after = self.trees.get(parent, {}), self.trees.get(oid, {})
        changed = [path for path in before | after if before.get(path) != after.get(path)]
        return {
            "changedFilesIfAvailable": len(changed),
            "parents": {"nodes": [{"oid": parent, **files(parent)}]},
            **files(oid),
        }

    def _create_pull(self, given: Mapping[str, Any]) -> dict[str, Any]:
        head, base = given["headRefName"], given["baseRefName"]
        if head not in self.heads or self.heads[head][-1] == self.heads[base][-1]:
            raise Refused("UNPROCESSABLE", f"No commits between {base} and {head}")
        if any(
            (pull["headRefName"], pull["baseRefName"]) == (head, base) for pull in self.pulls if pull["open"]
        ):
            raise Refused("UNPROCESSABLE", f"A pull request already exists for o:{head}.")
        number = 101 + len(self.pulls)
        pull = {
            "id": f"P{number}",
            "number": number,
            "url": f"https://github.com/o/r/pull/{number}",
            "open": True,
        }
        pull.update(headRefName=head, baseRefName=base, title=given["title"], body=given["body"])
        self.pulls.append(pull)
        return {"pullRequest": {key: pull[key] for key in ("id", "number", "url")}}

    def _close_pull(self, given: Mapping[str, Any]) -> dict[str, Any]:
        pull = next(pull for pull in self.pulls if pull["id"] == given["pullRequestId"])
        pull["open"] = False
        return {"pullRequest": {"id": pull["id"]}}

    def _create_issue(self, given: Mapping[str, Any]) -> dict[str, Any]:
        number = 11 + len(self.issues)
        issue = {
            "id": f"I{number}",
            "number": number,
            "title": given["title"],
            "body": given["body"],
            "author": VIEWER,
            "repository": {"id": "R"},
        }
        issue.update(state="OPEN", url=f"https://github.com/o/r/issues/{number}", labelIds=given["labelIds"])
        assert given["parentIssueId"] == "I4"
        self.issues[number] = issue
        return {"issue": {key: issue[key] for key in ("id", "number", "url")}}

    def _add_comment(self, given: Mapping[str, Any]) -> dict[str, Any]:
        comment = self.say(int(given["subjectId"][1:]), given["body"], VIEWER)
        return {"commentEdge": {"node": {key: comment[key] for key in ("id", "fullDatabaseId", "url")}}}

    def say(self, number: int, body: str, author: Mapping[str, Any]) -> dict[str, Any]:
        key = 2**31 + sum(len(thread) for thread in self.comments.values())
        comment: dict[str, Any] = {
            "id": f"C{key}",
            "fullDatabaseId": str(key),
            "body": body,
            "author": author,
            "lastEditedAt": None,
        }
        comment.update(
            url=f"https://github.com/o/r/issues/{number}#issuecomment-{key}", viewerDidAuthor=author is VIEWER
        )
        comment.update(createdAt="2026-11-21T04:00:00Z")
        self.comments.setdefault(number, []).append(comment)
        return comment

    def _add_review(self, given: Mapping[str, Any]) -> dict[str, Any]:
        assert given["event"] == "COMMENT"
        pull = next(pull for pull in self.pulls if pull["id"] == given["pullRequestId"])
        threads = [{**each, "author": VIEWER} for each in given.get("threads", ())]
        review = {"body": given["body"], "author": VIEWER, "commit": given["commitOID"]}
        self.reviews.setdefault(pull["number"], []).append({**review, "comments": {"nodes": threads}})
        return {"pullRequestReview": {"id": f"V{pull['number']}"}}

    def _edit_comment(self, given: Mapping[str, Any]) -> dict[str, Any]:
        for comment in (comment for thread in self.comments.values() for comment in thread):
            if comment["id"] == given["id"]:
                comment["body"] = given["body"]
                return {"issueComment": {"id": comment["id"]}}
        raise Refused("NOT_FOUND", f"Could not resolve to a node with the global id of '{given['id']}'")

    def _add_labels(self, given: Mapping[str, Any]) -> dict[str, Any]:
        self.on_issue |= {name for name, key in self.labels.items() if key in given["labelIds"]}
        return {"labelable": {"__typename": "Issue"}}

    def _remove_labels(self, given: Mapping[str, Any]) -> dict[str, Any]:
        self.on_issue -= {name for name, key in self.labels.items() if key in given["labelIds"]}
        return {"labelable": {"__typename": "Issue"}}

    def _add_blocked_by(self, given: Mapping[str, Any]) -> dict[str, Any]:
        link = (given["issueId"], given["blockingIssueId"])
        if link in self.blocked_by:
            raise Refused("UNPROCESSABLE", "Issue is already blocked by this issue")
        self.blocked_by.append(link)
        return {"issue": {"id": given["issueId"]}}

    def ensure_label(self, name: str, color: str, description: str) -> str:
        """The REST half: what `labels` hands to the writer."""
        assert len(color) == 6
        assert description
        return self.labels.setdefault(name, f"L{len(self.labels) + 1}")

    def _repository(self, *, behind: bool) -> dict[str, Any]:
        comments, issues = self.comments[4], list(self.issues.values())
        if behind:
            comments, issues = comments[:-1], issues[:-1]
        branches = [name for name in self.heads if name.startswith("cogworks/4/")]
        issue = {
            "id": "I4",
            "number": 4,
            "state": "OPEN",
            "url": ADDRESS.url,
            "subIssues": {"totalCount": len(issues), "nodes": issues},
            "comments": {
                "totalCount": len(comments),
                "nodes": comments,
                "pageInfo": {"hasPreviousPage": False},
            },
        }
        return {
            "refs": {"totalCount": len(branches), "nodes": [self._ref(name) for name in branches]},
            "issue": issue,
        }

    def _ref(self, name: str) -> dict[str, Any]:
        oid, message = self.heads[name][-1]
        pulls = [self._pull(pull) for pull in self.pulls if pull["headRefName"] == name]
        return {
            "prefix": "refs/heads/cogworks/4/",
            "name": name.removeprefix("cogworks/4/"),
            "target": {"oid": oid, "message": message},
            "associatedPullRequests": {"nodes": pulls[-1:]},
        }

    def _pull(self, pull: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **{key: value for key, value in pull.items() if key != "open"},
            "pullRequestState": "OPEN" if pull["open"] else "CLOSED",
            "headRefOid": self.heads[pull["headRefName"]][-1][0],
            "baseRefOid": self.heads[pull["baseRefName"]][-1][0],
            "isCrossRepository": False,
            "mergedBy": None,
            "author": VIEWER,
        }


def _decoded(additions: list[dict[str, str]]) -> dict[str, str]:
    return {entry["path"]: base64.b64decode(entry["contents"]).decode() for entry in additions}
