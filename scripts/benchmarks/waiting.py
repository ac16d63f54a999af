"""`scripts/bench startup`, second part: a `process` of an item that waits, on the hub, and where its time goes."""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import click

from cogworks.demo.person import Person
from cogworks.demo.stage import open_stage
from cogworks.settings.config import child_environment
from scripts.benchmarks.item import BenchItem

MAX_STEPS = 10
DATA = ("templates", "schemas", "prices")
DATA_LIMIT_MS = 20.0
"""Of reading what is shipped beside the code, all together."""
SIGNATURES = "signatures"
"""Of orders to a model in texts of others: loaded with the first such text that anybody is shown."""
PARTS = ("imports", "configuration", *DATA, SIGNATURES, "GitHub")


def measure(runs: int) -> dict[str, float]:
    """Milliseconds of each part, medians of several processes: `total` and `GitHub` as they pass, the others of the processor.

    What is shipped beside the code is read by a waiting step only as far as it needs it, so it is measured whole in processes of
    their own, the first template of a question compiled.
    """
    with (
        tempfile.TemporaryDirectory(prefix="cogworks-bench-") as directory,
        open_stage(Path(directory), environment=child_environment(), keep=False) as stage,
        closing(Person(stage)) as person,
    ):
        item = BenchItem(stage, person)
        for _ in range(MAX_STEPS):
            if item.step().outcome == "waiting":
                break
        else:
            raise click.ClickException("the item never came to wait for anybody")
        steps = [_child(["step", item.url], item.environment()) for _ in range(runs)]
    data = [_child(["data"], child_environment()) for _ in range(runs)]
    found = {name: _median(steps, name) for name in ("total", "imports", "configuration", "GitHub")}
    return found | {name: _median(data, name) for name in (*DATA, SIGNATURES)}


def data_ms(split: Mapping[str, float]) -> float:
    """What templates, schemas and prices cost together."""
    return round(sum(split[name] for name in DATA), 1)


def table(split: Mapping[str, float]) -> str:
    """The figures as a Markdown table."""
    lines = ["| part of a waiting `process` | time |", "|---|---|"]
    lines += [f"| {name} | {split[name]:.1f} ms |" for name in ("total", *PARTS)]
    lines.append(
        f"| templates, schemas and prices together | {data_ms(split):.1f} ms, limit {DATA_LIMIT_MS:g} ms |"
    )
    return "\n".join(lines)


def _median(of: Sequence[Mapping[str, float]], name: str) -> float:
    return round(statistics.median(each[name] for each in of), 1)


def _child(arguments: Sequence[str], environment: Mapping[str, str]) -> dict[str, float]:
    started_s = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "scripts.benchmarks.watched", *arguments],
        env=dict(environment), capture_output=True, text=True, check=False,
    )  # fmt: skip
    total_ms = (time.perf_counter() - started_s) * 1000
    if done.returncode:
        raise click.ClickException(f"`{' '.join(arguments)}` ended with {done.returncode}: {done.stderr}")
    found: dict[str, float] = json.loads(done.stderr.splitlines()[-1])
    return {"total": total_ms, **found}
