"""Whoever waits for a service sees what it is asked for and how long that may take."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from cogworks.domain_services.announcing import AnnouncingTransport


class Echo:
    """Answers each line with itself; obeys `cogworks.domain_services.transport.Transport`."""

    def __init__(self, events: list[str]) -> None:
        self._events = events

    def exchange(self, method: str, line: bytes, /, *, limit_s: float) -> bytes:
        self._events.append(f"{method} within {limit_s:.0f} s")
        return line

    def close(self) -> None:
        self._events.append("closed")


@pytest.mark.parametrize(
    ("method", "words"),
    [("simulate", "running tests"), ("call_graph", "asking a service for `call_graph`")],
)
def test_an_exchange_is_announced_while_it_lasts(method: str, words: str) -> None:
    events: list[str] = []

    @contextmanager
    def during(what: str, limit_s: float, so_far: Callable[[], str] = str, /) -> Iterator[None]:
        events.append(f"{what}, {limit_s:.0f} s")
        yield
        events.append("over")

    transport = AnnouncingTransport(Echo(events), during)

    assert transport.exchange(method, b"{}\n", limit_s=30) == b"{}\n"
    transport.close()
    assert events == [f"{words}, 30 s", f"{method} within 30 s", "over", "closed"]
