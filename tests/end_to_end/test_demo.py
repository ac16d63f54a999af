"""`cogworks demo` as a person runs it: killed and run again, kept, interrupted."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import plain_http
from tests.end_to_end.scene import COGWORKS, HOST_ENVIRONMENT, Ended
from tests.limits import Started

pytestmark = pytest.mark.timeout(300)  # seconds on a busy machine; usually a tenth of that


@contextmanager
def _started(directory: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    with Started(
        [*COGWORKS, "demo", "--dir", str(directory), *options],
        env=HOST_ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        yield running


def _demo(directory: Path, *options: str) -> Ended:
    with _started(directory, *options) as running:
        out, err = running.communicate(timeout=250)
    return Ended(running.returncode, out, err)


def _stopped(directory: Path, *options: str, after: str, by: signal.Signals, whole_group: bool) -> Ended:
    """The demonstration, ended by a signal when it prints that."""
    with _started(directory, *options) as running:
        assert running.stdout is not None
        lines = []
        for line in running.stdout:
            lines.append(line)
            if after in line:
                (os.killpg if whole_group else os.kill)(running.pid, by)
                break
        rest, err = running.communicate(timeout=60)
    return Ended(running.returncode, "".join([*lines, rest]), err)


def _hub_of(directory: Path) -> tuple[str, int]:
    note = json.loads((directory / "hub" / "hub.json").read_text())
    return note["url"], note["pid"]


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def _acts(out: str) -> Sequence[str]:
    return [line for line in out.splitlines() if line.startswith("person: ")]


@pytest.mark.slow
def test_a_demonstration_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    killed = _stopped(tmp_path, after="architecture: started", by=signal.SIGKILL, whole_group=True)
    url, process_id = _hub_of(tmp_path)
    survived = _is_alive(process_id)

    ended = _demo(tmp_path, "--json")

    told = ended.told
    assert killed.code == -signal.SIGKILL
    assert survived
    assert (ended.code, told["outcome"]) == (0, "done"), ended.err
    assert told["acceptance"] == {"fails_on_base": True, "passes_on_head": True}
    assert told["issue"].startswith(url)
    assert len(told["pull_requests"]) == 4
    nodes = [step["node"] for step in told["steps"] if step["node"]]
    assert "intake" not in nodes
    assert {step["exit_code"] for step in told["steps"]} == {0}
    assert len(_acts(killed.out)) == 2
    assert [line.rpartition("#")[0] for line in _acts(ended.err)[1:]] == [
        "person: approves pull request ",
        "person: merges pull request ",
    ]
    assert "The model's replies are recorded" in ended.err
    assert max(len(line) for line in ended.err.splitlines() if line.startswith("step ")) > 100
    assert not _is_alive(process_id)


@pytest.mark.slow
@pytest.mark.parametrize(
    "by",
    [
        pytest.param(signal.SIGINT, id="ctrl-c"),
        pytest.param(signal.SIGTERM, id="terminated", marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_demonstration_stops_its_hub_and_says_how_to_go_on(
    tmp_path: Path, by: signal.Signals
) -> None:
    ended = _stopped(tmp_path, "--keep", after="writing the specification", by=by, whole_group=True)

    _, process_id = _hub_of(tmp_path)
    assert ended.code == 130
    assert ended.err.endswith(f"Go on with: cogworks demo --dir {tmp_path}\n")
    assert "Traceback" not in ended.err + ended.out
    assert not _is_alive(process_id)


@pytest.mark.slow
def test_a_second_demonstration_in_the_same_place_waits_for_the_first(tmp_path: Path) -> None:
    with _started(tmp_path) as first:
        assert first.stdout is not None
        for line in first.stdout:
            if "intake: started" in line:
                break
        second = _stopped(tmp_path, after="waiting for its end", by=signal.SIGINT, whole_group=True)
        os.killpg(first.pid, signal.SIGINT)
        first.communicate(timeout=200)

    assert second.code == 130
    assert first.returncode == 130


def test_a_real_model_needs_a_key(tmp_path: Path) -> None:
    ended = _demo(tmp_path, "--provider", "anthropic", "--json")

    assert (ended.code, ended.told["outcome"]) == (4, "permission_refused")
    assert "`ANTHROPIC_API_KEY`" in ended.told["message"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_kept_hub_still_shows_everything_and_serves_the_next_demonstration(tmp_path: Path) -> None:
    kept = _demo(tmp_path, "--keep")
    url, process_id = _hub_of(tmp_path)
    (link,) = re.findall(r"In a browser open this first: (\S+)", kept.out)
    with plain_http.Client(timeout=30, follow_redirects=True) as browser:
        browser.get(link)
        page = browser.get(f"{url}/octo-org/hourglass/issues/1")

    again = _demo(tmp_path, "--json")

    assert (kept.code, page.status_code) == (0, 200)
    assert (
        f"The hub keeps running: {url}/octo-org/hourglass (process {process_id}, data in {tmp_path})"
        in kept.out
    )
    assert [step["outcome"] for step in again.told["steps"]] == ["done"]
    assert again.told["hub"] is None
    assert not _is_alive(process_id)
