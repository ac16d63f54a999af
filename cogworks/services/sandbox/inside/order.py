"""The launcher's order: one JSON object, written by the service and read in the launcher's processes."""

import json
from typing import Literal, NamedTuple

Engine = Literal["bubblewrap", "namespaces", "none"]


class Limits(NamedTuple):
    """What one command may use. All of it together, unless said otherwise."""

    cpu_s: int = 2400
    """Of each process."""
    address_bytes: int = 8 * 1024**3
    """Address space of each process."""
    memory_bytes: int = 8 * 1024**3
    """What all processes hold in memory."""
    processes: int = 0
    """0: as many as the cores of this machine bear, see `cores.most_processes`. An order says how many."""
    threads: int = 2048
    """Of all processes."""
    file_bytes: int = 256 * 1024**2
    """Of each file."""
    disk_bytes: int = 2 * 1024**3
    """Written below the writable directories."""
    disk_entries: int = 200_000
    """Files and directories made below the writable directories."""
    temporary_bytes: int = 256 * 1024**2
    """Of /tmp and of /dev/shm, each, where the command has its own."""
    output_bytes: int = 64 * 1024**2

    @property
    def beyond_processes(self) -> str:
        return f"more than {self.processes} processes at once"

    @property
    def beyond_threads(self) -> str:
        return f"more than {self.threads} threads at once"

    @property
    def beyond_memory(self) -> str:
        return f"more than {self.memory_bytes // 1024**2} MiB of memory"


class Overlay(NamedTuple):
    """A folder that shows what lies in others and never changes them: what is written there is kept apart."""

    lowers: tuple[str, ...]
    """What is shown, of files of the same name those of the first; nothing of it may change meanwhile."""
    target: str
    """Where: an empty folder in one of the writable directories."""
    kept: str
    """A folder with two empty ones: `upper` takes what is written, `work` is the kernel's own."""


class Order(NamedTuple):
    """One command and the isolation to put around it."""

    command: tuple[str, ...]
    directory: str
    environment: dict[str, str]
    engine: Engine
    readable: tuple[str, ...]
    """Directories and files; the others do not exist for the command."""
    writable: tuple[str, ...]
    """Directories."""
    overlays: tuple[Overlay, ...] = ()
    hosts: str = ""
    """The file that is shown as `/etc/hosts`; empty: the machine's own."""
    has_network: bool = False
    landlock_abi: int = 0
    """0: without Landlock."""
    is_filtered: bool = False
    """Whether system calls are filtered."""
    is_linux: bool = True
    """Whether the system has what only Linux has: without it there are no isolation, and only the command's group is ended."""
    report_fd: int = -1
    """Where the launcher writes its `Verdict` when all is over."""
    kept_fds: tuple[int, ...] = ()
    """Further open files of the command."""
    group_fd: int = -1
    """The open file by which the command joins its control group; -1: there is none."""
    limits: Limits = Limits()  # frozen

    @property
    def own_fds(self) -> tuple[int, ...]:
        """The open files that the launcher needs."""
        return (self.report_fd, *self.kept_fds, *([self.group_fd] if self.group_fd >= 0 else []))

    def text(self) -> str:
        overlays = [each._asdict() for each in self.overlays]
        return json.dumps({**self._asdict(), "overlays": overlays, "limits": self.limits._asdict()})

    @classmethod
    def read(cls, text: str) -> "Order":
        fields = json.loads(text)
        for name in ("command", "readable", "writable", "kept_fds"):
            fields[name] = tuple(fields[name])
        overlays = tuple(
            Overlay(tuple(each["lowers"]), each["target"], each["kept"]) for each in fields["overlays"]
        )
        return cls(**{**fields, "overlays": overlays, "limits": Limits(**fields["limits"])})


class Verdict(NamedTuple):
    """How the command ended, as the launcher saw it."""

    code: int | None
    """Negative: the signal that ended it. None: ended by the launcher."""
    broken: tuple[str, ...] = ()
    """Limits that were reached and ended everything."""
    left: tuple[str, ...] = ()
    """Names of processes that were still running after the command and were ended."""
    failure: str = ""
    """Why the command could not be started."""
    is_unshown: bool = False
    """Whether that is an overlay, so that a copy would do."""

    def text(self) -> str:
        return json.dumps(self._asdict()) + "\n"

    @classmethod
    def read(cls, text: str) -> "Verdict":
        fields = json.loads(text)
        return cls(
            fields["code"],
            tuple(fields["broken"]),
            tuple(fields["left"]),
            fields["failure"],
            fields["is_unshown"],
        )
