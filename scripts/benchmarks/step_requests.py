"""`scripts/bench requests`: requests and GraphQL points of every kind of step, from a real run on the hub."""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from cogworks.demo.person import Person
from cogworks.demo.stage import open_stage
from cogworks.settings.config import child_environment
from scripts.benchmarks.item import BenchItem, Measured, finished
from scripts.benchmarks.proxy import Proxy

MAX_STEPS = 40
KINDS = {
    "architecture": "model node with pull request",
    "planning": "planning",
    "code_generation": "code generation",
    "review": "review",
    "integration": "deterministic node with pull request",
}
SUB_ISSUES_PER_DOCUMENT = 5
ORDER = (
    "first step",
    *KINDS.values(),
    "waiting, nothing to do",
    "done, nothing to do",
    "live lease of another runner",
    "lost claim",
)


@dataclass(frozen=True)
class Row:
    """One kind of step and what it may ask at most."""

    kind: str
    target: int
    """GraphQL requests, checkpoints not counted."""
    measured: Measured

    @property
    def allowed(self) -> int:
        return self.target + self.measured.checkpoints

    @property
    def is_met(self) -> bool:
        return self.measured.graphql <= self.allowed


def target(kind: str, sub_items: int = 0) -> int:
    """The most GraphQL requests of a kind of step, beside its checkpoints."""
    single = {
        # Three more than a model node: who set the trigger label, what finished items came to, and which other issues there are.
        "first step": 8,
        "waiting, nothing to do": 1,
        "done, nothing to do": 1,
        "live lease of another runner": 1,
        "lost claim": 3,
    }
    if kind in single:
        return single[kind]
    if kind == "planning":
        # read, claim, record, views, one document of links, and one per five sub-issues. The base moved by the merge of
        # the interfaces, so it is looked at again, which asks what the issue's author may do.
        return 6 + -(-sub_items // SUB_ISSUES_PER_DOCUMENT)
    # The review leaves remarks at lines, which are a review of their own below the new pull request.
    return 6 if kind == KINDS["integration"] else 5


def measure(item: BenchItem, tell: Callable[[str], None] = lambda _: None) -> tuple[Row, ...]:
    """Work on the item until it is done; the first step of every kind, and the steps that do nothing."""
    found: dict[str, Measured] = {"first step": item.step()}
    for _ in range(MAX_STEPS):
        if KINDS["planning"] in found and "lost claim" not in found:
            tell("two runners at once")
            found |= _contended(item)
            continue
        step = item.step()
        tell(f"{step.outcome}: {step.message.splitlines()[0]}")
        if step.outcome == "waiting":
            found.setdefault("waiting, nothing to do", step)
            item.pass_gates()
        elif step.node in KINDS:
            found.setdefault(KINDS[step.node], step)
        if step.outcome == "done":
            found["done, nothing to do"] = item.step()
            break
        if step.outcome not in ("succeeded", "waiting"):
            raise click.ClickException(f"the item did not get on: {step.message}")
    sub_items = len(item.person.sub_issues())
    return tuple(Row(kind, target(kind, sub_items), found[kind]) for kind in ORDER if kind in found)


def _contended(item: BenchItem) -> dict[str, Measured]:
    """One runner loses its claim to another, a third one finds the lease; the winner then finishes its step."""
    winner: list[subprocess.Popen[str]] = []
    before = len(item.ledger())

    def claim_first() -> None:
        # Under the person's account, so that GitHub counts its points apart.
        winner.append(item.start(item.environment(token=item.stage.person_token)))
        item.wait_for_claim(before)
        winner[0].send_signal(signal.SIGSTOP)

    try:
        with Proxy(item.graphql_url, before_write=claim_first).serving() as url:
            lost = item.step(url)
        claimed = item.branches()
        leased = item.step()
        if item.branches() != claimed:
            raise click.ClickException("a runner that met a live lease moved a branch")
    finally:
        for running in winner:
            running.send_signal(signal.SIGCONT)
            finished(running)
    if (lost.outcome, leased.outcome) != ("backed_off", "backed_off"):
        raise click.ClickException(f"two runners worked on one node: {lost.message}; {leased.message}")
    return {"lost claim": lost, "live lease of another runner": leased}


def table(rows: tuple[Row, ...]) -> str:
    """The figures as a Markdown table."""
    lines = [
        "| step | GraphQL requests | of them checkpoints | allowed | points | REST | git |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        step = row.measured
        sign = "" if row.is_met else " ✗"
        lines.append(
            f"| {row.kind} | {step.graphql}{sign} | {step.checkpoints} | {row.allowed} | {step.points} | {step.rest} | {step.git} |"
        )
    return "\n".join(lines)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of the table.")
def main(as_json: bool) -> None:
    """Requests and GraphQL points of every kind of step, against what each may ask at most.

    Exits with 1 when a kind of step asks for more.
    """
    with (
        tempfile.TemporaryDirectory(prefix="cogworks-bench-") as directory,
        open_stage(Path(directory), environment=child_environment(), keep=False) as stage,
        closing(Person(stage)) as person,
    ):
        rows = measure(BenchItem(stage, person), lambda line: click.echo(f"  {line}", err=True))
    if as_json:
        told = [{**asdict(row), "allowed": row.allowed, "is_met": row.is_met} for row in rows]
        click.echo(json.dumps({"steps": told}))
    else:
        click.echo(table(rows))
    sys.exit(0 if all(row.is_met for row in rows) else 1)


if __name__ == "__main__":
    main()
