"""The sample item on a real hub, worked on up to its plan: four visits, two merged pull requests, two sub-issues."""

import json
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.testing import CliRunner

from cogworks.demo.facts import FULL_NAME
from tests import plain_http
from tests.end_to_end.scene import Scene, open_scene
from tests.limits import ENDS_WITHIN_S

STAGES = 3


class Result(NamedTuple):
    """How a command in this process ended."""

    code: int
    out: str
    err: str

    @property
    def told(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


def plan_in(directory: Path) -> None:
    """Make the scene in a directory and leave it closed."""
    with open_scene(directory) as scene:
        scene.person.set_trigger()
        for _ in range(STAGES - 1):
            report = scene.cogworks("run", "--json").told
            assert report["outcome"] == "waiting", report
            # GitHub's times have a grain of one second: the past can be told from the merge only with one between.
            time.sleep(1.1)
            scene.pass_gates(report)
        report = scene.cogworks("process", "--json").told
        assert (report["node"], report["outcome"]) == ("planning", "succeeded"), report


def call(scene: Scene, command: click.Command, *arguments: str) -> Result:
    """A command in this process, speaking to the scene's hub; the issue's URL goes first."""
    ended = CliRunner().invoke(
        command,
        [scene.issue_url, *arguments],
        env={**scene.environment(), "NO_COLOR": "1"},
        standalone_mode=False,
        catch_exceptions=False,
    )
    assert isinstance(ended.return_value, int), ended
    return Result(ended.return_value, ended.stdout, ended.stderr)


def as_person(scene: Scene, verb: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
    """One REST call of the person who administers the repository."""
    answer = plain_http.request(
        verb,
        f"{scene.stage.api_url}/repos/{FULL_NAME}{path}",
        json=body,
        headers={"Authorization": f"Bearer {scene.stage.person_token}"},
        timeout=30,
    )
    assert answer.is_success, (verb, path, answer.status_code, answer.text)
    return answer.json() if answer.content else None


def push_to_ledger(scene: Scene, clone: Path, changes: Mapping[str, str | None], message: str) -> str:
    """A commit that somebody makes on the ledger by hand; None deletes a file. Returns its oid."""
    url = f"http://x-access-token:{scene.stage.person_token}@{scene.stage.url.removeprefix('http://')}/{FULL_NAME}.git"

    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.com")
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=clone if clone.exists() else None,
            check=True,
            capture_output=True,
            text=True,
            timeout=ENDS_WITHIN_S,
        )
        return done.stdout.strip()

    git("clone", "--quiet", "--branch", "cogworks/ledger/1", url, str(clone))
    for path, text in changes.items():
        file = clone / path
        if text is None:
            file.unlink()
        else:
            file.write_text(text)
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "-m", message)
    git("push", "--quiet", "origin", "HEAD:cogworks/ledger/1")
    return git("rev-parse", "HEAD")
