"""The package manager that only a lock file asks for: one that reads it is installed where this machine has none."""

import json
from pathlib import Path

import pytest

from cogworks.domain_services.messages import ErrorCode
from cogworks.services.command.ground import Commands
from cogworks.services.command.managers import installing_line
from cogworks.services.command.recipes import recipe_of
from tests.services.command.commanding import ask, outcomes, report_of
from tests.services.command.package_registries import registries_up
from tests.services.command.test_managers import (
    LOCK,
    MIXED,
    OF_NPM,
    asked_for,
    is_mixed,
    isolated,
    machine_with,
    path_without,
    served,
    setup_of,
)  # fmt: skip
from tests.services.command.test_own_setup import prepared

NINE = "lockfileVersion: '9.0'\n"


def locked(lock: str, text: str, **engines: str) -> dict[str, str]:
    """The files of a project that pins nothing."""
    manifest = {"name": "shop", "devDependencies": {"tape": "^5"}, "engines": engines}
    return {"package.json": json.dumps(manifest), lock: text}


# As real versions of pnpm install with `--frozen-lockfile` from each format.
@pytest.mark.parametrize(
    ("text", "package"),
    [
        ("lockfileVersion: '9.0'\n\nsettings:\n", "pnpm@10"),
        ("lockfileVersion: '9.1'\n", "pnpm@10"),
        ("lockfileVersion: '6.0'\n", "pnpm@8"),
        ("lockfileVersion: '6.1'\r\n", "pnpm@8"),
        ("lockfileVersion: 5.4\n", "pnpm@7"),
        ("lockfileVersion: 5.3\n", "pnpm@7"),
        ("lockfileVersion: 5\n", "pnpm@7"),
        ("lockfileVersion: '12.0'\n", "pnpm@11"),
        ("lockfileVersion: x; touch /tmp/x\n", "pnpm@10"),
        ("lockfileVersion: ٩.0\n", "pnpm@10"),
        ("", "pnpm@10"),
    ],
)
def test_the_format_of_the_lock_file_decides_which_pnpm_can_read_it(text: str, package: str) -> None:
    line, manager = installing_line({}, {"pnpm-lock.yaml": text})

    assert (line, manager.package) == ("pnpm install --frozen-lockfile", package)


def test_a_format_that_nobody_here_knows_is_told() -> None:
    _, manager = installing_line({}, {"pnpm-lock.yaml": "lockfileVersion: '12.0'\n"})

    assert manager.reason == "`pnpm-lock.yaml` (format 12.0, newer than any that is known here) asks for pnpm"


# pnpm refuses a project whose `engines` it does not fit.
@pytest.mark.parametrize(
    ("engines", "package"),
    [
        ("^9", "pnpm@^9"),
        ("~9.1.0", "pnpm@~9.1.0"),
        ("9.x", "pnpm@9.x"),
        ("9.1.2", "pnpm@9.1.2"),
        (">=8", "pnpm@10"),
        ("9 || 10", "pnpm@10"),
        ("^9; touch /tmp/x", "pnpm@10"),
        ([9], "pnpm@10"),
    ],
)
def test_a_plain_range_of_engines_says_which_pnpm(engines: object, package: str) -> None:
    _, manager = installing_line(
        {"engines": {"pnpm": engines}}, {"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}
    )

    assert manager.package == package
    assert (" wants " in manager.reason) == (package != "pnpm@10")
    assert installing_line({"engines": [engines]}, {"pnpm-lock.yaml": ""})[1].package == "pnpm@10"


@pytest.mark.parametrize(
    ("text", "rc", "package", "starter"),
    [
        (LOCK, "", "@yarnpkg/cli-dist@4", "yarn "),
        (LOCK, "nodeLinker: node-modules\n", "@yarnpkg/cli-dist@4", ""),
        ("# yarn lockfile v1\n\n", "", "yarn@1", ""),
        ("", "", "yarn@1", ""),
        (LOCK, "yarnPath: .yarn/releases/yarn-3.6.0.cjs\n", "@yarnpkg/cli-dist@4", "yarn "),
        ("# yarn lockfile v1\n", "yarnPath: .yarn/releases/yarn-1.22.19.cjs\n", "yarn@1", ""),
    ],
)
def test_a_lock_file_of_yarn_says_by_its_form_which_yarn_and_what_starts_runners(
    text: str, rc: str, package: str, starter: str
) -> None:
    manifest = {"devDependencies": {"vitest": "^1"}}
    recipe = recipe_of({"package.json": json.dumps(manifest), "yarn.lock": text, ".yarnrc.yml": rc})

    assert recipe.manager.package == package
    assert recipe.test.startswith(f"{starter}vitest")


def test_packages_that_lie_there_already_are_started_without_the_yarn_that_a_lock_file_asks_for() -> None:
    manifest = json.dumps({"devDependencies": {"vitest": "^1"}})
    recipe = recipe_of({"package.json": manifest, "yarn.lock": LOCK, "node_modules": ""})

    assert recipe.test.startswith("vitest")


@pytest.mark.parametrize(
    ("machine", "files", "lines", "why"),
    [
        (
            {},
            locked("pnpm-lock.yaml", NINE),
            ('npm install --global --prefix "$HOME/.local" pnpm@10', "pnpm install --frozen-lockfile"),
            "`pnpm-lock.yaml` (format 9.0) asks for pnpm, and this machine has none",
        ),
        ({"pnpm": "6.0.0"}, locked("pnpm-lock.yaml", NINE), ("pnpm install --frozen-lockfile",), ""),
        (
            {},
            locked("pnpm-lock.yaml", NINE, pnpm="^9"),
            ('npm install --global --prefix "$HOME/.local" pnpm@^9', "pnpm install --frozen-lockfile"),
            "`pnpm-lock.yaml` (format 9.0, `engines` wants ^9) asks for pnpm, and this machine has none",
        ),
        (
            {},
            locked("yarn.lock", LOCK),
            (
                'npm install --global --prefix "$HOME/.local" @yarnpkg/cli-dist@4',
                "yarn install --immutable",
            ),
            "`yarn.lock` (format of Yarn 2 and newer) asks for yarn, and this machine has none",
        ),
        # Yarn 1 would take `--immutable` for leave to write another lock file.
        ({"yarn": "1.22.22"}, locked("yarn.lock", LOCK), ("yarn install --frozen-lockfile",), ""),
        (
            {},
            locked("yarn.lock", "# yarn lockfile v1\n"),
            ('npm install --global --prefix "$HOME/.local" yarn@1', "yarn install --frozen-lockfile"),
            "`yarn.lock` (format of Yarn 1) asks for yarn, and this machine has none",
        ),
    ],
    ids=["pnpm", "pnpm here", "pnpm by engines", "yarn", "yarn here", "yarn 1"],
)
def test_what_only_a_lock_file_asks_for_is_installed_where_this_machine_has_none(
    machine: dict[str, str], files: dict[str, str], lines: tuple[str, ...], why: str, tmp_path: Path
) -> None:
    path = machine_with(tmp_path, "npm", "git", **machine)
    setup = setup_of(tmp_path, path, files)

    assert (setup.lines, setup.why) == (lines, why)
    assert setup.brings == ("" if machine else lines[1].partition(" ")[0])


def test_without_npm_the_lock_file_that_asks_is_named_with_both_ways_to_go_on(tmp_path: Path) -> None:
    path = machine_with(tmp_path, "git", "node")
    asked = asked_for(tmp_path, locked("pnpm-lock.yaml", NINE), path=path)
    asked["commands"] = Commands(test="pnpm told", report="tap")
    refused = ask("prepare", tmp_path / "repository", **asked).error

    assert refused is not None
    assert refused.code == ErrorCode.TOOL_NOT_FOUND
    assert refused.message == (
        "`pnpm-lock.yaml` (format 9.0) asks for `pnpm`, not on this machine's PATH: install pnpm (`npm install --global pnpm`, "
        "`pnpm/action-setup`). Or install Node.js with npm (https://nodejs.org, `actions/setup-node`): by npm the setup "
        "installs `pnpm@10` itself."
    )


@pytest.mark.slow
@isolated
@pytest.mark.skipif(is_mixed("pnpm"), reason=MIXED)
def test_a_pnpm_that_only_the_lock_file_asks_for_is_installed_by_npm_and_found_offline_by_every_run(
    tmp_path: Path,
) -> None:
    asked = asked_for(tmp_path, locked("pnpm-lock.yaml", NINE), path=path_without("pnpm"))
    asked["commands"] = Commands(test="pnpm told", report="tap")
    with registries_up(served("pnpm", "10.99.1")) as registry:
        settings = {**registry.settings, **OF_NPM}
        told = prepared(tmp_path / "repository", **asked, environment_of_service=settings)

    assert [each.what for each in told.choices][:2] == [
        'setup `npm install --global --prefix "$HOME/.local" pnpm@10`',
        "setup `pnpm install --frozen-lockfile`",
    ]
    report = report_of(tmp_path / "repository", **asked, environment_of_service=settings)
    [(test, outcome)] = outcomes(report).items()
    assert test.startswith(".::10.99.1 install --frozen-lockfile ")
    assert outcome == "passed"
