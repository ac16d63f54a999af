"""GitHub Actions on this machine: `act` runs a workflow of ours against a hub, without containers."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hub.commandline import git
from tests.limits import LONG_RUN_ENDS_WITHIN_S

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "docs" / "examples" / "workflows"
ACTION = "OWNER/cogworks@0000000000000000000000000000000000000000"
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
        key = "llm-api-key: ${{ secrets.ANTHROPIC_API_KEY }}\n"
        mode = "mode: matrix\n"
        assert key in text
        for line, indent in ((key, " " * 10), (mode, " " * 10)):
            more = f"{indent}provider: cassette\n{indent}python: {sys.executable}\n"
            text = text.replace(line, line + more)
        workflows = self.clone / ".github" / "workflows"
        workflows.mkdir(parents=True)
        (workflows / template).write_text(text)
        for part in ("action.yml", "scripts/action"):
            copy = self.directory / "action" / part
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / part, copy)
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
