"""What a node is handed of a session: each port is a call of what the session holds."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from cogworks.codebase.scripts import ScriptRun
from cogworks.llm.conversation import Looks
from cogworks.nodes.contract import Asks, DomainService, Workspace
from cogworks.repair.probe.investigating import SandboxPool
from cogworks.sight.index import Index
from cogworks.sight.seen import Seen, Stretch


@dataclass(frozen=True)
class SessionPorts:
    """The ports of one node; obeys `cogworks.nodes.contract.NodePorts`."""

    model: Asks
    open_service: Callable[[], DomainService]
    say_line: Callable[[str], None]
    stop: Callable[[], None]
    limit: Callable[[float], AbstractContextManager[None]]
    save: Callable[[], None]
    keep_file: Callable[[str, str], None]
    open_workspace: Callable[[], Workspace]
    open_index: Callable[[], Index]
    open_looks: Callable[[frozenset[str]], Looks]
    seen: Seen
    open_sandbox_pool: Callable[[], AbstractContextManager[SandboxPool]]
    run: Callable[[str, str], ScriptRun]
    said: set[str] = field(default_factory=set)

    @property
    def service(self) -> DomainService:
        return self.open_service()

    def say(self, line: str, /) -> None:
        self.say_line(line)

    def say_once(self, line: str, /) -> None:
        if line not in self.said:
            self.say(line)
            self.said.add(line)

    def check(self) -> None:
        self.stop()

    def checkpoint(self) -> None:
        self.save()

    def within(self, limit_s: float, /) -> AbstractContextManager[None]:
        return self.limit(limit_s)

    def now(self) -> float:
        return elapsed_s()

    def keep(self, name: str, text: str, /) -> None:
        self.keep_file(name, text)

    def index(self) -> Index:
        return self.open_index()

    def looks(self, hidden: frozenset[str] = frozenset()) -> Looks | None:
        return self.open_looks(hidden)

    def looked(self) -> Mapping[str, Sequence[Stretch]]:
        return {path: self.seen.stretches(path) for path in self.seen.newest_last}

    def workspace(self) -> Workspace:
        return self.open_workspace()

    def sandbox_pool(self) -> AbstractContextManager[SandboxPool]:
        return self.open_sandbox_pool()

    def script(self, name: str, stdin: str) -> ScriptRun:
        return self.run(name, stdin)


def elapsed_s() -> float:
    """A clock that only runs forward, also while the machine sleeps where the system has such a clock: a lease does."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)
