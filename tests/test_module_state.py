"""What a step uses is handed to it: no module of cogworks has a memory, and no client of a model is kept beyond its block."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "cogworks"
MODULES = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
FILLED_LATER = ("dict", "list", "set", "deque", "defaultdict", "OrderedDict", "WeakValueDictionary", "local")
"""Called at the top of a module, they wait to be filled."""
CACHES = frozenset({"cache", "lru_cache"})


def memories(text: str) -> list[str]:
    """The lines of a module that keep something beyond a call."""
    tree = ast.parse(text)
    nodes = ast.walk(tree) if "global" in text else ()
    told = [ast.unparse(node) for node in nodes if isinstance(node, ast.Global)]
    named = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    return told + [ast.unparse(node) for node in named if node.value is not None and _is_empty(node.value)]


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in FILLED_LATER and not value.args
    return (isinstance(value, ast.List) and not value.elts) or (
        isinstance(value, ast.Dict) and not value.keys
    )


def cached(text: str) -> list[str]:
    """The functions of a module whose results outlive their call."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return [
        function.name
        for function in functions
        if CACHES
        & {ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in function.decorator_list}
    ]


def test_no_module_keeps_state() -> None:
    assert {name: found for name, text in MODULES.items() if (found := memories(text))} == {}


def test_nothing_that_opens_or_asks_a_model_is_cached() -> None:
    asking = [name for name in MODULES if name.startswith(("llm/", "wiring"))]

    assert len(asking) > len({name for name in asking if name.startswith("wiring")}) > 0
    assert {name: found for name in asking if (found := cached(MODULES[name]))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "_CLIENTS: dict[str, object] = {}",
        "_CLIENTS = dict()",
        "_SEEN = collections.deque(maxlen=5)",
        "_CLIENT = None\ndef client():\n    global _CLIENT\n",
    ],
)
def test_a_memory_is_found(text: str) -> None:
    assert memories(text)


def test_a_cache_is_found() -> None:
    assert cached("@functools.lru_cache(maxsize=1)\ndef client(): ...") == ["client"]
