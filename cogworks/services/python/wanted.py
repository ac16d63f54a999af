"""What a run of tests is asked for."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from cogworks.services.python.pythons import Interpreter, bare
from cogworks.services.sandbox.inside.order import Limits


class Plugin(NamedTuple):
    """A pytest plugin of the directory `inside` that measures, which wants a process to itself."""

    name: str
    options: Sequence[str] = ()
    readable: Sequence[Path] = ()


class Wanted(NamedTuple):
    """Which tests are run, and what they may use."""

    tests: Sequence[str] = ()
    """Test files or ids, relative to the repository; checked to stay inside by the caller. None: all."""
    groups: Sequence[Sequence[str]] = ()
    """The same tests in groups: none that comes after one with a failure is run. None: all are."""
    root: str = ""
    """Which folder of its repository is run; empty: the whole. All of the repository is there."""
    timeout_s: float = 600.0
    parts: bool = False
    """Whether files for which there is no time are left for another run."""
    timings: bool = False
    """Whether the report says how long each file took."""
    ends_s: float | None = None
    """By when, on the monotonic clock, no further file shall be running; None: whenever."""
    test_timeout_s: float = 300.0
    """Of one test."""
    limits: Limits = Limits()  # frozen
    interpreter: Interpreter = bare()
    seed: int | None = None
    """Of their order; None: as collected."""
    instead: Mapping[str, bytes | None] = MappingProxyType({})
    """What is in some files of the repository instead of what lies there; None: they are not there."""
    environment: Mapping[str, str] = MappingProxyType({})
    """Variables on top of our own."""
    plugins: Sequence[Plugin] = ()
    command: Sequence[str] = ()
    """Words of the user's own command; none: our own way."""
    instead_of: str = ""
    """What somebody configured, and where it says that this command is what runs; for people."""
    max_processes: int = 20
    """So many may end in the middle of a test until the tests after it are not run any more."""
