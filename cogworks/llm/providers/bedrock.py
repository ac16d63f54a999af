"""The provider `bedrock`: the Messages API at Amazon Bedrock, signed by Amazon's own library.

Who we are comes from where Amazon's programs look: variables, a profile, a role of the machine. The events of its stream are put together by the vendor's own reader.
"""

import base64
import json
from collections.abc import Generator, Iterator, Mapping
from types import MappingProxyType
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from cogworks.errors import CogworksError, ConfigurationError, PermissionRefused, TryAgainLater
from cogworks.llm.provider import ModelRequest
from cogworks.llm.providers.clouds import CloudOpening, CloudProvider, Hides, missing_extra
from cogworks.llm.providers.events import Event
from cogworks.llm.providers.refusals import Complaint, Mask, page
from cogworks.llm.waiting import Waits
from cogworks.settings.config import Environment
from cogworks.settings.credentials import PROXY_VARIABLES, first_credential

try:
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials
    from botocore.eventstream import EventStreamBuffer, EventStreamMessage, ParserError
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
    from botocore.exceptions import ConnectionError as NotConnected
    from botocore.session import Session, get_session
except ModuleNotFoundError as error:
    raise missing_extra("bedrock", "botocore") from error

EXAMPLE = "https://bedrock-runtime.eu-central-1.amazonaws.com"
_SIGNED_FOR = "bedrock"
_SERVERS_FAULT = 500


class _Error(BaseModel):
    message: str = ""


class Signature(httpx.Auth):
    """Signs each request with the credentials that Amazon's library finds, or carries a key of Bedrock's own."""

    requires_request_body = True

    def __init__(self, region: str, *, key: str = "", session: Session | None = None) -> None:
        """Args:
            region: e.g. `eu-central-1`; empty: that of the profile.
            key: of Bedrock's own; empty: requests are signed.
            session: of Amazon's library; None: that of this machine.

        Raises: PermissionRefused where there are no credentials, ConfigurationError where no region is named.
        """
        try:
            session = session or get_session()
            self.region = region or str(session.get_config_variable("region") or "")
            self._credentials: Credentials | None = None if key else session.get_credentials()
        except _FAILURES as error:
            raise ConfigurationError("AWS_PROFILE", [f"Amazon's library says: {error}"]) from error
        self._key = key
        self.hide: Hides = lambda _: None
        if not self.region:
            problem = "no region is named; set it to the one where the model is, e.g. eu-central-1"
            raise ConfigurationError("AWS_REGION", [problem])
        if not key and self._credentials is None:
            raise PermissionRefused(
                "there are no credentials for Amazon Bedrock. Set `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or "
                "`AWS_PROFILE`, or `AWS_BEARER_TOKEN_BEDROCK`."
            )

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if self._credentials is None:
            self.hide(self._key)
            request.headers["authorization"] = f"Bearer {self._key}"
        else:
            self._sign(request, self._credentials)
        yield request

    def _sign(self, request: httpx.Request, credentials: Credentials) -> None:
        try:
            frozen = credentials.get_frozen_credentials()
        except _FAILURES as error:
            raise _not_renewed(error) from error
        for secret in (frozen.secret_key, frozen.token):
            self.hide(secret or "")
        kept = {name: request.headers[name] for name in ("host", "content-type")}
        signed = AWSRequest(method=request.method, url=str(request.url), data=request.content, headers=kept)
        SigV4Auth(frozen, _SIGNED_FOR, self.region).add_auth(signed)
        request.headers.update(dict(signed.headers.items()))


_FAILURES = (BotoCoreError, ClientError, RuntimeError, OSError, ValueError)
"""What Amazon's library raises while it looks for credentials: its own errors, and what its files and programs come to."""
_LATER = frozenset({"Throttling", "ThrottlingException", "TooManyRequestsException", "RequestLimitExceeded"})


def _not_renewed(error: Exception) -> CogworksError:
    if _may_be_over_soon(error):
        return TryAgainLater(
            f"Amazon could not be asked for credentials: {error}. Check the network, then run the same step again."
        )
    return PermissionRefused(
        f"the credentials of Amazon cannot be renewed: {error}. Check the profile, its `role_arn`, or log in again; "
        "`aws sts get-caller-identity` shows the same error."
    )


def _may_be_over_soon(error: Exception) -> bool:
    if not isinstance(error, ClientError):
        return isinstance(error, (NotConnected, HTTPClientError))
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= _SERVERS_FAULT or error.response.get("Error", {}).get("Code") in _LATER


class BedrockProvider(CloudProvider):
    """Speaks the Messages API of Amazon Bedrock."""

    credentials = "Check the credentials of Amazon (`AWS_PROFILE`, `AWS_ACCESS_KEY_ID`) and that its role may invoke this model"

    def __init__(
        self,
        signature: Signature,
        *,
        waits: Waits,
        base_url: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Args:
        base_url: None: Bedrock of the signature's region.
        """
        usual = f"https://bedrock-runtime.{signature.region}.amazonaws.com"
        super().__init__(base_url or usual, waits=waits, example=EXAMPLE, transport=transport)
        self._door.sign(signature, streams={STREAM_TYPE: AwsEvents})
        signature.hide = self._door.hide

    def tail(self, model: str) -> str:
        return f"/model/{quote(model, safe=':')}/invoke-with-response-stream"

    def body(self, request: ModelRequest) -> dict[str, object]:
        body = super().body(request)
        del body["stream"]
        return body

    def complaint(self, headers: Mapping[str, str], body: bytes, mask: Mask) -> Complaint:
        try:
            error = _Error.model_validate_json(body)
        except ValidationError:
            return page(body, mask)
        kind = str(headers.get("x-amzn-errortype", "error")).partition(":")[0]
        return Complaint(message=error.message, kind=kind, codes=frozenset({kind}))


STREAM_TYPE = "application/vnd.amazon.eventstream"
_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "accessDeniedException": "permission_error",
        "internalServerException": "api_error",
        "modelStreamErrorException": "api_error",
        "modelTimeoutException": "timeout_error",
        "serviceUnavailableException": "overloaded_error",
        "throttlingException": "rate_limit_error",
        "validationException": "invalid_request_error",
    }
)
"""Amazon's exceptions within a stream, in the words of the Messages API."""


class AwsEvents:
    """Reads a stream piece by piece, as `Events` does."""

    def __init__(self) -> None:
        self._buffer = EventStreamBuffer()
        self.pending_bytes = 0
        """Of a message that has not ended yet."""

    def after(self, piece: bytes) -> Iterator[Event]:
        """The events that end with this piece.

        Raises:
            ValueError: it is no such stream.
        """
        self._buffer.add_data(piece)
        self.pending_bytes += len(piece)
        try:
            for message in self._buffer:
                self.pending_bytes -= message.prelude.total_length
                yield _event(message)
        except (ParserError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a stream of Amazon's: {error}") from error


def _event(message: EventStreamMessage) -> Event:
    headers = message.headers
    payload = json.loads(message.payload)
    if headers.get(":message-type") == "event":
        return Event("", base64.b64decode(payload["bytes"], validate=True).decode())
    kind = str(headers.get(":exception-type") or headers.get(":error-code") or "error")
    error = {"type": _KINDS.get(kind, "api_error"), "message": str(payload.get("message", kind))}
    return Event("error", json.dumps({"type": "error", "error": error}))


class _Opening(CloudOpening):
    name = "bedrock"
    remedy = "Set `AWS_PROFILE`, or `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or `AWS_BEARER_TOKEN_BEDROCK`."

    def provider(self, environment: Environment, waits: Waits) -> BedrockProvider:
        """Its variables have the names that the vendor's own client gives them."""
        given = environment.variables
        key = first_credential(given, "AWS_BEARER_TOKEN_BEDROCK")
        environment.refuse_unusable(*PROXY_VARIABLES, credential=key)
        region = given.get("AWS_REGION") or given.get("AWS_DEFAULT_REGION", "")
        base_url = given.get("COGWORKS_LLM_BASE_URL") or given.get("ANTHROPIC_BEDROCK_BASE_URL")
        return BedrockProvider(Signature(region, key=key.value), waits=waits, base_url=base_url or None)


OPENING = _Opening()
