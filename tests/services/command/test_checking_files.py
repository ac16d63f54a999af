"""`validate`, `normalise` and `prepare` of the service of commands."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.checking import Prepared
from cogworks.domain_services.messages import ErrorCode
from cogworks.services.command.compilers import Finding, findings_in
from cogworks.services.command.ground import Commands
from cogworks.services.command.validating import tool_of
from tests.services.asking import laid_out
from tests.services.command.commanding import ask, needs

LINT = Commands(lint="cat {files} >&2; exit 1")


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (
            "src/a.ts:3:7: Missing semicolon [Error/semi]",
            Finding("src/a.ts", 3, "Missing semicolon [Error/semi]"),
        ),
        ("vet: ./a.go:3:7: undefined: y", Finding("./a.go", 3, "undefined: y", is_error=True)),
        ("a.c:4:2: error: expected ';'", Finding("a.c", 4, "error: expected ';'", is_error=True)),
        ("a.c:4:2: warning: unused", Finding("a.c", 4, "warning: unused")),
        ("src/a.ts(3,5): error TS2322: no", Finding("src/a.ts", 3, "error TS2322: no", is_error=True)),
        (
            "[ERROR] src/A.java:[12,5] cannot find symbol",
            Finding("src/A.java", 12, "cannot find symbol", is_error=True),
        ),
        (
            (
                '[{"filePath":"/a/b.js","messages":[{"ruleId":"semi","severity":2,"message":"Missing semicolon.","line":3}]},'
                '{"filePath":"/a/c.js","messages":[]}]'
            ),
            Finding("/a/b.js", 3, "Missing semicolon. [Error/semi]"),
        ),
        (
            '[{"filePath":"/a/b.js","messages":[{"ruleId":null,"fatal":true,"severity":2,"message":"Parsing error: x","line":1}]}]',
            Finding("/a/b.js", 1, "Parsing error: x", is_error=True),
        ),
        (
            (
                "Error: Cannot find module './none'\nRequire stack:\n- /a/b.js\n    at require (node:internal/modules/x:1:2)\n"
                "    at Object.<anonymous> (/a/node_modules/x/y.js:1:11)\n    at Object.<anonymous> (/a/b.js:4:11)\n    at c (/a/c.js:1:1)"
            ),
            Finding("/a/b.js", 4, "Error: Cannot find module './none'", is_error=True),
        ),
        (
            '\u2718 [ERROR] Could not resolve "./none"\n\n    src/a.ts:1:7:\n      1 | import "./none";\n',
            Finding("src/a.ts", 1, 'Could not resolve "./none"', is_error=True),
        ),
    ],
)
def test_each_form_of_a_place_is_read(line: str, wanted: Finding) -> None:
    assert findings_in(f"noise\n{line}\nmore noise\n") == (wanted,)


@pytest.mark.parametrize(
    "lines",
    [
        "src/a.ts:1:7:",
        "    src/a.ts:1:7",
        (
            "\u2718 [ERROR] The server is closed [plugin scan]\n\n    node_modules/esbuild/lib/main.js:1217:27:\n      1217 | call(\n"
            "  The plugin was triggered by this import\n\n    src/a.ts:1:7:\n      1 | import"
        ),
    ],
    ids=["with-a-colon", "without", "of-a-package"],
)
def test_a_place_without_a_sentence_is_nothing_that_was_found(lines: str) -> None:
    assert findings_in(f"noise\n{lines}\nmore noise\n") == ()


def test_what_the_configured_linter_prints_becomes_diagnostics_of_the_files_asked_about(
    tmp_path: Path,
) -> None:
    laid_out(tmp_path, {"a.go": "package a\n/*\na.go:3:1: error: no\nb.go:1:1: other\n*/\n", "b.go": ""})
    response = ask("validate", tmp_path, commands=LINT, artifacts=["a.go", "README.md"])

    [found] = response.diagnostics
    assert (found.artifact, found.location.line, found.severity) == ("a.go", 3, "blocking")
    assert response.metadata.counts == {"artifacts": 1, "skipped": 1}


@needs("node")
def test_a_linter_that_knows_no_types_is_not_asked_about_typescript(tmp_path: Path) -> None:
    manifest = '{"scripts": {"test": "node --test", "lint": "standard"}}'
    says = '#!/bin/sh\nfor file; do echo "  $file:1:1: Extra semicolon. (semi)"; done\nexit 1\n'
    files = {
        "package.json": manifest,
        "a.js": "a;\n",
        "a.d.ts": "export {};\n",
        "node_modules/.bin/standard": says,
    }
    laid_out(tmp_path, files)
    (tmp_path / "node_modules/.bin/standard").chmod(0o755)

    response = ask("validate", tmp_path, artifacts=["a.js", "a.d.ts"])

    assert [(each.artifact, each.message) for each in response.diagnostics] == [
        ("a.js", "Extra semicolon. (semi)")
    ]


def test_a_file_that_is_not_there_blocks_and_a_linter_that_fails_is_said_to_be_left_out(
    tmp_path: Path,
) -> None:
    laid_out(tmp_path, {"a.go": "x"})
    gone = ask("validate", tmp_path, commands=LINT, artifacts=["b.go"])
    failing = ask("validate", tmp_path, commands=Commands(lint="./nothing"), artifacts=["a.go"])

    assert gone.status == "failure"
    assert failing.result["tools"][-1]["status"] == "skipped"


def test_the_configured_formatter_s_text_is_sent_and_nothing_is_written(tmp_path: Path) -> None:
    laid_out(tmp_path, {"a.go": "a\n", "b.go": "b\n"})
    response = ask(
        "normalise", tmp_path, commands=Commands(format="sed -i s/a/A/ {files}"), artifacts=["a.go", "b.go"]
    )

    assert response.result["files"] == [
        {"artifact": "a.go", "changed": True, "content": "A\n"},
        {"artifact": "b.go", "changed": False},
    ]
    assert (tmp_path / "a.go").read_text() == "a\n"


def test_a_language_that_is_named_narrows_the_files(tmp_path: Path) -> None:
    laid_out(tmp_path, {"a.go": "// a.go:1: no\n", "b.rs": "/*\nb.rs:1: no\n*/\n"})
    response = ask("validate", tmp_path, commands=LINT._replace(language="rust"), artifacts=["a.go", "b.rs"])

    assert [each.artifact for each in response.diagnostics] == ["b.rs"]


@needs("node")
def test_what_was_chosen_is_told_with_the_configuration_that_says_the_same(tmp_path: Path) -> None:
    laid_out(tmp_path, {"package.json": '{"scripts": {"test": "node --test"}}'})
    first = Prepared.model_validate(ask("prepare", tmp_path).result)

    assert first.runner == "node:test"
    assert ("test `node --test`", "package.json, scripts.test") in [
        (each.what, each.source) for each in first.choices
    ]
    assert 'kind = "command"' in first.configuration
    assert Prepared.model_validate(ask("prepare", tmp_path).result).key == first.key
    laid_out(tmp_path, {"package-lock.json": "{}"})
    assert Prepared.model_validate(ask("prepare", tmp_path).result).key != first.key


@needs("node")
def test_what_was_chosen_stays_what_it_is_when_it_is_written_down(tmp_path: Path) -> None:
    manifest = '{"scripts": {"test": "jest"}, "devDependencies": {"jest": "1", "eslint": "9"}}'
    laid_out(tmp_path, {"package.json": manifest, "node_modules/.keep": ""})
    found = Prepared.model_validate(ask("prepare", tmp_path).result)
    [table] = tomllib.loads(found.configuration)["services"]
    written = {name: value for name, value in table.items() if name in Commands._fields}
    again = Prepared.model_validate(ask("prepare", tmp_path, commands=Commands(**written)).result)

    # Its packages are there, so nothing installs them.
    assert "setup" not in table
    assert again.runner == found.runner == "jest"
    assert again.configuration == ""
    assert ("lint `eslint --format json {files}`", "package.json") in [
        (each.what, each.source) for each in found.choices
    ]


@needs("ruby")
def test_a_command_of_the_users_is_what_is_told_and_nothing_of_it_is_guessed(tmp_path: Path) -> None:
    laid_out(tmp_path, {"Gemfile": "gem 'minitest'\n", "Rakefile": ""})
    asked: dict[str, Any] = {"settings": {"mode": "prepared"}}
    found = Prepared.model_validate(ask("prepare", tmp_path, **asked).result)
    told = Prepared.model_validate(ask("prepare", tmp_path, **asked, command=["rake", "test"]).result)

    assert found.command[-1] == "bundle exec rake test"
    assert (told.command[-1], told.runner, told.configuration) == ("rake test", "minitest", "")
    why = "a line for each test, by a reporter of ours in the form of node's own"
    assert [(each.what, each.source, each.why) for each in told.choices] == [
        ("test `rake test`", "[tests] command", ""),
        ("report `node-test`", "[tests] command", why),
    ]
    assert found.key != told.key


@pytest.mark.slow
def test_what_is_there_without_setup_is_reused_and_what_a_setup_makes_where_it_is_kept(
    tmp_path: Path,
) -> None:
    repository = laid_out(tmp_path / "repository", {"Makefile": "test:\n\ttrue\n", "a.c": ""})

    def is_reused(setup: tuple[str, ...], mode: str = "made", kept: Path | None = None) -> list[bool]:
        commands = Commands(test="true", setup=setup)
        answers = [
            ask("prepare", repository, commands=commands, settings={"mode": mode}, kept=kept)
            for _ in range(2)
        ]
        return [Prepared.model_validate(each.result).is_reused for each in answers]

    assert is_reused(()) == [True, True]
    assert is_reused(("touch made",)) == [False, False]
    assert is_reused(("touch made",), kept=tmp_path / "kept") == [False, True]
    assert is_reused(("false",), mode="prepared") == [True, True]


@needs("node")
def test_the_choices_of_a_folder_name_the_manifest_by_its_path(tmp_path: Path) -> None:
    laid_out(tmp_path, {"web/package.json": '{"scripts": {"test": "node --test"}}'})
    found = Prepared.model_validate(ask("prepare", tmp_path, root="web").result)

    assert {each.source for each in found.choices} == {"web/package.json, scripts.test"}
    assert 'root = "web"' in found.configuration


def test_preparing_names_the_program_that_is_missing(tmp_path: Path) -> None:
    error = ask("prepare", laid_out(tmp_path, {"Cargo.toml": ""}), path="/nowhere").error

    assert error is not None
    assert error.code is ErrorCode.TOOL_NOT_FOUND
    assert "https://rustup.rs" in error.message


@pytest.mark.parametrize(
    ("line", "tool"),
    [("eslint --format json {files}", "eslint"), ("yarn prettier --write {files}", "prettier"), ("", "")],
)
def test_a_linter_is_named_whoever_starts_it(line: str, tool: str) -> None:
    assert tool_of(line) == tool
