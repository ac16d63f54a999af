"""What the demonstration shows while it runs and at its end, and whether the work did what the issue asked for."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from cogworks.demo.facts import ACCEPTANCE_TEST, acceptance_test, sample_files
from cogworks.errors import CogworksError
from cogworks.vocabulary import Value

RECENT = 6


class Programme:
    """Shows every step as it ends; a context manager."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._reports: list[Mapping[str, Any]] = []
        self._recent: list[str] = []
        self._live = (
            Live(console=console, refresh_per_second=8, transient=False) if console.is_terminal else None
        )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._recent = []
            self._live.update(steps_table(self._reports))
            self._live.stop()

    @property
    def reports(self) -> Sequence[Mapping[str, Any]]:
        return tuple(self._reports)

    def line(self, text: str) -> None:
        self._tell(text, style="dim")

    def person(self, text: str) -> None:
        self._tell(f"person: {text}", style="bold cyan")

    def step(self, report: Mapping[str, Any]) -> None:
        self._reports.append(report)
        if self._live:
            self._refresh()
        else:
            line = plain_step(len(self._reports), report)
            self._console.print(line, highlight=False, markup=False, soft_wrap=True)

    def _tell(self, text: str, *, style: str) -> None:
        if self._live:
            self._recent = [*self._recent, text][-RECENT:]
            self._refresh()
        else:
            self._console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)

    def _refresh(self) -> None:
        if self._live:
            self._live.update(Group(steps_table(self._reports), Text("\n".join(self._recent), style="dim")))


def plain_step(number: int, report: Mapping[str, Any]) -> str:
    """One finished step on one line."""
    requests = report["requests"]
    tokens = report["tokens"]
    return (
        f"step {number:>2}  {report['outcome']:<10} {report['node'] or '-':<20} "
        f"requests {requests['graphql']}+{requests['rest']}+{requests['git']}  "
        f"tokens {tokens['input']}+{tokens['output']}  ${report['cost_usd']:.4f}  {report['duration_s']:.1f} s  "
        f"{report['message'].splitlines()[0] if report['message'] else ''}"
    )


def steps_table(reports: Sequence[Mapping[str, Any]]) -> Table:
    """Every step with its requests, tokens, dollars and seconds, and their sums."""
    table = Table(title="cogworks demo: one new process per step", show_footer=bool(reports), expand=False)
    sums = {key: sum(report["requests"][key] for report in reports) for key in ("graphql", "rest", "git")}
    table.add_column("#", justify="right")
    table.add_column("node", footer="total")
    table.add_column("outcome")
    table.add_column("GraphQL", justify="right", footer=str(sums["graphql"]))
    table.add_column("REST", justify="right", footer=str(sums["rest"]))
    table.add_column("git", justify="right", footer=str(sums["git"]))
    table.add_column("tokens in", justify="right", footer=f"{sum(r['tokens']['input'] for r in reports):,}")
    table.add_column("out", justify="right", footer=f"{sum(r['tokens']['output'] for r in reports):,}")
    table.add_column("$", justify="right", footer=f"{sum(r['cost_usd'] for r in reports):.4f}")
    table.add_column("s", justify="right", footer=f"{sum(r['duration_s'] for r in reports):.1f}")
    for number, report in enumerate(reports, start=1):
        requests, tokens = report["requests"], report["tokens"]
        table.add_row(
            str(number),
            report["node"] or "",
            report["outcome"],
            *(str(requests[key]) for key in ("graphql", "rest", "git")),
            f"{tokens['input']:,}",
            f"{tokens['output']:,}",
            f"{report['cost_usd']:.4f}",
            f"{report['duration_s']:.1f}",
        )
    return table


def show_pull(console: Console, title: str, url: str, diff: str) -> None:
    """A pull request with its diff."""
    console.print(Rule(title))
    console.print(url, highlight=False, markup=False, soft_wrap=True)
    if console.is_terminal:
        console.print(Syntax(diff, "diff", word_wrap=True, background_color="default"))
    else:
        console.print(diff, highlight=False, markup=False, soft_wrap=True)


def show_text(console: Console, title: str, text: str) -> None:
    """A piece of text under its title."""
    console.print(Rule(title))
    console.print(text, highlight=False, markup=False, soft_wrap=True)


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
