"""Can every node of a pipeline file do its work here? What the parser cannot know: prompts, schemas, procedures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cogworks.errors import ConfigurationError
from cogworks.llm.repository_files import (
    parse_schema,
    prompt_problems,
    prompts_in,
    schemas_in,
    template_problems,
    unframed,
)
from cogworks.nodes.deterministic import OPERATIONS
from cogworks.nodes.from_prompt import FILES_FIELD, VARIABLES, writes_files
from cogworks.nodes.registry import BUILT_IN, CALLS
from cogworks.nodes.spawning import TEMPLATE_VARIABLES, is_own_label
from cogworks.pipeline.graph import Node, Pipeline, PipelineConfiguration
from cogworks.settings.config import CONFIG_FILE, Config
from cogworks.toml_text import meant

MODEL_NODES = tuple(node_id for node_id, node in BUILT_IN.items() if node.replies)
BUILT_IN_CALLS = (*CALLS, *(node_id for node_id, node in BUILT_IN.items() if not node.replies))
_SERVED = frozenset(node_id for node_id, node in BUILT_IN.items() if node.is_served)


def refuse_models_of_nobody(config: Config, pipelines: PipelineConfiguration) -> None:
    """Stop where a model is named for a node or a pipeline that is not there.

    Raises:
        ConfigurationError: with each of them.
    """
    nodes = {node.id for pipeline in pipelines.pipelines.values() for node in pipeline.nodes}
    problems = [
        f"`llm.{table}.{name}` names no {what} of {pipelines.source}{meant(name, known)}"
        for table, what, names, known in (
            ("nodes", "node", config.llm.nodes, nodes),
            ("lanes", "pipeline", config.llm.lanes, pipelines.pipelines),
        )
        for name in names
        if name not in known
    ]
    if problems:
        raise ConfigurationError(CONFIG_FILE, problems)


def refuse_unworkable(
    pipelines: PipelineConfiguration, files: Mapping[str, str], *, own_labels: Sequence[str] = ()
) -> None:
    """Stop where a node could not do its work, before anything is claimed.

    Args:
        files: of the repository, below `.cogworks`: path -> text.
        own_labels: the labels that the configuration gives a meaning.

    Raises:
        ConfigurationError: with all problems, each naming its table and key.
    """
    problems = [
        f"{where}: {problem}"
        for pipeline in pipelines.pipelines.values()
        for where, node in _places(pipeline)
        for problem in _Check(node, pipeline, files, own_labels).problems()
    ]
    if any(node.prompt for pipeline in pipelines.pipelines.values() for node in pipeline.nodes):
        problems += [
            f"`.cogworks/prompts/{stem}.md.j2`: {problem}"
            for stem, text in prompts_in(files).items()
            if stem.startswith("_")
            for problem in unframed(text)
        ]
    if problems:
        raise ConfigurationError(pipelines.source, problems)


def needs_services(pipelines: PipelineConfiguration) -> bool:
    """Whether every pipeline has a node that asks a domain service; where one can do without, an item may choose that.

    Among the built-in ones it may not: what is divided comes to one of the others.
    """
    asking = map(asks_services, pipelines.pipelines.values())
    return any(asking) if pipelines.are_lanes else all(asking)


def runs_tests(pipeline: Pipeline) -> bool:
    """Whether a pipeline has a node that cannot do without a service that runs tests."""
    return any(node.prompt is None and node.id == "code_generation" for node in pipeline.nodes)


def asks_services(pipeline: Pipeline) -> bool:
    """Whether a pipeline has a node that asks a domain service."""
    return any(
        (node.prompt is None and node.id in _SERVED)
        or node.method == "domain_service"
        or node.validation == "domain-service"
        for node in pipeline.nodes
    )


def _places(pipeline: Pipeline) -> Iterable[tuple[str, Node]]:
    for index, node in enumerate(pipeline.nodes):
        yield f"pipelines.{pipeline.name}.nodes[{index}] ({node.id})", node


class _Check:
    """The rules for one node."""

    def __init__(
        self, node: Node, pipeline: Pipeline, files: Mapping[str, str], own_labels: Sequence[str]
    ) -> None:
        self._node = node
        self._pipeline = pipeline
        self._prompts = prompts_in(files)
        self._schemas = schemas_in(files)
        self._own_labels = own_labels

    def problems(self) -> Iterable[str]:
        rules: Mapping[str, Callable[[], Iterable[str]]] = {
            "llm": self._model_node,
            "deterministic": self._deterministic_node,
            "spawning": self._spawning_node,
        }
        yield from rules[self._node.type]()
        for label in self._node.labels:
            if is_own_label(label, self._own_labels):
                yield f"`labels` holds {label!r}, by which work items are steered; nodes set other labels only"

    def _model_node(self) -> Iterable[str]:
        node = self._node
        if node.combined and (node.prompt is not None or node.id != "review"):
            yield "`combined` is for the built-in node `review`, whose questions it puts together; remove it"
        if node.prompt is None:
            if node.id not in MODEL_NODES:
                yield (
                    f"`prompt` is missing, and no built-in node is called {node.id!r}{meant(node.id, MODEL_NODES)}; "
                    f"name a prompt, or use one of {', '.join(MODEL_NODES)} as its `id`"
                )
            elif node.output_schema is not None:
                yield "`schema` is for nodes with a `prompt`; the built-in node has its own"
            elif node.validation != "none":
                yield "`validation` is for nodes with a `prompt`; the built-in node has its files checked always"
            return
        yield from self._prompt(node.prompt)
        if node.output_schema is None:
            yield "`schema` is missing; name a file below `.cogworks/schemas/` that says what the answer looks like"
        else:
            yield from self._schema(node.output_schema, self._needed_fields())
        yield from self._validation()

    def _spawning_node(self) -> Iterable[str]:
        node = self._node
        if node.prompt is not None:
            yield from self._prompt(node.prompt)
        if node.output_schema is not None:
            yield from self._schema(node.output_schema, ("issues",))
        if node.issue_template is not None:
            yield from self._issue_template(node.issue_template)

    def _deterministic_node(self) -> Iterable[str]:
        node, name = self._node, self._node.call or str(self._node.id)
        key = "`call`" if node.call else "`call` is missing and `id`"
        if node.method == "domain_service" and name not in OPERATIONS:
            yield (
                f"{key} is {name!r}, which is no operation of a domain service{meant(name, OPERATIONS)}; "
                f"there are {', '.join(OPERATIONS)}"
            )
        if node.method == "builtin" and name not in BUILT_IN_CALLS:
            yield (
                f"{key} is {name!r}, which is no built-in procedure{meant(name, BUILT_IN_CALLS)}; "
                f"there are {', '.join(BUILT_IN_CALLS)}"
            )
        is_labelling = node.method == "builtin" and name == "set_labels"
        if is_labelling and not node.labels:
            yield "`labels` is missing; say which labels are set"
        if node.labels and not is_labelling:
            yield '`labels` is for `call = "set_labels"` and spawning nodes; remove it'
        if name in ("comment", "validate_paths") and node.method == "builtin" and not node.inputs:
            yield f"`inputs` is missing; {name} works on what earlier nodes put out"
        if name == "open_pull_request" and node.method == "builtin" and node.slug is None:
            yield "`slug` is missing; name the branch, as the node does that pushes it"

    def _needed_fields(self) -> Iterable[str]:
        node = self._node
        if len(node.outputs) > 1:
            yield from node.outputs
        if node.evaluation == "explicit":
            yield "next_edges"
        if writes_files(node):
            yield FILES_FIELD

    def _validation(self) -> Iterable[str]:
        node = self._node
        if node.validation == "domain-service" and not writes_files(node):
            yield (
                "`validation` is 'domain-service', but the node writes no files; give it `slug` and "
                "`produces_code = true`, or remove `validation`"
            )

    def _prompt(self, stem: str) -> Iterable[str]:
        if stem not in self._prompts:
            stems = [each for each in self._prompts if not each.startswith("_")]
            yield f"`prompt` is {stem!r}, but there is no file `.cogworks/prompts/{stem}.md.j2`{meant(stem, stems)}"
            return
        variables = {*VARIABLES, "previous", "problems"}
        for problem in prompt_problems(self._prompts[stem], variables=variables, slots=self._node.inputs):
            yield f"`.cogworks/prompts/{stem}.md.j2`: {problem}"

    def _issue_template(self, stem: str) -> Iterable[str]:
        if stem not in self._prompts:
            yield (
                f"`issue_template` is {stem!r}, but there is no file "
                f"`.cogworks/prompts/{stem}.md.j2`{meant(stem, self._prompts)}"
            )
            return
        text = self._prompts[stem]
        for problem in template_problems(text, variables=TEMPLATE_VARIABLES, slots=self._node.inputs):
            yield f"`.cogworks/prompts/{stem}.md.j2`: {problem}"

    def _schema(self, stem: str, needed: Iterable[str]) -> Iterable[str]:
        if stem not in self._schemas:
            yield f"`schema` is {stem!r}, but there is no file `.cogworks/schemas/{stem}.json`{meant(stem, self._schemas)}"
            return
        place = f"`.cogworks/schemas/{stem}.json`"
        try:
            schema = parse_schema(self._schemas[stem])
        except ConfigurationError as error:
            yield from (f"{place}: {problem}" for problem in error.problems)
            return
        properties = schema.get("properties", {})
        for field in needed:
            if field not in properties or field not in schema.get("required", ()):
                yield f"{place}: the field `{field}` must be declared and required"
            elif shape := _SHAPES.get(field):
                yield from (f"{place}: {problem}" for problem in shape(_Part(schema, properties[field])))


class _Part:
    """A place in a schema, with references followed."""

    def __init__(self, whole: Mapping[str, Any], part: Mapping[str, Any]) -> None:
        while "$ref" in part:
            part = whole["$defs"][part["$ref"].removeprefix("#/$defs/")]
        self._whole = whole
        self._part = part

    def is_a(self, kind: str) -> bool:
        return self._part.get("type") == kind

    @property
    def items(self) -> "_Part":
        return _Part(self._whole, self._part.get("items", {}))

    def has_text(self, field: str) -> bool:
        part = _Part(self._whole, self._part.get("properties", {}).get(field, {}))
        return part.is_a("string") and field in self._part.get("required", ())


def _file_entries(field: _Part) -> Iterable[str]:
    yield from _entries(field, "files", ("path", "content"))


def _issue_entries(field: _Part) -> Iterable[str]:
    yield from _entries(field, "issues", ("title",))


def _edge_names(field: _Part) -> Iterable[str]:
    if not (field.is_a("array") and field.items.is_a("string")):
        yield "`next_edges` must be a list of strings"


def _entries(field: _Part, name: str, texts: Sequence[str]) -> Iterable[str]:
    for text in texts:
        if not (field.is_a("array") and field.items.has_text(text)):
            yield f"`{name}` must be a list of objects, each with the required text `{text}`"


_SHAPES: Mapping[str, Callable[[_Part], Iterable[str]]] = {
    FILES_FIELD: _file_entries,
    "issues": _issue_entries,
    "next_edges": _edge_names,
}
