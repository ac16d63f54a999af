"""Which operations the Extension API has, what each is asked, what it answers, and how long it may take."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from cogworks.domain_services import checking, exploring, preparing
from cogworks.domain_services.messages import Handshake, Message, TestReport

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
    preparing.PrepareParams,
    preparing.Prepared,
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
