import inspect
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx
import pytest
import respx

from cogworks.errors import CogworksError, PermissionRefused, TryAgainLater, UsageError
from cogworks.forge.facts import RateLimit
from cogworks.github.client import GraphQLClient
from cogworks.github.credentials import FixedToken
from cogworks.github.documents import Answer, BrokenOff, GraphQLProblem, OutcomeUnknown
from cogworks.github.meter import Requests

URL = "https://api.github.com/graphql"
DATE = "Sat, 21 Nov 2026 04:00:00 GMT"
NOW = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
TOKEN = "ghp_topsecret"

Reply = httpx.Response | Exception


def response(status: int = 200, content: object = None, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json=content, headers={"Date": DATE, **named})


def done(**data: object) -> httpx.Response:
    return response(200, {"data": data or {"viewer": {"login": "ann"}}})


class Server:
    """Answers posts to the address of GraphQL, old or new, with the given replies, one after another."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self._router = respx.MockRouter()
        self._router.post(host="api.github.com", path__in=["/graphql", "/v2/graphql"]).mock(
            side_effect=list(replies)
        )
        self.transport = httpx.MockTransport(self._router.handler)

    @property
    def asked(self) -> list[httpx.Request]:
        return [call.request for call in self._router.calls]


@dataclass
class RenewableToken:
    values: list[str]

    def token(self) -> str:
        return self.values.pop(0)

    def renewed(self) -> str | None:
        return self.values.pop(0) if self.values else None


@dataclass
class Bench:
    """A client before a server that says what it is told to, with a clock that only sleeping moves."""

    server: Server
    client: GraphQLClient
    slept: list[float]
    meter: Requests


@pytest.fixture
def bench() -> Iterator[Callable[..., Bench]]:
    clients: list[GraphQLClient] = []

    def make(*replies: Reply, tokens: object = None, mutation_pause_s: float = 0.0) -> Bench:
        server, slept, meter = Server(replies), list[float](), Requests()
        client = GraphQLClient(
            URL,
            tokens if isinstance(tokens, RenewableToken) else FixedToken(TOKEN),
            meter=meter,
            transport=server.transport,
            mutation_pause_s=mutation_pause_s,
            sleep=slept.append,
            jitter=lambda: 0.25,
            monotonic=lambda: 100.0 + sum(slept),
        )
        clients.append(client)
        return Bench(server, client, slept, meter)

    yield make
    for client in clients:
        client.close()


def test_an_answer_carries_data_errors_the_servers_clock_and_the_rate(bench: Callable[..., Bench]) -> None:
    problem = {"type": "NOT_FOUND", "path": ["repository", "ledger"], "message": "no such ref"}
    data = {
        "repository": None,
        "rateLimit": {"cost": 2, "remaining": 4998, "resetAt": "2026-11-21T05:00:00Z"},
    }
    made = bench(response(200, {"data": data, "errors": [problem]}))

    answer = made.client.query("query { x }", {"number": 4})

    assert answer == Answer(
        data=data,
        errors=(GraphQLProblem(("repository", "ledger"), "NOT_FOUND", "no such ref"),),
        server_date=NOW,
        rate=RateLimit(remaining=4998, reset_at=datetime(2026, 11, 21, 5, 0, tzinfo=UTC), cost=2),
    )
    request = made.server.asked[0]
    assert json.loads(request.content) == {"query": "query { x }", "variables": {"number": 4}}
    assert request.headers["Authorization"] == f"Bearer {TOKEN}"
    assert made.meter.graphql == 1


def test_a_document_that_does_not_fit_the_schema_is_an_answer_without_data(
    bench: Callable[..., Bench],
) -> None:
    problem = {
        "path": ["query WorkItem", "repository", "issue", "blockedBy"],
        "extensions": {"code": "undefinedField", "typeName": "Issue", "fieldName": "blockedBy"},
        "message": "Field 'blockedBy' doesn't exist on type 'Issue'",
    }
    made = bench(response(200, {"errors": [problem]}))

    answer = made.client.query("query { x }", {})

    assert answer.data == {}
    assert answer.errors == (
        GraphQLProblem((), "undefinedField", "Field 'blockedBy' doesn't exist on type 'Issue'"),
    )


@pytest.mark.parametrize(
    "broken",
    [
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("cut"),
        httpx.Response(502, text="<html>bad gateway</html>"),
        httpx.Response(504),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"data": {}}, headers={"Date": "yesterday"}),
        response(
            200, {"data": None, "errors": [{"message": "Something went wrong while executing your query."}]}
        ),
    ],
    ids=["refused", "time-out", "cut", "502", "504", "html", "list", "no-date", "something-went-wrong"],
)
def test_a_read_is_repeated_three_times_with_growing_pauses(
    bench: Callable[..., Bench], broken: Reply
) -> None:
    made = bench(broken, broken, broken, done())

    assert made.client.query("query { x }", {}).data == {"viewer": {"login": "ann"}}
    assert made.slept == [1.25, 2.25, 4.25]
    assert made.meter.graphql == 4


def test_a_read_that_never_succeeds_ends_as_try_again_later(bench: Callable[..., Bench]) -> None:
    made = bench(*[httpx.Response(503)] * 4)

    with pytest.raises(TryAgainLater, match="answered 503: an empty body, 4 times"):
        made.client.query("query { x }", {})


def test_a_read_that_may_be_too_large_is_given_up_early_and_everything_else_is_not(
    bench: Callable[..., Bench],
) -> None:
    slow = bench(httpx.Response(504), httpx.Response(502))
    shaky = bench(httpx.ConnectError("refused"), httpx.Response(500), httpx.ReadTimeout("slow"), done())

    with pytest.raises(BrokenOff, match="answered 502: an empty body, 2 times"):
        slow.client.query("query { x }", {}, cut_short_repeats=1)
    shaky.client.query("query { x }", {}, cut_short_repeats=1)

    assert (slow.meter.graphql, shaky.meter.graphql) == (2, 4)


def test_a_write_that_was_never_sent_is_repeated(bench: Callable[..., Bench]) -> None:
    made = bench(httpx.ConnectError("refused"), httpx.ConnectTimeout("slow"), done())

    made.client.mutate("mutation { x }", {})

    assert len(made.server.asked) == 3


@pytest.mark.parametrize(
    "broken",
    [
        httpx.ReadTimeout("slow"),
        httpx.WriteError("broken pipe"),
        httpx.RemoteProtocolError("cut"),
        httpx.Response(500),
        httpx.Response(502),
        httpx.Response(200, text="<html>"),
        response(
            200, {"data": None, "errors": [{"message": "Something went wrong while executing your query."}]}
        ),
    ],
    ids=["read-time-out", "write-error", "cut", "500", "502", "html", "something-went-wrong"],
)
def test_a_write_whose_answer_is_lost_is_never_sent_again(bench: Callable[..., Bench], broken: Reply) -> None:
    made = bench(broken)

    with pytest.raises(OutcomeUnknown, match="Whether the write happened is unknown"):
        made.client.mutate("mutation { x }", {})
    assert made.meter.graphql == 1


def test_a_write_that_was_done_in_part_is_an_answer_whatever_befell_the_rest(
    bench: Callable[..., Bench],
) -> None:
    problem = {"type": "RATE_LIMITED", "path": ["b"], "message": "API rate limit exceeded"}
    made = bench(response(200, {"data": {"a": {"id": "1"}, "b": None}, "errors": [problem]}))

    answer = made.client.mutate("mutation { a b }", {})

    assert answer.data == {"a": {"id": "1"}, "b": None}
    assert answer.problem_at("b") == GraphQLProblem(("b",), "RATE_LIMITED", "API rate limit exceeded")
    assert answer.problem_at("a") is None


@pytest.mark.parametrize(
    ("limited", "pauses"),
    [
        (
            response(
                403,
                {"message": "API rate limit exceeded"},
                x_ratelimit_remaining="0",
                x_ratelimit_reset="1795233630",
            ),
            [31.0],
        ),
        (response(403, {"message": "You have exceeded a secondary rate limit"}, retry_after="7"), [7.0]),
        (response(403, {"message": "You have exceeded a secondary rate limit"}), [60.0]),
        (response(429, {"message": "Too many requests"}), [60.0]),
        (
            response(
                200,
                {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]},
                x_ratelimit_remaining="0",
                x_ratelimit_reset="1795233610",
            ),
            [11.0],
        ),
        (
            response(
                200,
                {
                    "data": {"a": None},
                    "errors": [{"message": "You have exceeded a secondary rate limit", "path": ["a"]}],
                },
            ),
            [60.0],
        ),
    ],
    ids=["primary", "secondary-header", "secondary", "429", "primary-200", "secondary-200"],
)
def test_a_rate_limit_is_waited_for_by_githubs_own_clock(
    bench: Callable[..., Bench], limited: httpx.Response, pauses: list[float]
) -> None:
    made = bench(limited, done())

    made.client.mutate("mutation { x }", {})

    assert made.slept == pauses


def test_a_pause_of_more_than_ten_minutes_is_left_to_the_next_step(bench: Callable[..., Bench]) -> None:
    made = bench(response(403, {"message": "API rate limit exceeded"}, retry_after="601"))

    with pytest.raises(TryAgainLater, match="wants a pause of 601 s") as caught:
        made.client.query("query { x }", {})
    assert caught.value.retry_after_s == 601.0
    assert made.slept == []


def test_secondary_limits_double_the_pause_and_end_after_three(bench: Callable[..., Bench]) -> None:
    made = bench(*[response(429, {"message": "slow down"})] * 4)

    with pytest.raises(TryAgainLater):
        made.client.query("query { x }", {})
    assert made.slept == [60.0, 120.0, 240.0]


def test_a_missing_permission_is_named(bench: Callable[..., Bench]) -> None:
    made = bench(
        response(
            403,
            {"message": "Resource not accessible by integration"},
            x_accepted_github_permissions="issues=write",
        )
    )

    with pytest.raises(PermissionRefused, match="Grant the token issues=write and run the step again"):
        made.client.mutate("mutation { x }", {})


def test_an_expired_token_is_renewed_once(bench: Callable[..., Bench]) -> None:
    made = bench(response(401, {"message": "Bad credentials"}), done(), tokens=RenewableToken(["old", "new"]))

    made.client.mutate("mutation { x }", {})

    assert [request.headers["Authorization"] for request in made.server.asked] == ["Bearer old", "Bearer new"]


@pytest.mark.parametrize("tokens", [RenewableToken(["old"]), RenewableToken(["old", "new", "newer"])])
def test_a_token_that_stays_invalid_is_refused(bench: Callable[..., Bench], tokens: RenewableToken) -> None:
    made = bench(*[response(401, {"message": "Bad credentials"})] * 2, tokens=tokens)

    with pytest.raises(PermissionRefused, match="The token is not valid"):
        made.client.query("query { x }", {})


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_keeps_method_and_body(bench: Callable[..., Bench], status: int) -> None:
    made = bench(response(status, None, location="/v2/graphql"), done())

    made.client.mutate("mutation { x }", {"a": 1})

    first, second = made.server.asked
    assert second.url == "https://api.github.com/v2/graphql"
    assert (second.method, second.content) == ("POST", first.content)


def test_the_token_is_never_sent_to_another_host(bench: Callable[..., Bench]) -> None:
    made = bench(response(307, None, location="https://evil.example/graphql"))

    with pytest.raises(UsageError, match="redirects to another server"):
        made.client.query("query { x }", {})
    assert len(made.server.asked) == 1


def test_redirects_without_end_are_given_up(bench: Callable[..., Bench]) -> None:
    made = bench(*[response(301, None, location="/graphql")] * 6)

    with pytest.raises(CogworksError, match="redirects without end"):
        made.client.query("query { x }", {})


def test_writes_keep_their_distance_where_that_is_asked(bench: Callable[..., Bench]) -> None:
    made = bench(*[done() for _ in range(4)], mutation_pause_s=1.0)

    made.client.mutate("mutation { x }", {})
    made.client.query("query { x }", {})
    made.client.mutate("mutation { x }", {})
    made.client.mutate("mutation { x }", {})

    assert made.slept == [1.0, 1.0]


def httpx_exceptions() -> list[type[Exception]]:
    found = [kind for _, kind in inspect.getmembers(httpx, inspect.isclass) if issubclass(kind, Exception)]
    return [kind for kind in found if not issubclass(kind, Warning)]


@pytest.mark.parametrize("kind", httpx_exceptions(), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("is_write", [False, True], ids=["read", "write"])
def test_no_exception_of_httpx_escapes_nor_the_token(
    bench: Callable[..., Bench], kind: type[Exception], is_write: bool
) -> None:
    made = bench(*[raised(kind)] * 4)

    with pytest.raises(CogworksError) as caught:
        (made.client.mutate if is_write else made.client.query)("document { x }", {})
    assert TOKEN not in f"{caught.value!r} {caught.value} {made.client!r} {FixedToken(TOKEN)!r}"


def raised(kind: type[Exception]) -> Exception:
    request = httpx.Request("POST", URL)
    if kind is httpx.HTTPStatusError:
        return httpx.HTTPStatusError("status", request=request, response=httpx.Response(500))
    if kind in (httpx.StreamConsumed, httpx.ResponseNotRead, httpx.RequestNotRead, httpx.StreamClosed):
        return kind()
    return kind("what happened")


def test_a_pool_of_sockets_is_closed_with_the_client() -> None:
    with GraphQLClient(URL, FixedToken(TOKEN), transport=Server([done()]).transport) as client:
        client.query("query { x }", {})

    with pytest.raises(RuntimeError, match="closed"):
        client.query("query { x }", {})
