"""`cogworks` as an operator calls it, in a process of its own."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import forking
from tests.engine.open_items import RUNNER_TOKEN


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def told(self) -> dict[str, Any]:
        """The one JSON object on standard output."""
        found: dict[str, Any] = json.loads(self.stdout)
        return found


def environment(server_url: str, work: Path, **more: str) -> dict[str, str]:
    """What a command sees: a token for the hub, replies from the shipped cassette."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(work),
        "COGWORKS_GITHUB_TOKEN": RUNNER_TOKEN,
        "COGWORKS_LLM_PROVIDER": "cassette",
        "COGWORKS_WORK_DIR": str(work),
        "GITHUB_SERVER_URL": server_url,
        "NO_COLOR": "1",
        **more,
    }


def cogworks(*arguments: str, env: dict[str, str]) -> Ended:
    done = forking.cogworks(*arguments, env=env)
    return Ended(done.returncode, done.stdout, done.stderr)
