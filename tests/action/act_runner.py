"""GitHub Actions on this machine: `act` runs a workflow of ours against a hub, without containers."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.hub.commandline import git
from tests.limits import ENDS_WITHIN_S, LONG_RUN_ENDS_WITHIN_S

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "docs" / "examples" / "workflows"
ACTION = "OWNER/cogworks@0000000000000000000000000000000000000000"
USED: list[dict[str, Any]] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
(CACHE,) = (step["uses"] for step in USED if "uses" in step)
NO_CACHE = """name: a cache that keeps nothing
description: Says what it was asked to keep
inputs:
  path: { description: what, required: true }
  key: { description: under which name, required: true }
runs:
  using: composite
  steps:
    - shell: sh
      run: echo "nothing is kept of ${PLACE##*/}"
      env: { PLACE: "${{ inputs.path }}" }
"""
FETCHED = (
    "action.yml", "requirements.lock", "pyproject.toml", "README.md", "LICENSE", "cogworks/", "prompts/", "schemas/", "scripts/",
    "tests/data/NOTICE.md",
)  # fmt: skip
"""What the Action needs of its checkout."""
GH = """#!/bin/sh
echo "$@" >>"$(dirname "$0")/gh-calls"
"""


def act_program() -> str | None:
    """Where `act` is, if the test dependencies are installed."""
    return shutil.which("act", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@dataclass(frozen=True)
class Workplace:
    """A clone with one workflow, and a `gh` that only writes down how it was called."""

    directory: Path
    api_url: str
    server_url: str
    token: str

    def prepare(self, template: str, repository: str) -> None:
        """Copy a template as its user would; only what names this machine's Python and provider is added."""
        text = (TEMPLATES / template).read_text()
        key = re.search(r"llm-api-key: .*\n", text)
        assert key is not None
        more = f"{' ' * 10}provider: cassette\n{' ' * 10}python: {sys.executable}\n"
        for line in (key[0], "mode: matrix\n"):
            text = text.replace(line, line + more)
        self.prepare_text(template, text, repository)

    def prepare_text(self, name: str, text: str, repository: str) -> None:
        """A clone with this workflow, and the Action as a runner would fetch it."""
        workflows = self.clone / ".github" / "workflows"
        workflows.mkdir(parents=True)
        (workflows / name).write_text(text)
        listed = subprocess.run(
            ["git", "ls-files", "-z"],
            cwd=ROOT,
            capture_output=True,
            check=True,
            text=True,
            timeout=ENDS_WITHIN_S,
        )
        for part in filter(None, listed.stdout.split("\0")):
            if part.startswith(FETCHED):
                copy = self.directory / "action" / part
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / part, copy)
        cache = self.directory / "cache" / "action.yml"
        cache.parent.mkdir()
        cache.write_text(NO_CACHE)
        gh = self.directory / "bin" / "gh"
        gh.parent.mkdir()
        gh.write_text(GH)
        gh.chmod(0o755)
        git("init", "--quiet", "--initial-branch=main", cwd=self.clone)
        git("remote", "add", "origin", f"https://github.com/{repository}.git", cwd=self.clone)
        git("add", ".", cwd=self.clone)
        git("commit", "--quiet", "--message", "Add the workflow", cwd=self.clone)

    @property
    def clone(self) -> Path:
        return self.directory / "clone"

    def gh_calls(self) -> list[str]:
        calls = self.directory / "bin" / "gh-calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def run(self, event: str, payload: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
        """One workflow run for one event; everything it printed is in `stdout`."""
        program = act_program()
        assert program is not None
        file = self.directory / "event.json"
        file.write_text(json.dumps(payload))
        settings = {
            "GITHUB_API_URL": self.api_url,
            "GITHUB_SERVER_URL": self.server_url,
            "GITHUB_GRAPHQL_URL": f"{self.server_url}/api/graphql",
            "COGWORKS_WORK_DIR": str(self.directory / "work"),
        }
        command = [program, event, "--eventpath", str(file), "-P", "ubuntu-24.04=-self-hosted"]
        command += [
            "--action-offline-mode",
            "--local-repository",
            f"{ACTION}={self.directory / 'action'}",
            "--local-repository",
            f"{CACHE}={self.directory / 'cache'}",
            "-s",
            f"GITHUB_TOKEN={self.token}",
        ]
        for name, value in settings.items():
            command += ["--env", f"{name}={value}"]
        home = self.directory / "home"
        home.mkdir(exist_ok=True)
        path = f"{self.directory / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            command,
            cwd=self.clone,
            env={"PATH": path, "HOME": str(home), "XDG_CACHE_HOME": str(home)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=LONG_RUN_ENDS_WITHIN_S,
        )
