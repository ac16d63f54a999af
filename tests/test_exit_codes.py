"""What README and `cogworks.errors` say of exit codes is what the errors carry."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks import errors
from cogworks.errors import CogworksError, SafetyHalt

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "cogworks"
README = (ROOT / "README.md").read_text("utf-8")


def declared() -> dict[str, int]:
    """Every error that the module declares, with its code."""
    found = [each for each in vars(errors).values() if isinstance(each, type)]
    return {each.__name__: each.exit_code for each in found if issubclass(each, CogworksError)}


def raising(name: str) -> Iterator[str]:
    """The modules that raise an error."""
    for path in sorted(PACKAGE.rglob("*.py")):
        raised = [
            node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Raise)
        ]
        if any(isinstance(each.exc, ast.Call) and ast.unparse(each.exc.func) == name for each in raised):
            yield path.relative_to(PACKAGE).as_posix()


def test_the_tree_of_errors_names_each_with_its_code() -> None:
    told = re.findall(r"^(?:[│├└─ ]*)(\w+) +(\d+)   ", errors.__doc__ or "", re.MULTILINE)

    assert {name: int(code) for name, code in told} == declared()


def test_the_readme_has_a_line_for_each_code() -> None:
    told = re.findall(r"^\| (\d+) \| .+ \|$", README, re.MULTILINE)

    assert {int(code) for code in told} == {*declared().values()}


@pytest.mark.slow
def test_nothing_but_a_ledger_that_cannot_be_believed_halts_with_3() -> None:
    """README and `cogworks.errors` say so; whoever lets something else end with 3 has to say it there."""
    assert [name for name, code in declared().items() if code == SafetyHalt.exit_code] == ["SafetyHalt"]
    assert list(raising("SafetyHalt")) == ["forge/notices.py"]
    assert (
        "| 3 | halted for safety: the item's ledger is gone, was set back or names something that does not belong to the item"
        in README
    )
