"""Logs of jobs: read from the storage without the token, to the last error, and never a reason to fail."""

from collections.abc import Callable

import httpx
import pytest

from cogworks.github.credentials import FixedToken
from cogworks.github.failed_checks import KEPT_BYTES, MAX_BYTES, JobLogs
from cogworks.github.meter import Requests

STORAGE = "https://storage.example/log?sig=1"
STAMP = "2026-11-26T10:00:00.1234567Z "
Handler = Callable[[httpx.Request], httpx.Response]


def tail(handler: Handler, *, meter: Requests | None = None) -> str:
    logs = JobLogs(
        "https://api.github.com",
        FixedToken("ghs_secret"),
        "o/r",
        meter=meter or Requests(),
        transport=httpx.MockTransport(handler),
    )
    return logs.tail(71)


def github(log: httpx.Response, asked: list[httpx.Request] | None = None, *, place: str = STORAGE) -> Handler:
    def answer(request: httpx.Request) -> httpx.Response:
        if asked is not None:
            asked.append(request)
        if request.url.host == "api.github.com":
            return httpx.Response(302, headers={"location": place})
        return log

    return answer


def test_the_token_goes_to_github_and_not_to_the_storage() -> None:
    asked: list[httpx.Request] = []
    meter = Requests()

    found = tail(github(httpx.Response(200, text=f"{STAMP}one\n{STAMP}two\n"), asked), meter=meter)

    assert found == "one\ntwo\n"
    assert str(asked[0].url) == "https://api.github.com/repos/o/r/actions/jobs/71/logs"
    assert [request.headers.get("authorization") for request in asked] == ["Bearer ghs_secret", None]
    assert meter.rest == 2


def test_what_comes_after_the_last_error_is_left_out() -> None:
    log = f"{STAMP}E assert\n{STAMP}##[error]Process completed with exit code 1.\n{STAMP}Post job cleanup.\n"

    assert (
        tail(github(httpx.Response(200, text=log)))
        == "E assert\n##[error]Process completed with exit code 1."
    )


def test_of_a_long_log_the_end_is_kept() -> None:
    log = f"{'x' * KEPT_BYTES}end"

    found = tail(github(httpx.Response(200, text=log)))

    assert (len(found), found[-4:]) == (KEPT_BYTES, "xend")


def test_a_huge_log_is_neither_read_whole_nor_told() -> None:
    def endless() -> object:
        for _ in range(2 * MAX_BYTES // 1_000_000):
            yield b"x" * 1_000_000
            read.append(1)

    read: list[int] = []
    found = tail(github(httpx.Response(200, content=endless())))  # type: ignore[arg-type]  # any iterable of bytes does

    assert found == ""
    assert len(read) == MAX_BYTES // 1_000_000 - 1


@pytest.mark.parametrize(
    "handler",
    [
        lambda _: httpx.Response(403),
        lambda _: httpx.Response(404),
        lambda _: httpx.Response(410),
        github(httpx.Response(403, text="AuthenticationFailed")),
        github(httpx.Response(200, text="secret"), place="http://storage.example/log"),
    ],
    ids=["not-allowed", "no-job", "expired", "address-too-old", "less-private"],
)
def test_a_log_that_cannot_be_read_is_empty(handler: Handler) -> None:
    assert tail(handler) == ""


def test_a_server_that_does_not_answer_is_no_failure() -> None:
    def fails(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectTimeout("nobody")

    assert tail(fails) == ""
