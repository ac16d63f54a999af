"""How a step's end is told to people."""

import pytest

from cogworks.cli.reporting import Style, Tally, conclude
from cogworks.engine.report import StepReport
from cogworks.pipeline.position import Standing, waiting_for
from tests.pipeline.runs import GRAPH, facts, finished, new_run, pull


def test_a_waiting_item_says_so_once_with_the_link_to_its_pull_request(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (wait,) = waiting_for(Standing(finished(new_run(), "spec"), facts(pull(31)), GRAPH))
    report = StepReport(outcome="waiting", message=wait.line, waiting_for=(wait,))

    code = conclude(
        "https://github.com/octo-org/adder/issues/7", Tally(), lambda: report, Style(as_json=False)
    )

    assert code == 0
    assert capsys.readouterr().out == (
        "waiting: merge or approve pull request #31, or close it to reject it: "
        "https://github.com/octo-org/adder/pull/31 (anyone with write permission)\n"
    )
