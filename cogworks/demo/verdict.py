"""Whether the work did what the issue asked for: the acceptance test on the base branch and on the last head."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from cogworks.demo.facts import ACCEPTANCE_TEST, acceptance_test, sample_files
from cogworks.errors import CogworksError
from cogworks.vocabulary import Value

TIME_LIMIT_S = 120


class Verdict(Value):
    """The acceptance test's result on both sides."""

    fails_on_base: bool
    passes_on_head: bool
    head: str
    tail: str
    """The last lines of the run on the head."""

    @property
    def is_good(self) -> bool:
        return self.fails_on_base and self.passes_on_head


def judge(
    clone_url: str,
    token: str,
    *,
    base: str = "",
    head: str,
    directory: Path,
    search_path: str,
    test: str = ACCEPTANCE_TEST,
) -> Verdict:
    """Run the acceptance test before the work and on the head, checked out afresh, each in a process of its own.

    Args:
        base: the branch that is as it was before the work; empty: the sample as it is shipped, for an item of which something
            was merged.
        search_path: where programs are found (`PATH`); the processes get nothing else of this one's environment.
        test: the file of the sample with the acceptance test.

    Raises:
        CogworksError: a branch cannot be checked out, or the test never ends.
    """
    environment = {"PATH": search_path, "LANG": "C.UTF-8"}
    untouched = directory / "base"
    if base:
        _checkout(clone_url, token, base, untouched, environment)
    else:
        _write_sample(untouched)
    before = _run(untouched, environment, test)
    after = _run(_checkout(clone_url, token, head, directory / "head", environment), environment, test)
    return Verdict(
        fails_on_base=before.returncode == 1,
        passes_on_head=after.returncode == 0,
        head=head,
        tail="\n".join(after.stdout.strip().splitlines()[-3:]),
    )


def _write_sample(directory: Path) -> None:
    for path, text in sample_files().items():
        place = directory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def _checkout(
    clone_url: str, token: str, branch: str, directory: Path, environment: Mapping[str, str]
) -> Path:
    private = {
        **environment,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Bearer {token}",
    }
    done = _finished(
        ["git", "clone", "--quiet", "--depth", "1", "--branch", branch, clone_url, str(directory)],
        directory.parent,
        private,
    )
    if done.returncode != 0:
        raise CogworksError(f"branch {branch!r} of {clone_url} cannot be checked out: {done.stderr.strip()}")
    return directory


def _run(checkout: Path, environment: Mapping[str, str], name: str) -> subprocess.CompletedProcess[str]:
    test = checkout.parent / f"{checkout.name}-{name}"
    test.write_text(acceptance_test(name), encoding="utf-8")
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(checkout), str(test)]
    return _finished(
        [sys.executable, *command],
        checkout,
        {**environment, "PYTHONPATH": str(checkout / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
    )


def _finished(
    command: Sequence[str], directory: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            cwd=directory,
            check=False,
            capture_output=True,
            text=True,
            env=dict(environment),
            timeout=TIME_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        raise CogworksError(f"{' '.join(command)} did not end within {TIME_LIMIT_S} s") from None
