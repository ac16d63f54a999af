"""The service of commands as a process: it greets, keeps to the Extension API, and its help shows an example."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cogworks.cli import cli
from cogworks.domain_services.languages import LANGUAGES
from cogworks.services.command.answering import METHODS
from tests.services.asking import laid_out
from tests.services.command.commanding import ask, needs

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
