"""What `doctor` says of who holds the limits of a run, on a machine whose kernel shows control groups as this file writes them."""

from pathlib import Path

import pytest

from cogworks.cli.doctor import isolation_check
from cogworks.services.sandbox import control_groups
from cogworks.services.sandbox.isolation import Isolation

COMPLETE = Isolation("namespaces", landlock_abi=7, is_filtered=True)
SLICE = "user.slice/user-1000.slice"


def machine(folder: Path, *, lent: str, groups: str = f"0::/{SLICE}/session-1.scope\n") -> tuple[Path, Path]:
    """What the kernel shows of a process in a session, and the group above its own; everything above lends nothing on."""
    process, root = folder / "proc", folder / "cgroup"
    above = root / SLICE
    (above / "session-1.scope").mkdir(parents=True)
    for group in (root, root / "user.slice", above):
        (group / "cgroup.subtree_control").write_text(lent if group == above else "cpu\n")
        (group / "cgroup.subtree_control").chmod(0o400)
    process.mkdir()
    (process / "cgroup").write_text(groups)
    (process / "mountinfo").write_text(f"24 18 0:22 / {root} rw,nosuid - cgroup2 cgroup2 rw\n")
    return process, above


def told(process: Path, problem: str | None = None) -> tuple[str, str, tuple[str, ...]]:
    """The status, the line about limits, and the layers that are told."""
    found = control_groups.find(lambda _: problem, process=process)
    check = isolation_check(COMPLETE._replace(group=found.place, ungrouped=found.lacking))
    first, limits = check.found.splitlines()
    return check.status, limits, tuple(first.partition(": ")[2].split(", "))


def test_a_group_that_can_be_had_is_named_with_what_it_limits(tmp_path: Path) -> None:
    process, above = machine(tmp_path, lent="cpu memory pids\n")

    status, limits, layers = told(process)

    assert status == "ok"
    assert limits == (
        f"memory and threads of a run are limited by a control group in {above}; processes and disk are checked many "
        "times a second"
    )
    assert layers[-1] == "a control group"


@pytest.mark.parametrize(
    ("lent", "groups", "problem", "why"),
    [
        ("memory pids\n", f"0::/{SLICE}/session-1.scope\n", "a trial in a group ended with 1", "a trial in a group ended with 1. Start"),
        ("memory pids\n", "4:memory:/\n", None, "no group of version 2 can be seen. Boot"),
    ],
    ids=["the-trial-failed", "version-1-alone"],
)  # fmt: skip
def test_without_a_group_it_says_why_and_what_to_do_and_is_still_well(
    tmp_path: Path, lent: str, groups: str, problem: str | None, why: str
) -> None:
    process, _ = machine(tmp_path, lent=lent, groups=groups)

    status, limits, layers = told(process, problem)

    assert status == "ok"
    counted = (
        "memory, processes and disk of a run are checked many times a second; no control group limits them"
    )
    assert limits.startswith(f"{counted}: {why} ")
    assert layers[-1] == "resource limits"
