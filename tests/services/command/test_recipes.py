"""Which commands the manifests of a repository make."""

import json
import re
import shlex
from pathlib import Path

import pytest

from cogworks.services.command.ground import Commands, recipe_at, with_commands
from cogworks.services.command.recipe import Recipe
from cogworks.services.command.recipes import recipe_of, wanted_texts, with_line
from cogworks.wiring.services import configured_words
from tests.services.asking import laid_out

DOCUMENTED = Path(__file__).parents[3] / "docs/environments.md"


def of_package(script: str | None = None, *, names: tuple[str, ...] = (), **packages: str) -> Recipe:
    manifest = {"scripts": {"test": script} if script else {}, "devDependencies": packages}
    return recipe_of({"package.json": json.dumps(manifest), **dict.fromkeys(names, "")})


@pytest.mark.parametrize(
    ("script", "test", "report"),
    [
        ("node --test", "node --test", "node-test"),
        ("tsx --test src/*.test.ts", "tsx --test src/*.test.ts", "node-test"),
        ("jest --ci", "jest --ci --json --outputFile=$COGWORKS_REPORT", "jest-json"),
        ("vitest", "vitest --run --reporter=json --outputFile=$COGWORKS_REPORT", "vitest-json"),
        (
            "tsc && vitest run",
            "tsc && vitest run --reporter=json --outputFile=$COGWORKS_REPORT",
            "vitest-json",
        ),
        ("mocha", "mocha --reporter $COGWORKS_INSIDE/mocha.cjs", "node-test"),
        (
            "c8 jasmine spec/*Spec.js",
            "c8 jasmine spec/*Spec.js --helper=$COGWORKS_INSIDE/jasmine.cjs",
            "node-test",
        ),
        ("uvu -r tsm test -b", "uvu -r tsm test", "node-test"),
        ("c8 uvu --bail test '\\.js$'", "c8 uvu test '\\.js$'", "node-test"),
        ("tape test/*.js | tap-spec", "tape test/*.js", "tap"),
        ("tap test/*.js --100", "tap test/*.js --100 --reporter=tap", "tap"),
        ("xo && ava && tsd", "ava --tap", "tap"),
        ("jest && mocha", "jest && mocha", "exit-code"),
        ("jest | tee log", "jest | tee log", "exit-code"),
        ("./check.sh", "./check.sh", "exit-code"),
    ],
)
def test_the_script_of_a_package_says_what_runs_its_tests(script: str, test: str, report: str) -> None:
    recipe = of_package(script)

    assert (recipe.test, recipe.report) == (test, report)
    assert recipe.source == "package.json, scripts.test"


@pytest.mark.parametrize(
    ("script", "test"),
    [
        ("node test", "node test"),
        ("node test/index.js | tap-spec", "node test/index.js"),
        ("tsc && nyc node ./test.js", "tsc && nyc node ./test.js"),
        ("node build.js && node -r esm tests/all.js", "node build.js && node -r esm tests/all.js"),
    ],
)
def test_a_program_that_loads_tests_of_tape_speaks_tap_and_what_a_new_file_needs_is_said(
    script: str, test: str
) -> None:
    recipe = of_package(script, tape="^5")

    assert (recipe.runner, recipe.test, recipe.report) == ("tape", test, "tap")
    assert "only once it is loaded there" in recipe.notes[0]
    assert of_package(script).report == "exit-code"


@pytest.mark.parametrize(
    ("script", "runner", "note"),
    [
        ("TZ=Asia/Tokyo jest test/zone.test && jest --coverage && TZ=UTC jest test/zone.test", "jest", "`TZ=UTC jest test/zone.test`"),
        ("tap --100 && tap test/slow.js", "tap", "`tap test/slow.js`"),
        ("jest && jest --ci", "script", "several runners"),
        ("jest test/a.js && jest --ci test/b.js", "script", "several runners"),
        ("mocha test/a.js && mocha test/b.js", "script", "several runners"),
        ("A=b node --test x/ && node --test y/", "script", "several runners"),
        ("jest && mocha test/a.js", "script", "several runners"),
        ("mocha && mocha test/slow/*.js", "script", "several runners"),
    ],
)  # fmt: skip
def test_of_several_runs_the_one_of_everything_is_the_suite(script: str, runner: str, note: str) -> None:
    recipe = of_package(script)

    assert recipe.runner == runner
    assert note in recipe.notes[0]


@pytest.mark.parametrize(
    ("script", "test"),
    [
        ("node --test a/ && node --test b/*.js a/", "node --test a/ b/*.js"),
        ("node --test --test-reporter=dot a/ && eslint . && node --test b/", "node --test a/ b/"),
        ("A=b tsx --test a.ts && npm run more", "A=b tsx --test a.ts b.ts"),
        ("jest test/a.js && jest test/b.js", "jest test/a.js test/b.js --json --outputFile=$COGWORKS_REPORT"),
        ("node --test a/ && node build.js && node --test b/", "node build.js && node --test a/ b/"),
    ],
)
def test_runs_that_differ_in_the_files_alone_that_they_name_are_one(script: str, test: str) -> None:
    scripts = {"test": script, "more": "A=b tsx --test b.ts"}
    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

    assert recipe.test == test
    assert not any("several runners" in each or "--test" in each for each in recipe.notes)


@pytest.mark.parametrize(
    ("script", "test"),
    [
        ("node --test --test-reporter=spec", "node --test"),
        ("node --test --test-reporter dot --test-reporter-destination='a b' x/", "node --test x/"),
        ("NODE_OPTIONS='--import tsx' node --test", 'NODE_OPTIONS="$NODE_OPTIONS --import tsx" node --test'),
        (
            "cross-env NODE_OPTIONS=--no-warnings c8 node --test",
            'cross-env NODE_OPTIONS="$NODE_OPTIONS --no-warnings" c8 node --test',
        ),
        ('NODE_OPTIONS="$NODE_OPTIONS --a" node --test', 'NODE_OPTIONS="$NODE_OPTIONS --a" node --test'),
        ("NODE_OPTIONS=--a tape test/*.js", 'NODE_OPTIONS="$NODE_OPTIONS --a" tape test/*.js'),
        ("NODE_OPTIONS=--a jest", "NODE_OPTIONS=--a jest --json --outputFile=$COGWORKS_REPORT"),
    ],
)
def test_options_and_reporters_of_a_script_do_not_take_the_place_of_ours(script: str, test: str) -> None:
    assert of_package(script).test == test


def test_a_linter_that_only_a_script_starts_is_used() -> None:
    scripts = {"test": "mocha", "lint": "tsc && eslint .", "format": "npx prettier -w src"}
    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})
    without = recipe_of({"package.json": json.dumps({"scripts": {"test": "mocha", "lint": "my-eslint ."}})})

    assert recipe.lint == "eslint --format json {files}"
    assert recipe.format == "prettier --write {files}"
    assert (without.lint, without.format) == ("", "")


def test_a_program_that_loads_tests_of_node_is_asked_for_its_report_without_what_builds_nothing() -> None:
    scripts = {
        "build": "tsc --build && type-coverage",
        "format": "remark . --frail && prettier . -w && xo --fix",
        "test-api-dev": "node --conditions development test/index.js",
        "test-api-prod": "node --conditions production test/index.js",
        "test-api": "npm run test-api-dev && npm run test-api-prod",
        "test-coverage": "c8 --100 --reporter lcov npm run test-api",
        "test": "npm run build && npm run format && npm run test-coverage",
    }
    manifest = json.dumps({"scripts": scripts})
    recipe = recipe_of({"package.json": manifest, "test/index.js": "import test from 'node:test'\n"})

    assert recipe.runner == "node:test"
    assert recipe.report == "node-test"
    assert recipe.test == (
        "tsc --build && c8 --100 --reporter lcov node --conditions development test/index.js"
    )
    assert "`node --conditions production test/index.js`" in recipe.notes[0]
    assert "`node --test`" not in recipe.notes[0]
    assert "only once it is loaded there" in recipe.notes[1]
    assert recipe_of({"package.json": manifest}).report == "exit-code"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("test.mjs", "import {test} from 'node:test'"),
        ("test/a.ts", 'import test from"node:test"'),
        ("test/a.cjs", 'const { test } = require("node:test");'),
    ],
)
def test_node_runs_its_own_tests_where_one_of_them_imports_them(name: str, text: str, tmp_path: Path) -> None:
    script = json.dumps({"scripts": {"test": "node test"}})
    laid_out(tmp_path, {"package.json": script, name: text})

    assert recipe_at(tmp_path).runner == "node:test"


def test_a_program_of_plain_assertions_is_one_test(tmp_path: Path) -> None:
    files = {
        "package.json": json.dumps({"scripts": {"test": "node test"}}),
        "test/index.js": "require('node:assert')(true) // no node:test\n",
        "src/a.js": "import test from 'node:test'",
    }
    laid_out(tmp_path, files)

    assert recipe_at(tmp_path).report == "exit-code"


def test_a_program_that_is_no_test_is_none_of_tape() -> None:
    assert of_package("node latest.js", tape="^5").report == "exit-code"


def test_a_suite_of_tape_that_a_script_runs_twice_is_one() -> None:
    recipe = of_package("nyc tape 'test/*.js' && eslint . && nyc tape core.js 'test/*.js'")

    assert recipe.test == "nyc tape 'test/*.js' && nyc tape core.js 'test/*.js'"
    assert (recipe.runner, recipe.report) == ("tape", "tap")
    assert "`eslint .`" in recipe.notes[0]


def test_other_scripts_are_read_where_they_are_called_and_what_is_no_test_is_left_out_and_said() -> None:
    scripts = {
        "test": "npm run lint && npm run unit && npm run types",
        "lint": "eslint . && prettier --check .",
        "preunit": "tsc",
        "unit": "jest --ci",
        "types": "tsd",
    }
    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

    assert recipe.test == "tsc && jest --ci --json --outputFile=$COGWORKS_REPORT"
    [note] = recipe.notes
    assert all(each in note for each in ("`eslint .`", "`prettier --check .`", "`tsd`"))


def test_scripts_that_are_called_silently_and_what_looks_at_documents_are_read_as_well() -> None:
    scripts = {
        "pretest": "npm run --silent readme && npm run -s lint && npx @pkgjs/support validate",
        "readme": "evalmd README.md",
        "lint": "eslint .",
        "postlint": "eclint check $(git ls-files | grep -v dist/)",
        "test": "npm run unit --silent",
        "unit": "tape test/*.js",
    }

    assert recipe_of({"package.json": json.dumps({"scripts": scripts})}).test == "tape test/*.js"


def test_what_looks_at_sources_is_left_out_where_a_program_of_the_project_starts_it() -> None:
    wrapper = "node bin/env.mjs"
    scripts = {"test": f"{wrapper} eslint lib/**/*.js && {wrapper} make-data && {wrapper} mocha test/*.js"}

    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

    assert (
        recipe.test
        == f"{wrapper} make-data && {wrapper} mocha test/*.js --reporter $COGWORKS_INSIDE/mocha.cjs"
    )
    assert recipe.notes == (
        f"of the script `test` these do not run with the tests: `{wrapper} eslint lib/**/*.js`",
    )


@pytest.mark.parametrize(
    ("caller", "runs", "left_out"),
    [
        ("nyc yarn inner", "tsc && nyc mocha", "yarn eslint ."),
        ("c8 --all -r=lcov npm run inner", "tsc && c8 --all -r=lcov mocha", "yarn eslint ."),
        ("nyc --reporter lcov -x a yarn inner", "tsc && nyc --reporter lcov -x a mocha", "yarn eslint ."),
        ("cross-env A=b nyc yarn inner", "A=b tsc && A=b nyc mocha", "A=b yarn eslint ."),
        ("A=b,c yarn inner", "A=b,c tsc && A=b,c mocha", "A=b,c yarn eslint ."),
        ("nyc cross-env A= pnpm inner", "A= tsc && A= nyc mocha", "A= yarn eslint ."),
    ],
)
def test_a_script_is_read_behind_variables_and_its_tests_alone_are_measured(
    caller: str, runs: str, left_out: str
) -> None:
    scripts = {"test": caller, "inner": "yarn build && mocha", "build": "yarn eslint . && tsc"}
    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

    assert recipe.test == f"{runs} --reporter $COGWORKS_INSIDE/mocha.cjs"
    assert f"`{left_out}`" in recipe.notes[0]


@pytest.mark.parametrize(
    ("linker", "starter"),
    [("", "yarn "), ("nodeLinker: pnp\n", "yarn "), ("a: 1\nnodeLinker: node-modules\n", ""), ("nodeLinker: 'pnpm'\n", "")],
)  # fmt: skip
@pytest.mark.parametrize(
    ("script", "runs"),
    [("A=b vitest --run", "A=b {}vitest --run"), ("yarn vitest --run", "yarn vitest --run"), ("nyc yarn own", "{}nyc vitest --run"), (None, "{}vitest --run")],
)  # fmt: skip
def test_runners_whose_packages_yarn_keeps_in_archives_are_started_by_it(
    linker: str, starter: str, script: str | None, runs: str
) -> None:
    scripts = {"own": "vitest --run", **({"test": script} if script else {})}
    packages = {"vitest": "^3", "eslint": "^9", "prettier": "^3"}
    manifest = {"scripts": scripts, "devDependencies": packages, "packageManager": "yarn@4.12.0"}
    recipe = recipe_of({"package.json": json.dumps(manifest), "yarn.lock": "", ".yarnrc.yml": linker})

    assert recipe.test.startswith(f"{runs.format(starter)} --reporter=json")
    assert recipe.lint == f"{starter}eslint --format json {{files}}"
    assert recipe.format == f"{starter}prettier --write {{files}}"


@pytest.mark.parametrize(
    ("packages", "lint", "formats"),
    [
        (("@biomejs/biome",), "biome check .", "biome format --write --no-errors-on-unmatched {files}"),
        (
            ("@biomejs/biome", "prettier"),
            "biome check .",
            "biome format --write --no-errors-on-unmatched {files}",
        ),
        (("@biomejs/biome", "prettier"), "prettier --check .", "prettier --write {files}"),
        (("@biomejs/biome", "prettier"), "eslint .", "prettier --write {files}"),
        (("eslint",), "eslint .", ""),
    ],
)
def test_files_are_formatted_as_the_scripts_of_the_project_do_it(
    packages: tuple[str, ...], lint: str, formats: str
) -> None:
    manifest = {"scripts": {"test": "mocha", "lint": lint}, "devDependencies": dict.fromkeys(packages, "*")}

    assert recipe_of({"package.json": json.dumps(manifest)}).format == formats


@pytest.mark.parametrize(
    ("packages", "lint", "looks"),
    [
        (("standard",), "standard", "standard {files}"),
        (("semistandard",), "semistandard && tsc", "semistandard {files}"),
        (("eslint", "standard"), "standard | snazzy", "standard {files}"),
        (("eslint", "standard"), "eslint .", "eslint --format json {files}"),
        (("eslint", "standard-version"), "standard-version", "eslint --format json {files}"),
        (("standard-version",), "standard-version", ""),
    ],
)
def test_files_are_looked_at_as_the_scripts_of_the_project_do_it(
    packages: tuple[str, ...], lint: str, looks: str
) -> None:
    manifest = {"scripts": {"test": "mocha", "lint": lint}, "devDependencies": dict.fromkeys(packages, "*")}

    assert recipe_of({"package.json": json.dumps(manifest)}).lint == looks


def test_variables_stand_before_what_measures_a_script_that_sets_some_itself() -> None:
    scripts = {"test": "A=b nyc yarn inner", "inner": "C=d mocha"}
    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

    assert recipe.test == "A=b C=d nyc mocha --reporter $COGWORKS_INSIDE/mocha.cjs"


@pytest.mark.parametrize(
    "caller", ["A='b c' yarn inner", "A=$(b) yarn inner", "nyc --unknown lcov yarn inner", "nyc"]
)
def test_what_stands_before_a_script_and_cannot_be_told_is_run_as_it_stands(caller: str) -> None:
    recipe = recipe_of({"package.json": json.dumps({"scripts": {"test": caller, "inner": "mocha"}})})

    assert (recipe.runner, recipe.test) == ("script", caller)


def test_what_runs_before_the_script_is_read_like_the_script_itself() -> None:
    scripts = {"pretest": "npm run lint && npm run build", "lint": "eslint .", "build": "tsc", "test": "nyc tape 'test/*.js'"}  # fmt: skip
    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

    assert recipe.test == "tsc && nyc tape 'test/*.js'"
    assert "`eslint .`" in recipe.notes[0]


def test_a_joint_that_is_quoted_joins_nothing() -> None:
    scripts = {
        "clean": "node -e \"import fs from 'fs'; fs.rmSync('a && b')\"",
        "test": "npm run clean && node -e 'a(); b()' ; it\\;s && mocha",
    }
    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

    assert recipe.test.startswith(
        "node -e \"import fs from 'fs'; fs.rmSync('a && b')\" && node -e 'a(); b()' && it\\;s && mocha --reporter "
    )


def test_scripts_that_call_each_other_for_ever_are_one_script() -> None:
    recipe = recipe_of({"package.json": json.dumps({"scripts": {"test": "npm run a", "a": "npm run a"}})})

    assert (recipe.runner, recipe.test) == ("script", "npm run a")


def test_without_a_script_the_runner_among_the_packages_is_taken_and_without_that_it_is_said() -> None:
    assert of_package(vitest="^1").runner == "vitest"
    nothing = of_package('echo "Error: no test specified" && exit 1')
    assert (nothing.test, len(nothing.notes)) == ("", 1)


@pytest.mark.parametrize(
    ("lock", "setup"),
    [
        ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
        ("yarn.lock", "yarn install --frozen-lockfile"),
        ("package-lock.json", "npm ci"),
    ],
)
def test_the_lock_file_says_what_installs(lock: str, setup: str) -> None:
    assert of_package("jest", names=(lock,), jest="^29").setup == (setup,)


@pytest.mark.parametrize(
    ("texts", "pinned", "setup", "installs"),
    [
        ({}, "yarn@4.12.0", "yarn install --immutable", "@yarnpkg/cli-dist@4.12.0"),
        ({}, "yarn@4.12.0+sha512.45ab", "yarn install --immutable", "@yarnpkg/cli-dist@4.12.0"),
        ({}, "yarn@2.0.0-rc.27", "yarn install --immutable", "@yarnpkg/cli-dist@2.0.0-rc.27"),
        ({}, "yarn@1.22.19", "yarn install --frozen-lockfile", "yarn@1.22.19"),
        ({"pnpm-lock.yaml": ""}, "pnpm@9.1.0", "pnpm install --frozen-lockfile", "pnpm@9.1.0"),
        ({"pnpm-lock.yaml": ""}, "yarn@4.12.0", "yarn install --immutable", "@yarnpkg/cli-dist@4.12.0"),
        ({"yarn.lock": None, "package-lock.json": ""}, "yarn@4.12.0", "npm ci", ""),
        ({".yarnrc.yml": "nodeLinker: node-modules\n"}, "yarn@4.12.0", "yarn install --immutable", "@yarnpkg/cli-dist@4.12.0"),
        ({".yarnrc.yml": "a: 1\nyarnPath: .yarn/releases/yarn-4.12.0.cjs\n"}, "yarn@4.12.0", "yarn install --immutable", "@yarnpkg/cli-dist@4"),
        ({".yarnrc.yml": "yarnPath: .yarn/releases/yarn-3.6.cjs\n"}, "", "yarn install --immutable", "@yarnpkg/cli-dist@4"),
        ({".yarnrc.yml": "yarnPath: .yarn/releases/yarn-1.22.19.cjs\n"}, "", "yarn install --frozen-lockfile", "yarn@1"),
        ({}, "npm@10.2.0", "yarn install --frozen-lockfile", "yarn@1"),
        ({}, "yarn@4", "yarn install --frozen-lockfile", "yarn@1"),
        ({}, "yarn@^4.0.0", "yarn install --frozen-lockfile", "yarn@1"),
        ({}, "yarn@4.12.0; touch /tmp/x", "yarn install --frozen-lockfile", "yarn@1"),
        ({}, "yarn@4.12.0-$(id)", "yarn install --frozen-lockfile", "yarn@1"),
        ({}, "yarn@4.12.0\n", "yarn install --frozen-lockfile", "yarn@1"),
        ({}, "yarn@٤.12.0", "yarn install --frozen-lockfile", "yarn@1"),
        ({}, "yarn@https://example.com/yarn.js", "yarn install --frozen-lockfile", "yarn@1"),
        ({}, ["yarn@4.12.0"], "yarn install --frozen-lockfile", "yarn@1"),
    ],
)  # fmt: skip
def test_the_package_manager_that_a_project_pins_or_else_asks_for_is_told(
    texts: dict[str, str | None], pinned: object, setup: str, installs: str
) -> None:
    manifest = {"scripts": {"test": "jest"}, "devDependencies": {"jest": "^29"}, "packageManager": pinned}
    files = {"package.json": json.dumps(manifest), "yarn.lock": "", **texts}
    recipe = recipe_of({name: text for name, text in files.items() if text is not None})

    assert (recipe.setup, recipe.manager.package) == ((setup,), installs)


@pytest.mark.parametrize(
    ("texts", "runner", "report"),
    [
        ({"go.mod": "module x"}, "go test", "go-json"),
        ({"Cargo.toml": ""}, "cargo test", "cargo"),
        ({"pom.xml": ""}, "maven", "junit"),
        ({"build.gradle.kts": "", "gradlew": ""}, "gradle", "junit"),
        ({"CMakeLists.txt": ""}, "ctest", "junit"),
        ({"Makefile": "all:\n\ttrue\ntest: all\n\t./t\n"}, "make", "exit-code"),
        ({"Shop.sln": ""}, "dotnet test", "trx"),
        ({"Gemfile": "gem 'rspec'\ngem 'rspec_junit_formatter'\n"}, "rspec", "junit"),
        ({"Gemfile": "gemspec\n", "x.gemspec": "s.add_development_dependency 'rspec'"}, "rspec", "node-test"),
        ({"Rakefile": "", "spec": ""}, "rspec", "node-test"),
        ({"Rakefile": "", "spec": "", "test": ""}, "minitest", "node-test"),
        ({"Rakefile": 'require "minitest/test_task"'}, "minitest's task", "node-test"),
        ({"Rakefile": "", "Gemfile": "gem 'test-unit'"}, "rake", "exit-code"),
        ({"composer.json": "{}"}, "phpunit", "junit"),
    ],
)
def test_each_manifest_has_its_runner(texts: dict[str, str], runner: str, report: str) -> None:
    recipe = recipe_of(texts)

    assert (recipe.runner, recipe.report) == (runner, report)
    assert recipe.test


def test_a_makefile_without_tests_and_a_package_that_is_no_json_are_told() -> None:
    assert recipe_of({"Makefile": "all:\n\ttrue\n"}).notes == (
        "the Makefile has neither a target `test` nor `check`",
    )
    assert not recipe_of({"package.json": "{"}).test


def test_of_two_manifests_the_one_with_tests_counts_unless_a_language_is_named() -> None:
    both = {"package.json": "{}", "Makefile": "test:\n"}

    assert recipe_of(both).runner == "make"
    assert recipe_of(both, "typescript").runner == ""


def test_modules_of_maven_are_those_that_are_always_built() -> None:
    pom = (
        "<project><modules><module>api</module>\n<module> libs/web/ </module><module>../other</module>"
        "<!-- <module>old</module> --><module>apart/pom-x.xml</module></modules>"
        "<profiles><profile><modules><module>slow</module></modules></profile></profiles></project>"
    )

    assert recipe_of({"pom.xml": pom}).modules == ("api", "libs/web")
    assert "pom.xml" in wanted_texts(["pom.xml", "README"])


@pytest.mark.parametrize("caller", ["npm-run-all --silent", "run-s", "npm-run-all -s"])
def test_scripts_that_are_called_one_after_the_other_are_read(caller: str) -> None:
    scripts = {
        "test": f"{caller} types lint unit",
        "types": "tsc --noEmit",
        "lint": "eslint .",
        "unit": "mocha test",
    }

    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

    assert recipe.runner == "mocha"
    assert recipe.test == "mocha test --reporter $COGWORKS_INSIDE/mocha.cjs"
    assert "`tsc --noEmit`, `eslint .`" in recipe.notes[0]


MOCHA = "mocha --reporter $COGWORKS_INSIDE/mocha.cjs"


@pytest.mark.parametrize(
    "caller",
    [
        "pnpm run /^test:/",
        "pnpm '/^test:.*$/'",
        'pnpm run --no-bail "/^test:(code|types|size)$/"',
        "run-p test:*",
        "run-p -l 'test:*'",
        "npm-run-all --parallel test:types test:code",
        "npm-run-all -p test:**",
        "concurrently npm:test:*",
        'concurrently -n a,b -c red,blue "npm:test:types" "pnpm run test:code"',
        'concurrently --raw "npm run test:types" "mocha"',
    ],
)
def test_of_scripts_that_run_beside_each_other_only_the_tests_run_with_what_stands_before_them(
    caller: str,
) -> None:
    scripts = {
        "test": f"FORCE_COLOR=1 {caller}",
        "test:types": "node types.js",
        "test:code": "node build.js && mocha" if "mocha" not in caller else "x",
        "test:size": "size-limit",
    }
    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

    built = "" if "mocha" in caller else "FORCE_COLOR=1 node build.js && "
    assert recipe.test == f"{built}FORCE_COLOR=1 {MOCHA}"
    assert recipe.source == "package.json, scripts.test"
    assert "`FORCE_COLOR=1 node types.js`" in recipe.notes[0]


@pytest.mark.parametrize(
    "caller", ["run-s test:*", "npm run test:*", "npm-run-all test:types test:code", "pnpm run --sequential /^test:/", "npm run test:types && npm run test:code"]
)  # fmt: skip
def test_of_scripts_that_run_one_after_the_other_what_stands_before_the_tests_runs_as_well(
    caller: str,
) -> None:
    scripts = {"test": caller, "test:types": "node types.js", "test:code": "mocha"}
    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

    assert recipe.test == f"node types.js && {MOCHA}"


@pytest.mark.parametrize(
    "caller",
    [
        "run-p --race serve code", "run-s lint missing", "concurrently -k 'npm:serve' 'npm:code'", "pnpm run /^(code/",
        "pnpm -r run code", "concurrently npm:gone:*", "run-s code -- --ci", "npm-run-all code --parallel serve",
    ],
)  # fmt: skip
def test_scripts_that_are_called_in_a_way_that_cannot_be_told_run_as_they_stand(caller: str) -> None:
    scripts = {"test": caller, "serve": "node serve.js", "code": "mocha", "lint": "eslint ."}
    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

    assert (recipe.runner, recipe.test) == ("script", caller)


def test_what_a_script_hands_on_to_another_is_handed_on() -> None:
    scripts = {"test": "npm run unit -- --bail --grep=a", "preunit": "tsc", "unit": "mocha"}
    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

    assert recipe.test == "tsc && mocha --bail --grep=a --reporter $COGWORKS_INSIDE/mocha.cjs"


def test_of_several_suites_the_one_whose_script_says_so_is_taken_and_the_others_are_said() -> None:
    scripts = {
        "test": "run-s test:*",
        "test:unit": "vitest --run",
        "test:e2e": "vitest --run -c e2e.ts",
        "test:browser": "mocha browser",
    }
    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

    assert recipe.test == "vitest --run --reporter=json --outputFile=$COGWORKS_REPORT"
    assert "`vitest --run -c e2e.ts`, `mocha browser`" in recipe.notes[0]
    scripts["test:units"] = "jest"
    several = recipe_of({"package.json": json.dumps({"scripts": scripts})})
    assert several.runner == "script"
    assert "`vitest --run`, `vitest --run -c e2e.ts`, `mocha browser`, `jest`" in several.notes[0]


@pytest.mark.parametrize("name", ["unit", "test:unit", "mocha", "test-unit", "unit:ci", "test:spec"])
def test_where_the_script_test_starts_no_known_runner_a_script_counts_whose_name_says_so(name: str) -> None:
    scripts = {"test": "eslint . && ./check.sh", f"pre{name}": "tsc", "bench": "mocha bench", name: "mocha"}
    recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

    assert recipe.test == f"tsc && {MOCHA}"
    assert recipe.source == f"package.json, scripts.{name}"
    assert f"those of the script `{name}`" in recipe.notes[0]
    del scripts["test"]
    assert recipe_of({"package.json": json.dumps({"scripts": scripts})}).test == f"tsc && {MOCHA}"


@pytest.mark.parametrize(
    ("name", "line"), [("unit", "mocha --watch"), ("bench", "mocha"), ("unit", "./unit.sh")]
)
def test_a_script_that_watches_has_another_name_or_an_unknown_runner_does_not_count(
    name: str, line: str
) -> None:
    recipe = recipe_of({"package.json": json.dumps({"scripts": {"test": "./check.sh", name: line}})})

    assert (recipe.runner, recipe.test) == ("script", "./check.sh")


def test_scripts_that_call_all_others_come_to_an_end() -> None:
    for times in (20, 20_000):
        every = " && ".join(["pnpm run /./", "npm run s:*", "run-p **"] * times)
        scripts = {"test": every, **{f"s:{number}": every for number in range(100)}}
        recipe = recipe_of({"package.json": json.dumps({"scripts": scripts})})

        assert (recipe.runner, recipe.test) == ("script", every)


OWN = "--require $COGWORKS_INSIDE/ruby/cogworks_rspec.rb --format CogworksFormatter --out $COGWORKS_REPORT"
RSPEC = {"Gemfile": "gem 'rspec'"}
JUNIT = {"Gemfile": "gem 'rspec'\ngem 'rspec_junit_formatter'"}
RAKE = {"Rakefile": ""}
PHP = {"composer.json": "{}"}


@pytest.mark.parametrize(
    ("texts", "line", "runner", "added", "report"),
    [
        (RSPEC, "bundle exec rspec spec/models", "rspec", f"--format progress {OWN}", "node-test"),
        (RSPEC, "bin/rspec -f documentation", "rspec", OWN, "node-test"),
        (RAKE, "CI=1 rspec", "rspec", f"--format progress {OWN}", "node-test"),
        (JUNIT, "rspec", "rspec", "--format RspecJunitFormatter --out $COGWORKS_REPORT", "junit"),
        (RSPEC, "rake spec", "rake", "", "exit-code"),
        (RSPEC, "bin/check rspec", "", "", "exit-code"),
        (RAKE, "bundle exec rake test:units", "minitest", "", "node-test"),
        (RAKE, "ruby -Itest test/all.rb", "", "", "exit-code"),
        (RAKE, "rspec-queue", "", "", "exit-code"),
        (PHP, "vendor/bin/phpunit -c ci.xml", "phpunit", "--log-junit $COGWORKS_REPORT", "junit"),
        (PHP, "php -dmemory_limit=-1 ./phpunit.phar", "phpunit", "--log-junit $COGWORKS_REPORT", "junit"),
        (PHP, "composer test", "", "", "exit-code"),
        (PHP, "vendor/bin/pest", "", "", "exit-code"),
    ],
)
def test_a_command_for_ruby_or_php_is_asked_for_what_its_first_word_writes(
    texts: dict[str, str], line: str, runner: str, added: str, report: str
) -> None:
    recipe = with_line(recipe_of(texts), line)

    assert (recipe.runner, recipe.report) == (runner, report)
    assert recipe.test == f"{line} {added}".strip()
    assert (recipe.test_one, recipe.source, recipe.notes) == ("", "the test command", ())


GO = {"go.mod": ""}
NODE = {"package.json": '{"scripts": {"test": "mocha"}}'}
BUNDLED = {"Gemfile": "gem 'minitest'", "Rakefile": ""}


@pytest.mark.parametrize(
    ("texts", "test", "report", "wanted"),
    [
        (BUNDLED, "rake test", "", ("minitest", "rake test", "node-test")),
        (BUNDLED, "rake test", "node-test", ("minitest", "rake test", "node-test")),
        (RSPEC, "rspec", "", ("rspec", f"rspec --format progress {OWN}", "node-test")),
        (PHP, "phpunit tests", "", ("phpunit", "phpunit tests --log-junit $COGWORKS_REPORT", "junit")),
        (PHP, "phpunit --log-junit x.xml", "junit", ("phpunit", "phpunit --log-junit x.xml", "junit")),
        (GO, "go test -json -count=1 ./...", "", ("go test", "go test -json -count=1 ./...", "go-json")),
        (GO, "go test -count=1 ./...", "", ("go test", "go test -json -count=1 ./...", "go-json")),
        (NODE, "node --test a/", "", ("node:test", "node --test a/", "node-test")),
        ({"Cargo.toml": ""}, "cargo test --all-features", "", ("cargo test", "cargo test --all-features", "cargo")),
        ({"pom.xml": ""}, "mvn -o -Pfast test", "", ("maven", "mvn -o -Pfast test", "junit")),
        ({}, "tape test/*.js", "tap", ("tape", "tape test/*.js", "tap")),
        (BUNDLED, "rake test", "junit", ("command", "rake test", "junit")),
        (BUNDLED, "rake test", "exit-code", ("command", "rake test", "exit-code")),
        (GO, "make check", "exit-code", ("command", "make check", "exit-code")),
    ],
)  # fmt: skip
def test_another_command_in_services_toml_is_known_by_its_runner_as_one_of_the_users_is(
    texts: dict[str, str], test: str, report: str, wanted: tuple[str, str, str]
) -> None:
    recipe = with_commands(recipe_of(texts), Commands(test=test, report=report))

    assert (recipe.runner, recipe.test, recipe.report) == wanted
    assert (recipe.source, recipe.notes) == (".cogworks/services.toml", ())


@pytest.mark.parametrize(
    ("texts", "test"),
    [(GO, "make check"), (RSPEC, "rake spec"), (NODE, "./check.sh"), ({"CMakeLists.txt": ""}, "ctest")],
)
def test_a_command_of_whose_report_nobody_knows_is_one_test_and_that_is_said(
    texts: dict[str, str], test: str
) -> None:
    recipe = with_commands(recipe_of(texts), Commands(test=test))

    assert (recipe.runner, recipe.test, recipe.report) == ("command", test, "exit-code")
    [note] = recipe.notes
    assert note.startswith(f"`{test}` counts as one test, by how it ends")
    assert "`report`" in note


def test_the_command_that_is_advised_for_tape_can_be_written_down() -> None:
    [note] = of_package("node test", tape="^5").notes
    [advised] = re.findall(r"`(command = [^`]*)`", note)
    words = configured_words({"config.toml": f"[tests]\n{advised}\n"})

    assert with_line(of_package("node test", tape="^5"), shlex.join(words)).test == "tape 'test/**/*.js'"
    assert f"`{advised}`" in DOCUMENTED.read_text(encoding="utf-8")
