"""The provider `vertex`: the Messages API at Google's Vertex AI, with tokens of Google's own library.

Who we are comes from where Google's programs look: a file of credentials, a login, the machine's own account.
"""

from collections.abc import Generator
from typing import Any, Protocol
from urllib.parse import quote

import httpx

from cogworks.errors import ConfigurationError, PermissionRefused, TryAgainLater
from cogworks.llm.providers.clouds import CloudOpening, CloudProvider, Hides, missing_extra
from cogworks.llm.waiting import Waits
from cogworks.settings.config import Environment
from cogworks.settings.credentials import PROXY_VARIABLES

try:
    import google.auth
    from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError, TransportError
    from google.auth.transport.requests import Request
except ModuleNotFoundError as error:
    raise missing_extra("vertex", "google-auth") from error

EXAMPLE = "https://europe-west1-aiplatform.googleapis.com/v1"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


class Renewable(Protocol):
    """Credentials of Google's library."""

    token: str | None

    @property
    def valid(self) -> bool: ...
    def refresh(self, request: Any) -> None: ...


class Tokens(httpx.Auth):
    """Carries a token that Google's library renews."""

    def __init__(self, project: str, *, credentials: Renewable | None = None) -> None:
        """Args:
            project: empty: that of the credentials.
            credentials: None: those of this machine.

        Raises: PermissionRefused where there are no credentials, ConfigurationError where no project is named.
        """
        try:
            usable, usual = (credentials, None) if credentials else google.auth.default(scopes=[_SCOPE])
        except DefaultCredentialsError as error:
            raise PermissionRefused(
                f"there are no credentials for Vertex AI: {error} Run `gcloud auth application-default login`, or name a file in "
                "`GOOGLE_APPLICATION_CREDENTIALS`."
            ) from error
        self._credentials: Renewable = usable
        self.project = project or str(usual or "")
        self.hide: Hides = lambda _: None
        if not self.project:
            problem = "no project is named; set it to the one that pays, e.g. my-project-1"
            raise ConfigurationError("ANTHROPIC_VERTEX_PROJECT_ID", [problem])

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if not self._credentials.valid:
            self._renew()
        self.hide(self._credentials.token or "")
        request.headers["authorization"] = f"Bearer {self._credentials.token}"
        yield request

    def _renew(self) -> None:
        try:
            self._credentials.refresh(Request())
        except TransportError as error:
            raise TryAgainLater(
                f"Google could not be asked for a token: {error}. Check the network, then run the same step again."
            ) from error
        except GoogleAuthError as error:
            raise PermissionRefused(
                f"Google gave no token for Vertex AI: {error}. Log in again: `gcloud auth application-default login`."
            ) from error


class VertexProvider(CloudProvider):
    """Speaks the Messages API of Vertex AI."""

    credentials = "Check the credentials of Google (`GOOGLE_APPLICATION_CREDENTIALS`) and that the project may use this model"

    def __init__(
        self,
        tokens: Tokens,
        region: str,
        *,
        waits: Waits,
        base_url: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Args:
            region: e.g. `europe-west1` or `global`.
            base_url: with the version, as the vendor's own client takes it; None: Vertex AI of that region.

        Raises: ConfigurationError where no region is named.
        """
        if not region:
            problem = "no region is named; set it to the one where the model is, e.g. europe-west1 or global"
            raise ConfigurationError("CLOUD_ML_REGION", [problem])
        super().__init__(base_url or usual_url(region), waits=waits, example=EXAMPLE, transport=transport)
        self._place = f"/projects/{quote(tokens.project, safe='')}/locations/{quote(region, safe='')}"
        self._door.sign(tokens)
        tokens.hide = self._door.hide

    def tail(self, model: str) -> str:
        return f"{self._place}/publishers/anthropic/models/{quote(model, safe='@')}:streamRawPredict"


def usual_url(region: str) -> str:
    """Where Vertex AI of a region is."""
    if region in {"us", "eu"}:
        return f"https://aiplatform.{region}.rep.googleapis.com/v1"
    return f"https://{'' if region == 'global' else f'{region}-'}aiplatform.googleapis.com/v1"


class _Opening(CloudOpening):
    name = "vertex"
    remedy = "Run `gcloud auth application-default login`, or set `GOOGLE_APPLICATION_CREDENTIALS`."

    def provider(self, environment: Environment, waits: Waits) -> VertexProvider:
        """Its variables have the names that the vendor's own client gives them."""
        environment.refuse_unusable(*PROXY_VARIABLES)
        given = environment.variables
        tokens = Tokens(given.get("ANTHROPIC_VERTEX_PROJECT_ID") or given.get("GOOGLE_CLOUD_PROJECT", ""))
        base_url = given.get("COGWORKS_LLM_BASE_URL") or given.get("ANTHROPIC_VERTEX_BASE_URL")
        region = given.get("CLOUD_ML_REGION", "")
        return VertexProvider(tokens, region, waits=waits, base_url=base_url or None)


OPENING = _Opening()
