"""What all providers over HTTP are: a door that closes with them. Those of vendors open theirs with a checked key."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Self

import httpx

from cogworks.llm.provider import ModelReply, ModelRequest
from cogworks.llm.providers.http_door import STALL_S, HttpDoor, Waits, checked_key


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
