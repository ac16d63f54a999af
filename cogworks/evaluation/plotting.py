"""The report as one SVG picture: a bar of seconds for each instance, divided into its stages."""

from itertools import cycle
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from cogworks.evaluation.report import Report, Result

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
    told = (
        f"{result.duration_s:.1f} s, {result.transactions.kept}/{result.transactions.tried} kept, "
        f"{result.changed_lines} lines, {len(result.files)} files{mu}, ${result.cost_usd:.4f}"
    )
    _text(root, told, round(left) + 8, line, fill="#555555")


def _total_s(result: Result) -> float:
    return sum(stage.duration_s for stage in result.stages)


def _text(root: Element, text: str, left: int, line: int, **more: str) -> None:
    SubElement(root, "text", {"x": str(left), "y": str(line), **more}).text = text
