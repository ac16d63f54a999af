"""What a `pipeline.toml` says: its pipelines, or every problem that keeps them from running.

The pipelines that ship with cogworks, for repositories that declare none.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from cogworks.errors import ConfigurationError
from cogworks.pipeline.checks import choice_problems, problems_of, warnings_of
from cogworks.pipeline.element_tables import (
    MAX_RETRIES,
    MAX_SECONDS,
    MAX_USD,
    NOT_OBEYED_BY_FILES,
    NOT_OBEYED_BY_PIPELINES,
    read_edge,
    read_node,
)
from cogworks.pipeline.elements import Settings, WorkClass
from cogworks.pipeline.gates import WORK_CLASSES
from cogworks.pipeline.graph import Pipeline, PipelineConfiguration
from cogworks.toml_text import Shape, Table, meant, shown, strangeness
from cogworks.vocabulary import NodeId

MAX_FILE_CHARS = 1_000_000

# `int` takes 4300 digits at most:
# https://docs.python.org/3/library/stdtypes.html#integer-string-conversion-length-limitation
_LONG_NUMBER = re.compile(r"[0-9][0-9_]{4000,}")
_NAME = Shape(re.compile(r"[a-z][a-z0-9_-]{0,39}"), "a name of small letters, digits, '-' and '_'")


def parse_pipelines(text: str, *, source: str, built_in: bool = False) -> PipelineConfiguration:
    """The pipelines of one file, checked.

    Args:
        text: TOML.
        source: what messages call the file, e.g. `.cogworks/pipeline.toml`.
        built_in: the text ships with cogworks; only such files may run scripts.

    Raises:
        ConfigurationError: with all problems, each naming its table and key.
    """
    problems: list[str] = []
    warnings: list[str] = []
    root = Table(_toml(text, source), "", problems)
    shared = _settings(root.table("settings"), Settings())
    default = root.text("default")
    pipelines: dict[str, Pipeline] = {}
    tables = root.table("pipelines")
    for name, table in tables.named_tables(_NAME) if tables is not None else ():
        reading = _PipelineReading(name, table, shared, warnings, built_in=built_in)
        pipelines[name] = reading.read()
    root.refuse_all(NOT_OBEYED_BY_FILES)
    root.close()
    if not pipelines:
        problems.append(
            "declares no pipelines; add [pipelines.<name>] or remove the file to use the built-in one"
        )
    chosen = _default(default, pipelines, problems)
    if not problems:
        # It asks each pipeline for its first node, which one with problems may not have.
        problems.extend(choice_problems(pipelines, chosen))
    if problems:
        raise ConfigurationError(source, problems)
    return PipelineConfiguration(source=source, pipelines=pipelines, default=chosen, warnings=tuple(warnings))


def _toml(text: str, source: str) -> dict[str, Any]:
    if len(text) > MAX_FILE_CHARS:
        raise ConfigurationError(
            source, [f"has {len(text)} characters, at most {MAX_FILE_CHARS} are allowed"]
        )
    # Before `tomllib`, which takes the square of the parts of a key.
    if problem := strangeness(text):
        raise ConfigurationError(source, [f"is not TOML: {problem}"])
    try:
        return tomllib.loads(text)
    # `tomllib` recurses with every nested list and inline table.
    except RecursionError:
        raise ConfigurationError(source, ["is nested too deeply to be read as TOML"]) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(source, [f"is not TOML: {error}"]) from error
    except ValueError as error:
        # What int() makes of thousands of digits, without saying where they are.
        before = _LONG_NUMBER.split(text, maxsplit=1)[0]
        place = f"(at line {before.count(chr(10)) + 1})"
        raise ConfigurationError(source, [f"holds a number of thousands of digits {place}"]) from error


def _default(named: str | None, pipelines: Mapping[str, Pipeline], problems: list[str]) -> str:
    if named is not None:
        if named not in pipelines:
            problems.append(f"`default` is {shown(named)}, which is not a pipeline{meant(named, pipelines)}")
        return named
    if len(pipelines) <= 1 or "default" in pipelines:
        return "default" if "default" in pipelines else next(iter(pipelines), "")
    problems.append(f"`default` is missing; name the one of {', '.join(pipelines)} a run begins with")
    return ""


def _settings(table: Table | None, base: Settings) -> Settings:
    """The settings a table declares, over those of `base`."""
    if table is None:
        return base
    settings = {
        "default_timeout_seconds": table.integer("default_timeout_seconds", minimum=1, maximum=MAX_SECONDS),
        "default_cost_budget_usd": table.number("default_cost_budget_usd", minimum=0, maximum=MAX_USD),
        "max_node_retries": table.integer("max_node_retries", minimum=0, maximum=MAX_RETRIES),
        "max_concurrent_llm_calls": table.integer("max_concurrent_llm_calls", minimum=1, maximum=100),
        "cost_budget_usd": table.number("cost_budget_usd", minimum=0, maximum=MAX_USD),
        "parallel_sub_items": table.boolean("parallel_sub_items"),
    }
    table.close()
    return base.model_copy(update={key: value for key, value in settings.items() if value is not None})


def _shift_work(table: Table | None) -> dict[WorkClass, NodeId]:
    if table is None:
        return {}
    nodes = {of: table.text(of) for of in WORK_CLASSES}
    table.close()
    return {of: NodeId(node_id) for of, node_id in nodes.items() if node_id is not None}


class _PipelineReading:
    """Reads one `[pipelines.<name>]` table."""

    def __init__(
        self,
        name: str,
        table: Table,
        settings: Settings,
        warnings: list[str],
        *,
        built_in: bool,
    ) -> None:
        self._name = name
        self._table = table
        self._settings = settings
        self._warnings = warnings
        self._built_in = built_in

    def read(self) -> Pipeline:
        """The pipeline, which may be unfit to run; then its problems have been noted."""
        table = self._table
        table.need("start")
        start = table.text("start")
        nodes = tuple(read_node(each, built_in=self._built_in) for each in table.tables("nodes"))
        edges = tuple(read_edge(each) for each in table.tables("edges"))
        pipeline = Pipeline(
            name=self._name,
            # A missing `start` is reported already; any node will do to look for further problems.
            start=NodeId(start or (nodes[0].id if nodes else "")),
            nodes=nodes,
            edges=edges,
            settings=_settings(table.table("settings"), self._settings),
            description=table.text("description") or "",
            shift_work=_shift_work(table.table("shift_work")),
        )
        table.refuse_all(NOT_OBEYED_BY_PIPELINES)
        table.close()
        self._check(pipeline)
        return pipeline

    def _check(self, pipeline: Pipeline) -> None:
        where = self._table.where
        problems = problems_of(pipeline)
        self._table.problems.extend(f"{where}: {problem}" for problem in problems)
        # Warnings about a graph that cannot run would only hide its problems.
        if not problems and not self._table.problems:
            self._warnings.extend(f"{where}: {warning}" for warning in warnings_of(pipeline))


BUILT_IN_SOURCE = "default_pipeline.toml (built in)"
_BUILT_IN_FILES = ("default_pipeline.toml", "small_pipeline.toml", "large_pipeline.toml")


@cache
def built_in_pipelines(lane: str = "default") -> PipelineConfiguration:
    """The checked content of the package's own pipeline files.

    Args:
        lane: the one that a run begins with where nobody names another.
    """
    folder = files("cogworks.pipeline")
    text = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in _BUILT_IN_FILES)
    configuration = parse_pipelines(text, source=BUILT_IN_SOURCE, built_in=True)
    return replace(configuration, default=lane, are_lanes=True)


def pipelines_of(text: str | None, *, source: str, lane: str) -> PipelineConfiguration:
    """The pipelines of a repository's file, or the built-in ones.

    Args:
        text: the file; None: there is none.
        lane: the built-in pipeline that the repository is configured to take, or `auto`; empty: it says nothing.

    Raises:
        ConfigurationError: the file is malformed, or a lane is configured beside it.
    """
    if text is None:
        # `auto` chooses when Intake is done; until then its run is like any other.
        return built_in_pipelines(lane if lane in ("small", "large") else "default")
    if lane not in ("", "default"):
        problem = (
            f"`pipelines.lane` is {lane!r}, which chooses among the built-in pipelines, and {source} declares "
            f"others; remove the key, or remove {source}"
        )
        raise ConfigurationError(".cogworks/config.toml", [problem])
    return parse_pipelines(text, source=source)
