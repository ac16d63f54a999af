"""`cogworks fix`: make failing tests of a local repository pass by small diffs, each proven; no GitHub."""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cogworks.cli.given_files import options_in, text_of
from cogworks.cli.progress import loading_meanwhile, ticking
from cogworks.cli.tables import show_data, show_line
from cogworks.errors import Interrupted, UsageError
from cogworks.stopping import ended_by_signal
from cogworks.unfit import writing

if TYPE_CHECKING:
    from cogworks.cycle.events import Event
    from cogworks.cycle.watchdogs import RunResult
    from cogworks.repair.instance import Instance
    from cogworks.repair.options import Options
    from cogworks.wiring.fix import Repair

_MOST_NAMED = 5
FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command("fix")
@click.option(
    "--repo",
    default=".",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The repository. It is only read.",
)
@click.option("--task", type=FILE, help="A JSON file with `instance_id` and `failing_tests`, by exact id.")
@click.option(
    "--test",
    "tests",
    multiple=True,
    metavar="ID",
    help="A failing test by exact id, instead of --task; repeatable [default: all that fail].",
)
@click.option(
    "--test-cmd",
    default="",
    help="The command that runs the tests [default: the task's, or python -m pytest -q].",
)
@click.option(
    "--test-timeout",
    type=click.FloatRange(0, 3600, min_open=True),
    metavar="SECONDS",
    help="Stop a test that takes longer [default: 10 times the slowest that passes, 10 to 300].",
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the patch here [default: print it]."
)
@click.option("--config", type=FILE, help="TOML or YAML with the options of the patch loop.")
@click.option(
    "--artifacts",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the event log, the plan, every transaction and the proof in a folder below this one.",
)
@click.option(
    "--no-model",
    is_flag=True,
    help="Ask no model. Run the tests, rank the places, keep the artifacts, exit with 1.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def fix(
    repo: Path,
    task: Path | None,
    tests: tuple[str, ...],
    test_cmd: str,
    test_timeout: float | None,
    out: Path | None,
    config: Path | None,
    artifacts: Path | None,
    no_model: bool,
    as_json: bool,
) -> int:
    """Make failing tests of a local repository pass.

    Repairs the tests of --task, those named with --test, or all that fail. Includes uncommitted work, except with
    --task. Tries each diff in a clone, and keeps it only if it passes every gate. Prints the patch and leaves your
    files alone.

    \b
    Exit code:
      0  the tests pass and nothing is worse
      1  they do not
      2  a named test does not exist
      4  there is no key for the model
      5  the budget is used up

    The model is COGWORKS_LLM_MODEL, [codegen.model] of --config, or [llm] of .cogworks/config.toml. Its key is
    COGWORKS_LLM_API_KEY or ANTHROPIC_API_KEY. The budget is [budgets] of .cogworks/config.toml.

    \b
    Examples:
      cogworks fix > patch.diff
      cogworks fix --test tests/test_shop.py::test_total --out patch.diff
      cogworks fix --repo . --task task.json --test-cmd "python -m pytest -q" --out patch.diff
      cogworks fix --repo . --task task.json --config repair.toml --artifacts runs --json

    \b
    A task:
      {"instance_id": "shop-1", "failing_tests": ["tests/test_shop.py::test_total"]}

    docs/evaluate.md is the run-book. It also says what to do when a repair does not work.
    """
    from cogworks.domain_services.ahead import started_ahead
    from cogworks.settings.for_services import own_environment

    # It starts while the rest is loaded.
    starts = click.get_current_context().with_resource(started_ahead(repo, own_environment()))
    from cogworks.repair.testcommand import USUAL, read_command
    from cogworks.settings.config import read_environment
    from cogworks.wiring.fix_order import Order
    from cogworks.wiring.fix_targets import NothingFails
    from cogworks.wiring.fix_workplace import open_workplace

    instance, options = _instance(task, tests), _paced(options_in(config), test_timeout)
    command = test_cmd or instance.test_cmd or USUAL
    parsed = read_command(command)
    order = Order(
        repo,
        instance,
        options,
        suite=parsed.suite,
        command=command,
        words=parsed.words,
        is_offline=no_model,
        with_uncommitted=task is None,
    )
    kept_in = _folder(artifacts or (Path(options.logging.dir) if options.logging.dir else None), instance)
    started_s, patch = time.monotonic(), ""
    report: dict[str, Any] = {
        "instance_id": instance.instance_id,
        "artifacts": str(kept_in) if kept_in else None,
    }
    try:
        with ExitStack() as opened:
            place = opened.enter_context(
                open_workplace(
                    order,
                    read_environment(),
                    say=_say,
                    during=loading_meanwhile(ticking(_say, only_long=True), _load),
                    starts=starts,
                )
            )
            from cogworks.wiring.fix import repair_at

            listener = _listener(options.logging.stream)
            repair = opened.enter_context(repair_at(place, say=_say, listener=listener, progress=_say))
            try:
                with ended_by_signal():
                    result = repair.run()
            except KeyboardInterrupt:
                raise Interrupted("interrupted; nothing was changed. Run the same command again.") from None
            finally:
                if kept_in is not None:
                    _keep(repair, kept_in)
            success, patch = result.success, repair.patch if result.success else ""
            report |= _result_fields(repair, result, patch)
            if wrong := repair.notes.misnamed:
                raise UsageError("; ".join(wrong))
            if repair.unasked is not None:
                _show_ranking(repair)
                if repair.unasked.refusal is not None:
                    raise repair.unasked.refusal
    except NothingFails as nothing:
        success = True
        report |= {"outcome": "nothing_fails", "message": str(nothing), "repaired": [], "patch": None}
    report["duration_s"] = round(time.monotonic() - started_s, 3)
    _show(report, patch, out, as_json=as_json)
    return 0 if success else 1


def _load() -> None:
    """What a repair needs after the first run of the tests."""
    from cogworks.wiring.fix import warm

    warm()


def _instance(task: Path | None, tests: tuple[str, ...]) -> "Instance":
    from cogworks.repair.instance import Instance, parse_instance

    if task is not None and tests:
        raise UsageError(
            "name the failing tests with `--test ID`, once for each, or with `--task FILE`, not with both."
        )
    if task is not None:
        return parse_instance(text_of(task), source=str(task))
    return Instance(instance_id="fix", failing_tests=tuple(dict.fromkeys(tests)))


def _paced(options: "Options", test_timeout_s: float | None) -> "Options":
    """The options with the limit of one test that the command names."""
    if test_timeout_s is None:
        return options
    gates = options.gates.model_copy(update={"test_timeout_s": test_timeout_s})
    return options.model_copy(update={"gates": gates})


def _folder(artifacts: Path | None, instance: "Instance") -> Path | None:
    """A folder of its own for each instance, whatever its id looks like."""
    from cogworks.llm.cassette_files import file_stem

    return None if artifacts is None else artifacts / file_stem(instance.instance_id)


def _keep(repair: "Repair", folder: Path) -> None:
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in repair.artifacts().items():
            (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape")


def _result_fields(repair: "Repair", result: "RunResult", patch: str) -> dict[str, Any]:
    from cogworks.repair.proof import caution, summarised

    notes, meter = repair.notes, repair.meter
    proof = notes.proof if result.success else None
    repaired = list(proof.having("fail_to_pass")) if proof else []
    first = f"{caution(summarised(proof))} " if proof else ""
    left = _left_failing(proof.having("still_fails")) if proof else ""
    message = f"{first.lstrip()}{len(repaired)} test(s) repaired{left}"
    return {
        "outcome": "fixed" if result.success else "not_fixed",
        "message": message if result.success else repair.reason,
        "repaired": repaired,
        "patch": patch or None,
        "transactions": [
            {"landmark": each.landmark, "code": each.result.code, "reasons": list(each.result.reasons)}
            for each in notes.tried
        ],
        "refused": list(notes.refused),
        "suspects": _suspects(repair),
        "cycles": result.cycles_executed,
        "tokens": {"input": meter.input_tokens, "output": meter.output_tokens},
        "cost_usd": float(meter.cost_usd),
    }


def _left_failing(tests: Sequence[str]) -> str:
    """What else fails and is no part of the task."""
    if not tests:
        return ""
    more = f" and {len(tests) - _MOST_NAMED} more" if len(tests) > _MOST_NAMED else ""
    return f"; {len(tests)} other test(s) still fail: {', '.join(tests[:_MOST_NAMED])}{more}"


def _suspects(repair: "Repair") -> list[dict[str, Any]]:
    """The ranking, best first; nothing where the run did not come to it."""
    localised = repair.notes.localised
    return [
        {
            "symbol": each.symbol.id,
            "path": each.symbol.artifact,
            "lines": list(each.symbol.lines),
            "suspicion": round(each.suspicion, 3),
        }
        for each in (localised.suspects if localised else ())
    ]


def _show_ranking(repair: "Repair") -> None:
    for number, each in enumerate(_suspects(repair), 1):
        first, last = each["lines"]
        _say(f"{number}. {each['path']}:{first}-{last} {each['symbol']} ({each['suspicion']:.2f})")


def _show(report: dict[str, Any], patch: str, out: Path | None, *, as_json: bool) -> None:
    if patch and out is not None:
        with writing(out):
            out.write_text(patch, encoding="utf-8", errors="surrogateescape")
    if as_json:
        click.echo(json.dumps(report))
        return
    _say(f"{report['outcome'].replace('_', ' ')}: {report['message']}")
    if patch and out is None:
        show_data(patch)


def _listener(stream: bool) -> "Callable[[Event], None]":
    from cogworks.codegen.dossier import RunLog, record_line
    from cogworks.codegen.suitability import Hints
    from cogworks.cycle.events import ExecutionComplete

    log = RunLog()
    hints = Hints(lambda hint: _say(f"hint: {hint}"))

    def listen(event: "Event") -> None:
        if stream:
            for record in log.records(event):
                _say(record_line(record))
        elif isinstance(event.body, ExecutionComplete):
            result = event.body.result
            _say(f"{event.cycle}. {result.outcome.value}{f': {result.summary}' if result.summary else ''}")
        hints(event)

    return listen


def _say(line: str) -> None:
    show_line(line, err=True)
