"""What real runners report, in every format there is, of what passes, fails, breaks, crashes, and prints too much."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cogworks.services.command.ground import Commands
from cogworks.services.command.reports.node_test import parse
from cogworks.services.command.rooms import INSIDE
from tests.limits import ENDS_WITHIN_S
from tests.node_packages import installed
from tests.services.asking import laid_out
from tests.services.command.commanding import ask, needs, needs_files, outcomes, report_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
NOISE = "x" * 1000
DEBIAN = {"mode": "prepared", "variables": {"MAVEN_OPTS": "-Dmaven.repo.local=/usr/share/maven-repo"}}
NODE_TESTS = """const test = require("node:test");
test("adds", () => {});
test("breaks \\u001b[31mred", () => { console.log("\\u001b[32mgreen"); throw new Error("no"); });
test("later", { skip: "why not" }, () => {});
"""


def sample(name: str, folder: Path) -> Path:
    return Path(shutil.copytree(SAMPLES / name, folder / name))


def with_packages(name: str, folder: Path) -> Path:
    """A sample with the packages of its lock file in place."""
    packages = installed(SAMPLES / name)
    made = sample(name, folder)
    shutil.copytree(packages / "node_modules", made / "node_modules", symlinks=True)
    return made


@needs("node")
def test_options_of_node_that_the_repository_sets_count_beside_our_reporter(tmp_path: Path) -> None:
    text = 'require("node:test")("t", () => { if (!globalThis.early) throw new Error("no"); });\n'
    manifest = '{"scripts": {"test": "node --test"}}'
    laid_out(tmp_path, {"package.json": manifest, "early.js": "globalThis.early = 1;\n", "a.test.js": text})

    report = report_of(tmp_path, settings={"variables": {"NODE_OPTIONS": "--require ./early.js"}})

    assert outcomes(report) == {"a.test.js::t": "passed"}


@pytest.mark.slow
@needs("node")
def test_node_run_twice_with_a_reporter_of_the_script_tells_the_tests_of_both(tmp_path: Path) -> None:
    start = "NODE_OPTIONS=--no-warnings node --test --test-reporter=dot"
    manifest = json.dumps({"scripts": {"test": f"{start} one/*.js && {start} two/*.js"}})
    text = "require('node:test')('it', () => {});\n"
    laid_out(tmp_path, {"package.json": manifest, "one/a.test.js": text, "two/b.test.js": text})

    assert outcomes(report_of(tmp_path)) == {"one/a.test.js::it": "passed", "two/b.test.js::it": "passed"}
    assert outcomes(report_of(tmp_path, tests=["two/b.test.js"])) == {"two/b.test.js::it": "passed"}


@needs("node")
@pytest.mark.parametrize(("reporter", "report"), [("tap", "tap"), ("junit", "junit")])
def test_node_in_other_formats(reporter: str, report: str, tmp_path: Path) -> None:
    laid_out(tmp_path, {"a.test.js": NODE_TESTS})
    commands = Commands(test=f"node --test --test-reporter={reporter}", report=report)
    found = report_of(tmp_path, commands=commands)

    assert sorted(outcomes(found).values()) == ["failed", "passed", "skipped"]
    assert not [case for case in found.cases if "\x1b" in case.id + case.message]


@needs("bats")
@pytest.mark.parametrize(("formatter", "report"), [("tap13", "tap"), ("junit", "junit")])
def test_bats(formatter: str, report: str, tmp_path: Path) -> None:
    text = '@test "adds" { true; }\n@test "breaks" { false; }\n@test "later" { skip "why"; }\n'
    laid_out(tmp_path, {"t/cart.bats": text})
    commands = Commands(test=f"bats --formatter {formatter} t", report=report)
    found = report_of(tmp_path, commands=commands)

    assert sorted(outcomes(found).values()) == ["failed", "passed", "skipped"]


@needs("perl")
def test_perls_tap_with_subtests_and_a_plan_that_is_not_kept(tmp_path: Path) -> None:
    text = 'use Test::More;\nok 1, "adds";\nsubtest "cart" => sub { plan tests => 1; ok 0, "breaks"; };\ndone_testing;\n'
    laid_out(tmp_path, {"t/a.t": text, "t/b.t": 'use Test::More tests => 3;\nok 1, "adds";\nexit 7;\n'})
    whole = report_of(tmp_path, commands=Commands(test="perl t/a.t", report="tap"))
    cut = report_of(tmp_path, commands=Commands(test="perl t/b.t", report="tap"))

    assert outcomes(whole) == {".::adds": "passed", ".::cart > breaks": "failed"}
    assert outcomes(cut)[".::adds"] == "passed"


@needs("rspec")
@needs_files("/usr/share/doc/ruby-rspec-junit-formatter")
def test_rspec_by_its_formatter_of_junit(tmp_path: Path) -> None:
    text = (
        'RSpec.describe "a cart" do\n  it("adds") { expect(1).to eq 1 }\n  it("breaks") { expect(1).to eq 2 }\n'
        '  context "later" do\n    xit("waits") {}\n  end\nend\n'
    )
    laid_out(tmp_path, {"spec/cart_spec.rb": text})
    test = 'rspec --require rspec_junit_formatter --format RspecJunitFormatter --out "$COGWORKS_REPORT"'
    commands = Commands(test=test, report="junit")
    found = report_of(tmp_path, commands=commands)

    assert outcomes(found) == {
        "spec/cart_spec.rb::a cart adds": "passed",
        "spec/cart_spec.rb::a cart breaks": "failed",
        "spec/cart_spec.rb::a cart later waits": "skipped",
    }
    laid_out(tmp_path, {"spec/broken_spec.rb": "RSpec.describe(\n"})
    assert report_of(tmp_path, commands=commands).collection_errors


@needs("phpunit", "php")
def test_phpunit(tmp_path: Path) -> None:
    text = (
        "<?php\nnamespace Shop;\nuse PHPUnit\\Framework\\TestCase;\nfinal class CartTest extends TestCase {\n"
        "  public function testAdds(): void { self::assertSame(1, 1); }\n"
        "  public function testBreaks(): void { self::assertSame(1, 2); }\n"
        '  public function testLater(): void { self::markTestSkipped("why"); }\n'
        "  /** @dataProvider counts */\n  public function testCounts(int $n): void { self::assertGreaterThan(0, $n); }\n"
        '  public static function counts(): array { return ["one" => [1], "none" => [0]]; }\n}\n'
    )
    laid_out(tmp_path, {"tests/CartTest.php": text})
    commands = Commands(test='phpunit --log-junit "$COGWORKS_REPORT" tests', report="junit")
    found = outcomes(report_of(tmp_path, commands=commands))

    assert found == {
        "tests/CartTest.php::testAdds": "passed",
        "tests/CartTest.php::testBreaks": "failed",
        "tests/CartTest.php::testLater": "skipped",
        'tests/CartTest.php::testCounts with data set "one"': "passed",
        'tests/CartTest.php::testCounts with data set "none"': "failed",
    }
    laid_out(tmp_path, {"tests/BrokenTest.php": "<?php\nfinal class BrokenTest {\n  function\n"})
    assert report_of(tmp_path, commands=commands).collection_errors


@needs("node", "npm")
@pytest.mark.parametrize(
    ("name", "place", "broken", "wanted"),
    [
        ("jest", "__tests__/slug.test.js", "__tests__/broken.test.js", 6),
        ("vitest", "test/basket.test.ts", "test/broken.test.ts", 7),
    ],
)
def test_jest_and_vitest_with_a_file_that_is_none(
    name: str, place: str, broken: str, wanted: int, tmp_path: Path
) -> None:
    repository = with_packages(name, tmp_path)
    assert len(outcomes(report_of(repository))) == wanted
    one = report_of(repository, tests=[place])
    assert {test.partition("::")[0] for test in outcomes(one)} == {place}

    laid_out(repository, {broken: "const broken = ;\n"})
    [error] = report_of(repository).collection_errors
    assert error.startswith(f"{broken}: ")
    assert "\x1b" not in error


@needs("node", "npm")
@pytest.mark.parametrize(
    ("name", "place", "one", "wanted"),
    [
        ("mocha", "test/week.spec.js", "a week on an open day > is closed at the end", 7),
        ("jasmine", "spec/shelfSpec.js", "a shelf > that is full > takes no more", 5),
    ],
)
def test_mocha_and_jasmine_whole_by_file_by_name_and_with_a_file_that_is_none(
    name: str, place: str, one: str, wanted: int, tmp_path: Path
) -> None:
    repository = with_packages(name, tmp_path)
    found = outcomes(report_of(repository))
    assert (len(found), "failed" in found.values()) == (wanted, False)
    assert found[f"{place}::{one}"] == "passed"
    assert list(found.values()).count("skipped") == 1
    assert {test.partition("::")[0] for test in outcomes(report_of(repository, tests=[place]))} == {place}
    assert outcomes(report_of(repository, tests=[f"{place}::{one}"])) == {f"{place}::{one}": "passed"}

    folder, _, ending = place.partition("/")
    broken = f"{folder}/broken{'Spec.js' if ending.endswith('Spec.js') else '.spec.js'}"
    laid_out(repository, {broken: "missing();\n"})
    [error] = report_of(repository).collection_errors
    assert error == f"{broken}: {broken}:1: ReferenceError: missing is not defined"


OLD_MOCHA = """
const { EventEmitter } = require("events");
const runner = new EventEmitter();
new (require(process.argv[2]))(runner);
const root = { title: "", fullTitle: () => "" };
const suite = { title: "a shelf", fullTitle: () => "a shelf", parent: root, file: "/w/test/shelf.js" };
runner.emit("pass", { title: "takes more", parent: suite });
runner.emit("pending", { title: "is painted", parent: suite });
runner.emit("fail", { title: "holds", parent: suite, file: "/w/test/shelf.js" }, new Error("it broke"));
runner.emit("fail", { title: '"before each" hook', parent: root, ctx: { currentTest: { file: "/w/test/b.js" } } }, "no");
"""


@needs("node")
def test_the_reporter_for_mocha_finds_the_file_where_only_a_suite_or_the_test_at_hand_has_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "old.js").write_text(OLD_MOCHA)
    report = tmp_path / "report"
    subprocess.run(
        ["node", tmp_path / "old.js", INSIDE / "mocha.cjs"],
        env={"PATH": os.environ["PATH"], "COGWORKS_REPORT": str(report)},
        check=True,
        timeout=ENDS_WITHIN_S,
    )

    found = parse(report.read_bytes())

    assert [(case.file, case.name, case.outcome) for case in found.cases] == [
        ("/w/test/shelf.js", "a shelf > takes more", "passed"),
        ("/w/test/shelf.js", "a shelf > is painted", "skipped"),
        ("/w/test/shelf.js", "a shelf > holds", "failed"),
        ("/w/test/b.js", '"before each" hook', "failed"),
    ]
    assert "it broke" in found.cases[2].message


@needs("node", "npm")
def test_what_jasmine_runs_around_tests_fails_them_or_is_told_beside_them(tmp_path: Path) -> None:
    repository = with_packages("jasmine", tmp_path)
    around = (
        'describe("before", () => { beforeAll(() => { throw new Error("no"); }); it("runs", () => {}); });\n'
        'describe("after", () => { afterAll(() => { throw new Error("no"); }); it("runs", () => {}); });\n'
        'afterAll(() => { throw new Error("the end"); });\n'
    )
    laid_out(repository, {"spec/aroundSpec.js": around})
    found = outcomes(report_of(repository, tests=["spec/aroundSpec.js"]))

    assert found == {
        "spec/aroundSpec.js::before > runs": "failed",
        "spec/aroundSpec.js::before": "failed",
        "spec/aroundSpec.js::after > runs": "passed",
        "spec/aroundSpec.js::after": "failed",
        "spec/aroundSpec.js::afterAll": "failed",
    }


@needs("node", "npm")
def test_a_linter_of_today_tells_of_the_lines_that_it_does_not_let_pass(tmp_path: Path) -> None:
    repository = with_packages("mocha", tmp_path)
    laid_out(repository, {"lib/more.js": '"use strict";\n\nmodule.exports = { more: lesss };\n'})
    response = ask("validate", repository, artifacts=["lib/more.js", "lib/week.js"])

    [found] = response.diagnostics
    assert (found.artifact, found.location.line) == ("lib/more.js", 3)
    assert "'lesss' is not defined. [Error/no-undef]" in found.message
    assert response.result["tools"][-1]["tool"] == "eslint"


@needs("node", "npm")
def test_a_file_of_jest_whose_path_is_a_pattern_is_selected(tmp_path: Path) -> None:
    repository = with_packages("jest", tmp_path)
    place = "pages/[id]/(a+b).test.js"
    laid_out(repository, {place: 'test("adds", () => {});\n'})

    assert outcomes(report_of(repository, tests=[f"{place}::adds"])) == {f"{place}::adds": "passed"}


@needs("go")
def test_go_with_a_package_that_does_not_compile_one_that_crashes_and_one_that_prints_anything(
    tmp_path: Path,
) -> None:
    repository = sample("go-packages", tmp_path)
    laid_out(
        repository,
        {
            "broken/a_test.go": 'package broken\n\nimport "testing"\n\nfunc TestA(t *testing.T) { missing() }\n',
            "crash/a_test.go": (
                'package crash\n\nimport (\n\t"os"\n\t"testing"\n)\n\n'
                "func TestExits(t *testing.T) { os.Exit(3) }\n"
            ),
            "noise/a_test.go": (
                'package noise\n\nimport (\n\t"fmt"\n\t"os"\n\t"strings"\n\t"testing"\n)\n\nfunc TestNoise(t *testing.T) {\n'
                '\tos.Stdout.Write([]byte{0xff, 0xfe, 10})\n\tfmt.Println("\\x1b[31mred")\n'
                f'\tfor i := 0; i < 20000; i++ {{\n\t\tfmt.Println(strings.Repeat("x", {len(NOISE)}))\n\t}}\n\tt.Fail()\n}}\n'
            ),
        },
    )
    found = report_of(repository)

    told = outcomes(found)
    assert told["noise/a_test.go::TestNoise"] == "failed"
    assert told["crash/a_test.go::TestExits"] == "error"
    assert told["money/money_test.go::TestParse"] == "passed"
    assert found.collection_errors == ("broken: broken/a_test.go:5: undefined: missing",)
    assert max(len(case.message) for case in found.cases) < 10_000


@needs("go")
def test_go_reads_the_packages_that_a_repository_brings_in_vendor(tmp_path: Path) -> None:
    laid_out(
        tmp_path,
        {
            "go.mod": "module example.org/shop\n\ngo 1.19\n\nrequire example.net/sums v1.0.0\n",
            "go.sum": "",
            "vendor/modules.txt": "# example.net/sums v1.0.0\n## explicit\nexample.net/sums\n",
            "vendor/example.net/sums/sums.go": "package sums\n\nfunc Of(a, b int) int { return a + b }\n",
            "shop_test.go": (
                'package shop\n\nimport (\n\t"testing"\n\n\t"example.net/sums"\n)\n\n'
                "func TestAdds(t *testing.T) {\n\tif sums.Of(1, 2) != 3 {\n\t\tt.Fail()\n\t}\n}\n"
            ),
        },
    )

    assert outcomes(report_of(tmp_path, settings={"mode": "prepared"})) == {
        "shop_test.go::TestAdds": "passed"
    }


@needs("cargo")
def test_a_workspace_of_rust_with_files_of_one_name_and_tests_in_documentation(tmp_path: Path) -> None:
    twins = outcomes(report_of(sample("rust-workspace", tmp_path)))
    library = sample("rust-library", tmp_path)
    documented = outcomes(report_of(library))
    one = report_of(library, tests=["src/parsing.rs::doc parsing::parse"])

    assert twins["basket/tests/buying.rs::adds_up"] == twins["money/tests/buying.rs::adds_up"] == "passed"
    assert documented["src/lib.rs::doc total"] == "passed"
    assert documented["src/parsing.rs::doc parsing::parse #2"] == "passed"
    assert outcomes(one) == {"src/parsing.rs::doc parsing::parse": "passed"}


@needs("cargo")
def test_libtest_in_json_and_a_test_that_takes_its_program_down(tmp_path: Path) -> None:
    repository = sample("rust-library", tmp_path)
    test = "RUSTC_BOOTSTRAP=1 cargo test --offline --lib -- -Z unstable-options --format json"
    found = outcomes(report_of(repository, commands=Commands(test=test, report="libtest-json")))
    laid_out(repository, {"tests/down.rs": "#[test]\nfn goes_down() { std::process::abort(); }\n"})
    crashed = outcomes(report_of(repository))

    assert found["src/parsing.rs::parsing::tests::reads_parts"] == "passed"
    assert found["src/parsing.rs::parsing::tests::reads_currencies"] == "skipped"
    assert crashed["src/lib.rs::tests::nothing_is_free"] == "passed"


@needs("cargo")
def test_a_crate_that_is_not_there_is_named(tmp_path: Path) -> None:
    repository = sample("rust-library", tmp_path)
    manifest = repository / "Cargo.toml"
    manifest.write_text(f'{manifest.read_text("utf-8")}\n[dependencies]\nnot-there-at-all = "1"\n', "utf-8")
    [error] = report_of(repository, settings={"mode": "prepared"}).collection_errors

    assert "no matching package named `not-there-at-all` found" in error


@needs("mvn", "java")
@needs_files("/usr/share/maven-repo/org/junit/jupiter/junit-jupiter/5.9.2", "/usr/share/maven-repo/org/apache/maven/plugins/maven-compiler-plugin")  # fmt: skip
def test_maven_with_parameters_nested_classes_and_a_class_that_does_not_compile(tmp_path: Path) -> None:
    repository = sample("maven", tmp_path)
    place = "src/test/java/org/example/shop"
    whole = outcomes(report_of(repository, settings=DEBIAN))
    one = outcomes(report_of(repository, settings=DEBIAN, tests=[f"{place}/BasketTest.java"]))
    laid_out(
        repository,
        {f"{place}/BrokenTest.java": "package org.example.shop;\n\nclass BrokenTest { Missing missing; }\n"},
    )
    [error] = report_of(repository, settings=DEBIAN).collection_errors

    assert len(whole) == 8
    assert whole[f"{place}/PriceTest.java::readsCurrencies"] == "skipped"
    assert sorted(one) == [
        f"{place}/BasketTest.java::WithPrices > addsUp",
        f"{place}/BasketTest.java::WithPrices > knowsItsSize",
        f"{place}/BasketTest.java::isFreeAtFirst",
    ]
    assert error.startswith(f".: {place}/BrokenTest.java:3: cannot find symbol")


@needs("mvn", "java")
@needs_files("/usr/share/maven-repo/junit/junit/4.x", "/usr/share/maven-repo/org/apache/maven/surefire/surefire-junit4", "/usr/share/maven-repo/org/apache/maven/plugins/maven-compiler-plugin")  # fmt: skip
def test_modules_of_maven_with_tests_of_junit_4_whole_and_one_file(tmp_path: Path) -> None:
    repository = sample("maven-modules", tmp_path)
    tax = "amounts/src/test/java/org/example/amounts/TaxTest.java"
    invoice = "invoice/src/test/java/org/example/invoice/InvoiceTest.java"

    assert outcomes(report_of(repository, settings=DEBIAN)) == {
        f"{tax}::isAShare": "passed",
        f"{tax}::isNeverNegative": "passed",
        f"{tax}::mayHaveSteps": "skipped",
        f"{invoice}::addsTheTax[100 cents]": "passed",
        f"{invoice}::addsTheTax[200 cents]": "passed",
    }
    one = outcomes(report_of(repository, settings=DEBIAN, tests=[invoice]))
    assert {test.partition("::")[0] for test in one} == {invoice}


@needs("gradle", "java")
@needs_files("/usr/share/maven-repo/junit/junit/4.x")
def test_gradle_by_class(tmp_path: Path) -> None:
    repository = sample("gradle", tmp_path)
    place = "src/test/java/org/example/shop"
    prepared = {"mode": "prepared"}

    found = outcomes(report_of(repository, settings=prepared, tests=[f"{place}/BasketTest.java"]))
    assert found == {
        f"{place}/BasketTest.java::addsUp[0 pieces]": "passed",
        f"{place}/BasketTest.java::addsUp[3 pieces]": "passed",
    }


def test_a_report_of_junit_that_a_runner_only_prints_is_read(tmp_path: Path) -> None:
    xml = '<testsuite name="a"><testcase classname="cart" name="adds" file="a.x"/></testsuite>'
    laid_out(tmp_path, {"a.x": "", "tests.sh": f"echo some words; echo '{xml}'\n"})
    commands = Commands(test="sh tests.sh", report="junit")

    assert outcomes(report_of(tmp_path, commands=commands)) == {"a.x::adds": "passed"}


def test_output_in_no_known_encoding_and_without_end_is_cut_and_read(tmp_path: Path) -> None:
    script = "printf 'ok 1 - first \\377\\n'; yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | head -c 90000000; echo 'ok 2 - last'; echo 1..2\n"
    laid_out(tmp_path, {"tests.sh": script})
    found = report_of(tmp_path, commands=Commands(test="sh tests.sh", report="tap"))

    [name] = outcomes(found)
    assert name.startswith(".::first")


@needs("node", "npm")
def test_tests_that_a_build_makes_are_told_by_their_sources_and_run_one_file_at_a_time(
    tmp_path: Path,
) -> None:
    place = with_packages("node-built", tmp_path)
    laid_out(
        place, {"test/other.test.ts": 'import { test } from "node:test";\n\ntest("passes", () => {});\n'}
    )
    settings = {"mode": "prepared"}
    whole = report_of(place, settings=settings)
    one = report_of(place, settings=settings, tests=["test/postage.test.ts"])

    postage = {
        "test/postage.test.ts::postage > begins with the base": "passed",
        "test/postage.test.ts::postage > counts 1 kilograms": "passed",
        "test/postage.test.ts::postage > counts 20 kilograms": "passed",
    }
    assert outcomes(whole) == {**postage, "test/other.test.ts::passes": "passed"}
    assert outcomes(one) == postage
    assert "whole suite" not in " ".join(one.commands)


@needs("node", "npm")
def test_what_the_build_before_node_does_not_take_is_named_with_its_place(tmp_path: Path) -> None:
    place = with_packages("node-built", tmp_path)
    text = 'import { test } from "node:test";\nimport { weigh } from "../src/index.js";\n\ntest("weighs", () => weigh(1));\n'
    laid_out(place, {"test/weigh.test.ts": text})
    report = report_of(place, settings={"mode": "prepared"})

    assert outcomes(report) == {}
    [error] = report.collection_errors
    assert error.startswith("test/weigh.test.ts: test/weigh.test.ts:2: error TS2305: ")
    assert "weigh" in error


TAPE = {
    "test/table.js::columns stand below each other": "passed",
    "test/table.js::the gap > may be narrow": "passed",
    "test/table.js::the gap > may be none": "passed",
    "test/wide/width.js::a letter is one column": "passed",
}


@needs("node", "npm")
def test_tests_of_tape_are_told_by_file_and_name_and_run_one_file_at_a_time(tmp_path: Path) -> None:
    place = with_packages("tape", tmp_path)
    settings = {"mode": "prepared"}
    whole = report_of(place, settings=settings)
    file = report_of(place, settings=settings, tests=["test/wide/width.js"])
    one = report_of(place, settings=settings, tests=["test/table.js::the gap > may be none"])

    assert outcomes(whole) == TAPE
    assert whole.commands == ("tape 'test/**/*.js'",)
    assert outcomes(file) == {"test/wide/width.js::a letter is one column": "passed"}
    assert outcomes(one) == {"test/table.js::the gap > may be none": "passed"}
    assert file.commands == ("tape test/wide/width.js",)


@needs("node", "npm")
def test_one_program_that_loads_all_tests_of_tape_tells_each_by_its_own_file(tmp_path: Path) -> None:
    place = with_packages("tape", tmp_path)
    manifest = '{"main": "lib/index.js", "scripts": {"test": "node test"}, "devDependencies": {"tape": "^5"}}'
    helper = 'const tape = require("tape");\nexports.each = (names) => names.forEach((name) => tape(name, (t) => t.end()));\n'
    laid_out(
        place,
        {
            "package.json": manifest,
            "test/index.js": 'require("./table");\nrequire("./wide/width");\nrequire("./made");\n',
            "test/made.js": 'require("./helper").each(["one", "two"]);\n',
            "test/helper.js": helper,
            "test/alone.js": 'require("tape")("is nowhere loaded", (t) => t.end());\n',
        },
    )
    settings = {"mode": "prepared"}
    whole = report_of(place, settings=settings)

    assert outcomes(whole) == {**TAPE, "test/made.js::one": "passed", "test/made.js::two": "passed"}
    assert "only once it is loaded there" in whole.remedies[0]
    alone = report_of(place, settings=settings, tests=["test/alone.js"])
    assert outcomes(alone) == {"test/alone.js::is nowhere loaded": "passed"}
    every = report_of(place, settings=settings, command=["tape", "test/**/*.js"])
    assert outcomes(every)["test/alone.js::is nowhere loaded"] == "passed"


@needs("node", "npm")
def test_tape_that_fails_leaves_off_dies_and_cannot_load(tmp_path: Path) -> None:
    place = with_packages("tape", tmp_path)
    text = (
        'import test from "tape";\n\ntest("differs", (t) => {\n  t.equal(1, 2, "one is two");\n  t.end();\n});\n'
        'test("later", { skip: true }, (t) => t.end());\ntest("to do", { todo: true }, (t) => {\n  t.fail("not yet");\n  t.end();\n});\n'
        'test("counts", (t) => {\n  t.plan(2);\n  t.pass();\n});\ntest("never", (t) => {});\n'
    )
    laid_out(place, {"test/odd.mjs": text, "test/dies.js": 'require("tape")("dies", () => missing());\n'})
    settings = {"mode": "prepared"}
    odd = report_of(place, settings=settings, tests=["test/odd.mjs"])
    dies = report_of(place, settings=settings, tests=["test/dies.js"])

    assert {case.id.partition("::")[2]: case.outcome for case in odd.cases} == {
        "differs": "failed",
        "later": "skipped",
        "to do": "skipped",
        "counts": "failed",
    }
    assert odd.cases[0].message.startswith("one is two (equal), expected 2, found 1, at ")
    assert [case.outcome for case in dies.cases] == ["failed"]
    assert "ReferenceError: missing is not defined" in dies.cases[0].message
    laid_out(place, {"test/broken.js": 'require("./gone");\n'})
    [error] = report_of(place, settings=settings).collection_errors
    assert error.startswith("test/broken.js: test/broken.js:1: Error: Cannot find module './gone'")


@needs("node", "npm")
def test_tests_of_tape_in_threads_of_one_process_are_told_apart(tmp_path: Path) -> None:
    place = with_packages("tape", tmp_path)
    thread = (
        'const { Worker, isMainThread } = require("worker_threads");\nif (isMainThread) new Worker(__filename);\n'
        'require("tape")(isMainThread ? "in the process" : "in a thread", (t) => t.end());\n'
    )
    laid_out(place, {"test/thread.js": thread})
    report = report_of(place, settings={"mode": "prepared"}, tests=["test/thread.js"])

    assert outcomes(report) == {
        "test/thread.js::in the process": "passed",
        "test/thread.js::in a thread": "passed",
    }


@needs("node", "npm")
def test_a_command_of_tape_that_is_configured_is_listened_to_as_well(tmp_path: Path) -> None:
    place = with_packages("tape", tmp_path)
    commands = Commands(test="tape test/table.js test/wide/width.js", report="tap")
    settings = {"mode": "prepared"}
    whole = report_of(place, settings=settings, commands=commands)
    one = report_of(place, settings=settings, commands=commands, tests=["test/wide/width.js"])

    assert outcomes(whole) == TAPE
    assert one.commands == ("tape test/wide/width.js",)


@needs("node", "npm")
def test_tests_of_ava_are_told_by_their_file_where_there_is_only_one_as_where_there_are_several(
    tmp_path: Path,
) -> None:
    place = with_packages("ava", tmp_path)
    settings = {"mode": "prepared"}
    only = {
        "test.js::a task that succeeds is asked once": "passed",
        "test.js::a task that fails › is asked again": "passed",
    }
    new = 'import test from "ava";\n\ntest("is new", (t) => t.pass());\n'

    assert outcomes(report_of(place, settings=settings)) == only
    assert outcomes(report_of(place, settings=settings, tests=["test.js"])) == only
    laid_out(place, {"new.test.js": new})
    assert outcomes(report_of(place, settings=settings)) == {**only, "new.test.js::is new": "passed"}
    one = report_of(place, settings=settings, tests=["new.test.js"])
    assert outcomes(one) == {"new.test.js::is new": "passed"}
    assert one.commands == ("ava --tap new.test.js",)
