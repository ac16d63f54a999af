"""The report for people: a table of the instances and one of the stages."""

from rich.table import Table
from rich.text import Text

from cogworks.evaluation.report import Mu, Report, Result, Stage

_WORDS = {"solved": "solved", "not_solved": "not solved", "error": "error", "unbudgeted": "no budget"}
_STYLES = {"solved": "green", "not_solved": "yellow", "error": "red", "unbudgeted": "magenta"}
MAX_REASON_CHARS = 200


def progress_line(number: int, of: int, result: Result) -> str:
    """One finished instance on one line."""
    told = (
        f"{number}/{of} {result.instance_id}: {_WORDS[result.outcome]}, {result.transactions.kept} of "
        f"{result.transactions.tried} transactions kept, {result.changed_lines} lines, {_dollars(result.cost_usd)}, "
        f"{result.duration_s:.1f} s"
    )
    return f"{told}: {_short(result.reason)}" if result.reason else told


def instances_table(report: Report) -> Table:
    """Every instance with its metrics, and their sums."""
    totals = report.totals
    table = Table(title="instances", show_footer=True)
    table.add_column("instance", footer=f"{totals.solved} of {totals.instances} solved", overflow="fold")
    table.add_column("outcome", footer=f"{totals.success_rate:.0%}")
    for name, footer in (
        ("regressions", str(totals.regressions)),
        ("lines", str(totals.changed_lines)),
        ("files", str(totals.files)),
        ("kept/tried", f"{totals.kept}/{totals.transactions}"),
        ("μ", ""),
        ("calls", str(totals.calls)),
        ("tokens in", f"{totals.input_tokens:,}"),
        ("out", f"{totals.output_tokens:,}"),
        ("$", _dollars(totals.cost_usd)),
        ("s", f"{totals.duration_s:.1f}"),
    ):
        table.add_column(name, footer=footer, justify="right")
    for each in report.instances:
        table.add_row(
            # An id comes from a data set: nothing in it is markup.
            Text(each.instance_id),
            Text(_WORDS[each.outcome], style=_STYLES[each.outcome]),
            str(len(each.regressions)),
            str(each.changed_lines),
            str(len(each.files)),
            f"{each.transactions.kept}/{each.transactions.tried}",
            _mu(each.mu),
            str(each.calls),
            f"{each.input_tokens:,}",
            f"{each.output_tokens:,}",
            _dollars(each.cost_usd),
            f"{each.duration_s:.1f}",
        )
    return table


def stages_table(report: Report) -> Table:
    """What each stage took, of all instances together."""
    table = Table(title="stages")
    table.add_column("stage")
    for name in ("runs", "s", "calls", "tokens in", "out", "$"):
        table.add_column(name, justify="right")
    for stage in report.stages:
        table.add_row(*_stage(stage))
    return table


def verdict_lines(report: Report) -> list[str]:
    """Why instances are not solved, and whether the criteria are met."""
    lines = [
        f"{each.instance_id}: {_short(each.reason)}"
        for each in report.instances
        if each.outcome == "not_solved"
    ]
    if report.is_met:
        wanted = report.criteria.min_solved
        return [*lines, f"criteria met: at least {wanted} solved, no targeted test broken"]
    return [*lines, *(f"criterion not met: {_short(problem)}" for problem in report.problems)]


def _stage(stage: Stage) -> tuple[str, ...]:
    return (
        stage.name,
        str(stage.runs),
        f"{stage.duration_s:.1f}",
        str(stage.calls),
        f"{stage.input_tokens:,}",
        f"{stage.output_tokens:,}",
        _dollars(stage.cost_usd),
    )


def _mu(mu: Mu | None) -> str:
    return f"{mu.before:g} → {mu.after:g}" if mu else "?"


def _dollars(amount: float) -> str:
    return f"{amount:.4f}"


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= MAX_REASON_CHARS else f"{plain[: MAX_REASON_CHARS - 1]}…"
