"""The launcher: isolates one command as it was ordered, waits for its end and reports it."""

import os
import resource
import signal
import sys
from contextlib import suppress

from cogworks.services.sandbox.inside import calls, elsewhere, landlock, network, syscalls, view, watching
from cogworks.services.sandbox.inside.order import Limits, Order, Verdict

_NAMESPACES = (
    calls.CLONE_NEWUSER | calls.CLONE_NEWNS | calls.CLONE_NEWPID | calls.CLONE_NEWIPC | calls.CLONE_NEWUTS
)
_CANNOT_START = 127
_SPARE_THREADS = 64


def main(arguments: list[str]) -> None:
    """Args:
    arguments: `outer|inner`, the order, and for `outer` an empty directory to build the view on.
    """
    order = Order.read(arguments[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        if arguments[0] == "outer" and order.engine == "namespaces":
            _enter_namespaces(order, scaffold=arguments[2])
        code = _supervised(order)
    except (OSError, KeyError) as error:
        _report(order, Verdict(None, failure=str(error), is_unshown=isinstance(error, view.NotShown)))
        code = _CANNOT_START
    os._exit(code)


def _enter_namespaces(order: Order, *, scaffold: str) -> None:
    """Go on in a process of new namespaces, as the first of them; the process left outside only waits for it."""
    user, group = os.getuid(), os.getgid()
    calls.unshare(_NAMESPACES | (0 if order.has_network else calls.CLONE_NEWNET))
    _write_setting("setgroups", "deny")
    _write_setting("uid_map", f"{user} {user} 1")
    _write_setting("gid_map", f"{group} {group} 1")
    first = os.fork()
    if first:
        os.close(order.report_fd)
        _, status = os.waitpid(first, 0)
        os._exit(0 if status == 0 else 1)
    # Without the one outside there is nobody to end us at the deadline.
    calls.prctl(calls.PR_SET_PDEATHSIG, signal.SIGKILL)
    view.enter(order, scaffold)


def _write_setting(name: str, text: str) -> None:
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)


def _supervised(order: Order) -> int:
    if order.is_linux:
        _prepare(order)
    ready, failures = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ready)
        _become(order, failures)
    os.close(failures)
    if order.group_fd >= 0:
        os.close(order.group_fd)
    if order.is_linux:
        # The command's kin must neither read our memory nor trace us.
        calls.prctl(calls.PR_SET_DUMPABLE, 0)
    with os.fdopen(ready, "rb") as pipe:
        failure = pipe.read().decode(errors="replace")
    verdict = _awaited(order, child)
    _report(order, Verdict(verdict.code, verdict.broken, verdict.left, failure))
    return 0


def _prepare(order: Order) -> None:
    """Give up what the command must not have, and become the one who adopts its orphans."""
    if order.engine != "none" and not order.has_network:
        network.raise_own_network()
    if order.engine == "bubblewrap" and os.getuid() == 0:
        # It binds them as they are; nobody but their owner could change them.
        view.protect_devices()
    if order.engine == "none":
        calls.prctl(calls.PR_SET_CHILD_SUBREAPER, 1)
    calls.drop_capabilities()
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    # Giving up capabilities makes the kernel forget this.
    calls.prctl(calls.PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])


def _awaited(order: Order, child: int) -> Verdict:
    if not order.is_linux:
        return elsewhere.await_end(child)
    everyone = watching.inside_namespace if os.getpid() == 1 else watching.descendants
    return watching.await_end(child, order.limits, everyone)


def _become(order: Order, failures: int) -> None:
    """Turn this process into the command; on failure write the reason into `failures`."""
    try:
        os.setsid()
        if order.is_linux:
            calls.prctl(calls.PR_SET_PDEATHSIG, signal.SIGKILL)
        os.set_inheritable(failures, False)
        if order.group_fd >= 0:
            _join_group(order.group_fd)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for descriptor in order.kept_fds:
            os.set_inheritable(descriptor, True)
        os.set_inheritable(order.report_fd, False)
        os.chdir(order.directory)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        if order.landlock_abi:
            landlock.restrict(order)
        _limit_this(order.limits, counts_processes=order.engine != "none")
        if order.is_filtered:
            syscalls.install(may_have_sockets=order.engine != "none" or order.has_network)
        os.execvpe(order.command[0], order.command, order.environment)  # noqa: S606  # a shell is what this avoids
    except (OSError, KeyError) as error:
        os.write(failures, str(error).encode())
    os._exit(_CANNOT_START)


def _join_group(members: int) -> None:
    """Join a control group, with all our descendants. The launcher stays outside, so that it can report the end."""
    try:
        os.write(members, b"0")
    except OSError as error:
        raise OSError(error.errno, f"join the control group: {error.strerror}") from error
    os.close(members)


def _limit_this(limits: Limits, *, counts_processes: bool) -> None:
    by_resource = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_AS: limits.address_bytes,
        resource.RLIMIT_CPU: limits.cpu_s,
    }
    if counts_processes:
        # Outside a user namespace the kernel counts everything this user runs.
        # Beyond the limit itself, so that a command that reaches it is seen and named.
        by_resource[resource.RLIMIT_NPROC] = limits.threads + _SPARE_THREADS
    for what, limit in by_resource.items():
        hard = resource.getrlimit(what)[1]
        lower = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(what, (lower, lower))


def _report(order: Order, verdict: Verdict) -> None:
    os.write(order.report_fd, verdict.text().encode())


if __name__ == "__main__":
    main(sys.argv[1:])
