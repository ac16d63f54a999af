"""Which operations the Extension API has, what each is asked and answers, how long it may take, and the published form of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from cogworks.domain_services import checking, exploring
from cogworks.domain_services.messages import Handshake, Message, Request, Response, TestReport
from cogworks.vocabulary import Value

Params = TypeVar("Params", bound=Message)
Result = TypeVar("Result", bound=Message)

HANDSHAKE_LIMIT_S = 5.0
USUAL_LIMIT_S = 300.0
TEST_LIMIT_S = 600.0
PREPARE_LIMIT_S = 1800.0


@dataclass(frozen=True)
class Operation(Generic[Params, Result]):
    """One method of the Extension API."""

    method: str
    params: type[Params]
    result: type[Result]
    purpose: str
    """One line for people."""
    limit_s: float = USUAL_LIMIT_S
    takes_contracts: bool = False
    """Whether interface contracts may come with the request."""
    counts_artifacts: bool = False
    """Whether `metadata.counts` must say how many artifacts were looked at (`artifacts`) and left out (`skipped`)."""
    is_extra: bool = False
    """Not among the operations every service may be expected to have; its absence only narrows what is known."""
    is_missed: bool = True
    """Whether people hear of it where no service has it: something was left out then."""
    is_paged: bool = False
    """Whether what is said of a file is the same whichever others are asked about, so that many are asked about in turn."""


HANDSHAKE = Operation(
    "handshake", checking.Nothing, Handshake, "who the service is and what it can do", HANDSHAKE_LIMIT_S
)
VALIDATE = Operation(
    "validate",
    checking.ValidateParams,
    checking.ToolRuns,
    "what is wrong with files, without running them",
    takes_contracts=True,
    counts_artifacts=True,
)
NORMALISE = Operation(
    "normalise", checking.Artifacts, checking.Normalised, "files in the project's own formatting"
)
REVIEW_RULES = Operation(
    "review_rules",
    checking.ReviewRulesParams,
    checking.ToolRuns,
    "what rules of security and style find in files",
    takes_contracts=True,
    counts_artifacts=True,
)
SIMULATE = Operation(
    "simulate", checking.SimulateParams, TestReport, "run tests, one result for each", TEST_LIMIT_S
)
PREPARE = Operation(
    "prepare",
    checking.PrepareParams,
    checking.Prepared,
    "make the environment that tests run in, and tell what was chosen",
    PREPARE_LIMIT_S,
    is_extra=True,
    # The environment comes about all the same, with the first run of tests.
    is_missed=False,
)
VALIDATE_DEPS = Operation(
    "validate_deps",
    checking.ValidateDepsParams,
    checking.Dependencies,
    "whether used dependencies are declared and declared ones can be had",
)
EXTRACT_INTERFACES = Operation(
    "extract_interfaces",
    checking.Artifacts,
    checking.InterfaceMap,
    "the names, types and signatures that files offer",
    takes_contracts=True,
)
DEPENDENCY_GRAPH = Operation(
    "dependency_graph",
    checking.Artifacts,
    checking.DependencyGraph,
    "which module uses which",
    is_paged=True,
)
INDEX = Operation(
    "index",
    exploring.ExploreParams,
    exploring.SymbolIndex,
    "definitions, calls by name and imports",
    is_extra=True,
    is_paged=True,
)
CALL_GRAPH = Operation(
    "call_graph",
    exploring.CallGraphParams,
    exploring.CallGraph,
    "what calls, inherits and tests what, around some symbols",
    is_extra=True,
)
COVERAGE = Operation(
    "coverage",
    exploring.CoverageParams,
    exploring.Coverage,
    "the lines each test executes",
    TEST_LIMIT_S,
    is_extra=True,
)
TRACE = Operation(
    "trace",
    exploring.TraceParams,
    exploring.Trace,
    "one test's execution, step by step with values",
    TEST_LIMIT_S,
    is_extra=True,
)
INSTRUMENT = Operation(
    "instrument",
    exploring.InstrumentParams,
    exploring.Instrumented,
    "a file with something to look at built in, for a run that is thrown away",
    is_extra=True,
)
BESIDE = Operation(
    "beside",
    exploring.BesideParams,
    exploring.Beside,
    "what code makes of inputs beside those of tests, and which mistakes in it tests notice",
    TEST_LIMIT_S,
    is_extra=True,
)
SIGNATURES = Operation(
    "signatures",
    exploring.ExploreParams,
    exploring.Signatures,
    "how public names may be used, for comparison",
    is_extra=True,
)

ALL: tuple[Operation[Any, Any], ...] = (
    HANDSHAKE,
    VALIDATE,
    NORMALISE,
    REVIEW_RULES,
    SIMULATE,
    VALIDATE_DEPS,
    EXTRACT_INTERFACES,
    DEPENDENCY_GRAPH,
    INDEX,
    CALL_GRAPH,
    COVERAGE,
    TRACE,
    INSTRUMENT,
    BESIDE,
    SIGNATURES,
    PREPARE,
)
OPERATIONS: Mapping[str, Operation[Any, Any]] = MappingProxyType({each.method: each for each in ALL})
"""By method name, the handshake first."""


DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Profile(Value):
    """What a service of some kind is expected to offer; read by people and by the conformance suite, never at run time."""

    title: str
    description: str
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


PROFILES: Mapping[str, Profile] = {
    "code": Profile(
        title="A programming language",
        description="Checks and tests what Code Generation writes; the node does without what is optional.",
        required=("validate", "simulate"),
        optional=(
            "normalise",
            "review_rules",
            "validate_deps",
            "extract_interfaces",
            "dependency_graph",
        ),
    ),
    "repair": Profile(
        title="A programming language whose faults can be localised",
        description="What localisation and probing ask beyond `code`; each signal that is missing is named in the result.",
        required=("validate", "simulate", "index", "call_graph", "coverage", "trace", "signatures"),
        optional=(
            "normalise",
            "review_rules",
            "validate_deps",
            "extract_interfaces",
            "dependency_graph",
            "instrument",
        ),
    ),
    "firmware": Profile(
        title="Firmware",
        description="Code that meets hardware at interfaces of the registry.",
        required=("validate", "simulate", "extract_interfaces"),
        optional=("normalise", "review_rules", "validate_deps", "dependency_graph"),
    ),
    "review": Profile(
        title="Rules only",
        description="A secondary service that looks at files and runs nothing, e.g. a checker of licences.",
        required=("validate",),
        optional=("review_rules",),
    ),
}


def schema_files() -> dict[str, str]:
    """The files of `schemas/extension-api/`, by name: the envelopes, and two for each method."""
    models: dict[str, type[BaseModel]] = {"request": Request, "response": Response}
    for operation in ALL:
        models[f"{operation.method}.params"] = operation.params
        models[f"{operation.method}.result"] = operation.result
    return {f"{name}.json": _text(_schema(model)) for name, model in models.items()}


def profile_files() -> dict[str, str]:
    """The files of `schemas/capability-profiles/`, by name."""
    return {f"{name}.json": _text(profile.model_dump(mode="json")) for name, profile in PROFILES.items()}


def response_schema(method: str) -> dict[str, Any]:
    """What a response to this method must fit when it is not an error: the envelope with the method's result."""
    schema = _schema(Response)
    if method not in OPERATIONS:
        return schema
    result = _schema(OPERATIONS[method].result)
    definitions = {**schema.get("$defs", {}), **result.pop("$defs", {})}
    result.pop("$schema")
    properties = {**schema["properties"], "result": result}
    return {**schema, "properties": properties, "$defs": definitions}


def _schema(model: type[Message] | type[BaseModel]) -> dict[str, Any]:
    return {"$schema": DIALECT, **model.model_json_schema(mode="validation")}


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
