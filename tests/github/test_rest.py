import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import github as pygithub
import pytest
import requests
import urllib3

from cogworks.errors import CogworksError, LostRace, PermissionRefused, TryAgainLater, UsageError
from cogworks.github.credentials import FixedToken
from cogworks.github.documents import OutcomeUnknown
from cogworks.github.meter import Requests
from cogworks.github.rest import RestClient, mapped_errors
from cogworks.vocabulary import BranchName, Login
from tests.limits import ENDS_WITHIN_S

TOKEN = "ghp_topsecret"
ROOT = BranchName("cogworks/ledger/root")


@dataclass
class Reply:
    status: int
    content: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Server:
    """A real HTTP server that gives the replies it was told to, in order."""

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            state.asked.append((self.command, self.path, json.loads(body) if body else None))
            state.tokens.append(self.headers.get("Authorization"))
            reply = state.replies.pop(0)
            if reply.status == 0:
                self.close_connection = True
                return
            content = b"" if reply.content is None else json.dumps(reply.content).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(content)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            """Quiet."""

    for verb in ("GET", "POST", "PUT"):
        setattr(Handler, f"do_{verb}", Handler.answer)
    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{listening.server_port}"
    yield state
    listening.shutdown()
    thread.join(timeout=ENDS_WITHIN_S)
    listening.server_close()


@pytest.fixture
def meter() -> Requests:
    return Requests()


@pytest.fixture
def rest(server: Server, meter: Requests) -> Iterator[RestClient]:
    with RestClient(f"{server.url}/api/v3", FixedToken(TOKEN), "o/r", meter=meter, backoff_s=0.0) as client:
        yield client


def test_the_ledger_root_is_a_parentless_commit_with_one_readme(
    server: Server, rest: RestClient, meter: Requests
) -> None:
    server.replies = [Reply(201, {"sha": "t" * 40}), Reply(201, {"sha": "c" * 40}), Reply(201, {"ref": "x"})]

    oid = rest.create_ledger_root(ROOT)

    assert oid == "c" * 40
    (_, trees, tree), (_, commits, commit), (_, refs, ref) = server.asked
    assert [trees, commits, refs] == [
        f"/api/v3/repos/o/r/git/{part}" for part in ("trees", "commits", "refs")
    ]
    assert [entry["path"] for entry in tree["tree"]] == ["README.md"]
    assert (commit["tree"], commit["parents"]) == ("t" * 40, [])
    assert "[skip ci]" in commit["message"]
    assert ref == {"ref": "refs/heads/cogworks/ledger/root", "sha": "c" * 40}
    assert meter.rest == 3


def test_a_ledger_root_that_exists_is_read(server: Server, rest: RestClient) -> None:
    server.replies = [
        Reply(201, {"sha": "t" * 40}),
        Reply(201, {"sha": "c" * 40}),
        Reply(422, {"message": "Reference already exists"}),
        Reply(200, {"object": {"sha": "d" * 40}}),
    ]

    assert rest.create_ledger_root(ROOT) == "d" * 40
    assert server.asked[-1][:2] == ("GET", "/api/v3/repos/o/r/git/ref/heads/cogworks/ledger/root")


def test_a_ruleset_that_forbids_the_ledger_is_named(server: Server, rest: RestClient) -> None:
    server.replies = [
        Reply(201, {"sha": "t" * 40}),
        Reply(201, {"sha": "c" * 40}),
        Reply(
            422,
            {
                "message": "Repository rule violations found\n\nCannot create ref due to creations being restricted."
            },
        ),
    ]

    with pytest.raises(PermissionRefused, match="allow the branches `cogworks/\\*\\*` in its rulesets"):
        rest.create_ledger_root(ROOT)


def test_a_label_is_created_or_found(server: Server, rest: RestClient) -> None:
    exists = {
        "message": "Validation Failed",
        "errors": [{"resource": "Label", "code": "already_exists", "field": "name"}],
    }
    server.replies = [Reply(201, {"node_id": "L1"}), Reply(422, exists), Reply(200, {"node_id": "L2"})]

    assert rest.ensure_label("cogworks:run", "0e8a16", "Start") == "L1"
    assert rest.ensure_label("good first issue", "0e8a16", "Start") == "L2"
    assert server.asked[0] == (
        "POST",
        "/api/v3/repos/o/r/labels",
        {"name": "cogworks:run", "color": "0e8a16", "description": "Start"},
    )
    assert server.asked[2][1] == "/api/v3/repos/o/r/labels/good%20first%20issue"


def test_what_was_just_made_is_looked_for_twice_more_before_it_is_missing(
    server: Server, meter: Requests
) -> None:
    exists = {"message": "Validation Failed", "errors": [{"resource": "Label", "code": "already_exists"}]}
    missing = Reply(404, {"message": "Not Found"})
    slept: list[float] = []
    with RestClient(
        server.url, FixedToken(TOKEN), "o/r", meter=meter, backoff_s=0.0, sleep=slept.append
    ) as rest:
        server.replies = [Reply(422, exists), missing, missing, Reply(200, {"node_id": "L1"})]
        assert rest.ensure_label("cogworks:run", "0e8a16", "Start") == "L1"

        server.replies = [Reply(422, exists), missing, missing, missing]
        with pytest.raises(UsageError, match="answered 404"):
            rest.ensure_label("cogworks:run", "0e8a16", "Start")
    assert slept == [1.0, 2.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("blob", "content"),
    [
        ({"encoding": "base64", "content": "aGVs\nbG8="}, b"hello"),
        ({"encoding": "utf-8", "content": "hellö"}, "hellö".encode()),
    ],
    ids=["base64", "utf-8"],
)
def test_a_blob_is_read_whole(server: Server, rest: RestClient, blob: dict[str, str], content: bytes) -> None:
    server.replies = [Reply(200, blob)]

    assert rest.read_blob("a" * 40) == content
    assert server.asked == [("GET", f"/api/v3/repos/o/r/git/blobs/{'a' * 40}", None)]


def test_a_blob_of_another_shape_is_an_error_of_ours(server: Server, rest: RestClient) -> None:
    server.replies = [Reply(200, {"encoding": "base64"})]

    with pytest.raises(CogworksError, match="unexpected answer at blob"):
        rest.read_blob("a" * 40)


def test_a_permission_of_another_shape_is_an_error_of_ours(server: Server, rest: RestClient) -> None:
    server.replies = [Reply(200, ["admin"])]

    with pytest.raises(CogworksError, match="unexpected answer at permission"):
        rest.permission_of(Login("ann"))


def test_the_permission_of_a_person_is_the_finest_word_for_it(server: Server, rest: RestClient) -> None:
    server.replies = [
        Reply(200, {"permission": "write", "role_name": "maintain"}),
        Reply(200, {"permission": "read"}),
        Reply(404, {"message": "Not Found"}),
    ]

    permissions = [rest.permission_of(Login(login)) for login in ("ann", "bob", "x[bot]")]

    assert permissions == ["maintain", "read", "none"]
    assert server.asked[2][1] == "/api/v3/repos/o/r/collaborators/x%5Bbot%5D/permission"


def test_a_write_that_meets_another_state_has_lost_a_race(server: Server, rest: RestClient) -> None:
    server.replies = [Reply(409, {"message": "Head branch was modified"})]

    with pytest.raises(LostRace, match="Head branch was modified"):
        rest.ensure_label("x", "0e8a16", "X")


def test_a_label_without_an_id_is_an_error_of_ours(server: Server, rest: RestClient) -> None:
    server.replies = [Reply(200, {"errors": [{"type": "RATE_LIMITED"}]})]

    with pytest.raises(CogworksError, match="unexpected answer at label bug"):
        rest.ensure_label("bug", "0e8a16", "Broken")


@pytest.mark.parametrize("status", [302, 307, 308])
def test_a_redirected_write_is_an_error_and_not_a_success(
    server: Server, rest: RestClient, status: int
) -> None:
    server.replies = [Reply(status, {}, {"Location": f"{server.url}/elsewhere"})]

    with pytest.raises(UsageError, match="nothing was done"):
        rest.ensure_label("x", "0e8a16", "X")


def test_a_renamed_repository_is_followed_with_verb_and_body(server: Server, rest: RestClient) -> None:
    server.replies = [
        Reply(301, {}, {"Location": f"{server.url}/api/v3/repositories/1/labels"}),
        Reply(201, {"node_id": "L1"}),
    ]

    assert rest.ensure_label("a", "b", "c") == "L1"
    assert server.asked[1] == (
        "POST",
        "/api/v3/repositories/1/labels",
        {"name": "a", "color": "b", "description": "c"},
    )


def test_a_read_is_repeated_and_every_request_is_counted(
    server: Server, rest: RestClient, meter: Requests
) -> None:
    server.replies = [Reply(502), Reply(503), Reply(200, {"permission": "admin"})]

    assert rest.permission_of(Login("ann")) == "admin"
    assert meter.rest == len(server.asked) == 3


def test_a_read_that_never_succeeds_ends_as_try_again_later(
    server: Server, rest: RestClient, meter: Requests
) -> None:
    server.replies = [Reply(502)] * 4

    with pytest.raises(TryAgainLater):
        rest.permission_of(Login("ann"))
    assert meter.rest == len(server.asked) == 4


@pytest.mark.parametrize("broken", [Reply(502), Reply(500), Reply(0)], ids=["502", "500", "cut"])
def test_a_write_whose_answer_is_lost_is_sent_once(server: Server, rest: RestClient, broken: Reply) -> None:
    server.replies = [broken]

    with pytest.raises(OutcomeUnknown):
        rest.ensure_label("x", "0e8a16", "X")
    assert len(server.asked) == 1


def test_a_limited_write_says_how_long_to_wait(server: Server, rest: RestClient) -> None:
    server.replies = [
        Reply(403, {"message": "You have exceeded a secondary rate limit"}, {"Retry-After": "30"})
    ]

    with pytest.raises(TryAgainLater) as caught:
        rest.ensure_label("x", "0e8a16", "X")
    assert caught.value.retry_after_s == 30.0


@pytest.mark.parametrize(
    ("reply", "kind", "text"),
    [
        (Reply(401, {"message": "Bad credentials"}), PermissionRefused, "The token is not valid"),
        (
            Reply(403, {"message": "Resource not accessible by integration"}),
            PermissionRefused,
            "Grant the token",
        ),
        (Reply(410, {"message": "Issues are disabled for this repo"}), UsageError, "Issues are disabled"),
        (
            Reply(422, {"message": "Validation Failed", "errors": ["no"]}),
            CogworksError,
            "Validation Failed; no",
        ),
        (Reply(405, {"message": "Pull Request is not mergeable"}), CogworksError, "not mergeable"),
    ],
)
def test_a_refusal_carries_githubs_reason_and_what_to_do(
    server: Server, rest: RestClient, reply: Reply, kind: type[CogworksError], text: str
) -> None:
    server.replies = [reply]

    with pytest.raises(kind, match=text):
        rest.ensure_label("x", "0e8a16", "X")


def test_an_expired_token_is_renewed_once(server: Server) -> None:
    class Tokens:
        def token(self) -> str:
            return "old"

        def renewed(self) -> str | None:
            return "new"

    server.replies = [Reply(401, {"message": "Bad credentials"}), Reply(201, {"node_id": "L1"})]
    with RestClient(server.url, Tokens(), "o/r") as client:
        client.ensure_label("x", "0e8a16", "X")

    assert server.tokens == ["token old", "token new"]


def test_a_server_that_is_not_there_is_try_again_later() -> None:
    with (
        RestClient("http://127.0.0.1:9", FixedToken(TOKEN), "o/r", backoff_s=0.0) as client,
        pytest.raises(TryAgainLater),
    ):
        client.permission_of(Login("ann"))


def foreign_exceptions() -> list[type[Exception]]:
    found = [
        kind
        for module in (pygithub, pygithub.GithubException, requests.exceptions, urllib3.exceptions)
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Exception)
        and not issubclass(kind, Warning)
        and kind.__module__.split(".")[0] in ("github", "requests", "urllib3")
    ]
    return sorted(set(found), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", foreign_exceptions(), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("is_write", [False, True], ids=["read", "write"])
def test_no_foreign_exception_escapes(kind: type[Exception], is_write: bool) -> None:
    with pytest.raises(CogworksError), mapped_errors("POST /x", is_write=is_write):
        raise raised(kind)


def raised(kind: type[Exception]) -> Exception:
    """One of its kind, without asking what its constructor wants."""
    if issubclass(kind, pygithub.GithubException):
        return kind(500, {"message": "what happened"}, {})
    error = kind.__new__(kind)
    error.args = ("what happened",)
    return error


def test_the_token_is_in_no_text(server: Server, rest: RestClient) -> None:
    server.replies = [Reply(401, {"message": "Bad credentials"})]

    with pytest.raises(PermissionRefused) as caught:
        rest.ensure_label("x", "0e8a16", "X")
    assert TOKEN not in f"{caught.value} {caught.value!r} {rest!r}"
