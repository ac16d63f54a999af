"""The ledger branch of one work item on GitHub: read its tip, move it by compare-and-swap, and nothing else.

The GraphQL documents that read and move a ledger branch; each is checked against GitHub's schema in the tests.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from cogworks.errors import CogworksError, PermissionRefused, TryAgainLater
from cogworks.ledger.record import Change, LedgerCommit, StaleTip, Tip, kept, ledger_branch
from cogworks.unexpected import UnexpectedAnswer, expecting
from cogworks.vocabulary import CommitOid, IssueNumber

TIP = """
query LedgerTip($owner: String!, $name: String!, $ledger: String!) {
  repository(owner: $owner, name: $name) {
    ledger: ref(qualifiedName: $ledger) {
      target { oid ... on Commit { history(first: 50) { nodes { oid message committedDate } } file(path: "state.json") { object { ... on Blob { text isTruncated } } } } }
    }
  }
}
"""

_COMMIT = """oid message committedDate
      repository { issue(number: $issue) { state labels(first: 100) { nodes { name } } } }"""


def read_back(echoes: int) -> str:
    """The newest commit of the ledger with the same fields as `append` answers; for after a lost answer.

    Variables: `owner`, `name`, `ledger`, `issue`, `p0`….
    """
    head = (
        f"query ReadBack($owner: String!, $name: String!, $ledger: String!, $issue: Int!{_variables(echoes)})"
    )
    target = f"target {{ ... on Commit {{ {_COMMIT}{_fields(echoes)} }} }}"
    return f"{head} {{\n  repository(owner: $owner, name: $name) {{ ledger: ref(qualifiedName: $ledger) {{ {target} }} }}\n}}\n"


def append(echoes: int) -> str:
    """One commit on the ledger; its answer carries the issue's state and labels and `echoes` entries of the new tree.

    Variables: `commit` (CreateCommitOnBranchInput), `issue`, `p0`…: paths of files or folders to read back as `e0`….
    """
    head = f"mutation Append($commit: CreateCommitOnBranchInput!, $issue: Int!{_variables(echoes)})"
    lease = f"lease: createCommitOnBranch(input: $commit) {{ commit {{ {_COMMIT}{_fields(echoes)} }} }}"
    return f"{head} {{\n  {lease}\n}}\n"


def first_claim() -> str:
    """The ledger's branch and its first commit in one document, both with the root's oid as their precondition."""
    head = "mutation FirstClaim($ref: CreateRefInput!, $commit: CreateCommitOnBranchInput!, $issue: Int!)"
    lease = f"lease: createCommitOnBranch(input: $commit) {{ commit {{ {_COMMIT} }} }}"
    return f"{head} {{\n  ref: createRef(input: $ref) {{ ref {{ target {{ oid }} }} }}\n  {lease}\n}}\n"


def _variables(echoes: int) -> str:
    return "".join(f", $p{n}: String!" for n in range(echoes))


def _fields(echoes: int) -> str:
    entry = "object { ... on Blob { text isTruncated } ... on Tree { entries { name object { ... on Blob { text isTruncated } } } } }"
    return "".join(f"\n      e{n}: file(path: $p{n}) {{ path {entry} }}" for n in range(echoes))


_BROKEN_DOWN = ("INTERNAL", "INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE")
_SOMETHING_WENT_WRONG = "Something went wrong while executing your query"
"""GitHub's words when it broke down half-way: what was asked may or may not be done."""


class Problem(Protocol):
    """One entry of `errors` in an answer."""

    @property
    def path(self) -> tuple[str | int, ...]: ...
    @property
    def type(self) -> str: ...
    @property
    def message(self) -> str: ...


class Answered(Protocol):
    """What the GraphQL client answers."""

    @property
    def data(self) -> Mapping[str, Any]: ...
    @property
    def errors(self) -> Sequence[Problem]: ...
    @property
    def server_date(self) -> datetime: ...


class Speaks(Protocol):
    """The GraphQL client as the ledger uses it."""

    def query(self, document: str, variables: Mapping[str, Any]) -> Answered: ...
    def mutate(self, document: str, variables: Mapping[str, Any]) -> Answered: ...


class LedgerStore:
    """One item's ledger branch. Every write is one request and either moves the branch from the given tip or does nothing.

    No secret is written, no matter who wrote the text that holds it.
    """

    def __init__(
        self,
        client: Speaks,
        *,
        repository: str,
        repository_id: str,
        issue: IssueNumber,
        hide: Callable[[str], str] = kept,
    ) -> None:
        """Args:
        hide: takes secrets out of a file's text and of a message.
        """
        self._client = client
        self._hide = hide
        self._owner, self._name = repository.split("/", 1)
        self._repository_id = repository_id
        self._issue = issue
        self._branch = ledger_branch(issue)

    def tip(self) -> Tip | None:
        """The branch as it is now; None where it does not exist."""
        answer = self._client.query(
            TIP, {"owner": self._owner, "name": self._name, "ledger": f"refs/heads/{self._branch}"}
        )
        if refusal := _refusal(answer, doing=f"read branch {self._branch!r}"):
            raise refusal
        with expecting("repository.ledger"):
            ref = (answer.data.get("repository") or {}).get("ledger")
            return _tip(ref["target"], answer.server_date) if ref else None

    def files(self, paths: Sequence[str]) -> Mapping[str, str]:
        """The files at the tip, path -> text; those under a folder by their full path, and those that are missing left out."""
        named = {f"p{number}": path for number, path in enumerate(paths)}
        names = {"owner": self._owner, "name": self._name, "ledger": f"refs/heads/{self._branch}"}
        answer = self._client.query(read_back(len(paths)), {**names, "issue": self._issue, **named})
        if refusal := _refusal(answer, doing=f"read branch {self._branch!r}"):
            raise refusal
        with expecting("repository.ledger"):
            target = ((answer.data.get("repository") or {}).get("ledger") or {}).get("target")
            return _ledger_commit(target, paths).echoed if target else {}

    def create(self, root: CommitOid, change: Change) -> LedgerCommit:
        """Birth of the item's ledger: its branch at the root and its first commit, in one document.

        Raises:
            StaleTip: another first claim won.
        """
        change = self._hidden(change)
        ref = {"repositoryId": self._repository_id, "name": f"refs/heads/{self._branch}", "oid": root}
        variables = {"ref": ref, "commit": self._input(root, change), "issue": self._issue}
        return self._move(first_claim(), variables, change, echoes=(), before=root)

    def append(self, tip: CommitOid, change: Change, *, echoes: Sequence[str] = ()) -> LedgerCommit:
        """One commit on top of `tip`; `echoes` names files and folders of the new tree to read back with it.

        Raises:
            StaleTip: the branch is no longer at `tip`.
        """
        change = self._hidden(change)
        paths = {f"p{number}": path for number, path in enumerate(echoes)}
        variables = {"commit": self._input(tip, change), "issue": self._issue, **paths}
        return self._move(append(len(echoes)), variables, change, echoes=echoes, before=tip)

    def _hidden(self, change: Change) -> Change:
        return Change(
            headline=self._hide(change.headline),
            body=self._hide(change.body),
            files={path: self._hide(text) for path, text in change.files.items()},
        )

    def _move(
        self,
        document: str,
        variables: Mapping[str, Any],
        change: Change,
        *,
        echoes: Sequence[str],
        before: CommitOid,
    ) -> LedgerCommit:
        try:
            answer = self._client.mutate(document, variables)
            moved = _moved_to(answer, echoes)
            if moved is not None:
                return moved
            raise self._why_not_moved(answer, before)
        except TryAgainLater:
            if (landed := self._landed(change, echoes)) is not None:
                return landed
            raise

    def _landed(self, change: Change, echoes: Sequence[str]) -> LedgerCommit | None:
        """The tip, if it is this very change: an answer may be lost while the commit is not."""
        paths = {f"p{number}": path for number, path in enumerate(echoes)}
        names = {"owner": self._owner, "name": self._name, "ledger": f"refs/heads/{self._branch}"}
        answer = self._client.query(read_back(len(echoes)), {**names, "issue": self._issue, **paths})
        with expecting("repository.ledger"):
            tip = ((answer.data.get("repository") or {}).get("ledger") or {}).get("target") or {}
            is_ours = tip.get("message", "").strip() == change.message.strip()
            return _ledger_commit(tip, echoes) if is_ours else None

    def _why_not_moved(self, answer: Answered, before: CommitOid) -> CogworksError:
        for problem in answer.errors:
            if problem.type == "STALE_DATA" or "already exists" in problem.message:
                return StaleTip(f"branch {self._branch!r} is no longer at {before[:12]}: {problem.message}")
        return _refusal(answer, doing=f"write to branch {self._branch!r}") or TryAgainLater(
            f"GitHub returned no commit for branch {self._branch!r}. Run the command again."
        )

    def _input(self, head: CommitOid, change: Change) -> dict[str, Any]:
        return {
            "branch": {"repositoryNameWithOwner": f"{self._owner}/{self._name}", "branchName": self._branch},
            "expectedHeadOid": head,
            "message": {"headline": change.headline, "body": change.body},
            "fileChanges": {
                "additions": [
                    {"path": path, "contents": base64.b64encode(text.encode()).decode()}
                    for path, text in sorted(change.files.items())
                ]
            },
        }


def _moved_to(answer: Answered, echoes: Sequence[str]) -> LedgerCommit | None:
    """The commit in the answer to a write; None where there is none.

    Raises:
        TryAgainLater: nobody can read what the answer says, so whether the branch moved is unknown.
    """
    try:
        with expecting("lease.commit"):
            committed = (answer.data.get("lease") or {}).get("commit")
            return None if committed is None else _ledger_commit(committed, echoes)
    except UnexpectedAnswer as error:
        raise TryAgainLater(
            f"GitHub's answer to a write of the ledger cannot be read ({error.__cause__!r}), so it is unknown "
            "whether it was written. Run the command again: it looks before it writes. Report it if it stays."
        ) from error


def _tip(target: Mapping[str, Any], server_date: datetime) -> Tip:
    blob = (target.get("file") or {}).get("object") or {}
    history = tuple((c["message"], _date(c["committedDate"])) for c in target["history"]["nodes"])
    return Tip(
        oid=CommitOid(target["oid"]),
        state_text=blob.get("text") or "",
        history=history,
        server_date=server_date,
    )


def _ledger_commit(committed: Mapping[str, Any], echoes: Sequence[str]) -> LedgerCommit:
    issue = (committed.get("repository") or {}).get("issue") or {}
    echoed: dict[str, str] = {}
    for number, path in enumerate(echoes):
        echoed.update(_texts(path, committed.get(f"e{number}")))
    return LedgerCommit(
        oid=CommitOid(committed["oid"]),
        echoed=echoed,
        issue_is_open=issue.get("state", "OPEN") == "OPEN",
        labels=frozenset(node["name"] for node in (issue.get("labels") or {}).get("nodes") or ()),
    )


def _texts(path: str, entry: Mapping[str, Any] | None) -> dict[str, str]:
    target = (entry or {}).get("object") or {}
    inside = {f"{path}/{child['name']}": child.get("object") or {} for child in target.get("entries") or ()}
    # A text that GitHub cut off is worse than none: the reader that needs the file says that it is missing.
    return {
        name: blob["text"]
        for name, blob in {path: target, **inside}.items()
        if blob.get("text") is not None and not blob.get("isTruncated")
    }


def _refusal(answer: Answered, *, doing: str) -> CogworksError | None:
    """What the first error that matters means; something that is not there is no error."""
    for problem in answer.errors:
        if problem.type == "NOT_FOUND":
            continue
        if problem.type in _BROKEN_DOWN or problem.message.startswith(_SOMETHING_WENT_WRONG):
            return TryAgainLater(f"GitHub failed to {doing}: {problem.message}. Run the command again later.")
        text = f"GitHub refused to {doing}: {problem.type or 'error'}, {problem.message}."
        if problem.type in ("FORBIDDEN", "INSUFFICIENT_SCOPES") or "not accessible" in problem.message:
            return PermissionRefused(
                f"{text} Give the token `contents: write`; if a ruleset restricts branches, exempt `cogworks/ledger/*`."
            )
        if "rule" in problem.message.lower():
            return PermissionRefused(
                f"{text} Exempt `cogworks/ledger/*` from that ruleset and run the command again."
            )
        return CogworksError(f"{text} Nothing was written; run the command again, and report it if it stays.")
    return None


def _date(text: str) -> datetime:
    return datetime.fromisoformat(text)
