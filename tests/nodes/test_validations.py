"""Every validation of every node with the whole message that a person, or the model in its next answer, reads.

A message of a node that no row of this table shows fails `test_no_validation_is_without_a_row`; so does a module of nodes of which
nobody said whether it validates anything.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import cogworks.nodes
from cogworks.nodes.artifacts import MENDING
from tests.nodes.refused_changes import (
    FOR_A_PERSON,
    INPUTS_OF_NODES,
    INTEGRATION,
    LANES,
    OWN_NODES,
    REVIEWING,
)
from tests.nodes.refused_divisions import DIVISION
from tests.nodes.refused_issues import INTAKE
from tests.nodes.refused_plans import ARCHITECTURE, INTERFACE_DESIGN, PLANNING
from tests.nodes.refusing import Row

VALIDATING = (
    "architecture", "artifacts", "asking", "code_generation", "deterministic", "division", "from_prompt", "intake", "integration", "interface_design",
    "planning", "review", "spawning",
)  # fmt: skip
SILENT = (
    "__init__", "contract", "customs", "parting", "pull_request_texts", "registry", "remarks", "replies", "shown", "task",
)  # fmt: skip
"""They say nothing of an answer: types, words of what passed, and what a prompt shows."""


TABLES: Mapping[str, Sequence[Row]] = {
    "intake": INTAKE,
    "architecture": ARCHITECTURE,
    "interface_design": INTERFACE_DESIGN,
    "for_a_person": FOR_A_PERSON,
    "planning": PLANNING,
    "division": DIVISION,
    "review": REVIEWING,
    "integration": INTEGRATION,
    "inputs": INPUTS_OF_NODES,
    "own_nodes": OWN_NODES,
    "lanes": LANES,
}
ROWS = [pytest.param(row, id=f"{name}-{row.name}") for name, rows in TABLES.items() for row in rows]


@pytest.mark.parametrize("row", ROWS)
def test_a_validation_says_this(row: Row) -> None:
    assert tuple(row.found()) == row.says


ELSEWHERE = {
    # What code generation says is in tables beside what it does.
    "{}: the policy `{}` wants a person to approve {}, call {}": "tests/codegen/test_guarded_actions.py",
    "code_generation: {} ({}) was not solved: {}.\nLook at": "tests/nodes/test_code_generation.py",
    "code_generation: {} ({}) was not solved: {}.\n{}\n\n": "tests/nodes/test_code_generation.py",
    " Whoever wrote the code asked for it: {}": "tests/security/test_files_outside_the_plan.py",
}
NO_VALIDATION = frozenset(
    {
        # What is told to the next answer about the one before, and what a passed review says.
        "- {} remarks more, for which there is no room here",
        "People asked for changes.",
        "not every test could be run; ",
        "passed with {} remark(s)",
        "The specification says that no public name changes.",
        ", {} of them with the exact fix, which is tried",
        "; others were not applied: {}",
        "{} blocking finding(s), {} other(s)",
        "{}\n\\ No newline at end of file\n",
        "Show what the issue is about: fail before the change and pass with it.",
        "specification and interfaces do",
        "Markdown; what is wanted and why, for somebody who reads only this.",
        "What the review of this change leaves for you to decide. None of it blocks; commit a suggestion, answer, or resolve it.",
        "{} in {}; about {} files, complexity {}{}",
        MENDING,
    }
)
FOLDER = Path(cogworks.nodes.__file__).parent


def test_no_validation_is_without_a_row() -> None:
    said = [text for rows in TABLES.values() for row in rows for text in row.says]
    unshown = [
        f"{module}: {words}"
        for module in VALIDATING
        for words in words_of(FOLDER / f"{module}.py")
        if words not in NO_VALIDATION
        and not any(words.startswith(known) for known in ELSEWHERE)
        and not any(re.search(pattern(words), text, re.DOTALL) for text in said)
    ]

    assert unshown == []


def test_whoever_adds_a_module_of_nodes_says_whether_it_validates() -> None:
    assert sorted((*VALIDATING, *SILENT)) == sorted(path.stem for path in FOLDER.glob("*.py"))


def test_what_is_excused_is_still_there() -> None:
    there = {words for module in VALIDATING for words in words_of(FOLDER / f"{module}.py")}

    assert there >= NO_VALIDATION
    for start, path in ELSEWHERE.items():
        assert any(words.startswith(start) for words in there), start
        assert (FOLDER.parents[1] / path).is_file(), path


def test_a_message_that_nobody_shows_is_found(tmp_path: Path) -> None:
    source = tmp_path / "node.py"
    source.write_text(
        '"""A docstring of many words."""\n\ndef f(x, ports):\n    ports.say("not a word of all this counts")\n'
        '    return [f"the key {x} is used too often", "short one"]\n'
    )

    assert list(words_of(source)) == ["the key {} is used too often"]


def pattern(words: str) -> str:
    return ".*".join(re.escape(part) for part in words.split("{}"))


_NOT_SAID = {"say", "say_once", "Field", "compile"}
_TITLES = {"summary", "headline", "title", "body"}
_FEWEST_WORDS = 4


def words_of(path: Path) -> Iterator[str]:
    """Every text of a module that could be a message: four words and more, `{}` for what is filled in; no docstrings, nothing
    that is only said to whoever runs the step, and no titles."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    passed_over = {id(each) for node in ast.walk(tree) for each in _passed_over(node)}
    for node in ast.walk(tree):
        if id(node) not in passed_over and (words := _words(node)):
            yield words


def _passed_over(node: ast.AST) -> Iterator[ast.AST]:
    for statement in (
        getattr(node, "body", None) or () if not isinstance(node, ast.Lambda | ast.IfExp) else ()
    ):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            yield statement.value
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _NOT_SAID:
            yield from ast.walk(node)
        for keyword in node.keywords:
            if keyword.arg in _TITLES:
                yield from ast.walk(keyword.value)
    if isinstance(node, ast.JoinedStr):
        yield from (part for part in node.values if isinstance(part, ast.Constant))


def _words(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    else:
        return ""
    return text if len(re.findall(r"[A-Za-z]+", text)) >= _FEWEST_WORDS else ""
