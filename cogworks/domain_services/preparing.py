"""What the operation `prepare` is asked and what it answers: the environment that code of a repository is run in."""

from pydantic import Field

from cogworks.domain_services.messages import Message


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
