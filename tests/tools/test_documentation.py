"""`docs/tools.md` is true: its example runs as printed, and every tool that is registered has its line and a test."""

import re
import shlex
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from cogworks.cli.main import cli
from cogworks.codegen.governed import POLICY
from cogworks.tools.local import ToolFile
from cogworks.tools.policy import PolicyFile, Rule
from tests.codebase.repositories import git

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tools.md").read_text("utf-8")
EXAMPLE = re.compile(r"`([^`\n]+)`[^`\n]*:\n\n```\w+\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


@cache
def all_tests() -> str:
    """All tests but this one."""
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]
    return "".join(path.read_text("utf-8") for path in files)


def test_the_example_of_the_page_runs_as_it_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = PAGE.partition("## An example")[2].partition("\n## ")[0]
    files = EXAMPLE.findall(section)
    for name, text in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "--quiet")

    for session in CONSOLE.findall(section)[0].split("$ cogworks ")[1:]:
        words, _, printed = session.partition("\n")
        assert CliRunner().invoke(cli, shlex.split(words)).output == printed

    assert len(files) == 4


@pytest.mark.parametrize("tool", sorted(POLICY.tools))
def test_a_registered_tool_has_a_line_on_the_page_and_a_test(tool: str) -> None:
    assert len(re.findall(rf"^\| `{tool}` \| \w+ \| .+ \|$", PAGE, re.MULTILINE)) == 1
    assert f'"{tool}"' in all_tests() or f"Action.{tool}" in all_tests()


def test_every_key_of_a_declaration_and_of_a_policy_is_on_the_page() -> None:
    declaring = PAGE.partition("## Declaring a tool")[2].partition("\n## ")[0]
    policies = PAGE.partition("\n## Policies")[2].partition("\n## ")[0]

    assert [key for key in ToolFile.model_fields if f"`{key}`" not in declaring] == []
    assert [key for key in PolicyFile.model_fields if key != "tools" and f"{key}" not in policies] == []
    assert [key for key in Rule.model_fields if f".{key}`" not in policies] == []


def test_every_code_that_is_told_is_on_the_page() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "cogworks" / "tools").glob("*.py")]
    told = {
        code
        for text in sources
        for code in re.findall(r'(?:code=|ToolFailed\(|_denial\(\s*(?:work, )?)"(\w+)"', text)
    }

    assert "handler_error" in PAGE
    assert len(told) > 12
    assert sorted(code for code in told if f"`{code}`" not in PAGE) == []
