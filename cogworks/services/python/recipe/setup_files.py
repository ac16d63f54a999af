"""What `setup.cfg` and the literals of `setup.py` declare; neither is run."""

import ast
import warnings
from collections.abc import Mapping
from typing import Any

from cogworks.services.python.recipe.declared import Declared, Option, option
from cogworks.services.python.recipe.texts import canonical, ini, logical_lines, strings, table

CFG, PY = "setup.cfg", "setup.py"
_MOST_CHARS = 400_000
_DEEPEST = 8
_MOST_ITEMS = 10_000


def setup_cfg_of(text: str) -> Declared:
    """All of `setup.cfg`."""
    data, problem = ini(text)
    if problem:
        return Declared(left_out=(f"{CFG} cannot be read: {problem}",))
    options = data.get("options", {})
    lines, files = _apart(options.get("install_requires", ""))
    extras = {}
    for name, value in data.get("options.extras_require", {}).items():
        more, paths = _apart(value)
        extras[canonical(name)] = option("extra", CFG, canonical(name), more, files=paths)
    return Declared(
        name=data.get("metadata", {}).get("name", "").strip(),
        requires_python=options.get("python_requires", "").strip(),
        dependencies=tuple((f"{CFG}, install_requires", each) for each in lines),
        files=tuple((CFG, each) for each in files),
        extras=extras,
        for_tests=tuple(
            (f"{CFG}, tests_require", each) for each in _apart(options.get("tests_require", ""))[0]
        ),
    )


def _apart(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Requirements, and the files that `file:` names."""
    lines = [part.strip() for _, line in logical_lines(text) for part in _semicolons(line)]
    files = [path.strip() for line in lines if line.startswith("file:") for path in line[5:].split(",")]
    return tuple(each for each in lines if each and not each.startswith("file:")), tuple(files)


def _semicolons(line: str) -> list[str]:
    """An old list in one line; a marker follows a semicolon as well, and is no requirement."""
    parts = line.split(";")
    if len(parts) > 1 and not any(
        sign in part for part in parts[1:] for sign in ("==", "<", ">", " in ", "extra")
    ):
        return parts
    return [line]


def setup_py_of(text: str) -> Declared:
    """The literals that `setup(…)` is called with; what is computed is left out with a note."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text[:_MOST_CHARS])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Declared(left_out=(f"{PY} is no Python that can be read: {str(error)[:200]}",))
    constants = constants_of(tree)
    arguments: dict[str, Any] = {}
    unknown: list[str] = []
    for name, value in _arguments(tree, constants):
        plain = literal(value, constants)
        if plain is None and name in ("install_requires", "extras_require", "tests_require"):
            unknown.append(name)
        arguments[name] = plain
    return _declared_by(arguments, unknown)


def _declared_by(arguments: Mapping[str, Any], unknown: list[str]) -> Declared:
    extras: dict[str, Option] = {}
    for key, value in table(arguments, "extras_require").items():
        if not key.startswith(":"):
            name = canonical(key.split(":")[0])
            extras[name] = option("extra", PY, name, _lines(value))
    return Declared(
        name=arguments["name"] if isinstance(arguments.get("name"), str) else "",
        requires_python=arguments["python_requires"]
        if isinstance(arguments.get("python_requires"), str)
        else "",
        dependencies=tuple(
            (f"{PY}, install_requires", each) for each in _lines(arguments.get("install_requires"))
        ),
        extras=extras,
        for_tests=tuple((f"{PY}, tests_require", each) for each in _lines(arguments.get("tests_require"))),
        dynamic=tuple(_FIELDS[each] for each in unknown if each in _FIELDS),
    )


_FIELDS = {"install_requires": "dependencies", "extras_require": "optional-dependencies"}


def _lines(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(line for _, line in logical_lines(value))
    return strings(list(value)) if isinstance(value, list | tuple) else ()


def _arguments(tree: ast.Module, constants: Mapping[str, Any]) -> list[tuple[str, ast.expr]]:
    """Of every call of `setup`, and of the dictionaries it is handed with `**`."""
    del constants
    dictionaries = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict | ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    arguments: list[tuple[str, ast.expr]] = []
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or _called(call.func) != "setup":
            continue
        for keyword in call.keywords:
            if keyword.arg:
                arguments.append((keyword.arg, keyword.value))
            elif isinstance(keyword.value, ast.Name):
                arguments += _entries(dictionaries.get(keyword.value.id))
    return arguments


def _entries(value: ast.expr | None) -> list[tuple[str, ast.expr]]:
    if isinstance(value, ast.Dict):
        pairs = zip(value.keys, value.values, strict=True)
        return [
            (key.value, each)
            for key, each in pairs
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        ]
    if isinstance(value, ast.Call) and _called(value.func) == "dict":
        return [(each.arg, each.value) for each in value.keywords if each.arg]
    return []


def _called(function: ast.expr) -> str:
    return (
        function.id
        if isinstance(function, ast.Name)
        else function.attr
        if isinstance(function, ast.Attribute)
        else ""
    )


def constants_of(tree: ast.Module) -> dict[str, Any]:
    """The literals that names of a module stand for."""
    constants: dict[str, Any] = {}
    for node in tree.body:
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        value = getattr(node, "value", None)
        for target in targets:
            if (
                isinstance(target, ast.Name)
                and value is not None
                and (constant := literal(value, constants)) is not None
            ):
                constants[target.id] = constant
            elif isinstance(target, ast.Subscript) and value is not None:
                _put(target, literal(value, constants), constants)
    return constants


def _put(target: ast.Subscript, value: Any, constants: dict[str, Any]) -> None:
    """`extras["all"] = […]` after the dictionary itself."""
    key = literal(target.slice, constants)
    if isinstance(target.value, ast.Name) and isinstance(key, str) and value is not None:
        before = constants.get(target.value.id)
        if isinstance(before, dict):
            constants[target.value.id] = {**before, key: value}


def literal(node: ast.expr, constants: Mapping[str, Any], depth: int = 0) -> Any:
    """A string, list or dictionary of such, with names that stand for them; None where it is computed."""
    if depth > _DEEPEST:
        return None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str | int | float) else None
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return _sequence(node.elts, constants, depth)
    if isinstance(node, ast.Dict):
        pairs = [
            (literal(key, constants, depth + 1), literal(value, constants, depth + 1))
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        ]
        return {key: value for key, value in pairs if isinstance(key, str) and value is not None}
    return _computed(node, constants, depth)


def _computed(node: ast.expr, constants: Mapping[str, Any], depth: int) -> Any:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = literal(node.left, constants, depth + 1), literal(node.right, constants, depth + 1)
        fits = (
            type(left) is type(right)
            and isinstance(left, str | list)
            and len(left) + len(right) <= _MOST_ITEMS
        )
        return left + right if fits else None
    if isinstance(node, ast.Subscript):
        whole, key = literal(node.value, constants, depth + 1), literal(node.slice, constants, depth + 1)
        return whole.get(key) if isinstance(whole, dict) and isinstance(key, str) else None
    if isinstance(node, ast.Call) and _called(node.func) == "dict" and not node.args:
        by_name = {each.arg: literal(each.value, constants, depth + 1) for each in node.keywords if each.arg}
        return {key: value for key, value in by_name.items() if value is not None}
    if (
        isinstance(node, ast.Call)
        and _called(node.func) in ("list", "sorted", "tuple")
        and len(node.args) == 1
    ):
        return literal(node.args[0], constants, depth + 1)
    return None


def _sequence(elements: list[ast.expr], constants: Mapping[str, Any], depth: int) -> list[Any] | None:
    items: list[Any] = []
    for each in elements:
        inner = each.value if isinstance(each, ast.Starred) else each
        value = literal(inner, constants, depth + 1)
        if value is None:
            return None
        items += value if isinstance(each, ast.Starred) and isinstance(value, list) else [value]
        if len(items) > _MOST_ITEMS:
            return None
    return items
