"""What has to come out of the bundled instances, to the letter; `scripts/record-samples` writes it."""

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from cogworks.cli.tables import PLAIN_WIDTH
from cogworks.evaluation.report import Report, as_text, without_clock
from cogworks.evaluation.showing import instances_table, stages_table, verdict_lines

FOLDER = Path(__file__).with_name("golden")


def golden_texts(report: Report) -> Mapping[str, str]:
    """File name -> text: the report and its tables, without the clock and the version of cogworks."""
    still = without_clock(report).model_copy(update={"cogworks_version": "0"})
    console = Console(width=PLAIN_WIDTH, color_system=None, highlight=False)
    with console.capture() as captured:
        console.print(instances_table(still))
        console.print(stages_table(still))
        for line in verdict_lines(still):
            console.print(line, markup=False, soft_wrap=True)
    table = "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())
    return {"report.json": as_text(still), "table.txt": table}
