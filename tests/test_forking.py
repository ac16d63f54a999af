"""A forked `cogworks` is told apart from a started one by its price alone."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forking import Cogworks, cogworks
from tests.limits import ENDS_WITHIN_S

ENVIRONMENT = {"PATH": os.environ["PATH"], "COGWORKS_GITHUB_TOKEN": "ghp_" + "a" * 36}
WORDS = ("process", "https://github.com/octo/wiki", "--json")


def _told(done: subprocess.CompletedProcess[str]) -> tuple[int, dict[str, object], str]:
    return done.returncode, {**json.loads(done.stdout), "duration_s": 0}, done.stderr


def test_it_says_and_ends_with_what_a_started_one_does() -> None:
    started = subprocess.run(
        [sys.executable, "-m", "cogworks", *WORDS],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=ENDS_WITHIN_S,
    )

    assert _told(cogworks(*WORDS, env=ENVIRONMENT)) == _told(started)


def test_it_sees_the_environment_it_is_given_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGWORKS_DOMAIN_SERVICES_CONFIG", "/of-the-test")
    given = {**ENVIRONMENT, "COGWORKS_DOMAIN_SERVICES_CONFIG": "/given"}

    told = [cogworks("health", "--json", env=env).stdout for env in (given, None)]

    assert ["names '/given'" in each for each in told] == [True, False]
    assert ["names '/of-the-test'" in each for each in told] == [False, True]


def test_a_signal_that_ends_it_is_its_end(tmp_path: Path) -> None:
    words = ["hub", "serve", "--dir", str(tmp_path)]

    with Cogworks(words, stdout=subprocess.PIPE, start_new_session=True) as hub:
        assert hub.stdout is not None
        said = hub.stdout.readline()
        os.killpg(hub.pid, signal.SIGKILL)

    assert said.startswith("hub listening on ")
    assert hub.returncode == -signal.SIGKILL


@pytest.mark.slow
def test_what_is_imported_beforehand_can_be_imported() -> None:
    # The server of forks passes over what fails there, and every fork would import all of it anew.
    done = subprocess.run(
        [sys.executable, "-c", "import sys, tests.preloaded; print('cogworks.engine.step' in sys.modules)"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=ENDS_WITHIN_S,
    )

    assert (done.stdout, done.stderr) == ("True\n", "")
