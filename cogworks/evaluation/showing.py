"""The report for people: a table of the instances and one of the stages.

The report as one SVG picture: a bar of seconds for each instance, divided into its stages.
"""

from itertools import cycle
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from rich.table import Table
from rich.text import Text

from cogworks.evaluation.report import Mu, Report, Result, Stage

_WORDS = {"solved": "solved", "not_solved": "not solved", "error": "error", "unbudgeted": "no budget"}
_STYLES = {"solved": "green", "not_solved": "yellow", "error": "red", "unbudgeted": "magenta"}
MAX_REASON_CHARS = 200


def progress_line(number: int, of: int, result: Result) -> str:
    """One finished instance on one line."""
    line = (
        f"{number}/{of} {result.instance_id}: {_WORDS[result.outcome]}, {result.transactions.kept} of "
        f"{result.transactions.tried} transactions kept, {result.changed_lines} lines, {_dollars(result.cost_usd)}, "
        f"{result.duration_s:.1f} s"
    )
    return f"{line}: {_short(result.reason)}" if result.reason else line


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


_COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f", "#bab0ac")
_MARKS = {
    "solved": ("✓", "#2e7d32"),
    "not_solved": ("✗", "#b26a00"),
    "error": ("!", "#c62828"),
    "unbudgeted": ("$", "#6a1b9a"),
}
_WIDTH, _MARGIN, _NAME, _BAR, _ROW, _HEAD = 1200, 20, 260, 520, 26, 92
_MAX_NAME_CHARS = 34


def svg_of(report: Report) -> str:
    """The picture; equal reports give equal pictures."""
    height = _HEAD + _ROW * len(report.instances) + 2 * _MARGIN
    root = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {_WIDTH} {height}",
            "width": str(_WIDTH),
            "height": str(height),
            "font-family": "sans-serif",
            "font-size": "13",
        },
    )
    SubElement(root, "rect", {"width": "100%", "height": "100%", "fill": "#ffffff"})
    colours = dict(zip((stage.name for stage in report.stages), cycle(_COLOURS), strict=False))
    _head(root, report, colours)
    longest_s = max((_total_s(result) for result in report.instances), default=0.0) or 1.0
    for number, result in enumerate(report.instances):
        _row(root, result, _HEAD + _ROW * number, colours, longest_s=longest_s)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _head(root: Element, report: Report, colours: dict[str, str]) -> None:
    totals = report.totals
    title = (
        f"{totals.solved} of {totals.instances} solved, {totals.regressions} regressions, "
        f"{totals.kept} of {totals.transactions} transactions kept, ${totals.cost_usd:.4f}, {totals.duration_s:.1f} s"
    )
    _text(root, title, _MARGIN, 32, **{"font-size": "17", "font-weight": "bold"})
    left = _MARGIN
    for name, colour in colours.items():
        place = {"x": str(left), "y": "50", "width": "12", "height": "12", "fill": colour}
        SubElement(root, "rect", place)
        _text(root, name, left + 17, 61)
        left += 30 + 8 * len(name)


def _row(root: Element, result: Result, top: int, colours: dict[str, str], *, longest_s: float) -> None:
    mark, colour = _MARKS[result.outcome]
    line = top + 17
    _text(root, mark, _MARGIN, line, fill=colour, **{"font-weight": "bold"})
    name = result.instance_id
    short = name if len(name) <= _MAX_NAME_CHARS else f"{name[: _MAX_NAME_CHARS - 1]}…"
    _text(root, short, _MARGIN + 20, line)
    left = float(_MARGIN + _NAME)
    for stage in result.stages:
        width = _BAR * stage.duration_s / longest_s
        bar = SubElement(
            root,
            "rect",
            {
                "x": f"{left:.1f}",
                "y": str(top + 3),
                "width": f"{width:.1f}",
                "height": str(_ROW - 7),
                "fill": colours[stage.name],
            },
        )
        SubElement(bar, "title").text = f"{stage.name}: {stage.duration_s:.1f} s, ${stage.cost_usd:.4f}"
        left += width
    mu = f", μ {result.mu.before:g} → {result.mu.after:g}" if result.mu else ""
    figures = (
        f"{result.duration_s:.1f} s, {result.transactions.kept}/{result.transactions.tried} kept, "
        f"{result.changed_lines} lines, {len(result.files)} files{mu}, ${result.cost_usd:.4f}"
    )
    _text(root, figures, round(left) + 8, line, fill="#555555")


def _total_s(result: Result) -> float:
    return sum(stage.duration_s for stage in result.stages)


def _text(root: Element, text: str, left: int, line: int, **more: str) -> None:
    SubElement(root, "text", {"x": str(left), "y": str(line), **more}).text = text
