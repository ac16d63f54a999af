"""Repositories in Ruby, PHP, C and C++ as they are, with no configuration or one line, by the tools of the machine."""

from pathlib import Path

import pytest

from tests.services.asking import laid_out
from tests.services.command.commanding import needs, outcomes, report_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
PREPARED = {"mode": "prepared"}

RAKEFILE = """require "rake/testtask"

Rake::TestTask.new(:test) do |t|
  t.libs << "test"
  t.test_files = FileList["test/**/*_test.rb"]
end
"""
QUEUE = """class WaitingLine
  def initialize; @people = []; end
  def join(name); @people.push(name); self; end
  def next; @people.shift; end
  def size; @people.size; end
end
"""
QUEUE_TEST = """require "minitest/autorun"
require "waiting_line"

class WaitingLineTest < Minitest::Test
  def test_serves_who_came_first
    assert_equal "ann", WaitingLine.new.join("ann").join("bo").next
  end

  def test_counts
    assert_equal 2, WaitingLine.new.join("ann").size
  end

  def test_later
    skip "not yet"
  end
end
"""
SPEC_TEST = """require "minitest/autorun"
require "waiting_line"

describe "a new line" do
  it("is empty") { _(WaitingLine.new.size).must_equal 0 }
end
"""
MINITEST = {
    "Rakefile": RAKEFILE,
    "lib/waiting_line.rb": QUEUE,
    "test/waiting_line_test.rb": QUEUE_TEST,
    "test/new_line_test.rb": SPEC_TEST,
}
QUEUE_CASES = {
    "test/waiting_line_test.rb::WaitingLineTest > test_serves_who_came_first": "passed",
    "test/waiting_line_test.rb::WaitingLineTest > test_counts": "failed",
    "test/waiting_line_test.rb::WaitingLineTest > test_later": "skipped",
}
NEW_CASES = {"test/new_line_test.rb::a new line > test_0001_is empty": "passed"}


@needs("ruby", "rake")
def test_minitest_by_rake_whole_by_file_and_by_name(tmp_path: Path) -> None:
    laid_out(tmp_path, MINITEST)
    whole = report_of(tmp_path)
    one = report_of(tmp_path, tests=["test/new_line_test.rb"])
    named = report_of(tmp_path, tests=[next(iter(QUEUE_CASES))])
    both = report_of(tmp_path, tests=["test/new_line_test.rb", "test/waiting_line_test.rb"])

    assert outcomes(whole) == outcomes(both) == {**QUEUE_CASES, **NEW_CASES}
    assert outcomes(one) == NEW_CASES
    assert outcomes(named) == dict([next(iter(QUEUE_CASES.items()))])
    [failed] = [case for case in whole.cases if case.outcome == "failed"]
    assert failed.message.startswith("Expected: 2\n  Actual: 1\ntest/waiting_line_test.rb:10")
    assert not [command for command in one.commands if "whole suite" in command]


@needs("ruby", "rake")
def test_tests_that_are_made_of_files_have_ids_that_compare(tmp_path: Path) -> None:
    text = (
        'require "minitest/autorun"\n\nclass FilesTest < Minitest::Test\n'
        '  Dir[__dir__ + "/cases/*.txt"].each do |file|\n'
        '    define_method("test_#{file}_to_html") { assert_equal "a", File.read(file) }\n  end\nend\n'
    )
    cases = {"test/cases/a.txt": "a", "test/cases/b.txt": "b"}
    laid_out(tmp_path, {"Rakefile": RAKEFILE, "test/files_test.rb": text, **cases})
    known = "test/files_test.rb::FilesTest > test_test/cases/a.txt_to_html"
    whole = report_of(tmp_path)
    named = report_of(tmp_path, tests=[known])

    assert outcomes(whole) == {known: "passed", known.replace("a.txt", "b.txt"): "failed"}
    assert outcomes(named) == {known: "passed"}


@needs("ruby", "rake")
def test_where_the_repository_says_that_ruby_looks_for_code_our_reporter_is_found_too(tmp_path: Path) -> None:
    laid_out(tmp_path, {**MINITEST, "Rakefile": RAKEFILE.replace("  t.libs", "  t.libs = []\n  t.libs")})

    assert not outcomes(report_of(tmp_path))
    assert outcomes(report_of(tmp_path, settings={"variables": {"RUBYLIB": "lib"}})) == {
        **QUEUE_CASES,
        **NEW_CASES,
    }


@needs("ruby", "rake")
def test_a_suite_whose_runner_loads_no_reporter_is_one_result(tmp_path: Path) -> None:
    deaf = 'require "minitest"\ndef Minitest.load_plugins; end\n'
    files = {
        **MINITEST,
        "test/waiting_line_test.rb": f"{deaf}{QUEUE_TEST}",
        "test/new_line_test.rb": SPEC_TEST,
    }
    laid_out(tmp_path, {**files, "test/empty_test.rb": ""})
    bad = report_of(tmp_path)
    laid_out(tmp_path, {"test/waiting_line_test.rb": f"{deaf}{QUEUE_TEST}".replace("equal 2", "equal 1")})
    good, one = report_of(tmp_path), report_of(tmp_path, tests=["test/waiting_line_test.rb"])

    assert (outcomes(bad), bad.collection_errors) == ({".::rake test": "failed"}, ())
    assert "Expected: 2" in bad.cases[0].message
    assert outcomes(good) == outcomes(one) == {".::rake test": "passed"}


@needs("ruby", "rake", "rspec")
@pytest.mark.parametrize("runner", ["rake", "rspec"])
def test_a_process_of_ruby_that_ends_in_the_middle_is_told(tmp_path: Path, runner: str) -> None:
    leaving = 'require "minitest/autorun"\nclass ATest < Minitest::Test\n  i_suck_and_my_tests_are_order_dependent!\n'
    leaving += "  def test_a; assert true; end\n  def test_b; exit!(0); end\nend\n"
    spec = 'RSpec.describe("all") { it("a") {}; it("b") { exit!(0) } }\n'
    rake = {"Rakefile": RAKEFILE, "test/a_test.rb": leaving}
    report = report_of(
        laid_out(
            tmp_path, rake if runner == "rake" else {".rspec": "", "Rakefile": "", "spec/a_spec.rb": spec}
        )
    )

    assert [case.outcome for case in report.cases] == ["passed"]
    [error] = report.collection_errors
    assert error.startswith(".: the tests ended in the middle, after ")


@needs("ruby", "rake", "bundle")
def test_a_gem_with_a_gemfile_whose_gems_are_on_the_machine_needs_no_registry(tmp_path: Path) -> None:
    gemspec = (
        'Gem::Specification.new do |s|\n  s.name = "waiting_line"\n  s.version = "1.0.0"\n  s.summary = "x"\n'
        '  s.authors = ["x"]\n  s.files = Dir["lib/**/*.rb"]\nend\n'
    )
    files = {
        "Gemfile": 'source "https://rubygems.org"\ngemspec\ngem "rake"\ngem "minitest"\n',
        "waiting_line.gemspec": gemspec,
    }
    laid_out(tmp_path, {**MINITEST, **files})

    assert outcomes(report_of(tmp_path)) == {**QUEUE_CASES, **NEW_CASES}


@needs("ruby", "rake")
def test_a_test_of_ruby_that_cannot_be_loaded_is_told(tmp_path: Path) -> None:
    laid_out(tmp_path, {**MINITEST, "test/broken_test.rb": 'require "no_such_thing"\n'})
    report = report_of(tmp_path)

    assert outcomes(report) == {}
    assert any(
        "test/broken_test.rb:1: " in error and "no_such_thing" in error for error in report.collection_errors
    )


@needs("ruby", "rspec")
def test_rspec_tells_each_example_without_a_gem_for_it(tmp_path: Path) -> None:
    text = (
        'require "waiting_line"\n\nRSpec.describe WaitingLine do\n  describe "#next" do\n'
        '    it("serves who came first") { expect(WaitingLine.new.join("ann").next).to eq "ann" }\n'
        '    it("is wrong") { expect(1).to eq 2 }\n    xit("waits") {}\n  end\nend\n'
    )
    files = {".rspec": "--require spec_helper\n", "spec/spec_helper.rb": "", "lib/waiting_line.rb": QUEUE}
    more = 'RSpec.describe("more") { it("adds") { expect(1 + 1).to eq 2 } }\n'
    laid_out(tmp_path, {"Rakefile": "", **files, "spec/line_spec.rb": text, "spec/more_spec.rb": more})
    line = {
        "spec/line_spec.rb::WaitingLine > #next > serves who came first": "passed",
        "spec/line_spec.rb::WaitingLine > #next > is wrong": "failed",
        "spec/line_spec.rb::WaitingLine > #next > waits": "skipped",
    }

    assert outcomes(report_of(tmp_path)) == {**line, "spec/more_spec.rb::more > adds": "passed"}
    assert outcomes(report_of(tmp_path, tests=["spec/line_spec.rb"])) == line
    laid_out(tmp_path, {"spec/broken_spec.rb": "RSpec.describe NoSuchThing do\nend\n"})
    [error] = report_of(tmp_path).collection_errors
    assert error.startswith("spec/broken_spec.rb: spec/broken_spec.rb")
    assert "uninitialized constant NoSuchThing" in error


@needs("ruby", "rspec", "rake")
def test_a_command_of_the_users_own_for_ruby_tells_each_test_or_how_it_ended(tmp_path: Path) -> None:
    spec = 'RSpec.describe("sums") { it("adds") { expect(1 + 1).to eq 2 } }\n'
    laid_out(tmp_path, {**MINITEST, "spec/sums_spec.rb": spec})
    by_rspec = report_of(tmp_path, command=["rspec", "spec/sums_spec.rb"])
    by_rake = report_of(tmp_path, command=["rake", "test"])
    by_hand = report_of(tmp_path, command=["ruby", "-Ilib", "test/new_line_test.rb"])

    assert outcomes(by_rspec) == {"spec/sums_spec.rb::sums > adds": "passed"}
    assert outcomes(by_rake) == {**QUEUE_CASES, **NEW_CASES}
    assert outcomes(by_hand) == {".::ruby -Ilib test/new_line_test.rb": "passed"}


PHP = {
    "composer.json": '{"name": "example/line", "require-dev": {"phpunit/phpunit": "^9.5"}}',
    "phpunit.xml": (
        '<?xml version="1.0"?>\n<phpunit bootstrap="src/Line.php"><testsuites><testsuite name="all">'
        "<directory>tests</directory></testsuite></testsuites></phpunit>\n"
    ),
    "src/Line.php": "<?php\nfinal class Line {\n    public function first(array $names): ?string { return $names[0] ?? null; }\n}\n",
    "tests/LineTest.php": """<?php
use PHPUnit\\Framework\\TestCase;

final class LineTest extends TestCase
{
    public function testFirst(): void { self::assertSame("ann", (new Line())->first(["ann", "bo"])); }

    public function testFirstOfNone(): void { self::assertSame("", (new Line())->first([])); }

    /** @dataProvider names */
    public function testAnybody(string $name): void { self::assertSame($name, (new Line())->first([$name])); }

    public static function names(): array { return ["short" => ["a"], "with a space" => ["a b"]]; }

    public function testLater(): void { self::markTestSkipped("later"); }
}
""",
    "tests/OtherTest.php": (
        "<?php\nuse PHPUnit\\Framework\\TestCase;\n\nfinal class OtherTest extends TestCase\n{\n"
        "    public function testFirst(): void { self::assertTrue(true); }\n}\n"
    ),
}


@needs("php", "phpunit")
def test_phpunit_of_the_machine_whole_by_file_and_by_name(tmp_path: Path) -> None:
    laid_out(tmp_path, PHP)
    whole = outcomes(report_of(tmp_path, settings=PREPARED))
    asked = ["tests/LineTest.php::testFirst", 'tests/LineTest.php::testAnybody with data set "with a space"']
    one = report_of(tmp_path, settings=PREPARED, tests=asked)

    assert whole == {
        "tests/LineTest.php::testFirst": "passed",
        "tests/LineTest.php::testFirstOfNone": "failed",
        'tests/LineTest.php::testAnybody with data set "short"': "passed",
        'tests/LineTest.php::testAnybody with data set "with a space"': "passed",
        "tests/LineTest.php::testLater": "skipped",
        "tests/OtherTest.php::testFirst": "passed",
    }
    assert outcomes(one) == dict.fromkeys(asked, "passed")
    assert "tests/OtherTest.php" not in " ".join(one.commands)
    assert outcomes(report_of(tmp_path, settings=PREPARED, tests=["tests/OtherTest.php"])) == {
        "tests/OtherTest.php::testFirst": "passed"
    }


@needs("php", "phpunit")
def test_a_command_of_the_users_own_for_php_tells_each_test_or_how_it_ended(tmp_path: Path) -> None:
    laid_out(tmp_path, {**PHP, "check.php": "<?php exit(3);\n"})
    by_phpunit = report_of(
        tmp_path, settings=PREPARED, command=["phpunit", "--no-configuration", "tests/OtherTest.php"]
    )
    by_hand = report_of(tmp_path, settings=PREPARED, command=["php", "check.php"])

    assert outcomes(by_phpunit) == {"tests/OtherTest.php::testFirst": "passed"}
    assert outcomes(by_hand) == {".::php check.php": "failed"}


@needs("php", "phpunit")
def test_a_mistake_in_php_is_named_with_its_line(tmp_path: Path) -> None:
    laid_out(
        tmp_path, {**PHP, "tests/LineTest.php": "<?php\nfinal class LineTest {\n    public function (\n"}
    )
    report = report_of(tmp_path, settings=PREPARED)

    assert any(
        "tests/LineTest.php" in error and "syntax error" in error for error in report.collection_errors
    )


CMAKE = {
    "CMakeLists.txt": (
        "cmake_minimum_required(VERSION 3.21)\nproject(line C CXX)\nenable_testing()\nadd_library(line src/line.c)\n"
        "target_include_directories(line PUBLIC src)\nadd_executable(line_test tests/line_test.cpp)\n"
        "target_link_libraries(line_test line)\n"
        "foreach(name adds fails)\n  add_test(NAME ${name} COMMAND line_test ${name})\nendforeach()\n"
    ),
    "src/line.h": '#ifdef __cplusplus\nextern "C"\n#endif\nint line_add(int count, int more);\n',
    "src/line.c": '#include "line.h"\n\nint line_add(int count, int more) { return count + more; }\n',
    "tests/line_test.cpp": (
        '#include <cstdio>\n#include <string>\n\n#include "line.h"\n\nint main(int, char **words) {\n'
        '  std::puts("it was asked");\n  return std::string(words[1]) == "adds" && line_add(1, 2) == 3 ? 0 : 1;\n}\n'
    ),
}


@needs("cmake", "ctest", "cc", "c++")
def test_cmake_and_ctest_tell_each_test(tmp_path: Path) -> None:
    laid_out(tmp_path, CMAKE)
    report = report_of(tmp_path)

    assert outcomes(report) == {".::adds": "passed", ".::fails": "failed"}
    assert "it was asked" in next(case.message for case in report.cases if case.outcome == "failed")
    laid_out(tmp_path, {"src/line.c": "int line_add(int count, int more) { return count + ; }\n"})
    broken = report_of(tmp_path)
    assert broken.collection_errors[0].startswith(".: src/line.c:1: error: expected expression")
