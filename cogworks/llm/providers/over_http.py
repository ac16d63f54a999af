"""What all providers over HTTP are: a door that closes with them. Those of vendors open theirs with a checked key."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar, Self

import httpx

from cogworks.errors import PermissionRefused
from cogworks.llm.opening import Opening, Readiness
from cogworks.llm.provider import ModelReply, ModelRequest
from cogworks.llm.providers.http_door import HttpDoor, checked_key
from cogworks.llm.waiting import STALL_S, Waits
from cogworks.settings.config import Environment
from cogworks.settings.credentials import PROXY_VARIABLES, first_credential
from cogworks.settings.sections import LlmConfig


class BehindADoor(ABC):
    """Asks one server; see `Provider` for what it raises. Close it, or use it in a `with` statement."""

    _door: HttpDoor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url={self._door.shown!r})"

    def close(self) -> None:
        """Give the connections back."""
        self._door.close()

    @abstractmethod
    def complete(self, request: ModelRequest) -> ModelReply: ...


class HttpProvider(BehindADoor):
    """Asks the server of a vendor, or one that speaks as it does, with a key."""

    default_url: ClassVar[str]
    needs_key: ClassVar[bool] = True

    def __init__(
        self,
        api_key: str,
        *,
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
        base_url: str | None = None,
        transport: httpx.BaseTransport | None = None,
        left_s: Callable[[], float | None] = lambda: None,
        stall_s: float = STALL_S,
        heard: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Args:
            api_key: empty where the server wants none.
            base_url: scheme, host and an optional path; the path of the API is added. None: the vendor's own.
            transport: as for `HttpDoor`.
            sleep, jitter, left_s, stall_s, heard: as for `Waits`.

        Raises: ConfigurationError for a key no header can carry or a base URL that is none; neither is repeated in it.
        """
        key = checked_key(api_key) if api_key or self.needs_key else ""
        self._base_url = self.default_url if base_url is None else base_url
        self._door = HttpDoor(
            self.endpoint(self._base_url),
            key=key,
            headers=self.headers(key),
            waits=Waits(sleep, jitter, left_s, stall_s, heard),
            transport=transport,
        )

    @staticmethod
    @abstractmethod
    def endpoint(base_url: str) -> httpx.URL:
        """Where questions are sent. Raises: ConfigurationError for a base URL that is none or would show the key."""

    @staticmethod
    @abstractmethod
    def headers(api_key: str) -> dict[str, str]:
        """Of every request."""


class KeyedOpening(Opening):
    """Opens the provider of a vendor, or one that speaks as it does, with a key."""

    keys: ClassVar[tuple[str, ...]]
    """Variables that may hold the key; the first that holds anything counts."""
    addresses: ClassVar[tuple[str, ...]]
    """Variables that may hold the base URL, likewise."""

    @abstractmethod
    def spoken(self, llm: LlmConfig, base_url: str) -> type[HttpProvider]:
        """What speaks the configured API to a server; the base URL is empty for the vendor's own."""

    @abstractmethod
    def door(self, base_url: str) -> httpx.URL:
        """As `HttpProvider.endpoint`; the base URL is empty for the vendor's own."""

    @contextmanager
    def open(self, llm: LlmConfig, environment: Environment, waits: Waits) -> Iterator[HttpProvider]:
        key = self._key(environment)
        if not key and not self.is_local(environment):
            raise PermissionRefused(f"there is no key for the model provider. {self._remedy}")
        base_url = self.base_url(environment)
        with self.spoken(llm, base_url)(
            key,
            sleep=waits.sleep,
            jitter=waits.jitter,
            base_url=base_url or None,
            left_s=waits.left_s,
            stall_s=waits.stall_s,
            heard=waits.heard,
        ) as provider:
            yield provider

    def readiness(self, environment: Environment) -> Readiness:
        key = self._key(environment)
        self.door(self.base_url(environment))
        name = self.keys[-1].removesuffix("_API_KEY").lower()
        if key:
            return Readiness(found=f"a key for {name} is set")
        if self.is_local(environment):
            return Readiness(found="a server of this machine; no key is needed")
        return Readiness(found=f"no key for {name}", remedy=self._remedy)

    def base_url(self, environment: Environment) -> str:
        """The configured one; empty: the vendor's own."""
        return next(filter(None, map(environment.variables.get, self.addresses)), "")

    def _key(self, environment: Environment) -> str:
        key = first_credential(environment.variables, *self.keys)
        environment.refuse_unusable(*PROXY_VARIABLES, credential=key)
        return key.value

    @property
    def _remedy(self) -> str:
        return f"Set {' or '.join(f'`{each}`' for each in self.keys)}."
