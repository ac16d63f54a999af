"""`scripts/bench base-check`: what looking at the base costs a step, the first time and when nothing has changed since."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from cogworks.codebase.git import Git
from cogworks.domain_services.checking import PrepareParams
from cogworks.domain_services.messages import Caller
from cogworks.domain_services.operations import PREPARE
from cogworks.domain_services.panel import ServicePanel
from cogworks.engine.base_findings import still_holds
from cogworks.errors import CogworksError
from cogworks.pipeline.visits import KnownBase
from cogworks.settings.config import Environment, child_environment, read_environment
from cogworks.vocabulary import CommitOid
from cogworks.wiring.services import open_panel
from cogworks.wiring.step import kind_of_isolating_machine
from scripts.benchmarks.backends import PROJECTS
from scripts.benchmarks.environments import committed, processor_s

_TIMES = 3
_KIND = "setuptools, src"
_AUTHOR = {f"GIT_{who}_{what}": "bench" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


class _Base(NamedTuple):
    """A checkout that stands on its base."""

    path: Path
    oid: str

    def base(self) -> str:
        return self.oid


def _spent(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock and of processor time, with those of processes that ended meanwhile."""
    before_s, began_s = processor_s(), time.monotonic()
    work()
    return time.monotonic() - began_s, processor_s() - before_s


def _least(work: Callable[[], object]) -> tuple[float, float]:
    measured = [_spent(work) for _ in range(_TIMES)]
    return min(each[0] for each in measured), min(each[1] for each in measured)


def _panel(environment: Environment) -> ServicePanel:
    return open_panel({}, environment, caller=Caller(), warn=lambda _: None)


def _prepared(base: _Base, environment: Environment) -> None:
    with _panel(environment) as panel:
        panel.call(PREPARE, base, PrepareParams(timeout_s=PREPARE.limit_s))


def _looked_at(base: _Base, environment: Environment) -> None:
    with _panel(environment) as panel:
        panel.call(PREPARE, base, PrepareParams(timeout_s=PREPARE.limit_s))
        panel.simulate_part(base, (), "if_long")


def _greeted(environment: Environment) -> None:
    with _panel(environment) as panel:
        # About no file nobody is asked; who could be is.
        panel.interfaces(_Base(Path.cwd(), "HEAD"), ())


def _held(base: _Base, git: Git | None) -> None:
    """As a step decides that nobody has to be asked; with git it looks what changed."""

    def changed_since(oid: CommitOid) -> tuple[str, ...]:
        if git is None:
            return ()
        said = git.run("diff", "--name-only", "--no-renames", "-z", oid, "HEAD", cwd=base.path)
        return tuple(each for each in said.split("\0") if each)

    machine = kind_of_isolating_machine()
    known = KnownBase(
        oid=CommitOid(base.oid),
        environment_key="k",
        follows_from_files=True,
        machine=machine,
        line="1 test passes",
        path="x",
    )
    if not still_holds(
        known, wanted="require", machine=machine, changed_since=changed_since, specs=("docs/specs",)
    ):
        raise CogworksError("the ledger's answer ought to hold")


def _with_another_page(base: _Base, git: Git) -> None:
    (base.path / "docs.md").write_text("Another page.\n", encoding="utf-8")
    git.run("add", "--all", cwd=base.path)
    git.run("commit", "--quiet", "--message", "Add a page", cwd=base.path, extra=_AUTHOR)


@click.command()
def main() -> None:
    """Print a row for each thing that a step may find; packages come from the index of this machine."""
    with TemporaryDirectory(prefix="cogworks-bench-") as name:
        folder = Path(name) / "shop"
        folder.mkdir()
        base = _Base(folder, committed(folder, PROJECTS[_KIND]))
        environment = read_environment().model_copy(update={"work_dir": str(Path(name) / "work")})
        git = Git(environment=child_environment(), home=Path(name))
        _with_another_page(base, git)
        rows = {
            "first look: environment and suite": _spent(lambda: _looked_at(base, environment)),
            "a service is started and greeted, nothing else": _least(lambda: _greeted(environment)),
            "another machine: the service, and the environment found again": _least(
                lambda: _prepared(base, environment)
            ),
            "nothing has changed: what the ledger keeps holds": _least(lambda: _held(base, None)),
            "the base has moved by documents: what the ledger keeps holds": _least(lambda: _held(base, git)),
        }
    click.echo(
        f"{_KIND}; {os.cpu_count()} cores\n\n| a step finds | by the clock | processor time |\n|---|---|---|"
    )
    for what, (clock_s, processor) in rows.items():
        click.echo(f"| {what} | {clock_s:.2f} s | {processor:.2f} s |")


if __name__ == "__main__":
    main()
