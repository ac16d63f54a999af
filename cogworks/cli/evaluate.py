"""`cogworks evaluate`: repair many instances, judge each on a fresh checkout, and report success, cost and time."""

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogworks import __version__
from cogworks.cli.given_files import options_in, text_of
from cogworks.cli.tables import console_for_people, show_line
from cogworks.errors import BudgetReached, Interrupted, UsageError
from cogworks.stopping import ended_by_signal
from cogworks.unfit import writing

if TYPE_CHECKING:
    from cogworks.evaluation.cases import Case
    from cogworks.evaluation.report import Report, Result
    from cogworks.wiring.evaluation import Assignment

FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)
NEW_FOLDER = click.Path(path_type=Path, file_okay=False)
NEW_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("evaluate")
@click.option(
    "--tasks",
    type=click.Path(path_type=Path, exists=True),
    help="A folder of instances (*.json, *.jsonl), or one such file.",
)
@click.option("--out", type=NEW_FILE, help="Write the report here, as JSON.")
@click.option(
    "--repos",
    type=FOLDER,
    help="A folder of clones, found by `repo`: owner__name, owner/name or name [default: beside the instances].",
)
@click.option("--only", multiple=True, metavar="ID", help="Only this instance; repeatable.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="How many instances to work on at a time.",
)
@click.option("--again", is_flag=True, help="Repeat instances that an earlier run finished.")
@click.option(
    "--min-solved",
    type=click.IntRange(min=0),
    help="Fail when fewer are solved [default: one in five, rounded up].",
)
@click.option(
    "--max-cost",
    type=click.FloatRange(0, min_open=True),
    metavar="USD",
    help="Spend at most this much on all instances. The report lists those that were not begun [default: no limit].",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="TOML or YAML with the options of the patch loop.",
)
@click.option(
    "--test-cmd",
    default="",
    help="The command that runs the tests of all instances [default: each one's own].",
)
@click.option(
    "--artifacts",
    type=NEW_FOLDER,
    help="Keep results, logs and diffs of each instance here [default: beside the report, in NAME.runs].",
)
@click.option(
    "--predictions", type=NEW_FILE, help="Write the patches here, as SWE-bench's harness reads them."
)
@click.option("--plot", type=NEW_FILE, help="Write a picture of time and cost here, as SVG.")
@click.option("--live", is_flag=True, help="Ask the model even where replies are recorded.")
@click.option(
    "--run-environment-commands",
    "runs_commands",
    is_flag=True,
    help="Run `environment_cmd` of each instance, isolated like the tests and without a network.",
)
@click.option("--write-samples", type=NEW_FOLDER, help="Write the bundled instances to this folder and exit.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def evaluate(
    tasks: Path | None,
    out: Path | None,
    repos: Path | None,
    only: tuple[str, ...],
    jobs: int,
    again: bool,
    min_solved: int | None,
    max_cost: float | None,
    config: Path | None,
    test_cmd: str,
    artifacts: Path | None,
    predictions: Path | None,
    plot: Path | None,
    live: bool,
    runs_commands: bool,
    write_samples: Path | None,
    as_json: bool,
) -> int:
    """Repair many instances and report success, size, cost and time.

    Run the same command again to resume an interrupted run.

    \b
    Exit code:
      0  enough instances are solved, no targeted test is broken, every instance could be judged
      1  one of these does not hold
      5  `--max-cost` was too little for all instances

    \b
    Examples:
      cogworks evaluate --write-samples samples
      cogworks evaluate --tasks samples --out report.json --jobs 2
      cogworks evaluate --tasks verified.jsonl --repos ~/clones --out report.json --predictions predictions.jsonl
    """
    from cogworks.cli.evaluating import held
    from cogworks.evaluation.cases import chosen
    from cogworks.evaluation.report import as_text
    from cogworks.repair.testcommand import read_command
    from cogworks.wiring.evaluation import Assignment
    from cogworks.wiring.evaluation import write_samples as written

    if write_samples is not None:
        return _show_samples(written(write_samples), as_json=as_json)
    if tasks is None or out is None:
        raise UsageError(
            "`--tasks` and `--out` are required. `--write-samples DIR` writes instances to try it with."
        )
    if test_cmd:
        read_command(test_cmd)
    options = options_in(config)
    runs = artifacts or out.with_suffix(".runs")
    orders = [
        Assignment(
            case=case,
            tasks=(tasks if tasks.is_dir() else tasks.parent).resolve(),
            repositories=repos.resolve() if repos else None,
            options=options,
            test_cmd=test_cmd,
            artifacts=(runs / _stem(case)).resolve(),
            replays=not live,
            runs_commands=runs_commands,
        )
        for case in chosen(_cases(tasks), only)
    ]
    with held(runs):
        report = _evaluated(orders, jobs=jobs, again=again, min_solved=min_solved, max_cost=max_cost)
    _write(out, as_text(report))
    _write_more(report, predictions, plot)
    _show(report, as_json=as_json)
    if report.totals.unbudgeted:
        return BudgetReached.exit_code
    return 0 if report.is_met else 1


def _evaluated(
    orders: "Sequence[Assignment]", *, jobs: int, again: bool, min_solved: int | None, max_cost: float | None
) -> "Report":
    from cogworks.cli.evaluating import earlier, evaluated
    from cogworks.evaluation.cases import Purse
    from cogworks.evaluation.report import report_of
    from cogworks.evaluation.showing import progress_line

    results: list[Result] = []
    left = []
    for order in orders:
        known = None if again else earlier(order)
        if known is None:
            left.append(order)
        else:
            results.append(known)
    if results:
        _say(
            f"{len(results)} of {len(orders)} instances were finished before. Give `--again` to repeat them."
        )
    purse = Purse(limit_usd=None if max_cost is None else Decimal(str(max_cost)))
    for result in results:
        purse = purse.paying(result.cost_usd)
    try:
        with ended_by_signal():
            for result in evaluated(left, jobs=jobs, purse=purse):
                results.append(result)
                _say(progress_line(len(results), len(orders), result))
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; {len(results)} of {len(orders)} instances are done. Run the same command again to go on."
        ) from None
    return report_of(results, version=__version__, min_solved=min_solved, max_cost_usd=max_cost)


def _cases(tasks: Path) -> "tuple[Case, ...]":
    from cogworks.evaluation.cases import SUFFIXES, in_order, parse_cases

    files = [tasks]
    if tasks.is_dir():
        files = sorted(path for path in tasks.iterdir() if path.suffix in SUFFIXES and path.is_file())
    return in_order([case for path in files for case in parse_cases(text_of(path), source=str(path))])


def _stem(case: "Case") -> str:
    from cogworks.llm.cassette_files import file_stem

    return file_stem(case.id)


def _write(path: Path, text: str) -> None:
    with writing(path):
        path.write_bytes(text.encode("utf-8", "surrogateescape"))


def _write_more(report: "Report", predictions: Path | None, plot: Path | None) -> None:
    from cogworks.evaluation.report import predictions as lines
    from cogworks.evaluation.showing import svg_of

    if predictions is not None:
        _write(predictions, lines(report.instances))
    if plot is not None:
        _write(plot, svg_of(report))


def _show(report: "Report", *, as_json: bool) -> None:
    from cogworks.evaluation.showing import instances_table, stages_table, verdict_lines

    if as_json:
        outcome = "met" if report.is_met else "not_met"
        if report.totals.unbudgeted:
            outcome = BudgetReached.outcome
        click.echo(json.dumps({"outcome": outcome, **report.model_dump(mode="json")}))
        return
    console = console_for_people()
    console.print(instances_table(report))
    console.print(stages_table(report))
    for line in verdict_lines(report):
        console.print(line, markup=False, soft_wrap=True)


def _show_samples(folder: Path, *, as_json: bool) -> int:
    if as_json:
        click.echo(json.dumps({"outcome": "written", "folder": str(folder)}))
    else:
        show_line(f"written; go on with: cogworks evaluate --tasks {folder} --out report.json")
    return 0


def _say(line: str) -> None:
    show_line(line, err=True)
