"""What a repository brings for its own nodes: prompts and JSON Schemas, and everything that makes one unfit."""

import json
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import jinja2
from jinja2 import meta, nodes

from cogworks.errors import ConfigurationError
from cogworks.llm.prompts import SEPARATOR, SUFFIX, SYSTEM_VARIABLES, prompt_environment
from cogworks.llm.schemas import DIALECT, Schema, reduced_schema

PROMPT_FOLDER = "prompts/"
SCHEMA_FOLDER = "schemas/"
SCHEMA_SUFFIX = ".json"

_PLAIN = frozenset({("item", "number"), ("item", "repository")})
"""What a prompt may write as it is: no stranger chose it."""
_FIXED_NAMES = frozenset({"item", "inputs", "loop", *SYSTEM_VARIABLES})


def prompts_in(files: Mapping[str, str]) -> dict[str, str]:
    """The repository's own templates by stem, from its files below `.cogworks`."""
    return _by_stem(files, PROMPT_FOLDER, SUFFIX)


def schemas_in(files: Mapping[str, str]) -> dict[str, str]:
    """The repository's own schemas by stem, from its files below `.cogworks`."""
    return _by_stem(files, SCHEMA_FOLDER, SCHEMA_SUFFIX)


def parse_schema(text: str) -> Schema:
    """The schema of an answer.

    Raises:
        ConfigurationError: with every reason why no answer can be asked for with it.
    """
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise ConfigurationError("the schema", [f"is not JSON: {error}"]) from error
    problems = list(_schema_problems(schema))
    if problems:
        raise ConfigurationError("the schema", problems)
    return dict(schema)


def prompt_problems(text: str, *, variables: Collection[str], slots: Collection[str]) -> list[str]:
    """Why a template cannot be the prompt of a node; `slots` are the inputs the node declares."""
    borders = sum(line.rstrip() == SEPARATOR for line in text.splitlines())
    if borders != 1:
        return [f"has {borders} lines {SEPARATOR!r}, wanted 1 (between the system and the user section)"]
    return template_problems(text, variables=variables, slots=slots) or unframed(text)


def template_problems(text: str, *, variables: Collection[str], slots: Collection[str]) -> list[str]:
    """Why a template could not be filled with these variables, of which `inputs` holds these slots."""
    environment = prompt_environment({})
    try:
        environment.from_string(text)
        tree = environment.parse(text)
    except jinja2.TemplateSyntaxError as error:
        return [f"line {error.lineno}: {error.message}"]
    known = {*variables, *SYSTEM_VARIABLES}
    unknown = [
        f"uses `{name}`, which it is not given{_meant(name, known)}"
        for name in sorted(meta.find_undeclared_variables(tree) - known)
    ]
    return unknown + [
        f"line {read.lineno}: uses `inputs.{read.attr}`, which is not among the node's `inputs`{_meant(read.attr, slots)}"
        for read in tree.find_all(nodes.Getattr)
        if isinstance(read.node, nodes.Name) and read.node.name == "inputs" and read.attr not in slots
    ]


def unframed(text: str) -> list[str]:
    """Where a template writes what strangers said without delimiters around it, so that it could pass for an instruction."""
    try:
        tree = prompt_environment({}).parse(text)
    except jinja2.TemplateSyntaxError as error:
        return [f"line {error.lineno}: {error.message}"]
    problems = [
        f"line {name.lineno}: gives `{name.name}` another meaning; choose another name"
        for name in tree.find_all(nodes.Name)
        if name.ctx != "load" and name.name in _FIXED_NAMES
    ]
    problems += [
        f"line {each.lineno}: a prompt takes over parts with `include` only"
        for each in tree.find_all((nodes.Import, nodes.FromImport))
    ]
    return problems + [
        f'line {written.lineno}: writes a value as it is; end it with `| untrusted("what it is")`'
        for output in tree.find_all(nodes.Output)
        for written in output.nodes
        if not _is_framed(written)
    ]


def _is_framed(written: nodes.Expr) -> bool:
    match written:
        case nodes.TemplateData() | nodes.Const():
            return True
        case nodes.Filter(name="untrusted"):
            return True
        case nodes.Getattr(node=nodes.Name(name=owner), attr=attribute):
            return owner == "loop" or (owner, attribute) in _PLAIN
        case nodes.Name(name=name):
            return name in SYSTEM_VARIABLES
        case _:
            return False


def _schema_problems(schema: Any) -> Iterable[str]:
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield 'must be an object with `"type": "object"`: an answer is one JSON object'
        return
    if schema.get("$schema", DIALECT).rstrip("#") != DIALECT:
        yield f"is written for {schema['$schema']}, wanted {DIALECT}"
        return
    import jsonschema

    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        yield f"is no JSON Schema: {error.json_path}: {error.message}"
        return
    try:
        reduced_schema(schema)
    except ConfigurationError as error:
        yield from error.problems


def _by_stem(files: Mapping[str, str], folder: str, suffix: str) -> dict[str, str]:
    return {
        path.removeprefix(folder).removesuffix(suffix): text
        for path, text in files.items()
        if path.startswith(folder) and path.endswith(suffix)
    }


def _meant(word: str, known: Iterable[str]) -> str:
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""
