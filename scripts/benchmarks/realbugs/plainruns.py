"""Outcomes of a package's tests as pytest itself tells them, without cogworks: what finds the bugs and judges the repairs."""

import json
import os
import select
import signal
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from cogworks.domain_services.messages import Repository, Request
from cogworks.errors import CogworksError
from cogworks.services.python.choosing import interpreter_for
from cogworks.services.python.environments import Environments
from cogworks.services.python.machine import Machine
from cogworks.services.sandbox.probing import strongest
from scripts.benchmarks.realbugs.hunks import is_source

LIMIT_S = 120
"""Of one run."""
_INSIDE = Path(__file__).with_name("forked.py")


class Outcomes(NamedTuple):
    """One run of tests."""

    by_test: Mapping[str, str]
    unloaded: tuple[str, ...] = ()
    """Files whose tests could not be loaded."""

    @property
    def passing(self) -> frozenset[str]:
        return frozenset(test for test, outcome in self.by_test.items() if outcome == "passed")

    @property
    def failing(self) -> frozenset[str]:
        return frozenset(test for test, outcome in self.by_test.items() if outcome in ("failed", "error"))


class PlainSuite:
    """The tests of one tree, whose sources are exchanged between runs."""

    def __init__(
        self, tree: Path, process: "subprocess.Popen[str]", *, python: Path, environment: Mapping[str, str]
    ) -> None:
        """Args:
        python: runs pytest with these tests in processes of their own, in this environment.
        """
        self.python, self.environment = python, environment
        self._tree = tree
        self._process = process
        self._told: dict[tuple[frozenset[tuple[str, str]], tuple[str, ...]], Outcomes] = {}
        self._original = {
            path.relative_to(tree).as_posix(): path.read_bytes()
            for path in tree.rglob("*.py")
            if is_source(path.relative_to(tree).as_posix())
        }
        self.runs = 0

    def outcomes(self, sources: Mapping[str, str], tests: Collection[str] = ()) -> Outcomes:
        """How these tests, or all, come out with these sources; a run without an end tells nothing."""
        key = (frozenset(sources.items()), tuple(sorted(tests)))
        if key not in self._told:
            self._told[key] = self._run(sources, key[1])
        return self._told[key]

    def again(self, sources: Mapping[str, str], tests: Collection[str]) -> Outcomes:
        """One more run of these tests; what earlier ones told is not asked."""
        return self._run(sources, sorted(tests))

    def passing(self, sources: Mapping[str, str], tests: Collection[str]) -> frozenset[str]:
        """Those of the tests that pass."""
        return self.outcomes(sources, tests).passing & {*tests}

    def _run(self, sources: Mapping[str, str], tests: Sequence[str]) -> Outcomes:
        self.runs += 1
        for path, data in self._original.items():
            wanted = sources[path].encode() if path in sources else data
            if (self._tree / path).read_bytes() != wanted:
                (self._tree / path).write_bytes(wanted)
                # Python tells compiled files by whole seconds; two texts within one second have to differ.
                os.utime(self._tree / path, (self.runs, self.runs))
        with TemporaryDirectory(prefix="cogworks-bench-") as name:
            report = Path(name, "report.json")
            order = {"folder": str(self._tree), "tests": list(tests), "report": str(report)}
            self._asked(json.dumps({**order, "limit_s": LIMIT_S}))
            if not report.is_file():
                return Outcomes({}, ("the run did not come to an end",))
            told = json.loads(report.read_text(encoding="utf-8"))
        return Outcomes(told["outcomes"], tuple(told["unloaded"]))

    def _asked(self, line: str) -> None:
        to, back = self._process.stdin, self._process.stdout
        if to is None or back is None:
            raise CogworksError("the process that runs the tests was opened without pipes")
        to.write(line + "\n")
        to.flush()
        if not select.select([back], [], [], LIMIT_S)[0]:
            for child in _children(self._process.pid):
                os.killpg(child, signal.SIGKILL)
        if not back.readline():
            raise CogworksError("the process that runs the tests has ended")


@contextmanager
def plain_suite(tree: Path, environments: Path) -> Iterator[PlainSuite]:
    """The tests of a tree in the environment that its manifest asks for, made if it is not there.

    Raises:
        NotBuilt: there can be none.
    """
    machine = Machine(
        os.environ["PATH"],
        strongest(os.environ["PATH"]),
        Environments(environments, settings=dict(os.environ)),
    )
    request = Request(request_id="1", method="simulate", repository=Repository(path=str(tree)))
    interpreter = interpreter_for(request, tree, machine, limit_s=LIMIT_S)
    with TemporaryDirectory(prefix="cogworks-bench-") as home:
        environment = {
            "PATH": os.pathsep.join([*map(str, interpreter.programs), os.environ["PATH"]]),
            "HOME": home,
            "TMPDIR": home,
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONHASHSEED": "0",
        }
        command = [str(interpreter.python), str(_INSIDE)]
        with subprocess.Popen(
            command, cwd=home, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            try:
                yield PlainSuite(tree, process, python=interpreter.python, environment=environment)
            finally:
                process.kill()


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(each) for each in tasks.split()]
