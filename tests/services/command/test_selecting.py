"""Which commands run some tests."""

import re
import shlex

import pytest

from cogworks.services.command.recipe import Recipe
from cogworks.services.command.recipes import recipe_of
from cogworks.services.command.selecting import MOST_ONE_BY_ONE, parts_of, select

GO = recipe_of({"go.mod": ""})
OWN = Recipe(runner="command", test="./all", test_one="./one {file} {name}")


def lines(recipe: Recipe, *tests: str) -> tuple[str, ...]:
    return select(recipe, [parts_of(test) for test in tests]).lines


def test_without_tests_the_whole_suite_runs() -> None:
    assert lines(GO) == ("go test -json ./...",)


@pytest.mark.parametrize(
    ("runner", "recipe", "wanted"),
    [
        ("go", GO, "go test -json -run '^(a\\ b)$' ./t"),
        ("jest", Recipe(runner="jest", test="jest"), "jest -t 'a\\ b' --runTestsByPath t/x.go"),
        ("node", Recipe(runner="node:test", test="node --test"), None),
        ("tape", Recipe(runner="tape", test="tape test/*.js"), None),
        ("cargo", Recipe(runner="cargo test", test="cargo test"), "cargo test -- --exact 'a b'"),
        ("own", OWN, "./one t/x.go 'a b'"),
        ("other", Recipe(runner="make", test="make test"), None),
    ],
)
def test_each_runner_selects_in_its_way_or_runs_everything_and_says_so(
    runner: str, recipe: Recipe, wanted: str | None
) -> None:
    selected = select(recipe, [parts_of("t/x.go::a b")])

    assert selected.lines == (wanted or recipe.test,), runner
    assert bool(selected.note) is (wanted is None)


def test_the_id_of_a_whole_command_selects_it_without_a_word() -> None:
    for recipe in (OWN, Recipe(runner="make", test="make test")):
        selected = select(recipe, [parts_of(f".::{recipe.test}")])

        assert (selected.lines, selected.note) == ((recipe.test,), "")


def test_tests_of_go_are_run_by_package() -> None:
    chosen = lines(
        GO, "a/x_test.go::TestOne/sub", "a/y_test.go::TestTwo", "b/z_test.go", "m_test.go::TestMain"
    )

    assert chosen == (
        "go test -json -run '^(TestOne|TestTwo)$' ./a",
        "go test -json ./b",
        "go test -json -run '^(TestMain)$' .",
    )


def test_node_runs_the_file_in_place_of_those_of_the_script() -> None:
    recipe = Recipe(runner="node:test", test="prepare && node --test test test/*.test.js")

    assert lines(recipe, "test/a.test.js::cart > adds") == ("prepare && node --test test/a.test.js",)


@pytest.mark.parametrize(
    ("test", "file", "named"),
    [
        ("tsc && node --test dist/", "test/a.test.ts", "dist"),
        ("tsc && node --test 'dist/**/*.test.js'", "test/a.test.ts", "dist"),
        ("tsc && node --enable-source-maps --test --test-reporter spec dist", "src/a.test.ts", "dist"),
        ("tsc && node --test", "test/a.test.ts", "."),
        ("babel src -d lib && node --test lib/a.test.js lib/b.test.js", "src/a.test.js", "lib/a.test.js lib/b.test.js"),
        ("tsc && node --test dist/", "dist/a.test.js", ""),
        ("tsc --noEmit && tsx --test test/*.test.ts", "test/a.test.ts", ""),
        ("tsc --noEmit && node --test 'test/**/*.test.ts'", "test/a.test.ts", ""),
        ("node --import tsx --test test/", "test/a.test.ts", ""),
        ("node --test dist/", "test/a.test.ts", ""),
    ],
)  # fmt: skip
def test_node_runs_what_a_build_before_it_makes_of_the_file(test: str, file: str, named: str) -> None:
    [line] = lines(Recipe(runner="node:test", test=test), f"{file}::cart > adds")
    looked_up = f'"$(NODE_OPTIONS= node "$COGWORKS_INSIDE/built.mjs" {file} {named})"'

    assert line.endswith(f" {looked_up}" if named else f" {file}")
    assert ("built.mjs" in line) is bool(named)
    assert "--test-reporter spec" in line or "reporter" not in test
    assert " dist " not in line.partition("built.mjs")[0]


def test_runners_that_speak_tap_run_the_file_in_place_of_those_of_the_script() -> None:
    recipe = Recipe(runner="tap", test="tsc && tap test/*.js --reporter=tap")

    assert lines(recipe, "test/a.js::adds") == ("tsc && tap --reporter=tap test/a.js",)


@pytest.mark.parametrize(
    ("test", "file", "wanted"),
    [
        ("nyc tape 'test/**/*.js'", "test/a.js", "nyc tape test/a.js"),
        ("tape -r ./setup.js -i .gitignore test/*.js", "test/a.js", "tape -r ./setup.js -i .gitignore test/a.js"),
        ("X=1 node -r esm node_modules/.bin/tape t/*.js", "t/a.js", "X=1 node -r esm node_modules/.bin/tape t/a.js"),
        ("node test", "test/a.js", "node test/a.js"),
        ("node test/index.js", "test/index.js", "node test/index.js"),
        ("nyc tape test/*.js && nyc tape core.js 'test/*.js'", "test/a.js", "nyc tape test/a.js"),
        ("tsc && tape test/*.js", "test/a.js", "tsc && tape test/a.js"),
        ("tape test/*.js", "test/a.tap", "tape test/*.js"),
    ],
)  # fmt: skip
def test_tape_runs_the_file_in_place_of_those_of_the_script(test: str, file: str, wanted: str) -> None:
    assert lines(Recipe(runner="tape", test=test), f"{file}::adds") == (wanted,)


@pytest.mark.parametrize(
    ("test", "file", "wanted"),
    [
        ("node test", "test/a.js", "node test/a.js"),
        ("c8 --100 node --conditions development test/index.js", "test/a.js", "c8 --100 node --conditions development test/a.js"),
        ("tsc --build && node test/index.js", "test/in/a.js", "tsc --build && node test/in/a.js"),
        ("tsc && node test.js", "lib/a.js", "tsc && node lib/a.js"),
        ("tsc && node dist/test/index.js", "test/a.ts", 'tsc && node "$(NODE_OPTIONS= node "$COGWORKS_INSIDE/built.mjs" test/a.ts dist/test)"'),
    ],
)  # fmt: skip
def test_a_program_of_nodes_own_tests_gives_way_to_the_file(test: str, file: str, wanted: str) -> None:
    assert lines(Recipe(runner="node:test", test=test), f"{file}::adds") == (wanted,)


def test_tape_runs_what_a_build_before_it_makes_of_the_file() -> None:
    [line] = lines(Recipe(runner="tape", test="tsc && tape 'dist/**/*.test.js'"), "test/a.test.ts")

    assert line.endswith('tape "$(NODE_OPTIONS= node "$COGWORKS_INSIDE/built.mjs" test/a.test.ts dist)"')


def test_jasmine_is_told_files_and_one_pattern_and_keeps_what_starts_it() -> None:
    recipe = Recipe(
        runner="jasmine", test="c8 -r lcov/x node_modules/.bin/jasmine spec/*.js --helper=$X/a.cjs"
    )
    start = "c8 -r lcov/x node_modules/.bin/jasmine --helper=$X/a.cjs"

    assert lines(recipe, "spec/a.js", "spec/b.js::x") == (f"{start} spec/a.js spec/b.js",)
    assert lines(recipe, "spec/b.js::a shelf > holds (2)") == (
        f"{start} --filter='holds\\ \\(2\\)' spec/b.js",
    )


def test_mocha_runs_the_files_that_were_asked_for_and_no_pattern_or_folder_of_the_script() -> None:
    plain = Recipe(
        runner="mocha",
        test="c8 mocha --require ./test/env.js -t 9 'test/*.js' test/unit/ test/setup.js --bail",
    )
    built = Recipe(runner="mocha", test='tsc && mocha "out/**/*.spec.js" -s 0')

    assert lines(plain, "test/b.js", "test/a.js::x") == (
        "c8 mocha --require ./test/env.js -t 9 test/setup.js --bail test/a.js test/b.js",
    )
    assert lines(plain, "test/a.js::x > y") == (
        "c8 mocha --require ./test/env.js -t 9 test/setup.js --bail --grep y test/a.js",
    )
    assert lines(built, "src/a.spec.ts") == (
        'tsc && mocha -s 0 "$(NODE_OPTIONS= node "$COGWORKS_INSIDE/built.mjs" src/a.spec.ts out)"',
    )


@pytest.mark.parametrize("runner", ["jest", "vitest", "mocha"])
def test_a_name_that_holds_a_path_is_found_wherever_its_folder_lies(runner: str) -> None:
    [line] = lines(Recipe(runner=runner, test="run"), "test/a.js::files > page_test/data/a (1).txt is read")
    [pattern] = [word for word in shlex.split(line) if "read" in word]

    assert re.search(pattern, "files page_/tmp/x/copy/test/data/a (1).txt is read")
    assert re.search(pattern, "files page_test/data/a (1).txt is read")
    assert not re.search(pattern, "files page_test/data/b (1).txt is read")


def test_maven_is_told_the_modules_that_tests_lie_in() -> None:
    recipe = Recipe(runner="maven", test="mvn test", modules=("api", "web", "libs"))
    one, two, nested = (
        lines(recipe, *files)[0]
        for files in (
            ("api/src/test/java/ATest.java::a",),
            ("web/src/test/java/WTest.java", "api/src/test/java/ATest.java"),
            ("api/src/test/java/ATest.java", "libs/x/src/test/java/XTest.java"),
        )
    )

    assert one.startswith("mvn test -pl api -am -DfailIfNoTests=false ")
    assert one.endswith("'-Dtest=ATest#a'")
    assert two.startswith("mvn test -pl api,web -am ")
    assert "-pl" not in nested


def test_minitest_takes_a_pattern_of_files_and_phpunit_a_line_for_each() -> None:
    ruby, php = Recipe(runner="minitest", test="rake test"), Recipe(runner="phpunit", test="phpunit")

    assert lines(ruby, "test/a_test.rb::A > test_x") == ("rake test TEST=test/a_test.rb",)
    assert lines(ruby, "test/a_test.rb", "test/b_test.rb") == (
        "rake test TEST='{test/a_test.rb,test/b_test.rb}'",
    )
    assert lines(ruby, "test/a,b_test.rb") == ("rake test",)
    assert lines(php, "t/ATest.php::testX with data set #0", "t/BTest.php") == (
        "phpunit --filter '/::(testX)( with .*)?$/' t/ATest.php",
        "phpunit t/BTest.php",
    )


def test_maven_is_told_classes_and_methods() -> None:
    recipe = Recipe(runner="maven", test="mvn test")
    [line] = lines(recipe, "src/test/java/CartTest.java::adds", "src/test/java/CartTest.java::fails")

    assert line.endswith("'-Dtest=CartTest#adds+fails'")


def test_classes_within_a_class_run_with_their_file() -> None:
    maven, gradle = Recipe(runner="maven", test="mvn test"), Recipe(runner="gradle", test="gradle test")

    assert lines(maven, "t/CartTest.java")[0].endswith("'-Dtest=CartTest,CartTest$*'")
    assert lines(gradle, "t/CartTest.java") == ("gradle test --tests '*CartTest' --tests '*CartTest$*'",)


def test_tests_in_the_documentation_of_a_crate_run_by_what_they_document() -> None:
    recipe = Recipe(runner="cargo test", test="cargo test")

    assert lines(recipe, "src/lib.rs::doc cart::total") == ("cargo test --doc -- cart::total",)
    assert lines(recipe, "src/lib.rs::doc a", "src/lib.rs::tests::b") == (
        "cargo test -- --exact tests::b",
        "cargo test --doc -- a",
    )
    assert lines(recipe, "src/lib.rs::doc") == ("cargo test",)


def test_a_template_is_filled_in_one_pass_and_its_values_are_quoted() -> None:
    assert lines(OWN, "t/a.x::{file}; rm -rf /") == ("./one t/a.x '{file}; rm -rf /'",)


def test_more_runs_than_anybody_waits_for_become_one_of_everything() -> None:
    many = [f"t/a.x::test {number}" for number in range(MOST_ONE_BY_ONE + 1)]

    assert lines(OWN, *many) == ("./all",)


def test_a_template_of_names_does_not_run_a_file() -> None:
    assert lines(OWN, "t/a.x") == ("./all",)


@pytest.mark.parametrize(
    ("command", "files", "chosen"),
    [
        ("uvu", ["t/a.test.js"], "uvu . '^(?:t/a\\.test\\.js)$'"),
        ("c8 uvu -r esm t '\\.test\\.js$'", ["t/b.js", "t/a.js"], "c8 uvu -r esm t '^(?:a\\.js|b\\.js)$'"),
        ('tsc && A=b uvu -i "a b" ./t/ "x y" -r tsm', ["t/in/a.ts"], "tsc && A=b uvu -i \"a b\" -r tsm t '^(?:in/a\\.ts)$'"),
        ("uvu t", ["src/a.test.ts", "t/a.js"], "uvu . '^(?:src/a\\.test\\.ts|t/a\\.js)$'"),
        ("uvu -C packages t", ["t/a.js"], None),
        ("node test/index.js", ["test/a.js"], None),
        ("uvu t", ["t/data.json"], None),
    ],
)  # fmt: skip
def test_uvu_is_given_a_pattern_for_the_files_in_the_place_of_its_own(
    command: str, files: list[str], chosen: str | None
) -> None:
    selected = select(Recipe(runner="uvu", test=command), [parts_of(f"{file}::a") for file in files])

    assert selected.lines == (chosen or command,)
    assert bool(selected.note) is (chosen is None)
