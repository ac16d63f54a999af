"""Completes the lists of an answer by further pages, all of them of the same moment.

Files that an answer holds only the beginning of, fetched whole by their object id.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cogworks.errors import CogworksError
from cogworks.forge.recorded import Recorded
from cogworks.github.documents import Answer, GraphQLProblem, as_error, document
from cogworks.unexpected import entries, expecting, unexpected

Json = dict[str, Any]
MAX_PAGES = 50
"""GitHub takes 2 500 comments per issue; a list that goes on beyond twice that is none."""


class Asks(Protocol):
    """Sends one document."""

    def __call__(self, document: str, variables: Mapping[str, Any], /) -> Answer: ...


class HeadMoved(CogworksError):
    """The repository changed between two requests of one read; it has to start again."""


@dataclass(frozen=True)
class Listing:
    """One list of the answer that goes on."""

    name: str
    """Below `repository.issue`, or `refs` below `repository`."""
    document: str
    is_backwards: bool

    @property
    def place(self) -> str:
        return "repository.refs" if self.name == "refs" else f"repository.issue.{self.name}"


REFS = Listing("refs", "more-branches", is_backwards=False)
SUB_ISSUES = Listing("subIssues", "more-sub-issues", is_backwards=False)
COMMENTS = Listing("comments", "more-comments", is_backwards=True)
LABEL_EVENTS = Listing("inputs", "more-label-events", is_backwards=True)
REFERENCES = Listing("references", "more-references", is_backwards=True)
ALL = (REFS, SUB_ISSUES, COMMENTS, LABEL_EVENTS, REFERENCES)


def moment_of(repository: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Head of the default branch and tip of the ledger: two answers that agree here are of one moment."""
    with expecting("repository"):
        heads = (repository.get("defaultBranchRef"), repository.get("ledger"))
        first, second = (None if ref is None else str(ref["target"]["oid"]) for ref in heads)
        return first, second


def completed(
    answer: Answer, ask: Asks, variables: Mapping[str, Any], recorded: Recorded, *, with_dependencies: bool
) -> Answer:
    """The answer with every list as long as it has to be.

    Branches and sub-issues come whole; comments, label events and references back to what the ledger has recorded.

    Args:
        variables: of the read, without those that say how much of each list.

    Raises:
        HeadMoved: a page is of another moment.
        UnexpectedAnswer: a page does not look as it was asked for.
        CogworksError: a page was refused.
    """
    repository: Json = dict(answer.data["repository"])
    repository["issue"] = dict(repository["issue"])
    problems = list(answer.errors)
    pages = _Pages(ask, variables, moment_of(repository), with_dependencies, problems)
    for listing in ALL:
        parent = repository if listing is REFS else repository["issue"]
        with expecting(listing.place):
            parent[listing.name] = pages.whole(parent[listing.name], listing, _enough(listing, recorded))
    return Answer({**answer.data, "repository": repository}, tuple(problems), answer.server_date, answer.rate)


def is_behind(data: Mapping[str, Any]) -> bool:
    """Whether a list that claims to be whole is shorter or longer than its own count."""
    repository = data["repository"]
    lists = [(repository, REFS), (repository["issue"], SUB_ISSUES), (repository["issue"], COMMENTS)]
    for parent, listing in lists:
        with expecting(listing.place):
            page = parent[listing.name]
            if not _goes_on(page, listing) and page["totalCount"] != len(page["nodes"]):
                return True
    return False


def _enough(listing: Listing, recorded: Recorded) -> Callable[[Sequence[Any]], bool]:
    """Whether the list need not be followed any further, by what of it is known."""
    if listing is COMMENTS and recorded.last_comment_id:
        return lambda nodes: any(int(node["fullDatabaseId"]) <= recorded.last_comment_id for node in nodes)
    if listing is LABEL_EVENTS and recorded.label_event_ids:
        return lambda nodes: any(node["id"] in recorded.label_event_ids for node in nodes)
    if listing is REFERENCES and recorded.pull_request_ids:
        # One that is still missing is read by its id.
        return lambda _: True
    return lambda _: False


@dataclass(frozen=True)
class _Pages:
    ask: Asks
    variables: Mapping[str, Any]
    moment: tuple[str | None, str | None]
    with_dependencies: bool
    problems: list[GraphQLProblem]

    def whole(self, first: Json, listing: Listing, enough: Callable[[Sequence[Any]], bool]) -> Json:
        page, nodes = first, list(entries(first["nodes"], "nodes"))
        for _ in range(MAX_PAGES):
            if not _goes_on(page, listing) or enough(nodes):
                return {**first, "pageInfo": page["pageInfo"], "nodes": nodes}
            page = self._next(page, listing)
            more = entries(page["nodes"], "nodes")
            nodes = [*more, *nodes] if listing.is_backwards else [*nodes, *more]
        raise unexpected(listing.place, f"a list of more than {MAX_PAGES} pages")

    def _next(self, last: Json, listing: Listing) -> Json:
        cursor = last["pageInfo"]["startCursor" if listing.is_backwards else "endCursor"]
        names = {"owner", "name", "ledger", "branchPrefix" if listing is REFS else "number"}
        variables = {name: value for name, value in self.variables.items() if name in names}
        text = document(listing.document, with_dependencies=self.with_dependencies)
        answer = self.ask(text, {**variables, "cursor": cursor})
        parent: Json | None = answer.data.get("repository")
        if parent is not None and moment_of(parent) != self.moment:
            raise HeadMoved(f"the repository changed while {listing.place} was read")
        if parent is not None and listing is not REFS:
            parent = parent.get("issue")
        page = (parent or {}).get(listing.name)
        if not page:
            problem = next(iter(answer.errors), GraphQLProblem((), "NOT_FOUND", "nothing came"))
            raise as_error(problem, doing=f"read the rest of {listing.place}")
        self.problems.extend(answer.errors)
        whole: Json = page
        return whole


def _goes_on(page: Mapping[str, Any], listing: Listing) -> bool:
    goes_on = page["pageInfo"]["hasPreviousPage" if listing.is_backwards else "hasNextPage"]
    if not isinstance(goes_on, bool):
        raise unexpected(f"{listing.place}.pageInfo", f"{goes_on!r} in place of true or false")
    return goes_on


class BlobSource(Protocol):
    """Reads a git blob of the repository whole."""

    def read_blob(self, oid: str) -> bytes: ...


def with_whole_files(answer: Answer, blobs: Callable[[], BlobSource]) -> Answer:
    """The answer with the whole text of `state.json` and of every text file below `.cogworks`.

    An object id names the content, so what is fetched later is of the same moment.

    Args:
        blobs: called only when a file was cut off; costs a request each.
    """
    repository = answer.data["repository"]
    with expecting("files"):
        if not any(_is_cut(blob) for blob in _blobs(repository)):
            return answer
        whole = copy.deepcopy(dict(repository))
        source = blobs()
        for blob in [blob for blob in _blobs(whole) if _is_cut(blob)]:
            blob.update(_whole(source.read_blob(str(blob["oid"]))))
    return Answer({**answer.data, "repository": whole}, answer.errors, answer.server_date, answer.rate)


def _is_cut(blob: Mapping[str, Any]) -> bool:
    return bool(blob.get("isTruncated")) and not blob.get("isBinary") and "oid" in blob


def _whole(content: bytes) -> dict[str, Any]:
    try:
        return {"text": content.decode("utf-8"), "isTruncated": False}
    except UnicodeDecodeError:
        return {"text": None, "isTruncated": False, "isBinary": True}


def _blobs(repository: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    default, ledger = repository.get("defaultBranchRef") or {}, repository.get("ledger") or {}
    folder = (default.get("target") or {}).get("configuration") or {}
    yield from _below(folder.get("object") or {})
    state = ((ledger.get("target") or {}).get("file") or {}).get("object")
    if state:
        yield state


def _below(tree: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for entry in entries(tree.get("entries", []), "entries"):
        content = entry.get("object") or {}
        if entry["type"] == "tree":
            yield from _below(content)
        elif content:
            yield content
