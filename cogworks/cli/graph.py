"""`cogworks graph`: a pipeline or a work item as a picture or as JSON; `graph check`: everything wrong with a file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from click.core import ParameterSource

from cogworks.cli.tables import show_data, show_line
from cogworks.errors import ConfigurationError, UsageError

if TYPE_CHECKING:
    from cogworks.pipeline.elements import SubItem
    from cogworks.pipeline.graph import Instance, Pipeline, PipelineConfiguration
    from cogworks.pipeline.render import View
    from cogworks.vocabulary import NodeId

PIPELINE_FILE = Path(".cogworks/pipeline.toml")

_FORMAT = click.option(
    "--format", "form", type=click.Choice(["mermaid", "dot", "json"]), default="mermaid", show_default=True
)
_JSON = click.option("--json", "as_object", is_flag=True, help="One JSON object on stdout.")


class _GraphGroup(click.Group):
    """A URL in the place of a subcommand asks for the graph of that issue."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if "://" in args[0]:
            return "", of_item, args
        if args[0] not in self.commands:
            raise click.UsageError(
                f"{args[0]!r} is neither an ISSUE_URL nor `check`. To name a file, write `--file FILE` or `check "
                "FILE`.",
                ctx,
            )
        return super().resolve_command(ctx, args)


@click.group(
    "graph",
    cls=_GraphGroup,
    invoke_without_command=True,
    subcommand_metavar="[ISSUE_URL | check [FILE]]",
)
@click.option(
    "--pipeline", "name", metavar="NAME", help="Which pipeline of the file; default: the one runs begin with."
)
@_FORMAT
@_JSON
@click.option(
    "--file",
    "file",
    type=click.Path(path_type=Path),
    help=f"The pipeline file; default: {PIPELINE_FILE.as_posix()} where there is one, else the built-in pipeline.",
)
@click.pass_context
def graph(context: click.Context, name: str | None, form: str, as_object: bool, file: Path | None) -> None:
    """Print a pipeline or a work item as Mermaid, DOT or JSON.

    \b
    Examples:
      cogworks graph --format dot | dot -Tsvg > pipeline.svg
      cogworks graph --file other.toml --pipeline hotfix
      cogworks graph https://github.com/octo-org/hello/issues/42
    """
    context.obj = "json" if as_object else form
    if context.invoked_subcommand is None:
        _print(Picture(read_pipelines(file).choose(name)), context.obj)
    elif name is not None or file is not None:
        raise click.UsageError(
            "--pipeline and --file cannot be combined with an ISSUE_URL or `check`. Run `cogworks graph check "
            "FILE` to check every pipeline of a file.",
            context,
        )


@click.command("ISSUE_URL")
@click.argument("issue_url")
@_FORMAT
@_JSON
@click.pass_context
def of_item(context: click.Context, issue_url: str, form: str, as_object: bool) -> None:
    """Print the pipeline of the work item at ISSUE_URL with the state of each node. Reads once, writes nothing.

    \b
    Example:
      cogworks graph https://github.com/octo-org/hello/issues/42 --format dot
    """
    from cogworks.cli.looking import look_at
    from cogworks.forge.surface import views_of
    from cogworks.github.meter import Requests
    from cogworks.pipeline.gates import class_of, gated_nodes

    is_form_given = context.get_parameter_source("form") is not ParameterSource.DEFAULT
    seen = look_at(issue_url, Requests())
    views = views_of(seen.standing.position)
    gated = gated_nodes(seen.pipeline, class_of(seen.state, seen.facts))
    _print(
        Picture(seen.pipeline, views, seen.state.schedule or (), gated),
        "json" if as_object else form if is_form_given else context.obj,
    )


class Picture(NamedTuple):
    """What is drawn: a pipeline, and for a work item the state of its nodes."""

    pipeline: "Pipeline"
    views: "Mapping[Instance, View] | None" = None
    sub_items: "Sequence[SubItem]" = ()
    gated: "frozenset[NodeId] | None" = None


def _print(picture: Picture, form: str) -> None:
    from cogworks.pipeline.render import MAX_DRAWN_CHARS, MAX_DRAWN_EDGES, as_json, dot, is_drawable, mermaid

    match form:
        case "json":
            click.echo(json.dumps(as_json(picture.pipeline, picture.views, picture.gated), indent=2))
        case "dot":
            show_data(dot(*picture))
        case _:
            drawn = mermaid(*picture)
            show_data(drawn)
            if not is_drawable(drawn):
                show_line(
                    f"warning: Mermaid draws at most {MAX_DRAWN_EDGES} edges and {MAX_DRAWN_CHARS} characters, and this "
                    "picture has more; use --format dot.",
                    err=True,
                )


@graph.command("check")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@_JSON
def check(file: Path | None, as_object: bool) -> None:
    """Check a pipeline file; exit 2 with every problem, 0 with the warnings.

    \b
    Examples:
      cogworks graph check
      cogworks graph check other.toml --json
    """
    from cogworks.pipeline.parser import BUILT_IN_SOURCE

    configuration = read_pipelines(file)
    if configuration.source != BUILT_IN_SOURCE:
        refuse_unworkable_in(configuration, (PIPELINE_FILE if file is None else file).parent)
    for warning in configuration.warnings:
        show_line(f"warning: {warning}", err=True)
    hashes = {name: pipeline.graph_hash for name, pipeline in configuration.pipelines.items()}
    if as_object:
        click.echo(
            json.dumps(
                {
                    "outcome": "ok",
                    "file": configuration.source,
                    "pipelines": hashes,
                    "warnings": configuration.warnings,
                }
            )
        )
        return
    for name, pipeline in configuration.pipelines.items():
        size = f"{len(pipeline.nodes)} nodes, {len(pipeline.edges)} edges"
        show_line(f"{configuration.source}: pipeline {name!r} can run ({size}, graph {hashes[name][:12]})")


def refuse_unworkable_in(pipelines: "PipelineConfiguration", folder: Path) -> None:
    """Check the nodes against the prompts, schemas and labels beside the pipeline file."""
    # Prompts and JSON Schema take a while to import, and drawing needs neither.
    from cogworks.engine.workability import refuse_unworkable
    from cogworks.settings.config import parse_config

    paths = [*folder.glob("prompts/*.md.j2"), *folder.glob("schemas/*.json"), *folder.glob("config.toml")]
    files = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    config = parse_config(files["config.toml"]) if "config.toml" in files else None
    labels = tuple(config.labels.model_dump().values()) if config else ()
    refuse_unworkable(pipelines, files, own_labels=labels)


def read_pipelines(file: Path | None) -> "PipelineConfiguration":
    """The pipelines of a file; None: of this directory's `.cogworks/pipeline.toml`, or the built-in ones.

    Raises:
        UsageError: the file named cannot be read.
        ConfigurationError: it is malformed.
    """
    from cogworks.pipeline.parser import built_in_pipelines, parse_pipelines

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
