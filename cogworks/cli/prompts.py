"""`cogworks prompts`: what a model reads, from which file, and whether a repository's own prompts could be sent."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogworks.cli.graph import read_pipelines, refuse_unworkable_in
from cogworks.cli.tables import Column, show_line, show_table
from cogworks.errors import ConfigurationError

if TYPE_CHECKING:
    from cogworks.llm.prompts import Prompts

FOLDER = ".cogworks"
_DIRECTORY = click.option(
    "--dir", "directory", type=click.Path(path_type=Path, file_okay=False, exists=True), default=Path(),
    help="The repository whose prompts go before the built-in ones [default: here].",
)  # fmt: skip
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")


@click.group("prompts")
def prompts() -> None:
    """List, show and check the prompts that a model gets.

    Example: cogworks prompts list
    """


@prompts.command("list")
@_DIRECTORY
@_JSON
def list_prompts(directory: Path, as_json: bool) -> None:
    """List every prompt with its file and its variables.

    Example: cogworks prompts list
    """
    known = _prompts_of(directory)
    if as_json:
        click.echo(
            json.dumps({"outcome": "done", "prompts": [_as_object(known, stem) for stem in known.stems]})
        )
        return
    rows = [(stem, known.source(stem), ", ".join(known.variables(stem))) for stem in known.stems]
    show_table([Column("prompt"), Column("file"), Column("variables")], rows)


@prompts.command("show")
@click.argument("name")
@_DIRECTORY
@_JSON
def show_prompt(name: str, directory: Path, as_json: bool) -> None:
    """Show the prompt NAME, with the rules that stand above every prompt.

    Example: cogworks prompts show intake
    """
    from cogworks.llm.prompts import RULES

    known = _prompts_of(directory)
    shown = {**_as_object(known, name), "rules": RULES, "text": known.text(name)}
    if as_json:
        click.echo(json.dumps({"outcome": "done", **shown}))
        return
    show_line(f"{RULES}\n\n{shown['text']}")


@prompts.command("check")
@_DIRECTORY
@_JSON
def check_prompts(directory: Path, as_json: bool) -> int:
    """Check the prompts and schemas of a repository as a run would.

    Every template must be readable, use only the variables it gets, and put text of others between delimiters. Exits
    with 0 when there is no problem, else with 2.

    \b
    Examples:
      cogworks prompts check
      cogworks prompts check --dir ../hello --json
    """
    problems: list[str] = []
    known: Prompts | None = None
    try:
        known = _prompts_of(directory)
        file = directory / FOLDER / "pipeline.toml"
        refuse_unworkable_in(read_pipelines(file if file.is_file() else None), directory / FOLDER)
    except ConfigurationError as error:
        problems = [*error.problems]
    if as_json:
        outcome = "configuration_error" if problems else "ok"
        click.echo(json.dumps({"outcome": outcome, "problems": problems}))
    elif problems:
        show_line("\n".join(problems), err=True)
    elif known is not None:
        own = sum(known.source(stem).startswith(FOLDER) for stem in known.stems)
        show_line(f"{len(known.stems)} prompts can be sent, {own} of them the repository's own")
    return ConfigurationError.exit_code if problems else 0


def _prompts_of(directory: Path) -> "Prompts":
    from cogworks.llm.prompts import shipped_prompts
    from cogworks.llm.repository_files import prompts_in

    folder = directory / FOLDER
    files: Mapping[str, str] = {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted(folder.glob("prompts/*.md.j2"))
    }
    return shipped_prompts(prompts_in(files))


def _as_object(known: "Prompts", stem: str) -> dict[str, object]:
    return {"name": stem, "file": known.source(stem), "variables": known.variables(stem)}
