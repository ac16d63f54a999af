"""`cogworks prompts`: what a model is told, and whether a repository's own prompts could be sent."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cogworks.cli.prompts import prompts
from cogworks.errors import ConfigurationError
from cogworks.llm.prompts import RULES

OWN = 'Classify it.\n--- user ---\n{{ item.title | untrusted("title") }}\n'


def call(*arguments: str) -> Result:
    return CliRunner().invoke(prompts, arguments, standalone_mode=False, catch_exceptions=False)


def repository(folder: Path, **texts: str) -> str:
    """A folder whose prompts go before the built-in ones, as an option."""
    place = folder / ".cogworks" / "prompts"
    place.mkdir(parents=True)
    for stem, text in texts.items():
        (place / f"{stem}.md.j2").write_text(text)
    return str(folder)


def test_every_prompt_is_listed_with_its_file_and_variables(tmp_path: Path) -> None:
    where = repository(tmp_path, intake=OWN)

    told = json.loads(call("list", "--dir", where, "--json").stdout)["prompts"]
    shown = call("list", "--dir", where).stdout

    by_name = {each["name"]: each for each in told}
    assert by_name["intake"] == {
        "name": "intake",
        "file": ".cogworks/prompts/intake.md.j2",
        "variables": ["item"],
    }
    assert by_name["review"]["file"] == "prompts/review.md.j2"
    assert "diff" in by_name["review"]["variables"]
    assert all(each["name"] in shown and each["file"] in shown for each in told)


def test_one_prompt_is_shown_below_the_rules(tmp_path: Path) -> None:
    where = repository(tmp_path, intake=OWN)

    assert call("show", "intake", "--dir", where).stdout == f"{RULES}\n\n{OWN}\n"
    assert json.loads(call("show", "intake", "--dir", where, "--json").stdout)["text"] == OWN


def test_a_prompt_that_is_not_there_is_told_with_the_one_that_was_meant() -> None:
    with pytest.raises(ConfigurationError, match="did you mean 'intake'"):
        call("show", "intak")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (OWN, ""),
        ("{{ item", "line 1: "),
        ("No border.\n--- user ---\n--- user ---\n", "has 2 lines '--- user ---', wanted 1"),
    ],
    ids=["fine", "syntax", "borders"],
)
def test_prompts_of_a_repository_are_checked_as_a_run_would(tmp_path: Path, text: str, problem: str) -> None:
    where = repository(tmp_path, intake=text)

    plain, told = call("check", "--dir", where), json.loads(call("check", "--dir", where, "--json").stdout)

    assert plain.return_value == (2 if problem else 0)
    assert told["outcome"] == ("configuration_error" if problem else "ok")
    assert problem in "".join(told["problems"])
    assert (problem in plain.stderr) if problem else ("1 of them the repository's own" in plain.stdout)


def test_prompts_of_nodes_that_a_pipeline_declares_are_checked_with_their_inputs(tmp_path: Path) -> None:
    where = repository(tmp_path, mine='Do it.\n--- user ---\n{{ nobody | untrusted("x") }}\n')
    (tmp_path / ".cogworks" / "pipeline.toml").write_text(
        '[pipelines.default]\nstart = "mine"\nedges = []\n'
        'nodes = [{ id = "mine", type = "llm", prompt = "mine", schema = "intake", outputs = ["o"] }]\n'
    )

    checked = call("check", "--dir", where)

    assert checked.return_value == 2
    assert "uses `nobody`, which it is not given" in checked.stderr
