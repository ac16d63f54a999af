"""What a test does to a running hub through its admin endpoints."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from cogworks.hub.store import ADMIN
from tests import plain_http


class Administrator:
    """Speaks to `/_hub/` with the token that lies in the hub's directory."""

    def __init__(self, url: str, directory: Path) -> None:
        token = (directory / ADMIN).read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        self._http = plain_http.Client(base_url=f"{url}/_hub/", headers=headers, timeout=120)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """The answer of one request, which must succeed."""
        answer = self.send(method, path, body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def send(self, method: str, path: str, body: object = None) -> httpx.Response:
        """One request, whatever its answer."""
        return self._http.request(method, path, json=body)

    @contextmanager
    def playing(self, *faults: Mapping[str, object]) -> Iterator[None]:
        """These faults and no others, until the block ends."""
        self.ask("PUT", "faults", {"faults": list(faults)})
        try:
            yield
        finally:
            self.ask("DELETE", "faults")

    def struck(self) -> int:
        """How often the faults of the plan have struck."""
        return sum(rule["struck"] for rule in self.ask("GET", "faults")["faults"])

    def requests(self) -> list[dict[str, Any]]:
        """The requests since the last `forget`, oldest first."""
        found: list[dict[str, Any]] = self.ask("GET", "requests")["requests"]
        return found

    def forget(self) -> None:
        self.ask("DELETE", "requests")

    def held(self, wait_s: float) -> list[dict[str, Any]]:
        """The requests that are held; waits for the first one."""
        found: list[dict[str, Any]] = self.ask("GET", f"held?wait_s={wait_s}")["requests"]
        return found

    def release(self) -> None:
        self.ask("DELETE", "held")

    def advance(self, seconds: float) -> None:
        self.ask("POST", "clock", {"advance_s": seconds})

    def take(self, snapshot: str) -> None:
        self.ask("POST", f"snapshots/{snapshot}")

    def restore(self, snapshot: str) -> None:
        self.ask("POST", f"snapshots/{snapshot}/restore")
