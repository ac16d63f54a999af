"""What a `noxfile.py` says about its session of tests; read as a syntax tree, never run."""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from cogworks.services.python.recipe.commands import command_needs, pip_needs
from cogworks.services.python.recipe.result import Asked
from cogworks.services.python.recipe.setup_files import constants_of, literal
from cogworks.services.python.recipe.texts import canonical

FILE = "noxfile.py"
_NAMES = (
    "tests",
    "test",
    "pytest",
    "unit",
    "unittest",
    "unittests",
    "unit_tests",
    "unit-tests",
    "testing",
    "python",
    "run_tests",
    "coverage",
)
_MOST_CHARS = 400_000
_DEEPEST = 3


class _Session(NamedTuple):
    name: str
    function: ast.FunctionDef


def nox_asked(text: str) -> Asked | None:
    """What the session of the tests installs and runs; None: there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text[:_MOST_CHARS])
        sessions = list(_sessions(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Asked(source=FILE, notes=(f"{FILE} is no Python that can be read: {str(error)[:200]}",))
    session = _best(sessions)
    if session is None:
        return None
    functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    asked = _Reading(functions, constants_of(tree)).of(session.function)
    source = f"{FILE}, line {session.function.lineno}, session {session.name!r}"
    return asked.model_copy(
        update={"source": source, "why": f"nox's session {session.name!r} runs the tests"}
    )


def _sessions(tree: ast.Module) -> Iterator[_Session]:
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            for decorator in function.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if "session" in ast.unparse(called).split("."):
                    yield _Session(_named(decorator) or function.name, function)


def _named(decorator: ast.expr) -> str:
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    for each in keywords:
        if each.arg == "name" and isinstance(each.value, ast.Constant) and isinstance(each.value.value, str):
            return each.value.value
    return ""


def _best(sessions: list[_Session]) -> _Session | None:
    for name in _NAMES:
        for session in sessions:
            if session.name == name:
                return session
    others = [each for each in sessions if re.match(r"(unit)?_?tests?([-_]|$)", each.name)]
    return others[0] if others else None


class _Reading:
    """The calls of a session, in their order, with those of the functions it hands itself to."""

    def __init__(self, functions: Mapping[str, ast.FunctionDef], constants: Mapping[str, Any]) -> None:
        self._functions = functions
        self._constants = constants

    def of(self, function: ast.FunctionDef, depth: int = 0) -> Asked:
        session = function.args.args[0].arg if function.args.args else "session"
        constants = {
            **self._constants,
            **self._parametrized(function),
            **constants_of(ast.Module(function.body, [])),
        }
        needs = Asked()
        for call in sorted(
            (each for each in ast.walk(function) if isinstance(each, ast.Call)),
            key=lambda each: (each.lineno, each.col_offset),
        ):
            needs = needs.joined(self._of_call(call, session, constants, depth))
        return needs

    def _of_call(self, call: ast.Call, session: str, constants: Mapping[str, Any], depth: int) -> Asked:
        target = call.func
        if (
            isinstance(target, ast.Attribute)
            and isinstance(target.value, ast.Name)
            and target.value.id == session
        ):
            words, groups = self._words(call, constants)
            asked = Asked(groups=tuple(groups))
            if target.attr == "install":
                return asked.joined(pip_needs(words))
            if target.attr in ("run", "run_always", "run_install"):
                variables = next(
                    (literal(each.value, constants) for each in call.keywords if each.arg == "env"), None
                )
                env = (
                    {name: str(value) for name, value in variables.items()}
                    if isinstance(variables, dict)
                    else {}
                )
                needs = command_needs(words)
                return needs.joined(asked).joined(Asked(variables=env if needs.runner else {}))
        if isinstance(target, ast.Name) and target.id in self._functions and depth < _DEEPEST:
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Name) and first.id == session:
                return self.of(self._functions[target.id], depth + 1)
        return Asked()

    def _words(self, call: ast.Call, constants: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        """What is handed over literally, and the dependency groups that are looked up."""
        words, groups = list[str](), list[str]()
        for argument in call.args:
            inner = argument.value if isinstance(argument, ast.Starred) else argument
            groups += _groups(inner, constants)
            value = (
                _filled(inner, constants) if isinstance(inner, ast.JoinedStr) else literal(inner, constants)
            )
            if isinstance(value, str):
                words.append(value)
            elif isinstance(value, list) and isinstance(argument, ast.Starred):
                words += [each for each in value if isinstance(each, str)]
        return words, groups

    def _parametrized(self, function: ast.FunctionDef) -> dict[str, Any]:
        """The last value of each parameter: the newest, where versions are listed."""
        values_by_name: dict[str, Any] = {}
        for each in function.decorator_list:
            if (
                isinstance(each, ast.Call)
                and ast.unparse(each.func).endswith("parametrize")
                and len(each.args) > 1
            ):
                name, values = literal(each.args[0], self._constants), literal(each.args[1], self._constants)
                if isinstance(name, str) and isinstance(values, list) and values and "," not in name:
                    values_by_name[name] = values[-1]
        return values_by_name


def _groups(node: ast.expr, constants: Mapping[str, Any]) -> list[str]:
    """Of `nox.project.dependency_groups(project, "test")` and `project["dependency-groups"]["test"]`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("dependency_groups"):
        return [canonical(each) for arg in node.args[1:] if isinstance(each := literal(arg, constants), str)]
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Subscript):
        inner = literal(node.value.slice, constants)
        name = literal(node.slice, constants)
        return [canonical(name)] if inner == "dependency-groups" and isinstance(name, str) else []
    return []


def _filled(node: ast.JoinedStr, constants: Mapping[str, Any]) -> str | None:
    parts: list[str] = []
    for each in node.values:
        value = literal(each.value if isinstance(each, ast.FormattedValue) else each, constants)
        if value is None:
            return None
        parts.append(str(value))
    return "".join(parts)
