import json
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import jwt
import pytest
import respx

from cogworks.errors import CogworksError, PermissionRefused, TryAgainLater, UsageError
from cogworks.github.app_tokens import App, AppTokens, private_key_from
from cogworks.github.client import GraphQLClient
from cogworks.github.meter import Requests
from cogworks.github.rest import RestClient
from cogworks.vocabulary import Login
from tests.hub.apps import app_id, app_key, with_app
from tests.hub.running import RunningHub, running_hub, seeded
from tests.limits import ENDS_WITHIN_S

NOW = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
REST = "https://api.github.com"


class GitHub:
    """Gives an installation of App 5 a new token each time, for an hour of its own clock; it has no other endpoint.

    Args:
        refusals: answered first, whatever is asked.
    """

    def __init__(self, refusals: Sequence[httpx.Response | Exception] = ()) -> None:
        self.now = NOW
        self.made = 0
        self._refusals = list(refusals)
        self.router = respx.MockRouter(base_url=REST)
        self.router.get(path__regex=r"^/repos/[op]/\w+/installation$").mock(side_effect=self._installation)
        self.router.post(path__regex=r"^/app/installations/7[78]/access_tokens$").mock(
            side_effect=self._token
        )

    def _installation(self, _request: httpx.Request) -> httpx.Response:
        return self._refusal() or httpx.Response(200, json={"id": 77})

    def _token(self, _request: httpx.Request) -> httpx.Response:
        if (refusal := self._refusal()) is not None:
            return refusal
        self.made += 1
        expires = (self.now + timedelta(hours=1)).isoformat()
        return httpx.Response(201, json={"token": f"ghs_{self.made}", "expires_at": expires})

    def _refusal(self) -> httpx.Response | None:
        refusal = self._refusals.pop(0) if self._refusals else None
        if isinstance(refusal, Exception):
            raise refusal
        return refusal

    @property
    def asked(self) -> list[httpx.Request]:
        return [call.request for call in self.router.calls]

    @property
    def paths(self) -> list[str]:
        return [f"{request.method} {request.url.path}" for request in self.asked]


def tokens(
    github: GitHub, directory: Path, *, installation: str = "", repository: str = "o/r", key: str = ""
) -> AppTokens:
    return AppTokens(
        App(id="5", private_key=key or app_key()[0], installation_id=installation),
        rest_url=REST,
        repository=repository,
        directory=directory,
        transport=httpx.MockTransport(github.router.handler),
        now=lambda: github.now,
        sleep=lambda _: None,
    )


def test_the_first_token_asks_for_the_installation_and_signs_for_five_minutes(tmp_path: Path) -> None:
    github = GitHub()

    assert tokens(github, tmp_path).token() == "ghs_1"
    assert github.paths == ["GET /repos/o/r/installation", "POST /app/installations/77/access_tokens"]
    signature = github.asked[0].headers["Authorization"].removeprefix("Bearer ")
    claims = jwt.decode(signature, app_key()[1], algorithms=["RS256"], options={"verify_exp": False})
    assert claims["iss"] == "5"
    assert claims["exp"] - claims["iat"] == 360


def test_a_known_installation_costs_one_request(tmp_path: Path) -> None:
    github = GitHub()

    tokens(github, tmp_path, installation="77").token()
    assert github.paths == ["POST /app/installations/77/access_tokens"]


def test_the_next_process_uses_the_token_that_was_kept(tmp_path: Path) -> None:
    github = GitHub()
    tokens(github, tmp_path).token()

    assert tokens(github, tmp_path, repository="o/other").token() == "ghs_1"
    assert github.made == 1


def test_another_account_installation_or_app_has_another_token(tmp_path: Path) -> None:
    github = GitHub()
    tokens(github, tmp_path).token()

    assert tokens(github, tmp_path, repository="p/r").token() == "ghs_2"
    assert tokens(github, tmp_path, installation="78").token() == "ghs_3"


@pytest.mark.parametrize(("minutes", "token"), [(58, "ghs_1"), (59, "ghs_2"), (61, "ghs_2")])
def test_a_token_is_replaced_a_minute_before_it_ends(tmp_path: Path, minutes: int, token: str) -> None:
    github = GitHub()
    source = tokens(github, tmp_path)
    source.token()

    github.now += timedelta(minutes=minutes)
    assert source.token() == token
    assert tokens(github, tmp_path).token() == token


def test_a_token_that_github_took_back_is_replaced(tmp_path: Path) -> None:
    github = GitHub()
    source = tokens(github, tmp_path)

    assert (source.token(), source.renewed(), source.token()) == ("ghs_1", "ghs_2", "ghs_2")
    assert tokens(github, tmp_path).token() == "ghs_2"


def test_only_this_user_can_read_what_is_kept(tmp_path: Path) -> None:
    tokens(GitHub(), tmp_path / "tokens").token()

    (file,) = (tmp_path / "tokens").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "tokens").stat().st_mode & 0o777 == 0o700
    assert json.loads(file.read_text())["token"] == "ghs_1"


@pytest.mark.parametrize("damage", ["readable", "mangled"])
def test_what_others_may_have_seen_or_nobody_understands_is_not_used(tmp_path: Path, damage: str) -> None:
    github = GitHub()
    tokens(github, tmp_path).token()
    (file,) = tmp_path.iterdir()
    if damage == "readable":
        file.chmod(0o644)
    else:
        file.write_text("{}")

    assert tokens(github, tmp_path).token() == "ghs_2"
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_place_that_cannot_be_written_costs_a_request_per_process(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("in the way")

    assert tokens(GitHub(), tmp_path / "tokens").token() == "ghs_1"


@pytest.mark.parametrize(
    ("refusal", "kind", "text"),
    [
        (httpx.Response(404, json={"message": "Not Found"}), PermissionRefused, "not installed on o/r"),
        (httpx.Response(401, json={"message": "Bad"}), PermissionRefused, "does not accept the key of App 5"),
        (
            httpx.Response(401, headers={"Date": "Sat, 21 Nov 2026 04:10:00 GMT"}),
            PermissionRefused,
            "clock is 600 s away from GitHub's: set it",
        ),
        (httpx.Response(403, json={"message": "suspended"}), PermissionRefused, "suspended"),
        (httpx.Response(429, headers={"Retry-After": "9"}), TryAgainLater, "rate limit"),
        (httpx.Response(200, json=[]), CogworksError, "unexpected answer at installation"),
    ],
    ids=["not-installed", "wrong-key", "clock", "suspended", "limited", "mangled"],
)
def test_a_refusal_says_what_to_do(
    tmp_path: Path, refusal: httpx.Response, kind: type[CogworksError], text: str
) -> None:
    github = GitHub([refusal])

    with pytest.raises(kind, match=text):
        tokens(github, tmp_path).token()
    assert len(github.asked) == 1


def test_an_outage_is_waited_out_a_little(tmp_path: Path) -> None:
    github = GitHub([httpx.ConnectError("refused"), httpx.ReadTimeout("slow"), httpx.Response(502)])

    assert tokens(github, tmp_path).token() == "ghs_1"
    with pytest.raises(TryAgainLater, match="answered 503"):
        tokens(GitHub([httpx.Response(503)] * 4), tmp_path / "other").token()


@pytest.mark.parametrize(
    "key", ["nonsense", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"]
)
def test_a_key_that_is_none_is_refused_and_never_shown(tmp_path: Path, key: str) -> None:
    source = tokens(GitHub(), tmp_path, key=key)

    with pytest.raises(UsageError, match="COGWORKS_GITHUB_APP_PRIVATE_KEY") as caught:
        source.token()
    assert "AAAA" not in f"{caught.value} {source!r} {App(id='5', private_key=key)!r}"


def test_a_key_is_a_pem_in_one_line_or_in_many_or_a_file(tmp_path: Path) -> None:
    pem = app_key()[0]
    (tmp_path / "key.pem").write_text(pem)

    assert private_key_from(pem) == pem
    assert private_key_from(pem.replace("\n", "\\n")) == pem
    assert private_key_from(str(tmp_path / "key.pem")) == pem
    with pytest.raises(UsageError, match="neither a PEM nor a file"):
        private_key_from(str(tmp_path / "missing.pem"))


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with running_hub(with_app(seeded(tmp_path_factory.mktemp("app") / "hub"))) as running:
        yield running


def test_graphql_rest_and_git_share_one_token(hub: RunningHub, tmp_path: Path) -> None:
    meter = Requests()
    app = App(id=str(app_id(hub.directory)), private_key=app_key()[0])
    source = AppTokens(app, rest_url=hub.api_url, repository="octo/demo", directory=tmp_path, meter=meter)

    with (
        GraphQLClient(hub.graphql_url, source) as graphql,
        RestClient(hub.api_url, source, "octo/demo") as rest,
    ):
        viewer = graphql.query("query { viewer { login } }", {}).data["viewer"]
        permission = rest.permission_of(Login("helper[bot]"))
    remote = ["git", "ls-remote", "--heads", hub.git_url("octo/demo", source.token())]
    heads = subprocess.run(remote, capture_output=True, text=True, check=True, timeout=ENDS_WITHIN_S).stdout

    assert viewer == {"login": "helper[bot]"}
    assert permission == "write"
    assert heads.endswith("refs/heads/main\n")
    assert meter.rest == 2
