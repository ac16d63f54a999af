"""`scripts/bench environments`: what the environment of a project costs, made and found again, for each way to build one."""

import os
import resource
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from cogworks.codebase.git import Git
from cogworks.domain_services.messages import Caller, Repository, Request
from cogworks.services.python.choosing import interpreter_for
from cogworks.services.python.environments import Environments
from cogworks.services.python.machine import Machine
from cogworks.services.python.pythons import Interpreter
from cogworks.services.python.testrun import run_tests
from cogworks.services.python.wanted import Wanted
from cogworks.services.sandbox.probing import strongest
from cogworks.settings.config import child_environment
from scripts.benchmarks.backends import C_EXTENSION, CYTHON, MATURIN, PROJECTS

_LIMIT_S = 1800.0
_LOOKUPS = 5
_MIB = 1024**2
_PLAIN = {
    "shop.py": "PRICE = 1\n",
    "test_shop.py": "import shop\n\n\ndef test_shop():\n    assert shop.PRICE\n",
}
_BOT = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")


class Cost(NamedTuple):
    """Of one project."""

    cold_s: float
    """Until its environment is there for the first time, build and packages."""
    warm_s: float
    """Processor time of finding it again, git's included; the least of several."""
    disk_bytes: int
    passed: int
    tests: int


def committed(folder: Path, files: Mapping[str, str]) -> str:
    """Lay out a repository with one tagged commit; its oid."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    git = Git(environment=os.environ, home=folder)
    git.run("init", "--quiet", cwd=folder)
    git.run("add", "--all", cwd=folder)
    git.run(*_BOT, "commit", "--quiet", "--message=A shop", cwd=folder)
    git.run("tag", "v3.1", cwd=folder)
    return git.run("rev-parse", "HEAD", cwd=folder).strip()


def cost(files: Mapping[str, str], folder: Path, search_path: str) -> Cost:
    """What a project costs whose environment nobody made before."""
    repository, kept = folder / "shop", folder / "kept"
    repository.mkdir()
    base = committed(repository, files)
    isolation = strongest(search_path)
    machine = Machine(search_path, isolation, Environments(kept, settings=child_environment()))
    request = Request(
        request_id="bench",
        method="simulate",
        caller=Caller(),
        repository=Repository(path=str(repository), base=base),
    )

    def found() -> Interpreter:
        return interpreter_for(request, repository, machine, limit_s=_LIMIT_S)

    started_s = time.monotonic()
    interpreter = found()
    cold_s = time.monotonic() - started_s
    times_s = []
    for _ in range(_LOOKUPS):
        before_s = processor_s()
        found()
        times_s.append(processor_s() - before_s)
    wanted = Wanted(interpreter=interpreter, timeout_s=_LIMIT_S)
    cases = run_tests(repository, wanted, isolation=isolation, search_path=search_path).cases
    passed = sum(case.outcome == "passed" for case in cases)
    disk = sum(os.lstat(path).st_blocks * 512 for path in kept.rglob("*")) if kept.is_dir() else 0
    return Cost(cold_s, min(times_s), disk, passed, len(cases))


def processor_s() -> float:
    """Of this process, and of those it started that have ended."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)


@click.command()
@click.option("--only", multiple=True, metavar="NAME", help="Of the kinds; default: all.")
def main(only: tuple[str, ...]) -> None:
    """Print a row for each way to build a project; packages come from the index of this machine."""
    search_path = child_environment()["PATH"]
    kinds = {"no build": _PLAIN, **PROJECTS}
    if shutil.which("cc", path=search_path):
        kinds |= {"C extension (setuptools)": C_EXTENSION, "Cython": CYTHON}
    if shutil.which("cargo", path=search_path):
        kinds |= {"maturin, without crates": MATURIN}
    click.echo("| kind | made | found again, processor time | disk | tests passed |\n|---|---|---|---|---|")
    for kind in only or kinds:
        with TemporaryDirectory(prefix="cogworks-bench-") as name:
            told = cost(kinds[kind], Path(name), search_path)
        click.echo(
            f"| {kind} | {told.cold_s:.1f} s | {told.warm_s:.2f} s | {told.disk_bytes / _MIB:.0f} MiB | {told.passed} of {told.tests} |"
        )


if __name__ == "__main__":
    main()
