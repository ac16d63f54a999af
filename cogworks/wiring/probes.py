"""Where probes work: throw-away worktrees of a repository, each with services of its own for as long as it is used."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from cogworks.canonical import digest, sha256
from cogworks.codebase.failures import CodebaseError
from cogworks.codebase.git import Git
from cogworks.codebase.patchtree import PatchTree
from cogworks.codebase.sandboxes import Hit, Sandbox, Sandboxes
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.domain_services.announcing import Waiting
from cogworks.domain_services.answers import NotOffered
from cogworks.domain_services.messages import Caller, Message
from cogworks.domain_services.operations import Operation
from cogworks.domain_services.panel import ServicePanel
from cogworks.settings.config import Environment
from cogworks.vocabulary import CommitOid
from cogworks.wiring.services import open_panel

if TYPE_CHECKING:
    # A repair of a checkout makes no visit and need not load what one does.
    from cogworks.engine.ports import SessionOrder

PROBE = Caller(node="probe")
_SHORTEST_S = 0.01
OpensServices = Callable[..., ServicePanel]
"""Takes what `open_panel` takes, but for what is settled already."""
_AS_PROBE: OpensServices = partial(open_panel, caller=PROBE)
Params = TypeVar("Params", bound=Message)
Result = TypeVar("Result", bound=Message)


@dataclass(frozen=True)
class Site:
    """A worktree that is repaired, and where what probes need may lie for a time."""

    path: Path
    git: Git
    base: CommitOid
    """The commit whose manifests say what its tests need."""
    folder: Path
    """For worktrees, outside of the repository; may hold what killed processes left there."""
    root_names: tuple[str, ...] = ()
    """Files and folders at the repository's root, which show its languages."""


class ProbeSandbox:
    """A throw-away worktree with the services that look at it; obeys `cogworks.repair.probe.probes.Sandbox`."""

    def __init__(self, make: Callable[[], Sandbox], panel: ServicePanel) -> None:
        """Args:
        make: makes the worktree; who gets by with what another probe was answered needs none.
        """
        self._make, self._panel = make, panel

    @cached_property
    def _sandbox(self) -> Sandbox:
        return self._make()

    def text(self, path: str) -> str | None:
        return self._sandbox.text(path)

    def apply(self, diff: str) -> str | None:
        return self._sandbox.apply(diff)

    def reset(self) -> None:
        self._sandbox.reset()

    def grep(self, word: str, *, most: int) -> Sequence[Hit]:
        return self._sandbox.grep(word, most=most)

    def offers(self, operation: Operation[Params, Result]) -> bool:
        """Whether a service knows how to answer."""
        return self._panel.offers(operation)

    def ask(self, operation: Operation[Params, Result], params: Params) -> Sequence[Result]:
        answers = self._panel.call(operation, self._sandbox, params)
        return () if isinstance(answers, NotOffered) else [answer.result for answer in answers]


class Lent:
    """The services of the caller that waits for the probes, for the first seat: no others need to start for one probe at a time."""

    def __init__(self) -> None:
        self.panel: ServicePanel | None = None
        """None: there are none to lend."""
        self._probes_left_s: Callable[[], float | None] = lambda: None

    def left_s(self) -> float | None:
        """What is left of the time of the probe that uses them; None: none does, so that nothing of it ends them."""
        return self._probes_left_s()

    def to(self, left_s: Callable[[], float | None]) -> ServicePanel | None:
        """Hand them over, once."""
        panel, self.panel = self.panel, None
        if panel is not None:
            self._probes_left_s = left_s
        return panel


class ProbeSandboxPool:
    """Rooms for several threads, until the `with` block ends; obeys `cogworks.repair.probe.investigating.SandboxPool`.

    A service answers one question after another, so every room that is in use has its own, or what is lent; they start at their first
    question and serve one probe after another.
    """

    def __init__(
        self,
        site: Site,
        tree: PatchTree,
        open_services: Callable[[Callable[[], float | None]], ServicePanel],
        *,
        left_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        """Args:
        open_services: the services of a seat; it gets what is left of the time of that seat.
        left_s: how many seconds there are for all probes from now on; None: as many as each has.
        """
        self._all_left_s = left_s
        self._lent = Lent()
        self._site = site
        self._tree = tree
        self._open_services = open_services
        self._sandboxes = Sandboxes(site.path, site.git, site.folder)
        self._mutex = threading.Lock()
        self._free: list[_Worker] = []
        self._stack = ExitStack()
        self._is_cancelled = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_cancelled.set()
        self._stack.close()

    @contextmanager
    def sandbox(self, *, limit_s: float) -> Iterator[ProbeSandbox]:
        """A room of the commit the worktree stands at; laid out when something of it is needed."""
        with self._mutex:
            seat = self._free.pop() if self._free else self._furnished()
        seat.until_s = time.monotonic() + limit_s
        seat.is_used = True
        try:
            with ExitStack() as opened:
                yield ProbeSandbox(lambda: opened.enter_context(self._at_head()), seat.panel)
        finally:
            seat.is_used = False
            with self._mutex:
                self._free.append(seat)

    def _at_head(self) -> AbstractContextManager[Sandbox]:
        head = CommitOid(self._site.git.run("rev-parse", "HEAD", cwd=self._site.path).strip())
        return self._sandboxes.at(head, base=self._site.base)

    def lend(self, lent: Lent) -> None:
        """From now on the first seat has these services instead of its own."""
        self._lent = lent

    def offers(self, operation: Operation[Params, Result]) -> bool:
        with self.sandbox(limit_s=operation.limit_s) as sandbox:
            return sandbox.offers(operation)

    def digest(self) -> str:
        """A tree that is not the one of its commit any more has a digest of its own."""
        with self._mutex:
            try:
                return digest(self._tree.state())
            except CodebaseError as error:
                return str(error)

    def cancel(self) -> None:
        """From now on no service has any time left; those that run are ended with all their processes."""
        self._is_cancelled.set()
        with self._mutex:
            self._stack.close()

    def _furnished(self) -> "_Worker":
        seat = _Worker()
        lent = self._lent.to(lambda: self._left_s(seat) if seat.is_used else None)
        panel = lent or self._open_services(lambda: self._left_s(seat))
        seat.panel = self._stack.enter_context(panel)
        return seat

    def _left_s(self, seat: "_Worker") -> float:
        left_s = 0.0 if self._is_cancelled.is_set() else seat.until_s - time.monotonic()
        all_left_s = self._all_left_s()
        return max(_SHORTEST_S, left_s if all_left_s is None else min(left_s, all_left_s))


class _Worker:
    """Services, and how long their user may use them."""

    panel: ServicePanel
    until_s: float = 0.0
    is_used: bool = False


def laboratory_of(
    site: Site,
    tree: PatchTree,
    files: Mapping[str, str],
    environment: Environment,
    *,
    warn: Callable[[str], None],
    left_s: Callable[[], float | None] = lambda: None,
    test_command: Sequence[str] = (),
    open_services: OpensServices = _AS_PROBE,
) -> ProbeSandboxPool:
    """A laboratory for one worktree; open it in a `with` block.

    Args:
        files: below `.cogworks`, for the services; never of the worktree, which the model may have changed.
        left_s: as of `ProbeSandboxPool`.
        test_command: words of the command that tests are run with; none: each service's own way.
        open_services: those of one seat; knows on whose behalf, and so behind which isolation, they are asked.

    Raises:
        ConfigurationError: every problem of `services.toml`.
    """

    warned: set[str] = set()

    def warn_once(text: str) -> None:
        # Each seat's services lack the same.
        if text not in warned:
            warned.add(text)
            warn(text)

    def seated(seat_left_s: Callable[[], float | None]) -> ServicePanel:
        return open_services(
            files,
            environment,
            warn=warn_once,
            waiting=Waiting(seat_left_s),
            test_command=test_command,
            names=site.root_names,
        )

    return ProbeSandboxPool(site, tree, seated, left_s=left_s)


def sandbox_pool_in(
    copy: WorkingCopy,
    order: "SessionOrder",
    environment: Environment,
    *,
    warn: Callable[[str], None],
    open_services: OpensServices = open_panel,
) -> ProbeSandboxPool:
    """A laboratory for the working copy of a visit; what a killed one left in its folder goes when this one begins.

    Raises: as `laboratory_of`.
    """
    # One folder for each repository: who removes a left worktree also has to forget it there.
    folder = Path(environment.work_dir) / "probes" / sha256(copy.remote_url)[:16]
    base = copy.base() or copy.head
    site = Site(copy.path, copy.git, base=base, folder=folder, root_names=order.root_names)
    caller = PROBE.model_copy(
        update={"work_item_id": order.task.item.number, "needs_walls": order.needs_walls()}
    )
    return laboratory_of(
        site,
        copy.transactions(),
        order.files,
        environment,
        warn=warn,
        left_s=order.left_s,
        open_services=partial(open_services, caller=caller),
    )
