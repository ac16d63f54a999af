from xml.etree import ElementTree

from rich.console import Console

from cogworks.evaluation.report import Report, report_of
from cogworks.evaluation.showing import instances_table, progress_line, stages_table, svg_of, verdict_lines
from tests.evaluation.results import result

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</text><script>alert(1)</script>[red]&"


def report() -> Report:
    return report_of(
        [
            result("good"),
            result("hard", "not_solved", reason="no\nidea " + "x" * 500, transactions={}),
            result(HOSTILE, "error", reason="gone", mu=None, stages=()),
        ],
        version="1",
    )


def shown(table: object) -> str:
    console = Console(width=160, color_system=None)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def test_the_table_has_every_instance_with_its_metrics_and_the_sums() -> None:
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]]
        for line in shown(instances_table(report())).splitlines()
    ]
    by_name = {row[0]: row[1:] for row in rows if row}

    assert by_name["good"] == [
        *("solved", "0", "3", "1", "1/2", "100 → 1.5", "2", "20", "10", "0.1000", "4.5"),
    ]
    assert by_name["hard"][:6] == ["not solved", "0", "3", "1", "0/0", "100 → 1.5"]
    assert by_name[HOSTILE][0] == "error"
    assert by_name["1 of 3 solved"][:5] == ["33%", "0", "9", "3", "2/4"]


def test_an_instance_without_a_budget_says_so_in_the_table_and_in_a_line() -> None:
    found = report_of([result("a"), result("late", "unbudgeted", reason="not begun")], version="1")

    (row,) = (line for line in shown(instances_table(found)).splitlines() if "late" in line)
    assert "no budget" in row
    assert verdict_lines(found) == ["criterion not met: late: not begun"]


def test_the_stages_have_their_time_and_cost() -> None:
    assert "analyze_failure" in shown(stages_table(report()))


def test_what_is_not_solved_and_what_is_not_met_is_said_in_a_line_each() -> None:
    lines = verdict_lines(report())

    assert lines[0].startswith("hard: no idea x")
    assert len(lines[0]) < 220
    assert lines[1:] == [f"criterion not met: {HOSTILE}: gone"]
    assert verdict_lines(report_of([result("a")], version="1")) == [
        "criteria met: at least 1 solved, no targeted test broken"
    ]


def test_progress_is_one_line() -> None:
    line = progress_line(2, 6, result("hard", "not_solved", reason="no\nidea"))

    assert line == "2/6 hard: not solved, 1 of 2 transactions kept, 3 lines, 0.1000, 4.5 s: no idea"


def test_the_picture_has_a_bar_for_every_stage_of_every_instance_and_obeys_no_name() -> None:
    root = ElementTree.fromstring(svg_of(report()))

    bars = [bar for bar in root.iter(f"{SVG}rect") if bar.find(f"{SVG}title") is not None]
    assert [bar.findtext(f"{SVG}title") for bar in bars][:3] == [
        "prepare: 0.5 s, $0.0000",
        "analyze_failure: 2.2 s, $0.1000",
        "judge: 1.5 s, $0.0000",
    ]
    assert len(bars) == 6
    assert list(root.iter(f"{SVG}script")) == []
    assert any("<script>" in (text.text or "") for text in root.iter(f"{SVG}text"))


def test_equal_reports_have_equal_pictures_and_none_is_no_error() -> None:
    assert svg_of(report()) == svg_of(report())
    assert ElementTree.fromstring(svg_of(report_of([], version="1"))).tag == f"{SVG}svg"
