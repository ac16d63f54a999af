"""The launcher's order, the reach of a command, the filter's program and the disk watch, without running anything."""

import errno
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.services.sandbox.disk import DiskWatch, Usage, usage
from cogworks.services.sandbox.inside.order import Limits, Order, Verdict
from cogworks.services.sandbox.inside.syscalls import Instruction, program
from cogworks.services.sandbox.inside.view import KERNEL_SETTINGS, outermost
from cogworks.services.sandbox.reach import bubblewrap_arguments, readable, with_localhost

ORDER = Order(
    command=("python", "-c", "pass"),
    directory="/work/copy",
    environment={"HOME": "/work/home"},
    engine="bubblewrap",
    readable=("/usr", "/usr/lib", "/opt/python"),
    writable=("/work/copy",),
    report_fd=5,
    kept_fds=(7,),
    limits=Limits(temporary_bytes=4096),
)


def test_an_order_and_a_verdict_arrive_as_they_were_sent() -> None:
    assert Order.read(ORDER.text()) == ORDER
    verdict = Verdict(-9, ("more than 5 processes at once",), ("sleep",), "")
    assert Verdict.read(verdict.text()) == verdict


@pytest.mark.parametrize("as_root", [False, True])
def test_bubblewrap_is_told_the_same_walls(as_root: bool) -> None:
    settings = " ".join(f"--ro-bind-try /proc/{name} /proc/{name}" for name in KERNEL_SETTINGS)
    # Only root could change the devices of the machine, and only root's launcher can take them away.
    devices = " --cap-add CAP_SYS_ADMIN" if as_root else ""
    assert " ".join(bubblewrap_arguments(ORDER, as_root=as_root)) == (
        f"--unshare-all --cap-add CAP_NET_ADMIN{devices} --die-with-parent --as-pid-1 --perms 1777 --size 4096 --tmpfs /tmp "
        "--ro-bind /opt/python /opt/python --ro-bind /usr /usr --bind /work/copy /work/copy "
        f"--proc /proc {settings} --dev /dev --perms 1777 --size 4096 --tmpfs /dev/shm --remount-ro / --chdir /"
    )


def test_bubblewrap_shows_the_command_s_own_hosts() -> None:
    assert "--ro-bind /scratch/hosts /etc/hosts" in " ".join(
        bubblewrap_arguments(ORDER._replace(hosts="/scratch/hosts"))
    )


@pytest.mark.parametrize(
    ("text", "has_version_6", "added"),
    [
        ("127.0.0.1 localhost\n", True, "::1 localhost\n"),
        ("127.0.0.1 localhost\n", False, ""),
        ("127.0.0.1 localhost\n::1 ip6-localhost localhost # both\n", True, ""),
        ("127.0.0.1 localhost\n#::1 localhost\n", True, "::1 localhost\n"),
        ("", True, "127.0.0.1 localhost\n::1 localhost\n"),
        ("10.0.0.1 box", False, "\n127.0.0.1 localhost\n"),
    ],
    ids=["missing", "without-version-6", "there", "commented-out", "no-file", "no-end-of-line"],
)
def test_localhost_is_named_for_each_version_of_ip(text: str, has_version_6: bool, added: str) -> None:
    assert with_localhost(text, has_version_6=has_version_6) == f"{text}{added}"


def test_no_home_and_nothing_that_grants_anything_is_readable() -> None:
    allowed = readable(["/opt/python"])

    assert "/opt/python" in allowed
    assert not {
        "/",
        "/etc",
        "/home",
        "/root",
        "/var",
        "/run",
        "/etc/shadow",
        "/etc/ssh",
        "/etc/resolv.conf",
    } & set(allowed)
    assert "/etc/resolv.conf" in readable([], has_network=True)


PATHS = st.lists(st.sampled_from(["a", "ab", "b"]), min_size=1, max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)


@given(st.lists(PATHS))
def test_the_outermost_paths_cover_all_and_none_lies_in_another(paths: list[str]) -> None:
    kept = [Path(path) for path in outermost(paths)]

    assert all(any(Path(path).is_relative_to(each) for each in kept) for path in paths)
    assert not any(one != other and one.is_relative_to(other) for one in kept for other in kept)


def verdict_on(instructions: list[Instruction], architecture: int, number: int, *arguments: int) -> int:
    """What the kernel would do with a call: the program, carried out by hand."""
    words = {0: number, 4: architecture, **{16 + 8 * index: word for index, word in enumerate(arguments)}}
    loaded, at = 0, 0
    while True:
        code, yes, no, operand = instructions[at]
        at += 1
        if code == 0x20:
            loaded = words.get(operand, 0)
        elif code == 0x54:
            loaded &= operand
        elif code == 0x06:
            return operand
        else:
            holds = {0x15: loaded == operand, 0x35: loaded >= operand, 0x45: bool(loaded & operand)}[code]
            at += yes if holds else no


ALLOWED, KILLED = 0x7FFF0000, 0x80000000
X86 = 0xC000003E


def failing(code: int) -> int:
    return 0x00050000 | code


@pytest.mark.parametrize(
    ("number", "arguments", "inside", "outside"),
    [
        (0, (), ALLOWED, ALLOWED),
        (101, (), failing(errno.EPERM), failing(errno.EPERM)),
        (56, (0x11,), ALLOWED, ALLOWED),
        (56, (0x10000011,), failing(errno.EPERM), failing(errno.EPERM)),
        (435, (), failing(errno.ENOSYS), failing(errno.ENOSYS)),
        (0x40000000 + 1, (), failing(errno.ENOSYS), failing(errno.ENOSYS)),
        (41, (2, 1), ALLOWED, failing(errno.EACCES)),
        (42, (), ALLOWED, failing(errno.EACCES)),
        (53, (1, 0x80001), ALLOWED, ALLOWED),
        (53, (1, 0x80002), ALLOWED, failing(errno.EACCES)),
        (44, (3, 0, 0, 0, 0), ALLOWED, ALLOWED),
        (44, (3, 0, 0, 0, 0x7F00), ALLOWED, failing(errno.EACCES)),
    ],
    ids=[
        "read",
        "ptrace",
        "fork",
        "namespace",
        "clone3",
        "x32",
        "socket",
        "connect",
        "streams",
        "datagrams",
        "send",
        "send-to",
    ],
)
def test_the_filter_decides_call_by_call(
    number: int, arguments: tuple[int, ...], inside: int, outside: int
) -> None:
    held = program("x86_64", may_have_sockets=True)
    unheld = program("x86_64", may_have_sockets=False)

    assert verdict_on(held, X86, number, *arguments) == inside
    assert verdict_on(unheld, X86, number, *arguments) == outside


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_calls_of_another_processor_end_the_process(machine: str) -> None:
    built = program(machine, may_have_sockets=False)

    assert verdict_on(built, 0x40000003, 0) == KILLED
    assert all(max(yes, no) < 256 for _, yes, no, _ in built)


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_usage_counts_files_and_directories_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/file").write_bytes(bytes(100_000))
    (tmp_path / "link").symlink_to("/")

    found = usage([tmp_path])

    assert found.entries == 3
    assert found.size >= 100_000
    assert usage([tmp_path / "gone"]) == Usage(0, 0)


def test_the_disk_is_counted_when_its_time_comes_and_only_what_is_new(tmp_path: Path) -> None:
    (tmp_path / "before").write_bytes(bytes(10**6))
    clock = Clock()
    limits = Limits(disk_bytes=2 * 2**20, disk_entries=10**9)
    watch = DiskWatch([tmp_path], limits, clock=clock)
    clock.now_s = 2.0

    assert watch.excess() is None
    (tmp_path / "after").write_bytes(bytes(3 * 2**20))
    clock.now_s = 9.0
    assert watch.excess() == "wrote more than 2 MiB to the disk"
