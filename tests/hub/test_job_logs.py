"""The logs of jobs: behind a signed address for a minute, and for nobody who sends a token there."""

from collections.abc import Iterator

import httpx
import pytest

from cogworks.hub.actions.checks import create_check_run, keep_job_log
from cogworks.hub.check_records import CheckRun
from cogworks.hub.server import hub_app
from tests.hub.bench import Bench
from tests.hub.running import OWNER_TOKEN
from tests.hub.web import web_client

JOBS = "/api/v3/repos/octo/demo/actions/jobs"


@pytest.fixture
def web(bench: Bench) -> Iterator[httpx.Client]:
    with web_client(hub_app(bench.world)) as client:
        yield client


@pytest.fixture
def run(bench: Bench) -> CheckRun:
    where = (bench.world, bench.bot, bench.repository)
    return create_check_run(*where, oid=bench.tip(), name="tests", fields={"conclusion": "failure"})


def address_of(web: httpx.Client, job_id: int) -> httpx.Response:
    return web.get(f"{JOBS}/{job_id}/logs", headers={"Authorization": f"token {OWNER_TOKEN}"})


def test_the_log_of_a_job_is_read_without_a_token_at_the_address_that_was_given(
    bench: Bench, web: httpx.Client, run: CheckRun
) -> None:
    keep_job_log(bench.world, run, "one\ntwo ✓\n")

    answer = address_of(web, run.id)
    log = web.get(answer.headers["location"])

    assert (answer.status_code, answer.content) == (302, b"")
    assert (log.status_code, log.text) == (200, "one\ntwo ✓\n")
    assert log.headers["content-type"].startswith("text/plain")


def test_the_storage_refuses_a_token_as_githubs_does(bench: Bench, web: httpx.Client, run: CheckRun) -> None:
    keep_job_log(bench.world, run, "one\n")

    address = address_of(web, run.id).headers["location"]

    assert web.get(address, headers={"Authorization": f"token {OWNER_TOKEN}"}).status_code == 400


@pytest.mark.parametrize(
    "spoilt", [("signature=", "signature=0"), ("until=", "until=9"), ("jobs/", "jobs/1")]
)
def test_an_address_that_nobody_signed_shows_nothing(
    bench: Bench, web: httpx.Client, run: CheckRun, spoilt: tuple[str, str]
) -> None:
    keep_job_log(bench.world, run, "one\n")

    address = address_of(web, run.id).headers["location"].replace(*spoilt)

    assert web.get(address).status_code == 403


def test_an_address_is_good_for_a_minute(bench: Bench, web: httpx.Client, run: CheckRun) -> None:
    keep_job_log(bench.world, run, "one\n")
    address = address_of(web, run.id).headers["location"]

    bench.clock.advance(61)

    assert web.get(address).status_code == 403


def test_a_check_run_that_is_no_job_has_no_log(web: httpx.Client, run: CheckRun) -> None:
    assert address_of(web, run.id).status_code == 404
    assert address_of(web, 4711).status_code == 404
