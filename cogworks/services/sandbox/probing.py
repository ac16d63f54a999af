"""Which isolation this machine can build: each is tried with a command that tries to get out."""

import os
import platform
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

from cogworks.services.sandbox import control_groups
from cogworks.services.sandbox.inside import landlock, syscalls
from cogworks.services.sandbox.inside.order import Limits, Overlay
from cogworks.services.sandbox.isolation import Isolation, Lacking, elsewhere, namespaces_remedy
from cogworks.services.sandbox.running import Confined, Ended, attempt

_PROBE_S = 10.0
_ESCAPES = """
import socket, sys
decoy, port, own = sys.argv[1:4]
def can(attempt):
    try:
        attempt()
    except OSError:
        return False
    return True
open(own + "/written", "w").close()
if len(sys.argv) > 4:
    open(sys.argv[4], "a").write("changed")
print(can(lambda: open(decoy)), can(lambda: socket.create_connection(("127.0.0.1", int(port)), 2)), end=" ")
# Root may without any capability; opening changes nothing.
print(can(lambda: open("/proc/sys/kernel/core_pattern", "a")))
# Where /tmp is its own this makes another file.
can(lambda: open(decoy, "w").write("spoilt"))
"""
_CONTAINED = "False False False"
_DECOY = "untouched"
_SHOWN = "shown"
_SYSCTL = Path("/proc/sys")
_SETTINGS = (
    "kernel/apparmor_restrict_unprivileged_userns",
    "kernel/unprivileged_userns_clone",
    "user/max_user_namespaces",
)


def strongest(search_path: str) -> Isolation:
    """The strongest isolation that hold here; none but limits where this is not Linux.

    Args:
        search_path: PATH, where bubblewrap may be found.
    """
    if sys.platform != "linux":
        return elsewhere(platform.system() or sys.platform, is_root=os.geteuid() == 0)
    lacking: list[Lacking] = []
    abi, is_filtered = landlock.abi(), syscalls.is_known(platform.machine())
    if not abi:
        lacking.append(
            Lacking("Landlock", "this kernel has none", "Boot Linux 5.13 or newer with `landlock` in `lsm=`.")
        )
    if not is_filtered:
        lacking.append(Lacking("filtered system calls", f"not known for {platform.machine()}", ""))
    why: list[str] = []
    for candidate in _candidates(search_path, abi, is_filtered=is_filtered):
        problem = escape(candidate)
        if problem is None:
            return _grouped(candidate._replace(lacking=(*_namespaces(candidate, why), *lacking)))
        why.append(f"{candidate.engine}: {problem}")
    left = (*_namespaces(Isolation("none"), why), *lacking)
    return _grouped(Isolation("none", lacking=left, is_root=os.geteuid() == 0))


def begun(search_path: str) -> Callable[[], Isolation]:
    """The same, begun in a thread, so that the caller can go on meanwhile. The returned function waits for the result."""
    future: Future[Isolation] = Future()

    def look() -> None:
        try:
            future.set_result(strongest(search_path))
        except BaseException as error:  # the waiting caller has to know it
            future.set_exception(error)

    threading.Thread(target=look, daemon=True).start()
    return future.result


def _grouped(isolation: Isolation) -> Isolation:
    """The same with a control group for each run, where one can be had."""

    def trial(place: str) -> str | None:
        with tempfile.TemporaryDirectory(prefix="cogworks-probe-") as name:
            folder = Path(name).resolve()
            own, scratch = folder / "own", folder / "scratch"
            own.mkdir()
            scratch.mkdir()
            confined = Confined(("/bin/true",), own, {}, (), (own,), _PROBE_S)
            try:
                # A run itself says nothing of a group that cannot be made.
                control_groups.Group(Path(place), Limits()).close()
                ended = attempt(confined, isolation._replace(group=place), scratch=scratch)
            except OSError as error:
                return f"{place}: {error}"
        return None if ended.code == 0 else f"{place}: a trial in a group ended with {ended.code}"

    search = control_groups.find(trial)
    return isolation._replace(group=search.place, ungrouped=search.lacking)


def escape(isolation: Isolation) -> str | None:
    """How a command got out of these isolation or why they cannot be built, None when they hold."""
    with (
        tempfile.TemporaryDirectory(prefix="cogworks-probe-") as name,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        folder = Path(name).resolve()
        decoy, own, scratch = folder / "decoy", folder / "own", folder / "scratch"
        decoy.write_text(_DECOY)
        own.mkdir()
        scratch.mkdir()
        python = str(Path(sys.executable).resolve())
        overlays = (_shown(folder, own),) if isolation.lays_over else ()
        changed = [f"{each.target}/{_SHOWN}" for each in overlays]
        arguments = (str(decoy), str(listener.getsockname()[1]), str(own), *changed)
        confined = Confined(
            command=(python, "-I", "-S", "-c", _ESCAPES, *arguments),
            directory=own,
            environment={},
            readable=(Path(sys.base_prefix), Path(python)),
            writable=(own,),
            timeout_s=_PROBE_S,
            overlays=overlays,
        )
        try:
            ended = attempt(confined, isolation, scratch=scratch)
        except OSError as error:
            return str(error)
        own_files = [decoy, *(folder / "lower" / _SHOWN for each in overlays)]
        is_untouched = all(each.read_text() == _DECOY for each in own_files)
    return _problem(ended, is_untouched=is_untouched)


def _shown(folder: Path, own: Path) -> Overlay:
    """A file that the trial may change for itself alone."""
    lower, target, kept = folder / "lower", own / "target", folder / "kept"
    for place in (lower, target, kept, kept / "upper", kept / "work"):
        place.mkdir()
    (lower / _SHOWN).write_text(_DECOY)
    return Overlay((str(lower),), str(target), str(kept))


def _problem(ended: Ended, *, is_untouched: bool) -> str | None:
    text = ended.output.strip()
    if ended.code != 0:
        return text or f"the trial ended with {ended.code}"
    if text != _CONTAINED:
        return "the trial could read a file, reach a port or open a setting of the kernel outside"
    return None if is_untouched else "the trial could write a file outside"


def _candidates(search_path: str, abi: int, *, is_filtered: bool) -> Iterator[Isolation]:
    """From the strongest down; what the kernel refuses in one combination it may allow in the next."""
    program = shutil.which("bwrap", path=search_path)
    kernel = dict.fromkeys([(abi, is_filtered), (0, is_filtered), (abi, False), (0, False)])
    for landlock_abi, filtered in kernel:
        if program is not None:
            yield Isolation("bubblewrap", program, landlock_abi, filtered)
        plain = Isolation("namespaces", "", landlock_abi, filtered)
        # Some file systems of temporary files, those of containers among them, take nothing that is laid over.
        yield plain._replace(lays_over=True)
        yield plain
    if abi and is_filtered:
        yield Isolation("none", "", abi, True, is_root=os.geteuid() == 0)


def _namespaces(isolation: Isolation, why: list[str]) -> tuple[Lacking, ...]:
    if isolation.is_complete or not why:
        return ()
    settings = {
        name: (_SYSCTL / name).read_text().strip() for name in _SETTINGS if (_SYSCTL / name).is_file()
    }
    remedy = namespaces_remedy(settings)
    if not any(each.startswith("bubblewrap") for each in why):
        remedy = f"Install bubblewrap (`apt install bubblewrap`). {remedy}"
    return (Lacking("namespaces", "; ".join(dict.fromkeys(why)), remedy),)
