"""Models at clouds: what is sent and signed, what the vendor's own client makes of the same server, and who is missing."""

import json
import re
import subprocess
import sys
from typing import Any, NoReturn

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import (
    ClientError,
    CredentialRetrievalError,
    EndpointConnectionError,
    ReadTimeoutError,
)
from botocore.session import get_session
from google.auth.exceptions import RefreshError, TransportError

from cogworks.errors import CogworksError, ConfigurationError, PermissionRefused, TryAgainLater
from cogworks.llm.opening import opening_of
from cogworks.llm.provider import BrokenReply, ModelReply
from cogworks.llm.providers.bedrock import BedrockProvider, Signature
from cogworks.llm.providers.vertex import Tokens, VertexProvider, usual_url
from cogworks.llm.waiting import Waits
from cogworks.settings.config import parse_config, read_environment
from cogworks.wiring.model import open_provider
from tests.asked import question
from tests.cloud_wires import CLOUD_WIRES, PROJECT, REGION, FakeCredentials, session
from tests.limits import ENDS_WITHIN_S
from tests.model_server import Answer, ModelServer
from tests.wires import USAGE, Wire

MODEL = "anthropic.claude-sonnet-5-5-v1:0"
TEXT = '{"k": 1}'
BEDROCK, VERTEX = CLOUD_WIRES["bedrock"], CLOUD_WIRES["vertex"]
AT_ONCE = Waits(lambda _: None, float)
NOWHERE = {
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
}


@pytest.fixture(autouse=True)
def no_cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_PROFILE",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
    ):
        monkeypatch.delenv(name, raising=False)
    for name, value in NOWHERE.items():
        monkeypatch.setenv(name, value)


def asked(
    wire: Wire, *answers: Answer, schema: dict[str, Any] | None = None, key: str = "k"
) -> tuple[ModelReply, ModelServer]:
    with ModelServer() as server:
        server.answers(*answers)
        reply = wire.asking(server.url, key=key).complete(question(model=MODEL, schema=schema))
    return reply, server


@pytest.mark.parametrize(
    ("wire", "path"),
    [
        (BEDROCK, "/model/anthropic.claude-sonnet-5-5-v1:0/invoke-with-response-stream"),
        (
            VERTEX,
            f"/v1/projects/{PROJECT}/locations/europe-west1/publishers/anthropic/models/anthropic.claude-sonnet-5-5-v1%3A0:streamRawPredict",
        ),
    ],
    ids=["bedrock", "vertex"],
)
def test_a_question_is_the_messages_api_with_the_model_in_its_address(wire: Wire, path: str) -> None:
    reply, server = asked(wire, wire.stream(wire.events(TEXT, usage=USAGE)))

    [seen] = server.seen
    assert (reply.text, reply.usage) == (TEXT, USAGE)
    assert seen.path == path
    assert "model" not in seen.body
    assert seen.body["anthropic_version"] == "2026-10-21"
    assert seen.body["output_config"]["format"]["type"] == "json_schema"
    assert seen.body.get("stream", False) is (wire is VERTEX)


def test_a_request_to_bedrock_is_signed_as_amazons_library_signs_what_arrived() -> None:
    with ModelServer() as server:
        server.answers(BEDROCK.stream(BEDROCK.events(TEXT)))
        BEDROCK.asking(server.url).complete(question(model=MODEL))

    [seen] = server.seen
    body = json.dumps(seen.body, separators=(",", ":"), ensure_ascii=False).encode()
    assert int(seen.headers["content-length"]) == len(body)
    headers = {name: seen.headers[name] for name in ("host", "content-type", "x-amz-date")}
    again = AWSRequest(method="POST", url=f"{server.url}{seen.path}", data=body, headers=headers)
    again.context["timestamp"] = seen.headers["x-amz-date"]
    signer = SigV4Auth(session().get_credentials().get_frozen_credentials(), "bedrock", REGION)
    wanted = signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again)
    assert (
        f"Credential=an-access-key-id/{seen.headers['x-amz-date'][:8]}/{REGION}/bedrock/aws4_request"
        in seen.headers["authorization"]
    )
    assert seen.headers["authorization"].endswith(f"Signature={wanted}")


@pytest.mark.slow
def test_the_vendors_own_client_sends_and_reads_the_same() -> None:
    from anthropic import AnthropicBedrock, AnthropicVertex

    ours, theirs = [], []
    said: dict[str, Any] = {
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Hallo, Ö!"}],
        "system": "Be brief.",
    }
    form = {"format": {"type": "json_schema", "schema": {"title": "T", "type": "object"}}}
    with ModelServer() as server:
        for wire in (BEDROCK, VERTEX):
            server.answers(*[wire.stream(wire.events(TEXT, usage=USAGE))] * 2)
            wire.asking(server.url).complete(question(model=MODEL))
            ours.append(server.seen[-1])
            client: Any = (
                AnthropicBedrock(
                    aws_access_key="a",
                    aws_secret_key="k",
                    aws_region=REGION,
                    base_url=server.url,
                    max_retries=0,
                )
                if wire is BEDROCK
                else AnthropicVertex(
                    region="europe-west1",
                    project_id=PROJECT,
                    access_token="k",
                    base_url=f"{server.url}/v1",
                    max_retries=0,
                )
            )
            with client:
                events = list(client.messages.create(model=MODEL, stream=True, output_config=form, **said))
            theirs.append(server.seen[-1])
            assert (
                "".join(
                    each.delta.text
                    for each in events
                    if each.type == "content_block_delta" and each.delta.type == "text_delta"
                )
                == TEXT
            )

    assert [each.body for each in ours] == [each.body for each in theirs]
    assert [each.path.replace("%3A", ":") for each in ours] == [
        each.path.replace("%3A", ":") for each in theirs
    ]


@pytest.mark.parametrize("wire", [BEDROCK, VERTEX], ids=["bedrock", "vertex"])
def test_a_cloud_that_binds_no_reply_to_a_schema_is_told_it_in_words_and_remembered(wire: Wire) -> None:
    whole = wire.stream(wire.events(TEXT))
    with ModelServer() as server:
        server.answers(wire.failure(400, "output_config: Extra inputs are not permitted", ""), whole, whole)
        provider = wire.asking(server.url)
        for _ in range(2):
            assert provider.complete(question(model=MODEL)).text == TEXT

    first, *plain = [seen.body for seen in server.seen]
    assert "output_config" in first
    assert all("output_config" not in body and "fits this JSON Schema" in body["system"] for body in plain)


def test_a_stream_of_amazons_may_be_cut_anywhere_and_a_broken_one_is_no_reply() -> None:
    pieces = b"".join(BEDROCK.events(TEXT, usage=USAGE))
    small = [pieces[at : at + 7] for at in range(0, len(pieces), 7)]
    broken = bytearray(pieces)
    broken[40] ^= 1

    assert asked(BEDROCK, BEDROCK.stream(small))[0].text == TEXT
    with pytest.raises((BrokenReply, Exception), match="its stream cannot be read"):
        asked(BEDROCK, BEDROCK.stream([bytes(broken)]))


def test_no_message_shows_the_token_that_a_server_quotes() -> None:
    for wire in (BEDROCK, VERTEX):
        with pytest.raises(PermissionRefused) as refused:
            asked(wire, wire.failure(403, "no: a-secret-of-this-test", ""), key="a-secret-of-this-test")
        assert "a-secret-of-this-test" not in str(refused.value)
        assert "Check the credentials of" in str(refused.value)


def test_a_key_of_bedrocks_own_is_carried_and_nothing_is_signed() -> None:
    with ModelServer() as server:
        server.answers(BEDROCK.stream(BEDROCK.events(TEXT)))
        with BedrockProvider(Signature(REGION, key="own"), waits=AT_ONCE, base_url=server.url) as provider:
            provider.complete(question(model=MODEL))

    assert server.seen[0].headers["authorization"] == "Bearer own"
    assert "x-amz-date" not in server.seen[0].headers


def test_a_token_of_google_is_renewed_when_it_has_to_be_and_its_failures_are_told() -> None:
    login = FakeCredentials("k")
    with ModelServer() as server:
        server.answers(*[VERTEX.stream(VERTEX.events(TEXT))] * 2)
        with VertexProvider(
            Tokens("p", credentials=login), "global", waits=AT_ONCE, base_url=server.url
        ) as provider:
            for _ in range(2):
                provider.complete(question(model=MODEL))
            assert login.refreshed == 1
            problems: tuple[tuple[type[Exception], str, type[CogworksError]], ...] = (
                (TransportError, "no way", TryAgainLater),
                (RefreshError, "too old", PermissionRefused),
            )
            for kind, words, error in problems:
                login.token = None

                def fail(request: object, kind: type[Exception] = kind, words: str = words) -> None:
                    raise kind(words)

                login.refresh = fail  # type: ignore[method-assign]
                with pytest.raises(error, match=words):
                    provider.complete(question(model=MODEL))


def answered(code: str, status: int) -> ClientError:
    """What Amazon's library raises where the service that gives credentials answers with an error."""
    response: Any = {
        "Error": {"Code": code, "Message": "no such role"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(response, "AssumeRole")


@pytest.mark.parametrize(
    ("problem", "error"),
    [
        (answered("AccessDenied", 403), PermissionRefused),
        (answered("InvalidIdentityToken", 400), PermissionRefused),
        (
            RuntimeError("Credentials were refreshed, but the refreshed credentials are still expired."),
            PermissionRefused,
        ),
        (FileNotFoundError(2, "No such file or directory", "/var/run/token"), PermissionRefused),
        (CredentialRetrievalError(provider="sso", error_msg="no"), PermissionRefused),
        (answered("Throttling", 400), TryAgainLater),
        (answered("InternalFailure", 503), TryAgainLater),
        (EndpointConnectionError(endpoint_url="https://sts.test"), TryAgainLater),
        (ReadTimeoutError(endpoint_url="https://sts.test"), TryAgainLater),
    ],
    ids=lambda given: type(given).__name__ if isinstance(given, Exception) else given.__name__,
)
def test_credentials_of_amazon_that_cannot_be_renewed_are_told_as_what_they_are(
    problem: Exception, error: type[Exception]
) -> None:
    def fail() -> NoReturn:
        raise problem

    credentials = Credentials("AKID", "k")
    credentials.get_frozen_credentials = fail
    session = get_session()
    session.get_credentials = lambda: credentials
    with ModelServer() as server:
        signature = Signature(REGION, session=session)
        with (
            BedrockProvider(signature, waits=AT_ONCE, base_url=server.url) as provider,
            pytest.raises(error, match=re.escape(str(problem))),
        ):
            provider.complete(question(model=MODEL))
    assert not server.seen


@pytest.mark.parametrize(
    ("region", "url"),
    [
        ("europe-west1", "https://europe-west1-aiplatform.googleapis.com/v1"),
        ("global", "https://aiplatform.googleapis.com/v1"),
        ("eu", "https://aiplatform.eu.rep.googleapis.com/v1"),
    ],
)
def test_a_region_of_vertex_has_its_address(region: str, url: str) -> None:
    assert usual_url(region) == url
    with VertexProvider(Tokens("p", credentials=FakeCredentials("k")), region, waits=AT_ONCE) as provider:
        assert repr(provider) == f"VertexProvider(url='{url}')"


def config(provider: str) -> Any:
    prices = "".join(f"{name} = 1\n" for name in ("input", "output", "cache_write", "cache_read"))
    return parse_config(
        f'[llm]\nmodel = "{MODEL}"\nprovider = "{provider}"\n[llm.prices."{MODEL}"]\n{prices}'
    )


def test_the_environment_names_region_key_and_address_of_bedrock(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer() as server:
        server.answers(BEDROCK.stream(BEDROCK.events(TEXT)))
        environ = {"AWS_REGION": "eu-west-3", "COGWORKS_LLM_BASE_URL": server.url}
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "k")
        with open_provider(config("bedrock"), read_environment(environ)) as provider:
            assert provider.complete(question(model=MODEL)).text == TEXT

    assert re.search(r"Credential=AKID/\d{8}/eu-west-3/bedrock/", server.seen[0].headers["authorization"])


@pytest.mark.parametrize(
    ("provider", "environ", "error", "says"),
    [
        ("bedrock", {}, ConfigurationError, "AWS_REGION"),
        ("bedrock", {"AWS_REGION": REGION}, PermissionRefused, "AWS_ACCESS_KEY_ID"),
        (
            "bedrock",
            {"AWS_REGION": REGION, "AWS_BEARER_TOKEN_BEDROCK": "a b"},
            ConfigurationError,
            "AWS_BEARER_TOKEN_BEDROCK",
        ),
        (
            "bedrock",
            {
                "AWS_REGION": REGION,
                "AWS_BEARER_TOKEN_BEDROCK": "k",
                "COGWORKS_LLM_BASE_URL": "http://far.test",
            },
            ConfigurationError,
            "unencrypted",
        ),
        ("vertex", {}, PermissionRefused, "gcloud auth application-default login"),
    ],
)
def test_what_is_missing_is_told_before_anything_is_sent(  # noqa: PLR0917 - one row a case
    provider: str,
    environ: dict[str, str],
    error: type[Exception],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)

    with pytest.raises(error, match=says), open_provider(config(provider), read_environment(environ)):
        pytest.fail("was opened")
    if error is PermissionRefused:
        readiness = opening_of(provider).readiness(read_environment(environ))
        assert readiness.found == f"no credentials for {provider}"
        assert readiness.remedy


@pytest.mark.parametrize(("provider", "library"), [("bedrock", "botocore"), ("vertex", "google")])
def test_without_its_extra_a_provider_says_what_to_install(provider: str, library: str) -> None:
    program = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from cogworks.errors import UsageError\n"
        f"try:\n    import cogworks.llm.providers.{provider}\n"
        "except UsageError as error:\n    print(error)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=ENDS_WITHIN_S
    )

    assert f"pip install 'cogworks-pipeline[{provider}]'" in done.stdout


def test_nothing_of_a_cloud_is_imported_until_one_is_asked() -> None:
    program = "import sys, cogworks.wiring.step\nprint([n for n in sys.modules if n.split('.')[0] in ('botocore', 'google')])"

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=ENDS_WITHIN_S
    )

    assert done.stdout.strip() == "[]"
