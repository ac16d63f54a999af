"""What localisation and probing may ask a service that announces it: index, call graph, coverage, trace, instrument, signatures."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Base64Bytes, Field

from cogworks.domain_services.checking import SimulateParams, Unread
from cogworks.domain_services.messages import Message, TestCase, TestReport

SymbolKind = Literal["module", "class", "function", "method", "variable"]
Lines = tuple[int, int]
"""First and last line of a stretch, from 1, both included."""


def merged(stretches: Iterable[Lines]) -> list[Lines]:
    """The same lines in as few stretches as possible, in ascending order."""
    stretches_merged: list[Lines] = []
    for first, last in sorted(stretches):
        if stretches_merged and first <= stretches_merged[-1][1] + 1:
            stretches_merged[-1] = (stretches_merged[-1][0], max(last, stretches_merged[-1][1]))
        else:
            stretches_merged.append((first, last))
    return stretches_merged


class ExploreParams(Message):
    """What `index` and `signatures` are asked."""

    artifacts: tuple[str, ...] = ()
    """Repository-relative POSIX paths; none: the whole repository."""


class Symbol(Message):
    """A definition and where it stands."""

    id: str
    """Qualified name, unique in the repository, e.g. `shop.cart.Cart.add`."""
    kind: SymbolKind
    artifact: str
    lines: Lines
    """With decorators and body."""
    parent: str | None = None
    """The id of the class or function around it."""
    is_test: bool = False


class CallSite(Message):
    """A place that calls something by name."""

    name: str
    """As called, without what stands before the last dot."""
    caller: str
    """The id of the symbol around it."""
    artifact: str
    line: int


class Import(Message):
    """A name that an artifact takes from elsewhere."""

    artifact: str
    line: int
    module: str
    name: str | None = None
    """None: the module as a whole."""
    alias: str | None = None


class SymbolIndex(Message):
    """The result of `index`."""

    symbols: tuple[Symbol, ...]
    calls: tuple[CallSite, ...] = ()
    imports: tuple[Import, ...] = ()
    unread: tuple[Unread, ...] = ()


class CallGraphParams(Message):
    """What `call_graph` is asked."""

    seeds: tuple[str, ...]
    """Symbol ids, or `<artifact>:<line>` for whatever stands there."""
    hops: int = Field(default=2, ge=0, le=10)
    max_nodes: int = Field(default=40, ge=1, le=5000)


class CallNode(Message):
    """A symbol near the seeds."""

    symbol: Symbol
    hop: int
    """Distance from the nearest seed."""


class CallEdge(Message):
    """A relation between two symbols of the graph, by id."""

    source: str
    target: str
    kind: Literal["calls", "imports", "inherits", "tests"]
    weight: float = Field(default=1.0, gt=0, le=1)
    """1/n for each of the n targets a call without known receiver may mean."""


class CallGraph(Message):
    """The result of `call_graph`: nodes by hop and id, edges both of whose ends are among them."""

    nodes: tuple[CallNode, ...]
    edges: tuple[CallEdge, ...]
    truncated: bool = False
    """Whether `max_nodes` left something out."""
    unknown_seeds: tuple[str, ...] = ()


class CoverageParams(SimulateParams):
    """What `coverage` is asked: as `simulate`, with the files that matter."""

    artifacts: tuple[str, ...] = ()
    """Only these files are reported; none: all of the repository except tests."""
    steps_of: str = ""
    """One of the tests: where it fails, what it executes is told as well, as `trace` tells it, if that costs no run of its own."""
    max_events: int = Field(default=2000, ge=1, le=100_000)
    max_value_chars: int = Field(default=120, ge=1, le=10_000)


class TestCoverage(Message):
    """The lines one test executed."""

    __test__ = False
    test: str
    lines: dict[str, tuple[Lines, ...]]
    """Artifact -> stretches in ascending order."""


class TraceEvent(Message):
    """One moment of the execution."""

    kind: Literal["call", "line", "return", "exception"]
    artifact: str
    line: int
    symbol: str
    depth: int
    """Of the call stack, counted from the test function, which is 0."""
    values: dict[str, str] = Field(default_factory=dict)
    """Local variables that are new or differ from the event before; shortened, without secrets and addresses."""
    value: str = ""
    """What is returned or raised."""


class Steps(Message):
    """What the test `steps_of` executed when it was run once more, in the same process and with the same failure."""

    test: str
    events: tuple[TraceEvent, ...]
    truncated: bool = False
    """Whether `max_events` ended the recording."""


class Coverage(Message):
    """The result of `coverage`."""

    report: TestReport
    tests: tuple[TestCoverage, ...]
    """One for each test that ran, failed ones included."""
    steps: Steps | None = None
    """None: nobody asked for them, or they cost a run of their own: see `trace`."""


class TraceParams(Message):
    """What `trace` is asked."""

    test: str
    """One test id."""
    artifacts: tuple[str, ...] = ()
    """Only events in these files; none: all of the repository except installed packages."""
    lines: tuple[Lines, ...] = ()
    """Only events in these stretches of the artifacts; none: everywhere."""
    max_events: int = Field(default=2000, ge=1, le=100_000)
    max_value_chars: int = Field(default=120, ge=1, le=10_000)
    timeout_s: float = Field(default=60.0, gt=0)


class Trace(Message):
    """The result of `trace`."""

    case: TestCase
    events: tuple[TraceEvent, ...]
    truncated: bool = False
    """Whether `max_events` ended the recording."""


class InstrumentParams(Message):
    """What `instrument` is asked: a file for a run that is thrown away."""

    artifact: str
    line: int = Field(ge=1)
    """Anywhere in the definition that is looked at."""
    mode: Literal["note", "check", "shorten"]
    """`note`: right where the definition begins its work, what kinds of values it was given go into variables;
    `check`: there it fails unless these kinds are among the allowed ones; `shorten`: some of its statements are left out."""
    allowed: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """For `check`: parameter -> kinds, as `note` tells them."""
    without: tuple[Lines, ...] = ()
    """For `shorten`: which of the statements."""


VALUE_CHARS = 300
"""So long a value is shown to whoever looks for a fault."""
NOTED = "cogworks_probe_"
"""How the names of variables begin that hold what was noted, and the messages of checks that fail."""


class Instrumented(Message):
    """The result of `instrument`; nothing was written."""

    content: str | None = None
    """The file's new text; None where it cannot be done."""
    reason: str = ""
    """Why it cannot."""
    lines: Lines | None = None
    """Of the definition in the new text, from what was put in on."""
    statements: tuple[Lines, ...] = ()
    """The statements of the definition's body, as the file is; those that share a line are one."""


class Against(Message):
    """The code that something is compared with."""

    files: dict[str, Base64Bytes | None]
    """Artifact -> what is in it there, all others being the same; None: it is not there."""
    tests: tuple[str, ...]
    """Whose calls are varied."""
    lines: dict[str, tuple[Lines, ...]]
    """As those of `BesideParams`, in these files."""


class BesideParams(Message):
    """What `beside` is asked: calls with inputs beside those of tests, and mistakes that tests should notice."""

    tests: tuple[str, ...]
    """Test ids, which run and whose calls are varied."""
    calls_of: tuple[str, ...] = ()
    """Those of them whose calls alone are varied; none: all."""
    lines: dict[str, tuple[Lines, ...]]
    """Artifact -> stretches; looked at are the functions around them, where there are none all of the artifact. None: no call is varied."""
    mistakes_in: dict[str, tuple[Lines, ...]] = Field(default_factory=dict)
    """Artifact -> stretches of functions in which plausible mistakes are tried on the tests, each for itself."""
    max_mutants: int = Field(default=8, ge=1, le=100)
    """So many mistakes at most."""
    against: Against | None = None
    """With what the calls are compared; None: with nothing."""
    timeout_s: float = Field(default=20.0, gt=0)
    test_timeout_s: float = Field(default=300.0, gt=0)


class BesideCall(Message):
    """A call that a test makes, made again with what it gave or with something beside it."""

    test: str
    artifact: str
    symbol: str
    """As the language names it in its file."""
    own: str
    """What the test gave, as text."""
    given: str
    """What was given now; the same as `own` where it was called as the test does."""
    outcome: str
    """What came of it, as text that is the same in every run."""
    is_value: bool
    """Whether it ended by returning."""


class Mutant(Message):
    """A mistake that was put into the code for a run of the tests."""

    artifact: str
    line: int
    change: str
    """In words."""
    is_noticed: bool
    """Whether a test fails with it, or does not come to an end."""


class Beside(Message):
    """The result of `beside`; nothing was written."""

    calls: tuple[BesideCall, ...] = ()
    against: tuple[BesideCall, ...] | None = None
    """The calls in the code that they are compared with; None: that was not asked, or is not known here."""
    mutants: tuple[Mutant, ...] = ()
    report: TestReport = TestReport(cases=())
    """How the tests came out that ran for it, without any mistake; one more run of them. Empty: that is not told."""
    again: bool = False
    """Whether each of these tests passed in one more run of them without any mistake, in a process of its own."""
    notes: tuple[str, ...] = ()
    """What could not be tried, and why; for people."""


class Signature(Message):
    """How a public name may be used, for the comparison of two states of the code."""

    id: str
    kind: Literal["function", "method", "static_method", "class_method", "property", "class"]
    artifact: str
    line: int
    is_async: bool = False
    decorators: tuple[str, ...] = ()
    positional_only: tuple[str, ...] = ()
    positional: tuple[str, ...] = ()
    var_positional: str | None = None
    keyword_only: tuple[str, ...] = ()
    var_keyword: str | None = None
    with_default: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    annotations: dict[str, str] = Field(default_factory=dict)
    """Parameter (or `return`) -> annotation as written; changes are reported, never refused."""


class Signatures(Message):
    """The result of `signatures`: public names only, sorted by artifact and id."""

    signatures: tuple[Signature, ...]
    unread: tuple[Unread, ...] = ()
