"""What the operations of the Extension API are asked and what they answer, beyond the envelope."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from cogworks.domain_services.messages import Message


class Nothing(Message):
    """No parameters, or no result beyond the diagnostics."""


class Artifacts(Message):
    """The files an operation is about."""

    artifacts: tuple[str, ...]
    """Repository-relative POSIX paths."""


class ValidateParams(Artifacts):
    """What `validate` is asked."""

    interfaces: tuple[str, ...] = ()
    """Names the artifacts are expected to declare; one that is missing is an `interface_mismatch`."""


class ToolRun(Message):
    """One tool the service used, or why it could not."""

    tool: str
    status: Literal["ran", "skipped"] = "ran"
    reason: str = ""
    """Why it was skipped, in words for people."""


class ToolRuns(Message):
    """How the diagnostics came about: the result of `validate` and `review_rules`."""

    tools: tuple[ToolRun, ...] = ()


class NormalisedFile(Message):
    """One file after formatting."""

    artifact: str
    changed: bool
    content: str | None = None
    """The new text; None exactly when nothing changed."""

    @model_validator(mode="after")
    def _content_comes_with_a_change(self) -> Self:
        if self.changed is (self.content is None):
            raise ValueError("`content` is there exactly when `changed` is true")
        return self


class Normalised(Message):
    """The result of `normalise`; the service writes nothing into the repository."""

    files: tuple[NormalisedFile, ...]


class ReviewRulesParams(Artifacts):
    """What `review_rules` is asked."""

    select: tuple[str, ...] = ()
    """Rules or groups of rules in the service's own words; none: its default."""
    ignore: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Every path that the change under review touches, artifact or not: what it wrote into settings silences no rule."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Whatever else the rules need; a service names what it does not know in a diagnostic."""


Parts = Literal["never", "if_long", "rest"]
"""How a run of tests may be cut: not at all; between files, where it is too long; the same, for the tests that an earlier
report had `left`."""


class SimulateParams(Message):
    """What `simulate` is asked."""

    tests: tuple[str, ...] = ()
    """Test files or test ids as an earlier report named them; none: the whole suite."""
    groups: tuple[tuple[str, ...], ...] = ()
    """The same tests in groups that run one after another in one process, for services that announce `test_groups`: after
    one in which a test failed, or where something could not be collected, later groups are left out and have no results."""
    timeout_s: float = Field(default=600.0, gt=0)
    """Of the whole run; what is known by then is reported with `timed_out`."""
    parts: Parts = "never"
    """Whether the service may end before its time limit, between two files, and name the others in `left`."""
    timings: bool = False
    """Whether the report says how long each file took."""
    test_timeout_s: float = Field(default=300.0, ge=0)
    """Of one test, which then fails; 0: no limit of its own."""
    seed: int | None = None
    """Shuffles the order of the tests, the same way for the same seed; None: the suite's own order."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Variables for the tests, on top of the service's own; never a secret."""
    command: tuple[str, ...] = ()
    """The words of the user's own test command, for services that announce `test_commands`: the tests are its last words, or
    stand where `{tests}` does. None: the service's own way."""

    @classmethod
    def paced(cls, test_timeout_s: float | None, **params: Any) -> Self:
        """With a limit of one test, and how long tests took in the report; None: the usual limit, and nothing told."""
        paced: dict[str, Any] = (
            {} if test_timeout_s is None else {"test_timeout_s": test_timeout_s, "timings": True}
        )
        return cls(**params, **paced)


class Declaration(Message):
    """A dependency the code may use."""

    name: str
    requirement: str = ""
    """As the manifest writes it, e.g. `httpx>=0.28`."""


class ValidateDepsParams(Message):
    """What `validate_deps` is asked."""

    artifacts: tuple[str, ...] = ()
    """Whose use of dependencies is checked; none: the whole repository."""
    declarations: tuple[Declaration, ...] = ()
    """Dependencies a proposal adds to those of the manifest."""
    index: str = ""
    """Address of the package index that may be asked what can be had; empty: none is asked."""


class Dependency(Message):
    """One dependency and how it stands."""

    name: str
    status: Literal["satisfied", "undeclared", "unused", "unavailable", "conflict", "not_checked"]
    requirement: str = ""
    artifacts: tuple[str, ...] = ()
    """Where it is used."""
    message: str = ""


class Dependencies(Message):
    """The result of `validate_deps`; what blocks is a diagnostic of category `dependency_error` as well."""

    dependencies: tuple[Dependency, ...]


class Unread(Message):
    """A file the service could not make sense of."""

    artifact: str
    reason: str


class Interface(Message):
    """One name other code may use."""

    name: str
    """Qualified, e.g. `shop.cart.Cart.add`."""
    kind: str
    """In the words of the language: `function`, `class`, `method`, `attribute`, `trait`, …"""
    artifact: str
    line: int | None = None
    signature: str = ""
    """The declaration without its body."""
    documentation: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Values for the constraints of interface contracts, by parameter name."""


class InterfaceMap(Message):
    """The result of `extract_interfaces`."""

    status: Literal["complete", "incomplete"]
    """`incomplete`: a person has to look; never silently taken for the whole."""
    interfaces: tuple[Interface, ...]
    unread: tuple[Unread, ...] = ()


class DependencyGraph(Message):
    """The result of `dependency_graph`: which module uses which."""

    modules: dict[str, str]
    """Module -> the artifact that holds it."""
    uses: dict[str, tuple[str, ...]]
    """Module -> the modules of the repository it uses, sorted."""
    external: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Module -> what it uses from elsewhere, sorted."""
    unread: tuple[Unread, ...] = ()


class PrepareParams(Message):
    """What `prepare` is asked."""

    timeout_s: float = Field(default=1800.0, gt=0)
    """Of everything that has to be installed or built."""
    command: tuple[str, ...] = ()
    """Words of the command that the tests will be run with, so that what it needs is there; none: the service's own way."""


class Choice(Message):
    """One thing that was chosen, and why."""

    what: str
    """E.g. `extra 'dev'`, `pytest with -n auto`, `Python 3.12`."""
    source: str
    """The file, and line or table, that says so; empty: a default of the service."""
    why: str = ""


class Prepared(Message):
    """The result of `prepare`: an environment that is there, and how it came about."""

    described: str
    """For people, in one line."""
    key: str
    """Changes exactly when what tests run with changes: requirements, lock files, setup, interpreter, build."""
    follows_from_files: bool = False
    """Whether the key follows from files of the repository and from the kind of machine alone (the system, its C library, the
    program and its Python): nobody has to ask again while those stay."""
    choices: tuple[Choice, ...] = ()
    command: tuple[str, ...] = ()
    """Words of the command that runs the tests; none: the service's own way."""
    runner: str = ""
    """What runs the tests, e.g. `pytest`, `unittest`, `go test`."""
    configuration: str = ""
    """The choices as TOML for `.cogworks/config.toml`, ready to be written there; empty: nothing was guessed."""
    notes: tuple[str, ...] = ()
    """What was left out or guessed and must not go unsaid, a sentence each."""
    is_reused: bool = False
    """Whether it was there before this request."""
    seconds: float = 0.0
    """What making it took, whoever made it."""
    disk_bytes: int = 0
