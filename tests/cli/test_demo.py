"""`cogworks demo`: which scenarios there are, and what is refused before anything starts."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cogworks.cli.demo import demo
from cogworks.demo.scenarios import SCENARIOS
from cogworks.errors import UsageError


def run(*options: str) -> str:
    return CliRunner().invoke(demo, list(options), catch_exceptions=False, standalone_mode=False).stdout


def test_every_scenario_is_listed_with_what_it_shows() -> None:
    lines = run("--list").splitlines()

    assert [tuple(line.split(maxsplit=1)) for line in lines] == [
        (each.name, each.shows) for each in SCENARIOS.values()
    ]
    assert [each["name"] for each in json.loads(run("--list", "--json"))] == list(SCENARIOS)


def test_a_scenario_that_is_not_there_starts_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no scenario 'thick-issue'"):
        run("--scenario", "thick-issue", "--dir", str(tmp_path / "stage"))

    assert list(tmp_path.iterdir()) == []


def test_a_directory_of_another_scenario_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "scenario").write_text("small-bug\n")

    with pytest.raises(UsageError, match="cogworks demo --scenario small-bug --dir"):
        run("--dir", str(tmp_path))

    assert [path.name for path in tmp_path.iterdir()] == ["scenario"]
