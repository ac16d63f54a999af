"""Every class of error that GitHub knows: how often it is asked, how long it is waited for, how the program ends."""

from collections.abc import Sequence
from typing import NamedTuple

import httpx
import pytest

from cogworks.errors import CogworksError, LostRace, PermissionRefused, TryAgainLater, UsageError
from cogworks.github.client import GraphQLClient
from cogworks.github.credentials import FixedToken
from cogworks.github.documents import (
    BrokenOff,
    GraphQLProblem,
    OutcomeUnknown,
    ResourceLimitsExceeded,
    as_error,
)
from cogworks.github.rest_failures import AlreadyExists, failure

URL = "https://api.github.com/graphql"
DATE = "Sat, 21 Nov 2026 04:00:00 GMT"
NOW_S = 1_795_233_600
Reply = httpx.Response | Exception


def response(status: int, content: object = None, **headers: object) -> httpx.Response:
    named = {name.replace("_", "-"): str(value) for name, value in headers.items()}
    return httpx.Response(status, json=content, headers={"Date": DATE, **named})


def said(status: int, message: str, **headers: object) -> httpx.Response:
    return response(status, {"message": message}, **headers)


def told(kind: str, message: str, **headers: object) -> httpx.Response:
    """HTTP 200 with an error and nothing else, as GraphQL fails."""
    return response(200, {"data": None, "errors": [{"type": kind, "message": message}]}, **headers)


class Case(NamedTuple):
    """One class of error, met by a read and by a write."""

    name: str
    reply: Reply
    on_read: type[CogworksError]
    on_write: type[CogworksError]
    exit_code: int
    read_requests: int
    write_requests: int
    words: str
    slept: Sequence[float] = ()
    """By the read."""


AGAIN = (1.0, 2.0, 4.0)
PRIMARY = {"x_ratelimit_remaining": 0, "x_ratelimit_reset": NOW_S + 60}
LATE = {"x_ratelimit_remaining": 0, "x_ratelimit_reset": NOW_S + 3600}
CASES = (
    Case(
        "never sent",
        httpx.ConnectError("refused"),
        TryAgainLater,
        TryAgainLater,
        75,
        4,
        4,
        "cannot be reached",
        AGAIN,
    ),
    Case(
        "time-out",
        httpx.ReadTimeout("slow"),
        TryAgainLater,
        OutcomeUnknown,
        75,
        4,
        1,
        "gave no answer",
        AGAIN,
    ),
    Case("500", said(500, "oops"), TryAgainLater, OutcomeUnknown, 75, 4, 1, "answered 500", AGAIN),
    Case("503", said(503, "oops"), TryAgainLater, OutcomeUnknown, 75, 4, 1, "answered 503", AGAIN),
    Case("502", said(502, "oops"), BrokenOff, OutcomeUnknown, 75, 4, 1, "answered 502", AGAIN),
    Case("504", said(504, "oops"), BrokenOff, OutcomeUnknown, 75, 4, 1, "answered 504", AGAIN),
    Case(
        "internal as 200",
        told("", "Something went wrong while executing your query."),
        TryAgainLater,
        OutcomeUnknown,
        75,
        4,
        1,
        "Something went wrong",
        AGAIN,
    ),
    Case("401", said(401, "Bad credentials"), PermissionRefused, PermissionRefused, 4, 1, 1, "not valid"),
    Case(
        "primary limit in time",
        said(403, "API rate limit exceeded", **PRIMARY),
        TryAgainLater,
        TryAgainLater,
        75,
        4,
        4,
        "pause of 61 s",
        (61.0, 61.0, 61.0),
    ),
    Case(
        "primary limit too late",
        said(403, "API rate limit exceeded", **LATE),
        TryAgainLater,
        TryAgainLater,
        75,
        1,
        1,
        "pause of 3601 s",
    ),
    Case(
        "primary limit as 200",
        told("RATE_LIMITED", "API rate limit exceeded", **LATE),
        TryAgainLater,
        TryAgainLater,
        75,
        1,
        1,
        "RATE_LIMITED",
    ),
    Case(
        "secondary limit with header",
        said(403, "You have exceeded a secondary rate limit", retry_after=5),
        TryAgainLater,
        TryAgainLater,
        75,
        4,
        4,
        "pause of 5 s",
        (5.0, 5.0, 5.0),
    ),
    Case(
        "secondary limit",
        said(403, "You have exceeded a secondary rate limit"),
        TryAgainLater,
        TryAgainLater,
        75,
        4,
        4,
        "secondary rate limit",
        (60.0, 120.0, 240.0),
    ),
    Case(
        "429 with header",
        said(429, "slow down", retry_after=700),
        TryAgainLater,
        TryAgainLater,
        75,
        1,
        1,
        "pause of 700 s",
    ),
    Case(
        "429",
        said(429, "slow down"),
        TryAgainLater,
        TryAgainLater,
        75,
        4,
        4,
        "slow down",
        (60.0, 120.0, 240.0),
    ),
    Case(
        "secondary limit as 200",
        told("", "You have exceeded a secondary rate limit"),
        TryAgainLater,
        TryAgainLater,
        75,
        4,
        4,
        "secondary rate limit",
        (60.0, 120.0, 240.0),
    ),
    Case(
        "not accessible",
        said(403, "Resource not accessible by integration", x_accepted_github_permissions="contents=write"),
        PermissionRefused,
        PermissionRefused,
        4,
        1,
        1,
        "Grant the token contents=write",
    ),
    Case(
        "single sign-on",
        said(403, "Resource protected", x_github_sso="required; url=https://github.com/sso"),
        PermissionRefused,
        PermissionRefused,
        4,
        1,
        1,
        "Authorise the token for single sign-on",
    ),
    Case("404", said(404, "Not Found"), UsageError, UsageError, 2, 1, 1, "GITHUB_GRAPHQL_URL"),
    Case("410", said(410, "Gone"), UsageError, UsageError, 2, 1, 1, "deleted or switched off"),
    Case(
        "redirect elsewhere",
        said(307, "", location="https://other.example/graphql"),
        UsageError,
        UsageError,
        2,
        1,
        1,
        "redirects to another server",
    ),
    Case(
        "endless redirect",
        said(308, "", location="/graphql"),
        CogworksError,
        CogworksError,
        1,
        6,
        6,
        "without end",
    ),
    Case(
        "too large",
        told("RESOURCE_LIMITS_EXCEEDED", "Resource limits for this query exceeded"),
        ResourceLimitsExceeded,
        ResourceLimitsExceeded,
        75,
        1,
        1,
        "too large",
    ),
    Case("422", said(422, "what?"), CogworksError, CogworksError, 1, 1, 1, "please report"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("is_write", [False, True], ids=["read", "write"])
def test_what_the_client_does_about_an_error(case: Case, is_write: bool) -> None:
    asked: list[httpx.Request] = []
    slept: list[float] = []

    def server(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        if isinstance(case.reply, Exception):
            raise case.reply
        return case.reply

    transport = httpx.MockTransport(server)
    with (
        GraphQLClient(
            URL, FixedToken("t"), transport=transport, sleep=slept.append, jitter=lambda: 0.0
        ) as client,
        pytest.raises(CogworksError, match=case.words) as caught,
    ):
        (client.mutate if is_write else client.query)("document { x }", {})

    assert type(caught.value) is (case.on_write if is_write else case.on_read)
    assert caught.value.exit_code == case.exit_code
    assert len(asked) == (case.write_requests if is_write else case.read_requests)
    if not is_write:
        assert slept == list(case.slept)
    assert sum(slept) <= 600


@pytest.mark.parametrize(
    ("problem", "kind", "exit_code"),
    [
        (GraphQLProblem(("a",), "STALE_DATA", "Expected branch to point to x"), LostRace, 0),
        (GraphQLProblem(("a",), "FORBIDDEN", "Resource not accessible by integration"), PermissionRefused, 4),
        (
            GraphQLProblem(("a",), "", "Resource not accessible by personal access token"),
            PermissionRefused,
            4,
        ),
        (GraphQLProblem(("a",), "INSUFFICIENT_SCOPES", "needs repo"), PermissionRefused, 4),
        (GraphQLProblem(("a",), "NOT_FOUND", "Could not resolve to a node"), UsageError, 2),
        (GraphQLProblem(("a",), "RATE_LIMITED", "API rate limit exceeded"), TryAgainLater, 75),
        (GraphQLProblem(("a",), "", "was submitted too quickly"), TryAgainLater, 75),
        (GraphQLProblem(("a",), "RESOURCE_LIMITS_EXCEEDED", "exceeded"), ResourceLimitsExceeded, 75),
        (GraphQLProblem(("a",), "", "Something went wrong while executing your query"), TryAgainLater, 75),
        (GraphQLProblem(("a",), "UNPROCESSABLE", "is invalid"), CogworksError, 1),
        (
            GraphQLProblem(
                ("a",), "UNPROCESSABLE", "Commenting is disabled on issues with more than 2500 comments"
            ),
            PermissionRefused,
            4,
        ),
    ],
    ids=lambda value: value.type or value.message[:20] if isinstance(value, GraphQLProblem) else None,
)
def test_what_an_error_beside_the_data_means(
    problem: GraphQLProblem, kind: type[CogworksError], exit_code: int
) -> None:
    error = as_error(problem, doing="write")

    assert (type(error), error.exit_code) == (kind, exit_code)
    assert "(at a)" in str(error)


@pytest.mark.parametrize(
    ("status", "body", "headers", "on_read", "on_write", "exit_code"),
    [
        (307, "", {"location": "/x"}, UsageError, UsageError, 2),
        (401, "{}", {}, PermissionRefused, PermissionRefused, 4),
        (
            403,
            '{"message": "Resource not accessible by integration"}',
            {},
            PermissionRefused,
            PermissionRefused,
            4,
        ),
        (403, '{"message": "secondary rate limit"}', {}, TryAgainLater, TryAgainLater, 75),
        (403, "{}", {"x-ratelimit-remaining": "0"}, TryAgainLater, TryAgainLater, 75),
        (429, "{}", {}, TryAgainLater, TryAgainLater, 75),
        (404, "{}", {}, UsageError, UsageError, 2),
        (410, "{}", {}, UsageError, UsageError, 2),
        (409, "{}", {}, LostRace, LostRace, 0),
        (422, '{"message": "Reference already exists"}', {}, AlreadyExists, AlreadyExists, 1),
        (422, '{"message": "Repository rule violations found"}', {}, PermissionRefused, PermissionRefused, 4),
        (422, "{}", {}, CogworksError, CogworksError, 1),
        (500, "{}", {}, TryAgainLater, OutcomeUnknown, 75),
        (502, "<html>", {}, TryAgainLater, OutcomeUnknown, 75),
    ],
)
def test_what_an_answer_of_rest_means(
    *,
    status: int,
    body: str,
    headers: dict[str, str],
    on_read: type[CogworksError],
    on_write: type[CogworksError],
    exit_code: int,
) -> None:
    errors = [failure("GET /x", status, body, headers, is_write=is_write) for is_write in (False, True)]

    assert [type(error) for error in errors] == [on_read, on_write]
    assert [error.exit_code for error in errors] == [exit_code] * 2
    assert all(f"GET /x answered {status}" in str(error) for error in errors)
