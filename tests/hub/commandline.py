"""Plain `git`, as a user's machine would run it against a hub."""

import os
import subprocess
from pathlib import Path

from tests.limits import ENDS_WITHIN_S

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    **{f"GIT_{role}_NAME": "Ada" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "ada@example.com" for role in ("AUTHOR", "COMMITTER")},
}


def git(*arguments: str, cwd: Path, fails: bool = False) -> str:
    """What git printed on both streams; with `fails` the command must not succeed."""
    environment = {**ENVIRONMENT, "HOME": str(cwd)}
    done = subprocess.run(
        ["git", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=ENDS_WITHIN_S,
    )
    said = (done.stdout + done.stderr).strip()
    assert (done.returncode != 0) is fails, said
    return said


def commit_file(clone: Path, path: str, text: str, message: str) -> str:
    """Write, add and commit one file; returns the commit."""
    file = clone / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    git("add", "--", path, cwd=clone)
    git("commit", "--quiet", "--message", message, cwd=clone)
    return git("rev-parse", "HEAD", cwd=clone)
