"""What a person sees in a browser: repositories, issues and pull requests, read-only."""

import hmac
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute
from starlette.routing import Route as WebRoute

from cogworks.hub.actions.access import find_issue
from cogworks.hub.actions.pulls import fork_point, pull_commits, pull_part
from cogworks.hub.actions.reviews import review_comments
from cogworks.hub.actions.timeline import timeline
from cogworks.hub.clock import http_date
from cogworks.hub.markup import (
    changes_section,
    commit_section,
    conversation_page,
    index_page,
    repository_page,
    timeline_section,
)
from cogworks.hub.records import Issue, Repository
from cogworks.hub.refusals import NotFound
from cogworks.hub.rest.described import refusal_of
from cogworks.hub.store import PAGES, kept_token
from cogworks.hub.world import World

# No script, no style, no image from anywhere else: the pages show text that strangers wrote.
_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
ASKING = f"""Not Found

Pages of private repositories need the token of this hub. Open the link with ?token= that `cogworks hub serve` printed;
the token is also in {PAGES} of the hub's directory.
"""
"""The same for what is not there and for what is private: nobody learns which."""


class Doorkeeper:
    """Who may see the pages of private repositories: the browser that once opened the link with the token.

    Knows the token, and the cookie in which a browser keeps it.
    """

    def __init__(self, world: World) -> None:
        self._token = kept_token(world.directory, PAGES).encode()
        # Cookies are shared by all ports of a host, and so would be those of two hubs.
        self._cookie = f"hub_pages_{urlsplit(world.base_url).port or 80}"

    def admits(self, request: Request) -> bool:
        """Whether the browser brings the cookie."""
        return self._fits(request.cookies.get(self._cookie, ""))

    def entry(self, request: Request) -> Response | None:
        """The way in for a link with the token: the cookie, and the page's address without it. None for any other."""
        if not self._fits(request.query_params.get("token", "")):
            return None
        # Not the whole address: where it leads is never for the link to say.
        answer = RedirectResponse("/" + request.url.path.lstrip("/"), 303)
        answer.set_cookie(self._cookie, self._token.decode(), httponly=True, samesite="strict")
        return answer

    def _fits(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self._token)


class Pages:
    """The handlers of the HTML pages; those of private repositories are for whom the doorkeeper admits."""

    def __init__(self, world: World, door: Doorkeeper) -> None:
        self._world = world
        self._door = door

    def index(self, request: Request) -> str:
        is_admitted = self._door.admits(request)
        every = self._world.store.every(Repository)
        shown = [each for each in every if is_admitted or not each.is_private]
        return index_page(shown, hint="" if is_admitted else ASKING.partition("\n\n")[2])

    def repository(self, request: Request) -> str:
        repository = self._repository(request)
        issues = self._world.store.children(Issue, repository.id)
        return repository_page(repository, issues[::-1])

    def issue(self, request: Request) -> str:
        repository = self._repository(request)
        issue = find_issue(self._world, repository, int(request.path_params["number"]))
        return self._conversation(repository, issue)

    def commit(self, request: Request) -> str:
        repository = self._repository(request)
        git = self._world.repository_git(repository)
        commit = git.commit(str(request.path_params["oid"]))
        if commit is None:
            raise NotFound
        before = commit.parents[0] if commit.parents else git.write_tree(())
        return commit_section(repository, commit, git.changes(before, commit.oid))

    def _conversation(self, repository: Repository, issue: Issue) -> str:
        world = self._world
        if issue.pull is None:
            return conversation_page(
                world, repository, issue, timeline_section(world, timeline(world, issue), [])
            )
        commits = tuple(pull_commits(world, issue))
        talk = timeline_section(world, timeline(world, issue, commits), review_comments(world, issue))
        git = world.repository_git(repository)
        changes = git.changes(fork_point(world, issue), pull_part(issue).head_oid)
        return conversation_page(world, repository, issue, talk + changes_section(changes))

    def diff(self, request: Request) -> str:
        repository = self._repository(request)
        issue = find_issue(self._world, repository, int(request.path_params["number"]), pull=True)
        git = self._world.repository_git(repository)
        return git.patch(fork_point(self._world, issue), pull_part(issue).head_oid)

    def _repository(self, request: Request) -> Repository:
        name = f"{request.path_params['owner']}/{request.path_params['name']}".lower()
        repository = self._world.store.find(Repository, name)
        if repository is None or (repository.is_private and not self._door.admits(request)):
            raise NotFound
        return repository


def page_routes(world: World) -> list[BaseRoute]:
    """The routes of all pages; they come after REST's, which share the root."""
    door = Doorkeeper(world)
    pages = Pages(world, door)

    def web(path: str, show: Callable[[Request], str], kind: type[Response] = HTMLResponse) -> BaseRoute:
        def answer(request: Request) -> Response:
            headers = {**_HEADERS, "date": http_date(world.clock.now())}
            if (entry := door.entry(request)) is not None:
                entry.headers.update(headers)
                return entry
            try:
                with world.reading():
                    return kind(show(request).encode("utf-8", "replace"), headers=headers)
            except NotFound:
                refusal = refusal_of(request.method, request.url.path)
                text = ASKING if refusal.status == NotFound.status else f"{refusal}\n"
                return PlainTextResponse(text, refusal.status, headers=headers)

        async def endpoint(request: Request) -> Response:
            return await run_in_threadpool(answer, request)

        return WebRoute(path, endpoint, methods=["GET"])

    return [
        web("/", pages.index),
        web("/{owner}/{name}", pages.repository),
        web("/{owner}/{name}/issues/{number:int}", pages.issue),
        web("/{owner}/{name}/pull/{number:int}", pages.issue),
        web("/{owner}/{name}/pull/{number:int}.diff", pages.diff, PlainTextResponse),
        web("/{owner}/{name}/commit/{oid}", pages.commit),
    ]
