"""How many cores a process may use, and how many processes follow from it."""

import os
from pathlib import Path

import pytest

from cogworks import cores as cores_module
from cogworks.cores import cores, most_processes
from tests.services.asking import laid_out

HERE = len(os.sched_getaffinity(0))


def allowed(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(count)))


@pytest.mark.parametrize(
    ("groups", "files", "count"),
    [
        ("0::/\n", {}, 64),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n"}, 64),
        ("0::/a/b\n", {"a/b/cpu.max": "150000 100000\n"}, 2),
        ("0::/a/b\n", {"a/cpu.max": "400000 100000\n", "a/b/cpu.max": "max 100000\n"}, 4),
        ("0::/a/b\n", {"cpu.max": "300000 100000\n"}, 3),
        ("0::/\n", {"cpu.max": "10000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "nonsense\n"}, 64),
        ("4:cpu,cpuacct:/a\n", {"cpu,cpuacct/a/cpu.cfs_quota_us": "200000\n", "cpu,cpuacct/a/cpu.cfs_period_us": "100000\n"}, 2),
        ("4:cpu:/of/the/host\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 64),
        ("4:memory:/a\n", {"memory/a/cpu.max": "100000 100000\n"}, 64),
    ],
)  # fmt: skip
def test_a_quota_is_fewer_cores(
    groups: str, files: dict[str, str], count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed(monkeypatch, 64)
    laid_out(tmp_path, {"groups": groups, **{f"mounted/{name}": text for name, text in files.items()}})

    assert cores(tmp_path / "groups", tmp_path / "mounted") == count


def test_where_no_group_is_told_the_affinity_counts(tmp_path: Path) -> None:
    assert cores(tmp_path / "none", tmp_path / "none") == HERE


def test_the_limit_of_processes_follows_what_may_be_used_and_not_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 512)
    assert most_processes() == max(256, 16 * cores())
    os_default = cores_module.cores.__defaults__
    monkeypatch.setattr(cores_module.cores, "__defaults__", (tmp_path / "none", tmp_path / "none"))
    assert os_default is not None
    for count, limit in ((2, 256), (16, 256), (64, 1024)):
        allowed(monkeypatch, count)
        assert most_processes() == limit
