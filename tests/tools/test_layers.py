"""The layers of governed tools: one direction only, and no module with a memory."""

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "cogworks" / "tools"
MODULES = {
    path.stem: ast.parse(path.read_text("utf-8")) for path in FOLDER.glob("*.py") if path.stem != "__init__"
}


def imported(module: str) -> set[str]:
    """The modules of the package that a module imports, directly or not."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        for node in ast.walk(MODULES[waiting.pop()]):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cogworks.tools."):
                name = (node.module or "").rpartition(".")[2]
                if name not in found:
                    found.add(name)
                    waiting.append(name)
    return found


def test_the_controller_stands_above_planner_and_executor_and_these_above_the_registry() -> None:
    assert {"planner", "executor", "registry", "policy"} <= imported("controller")
    for middle in ("planner", "executor"):
        assert {"registry", "policy"} <= imported(middle)
        assert imported(middle).isdisjoint({"controller", "planner", "executor"} - {middle})
    assert imported("registry").isdisjoint({"controller", "planner", "executor", "policy"})


@pytest.mark.parametrize("module", sorted(MODULES))
def test_no_module_has_a_memory(module: str) -> None:
    """At the top of a module stand only constants: nothing empty that waits to be filled, no `global`."""
    tree = MODULES[module]
    filled = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]

    assert [
        ast.unparse(node) for node in filled if isinstance(node.value, ast.List | ast.Dict | ast.Set)
    ] == []
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Global)] == []
