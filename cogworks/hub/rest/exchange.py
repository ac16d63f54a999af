"""One REST request and its answer: reading fields, paging, and refusing what does not fit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlencode

from cogworks.hub.actions.access import Actor, find_issue, find_repository, require_sight, sees_issue
from cogworks.hub.gitstore import GitRepository
from cogworks.hub.records import Issue, Repository
from cogworks.hub.refusals import BadRequest, Forbidden, NotFound, Unprocessable
from cogworks.hub.world import World

T = TypeVar("T")
Json = dict[str, Any]
MAX_PER_PAGE = 100


@dataclass(frozen=True)
class Answer:
    """What goes back: a JSON body (None: no body) with its status, or bytes as they are."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """Sent in place of `body`: a diff, or a file as it is."""


NO_CONTENT = Answer(status=204)


def created(body: Any) -> Answer:
    return Answer(body, 201)


@dataclass(frozen=True)
class Call:
    """What came in, with everything a handler needs to answer it."""

    world: World
    actor: Actor
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    url: str
    """Of the request, without its query."""
    accept: str = ""
    reads: tuple[str, ...] = ()
    """The app permissions any one of which lets a token see this of a private repository."""

    @property
    def api(self) -> str:
        """The root of every API URL in an answer."""
        return f"{self.world.base_url}/api/v3"

    def wants(self, kind: str) -> bool:
        """Whether the `Accept` header asks for a media type such as `diff` or `raw` in place of JSON."""
        return any(
            part.strip().startswith("application/vnd.github")
            and kind in part.strip().split(".")[-1].split("+")
            for part in self.accept.split(",")
        )

    def repository(self) -> Repository:
        """The repository named in the path. Raises `NotFound`."""
        record = find_repository(self.world, self.actor, self.path["owner"], self.path["repo"])
        require_sight(self.actor, record, *self.reads)
        return record

    def git(self) -> GitRepository:
        return self.world.repository_git(self.repository())

    def issue(self, *, pull: bool | None = None) -> Issue:
        """The issue or pull request named in the path. Raises `NotFound`."""
        name = "pull_number" if "pull_number" in self.path else "issue_number"
        repository = self.repository()
        record = find_issue(self.world, repository, self.path_number(name), pull=pull)
        if self.reads and not sees_issue(self.actor, repository, record):
            raise Forbidden("Resource not accessible by integration")
        return record

    def issues(self) -> list[Issue]:
        """Those of the repository's issues and pull requests that the token may read, oldest first."""
        repository = self.repository()
        every = self.world.store.children(Issue, repository.id)
        return [issue for issue in every if sees_issue(self.actor, repository, issue)]

    def path_number(self, name: str) -> int:
        text = self.path[name]
        if not text.isdigit():
            raise NotFound
        return int(text)

    def query_number(self, name: str, default: int) -> int:
        text = self.query.get(name, "")
        return int(text) if text.isdigit() else default

    @property
    def fields(self) -> "Fields":
        """The JSON object that was sent. Raises `BadRequest` for any other body."""
        if self.body is None:
            return Fields({})
        if not isinstance(self.body, dict):
            raise BadRequest("Problems parsing JSON")
        return Fields(self.body)

    def page(self, items: Sequence[T], shape: Callable[[T], Any], wrap: str | None = None) -> Answer:
        """The page of `items` that was asked for, shaped, with GitHub's `Link` header.

        `wrap` names the list inside an object that also holds `total_count`.
        """
        size = min(max(self.query_number("per_page", 30), 1), MAX_PER_PAGE)
        number = max(self.query_number("page", 1), 1)
        last = max((len(items) + size - 1) // size, 1)
        body: Any = [shape(item) for item in items[(number - 1) * size : number * size]]
        if wrap is not None:
            body = {"total_count": len(items), wrap: body}
        links = self._links(number, last)
        return Answer(body, headers={"link": links} if links else {})

    def _links(self, number: int, last: int) -> str:
        targets = {
            "prev": number - 1 if number > 1 else None,
            "next": number + 1 if number < last else None,
            "last": last if number < last else None,
            "first": 1 if number > 1 else None,
        }
        parts = []
        for word, page in targets.items():
            if page is not None:
                query = urlencode({**self.query, "page": page})
                parts.append(f'<{self.url}?{query}>; rel="{word}"')
        return ", ".join(parts)


class Fields:
    """Typed access to the fields of a body; a wrong type is GitHub's 422."""

    def __init__(self, values: Json) -> None:
        self.values = values

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def get(self, name: str) -> Any:
        return self.values.get(name)

    def text(self, name: str) -> str | None:
        return self._typed(name, str, "a string")

    def required(self, name: str) -> str:
        text = self.text(name)
        if text is None:
            raise Unprocessable(f'Invalid request.\n\n"{name}" wasn\'t supplied.')
        return text

    def number(self, name: str) -> int | None:
        return self._typed(name, int, "an integer")

    def flag(self, name: str) -> bool | None:
        return self._typed(name, bool, "a boolean")

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of strings; None when the field is missing or null."""
        items = self._typed(name, list, "an array")
        if items is not None and not all(isinstance(each, str) for each in items):
            raise _wrong_type(name, items, "an array of strings")
        return None if items is None else tuple(items)

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """A list of integers; None when the field is missing or null."""
        items = self._typed(name, list, "an array")
        if items is not None and not all(type(each) is int for each in items):
            raise _wrong_type(name, items, "an array of integers")
        return None if items is None else tuple(items)

    def object(self, name: str) -> Json | None:
        return self._typed(name, dict, "an object")

    def objects(self, name: str) -> tuple["Fields", ...]:
        items = self._typed(name, list, "an array") or []
        if not all(isinstance(each, dict) for each in items):
            raise _wrong_type(name, items, "an array of objects")
        return tuple(Fields(each) for each in items)

    def choice(self, name: str, allowed: Sequence[str]) -> str | None:
        """One of a few words. Raises `Unprocessable` for any other."""
        word = self.text(name)
        if word is not None and word not in allowed:
            raise Unprocessable(f"Invalid request.\n\n{word} is not a member of {list(allowed)}.")
        return word

    def _typed(self, name: str, kind: type[T], words: str) -> T | None:
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise _wrong_type(name, value, words)
        return value


def _wrong_type(name: str, value: object, words: str) -> Unprocessable:
    return Unprocessable(f"Invalid request.\n\nFor '{name}', {value!r} is not {words}.")


Handler = Callable[[Call], Answer]


@dataclass(frozen=True)
class Route:
    """One operation as the OpenAPI description names it: `GET /repos/{owner}/{repo}`."""

    method: str
    path: str
    handler: Handler
