"""What the providers of clouds share: the Messages API behind a cloud's own signature and addresses.

Signing is the cloud's own library; it is imported when the provider is opened, and is there only with its extra.
"""

import random
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import httpx

from cogworks.canonical import canonical_text
from cogworks.errors import NodeFailed, PermissionRefused, UsageError
from cogworks.llm.opening import Opening, Readiness
from cogworks.llm.provider import ModelReply, ModelRequest
from cogworks.llm.providers import anthropic
from cogworks.llm.providers.http_door import HttpDoor, address
from cogworks.llm.providers.over_http import BehindADoor
from cogworks.llm.providers.refusals import Complaint, Mask, Refused, refused
from cogworks.llm.waiting import Waits
from cogworks.settings.config import Environment
from cogworks.settings.sections import LlmConfig

_FORM = "output_config"


def missing_extra(provider: str, library: str) -> UsageError:
    """What to say where the library that signs is not installed."""
    return UsageError(
        f"the provider `{provider}` signs its requests with the library {library}, which is not installed. Install it: "
        f"pip install 'cogworks-pipeline[{provider}]'"
    )


class CloudProvider(BehindADoor):
    """Asks one model at a cloud."""

    credentials: ClassVar[str]
    """What to check where the cloud refuses who we are, as the end of a sentence."""

    def __init__(
        self,
        base_url: str,
        *,
        waits: Waits,
        example: str,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Args:
            base_url: scheme, host and an optional path.
            example: a base URL that would do.
            transport: as for `HttpDoor`.

        Raises: ConfigurationError for a base URL that is none.
        """
        self._base_url = base_url.strip().rstrip("/")
        self._has_schema = True
        url = address(base_url, "", example=example)
        self._door = HttpDoor(url, key="", headers={}, waits=waits, transport=transport)

    @abstractmethod
    def tail(self, model: str) -> str:
        """The path at which a model is asked, below the base URL."""

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """The Messages API's body, with the model in the address instead."""
        body = anthropic.request_body(request if self._has_schema else _in_words(request))
        del body["model"]
        return {"anthropic_version": anthropic.API_VERSION, **body}

    def complaint(self, headers: Mapping[str, str], body: bytes, mask: Mask) -> Complaint:
        """What an error says."""
        del headers
        return anthropic.complaint(body, mask)

    def complete(self, request: ModelRequest) -> ModelReply:
        """See `HttpDoor.patiently`; to find out that a cloud binds no reply to a schema is no attempt of those."""
        return self._door.patiently(partial(self._reply_to, request))

    def _reply_to(self, request: ModelRequest) -> ModelReply | Refused:
        answer = self._sent(request)
        if self._has_schema and isinstance(answer, Refused) and _is_about_form(answer):
            self._has_schema = False
            answer = self._sent(request)
        return answer

    def _sent(self, request: ModelRequest) -> ModelReply | Refused:
        url = httpx.URL(f"{self._base_url}{self.tail(request.model)}")
        return self._door.post(self.body(request), self._decipher, anthropic.assembly, url=url)

    def _decipher(
        self, status: int, headers: Mapping[str, str], body: bytes, *, mask: Mask
    ) -> ModelReply | Refused:
        if status == 200:
            return anthropic.decipher(status, headers, body, mask=mask)
        complaint = self.complaint(headers, body, mask)
        return refused(status, headers, complaint, mask=mask, credentials=self.credentials)


def _is_about_form(answer: Refused) -> bool:
    return isinstance(answer.error, NodeFailed) and _FORM in str(answer.error)


def _in_words(request: ModelRequest) -> ModelRequest:
    """The request where nobody enforces the form of the answer, so that the question has to say it."""
    if not request.output_schema:
        return request
    form = (
        "Answer with one JSON object that fits this JSON Schema, and with nothing before or after it:\n"
        f"{canonical_text(request.output_schema)}"
    )
    system = "\n\n".join(part for part in (request.system, form) if part)
    return request.model_copy(update={"system": system, "output_schema": {}})


class CloudOpening(Opening):
    """Opens a provider that signs with what a cloud's own library finds out about who we are."""

    name: ClassVar[str]
    remedy: ClassVar[str]
    """What to do where there are no credentials."""

    @abstractmethod
    def provider(self, environment: Environment, waits: Waits) -> CloudProvider:
        """As `open`."""

    def open(self, llm: LlmConfig, environment: Environment, waits: Waits) -> CloudProvider:
        del llm
        return self.provider(environment, waits)

    def readiness(self, environment: Environment) -> Readiness:
        try:
            self.provider(environment, Waits(time.sleep, random.random)).close()
        except PermissionRefused:
            return Readiness(found=f"no credentials for {self.name}", remedy=self.remedy)
        return Readiness(found=f"credentials for {self.name} were found")


Hides = Callable[[str], None]
"""Has a text taken out of every message from now on."""
