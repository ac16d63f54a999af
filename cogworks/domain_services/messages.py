"""The messages of the Extension API: what cogworks asks a domain service and what it answers.

Framing: each message is one JSON object in UTF-8, at most `MAX_MESSAGE_BYTES` long. Over a Unix socket it stands on one
line, ended by a line feed; a caller sends one request and reads one response, any number of times per connection, and
the service answers in order. Over HTTP it is the body of `POST /api/v1/<method>` and of its answer. Fields a reader does
not know are ignored, so that a service of a later minor version is understood.
"""

import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from cogworks.vocabulary import Severity, Value

API_VERSION = "1.0"

Category = Literal[
    "syntax_error",
    "type_error",
    "constraint_violation",
    "interface_mismatch",
    "dependency_error",
    "style_violation",
    "safety_concern",
    "performance_concern",
    "test_failure",
    "completeness",
]
"""The categories of diagnostics; any other is taken for information."""


class Message(BaseModel):
    """A frozen part of a message; fields of a later minor version are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class TestCase(Message):
    """One test's result."""

    __test__ = False
    id: str
    outcome: Literal["passed", "failed", "error", "skipped"]
    message: str = ""
    """What failed, without durations or absolute paths."""


class TestReport(Message):
    """One run of a test suite in another process: the result of `simulate`."""

    __test__ = False
    cases: tuple[TestCase, ...]
    collection_errors: tuple[str, ...] = ()
    """Each begins with the file or folder whose tests could not be loaded, and a colon; with `EVERYTHING` where none at all could."""
    timed_out: bool = False
    blocked: tuple[str, ...] = ()
    """What the tests tried beyond their isolation and the limits they reached, by name."""
    unprotected: tuple[str, ...] = ()
    """What they could have done that no wall of that machine kept them from; empty in complete isolation."""
    commands: tuple[str, ...] = ()
    """How they were run, for people, without what only the service's own machine knows; empty: it does not say."""
    versions: dict[str, str] = {}
    """Tool -> version of what ran them, as it said itself."""
    remedies: tuple[str, ...] = ()
    """What a maintainer can do about what could not be loaded or wanted more of the machine, a sentence each; empty: the service knows nothing."""
    left: tuple[str, ...] = ()
    """Files or ids that another request has to ask for, because there was no time for them: only where the request said that it
    would. None of their tests is among the cases."""
    seconds: dict[str, float] = {}
    """File -> how long loading it and its tests took, where that was asked for."""
    slowest_s: float = 0.0
    """How long the slowest test took that passed, where timings were asked for; 0: nobody says."""
    hung: tuple[str, ...] = ()
    """Tests that were ended at their own time limit, or that still ran at that of the whole run; each is a case as well."""

    @property
    def passed(self) -> bool:
        """At least one test ran, none failed, nothing could not be collected, nothing timed out, nothing is left."""
        ran = [case for case in self.cases if case.outcome != "skipped"]
        bad = any(case.outcome in ("failed", "error") for case in self.cases)
        return bool(ran) and not (bad or self.collection_errors or self.timed_out or self.left)


EVERYTHING = "."
"""The place of a collection error because of which no test at all could be loaded."""


def hides(error: str, test: str) -> bool:
    """Whether a test, or a file or folder of tests, is in what could not be loaded.

    Args:
        error: as in a report's `collection_errors`, or the place with which it begins.
    """
    place, file = (text.split(":", 1)[0] for text in (error, test))
    return place in (EVERYTHING, file) or file.startswith(f"{place}/")


def hides_any(error: str, tests: Iterable[str]) -> bool:
    """Whether one of these tests, files or folders is in what could not be loaded."""
    return any(hides(error, test) for test in tests)


def is_hidden(test: str, errors: Iterable[str]) -> bool:
    """Whether a test, or a file or folder of tests, is in one of the things that could not be loaded."""
    return any(hides(error, test) for error in errors)


def commands_of(reports: Iterable[TestReport]) -> tuple[str, ...]:
    """How several runs were made, each command once, in the order of the runs."""
    return tuple(dict.fromkeys(command for report in reports for command in report.commands))


def versions_of(reports: Iterable[TestReport]) -> dict[str, str]:
    """What several runs were made with; of a tool that was there in more than one version, all of them."""
    versions_by_tool: dict[str, dict[str, None]] = {}
    for report in reports:
        for tool, version in report.versions.items():
            versions_by_tool.setdefault(tool, {})[version] = None
    return {tool: ", ".join(versions) for tool, versions in sorted(versions_by_tool.items())}


class Diagnostic(Value):
    """What a domain service says of one place in the code."""

    artifact: str
    line: int | None = None
    severity: Severity
    category: str
    message: str

    @property
    def in_one_line(self) -> str:
        """Its place and its message."""
        place = self.artifact if self.line is None else f"{self.artifact}:{self.line}"
        return f"{place}: {self.message}"


class ErrorCode(StrEnum):
    """Why a service could not do what it was asked."""

    TOOL_NOT_FOUND = "tool_not_found"
    INVALID_REQUEST = "invalid_request"
    UNSUPPORTED_METHOD = "unsupported_method"
    API_VERSION_MISMATCH = "api_version_mismatch"
    ARTIFACT_NOT_FOUND = "artifact_not_found"
    TOOL_FAILED = "tool_failed"
    TIMEOUT = "timeout"
    INTERNAL_ERROR = "internal_error"


RetryClass = Literal["never", "if_recoverable"]
_PERHAPS_LATER = frozenset({ErrorCode.TOOL_FAILED, ErrorCode.TIMEOUT, ErrorCode.INTERNAL_ERROR})


def retry_class(code: ErrorCode) -> RetryClass:
    """Whether the same request may be sent again after this error."""
    return "if_recoverable" if code in _PERHAPS_LATER else "never"


class Caller(Message):
    """On whose behalf a request is made; for the service's log."""

    system: str = "cogworks"
    node: str | None = None
    work_item_id: int | None = None
    sub_work_item_id: int | None = None
    needs_walls: bool = False
    """Whether code of the repository may run only in complete isolation: the item is safety-critical, or its author is
    not trusted. A service that cannot build them answers `tool_not_found`."""


class RepositorySettings(Message):
    """What `[environment]` and `[tests]` of the repository's configuration say to whoever runs its code."""

    mode: Literal["made", "prepared"] = "made"
    """`prepared`: an earlier step of this machine installed everything; nothing is installed or built."""
    python: str = ""
    """A version, e.g. `3.12`; in `prepared` mode the path of an interpreter. Empty: the service finds one."""
    install: Literal["auto", "never"] = "auto"
    """Whether the project itself is built and installed where it declares how."""
    extras: tuple[str, ...] | None = None
    """None: the service chooses those that the tests use; so for `groups` and `requirements`."""
    groups: tuple[str, ...] | None = None
    requirements: tuple[str, ...] | None = None
    """Paths of requirements files."""
    packages: tuple[str, ...] = ()
    """Requirements to install besides."""
    setup: tuple[str, ...] = ()
    """Commands for `sh`, run once for each content of setup, manifests and lock files."""
    setup_script: str = ""
    """Text of a script for `sh`, run after them."""
    variables: dict[str, str] = {}
    """For setup and tests; never a secret."""


class Repository(Message):
    """The code a request is about."""

    path: str
    """Local directory for a service on this machine, clone URL without credentials otherwise."""
    ref: str | None = None
    """A commit or another git ref, always with a clone URL; None: the files as they lie there, uncommitted changes
    included."""
    base: str | None = None
    """The commit the change under way started from: what its manifest asks for is what code of the repository is run
    with, whatever the change says. None: the commit that is checked out, or the files where there is no git."""
    settings: RepositorySettings = RepositorySettings()
    """As the default branch has them, never as the change has them."""
    root: str = ""
    """The folder that this service is for, in a repository of several; empty: the whole. Paths stay those of the repository."""


class InterfaceContract(Message):
    """What an interface of the registry asks of those who take part in it."""

    id: str
    interface_type: str
    version: str = ""
    parameters: dict[str, Any] = {}


class ConstraintResult(Message):
    """Whether the code keeps one parameter of one contract."""

    contract: str
    """The contract's id."""
    parameter: str = ""
    """Empty: the contract as a whole."""
    status: Literal["satisfied", "violated", "not_checked"]
    artifact: str = ""
    actual: Any = None
    message: str = ""


class Request(Message):
    """One question to a service."""

    request_id: str
    api_version: str = API_VERSION
    method: str
    caller: Caller = Caller()
    repository: Repository | None = None
    """Of every method but `handshake`."""
    params: dict[str, Any] = {}
    """Fits the method's parameters, see `operations`."""
    interface_contracts: tuple[InterfaceContract, ...] = ()
    """Sent with `validate`, `review_rules` and `extract_interfaces`; each is answered by a constraint result."""
    auth: dict[str, Any] | None = None
    """Reserved; nothing is sent, and a service ignores it. Over HTTP the bearer token is a header."""


class Handshake(Message):
    """Who a service is and what it can do: the result of `handshake`."""

    name: str
    service_version: str
    api_version: str
    domain: str
    capabilities: tuple[str, ...]
    """The methods it answers."""
    artifact_types: tuple[str, ...] = ()
    artifact_patterns: tuple[str, ...] = ()
    """Which files are its business, as patterns of their paths (`*.py`); none: every file is shown to it."""
    interface_types: tuple[str, ...] = ()
    status: Literal["ready", "degraded"] = "ready"
    isolation: tuple[str, ...] = ()
    """What keeps the code it runs apart from this machine, in words for the operator."""
    test_commands: bool = False
    """Whether `simulate` keeps a `command`, with its options, and still reports every test by its id."""
    test_groups: bool = False
    """Whether `simulate` runs tests in `groups`."""
    environments: str = ""
    """How the environments come about that code of a repository is run in, in words that follow `they are`."""


class Location(Message):
    """A place in an artifact."""

    line: int | None = None
    column: int | None = None


class ReportedDiagnostic(Message):
    """A diagnostic as it travels."""

    artifact: str
    location: Location = Location()
    severity: Severity
    category: str
    message: str


class Metadata(Message):
    """About the work behind a response."""

    duration_ms: int = 0
    tool_versions: dict[str, str] = {}
    counts: dict[str, int] = {}


class ServiceError(Message):
    """Why there is no result."""

    code: ErrorCode
    message: str
    recoverable: bool = False
    details: dict[str, str] = {}
    """Of a clone that failed: `kind` (network, auth, missing, disk, time_limit, other) and `url`."""


class Response(Message):
    """One answer of a service."""

    request_id: str
    """The request's; empty when the request could not be read."""
    status: Literal["success", "failure", "error"]
    """No blocking diagnostic, at least one, could not run."""
    result: dict[str, Any] = {}
    diagnostics: tuple[ReportedDiagnostic, ...] = ()
    constraint_results: tuple[ConstraintResult, ...] = ()
    metadata: Metadata = Metadata()
    error: ServiceError | None = None


def frame(message: Message) -> bytes:
    """A message as it goes over the wire. Half a character, as tests of texts write it into their reports, becomes a question mark."""
    try:
        text = message.model_dump_json(exclude_none=True)
    except ValueError:
        # pydantic's own error is one: UTF-8 has no form for it. This takes longer, and nearly no message needs it.
        text = json.dumps(
            message.model_dump(mode="json", exclude_none=True), ensure_ascii=False, separators=(",", ":")
        )
    return text.encode(errors="replace") + b"\n"


def reported(diagnostic: Diagnostic) -> ReportedDiagnostic:
    """A diagnostic in the form in which it travels."""
    return ReportedDiagnostic(
        artifact=diagnostic.artifact,
        location=Location(line=diagnostic.line),
        severity=diagnostic.severity,
        category=diagnostic.category,
        message=diagnostic.message,
    )


def compatible(wanted: str, offered: str) -> bool:
    """Whether a service of API version `offered` serves a caller of version `wanted`: same major, minor not older."""
    try:
        (major, minor), (their_major, their_minor) = (
            [int(part) for part in version.split(".")] for version in (wanted, offered)
        )
    except ValueError:
        return False
    return major == their_major and their_minor >= minor
