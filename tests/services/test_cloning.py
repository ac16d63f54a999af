"""Repositories that lie elsewhere: what the Python service clones, from where, and what it says when it cannot."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.codebase.changes import FileChange
from cogworks.codebase.remotes import Remote
from cogworks.codebase.worktree import WorkingCopies
from cogworks.domain_services.client import ServiceClient
from cogworks.domain_services.configuration import ServiceConfig
from cogworks.domain_services.messages import ErrorCode, Repository, Request, frame
from cogworks.domain_services.opening import open_transport
from cogworks.domain_services.transport import ServiceFailed
from cogworks.errors import MachineUnfit
from cogworks.services.python.answering import PythonService
from cogworks.services.python.cloning import Clones, NoRepository
from cogworks.services.python.machine import Machine
from cogworks.services.sandbox.isolation import NO_ISOLATION
from cogworks.vocabulary import BranchName, RunId
from tests.codebase.repositories import BOT, BareRepository, served_over_http
from tests.services.test_serving import running

TOKEN = "ghs_decoy"
FILES = {"a.py": "x = 1\n", "test_a.py": "import a\ndef test_a(): assert a.x == 1\n"}


@pytest.fixture
def remote(tmp_path: Path) -> BareRepository:
    repository = BareRepository(tmp_path)
    repository.put("main", FILES)
    return repository


@pytest.fixture
def url(remote: BareRepository) -> Iterator[str]:
    with served_over_http(remote, TOKEN) as address:
        yield address


@pytest.mark.slow
def test_a_change_is_tested_on_another_machine_once_it_is_pushed(
    remote: BareRepository, url: str, tmp_path: Path
) -> None:
    branch = BranchName("cogworks/7/swi-1")
    token_file = tmp_path / "token"
    token_file.write_text(f"{TOKEN}\n")
    options = ("--clones-from", url.rsplit("/", 1)[0], "--clone-token-file", str(token_file))
    with (
        WorkingCopies(tmp_path / "cache", identity=BOT, environment=os.environ) as copies,
        running(tmp_path, *options) as service,
        far_client(service.url) as client,
    ):
        copy = copies.open(
            remote=Remote(url, TOKEN), run=RunId("r"), name="A", branch=branch, base=BranchName("main")
        )
        change = FileChange(path="a.py", action="modify", content="x = 2\n")
        assert copy.apply([change]) is None
        with pytest.raises(ServiceFailed) as too_early:
            client.simulate(copy)
        copy.commit("Change x")
        copy.push(branch, None)
        report = client.simulate(copy)

    assert f"clones what is pushed, but {copy.path} has changes that are not pushed" in str(too_early.value)
    assert [(case.id, case.outcome) for case in report.cases] == [("test_a.py::test_a", "failed")]


def far_client(address: str) -> ServiceClient:
    service = ServiceConfig(name="far", url=address, attempts=1, timeouts={"simulate": 60})
    return ServiceClient(lambda: open_transport(service, {}), name="far", limits=service.limits, is_far=True)


def test_a_directory_is_looked_at_in_place_and_a_commit_of_it_apart(remote: BareRepository) -> None:
    (remote.path.parent / "seat" / "a.py").write_text("uncommitted\n")
    seat = str(remote.path.parent / "seat")
    with Clones(environment=os.environ) as clones:
        with clones.folder_of(Repository(path=seat)) as folder:
            assert str(folder) == seat
        with clones.folder_of(Repository(path=seat, ref="main")) as folder:
            assert (folder / "a.py").read_text() == "x = 1\n"


def refusal(clones: Clones, path: str, ref: str | None = None) -> NoRepository:
    with pytest.raises(NoRepository) as caught, clones.folder_of(Repository(path=path, ref=ref)):
        pass
    return caught.value


@pytest.mark.parametrize(
    ("url", "is_allowed"),
    [
        ("https://github.com/octo/demo.git", True),
        ("https://github.com/octo/demo", True),
        ("https://github.com/octopus/demo.git", False),
        ("https://github.com/octo/../other/demo.git", False),
        ("https://github.com/octo/%2e%2e/other/demo.git", False),
        ("https://github.com.evil.example/octo/demo.git", False),
        ("https://github.com@evil.example/octo/demo.git", False),
        ("https://ada@github.com/octo/demo.git", False),
        ("http://github.com/octo/demo.git", False),
        ("file:///etc", False),
        ("ext::sh://github.com/octo/", False),
    ],
)
def test_only_what_lies_where_it_was_told_is_cloned(url: str, is_allowed: bool) -> None:
    # Nothing of the sort can be found on this PATH, so nothing is fetched.
    with Clones(["https://github.com/octo"], environment={"PATH": "/nowhere"}) as clones:
        if is_allowed:
            with (
                pytest.raises(MachineUnfit, match="git is not on PATH"),
                clones.folder_of(Repository(path=url)),
            ):
                pass
        else:
            found = refusal(clones, url)
            assert found.code is ErrorCode.INVALID_REQUEST
            assert str(found) == (
                f"this service clones from https://github.com/octo, not from {url!r}; start it with --clones-from"
            )


def test_a_clone_that_fails_says_how_and_of_what(url: str, tmp_path: Path) -> None:
    server = url.rsplit("/", 1)[0]
    closed = "http://127.0.0.1:9/x.git"
    with (
        Clones([server, closed.rsplit("/", 1)[0]], token="wrong", environment=os.environ) as stranger,
        Clones([server], token=TOKEN, environment=os.environ) as guest,
    ):
        refused = refusal(stranger, url, "main")
        unreachable = refusal(stranger, closed, "main")
        lost = refusal(guest, url, "gone")
        odd = refusal(guest, url, "--help")

    assert [(each.code.value, each.details, each.is_passing) for each in (refused, unreachable, lost)] == [
        ("tool_failed", {"kind": "auth", "url": url}, False),
        ("tool_failed", {"kind": "network", "url": closed}, True),
        ("tool_failed", {"kind": "missing", "url": url}, False),
    ]
    assert (odd.code, "is no branch" in str(odd)) == (ErrorCode.INVALID_REQUEST, True)
    assert not any(secret in str(each) for each in (refused, lost) for secret in ("wrong", TOKEN))


def test_a_full_disk_is_told_apart(tmp_path: Path) -> None:
    git = tmp_path / "git"
    git.write_text("#!/bin/sh\necho 'fatal: write error: No space left on device' >&2\nexit 128\n")
    git.chmod(0o755)
    with Clones(["http://127.0.0.1"], environment={"PATH": f"{tmp_path}:/bin:/usr/bin"}) as clones:
        found = refusal(clones, "http://127.0.0.1/x.git")

    assert (found.details["kind"], found.is_passing) == ("disk", True)


def test_the_failure_travels_as_a_structured_error(url: str) -> None:
    with Clones([url.rsplit("/", 1)[0]], token="wrong", environment=os.environ) as clones:
        service = PythonService(Machine(os.environ["PATH"], NO_ISOLATION, clones=clones))
        request = Request(
            request_id="1",
            method="validate",
            repository=Repository(path=url, ref="main"),
            params={"artifacts": ["a.py"]},
        )
        response = service.answer(frame(request))

    assert response.error is not None
    assert response.error.details == {"kind": "auth", "url": url}
    assert response.error.message.startswith(f"{url} could not be cloned (auth): ")


def test_a_service_that_was_told_nothing_clones_nothing() -> None:
    request = (
        b'{"request_id": "1", "method": "validate", "repository": {"path": "https://example.com/x.git"}}'
    )

    response = PythonService(Machine(os.environ["PATH"], NO_ISOLATION)).answer(request)

    assert response.error is not None
    assert response.error.code is ErrorCode.INVALID_REQUEST
    assert "clones from nowhere" in response.error.message
