"""What compilers keep for later requests: of one work item or one clone, on one base, and of nobody else."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cogworks.codebase.places import Places
from cogworks.services.command import compiled
from cogworks.services.command.ground import Commands
from tests.limits import ENDS_WITHIN_S, Started
from tests.services.asking import HERE, laid_out
from tests.services.command.commanding import ask, needs, needs_files, outcomes, report_of
from tests.services.command.test_own_setup import committed, git
from tests.services.command.test_simulating import sample

SHELL = Commands(test="sh tests.sh", report="tap", lint="sh lint.sh {files}")
TELLS = {
    # Stands for a compiler: tells what it finds where compilers keep things, and leaves something there.
    "tests.sh": 'echo "ok 1 - found $(ls "$GOCACHE" 2>/dev/null | wc -l)"; echo 1..1; mkdir -p "$GOCACHE" && touch "$GOCACHE/left"\n',
    "lint.sh": 'ls "$GOCACHE" | sed "s/^/a.c:1: /"; false\n',
    "a.c": "",
}
GO = {
    "go.mod": "module example.com/a\n\ngo 1.18\n",
    "a_test.go": 'package a\n\nimport (\n\t"fmt"\n\t"testing"\n)\n\nfunc TestA(t *testing.T) {\n\tfmt.Println("a")\n}\n',
}
GO_FROM_SOURCE = Commands(test="go test -json -count=1 -gcflags=all=-l ./...", report="go-json")
"""With such flags every Go compiles its standard library, as those from 1.20 on always do."""
RUST = {
    "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "a"\nversion = "0.1.0"\n',
    "src/lib.rs": "#[test]\nfn adds() { assert_eq!(1 + 1, 2); }\n",
}
VENDORED = {
    **RUST,
    "Cargo.toml": RUST["Cargo.toml"] + '[dependencies]\ncents = "1"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "a"\nversion = "0.1.0"\ndependencies = ["cents"]\n\n[[package]]\n'
    'name = "cents"\nversion = "1.0.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\n',
    ".cargo/config.toml": '[source.crates-io]\nreplace-with = "v"\n[source.v]\ndirectory = "vendor"\n',
    "vendor/cents/Cargo.toml": '[package]\nname = "cents"\nversion = "1.0.0"\nedition = "2021"\n',
    "vendor/cents/.cargo-checksum.json": '{"files": {}}',
    "vendor/cents/src/lib.rs": "pub fn of(price: i32) -> i32 { price * 100 }\n",
    "src/lib.rs": "#[test]\nfn price() { assert_eq!(cents::of(2), 200); }\n",
}
isolated = pytest.mark.skipif(not HERE.is_complete, reason="no complete isolation on this machine")


@pytest.fixture
def passing(tmp_path: Path) -> Path:
    (tmp_path / "passing").mkdir(mode=0o700)
    return tmp_path / "passing"


def found(repository: Path, **asked: Any) -> int:
    """How much a run found of what earlier ones left."""
    [name] = outcomes(report_of(repository, commands=SHELL, **asked))
    return int(name.rpartition(" ")[2])


def clone(repository: Path, place: Path) -> Path:
    git(repository, "clone", "-q", str(repository), str(place))
    return place


def test_what_one_request_of_a_clone_leaves_the_next_one_finds_and_those_of_its_worktrees(
    tmp_path: Path, passing: Path
) -> None:
    asked: dict[str, Any] = {"base": committed(tmp_path / "r", TELLS), "passing": passing}
    git(tmp_path / "r", "worktree", "add", "-q", "--detach", "../probe")

    assert [found(tmp_path / each, **asked) for each in ("r", "r", "probe")] == [0, 1, 1]
    [kept] = passing.iterdir()
    assert kept.stat().st_mode & 0o777 == 0o700


def test_a_linter_finds_it_as_well(tmp_path: Path, passing: Path) -> None:
    asked: dict[str, Any] = {"base": committed(tmp_path / "r", TELLS), "passing": passing}
    found(tmp_path / "r", **asked)
    answer = ask("validate", tmp_path / "r", commands=SHELL, artifacts=["a.c"], **asked)

    assert [each.message for each in answer.diagnostics if each.category == "style_violation"] == ["left"]


def test_another_base_clone_or_root_finds_nothing_of_it_and_only_the_last_one_is_kept(
    tmp_path: Path, passing: Path
) -> None:
    repository = tmp_path / "r"
    base = committed(repository, {**TELLS, **{f"part/{path}": text for path, text in TELLS.items()}})
    git(repository, "commit", "-q", "--allow-empty", "-m", "y")
    other = git(repository, "rev-parse", "HEAD")
    asked: list[dict[str, Any]] = [{"base": base}, {"base": other}, {"base": base, "root": "part"}]

    assert [found(repository, passing=passing, **each) for each in (*asked, *asked)] == [0] * 6
    assert found(repository, passing=passing, **asked[-1]) == 1
    assert found(clone(repository, tmp_path / "clone"), passing=passing, **asked[-1]) == 0
    assert len(list(passing.iterdir())) == 1


@isolated
def test_nothing_is_kept_behind_required_walls_without_a_base_or_without_git(
    tmp_path: Path, passing: Path
) -> None:
    base = committed(tmp_path / "r", TELLS)
    laid_out(tmp_path / "files", TELLS)
    walls = {"caller": {"needs_walls": True}}

    assert [found(tmp_path / "r", base=base, passing=passing, **walls) for _ in "ab"] == [0, 0]
    assert [found(tmp_path / "r", passing=passing) for _ in "ab"] == [0, 0]
    assert [found(tmp_path / "files", base=base, passing=passing) for _ in "ab"] == [0, 0]
    assert list(passing.iterdir()) == []


def test_a_work_item_has_its_own_and_finds_nothing_of_what_callers_without_one_left(
    tmp_path: Path, passing: Path
) -> None:
    asked: dict[str, Any] = {"base": committed(tmp_path / "r", TELLS), "passing": passing}
    of_item = {"caller": {"work_item_id": 1}, "kept": tmp_path / "kept"}

    assert [found(tmp_path / "r", **asked), found(tmp_path / "r", **asked, **of_item)] == [0, 0]
    assert [found(tmp_path / "r", **asked), found(tmp_path / "r", **asked, **of_item)] == [1, 1]
    assert found(tmp_path / "r", caller={"work_item_id": 2}, **asked) == 0
    assert [len(list(each.iterdir())) for each in (passing, tmp_path / "kept" / "command")] == [1, 1]


def test_what_no_item_used_for_weeks_goes_when_another_one_asks(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"base": committed(tmp_path / "r", TELLS), "kept": tmp_path / "kept"}
    for item in (1, 2):
        found(tmp_path / "r", **asked, caller={"work_item_id": item})
    [used, unused] = sorted(
        each for each in (tmp_path / "kept" / "command").iterdir() if each.name != "locks"
    )
    for place in (used, unused):
        os.utime(place, (0, time.time() - 15 * 86_400))
    (tmp_path / "kept" / "command" / "of somebody else").mkdir()
    os.utime(tmp_path / "kept" / "command" / "of somebody else", (0, 0))
    with Places(tmp_path / "kept" / "command").taken(used, "a test", wait_s=0):
        found(tmp_path / "r", **asked, caller={"work_item_id": 3})

    assert used.is_dir()
    assert not unused.exists()
    assert (tmp_path / "kept" / "command" / "of somebody else").is_dir()


def test_what_an_item_uses_again_after_weeks_is_in_use(tmp_path: Path) -> None:
    asked: dict[str, Any] = {
        "base": committed(tmp_path / "r", TELLS), "kept": tmp_path / "kept", "caller": {"work_item_id": 1}
    }  # fmt: skip
    found(tmp_path / "r", **asked)
    [place] = (each for each in (tmp_path / "kept" / "command").iterdir() if each.name != "locks")
    os.utime(place, (0, time.time() - 13 * 86_400))

    found(tmp_path / "r", **asked)

    assert time.time() - place.stat().st_mtime < 86_400


def test_of_more_than_the_limit_nothing_stays(
    tmp_path: Path, passing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = committed(
        tmp_path / "r", {**TELLS, "tests.sh": TELLS["tests.sh"] + 'seq 100000 > "$GOCACHE/left"\n'}
    )
    monkeypatch.setattr(compiled, "MOST_BYTES", 100_000)

    assert [found(tmp_path / "r", base=base, passing=passing) for _ in "ab"] == [0, 0]


@pytest.mark.slow
@needs("go")
def test_the_second_request_does_not_compile_the_standard_library_of_go_again(
    tmp_path: Path, passing: Path
) -> None:
    base = committed(tmp_path / "r", GO)
    counts = []
    for _ in "ab":
        assert report_of(tmp_path / "r", commands=GO_FROM_SOURCE, base=base, passing=passing).passed
        counts.append(sum(1 for _ in passing.glob("*/go-build/*/*-d")))

    assert counts[0] > 50
    # The module itself lies in another copy each time.
    assert counts[1] - counts[0] < 15


@pytest.mark.slow
@needs("cargo", "rustc")
@pytest.mark.parametrize("caller", [{}, {"work_item_id": 1}], ids=["clone", "item"])
def test_a_crate_is_built_anew_though_its_files_are_older_than_what_was_built_of_a_worktree(
    caller: dict[str, Any], tmp_path: Path, passing: Path
) -> None:
    repository, probe = tmp_path / "r", tmp_path / "probe"
    asked: dict[str, Any] = {
        "base": committed(repository, RUST),
        "passing": passing,
        "kept": tmp_path / "kept",
        "caller": caller,
    }
    git(repository, "worktree", "add", "-q", "--detach", str(probe))
    laid_out(probe, {"src/lib.rs": RUST["src/lib.rs"].replace("2)", "3)")})

    test = "src/lib.rs::adds"
    assert outcomes(report_of(probe, **asked)) == {test: "failed"}
    assert outcomes(report_of(repository, **asked)) == {test: "passed"}
    assert outcomes(report_of(probe, **asked)) == {test: "failed"}


@pytest.mark.slow
@needs("cargo", "rustc")
def test_the_second_request_does_not_compile_the_dependencies_of_a_crate_again(
    tmp_path: Path, passing: Path
) -> None:
    base = committed(tmp_path / "r", VENDORED)

    def built() -> dict[str, list[int]]:
        assert report_of(tmp_path / "r", base=base, passing=passing).passed
        return {name: _times(passing, name) for name in ("libcents-*.rlib", "a-*")}

    first, second = built(), built()
    assert first["libcents-*.rlib"] == second["libcents-*.rlib"] != []
    assert first["a-*"] != second["a-*"]
    assert [each.name for each in passing.iterdir() if each.name == "room"] == []


def _times(passing: Path, name: str) -> list[int]:
    return sorted(each.stat().st_mtime_ns for each in passing.glob(f"*/target/debug/deps/{name}"))


@pytest.mark.slow
@pytest.mark.timeout(300)
@needs("cargo", "rustc")
def test_two_services_that_work_for_one_item_at_once_are_not_told_what_the_other_one_built(
    tmp_path: Path,
) -> None:
    # Each waits in its build until the other one stands there too, or is through.
    waits = 'fn main() { std::thread::sleep(std::time::Duration::from_secs(2)); println!("cargo:rerun-if-changed=build.rs"); }\n'
    repository, probe = tmp_path / "r", tmp_path / "probe"
    base = committed(repository, {**RUST, "build.rs": waits})
    git(repository, "worktree", "add", "-q", "--detach", str(probe))
    laid_out(probe, {"src/lib.rs": RUST["src/lib.rs"].replace("2)", "3)")})
    asked: dict[str, Any] = {"base": base, "kept": tmp_path / "kept", "caller": {"work_item_id": 1}}

    with ThreadPoolExecutor() as threads:
        told = list(threads.map(lambda place: outcomes(report_of(place, **asked)), (repository, probe)))

    assert [list(each.values()) for each in told] == [["passed"], ["failed"]]


@pytest.mark.slow
@pytest.mark.timeout(300)
@needs("gradle", "java")
@needs_files("/usr/share/maven-repo/junit/junit/4.x/junit-4.x.pom")
def test_tests_run_again_though_gradle_is_told_to_keep_how_they_came_out(
    tmp_path: Path, passing: Path
) -> None:
    asks = 'import org.junit.*;\n\npublic class ATest {\n    @Test\n    public void a() { Assert.assertNull(System.getenv("BREAKS")); }\n}\n'
    files = {"gradle.properties": "org.gradle.caching=true\n", "src/test/java/ATest.java": asks}
    base = committed(sample("gradle", tmp_path), files)
    test = "src/test/java/ATest.java::a"

    def outcome(**environment: str) -> str:
        asked: dict[str, Any] = {"base": base, "passing": passing, "environment": environment}
        return outcomes(report_of(tmp_path / "gradle", **asked))[test]

    assert [outcome(), outcome(BREAKS="1")] == ["passed", "failed"]


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + ENDS_WITHIN_S
    while not holds():
        assert time.monotonic() < deadline, "did not come true"
        time.sleep(0.02)


@contextmanager
def running_service(folder: Path) -> Iterator[tuple["Started[str]", Path]]:
    """A service as a process, and its temporary folder."""
    temporary, place = folder / "t", folder / "s"
    temporary.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "cogworks", "service", "command", "--until-stdin-closes", "--test=sh tests.sh"]  # fmt: skip
    with Started(
        [*command, "--report=tap", "--socket", str(place)],
        stdin=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
        start_new_session=True,
    ) as process:
        until(lambda: listens(place))
        try:
            yield process, temporary
        finally:
            process.kill()
    place.unlink(missing_ok=True)


def listens(place: Path) -> bool:
    """Whether somebody answers there: a socket is there before it listens."""
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(str(place)) == 0


def request(repository: Path, base: str) -> bytes:
    about = {"path": str(repository), "base": base}
    return json.dumps({"request_id": "1", "method": "simulate", "repository": about}).encode() + b"\n"


def left_in(temporary: Path) -> list[Path]:
    return list(temporary.glob("cogworks-kept-*/*/go-build/left"))


@pytest.mark.parametrize("end", ["SIGTERM", "stdin closed", "SIGTERM in a run", "stdin closed in a run"])
def test_it_is_gone_with_the_process(end: str, tmp_path: Path) -> None:
    waits = "sleep 300\n" if end.endswith("in a run") else ""
    base = committed(tmp_path / "r", {**TELLS, "tests.sh": TELLS["tests.sh"] + waits})
    with running_service(tmp_path) as (process, temporary), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(tmp_path / "s"))
        connection.sendall(request(tmp_path / "r", base))
        if not waits:
            with connection.makefile("rb") as answers:
                assert b"found 0" in answers.readline()
        until(lambda: left_in(temporary))
        [folder] = temporary.glob("cogworks-kept-*")
        assert folder.stat().st_mode & 0o777 == 0o700

        if end.startswith("SIGTERM"):
            process.send_signal(signal.SIGTERM)
        else:
            assert process.stdin is not None
            process.stdin.close()
        process.wait(ENDS_WITHIN_S)
        assert not folder.exists()


def test_what_a_killed_process_left_goes_when_the_next_one_begins(tmp_path: Path) -> None:
    base = committed(tmp_path / "r", TELLS)
    with running_service(tmp_path) as (process, temporary), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(tmp_path / "s"))
        connection.sendall(request(tmp_path / "r", base))
        until(lambda: left_in(temporary))
        [left] = temporary.glob("cogworks-kept-*")
        process.kill()
        process.wait(ENDS_WITHIN_S)
        assert left.exists()
    with running_service(tmp_path):
        assert not left.exists()
