"""The setup of a repository in any language: once, from the base, with what it made laid into every run."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.checking import Prepared
from cogworks.domain_services.messages import ErrorCode
from cogworks.services.command.ground import Commands
from cogworks.wiring.services import repository_settings
from tests import registries
from tests.limits import ENDS_WITHIN_S
from tests.services.asking import HERE, laid_out
from tests.services.command.commanding import ask, needs, outcomes, report_of

pytestmark = pytest.mark.skipif(not HERE.is_complete, reason="no complete isolation on this machine")
SHELL = Commands(test="sh tests.sh", report="tap")
TOLD = 'echo "ok 1 - $(cat made) $(cat ~/kept)"; echo 1..1\n'
TWICE = ["date +%s%N > made", "cat made > ~/kept"]
PACKAGES = [
    "mkdir -p node_modules/a node_modules/z b/node_modules/c && echo 1 | tee node_modules/a/index b/node_modules/c/index",
    "ln -s ../a node_modules/z/a && mkdir ~/lib && echo 1 > ~/lib/x",
]
CHANGES = """told() { if eval "$2"; then echo "ok - $1"; else echo "not ok - $1"; fi; }
told installed '[ "$(cat node_modules/a/index b/node_modules/c/index | tr -d "\\n")" = 11 ] && [ ! -e node_modules/.cache ]'
mkdir -p node_modules/.cache node_modules/.vite/temporary
echo 2 | tee node_modules/.cache/x node_modules/a/index > b/node_modules/c/index
told written '[ "$(cat node_modules/.cache/x node_modules/z/a/index b/node_modules/c/index | tr -d "\\n")" = 222 ]'
told moved 'mv node_modules/.vite/temporary node_modules/.vite/deps && mv node_modules/a/index node_modules/a/other'
told gone 'rm -r node_modules/z && [ ! -e node_modules/z ]'
told "$(stat -f -c %T node_modules | grep overlayfs || echo its own)" true
told home '[ "$(cat ~/lib/x)" = 1 ] && echo 2 > ~/lib/x && [ "$(cat ~/lib/x)" = 2 ]'
echo 1..6
"""
PACKAGE = '{"name": "x", "version": "1.0.0", "type": "module", "scripts": {"test": "node --test"}%s}'
USES = 'import ms from "ms";\nimport { test } from "node:test";\ntest("a day", () => { if (ms("1d") !== 86400000) throw new Error(); });\n'


def git(folder: Path, *words: str) -> str:
    own = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    done = subprocess.run(["git", *own, *words], cwd=folder, check=True, text=True, capture_output=True, timeout=ENDS_WITHIN_S)  # fmt: skip
    return done.stdout.strip()


def committed(folder: Path, files: dict[str, str]) -> str:
    """The commit of these files, the first of a repository."""
    laid_out(folder, dict(files))
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "x")
    return git(folder, "rev-parse", "HEAD")


def prepared(folder: Path, **asked: Any) -> Prepared:
    response = ask("prepare", folder, **asked)
    assert response.error is None, response.error
    return Prepared.model_validate(response.result)


def test_a_setup_runs_once_and_every_run_finds_what_it_left_in_copy_and_home(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    base = committed(repository, {"tests.sh": TOLD, "a.c": ""})
    asked: dict[str, Any] = {
        "commands": SHELL,
        "kept": tmp_path / "kept",
        "base": base,
        "settings": {"setup": TWICE},
    }
    first = outcomes(report_of(repository, **asked))
    laid_out(repository, {"a.c": "changed", "package.json": "{}"})

    assert list(first.values()) == ["passed"]
    assert len(next(iter(first)).split()) == 2
    assert outcomes(report_of(repository, **asked)) == first
    assert not (repository / "made").exists()
    again = prepared(repository, **asked)
    assert again.is_reused
    assert [each.what for each in again.choices][:2] == [f"setup `{line}`" for line in TWICE]
    other = {**asked, "settings": {"setup": [*TWICE, "true"]}}
    assert not prepared(repository, **other).is_reused
    assert prepared(repository, **other).key != again.key


@pytest.mark.slow
def test_the_script_and_the_setup_of_services_toml_are_run_too(tmp_path: Path) -> None:
    repository = laid_out(tmp_path, {"tests.sh": TOLD})
    script = {"setup_script": "#!/bin/sh\r\necho a > made; echo b > ~/kept\r\n"}
    by_script = report_of(repository, commands=SHELL, settings=script)
    by_table = report_of(repository, commands=SHELL._replace(setup=("echo a > made; echo c > ~/kept",)))

    assert outcomes(by_script) == {".::a b": "passed"}
    assert "line ends of Windows" in by_script.remedies[0]
    assert outcomes(by_table) == {".::a c": "passed"}


@pytest.mark.slow
def test_a_setup_works_on_the_base_and_never_on_what_a_change_made_of_it(tmp_path: Path) -> None:
    base = committed(tmp_path, {"tests.sh": TOLD, "source": "base\n"})
    laid_out(tmp_path, {"source": "changed\n"})
    setup = {"setup": ["cat source > made; echo kept > ~/kept"]}

    assert outcomes(report_of(tmp_path, commands=SHELL, base=base, settings=setup)) == {
        ".::base kept": "passed"
    }


@pytest.mark.slow
def test_a_setup_of_one_project_of_several_starts_in_its_folder(tmp_path: Path) -> None:
    base = committed(tmp_path, {"web/tests.sh": TOLD, "api/a.x": ""})
    setup = {"setup": ["echo here > made; echo home > ~/kept; echo top > ../api/made"]}
    report = report_of(tmp_path, commands=SHELL, base=base, root="web", settings=setup)

    assert outcomes(report) == {"web::here home": "passed"}


@pytest.mark.slow
def test_what_a_setup_made_is_laid_through_no_link_of_the_repository(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    repository = tmp_path / "repository"
    base = committed(repository, {"tests.sh": TOLD})
    (repository / "node_modules").symlink_to(outside)
    setup = {"setup": ["mkdir node_modules; echo x > node_modules/x; echo a > made; echo b > ~/kept"]}
    report = report_of(repository, commands=SHELL, base=base, settings=setup)

    assert outcomes(report) == {".::a b": "passed"}
    assert list(outside.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("lays_over", [False, HERE.lays_over])
def test_what_a_run_changes_of_packages_is_its_own_and_never_the_next_one_s(
    tmp_path: Path, *, lays_over: bool
) -> None:
    repository = tmp_path / "repository"
    base = committed(repository, {"tests.sh": CHANGES, "b/b.c": ""})
    asked: dict[str, Any] = {
        "commands": SHELL,
        "kept": tmp_path / "kept",
        "base": base,
        "settings": {"setup": PACKAGES},
        "isolation": HERE._replace(lays_over=lays_over),
    }
    first, second = (report_of(repository, **asked) for _ in range(2))

    shown = "overlayfs" if lays_over else "its own"
    found = ["installed", "written", "moved", "gone", shown, "home"]
    assert outcomes(first) == {f".::{name}": "passed" for name in found}
    assert outcomes(second) == outcomes(first)
    assert not (repository / "node_modules").exists()


def test_checking_files_runs_no_setup(tmp_path: Path) -> None:
    laid_out(tmp_path, {"a.c": "int x;\n"})
    commands = Commands(test="true", setup=("false",), lint="true {files}")

    assert ask("validate", tmp_path, commands=commands, artifacts=["a.c"]).error is None


@pytest.mark.slow
def test_a_setup_that_fails_refuses_the_run_with_the_file_that_says_it(tmp_path: Path) -> None:
    commands = SHELL._replace(setup=("echo no >&2; exit 3",))
    error = ask("simulate", laid_out(tmp_path, {"tests.sh": TOLD}), commands=commands).error

    assert error is not None
    assert error.code is ErrorCode.TOOL_FAILED
    assert (
        "the setup `echo no >&2; exit 3` (1 of 1 in `.cogworks/services.toml`) ended with 3" in error.message
    )


@pytest.mark.slow
def test_a_setup_of_an_item_that_needs_walls_is_not_run_without_them(tmp_path: Path) -> None:
    settings = {"setup": ["echo a > made; echo b > ~/kept"]}
    caller = {"needs_walls": True}

    assert ask("simulate", laid_out(tmp_path, {"tests.sh": TOLD}), commands=SHELL, settings=settings, caller=caller).error is None  # fmt: skip


@pytest.mark.slow
@needs("node", "npm")
def test_packages_of_npm_come_through_the_door_once_and_are_there_without_a_network(tmp_path: Path) -> None:
    registries.need(registries.NPM)
    repository = tmp_path / "repository"
    wanted = ', "dependencies": {"ms": "2.1.3"}'
    base = committed(repository, {"package.json": PACKAGE % wanted, "test/day.test.js": USES})
    report = report_of(repository, kept=tmp_path / "kept", base=base)
    told = prepared(repository, kept=tmp_path / "kept", base=base)

    assert outcomes(report) == {"test/day.test.js::a day": "passed"}
    assert ("setup `npm install`", "package.json") in [(each.what, each.source) for each in told.choices]
    assert told.is_reused
    assert told.disk_bytes > 0
    # What a change asks for is not installed before it is on the base.
    laid_out(repository, {"package.json": PACKAGE % ', "dependencies": {"no-such-package-of-cogworks": "1"}'})
    assert outcomes(report_of(repository, kept=tmp_path / "kept", base=base)) == outcomes(report)


@pytest.mark.slow
@needs("npm")
def test_a_package_that_npm_does_not_know_is_told_in_its_words(tmp_path: Path) -> None:
    registries.need(registries.NPM)
    wanted = ', "dependencies": {"ms": "999.0.0"}'
    laid_out(tmp_path, {"package.json": PACKAGE % wanted, "test/day.test.js": USES})
    error = ask("simulate", tmp_path).error

    assert error is not None
    assert "the setup `npm install` (1 of 1 in `package.json`) ended with 1" in error.message
    assert "ms@999.0.0" in error.message


@pytest.mark.slow
def test_a_setup_in_config_toml_is_run(tmp_path: Path) -> None:
    config = '[environment]\nsetup = ["echo a > made; echo b > ~/kept"]\n'
    settings = repository_settings({"config.toml": config}).model_dump()

    assert outcomes(report_of(laid_out(tmp_path, {"tests.sh": TOLD}), commands=SHELL, settings=settings)) == {
        ".::a b": "passed"
    }
