"""Runs one command in isolation and within limits, and says how it ended and what was stopped."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, Protocol

from cogworks.cores import most_processes
from cogworks.services.sandbox.control_groups import Group, group
from cogworks.services.sandbox.disk import DiskWatch
from cogworks.services.sandbox.inside.order import Limits, Order, Overlay, Verdict
from cogworks.services.sandbox.inside.view import HOSTS
from cogworks.services.sandbox.isolation import Isolation
from cogworks.services.sandbox.reach import bubblewrap_arguments, copy_instead, lay_out_hosts, readable
from cogworks.services.sandbox.starting import ENVIRONMENT, LAUNCHERS, PACKAGE, PYTHON, Launcher

_PAUSE_S = 0.05
_FAREWELL_S = 3.0
_TAIL_BYTES = 16_000
_READ_BYTES = 1 << 16
_PIPE_BYTES = 1 << 20
"""The most that Linux lets a process without privileges make a pipe hold."""
_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from cogworks.services.sandbox.inside.launch import main; main(sys.argv[1:])"
)


class Confined(NamedTuple):
    """A command and what it is allowed."""

    command: Sequence[str]
    directory: Path
    """Where it starts; in one of the writable directories."""
    environment: Mapping[str, str]
    """All of its environment."""
    readable: Sequence[Path]
    """What it may read besides the system's programs and its own directories."""
    writable: Sequence[Path]
    """Its own directories, which nothing else holds anything in."""
    timeout_s: float
    limits: Limits = Limits()  # frozen
    has_network: bool = False
    overlays: Sequence[Overlay] = ()
    """Only where the isolation lays over."""


class Ended(NamedTuple):
    """How a command ended; none of its processes is left."""

    code: int | None
    """Negative: ended by that signal. None: ended by us."""
    output: str
    """The last it printed."""
    timed_out: bool = False
    blocked: tuple[str, ...] = ()
    """The limits that were reached, and what else had to be ended, in words."""


class Open(Protocol):
    """An open file or socket."""

    def fileno(self) -> int: ...


class NotStarted(OSError):
    """The isolation could not be built or the command could not be started."""


class NotShown(NotStarted):
    """An overlay could not be built."""


def run(confined: Confined, isolation: Isolation, *, scratch: Path, kept: Sequence[Open] = ()) -> Ended:
    """The same as `attempt`, with a copy of what cannot be shown: what can be laid over depends on where it lies."""
    try:
        return attempt(confined, isolation, scratch=scratch, kept=kept)
    except NotShown:
        copy_instead(confined.overlays, confined.writable)
        return attempt(confined._replace(overlays=()), isolation, scratch=scratch, kept=kept)


def attempt(confined: Confined, isolation: Isolation, *, scratch: Path, kept: Sequence[Open] = ()) -> Ended:
    """Run a command to its end, or to that of its time or of its limits.

    Args:
        scratch: an empty directory out of the command's reach.
        kept: open files and sockets that the command inherits under the same numbers.

    Raises:
        NotStarted: see there.
    """
    (scratch / "root").mkdir(exist_ok=True)
    with group(isolation.group, _counted(confined.limits)) as own:
        return _attempt_in(own, confined, isolation, scratch, kept)


def _attempt_in(
    own: Group | None, confined: Confined, isolation: Isolation, scratch: Path, kept: Sequence[Open]
) -> Ended:
    verdict_read, verdict_write = os.pipe()
    order = _order(confined, isolation, verdict_write, tuple(file.fileno() for file in kept))
    order = order._replace(group_fd=own.joining) if own else order
    if isolation.is_complete and not confined.has_network:
        order = _with_own_hosts(order, scratch)
    kept_apart = [Path(each.kept) for each in confined.overlays]
    disk = DiskWatch((*confined.writable, *kept_apart), confined.limits)
    watches: tuple[DiskWatch | Group, ...] = (disk, own) if own else (disk,)
    with os.fdopen(verdict_read, "rb") as verdicts:
        try:
            process = _launched(order, isolation, scratch)
        finally:
            os.close(verdict_write)
        printed = _Printed(process.stdout)
        try:
            reasons, timed_out = _watched(verdicts, printed, watches, confined)
        finally:
            text = _ended(process, verdicts)
            printed.close()
    reasons += own.reached() if own else ()
    return _outcome(text, printed.tail, reasons, timed_out=timed_out)


class _Printed:
    """What a command prints into a pipe, as it would on a continuous integration server; only its end is kept."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        if pipe is None:
            raise ValueError("the output of the command is no pipe")
        self._pipe = pipe
        os.set_blocking(pipe.fileno(), False)
        self._tail = b""
        self.count = 0
        """Bytes so far."""
        self.is_open = True
        """Whether more may come."""

    def fileno(self) -> int:
        return self._pipe.fileno()

    def take(self) -> bool:
        """Read what is there now; whether there was any."""
        try:
            read = os.read(self.fileno(), _READ_BYTES)
        except BlockingIOError:
            return False
        self.is_open = bool(read)
        self.count += len(read)
        self._tail = (self._tail + read)[-_TAIL_BYTES:]
        return bool(read)

    def close(self) -> None:
        """Read what is left of a command that has ended."""
        # As much as a pipe can hold: a process that got away and goes on printing keeps nobody here.
        for _ in range(_PIPE_BYTES // _READ_BYTES):
            if not self.take():
                break
        self._pipe.close()

    @property
    def tail(self) -> str:
        return self._tail.decode(errors="replace")


def _order(confined: Confined, isolation: Isolation, report_fd: int, kept: tuple[int, ...]) -> Order:
    own = [str(place) for place in confined.readable]
    if isolation.engine == "bubblewrap":
        own += [sys.base_prefix, PYTHON, str(PACKAGE)]
    allowed = [path for path in readable(own, has_network=confined.has_network) if Path(path).exists()]
    return Order(
        command=tuple(confined.command),
        directory=str(confined.directory),
        environment=dict(confined.environment),
        engine=isolation.engine,
        readable=tuple(allowed),
        writable=tuple(str(place) for place in confined.writable),
        overlays=tuple(confined.overlays),
        has_network=confined.has_network,
        landlock_abi=isolation.landlock_abi,
        is_filtered=isolation.is_filtered,
        is_linux=isolation.is_linux,
        report_fd=report_fd,
        kept_fds=kept,
        limits=_counted(confined.limits),
    )


def _counted(limits: Limits) -> Limits:
    return limits if limits.processes else limits._replace(processes=most_processes())


def _with_own_hosts(order: Order, scratch: Path) -> Order:
    theirs = tuple(path for path in order.readable if path != HOSTS)
    return order._replace(readable=theirs, hosts=str(lay_out_hosts(scratch)))


def _launched(order: Order, isolation: Isolation, scratch: Path) -> Launcher:
    if isolation.engine == "namespaces":
        return LAUNCHERS.start(order, scratch / "root", scratch)
    return subprocess.Popen(
        _launching(order, isolation, scratch / "root"),
        cwd=scratch,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        pass_fds=order.own_fds,
    )


def _launching(order: Order, isolation: Isolation, scaffold: Path) -> list[str]:
    """The words that start a launcher by itself: bubblewrap isolates it before it starts, and elsewhere none are left behind."""
    launcher = [PYTHON, "-I", "-S", "-c", _START, str(PACKAGE.parent)]
    if isolation.engine == "bubblewrap":
        return [isolation.program, *bubblewrap_arguments(order), "--", *launcher, "inner", order.text()]
    return [*launcher, "outer", order.text(), str(scaffold)]


def _watched(
    verdicts: BinaryIO, printed: _Printed, watches: Sequence[DiskWatch | Group], confined: Confined
) -> tuple[list[str], bool]:
    """Wait until the launcher reports, or until there is a reason to end it: which, and whether it is the time."""
    deadline = time.monotonic() + confined.timeout_s
    looked = time.monotonic()
    while True:
        waited = [verdicts.fileno(), *([printed.fileno()] if printed.is_open else [])]
        ready = select.select(waited, [], [], _PAUSE_S)[0]
        if verdicts.fileno() in ready:
            return [], False
        now = time.monotonic()
        if now > deadline:
            return [], True
        if printed.fileno() in ready:
            printed.take()
        if printed.count > confined.limits.output_bytes:
            return [f"printed more than {confined.limits.output_bytes // 1024**2} MiB"], False
        # A command that prints without a pause wakes this far more often than disks have to be looked at.
        if now - looked >= _PAUSE_S:
            looked = now
            if excess := [each for each in (watch.excess() for watch in watches) if each is not None]:
                return excess, False


def _ended(process: Launcher, verdicts: BinaryIO) -> str:
    """The launcher's verdict, empty when it had to be killed; in any case everything has ended."""
    if process.stdin is not None:
        # The launcher takes this as the sign to end its command.
        process.stdin.close()
    text = ""
    if select.select([verdicts], [], [], _FAREWELL_S)[0]:
        text = verdicts.read().decode()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_FAREWELL_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return text


def _outcome(text: str, tail: str, reasons: list[str], *, timed_out: bool) -> Ended:
    if not text:
        if not (reasons or timed_out):
            raise NotStarted(
                f"the isolation could not be built: {tail.strip() or 'the launcher said nothing'}"
            )
        return Ended(None, tail, timed_out, _blocked(reasons, ()))
    verdict = Verdict.read(text)
    if verdict.failure:
        problem = NotShown if verdict.is_unshown else NotStarted
        raise problem(f"the command was not started: {verdict.failure}")
    # The command may have ended in the same moment.
    code = None if reasons or timed_out else verdict.code
    return Ended(code, tail, timed_out, _blocked([*reasons, *verdict.broken], verdict.left))


def _blocked(reasons: Sequence[str], left: Sequence[str]) -> tuple[str, ...]:
    # The launcher and the kernel may report the same.
    blocked = [f"ended: {reason}" for reason in dict.fromkeys(reasons)]
    if left:
        blocked.append(f"ended with the run: processes left running: {', '.join(left)}")
    return tuple(blocked)
