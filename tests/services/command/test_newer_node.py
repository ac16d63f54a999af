"""A project that asks for a newer Node.js than this machine has gets one of the npm registry, for its setup and all runs."""

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.services.command.managers import Manager
from cogworks.services.command.newer_node import installing_node, newer_node, node_here, with_node
from tests.services.command.commanding import ask, needs, outcomes, report_of
from tests.services.command.npm_packages import npm_package
from tests.services.command.package_registries import registries_up
from tests.services.command.test_managers import OF_NPM, asked_for, isolated, machine_with, setup_of
from tests.services.command.test_own_setup import prepared


@pytest.mark.parametrize(
    ("engines", "here", "wanted"),
    [
        ("", "20.20.2", ""),
        (">=20.0.0", "20.20.2", ""),
        (">=22", "20.20.2", "^22"),
        (">= 22.12.0", "22.9.1", "^22.12.0"),
        ("^20.19.0 || >=22.12.0", "20.20.2", ""),
        ("^20.19.0 || >=22.12.0", "21.1.0", "^22.12.0"),
        ("^20.19.0 || >=22.12.0", "18.1.0", "^20.19.0"),
        ("22.x", "20.1.0", "^22"),
        ("22.*.*", "22.1.0", ""),
        ("~22.3", "22.4.0", ""),
        ("24 || 26", "20.1.0", "^24"),
        (">=18 <23", "24.1.0", ""),
        ("<20", "24.1.0", ""),
        ("*", "4.1.0", ""),
        ("lts/*", "4.1.0", ""),
        (">=22 || lts/*", "4.1.0", ""),
        ("18 - 20", "16.1.0", "^18"),
        ("22.4.0", "22.3.0", "22.4.0"),
        ("v22.4.0 || 24.1.0", "20.1.0", "22.4.0"),
        ("~22.3", "20.1.0", "~22.3"),
        ("~22.3.1", "20.1.0", "~22.3.1"),
        ("~22", "20.1.0", "^22"),
        ("22.3.x", "20.1.0", "~22.3"),
        (">=22.4.0", "22.3.0", "^22.4.0"),
        (">=22; rm -rf /", "20.1.0", ""),
        (">=22", "", ""),
    ],
)
def test_the_least_of_the_newer_versions_that_a_project_takes_is_wanted(
    engines: str, here: str, wanted: str
) -> None:
    found, who = newer_node(engines, Manager(), here)

    assert found == wanted
    words = f"{wanted[1:]} or newer" if wanted.startswith("^") else wanted
    assert who == (f"package.json asks for Node.js {words}" if wanted else "")


@pytest.mark.parametrize(
    ("version", "engines", "here", "wanted"),
    [
        ("11.13.0", ">=20.0.0", "20.20.2", "^22.13"),
        ("11.13.0", ">=24", "20.20.2", "^24"),
        ("11.13.0", "", "22.13.0", ""),
        ("10.2.0", "", "20.20.2", ""),
        ("10", "", "18.1.0", "^18.12"),
        ("7", "", "18.1.0", ""),
        ("^9", "", "4.1.0", ""),
    ],
)
def test_a_pnpm_starts_under_no_older_node_than_it_knows(
    version: str, engines: str, here: str, wanted: str
) -> None:
    assert newer_node(engines, Manager("pnpm", version), here)[0] == wanted


@pytest.mark.parametrize(
    ("test", "here", "wanted"),
    [
        ("node --test 'test/**/*.js'", "20.20.2", "^22"),
        ('node --import x --test --test-timeout=3 "test/*.js"', "20.20.2", "^22"),
        ("node --test 'test/**/*.js'", "21.0.0", ""),
        ("node --test test/**/*.js", "20.20.2", "^22"),
        ("node --test test/*.js", "20.20.2", ""),
        ("node --test 'test'", "20.20.2", ""),
        ("vitest 'test/*.js'", "20.20.2", ""),
    ],
)
def test_patterns_behind_the_option_for_tests_want_a_node_that_reads_them(
    test: str, here: str, wanted: str
) -> None:
    assert newer_node("", Manager(), here, test=test)[0] == wanted


@given(st.text(max_size=40), st.from_regex(r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}", fullmatch=True))
def test_nothing_but_a_version_gets_into_the_line_of_a_shell(engines: str, here: str) -> None:
    wanted, _ = newer_node(engines, Manager(), here)

    assert set(wanted) <= set("^~.0123456789")


def test_a_node_that_is_asked_for_later_takes_the_place_of_the_one_before() -> None:
    first = with_node(("npm install --global yarn", "yarn"), "^22")

    assert first == (installing_node("^22"), "npm install --global yarn", "yarn")
    assert with_node(first, "^24") == (installing_node("^24"), "npm install --global yarn", "yarn")


def test_a_machine_that_no_node_is_packaged_for_keeps_its_setup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "s390x")

    assert with_node(("npm ci",), "^22") == ("npm ci",)


def test_the_version_here_is_what_the_program_says(tmp_path: Path) -> None:
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    assert node_here(str(bin_)) == ""
    for said, version in (("v20.1.2", "20.1.2"), ("of volta", "")):
        (bin_ / "node").write_text(f"#!/bin/sh\necho {said}\n")
        (bin_ / "node").chmod(0o755)
        os.utime(bin_ / "node", ns=(len(said), len(said)))
        assert node_here(str(bin_)) == version


NEWER = {"name": "shop", "engines": {"node": ">=97.1"}, "devDependencies": {"tape": "^5"}}
MANIFESTS = {"package.json": json.dumps(NEWER), "package-lock.json": "{}"}


@pytest.mark.parametrize(
    ("programs", "lines"),
    [
        (("npm", "git", "node"), (installing_node("^97.1"), "npm ci")),
        (("npm", "git"), ("npm ci",)),
    ],
    ids=["older", "none"],
)
@needs("node", "npm")
def test_a_newer_node_is_installed_before_everything_else(
    programs: tuple[str, ...], lines: tuple[str, ...], tmp_path: Path
) -> None:
    made = setup_of(tmp_path, machine_with(tmp_path, *programs), MANIFESTS)

    assert made.lines == lines
    assert made.why.startswith("package.json asks for Node.js 97.1 or newer, and this machine has ") == (
        len(lines) > 1
    )


TEST = """#!/bin/sh
[ "$1" = "--version" ] && echo v97.1.5 && exit 0
exec OWN "$@"
"""


@pytest.mark.slow
@isolated
@needs("node", "npm")
@pytest.mark.parametrize(
    ("is_there", "runs"),
    [(True, True), (False, False), (True, False)],
    ids=["had", "not had", "does not run"],
)
def test_the_setup_and_all_runs_find_the_newer_node(is_there: bool, runs: bool, tmp_path: Path) -> None:
    package = installing_node("^97.1").partition('" "')[2].partition("@")[0]
    own = os.path.realpath(str(shutil.which("node")))
    program = TEST.replace("OWN", own) if runs else "#!/bin/sh\nexit 1\n"
    served = npm_package(package, "97.1.5", {"bin/node": program}, bin={"node": "bin/node"})
    manifest = {"name": "shop", "engines": {"node": ">=97.1"}, "scripts": {"test": "node --test"}}
    files = {
        "package.json": json.dumps({**manifest, "devDependencies": {"shop-tool": "^1"}}),
        "a.test.js": 'require("node:test")(require("node:child_process").execSync("node --version").toString().trim(), () => {});\n',
    }
    asked = asked_for(tmp_path, files, path=os.environ["PATH"])
    asked.pop("commands")
    tool = npm_package("shop-tool", "1.0.0", {"index.js": ""})
    with registries_up({**(served if is_there else {}), **tool}) as registry:
        settings = {**registry.settings, **OF_NPM}
        made = prepared(tmp_path / "repository", **asked, environment_of_service=settings)
    report = report_of(tmp_path / "repository", **asked, environment_of_service=settings)

    assert made.choices[0].why.startswith("package.json asks for Node.js 97.1 or newer")
    assert [("v97.1.5" in test) for test in outcomes(report)] == [runs]
    assert set(outcomes(report).values()) == {"passed"}


OLDER_ELSEWHERE = """#!/bin/sh
exec OWN --require "$(dirname "$(readlink -f "$0")")/version.cjs" "$@"
"""
VERSION = 'Object.defineProperty(process, "version", { value: "v97.1.5" });\n'


@pytest.mark.slow
@isolated
@needs("node", "npm")
@pytest.mark.parametrize("is_configured", [False, True], ids=["default", "configured"])
def test_a_default_setup_that_was_refused_for_the_version_of_node_alone_is_tried_with_another(
    is_configured: bool, tmp_path: Path
) -> None:
    package = installing_node("^97.1").partition('" "')[2].partition("@")[0]
    program = OLDER_ELSEWHERE.replace("OWN", os.path.realpath(str(shutil.which("node"))))
    node = {"bin/node": program, "bin/version.cjs": VERSION}
    served = npm_package(package, "97.1.5", node, bin={"node": "bin/node"})
    tool = npm_package("shop-tool", "1.0.0", {"index.js": ""}, engines={"node": "^97.1.0"})
    manifest = {"name": "shop", "scripts": {"test": "node --test"}, "devDependencies": {"shop-tool": "^1"}}
    files = {
        "package.json": json.dumps(manifest),
        ".npmrc": "engine-strict=true\n",
        "a.test.js": 'require("node:test")(process.version, () => {});\n',
    }
    asked = asked_for(tmp_path, files, path=os.environ["PATH"])
    asked.pop("commands")
    asked |= {"settings": {"setup": ["npm install"]}} if is_configured else {}
    with registries_up({**served, **tool}) as registry:
        asked["environment_of_service"] = {**registry.settings, **OF_NPM}
        response = ask("prepare", tmp_path / "repository", **asked)
    if is_configured:
        assert response.error is not None
        assert "The package `shop-tool@1.0.0` asks for Node.js `^97.1.0`" in response.error.message
        return
    assert response.error is None
    assert "asks for Node.js `^97.1.0`, and this machine has " in str(response.result)
    assert outcomes(report_of(tmp_path / "repository", **asked)) == {"a.test.js::v97.1.5": "passed"}
