"""The service of commands as a process: it greets, keeps to the Extension API, and its help shows an example."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from cogworks.cli.main import cli
from cogworks.domain_services.languages import LANGUAGES, patterns_of
from cogworks.domain_services.messages import ErrorCode
from cogworks.errors import UsageError
from cogworks.grammars.languages.registry import PATTERNS
from cogworks.services.command import answering
from cogworks.services.command.answering import METHODS
from cogworks.services.command.ground import Commands
from tests.services.asking import laid_out
from tests.services.command.commanding import ask, needs, outcomes, report_of

SAMPLE = {
    "package.json": '{"type": "module", "scripts": {"test": "node --test"}}',
    "a.test.js": "import { test } from 'node:test';\ntest('works', () => {});\ntest('fails', () => { throw Error('no'); });\n",
}


def test_its_handshake_names_methods_files_and_walls(tmp_path: Path) -> None:
    told = ask("handshake", tmp_path).result

    assert told["capabilities"] == list(METHODS)
    assert told["artifact_types"] == list(LANGUAGES)
    assert {"*.ts", "*.go", "*.rs", "*.java", "*.rb", "*.php", "*.cs", "*.c"} <= set(
        told["artifact_patterns"]
    )
    assert told["test_commands"] is True


def test_every_file_that_a_grammar_reads_is_announced_so_that_it_is_asked_about() -> None:
    assert set(PATTERNS) <= set(patterns_of())


def test_a_language_that_is_named_narrows_what_is_announced_and_indexed(tmp_path: Path) -> None:
    laid_out(tmp_path, {"a.go": "package a\n", "b.rs": "fn b() {}\n"})
    go = Commands(language="go")

    assert ask("handshake", tmp_path, commands=go).result["artifact_patterns"] == ["*.go"]
    for answer in (
        ask("index", tmp_path, commands=go),
        ask("index", tmp_path, commands=go, artifacts=["a.go", "b.rs"]),
    ):
        assert {each["artifact"] for each in answer.result["symbols"]} == {"a.go"}
    whole = ask("index", tmp_path).result["symbols"]
    assert {each["artifact"] for each in whole} == {"a.go", "b.rs"}


@pytest.mark.parametrize("option", ["--language", "--root-language"])
def test_a_language_that_nobody_knows_is_refused(option: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["service", "command", "--socket", str(tmp_path / "a"), option, "cobol"])

    assert isinstance(done.exception, UsageError)
    assert f"{option} is 'cobol'; known here: go, rust" in str(done.exception)


def test_an_answer_longer_than_a_message_may_be_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out(tmp_path, {"a.go": "package a\n" + "".join(f"func f{n}() {{}}\n" for n in range(50))})
    monkeypatch.setattr(answering, "MAX_MESSAGE_BYTES", 2_000)

    error = ask("index", tmp_path).error

    assert error is not None
    assert error.code is ErrorCode.TOOL_FAILED
    assert "a message at most 2000" in error.message


def test_its_help_has_an_example() -> None:
    shown = CliRunner().invoke(cli, ["service", "command", "--help"])

    assert shown.exit_code == 0
    assert "cogworks service command --socket" in shown.output


@pytest.mark.slow
@needs("node")
def test_it_passes_the_conformance_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = laid_out(tmp_path / "repository", SAMPLE)
    laid_out(tmp_path, {".cogworks/services.toml": '[[services]]\nname = "web"\nkind = "command"\n'})
    monkeypatch.chdir(tmp_path)
    sample = (
        "--repository",
        str(repository),
        "--artifact",
        "a.test.js",
        "--failing-test",
        "a.test.js::fails",
    )
    done = CliRunner().invoke(cli, ["service", "conformance", "web", *sample, "--json"])

    told = json.loads(done.stdout)
    assert [each for each in told["results"] if each["status"] == "failed"] == []
    assert done.exit_code == 0


@pytest.mark.slow
@pytest.mark.timeout(300)
@needs("go")
def test_it_passes_the_conformance_suite_with_what_it_announces_for_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "go.mod": "module example.com/a\n\ngo 1.18\n",
        "a.go": "package a\n\nfunc One() int {\n\treturn 1\n}\n",
        "a_test.go": 'package a\n\nimport "testing"\n\nfunc TestTwo(t *testing.T) {\n\tif One() != 2 {\n\t\tt.Error("no")\n\t}\n}\n',
    }
    repository = laid_out(tmp_path / "repository", files)
    service = '[[services]]\nname = "own"\nkind = "command"\nlanguage = "go"\n'
    laid_out(tmp_path, {".cogworks/services.toml": service})
    monkeypatch.chdir(tmp_path)
    sample = ["--repository", str(repository), "--artifact", "a_test.go", "--artifact", "a.go"]
    words = [*sample, "--failing-test", "a_test.go::TestTwo", "--json"]
    done = CliRunner().invoke(cli, ["service", "conformance", "own", *words])

    told = json.loads(done.stdout)
    assert [each for each in told["results"] if each["status"] == "failed"] == []
    assert [each["status"] for each in told["results"] if "coverage" in str(each)] == ["passed"]
    assert done.exit_code == 0


@needs("node")
def test_a_program_that_is_a_link_of_another_name_is_found_behind_walls_too(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    laid_out(programs, {"lib/pack/bin/pack.cjs": "#!/usr/bin/env node\nrequire('../dist/whole.cjs');\n", "lib/pack/dist/whole.cjs": "console.log('ok 1 - packed');console.log('1..1');\n"})  # fmt: skip
    (programs / "lib/pack/bin/pack.cjs").chmod(0o755)
    (programs / "bin").mkdir()
    (programs / "bin/pack").symlink_to("../lib/pack/bin/pack.cjs")
    repository = laid_out(tmp_path / "repository", {"a.js": ""})
    path = f"{programs / 'bin'}:{os.environ['PATH']}"
    report = report_of(
        repository, commands=Commands(language="typescript", test="pack", report="tap"), path=path
    )

    assert outcomes(report) == {".::packed": "passed"}
