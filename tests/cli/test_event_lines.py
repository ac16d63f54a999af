"""The log of a coding visit as text: one event a line, with the most telling of what it says."""

from pathlib import Path

import pytest

from cogworks.cli.event_lines import show_events
from cogworks.cli.looking import Look
from cogworks.cycle.eventlog import segments
from tests.cycle.remembered import remembered
from tests.cycle.scripted import recorded

BAD = [remembered("GENERATE_PATCH:none_valid", 0, cycle=n) for n in range(1, 5)]


@pytest.fixture
def shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines of a run that remembers, blanks folded."""
    folder = tmp_path / "visits" / "0005-code_generation@2"
    folder.mkdir(parents=True)
    events = recorded(experience=[remembered("APPLY_PATCH", 1), *BAD])
    for number, text in enumerate(segments(events), 1):
        (folder / f"events-{number}.ndjson").write_text(text)

    assert show_events(str(tmp_path), None, Look(), as_json=False) == 0

    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_each_event_is_a_line_under_its_visit(shown: list[str]) -> None:
    assert shown[0] == "visits/0005-code_generation@2:"
    said = [line.split(" ", 3)[3] for line in shown[2:] if line]
    assert said[:4] == [
        "LOG_HEADER octo-org/adder#7",
        "CYCLE_START",
        "PROPOSAL 0001/planner/RUN_TESTS/1 0.600",
        "PROPOSAL 0001/idle/IDLE/1 0.005",
    ]
    assert "EXECUTION_COMPLETE failed" in said
    assert "CGW_COMMIT 0002/planner/ANALYZE_FAILURE/1 ANALYZE_FAILURE COMPETITION" in said


def test_what_memory_made_of_the_proposals_is_a_line_too(shown: list[str]) -> None:
    weighed = [line.split(" ", 3)[3] for line in shown if "SIM_GATE" in line]

    assert weighed == [
        "SIM_GATE memory: 0004/planner/APPLY_PATCH/1 0.850 → 0.978",
        "SIM_GATE memory: 0005/planner/APPLY_PATCH/1 0.850 → 0.961",
        "SIM_GATE memory: 0009/planner/GENERATE_PATCH/1 left out",
        "SIM_GATE memory: 0011/planner/APPLY_PATCH/1 0.850 → 0.978",
    ]
