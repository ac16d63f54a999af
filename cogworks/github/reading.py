"""Reads a work item in one request, in more only where the first answer does not hold everything or cannot be trusted."""

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, Protocol
from urllib.parse import quote, urlsplit

from pydantic import ValidationError

from cogworks.errors import CogworksError, TryAgainLater
from cogworks.forge.addresses import IssueAddress
from cogworks.forge.bodies import work_prefix
from cogworks.forge.facts import ReviewText
from cogworks.forge.recorded import Recorded, recorded_in
from cogworks.forge.snapshot import Snapshot
from cogworks.github.documents import (
    Answer,
    GraphQLProblem,
    ResourceLimitsExceeded,
    as_error,
    document,
    is_internal,
    is_undefined_field,
    read_work_item,
)
from cogworks.github.pages import BlobSource, HeadMoved, completed, is_behind, moment_of, with_whole_files
from cogworks.github.parsing import comment_of, parse_snapshot, refuse_unreadable
from cogworks.github.pulls import parse_recorded_pulls, refuse_other_than_gone, review_texts_of
from cogworks.ledger.record import ROOT_BRANCH, ledger_branch
from cogworks.own_folders import own_folder
from cogworks.unexpected import each, expecting
from cogworks.vocabulary import Value

KEPT_FOR = timedelta(hours=24)
"""Afterwards the whole read is tried again: the repository or GitHub may have recovered."""
ReadSize = Literal["whole", "half", "split"]
_SMALLER: dict[ReadSize, ReadSize] = {"whole": "half", "half": "split"}


class Habit(Value):
    """One way to read."""

    size: ReadSize = "whole"
    """`half`: half of every list that can be paged; `split`: besides that in two documents."""
    with_dependencies: bool = True
    """Whether the server knows which issue blocks which."""

    def smaller(self) -> "Habit | None":
        """The next smaller way; None when there is none."""
        size = _SMALLER.get(self.size)
        return None if size is None else self.model_copy(update={"size": size})


class Habits(Protocol):
    """Remembers a habit between reads."""

    def load(self) -> Habit: ...
    def keep(self, habit: Habit) -> None: ...


class RememberedHere:
    """As long as the process lives."""

    def __init__(self) -> None:
        self._habit = Habit()

    def load(self) -> Habit:
        return self._habit

    def keep(self, habit: Habit) -> None:
        self._habit = habit


class _Kept(Value):
    """What one file holds; every entry is the moment it was learned at."""

    without_dependencies: datetime | None = None
    smaller: Mapping[str, tuple[ReadSize, datetime]] = {}
    """By repository."""


class HabitFile:
    """One file per server: the size by repository, the unknown fields for all of them. Losing it costs a request."""

    def __init__(
        self, directory: Path, *, server_url: str, repository: str, now: Callable[[], datetime]
    ) -> None:
        """
        Args:
            repository: owner/name
            now: with a time zone.
        """
        self._path = directory / f"{quote(urlsplit(server_url).netloc, safe='')}.json"
        self._repository = repository.casefold()
        self._now = now

    def load(self) -> Habit:
        kept = self._read()
        known = kept.smaller.get(self._repository)
        return Habit(
            size=known[0] if known is not None and self._is_fresh(known[1]) else "whole",
            with_dependencies=not self._is_fresh(kept.without_dependencies),
        )

    def keep(self, habit: Habit) -> None:
        """Write it down, if that can be done: a full disk is no reason not to work."""
        kept, now = self._read(), self._now()
        smaller = {name: entry for name, entry in kept.smaller.items() if self._is_fresh(entry[1])}
        smaller.pop(self._repository, None)
        if habit.size != "whole":
            smaller[self._repository] = (habit.size, now)
        learned = _Kept(without_dependencies=None if habit.with_dependencies else now, smaller=smaller)
        try:
            own_folder(self._path.parent)
            handle, written = tempfile.mkstemp(dir=self._path.parent)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(learned.model_dump(mode="json"), file)
            Path(written).replace(self._path)
        except OSError:
            return

    def _read(self) -> _Kept:
        try:
            return _Kept.model_validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return _Kept()

    def _is_fresh(self, since: datetime | None) -> bool:
        if since is None or since.tzinfo is None:
            return False
        return timedelta() <= self._now() - since < KEPT_FOR


_MAX_RE_READS = 3
_RE_READ_PAUSE_S = 0.5
_SIZES: Mapping[ReadSize, Mapping[str, int]] = {
    "whole": {},
    "half": {"page": 50, "branches": 20},
    "split": {"page": 50, "branches": 20},
}
_REPEATS: Mapping[ReadSize, int] = {"whole": 1, "half": 1, "split": 3}
"""A document that GitHub does not finish is made smaller rather than repeated: each time-out costs points."""


class Queries(Protocol):
    """Reads through GraphQL."""

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer: ...


class PatientQueries(Protocol):
    """Reads through GraphQL, again after failures as often as it may."""

    def query(self, document: str, variables: Mapping[str, Any], *, cut_short_repeats: int = 3) -> Answer: ...


class SnapshotReader:
    """Reads snapshots from one server and remembers what that server does not know or does not manage."""

    def __init__(
        self,
        client: PatientQueries,
        *,
        sleep: Callable[[float], None],
        blobs: Callable[[], BlobSource] | None = None,
        habits: Habits | None = None,
    ) -> None:
        """
        Args:
            blobs: called when a file is too large for the answer; without it such a file is an error.
        """
        self._client = client
        self._sleep = sleep
        self._blobs = blobs
        self._habits = habits if habits is not None else RememberedHere()

    def read(self, address: IssueAddress) -> Snapshot:
        """The work item as it is now, everything of one moment: one request.

        More only while GitHub's lists are behind their own counts or the repository moves (three times), for every
        hundred entries of a list that does not fit, for a file that is too large, and where GitHub cannot do the read in
        one piece, which is remembered.

        Raises: as `parse_snapshot`, and what the client raises.
        """
        answer = self._settled(address)
        return self._with_status_comment(parse_snapshot(answer, address), _recorded(answer), address)

    def _settled(self, address: IssueAddress) -> Answer:
        """An answer of one moment whose lists fit their counts, or after three more reads the last one."""
        answer: Answer | None = None
        for attempt in range(_MAX_RE_READS + 1):
            if attempt:
                self._sleep(_RE_READ_PAUSE_S)
            try:
                answer = self._whole(address)
            except HeadMoved:
                continue
            if not is_behind(answer.data):
                break
        if answer is None:
            raise TryAgainLater(
                f"{address.url}: the repository changed during each of {_MAX_RE_READS + 1} reads. Run the command again."
            )
        return answer

    def complete(self, snapshot: Snapshot, recorded: Sequence[str]) -> Snapshot:
        """The snapshot with the recorded pull requests that it lacks; no request when it lacks none.

        What GitHub says is no pull request of this item becomes one of `strangers` instead. A merged pull request whose branch is gone is found by its mention of the issue, which may be late or lost.

        Args:
            recorded: node ids.
        """
        known = {pull.node_id for pull in snapshot.pulls}
        missing = [node_id for node_id in dict.fromkeys(recorded) if node_id not in known]
        if not missing:
            return snapshot
        answer = self._client.query(document("recorded"), {"ids": missing})
        read = parse_recorded_pulls(
            answer,
            repository_id=snapshot.repository.node_id,
            head_prefix=work_prefix(snapshot.issue.number),
            doing=f"read recorded pull requests of {snapshot.issue.url}",
        )
        pulls = sorted([*snapshot.pulls, *read.own], key=lambda pull: pull.number)
        strangers = (*snapshot.strangers, *read.strangers)
        return snapshot.model_copy(update={"pulls": tuple(pulls), "strangers": strangers})

    def review_texts(self, snapshot: Snapshot, reviews: Sequence[str]) -> Mapping[str, ReviewText]:
        """What is written in these reviews of the item, by node id; one request."""
        answer = self._client.query(document("review-texts"), {"ids": list(reviews)})
        refuse_other_than_gone(answer, doing=f"read reviews of {snapshot.issue.url}")
        return review_texts_of(answer.data.get("nodes") or ())

    def _whole(self, address: IssueAddress) -> Answer:
        answer, habit = self._ask(address)
        refuse_unreadable(answer, address)
        if self._blobs is not None:
            answer = with_whole_files(answer, self._blobs)
        size = {"page": _SIZES[habit.size]["page"]} if _SIZES[habit.size] else {}
        return completed(
            answer,
            lambda text, variables: self._client.query(text, {**variables, **size}),
            _variables(address),
            _recorded(answer),
            with_dependencies=habit.with_dependencies,
        )

    def _ask(self, address: IssueAddress) -> tuple[Answer, Habit]:
        """The first answer, by the way of reading that works here."""
        known = habit = self._habits.load()
        while True:
            try:
                answer = self._answer_about(address, habit)
            except ResourceLimitsExceeded:
                smaller = habit.smaller()
                if smaller is None:
                    raise
                habit = smaller
                continue
            unknown = next((problem for problem in answer.errors if is_undefined_field(problem)), None)
            if unknown is None:
                if habit != known:
                    self._habits.keep(habit)
                return answer, habit
            if not habit.with_dependencies:
                raise CogworksError(
                    f"{address.server_url} does not know what cogworks asks for: {unknown.message}. "
                    "GitHub Enterprise Server 3.17 or newer is needed."
                )
            # An older GitHub Enterprise Server: the plan in the ledger knows the dependencies as well.
            habit = habit.model_copy(update={"with_dependencies": False})

    def _answer_about(self, address: IssueAddress, habit: Habit) -> Answer:
        if habit.size != "split":
            return self._query(
                read_work_item(with_dependencies=habit.with_dependencies),
                ("owner", "name", "number", "ledger", "root", "branchPrefix"),
                address,
                habit,
            )
        core = self._query(
            document("read-item-core"), ("owner", "name", "number", "ledger", "root"), address, habit
        )
        with expecting("repository"):
            if not (core.data.get("repository") or {}).get("issue"):
                return core
        work = self._query(
            document("read-item-work", with_dependencies=habit.with_dependencies),
            ("owner", "name", "number", "ledger", "branchPrefix"),
            address,
            habit,
        )
        return _joined(core, work, address)

    def _query(self, text: str, names: Sequence[str], address: IssueAddress, habit: Habit) -> Answer:
        variables = {name: value for name, value in _variables(address).items() if name in names}
        size = {name: count for name, count in _SIZES[habit.size].items() if f"${name}:" in text}
        answer = self._client.query(text, {**variables, **size}, cut_short_repeats=_REPEATS[habit.size])
        for problem in answer.errors:
            if problem.type == "RESOURCE_LIMITS_EXCEEDED" or is_internal(problem):
                # Part of the answer is there, but what is missing is not known to be missing.
                raise ResourceLimitsExceeded(str(as_error(problem, doing=f"read {address.url}")))
        return answer

    def _with_status_comment(self, snapshot: Snapshot, recorded: Recorded, address: IssueAddress) -> Snapshot:
        """The status comment may be older than every page that had to be read."""
        comments, comment_id = snapshot.issue.comments, recorded.status_comment_id
        if (
            not comment_id
            or snapshot.issue.has_all_comments
            or any(c.node_id == comment_id for c in comments)
        ):
            return snapshot
        answer = self._client.query(document("recorded"), {"ids": [comment_id]})
        refuse_other_than_gone(answer, doing=f"read the status comment of {address.url}")
        with expecting("nodes"):
            nodes = [node for node in answer.data.get("nodes") or () if node and "viewerDidAuthor" in node]
            own = [node for node in nodes if node["issue"]["id"] == snapshot.issue.node_id]
            strangers = [f"comment {node['id']} is not on this issue" for node in nodes if node not in own]
        whole = sorted([*comments, *each(own, "nodes", comment_of)], key=lambda comment: comment.database_id)
        issue = snapshot.issue.model_copy(update={"comments": tuple(whole), "sought_comments": (comment_id,)})
        return snapshot.model_copy(update={"issue": issue, "strangers": (*snapshot.strangers, *strangers)})


def _joined(core: Answer, work: Answer, address: IssueAddress) -> Answer:
    """One answer out of the two halves of a read."""
    first, second = core.data["repository"], work.data.get("repository")
    with expecting("repository"):
        if not second or not second.get("issue"):
            problem = next(iter(work.errors), GraphQLProblem((), "NOT_FOUND", "nothing came"))
            raise as_error(problem, doing=f"read {address.url}")
        if moment_of(first) != moment_of(second):
            raise HeadMoved("the repository changed between the two halves of the read")
        issue = {**second["issue"], **first["issue"]}
    # The second half has the two refs in short, so the first one's come last.
    repository = {**second, **first, "issue": issue}
    return Answer(
        {**core.data, "repository": repository}, (*core.errors, *work.errors), core.server_date, work.rate
    )


def _recorded(answer: Answer) -> Recorded:
    with expecting("repository.ledger"):
        ledger = answer.data["repository"].get("ledger") or {}
        blob = ((ledger.get("target") or {}).get("file") or {}).get("object") or {}
        text = blob.get("text")
        return recorded_in(text if isinstance(text, str) else None)


def _variables(address: IssueAddress) -> dict[str, Any]:
    return {
        "owner": address.owner,
        "name": address.name,
        "number": address.number,
        "ledger": f"refs/heads/{ledger_branch(address.number)}",
        "root": f"refs/heads/{ROOT_BRANCH}",
        "branchPrefix": f"refs/heads/{work_prefix(address.number)}",
    }
