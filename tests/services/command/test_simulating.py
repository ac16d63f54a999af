"""The operation `simulate` of the service of commands, with real toolchains behind real walls."""

import json
import shutil
from pathlib import Path

import pytest

from cogworks.domain_services.messages import ErrorCode
from cogworks.services.command.ground import Commands
from tests.services.asking import laid_out
from tests.services.command.commanding import ask, needs, outcomes, report_of

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
SHELL = Commands(test="sh tests.sh", report="tap")


def sample(name: str, folder: Path) -> Path:
    return Path(shutil.copytree(SAMPLES / name, folder / name))


@needs("node")
def test_a_package_without_any_configuration_has_its_tests_run_by_node(tmp_path: Path) -> None:
    report = report_of(sample("javascript", tmp_path))

    assert outcomes(report) == {
        "test/prices.test.js::total > adds up": "passed",
        "test/prices.test.js::total > is nothing without prices": "passed",
    }
    assert report.commands == ("node --test",)
    assert "node" in report.versions


@needs("node")
def test_one_test_of_a_package_is_run_and_no_other_is_told(tmp_path: Path) -> None:
    test = "test/prices.test.js::total > adds up"

    assert outcomes(report_of(sample("javascript", tmp_path), tests=[test])) == {test: "passed"}


@needs("node")
def test_a_file_that_node_cannot_load_is_a_collection_error_with_its_line(tmp_path: Path) -> None:
    repository = sample("javascript", tmp_path)
    laid_out(repository, {"test/broken.test.js": 'import { no } from "../src/prices.js";\n'})
    report = report_of(repository)

    [error] = report.collection_errors
    assert error.startswith("test/broken.test.js: test/broken.test.js:1: SyntaxError: The requested module")
    assert len(report.cases) == 2


@needs("node")
def test_a_runner_that_ends_before_any_test_is_told_by_the_error_and_not_by_the_bracket_behind_it(
    tmp_path: Path,
) -> None:
    said = (
        "✖ ERROR: Error [ERR_MODULE_NOT_FOUND]: Cannot find module './runtime'\n"
        "    at finalizeResolution (node:internal/modules/esm/resolve:283:11) {\n  code: 'ERR_MODULE_NOT_FOUND'\n}\n"
    )
    laid_out(tmp_path, {"said": said, "tests.sh": "cat said >&2; exit 1\n"})
    commands = Commands(test="sh tests.sh", report="node-test")

    [error] = report_of(tmp_path, commands=commands).collection_errors
    assert error.splitlines()[-1] == said.splitlines()[0]
    assert "}" in error


@pytest.mark.slow
@needs("go")
def test_a_module_of_go_is_tested_and_one_that_does_not_build_names_file_and_line(tmp_path: Path) -> None:
    repository = sample("go", tmp_path)

    assert outcomes(report_of(repository)) == {
        "prices/prices_test.go::TestTotalAddsUp/one": "passed",
        "prices/prices_test.go::TestTotalAddsUp/three": "passed",
        "prices/prices_test.go::TestTotalAddsUp": "passed",
    }
    laid_out(repository, {"prices/broken.go": "package prices\n\nfunc Broken() int { return missing }\n"})
    assert report_of(repository).collection_errors == ("prices: prices/broken.go:3: undefined: missing",)


@pytest.mark.slow
@needs("cargo")
def test_a_crate_is_tested_and_one_that_does_not_build_names_file_and_line(tmp_path: Path) -> None:
    repository = sample("rust", tmp_path)

    assert outcomes(report_of(repository)) == {"src/prices.rs::prices::tests::adds_up": "passed"}
    laid_out(repository, {"src/lib.rs": "pub mod prices;\npub fn broken() -> i32 { missing }\n"})
    [error] = report_of(repository).collection_errors
    assert error == ".: src/lib.rs:2: cannot find value `missing` in this scope"


@pytest.mark.parametrize("root", ["", "web"])
def test_a_test_named_after_a_path_has_the_same_id_in_every_run(root: str, tmp_path: Path) -> None:
    script = (
        'echo "ok 1 - reads $PWD/data/a.txt"; echo "ok 2 - in $PWD"; echo "ok 3 - at $TMPDIR/x"; echo 1..3\n'
    )
    laid_out(tmp_path / root, {"tests.sh": script, "data/a.txt": ""})
    first, second = (outcomes(report_of(tmp_path, root=root, commands=SHELL)) for _ in range(2))

    place = root or "."
    assert list(first) == [f"{place}::reads data/a.txt", f"{place}::in .", f"{place}::at <tmp>/x"]
    assert second == first


@pytest.mark.parametrize("root", ["", "web"])
def test_an_id_that_the_service_gave_to_a_whole_command_or_to_a_test_without_a_file_is_run_again(
    root: str, tmp_path: Path
) -> None:
    laid_out(tmp_path / root, {"tests.sh": "echo 'ok 1 - adds'; echo 1..1; exit 1\n"})
    whole = Commands(test="A=1 sh tests.sh /^test:/", test_one="exit 3 {file}")

    for commands in (whole, SHELL):
        [case] = report_of(tmp_path, root=root, commands=commands).cases
        again = report_of(tmp_path, root=root, commands=commands, tests=[case.id])
        assert [each.id for each in again.cases] == [case.id]
        assert again.commands[0] == commands.test


@pytest.mark.parametrize(
    ("script", "first"),
    [
        ("seq 1000; echo 'Error: no database'; seq 1000 1100; exit 1", "Error: no database"),
        ("seq 3000; exit 1", "3000"),
        ("exit 1", "the test command ended with 1 and said nothing"),
    ],
)
def test_a_command_that_is_one_test_says_first_what_went_wrong_and_shows_whole_lines(
    script: str, first: str, tmp_path: Path
) -> None:
    laid_out(tmp_path, {"tests.sh": script})
    [case] = report_of(tmp_path, commands=Commands(test="sh tests.sh", report="exit-code")).cases
    reason, *shown = case.message.splitlines()

    assert reason == first
    assert set(shown) <= {*map(str, range(3001)), first}


@pytest.mark.parametrize("report", ["exit-code", "tap"])
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("A=1 no-such-program run", "no-such-program: not found"),
        ("./tests.sh", "Permission denied"),
        ("echo 'npm error Missing script: \"unit\"' >&2; exit 1", 'npm error Missing script: "unit"'),
    ],
)
def test_a_command_that_cannot_begin_is_no_failing_test_but_a_suite_that_did_not_run(
    command: str, reason: str, report: str, tmp_path: Path
) -> None:
    laid_out(tmp_path, {"tests.sh": "exit 0\n"})
    found = report_of(tmp_path, commands=Commands(test=command, report=report))

    [error] = found.collection_errors
    assert found.cases == ()
    assert error.startswith(".: ")
    code = {"A": 127, ".": 126, "e": 1}[command[0]]
    last = error.splitlines()[-1]
    assert f"the suite did not run: `{command}` ended with {code}: " in last
    assert last.endswith(reason)
    assert [each for each in found.remedies if "cogworks doctor" in each]
    assert [each for each in found.remedies if 'kind = "command"' in each]


@pytest.mark.slow
@needs("make")
def test_a_makefile_is_one_test(tmp_path: Path) -> None:
    repository = laid_out(tmp_path, {"Makefile": "test:\n\t@echo no >&2; exit 3\n"})
    report = report_of(repository)

    assert outcomes(report) == {".::make test": "failed"}
    assert "no" in report.cases[0].message


def test_a_folder_of_several_is_tested_alone_and_its_ids_are_those_of_the_repository(tmp_path: Path) -> None:
    tap = "1..1\nok 1 - adds\n  ---\n  file: t/a.x\n  ...\n"
    laid_out(tmp_path, {"web/t/a.x": "", "web/tests.sh": f"cat <<'E'\n{tap}E\n", "api/b.x": ""})

    assert outcomes(report_of(tmp_path, commands=SHELL, root="web")) == {"web/t/a.x::adds": "passed"}
    chosen = report_of(tmp_path, commands=SHELL, root="web", tests=["web/t/a.x::adds"])
    assert outcomes(chosen) == {"web/t/a.x::adds": "passed"}
    assert "the whole suite ran" in chosen.commands[-1]
    stranger = report_of(tmp_path, commands=SHELL, root="web", tests=["api/b.x"])
    assert "outside of 'web'" in stranger.collection_errors[0]


def test_a_root_that_is_none_is_refused(tmp_path: Path) -> None:
    for root in ("nowhere", "../x"):
        error = ask("simulate", tmp_path, commands=SHELL, root=root).error
        assert error is not None
        assert error.code is ErrorCode.INVALID_REQUEST


@pytest.mark.slow
def test_what_is_configured_runs_after_its_setup_in_a_copy(tmp_path: Path) -> None:
    commands = SHELL._replace(setup=("echo made > made",))
    laid_out(tmp_path, {"tests.sh": 'test "$(cat made)" = made && echo "ok 1 - made"; echo 1..1\n'})

    assert outcomes(report_of(tmp_path, commands=commands)) == {".::made": "passed"}
    assert not (tmp_path / "made").exists()
    prepared = ask("simulate", tmp_path, commands=commands, settings={"mode": "prepared"})
    assert prepared.status == "failure"


def test_variables_of_the_repository_reach_its_tests(tmp_path: Path) -> None:
    laid_out(tmp_path, {"tests.sh": 'echo "ok 1 - $SHOP"; echo 1..1\n'})

    assert outcomes(report_of(tmp_path, commands=SHELL, settings={"variables": {"SHOP": "open"}})) == {
        ".::open": "passed"
    }


def test_where_this_machine_keeps_packages_of_maven_reaches_the_tests(tmp_path: Path) -> None:
    packages = tmp_path / "home/.m2/repository"
    laid_out(tmp_path / "home", {".m2/repository/a.jar": ""})
    laid_out(tmp_path / "shop", {"tests.sh": 'echo "ok 1 - $MAVEN_OPTS"; echo 1..1\n'})

    def told(**variables: str) -> str:
        settings = {"variables": variables}
        [case] = report_of(tmp_path / "shop", commands=SHELL, home=tmp_path / "home", settings=settings).cases
        return case.id

    assert told() == f".::-XX:TieredStopAtLevel=1 -Dmaven.repo.local={packages}"
    assert told(MAVEN_OPTS="-Dmaven.repo.local=/opt") == ".::-XX:TieredStopAtLevel=1 -Dmaven.repo.local=/opt"


@pytest.mark.slow
def test_a_setup_that_fails_is_told_with_its_words_and_a_remedy(tmp_path: Path) -> None:
    commands = SHELL._replace(setup=("echo nothing to install >&2; exit 4",))
    error = ask("simulate", laid_out(tmp_path, {"tests.sh": ""}), commands=commands).error

    assert error is not None
    assert "nothing to install" in error.message
    assert 'environment = "prepared"' in error.message


def test_a_report_is_read_where_the_configuration_says_and_one_that_is_missing_is_told(
    tmp_path: Path,
) -> None:
    junit = '<testsuite><testcase classname="a" name="adds" file="a.x"/></testsuite>'
    laid_out(tmp_path, {"a.x": "", "tests.sh": f"mkdir out; echo '{junit}' > out/one.xml\n"})
    commands = Commands(test="sh tests.sh", report="junit", report_file="out/*.xml")

    assert outcomes(report_of(tmp_path, commands=commands)) == {"a.x::adds": "passed"}
    silent = report_of(tmp_path, commands=commands._replace(test="echo gone >&2; exit 2"))
    assert silent.collection_errors == (".: gone",)
    lost = report_of(tmp_path, commands=commands._replace(test="true"))
    assert lost.collection_errors == (".: the report of the tests cannot be read",)


def test_one_test_is_run_by_its_own_command(tmp_path: Path) -> None:
    commands = SHELL._replace(
        test_one="echo 'ok 1 - {name}'; echo '  ---'; echo '  file: {file}'; echo '  ...'; echo 1..1"
    )
    laid_out(tmp_path, {"a.x": "", "tests.sh": "exit 9\n"})

    assert outcomes(report_of(tmp_path, commands=commands, tests=["a.x::adds"])) == {"a.x::adds": "passed"}


FILES = {"test/a.js": "echo 'ok 1 - adds'\n", "test/b.js": "echo 'not ok 1 - adds'; echo 'ok 2 - ends'\n"}


def test_where_tap_names_no_file_the_suite_runs_file_by_file_and_that_is_said(tmp_path: Path) -> None:
    every = "for file in test/*.js; do sh $file; done; echo 'ok 9 - of none'; echo 1..4\n"
    laid_out(tmp_path, {**FILES, "test/c.js": "\n", "lib/a.js": "exit 9\n", "tests.sh": every})
    commands = SHELL._replace(test_one="sh {file}; echo 1..2")
    report = report_of(tmp_path, commands=commands)

    assert outcomes(report) == {
        ".::of none": "passed",
        "test/a.js::adds": "passed",
        "test/b.js::adds": "failed",
        "test/b.js::ends": "passed",
    }
    assert report.commands[1:] == (
        "sh test/a.js; echo 1..2",
        "sh test/b.js; echo 1..2",
        "sh test/c.js; echo 1..2",
        "its TAP names no file, so that the suite ran once more, file by file",
    )
    chosen = report_of(tmp_path, commands=commands, tests=["test/b.js::ends", "test/a.js"])
    assert outcomes(chosen) == {"test/a.js::adds": "passed", "test/b.js::ends": "passed"}


def test_tap_without_files_and_without_a_command_for_one_is_told_with_what_to_configure(
    tmp_path: Path,
) -> None:
    laid_out(tmp_path, {**FILES, "tests.sh": "echo 'ok 1 - adds'; echo 1..1\n"})
    report = report_of(tmp_path, commands=SHELL)

    assert outcomes(report) == {".::adds": "passed"}
    assert "names no file for 1 tests" in report.remedies[-1]
    assert "`test_one`" in report.remedies[-1]


@pytest.mark.slow
def test_a_suite_that_hangs_is_ended_at_its_limit(tmp_path: Path) -> None:
    laid_out(tmp_path, {"tests.sh": "echo 'ok 1 - first'; sleep 600\n"})
    report = report_of(tmp_path, commands=SHELL, timeout_s=1.5)

    assert (report.timed_out, outcomes(report)) == (True, {".::first": "passed"})


def test_a_program_that_is_missing_is_named_with_how_to_get_it(tmp_path: Path) -> None:
    repository = laid_out(tmp_path, {"go.mod": "module x\n"})
    error = ask("simulate", repository, path="/nowhere").error

    assert error is not None
    assert error.code is ErrorCode.TOOL_NOT_FOUND
    assert "go.mod asks for `go`" in error.message
    assert "apt install golang-go" in error.message


def test_a_repository_without_a_test_command_has_no_tests_and_is_told_what_to_configure(
    tmp_path: Path,
) -> None:
    report = report_of(laid_out(tmp_path, {"package.json": "{}"}))

    assert (report.cases, report.collection_errors) == ((), ())
    assert any('kind = "command"' in remedy for remedy in report.remedies)


def test_a_report_that_is_a_link_out_is_not_followed(tmp_path: Path) -> None:
    laid_out(
        tmp_path,
        {"tests.sh": 'ln -sf /etc/passwd "$COGWORKS_REPORT"; ln -sf /etc/passwd "$COGWORKS_SAID/stdout"\n'},
    )
    report = report_of(tmp_path, commands=SHELL)

    assert report.cases == ()
    assert "root:" not in report.model_dump_json()


def test_tests_have_no_network_and_see_no_home(tmp_path: Path) -> None:
    home = Path.home()
    laid_out(
        tmp_path,
        {
            "tests.sh": f'ls {home}/.ssh >/dev/null 2>&1 || echo "ok 1 - blind $(ls /sys/class/net 2>/dev/null | wc -l)"; echo 1..1\n'
        },
    )

    [name] = outcomes(report_of(tmp_path, commands=SHELL))
    assert name.startswith(".::blind")


@pytest.mark.slow
@needs("go")
def test_what_is_compiled_for_one_item_is_kept_for_it_alone(tmp_path: Path) -> None:
    repository, kept = sample("go", tmp_path), tmp_path / "kept"
    for item in (1, 1, 2):
        asked = {"caller": {"work_item_id": item}, "base": "0" * 40, "kept": kept}
        assert report_of(repository, **asked).passed

    assert len(list((kept / "command").iterdir())) == 2
    assert report_of(repository, kept=kept).passed
    assert len(list((kept / "command").iterdir())) == 2


@needs("node")
def test_a_command_of_the_user_is_kept_and_one_that_runs_no_test_is_refused(tmp_path: Path) -> None:
    repository = sample("javascript", tmp_path)
    own = report_of(repository, command=["node", "--test", "--test-name-pattern=adds"])
    error = ask("simulate", repository, command=["true"]).error

    assert outcomes(own)["test/prices.test.js::total > adds up"] == "passed"
    assert own.commands == ("node --test --test-name-pattern=adds",)
    assert error is not None
    assert error.code is ErrorCode.INVALID_REQUEST
    assert "`true` told of no test" in error.message


@pytest.mark.slow
@needs("mvn", "java")
def test_a_project_of_maven_is_tested_with_the_packages_that_earlier_builds_left(tmp_path: Path) -> None:
    report = report_of(sample("java", tmp_path))
    if any("could not be resolved" in error for error in report.collection_errors):
        pytest.skip("the plugins and JUnit that the sample names are not in ~/.m2/repository")

    place = "src/test/java/shop/PricesTest.java"
    assert outcomes(report) == {f"{place}::addsUp": "passed", f"{place}::Empty > isNothing": "passed"}


@needs("node")
def test_tests_are_told_nothing_of_colours(tmp_path: Path) -> None:
    told = 'import { test } from "node:test";\ntest("plain", () => { if ("NO_COLOR" in process.env || "FORCE_COLOR" in process.env) throw new Error(); });\n'
    files = {"package.json": '{"type": "module", "scripts": {"test": "node --test"}}', "a.test.js": told}

    assert outcomes(report_of(laid_out(tmp_path, files))) == {"a.test.js::plain": "passed"}


@pytest.mark.slow
@needs("cargo", "rustc")
def test_a_crate_that_is_not_here_is_the_reason_and_not_the_advice_after_it(tmp_path: Path) -> None:
    manifest = '[package]\nname = "x"\nversion = "0.1.0"\n\n[dependencies]\nno-such-crate = "1"\n'
    files = {"Cargo.toml": manifest, "src/lib.rs": ""}
    [error] = report_of(laid_out(tmp_path, files), settings={"mode": "prepared"}).collection_errors

    assert "no matching package named `no-such-crate` found" in error.splitlines()[-1]
    assert "As a reminder" not in error


@needs("node")
def test_how_the_command_was_chosen_is_no_remedy_for_what_cannot_be_loaded(tmp_path: Path) -> None:
    script = json.dumps({"scripts": {"test": "eslint . && node --test"}})
    broken = report_of(
        laid_out(tmp_path / "a", {"package.json": script, "a.test.js": "import nothing from\n"})
    )
    sound = report_of(
        laid_out(
            tmp_path / "b", {"package.json": script, "a.test.js": "require('node:test')('t', () => {});\n"}
        )
    )

    assert broken.collection_errors
    assert not [each for each in broken.remedies if "eslint" in each]
    assert [each for each in sound.remedies if "`eslint .`" in each]
