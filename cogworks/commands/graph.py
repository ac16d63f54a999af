"""`cogworks graph`: a pipeline as a picture or as JSON; `cogworks graph check`: everything wrong with its file."""

import json
from pathlib import Path

import click

from cogworks.errors import ConfigurationError, UsageError
from cogworks.pipeline.built_in import built_in_pipelines
from cogworks.pipeline.graph import PipelineConfiguration
from cogworks.pipeline.parser import parse_pipelines
from cogworks.pipeline.render import as_json, dot, mermaid

PIPELINE_FILE = Path(".cogworks/pipeline.toml")


@click.group("graph", invoke_without_command=True)
@click.option(
    "--pipeline", "name", metavar="NAME", help="Which pipeline of the file; default: the one runs begin with."
)
@click.option(
    "--format", "form", type=click.Choice(["mermaid", "dot", "json"]), default="mermaid", show_default=True
)
@click.option(
    "--file",
    "file",
    type=click.Path(path_type=Path),
    help=f"The pipeline file; default: {PIPELINE_FILE.as_posix()} where there is one, else the built-in pipeline.",
)
@click.pass_context
def graph(context: click.Context, name: str | None, form: str, file: Path | None) -> None:
    """Print a pipeline as Mermaid, DOT or JSON.

    Example: cogworks graph --format dot | dot -Tsvg > pipeline.svg
    """
    if context.invoked_subcommand is not None:
        return
    pipeline = read_pipelines(file).choose(name)
    match form:
        case "json":
            click.echo(json.dumps(as_json(pipeline), indent=2))
        case "dot":
            click.echo(dot(pipeline), nl=False)
        case _:
            click.echo(mermaid(pipeline), nl=False)


@graph.command("check")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--json", "as_object", is_flag=True, help="One JSON object on stdout.")
def check(file: Path | None, as_object: bool) -> None:
    """Check a pipeline file; exit 2 with every problem, 0 with the warnings.

    Example: cogworks graph check .cogworks/pipeline.toml
    """
    try:
        found = read_pipelines(file)
    except ConfigurationError as error:
        if as_object:
            click.echo(
                json.dumps({"outcome": error.outcome, "file": error.source, "problems": error.problems})
            )
        raise
    for warning in found.warnings:
        click.echo(f"warning: {warning}", err=True)
    hashes = {name: pipeline.graph_hash for name, pipeline in found.pipelines.items()}
    if as_object:
        click.echo(
            json.dumps(
                {"outcome": "ok", "file": found.source, "pipelines": hashes, "warnings": found.warnings}
            )
        )
        return
    for name, pipeline in found.pipelines.items():
        size = f"{len(pipeline.nodes)} nodes, {len(pipeline.edges)} edges"
        click.echo(f"{found.source}: pipeline {name!r} can run ({size}, graph {hashes[name][:12]})")


def read_pipelines(file: Path | None) -> PipelineConfiguration:
    """The pipelines of a file; None: of this directory's `.cogworks/pipeline.toml`, or the built-in ones.

    Raises:
        UsageError: the file named cannot be read.
        ConfigurationError: it is malformed.
    """
    if file is None and not PIPELINE_FILE.exists():
        return built_in_pipelines()
    path = PIPELINE_FILE if file is None else file
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {path.as_posix()}: {error.strerror}; name a pipeline file") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            path.as_posix(), [f"is not UTF-8 text: {error.reason} at byte {error.start}"]
        ) from error
    return parse_pipelines(text, source=path.as_posix())
