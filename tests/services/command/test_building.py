"""Tests that are run from what a build makes begin with that build, as the project's own workflow does."""

import json
from pathlib import Path

import pytest

from cogworks.services.command.recipe import Recipe
from cogworks.services.command.recipes import recipe_of
from tests.services.asking import laid_out
from tests.services.command.commanding import needs, outcomes, report_of

CI = ".github/workflows/ci.yml"
MOCHA = 'mocha "out/**/*.spec.js"'
WORKFLOW = """jobs:
  lint:
    steps:
      - uses: actions/checkout@v4
      - run: npm run build:docs
      - run: npm run lint
  test:
    steps:
      - uses: actions/checkout@v4
      - run: npm ci
      - name: Compile
        run: npm run compile
      - run: npm test
"""


def of(scripts: dict[str, str], workflow: str = "", *, folders: tuple[str, ...] = ("src",)) -> Recipe:
    texts = {"package.json": json.dumps({"scripts": scripts}), **dict.fromkeys(folders, "")}
    return recipe_of({**texts, CI: workflow} if workflow else texts)


def begins_with(recipe: Recipe) -> str:
    return recipe.test.partition("mocha")[0]


def test_the_script_that_a_workflow_runs_before_the_tests_comes_before_them_here() -> None:
    scripts = {"test": MOCHA, "build": "tsc -b all", "compile": "tsc", "build:docs": "typedoc"}
    recipe = of(scripts, WORKFLOW)

    assert begins_with(recipe) == "tsc && "
    assert recipe.notes == (
        f"`out/` is not in the repository, so the tests begin with the script `compile`, as in `{CI}`",
    )


def test_without_a_workflow_a_script_that_builds_and_does_not_test_is_taken_by_its_name() -> None:
    assert begins_with(of({"test": MOCHA, "build": "tsc -b"})) == "tsc -b && "
    assert begins_with(of({"test": MOCHA, "build": "npm test", "compile": "tsc"})) == "tsc && "


@pytest.mark.parametrize(
    ("script", "folders"),
    [
        (MOCHA, ("src", "out")),
        ("mocha", ("src",)),
        ("mocha ../x/a.js ./node_modules/y/*.js", ("src",)),
        ("mocha -r ts-node/register test/*.ts", ("src", "test")),
        ("mocha --require @babel/register --import tsx/esm test", ("src", "test")),
        ("mocha --loader ts-node/esm --config @acme/mocha/rc.json test", ("src", "test")),
        (f"babel src -d out && {MOCHA}", ("src",)),
        ("./check.sh out/x", ("src",)),
    ],
    ids=[
        "it-is-there",
        "no-place",
        "elsewhere",
        "required",
        "scoped",
        "loaded",
        "built-already",
        "unknown-runner",
    ],
)
def test_nothing_is_built_for_tests_that_lack_nothing(script: str, folders: tuple[str, ...]) -> None:
    recipe = of({"test": script, "compile": "tsc"}, WORKFLOW, folders=folders)

    assert "tsc" not in recipe.test
    assert not recipe.notes


def test_a_job_that_does_not_test_tells_nothing_of_the_build() -> None:
    workflow = WORKFLOW.replace("npm run compile", "npm run lint")
    recipe = of({"test": MOCHA, "build:docs": "typedoc", "lint": "eslint ."}, workflow)

    assert begins_with(recipe) == ""


@pytest.mark.slow
@needs("node")
def test_each_test_of_a_build_has_the_file_of_its_source(tmp_path: Path) -> None:
    """The runner is one that takes what mocha takes, so that nothing has to be installed."""
    compiling = "mkdir -p out && cp src/a.spec.ts out/a.spec.js"
    mocha = """#!/usr/bin/env node
const fs = require("fs");
const Reporter = require(process.argv[process.argv.indexOf("--reporter") + 1]);
const handlers = {};
new Reporter({ on: (name, handle) => (handlers[name] = handle) });
for (const each of process.argv.slice(2).filter((word) => word.endsWith(".js")))
  handlers.pass({ title: "it", file: fs.realpathSync(each) });
"""
    package = {"scripts": {"test": "mocha out/*.js", "compile": compiling}, "devDependencies": {}}
    files = {
        "package.json": json.dumps(package),
        "src/a.spec.ts": "",
        CI: WORKFLOW,
        "node_modules/.bin/mocha": mocha,
    }
    folder = laid_out(tmp_path, files)
    (folder / "node_modules/.bin/mocha").chmod(0o755)

    assert outcomes(report_of(folder)) == {"src/a.spec.ts::it": "passed"}
    assert outcomes(report_of(folder, tests=("src/a.spec.ts",))) == {"src/a.spec.ts::it": "passed"}
