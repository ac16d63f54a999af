"""Programs of this machine that are older than a repository asks for."""

from pathlib import Path

import pytest

from cogworks.services.command.refused_node import refused_node
from cogworks.services.command.toolchains import cannot_read_pattern, too_old
from tests.services.asking import laid_out
from tests.services.command.commanding import ask, needs, report_of
from tests.services.command.test_own_setup import committed


@pytest.mark.parametrize(
    ("manifests", "versions", "told"),
    [
        ({"go.mod": "module x\n\ngo 1.21\n"}, {"go": "1.19.8"}, "go.mod asks for go 1.21 or newer, and this machine has 1.19.8: install Go 1.21 or newer (https://go.dev/dl"),
        ({"go.mod": "module x\n\ngo 1.21.3\n"}, {"go": "1.21.4"}, ""),
        ({"go.mod": "module x\n"}, {"go": "1.19.8"}, ""),
        ({"package.json": '{"engines": {"node": ">=22.12.0"}}'}, {"node": "20.20.2"}, "package.json asks for node 22.12.0 or newer, and this machine has 20.20.2: install Node.js 22.12.0 or newer ("),
        ({"package.json": '{"engines": {"node": ">= 18"}}'}, {"node": "20.20.2"}, ""),
        ({"package.json": '{"engines": {"node": "^18 || >=22"}}'}, {"node": "20.20.2"}, ""),
        ({"package.json": '{"engines": ["node"]}'}, {"node": "4.0.0"}, ""),
        ({"package.json": "["}, {"node": "4.0.0"}, ""),
        ({"package.json": "[]"}, {"node": "4.0.0"}, ""),
    ],
    ids=["go", "go-new-enough", "go-unsaid", "node", "node-new-enough", "node-ranges", "no-engines", "no-json", "a-list"],
)  # fmt: skip
def test_a_program_that_is_older_than_a_manifest_asks_for_is_named(
    manifests: dict[str, str], versions: dict[str, str], told: str
) -> None:
    found = " ".join(too_old(manifests, versions))

    assert found.startswith(told)
    assert bool(found) == bool(told)


@pytest.mark.slow
@needs("go")
@pytest.mark.parametrize("method", ["prepare", "simulate"])
def test_a_setup_that_fails_under_an_older_program_names_the_program(tmp_path: Path, method: str) -> None:
    files = {"go.mod": "module x\n\ngo 1.99.0\n", "a_test.go": "package x\n", "go.sum": "y v1.0.0 h1:A=\n"}
    base = committed(tmp_path / "repository", files)

    error = ask(method, tmp_path / "repository", base=base, settings={"setup": ["go mod download"]}).error

    assert error is not None
    assert "go.mod asks for go 1.99.0 or newer, and this machine has 1." in error.message
    assert "Mend it on the base branch" not in error.message


@pytest.mark.slow
@needs("go")
def test_the_remedy_for_what_a_newer_go_knows_is_a_newer_go(tmp_path: Path) -> None:
    files = {"go.mod": "module x\n\ngo 1.99\n", "a_test.go": "package x\n\nvar a = missing\n"}
    report = report_of(laid_out(tmp_path, files))

    assert report.collection_errors
    assert report.remedies[0].startswith("go.mod asks for go 1.99 or newer, and this machine has 1.")


_YARN = 'error x@1.0.0: The engine "node" is incompatible with this module. Expected version "{}". Got "20.20.2"\nerror Found incompatible module.\n'
_NPM = (
    "npm error engine Unsupported engine\nnpm error notsup Not compatible with your version of node/npm: x@1.0.0\n"
    'npm error notsup Required: {"npm":">=9","node":">=22"}\nnpm error notsup Actual:   {"node":"v20.20.2","npm":"11.19.1"}\n'
)
_RESOLVING = "yarn install v1.22.22\n[1/4] Resolving packages...\n[2/4] Fetching packages...\n"


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        (
            "warn: This version of pnpm requires at least Node.js v22.13\nwarn: The current version of Node.js is v20.20.2\n",
            "The pnpm of this project asks for Node.js 22.13 or newer, and this machine has 20.20.2: install Node.js 22.13 or newer (",
        ),
        (
            'Your Node version is incompatible with "/a/b".\n\nExpected version: >=22\nGot: v20.20.2\n',
            "package.json asks for Node.js 22 or newer, and this machine has 20.20.2: install Node.js 22 or newer (",
        ),
        (
            _NPM,
            "The package `x@1.0.0` asks for Node.js 22 or newer, and this machine has 20.20.2: install Node.js 22 or newer (",
        ),
        (
            f"[1/5] Validating package.json...\n{_YARN.format('>=22')}",
            "package.json asks for Node.js 22 or newer, and this machine has 20.20.2: install Node.js 22 or newer (",
        ),
        (
            f"{_RESOLVING}{_YARN.format('^22.14.0 || >= 24.10.0')}",
            "The package `x@1.0.0` asks for Node.js `^22.14.0 || >= 24.10.0`, and this machine has 20.20.2: install one of those (",
        ),
        ("npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\n", ""),
    ],
    ids=["pnpm-itself", "pnpm", "npm", "yarn-manifest", "yarn-package", "another-error"],
)
def test_an_installation_that_ended_for_the_version_of_node_alone_names_that_version(
    printed: str, says: str
) -> None:
    hint = refused_node(printed, [])

    assert hint.startswith(says)
    assert bool(hint) == bool(says)


def test_a_package_that_yarn_refuses_may_be_installed_unchecked() -> None:
    lines = ['npm install --global --prefix "$HOME/.local" yarn@1', "yarn install --frozen-lockfile"]
    of_package = refused_node(f"{_RESOLVING}{_YARN.format('>=22')}", lines)
    of_manifest = refused_node(f"[1/5] Validating package.json...\n{_YARN.format('>=22')}", lines)

    written = (
        r'setup = ["npm install --global --prefix \"$HOME/.local\" yarn@1", "yarn install --frozen-lockfile '
        r'--ignore-engines"]'
    )
    assert f"If the tests do not need that package, `{written}` under `[environment]`" in of_package
    assert "--ignore-engines" not in of_manifest


def test_a_setup_that_node_is_too_old_for_says_so_instead_of_blaming_the_base_branch(tmp_path: Path) -> None:
    words = f"{_RESOLVING}{_YARN.format('>=22')}"
    base = committed(tmp_path / "repository", {"package.json": "{}", "words": words})
    settings = {"setup": ["cat words; exit 1"]}

    error = ask("prepare", tmp_path / "repository", base=base, settings=settings).error

    assert error is not None
    assert "The package `x@1.0.0` asks for Node.js 22 or newer, and this machine has 20.20.2" in error.message
    assert "Mend it on the base branch" not in error.message


def test_a_node_that_takes_a_pattern_for_the_name_of_a_file_is_too_old() -> None:
    errors = [".: Could not find 'test/**/*.test.mjs'"]
    [hint] = cannot_read_pattern(errors, {"node": "20.20.2"})

    assert hint.startswith(
        "Node.js reads patterns behind `--test` from 21 on, and this machine has 20.20.2: install Node.js 21 or newer ("
    )
    assert cannot_read_pattern(errors, {"node": "22.1.0"}) == ()
    assert cannot_read_pattern(errors, {}) == ()
    assert cannot_read_pattern([".: Could not find 'test/a.mjs'"], {"node": "20.20.2"}) == ()


@pytest.mark.slow
@needs("node")
def test_the_pattern_that_node_could_not_read_is_told_with_the_version_that_can(tmp_path: Path) -> None:
    script = '{"scripts": {"test": "node --test test/**/*.none.mjs"}}'
    report = report_of(laid_out(tmp_path, {"package.json": script, "a.test.js": ""}))
    is_old = int(report.versions["node"].partition(".")[0]) < 21

    assert any("reads patterns" in each for each in report.remedies) == is_old
