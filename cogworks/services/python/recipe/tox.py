"""What tox's settings say about the environment of the tests; read, never run."""

import itertools
import posixpath
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cogworks.services.python.recipe.commands import command_needs, pip_needs
from cogworks.services.python.recipe.result import Asked
from cogworks.services.python.recipe.texts import (
    canonical,
    ini,
    logical_lines,
    one_or_more,
    strings,
    table,
    toml,
)

_CONDITION = re.compile(
    r"(?P<when>(?:!?[\w.]++|\{[^{}]*\})(?:[-,!\w.]|\s++(?!:)|\{[^{}]*\})*+)\s*+:(?:\s+|$)(?P<rest>.*)"
)
_BRACES = re.compile(r"\{([^{}]*)\}")
_SUBSTITUTED = re.compile(r"\{(?P<inside>[^{}]*)\}")
_PYTHON = re.compile(r"py(thon)?[\d.]*|pypy[\d.]*")
_ODD = frozenset(
    [
        "main",
        "master",
        "dev",
        "devel",
        "latest",
        "head",
        "nightly",
        "pre",
        "lowest",
        "min",
        "minimal",
        "mindeps",
        "minimum",
        "oldest",
        "old",
        "lint",
        "docs",
        "doc",
        "mypy",
        "typing",
        "type",
        "types",
        "flake8",
        "style",
        "checks",
        "check",
        "coverage",
        "report",
        "cov",
        "black",
        "ruff",
        "pylint",
        "isort",
        "build",
        "package",
        "publish",
        "release",
        "clean",
        "pypy",
        "pypy3",
        "bench",
        "benchmark",
        "benchmarks",
        "wheel",
        "manifest",
        "format",
        "pre-commit",
        "precommit",
        "upstream",
        "trunk",
        "nodeps",
        "integration",
        "e2e",
    ]
)
_FOR_TESTS = ("py", "py3", "python", "test", "tests", "pytest", "unit", "unittest", "unittests", "testing")
_COMMANDS = ("commands_pre", "commands")
_MOST_ENVIRONMENTS = 2_000
_DEEPEST = 5
_RESERVED = ("PATH", "HOME", "TMPDIR", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")


def tox_asked(files: Mapping[str, str], python: str) -> Asked | None:
    """What the environment of the tests needs; None: there is no tox, or it says nothing of tests.

    Args:
        python: the version that tests will run with, e.g. `3.12`.
    """
    if "tox.ini" in files:
        return _of_ini(files["tox.ini"], "tox.ini", python)
    if "tox.toml" in files:
        return _of_toml(toml(files["tox.toml"])[0], "tox.toml", python)
    tool = table(toml(files.get("pyproject.toml", ""))[0], "tool", "tox")
    if isinstance(legacy := tool.get("legacy_tox_ini"), str):
        return _of_ini(legacy, "pyproject.toml, [tool.tox] legacy_tox_ini,", python)
    if tool:
        return _of_toml(tool, "pyproject.toml, [tool.tox]", python)
    if "[testenv" in files.get("setup.cfg", ""):
        return _of_ini(files["setup.cfg"], "setup.cfg", python)
    return None


def _of_ini(text: str, place: str, python: str) -> Asked | None:
    data, problem = ini(text)
    if problem:
        return Asked(source=place, notes=(f"{place} cannot be read: {problem}",))
    tox = data.get("tox", data.get("tox:tox", {}))
    listed = expanded(tox.get("envlist", tox.get("env_list", "")))
    sections = {
        name: options for name, options in data.items() if name == "testenv" or name.startswith("testenv:")
    }
    names = [*listed, *(_name(each) for each in sections if ":" in each)]
    read = [_asked_by(name, sections, data, place, python) for name in candidates(names, python)]
    environments = [each for each in read if each is not None]
    # Of environments that stand next to each other one may build the documentation.
    return next((each for each in environments if each.runner), environments[0] if environments else None)


def _asked_by(
    environment: str,
    sections: Mapping[str, Mapping[str, str]],
    data: Mapping[str, Mapping[str, str]],
    place: str,
    python: str,
) -> Asked | None:
    section = next(
        (each for each in sections if ":" in each and environment in expanded(each.split(":", 1)[1])),
        "testenv",
    )
    if section == "testenv" and "testenv" not in data:
        return None
    reading = _Ini(data, {*environment.split("-"), *_factors(python)})
    needs = reading.asked({**data.get("testenv", {}), **sections.get(section, {})})
    return needs.model_copy(
        update={"source": f"{place} [{section}]", "why": f"tox's environment {environment!r} runs the tests"}
    )


def _name(section: str) -> str:
    return (expanded(section.split(":", 1)[1]) or [""])[-1]


def expanded(text: str) -> list[str]:
    """The names of a list of environments such as `py{311,312}-{a,b}, lint`."""
    names: list[str] = []
    for part in _parts(text):
        choices: list[list[str]] = []
        at = 0
        for match in _BRACES.finditer(part):
            choices += [
                [part[at : match.start()]],
                [_ranged for each in match[1].split(",") for _ranged in _range(each.strip())],
            ]
            at = match.end()
        choices.append([part[at:]])
        names += [
            "".join(each).strip("-")
            for each in itertools.islice(itertools.product(*choices), _MOST_ENVIRONMENTS)
        ]
        if len(names) > _MOST_ENVIRONMENTS:
            break
    return [each for each in names if each and "{" not in each]


def _range(text: str) -> list[str]:
    """`9-12` stands for each of them."""
    match = re.fullmatch(r"(\d{1,3})-(\d{1,3})", text)
    return [str(each) for each in range(int(match[1]), int(match[2]) + 1)] if match else [text]


def _parts(text: str) -> list[str]:
    """Split at commas and lines outside of braces."""
    kept = re.sub(r"\{[^{}]*\}", lambda match: re.sub(r"\s", "", match[0]).replace(",", "\0"), text)
    lines = [line.split("#")[0] for line in kept.splitlines()]
    return [
        part.strip().replace("\0", ",")
        for line in lines
        for part in re.split(r"[,\s]+", line)
        if part.strip()
    ]


def chosen(names: Sequence[str], python: str) -> str:
    """The environment whose tests are run, of those that there are."""
    return candidates(names, python)[0]


def candidates(names: Sequence[str], python: str) -> list[str]:
    """The environments whose tests may be the ones that are run, the likeliest first; at least one."""
    here = {f"py{python.replace('.', '')}", f"py{python}", python}

    def rank(name: str) -> tuple[bool, bool, bool, int]:
        factors = name.split("-")
        odd = any(each in _ODD or each.startswith("no") for each in factors)
        for_tests = any(each in _FOR_TESTS or _PYTHON.fullmatch(each) or each == python for each in factors)
        return (not for_tests, odd, here.isdisjoint(factors), len(factors))

    ranked = sorted(dict.fromkeys(names), key=rank)
    best = [name for name in ranked if rank(name) == rank(ranked[0])]
    return best[::-1] if best and not rank(best[0])[0] else ["py"]


def _factors(python: str) -> set[str]:
    return {"py", "py3", f"py{python.replace('.', '')}", f"py{python}", "linux"}


class _Ini:
    """The options of one section, with what they refer to."""

    def __init__(self, data: Mapping[str, Mapping[str, str]], factors: set[str]) -> None:
        self._data = data
        self._factors = factors

    def asked(self, options: Mapping[str, str]) -> Asked:
        needs = Asked(extras=tuple(canonical(each) for each in self._words(options, "extras")))
        groups = tuple(canonical(each) for each in self._words(options, "dependency_groups"))
        needs = needs.joined(Asked(groups=groups))
        for line in self._lines(options.get("deps", "")):
            needs = needs.joined(_dependency(line))
        folder = _folder(options.get("changedir", options.get("change_dir", "")))
        root = _root_from(folder)
        lines = [line for name in _COMMANDS for line in self._unreplaced(options.get(name, ""))]
        of_commands = [
            (command_needs(_words_of(_replaced(line, root)), folder=folder), "{posargs" in line)
            for line in lines
        ]
        needs = needs.joined(_together(of_commands))
        needs = needs.joined(Asked(default_groups=_is_synchronised(options.get("runner", ""), groups)))
        variables = dict(self._variables(options.get("setenv", options.get("set_env", ""))))
        return needs.joined(Asked(variables=variables))

    def _words(self, options: Mapping[str, str], name: str) -> list[str]:
        return [
            word for line in self._lines(options.get(name, "")) for word in re.split(r"[,\s]+", line) if word
        ]

    def _variables(self, text: str) -> Iterable[tuple[str, str]]:
        for line in self._lines(text):
            name, equals, value = line.partition("=")
            if equals and name.strip() not in _RESERVED and "{" not in value and name.strip().isidentifier():
                yield name.strip(), value.strip()

    def _lines(self, text: str) -> list[str]:
        """The lines that count for the factors, with what stands in for others."""
        return [_replaced(line) for line in self._unreplaced(text)]

    def _unreplaced(self, text: str, depth: int = 0) -> list[str]:
        lines: list[str] = []
        for _, line in logical_lines(text):
            match = _CONDITION.fullmatch(line)
            if match is not None and not line.startswith(("-", ".")):
                if self._holds(match["when"]):
                    line = match["rest"]  # noqa: PLW2901 - the line without its condition
                else:
                    continue
            lines += self._referred(line, depth) if line else []
        return lines

    def _holds(self, when: str) -> bool:
        return any(
            all(
                (part[1:] not in self._factors) if part.startswith("!") else part in self._factors
                for part in name.split("-")
                if part
            )
            for name in expanded(when)
        )

    def _referred(self, line: str, depth: int) -> list[str]:
        whole = re.fullmatch(r"\{\[(?P<section>[^\]]+)\](?P<key>[\w-]+)\}", line)
        if whole is not None:
            text = self._data.get(whole["section"], {}).get(whole["key"].lower(), "")
            return self._unreplaced(text, depth + 1) if depth < _DEEPEST else []
        return [line]


def _together(of_commands: Sequence[tuple[Asked, bool]]) -> Asked:
    """All that commands install; of those that run tests the first counts that takes arguments, as the main one does."""
    runs = sorted((each for each in of_commands if each[0].runner), key=lambda each: not each[1])
    needs = Asked()
    for asked, _ in (*runs[:1], *of_commands):
        needs = needs.joined(asked)
    before = itertools.takewhile(lambda each: not each[0].runner, of_commands)
    return needs.model_copy(update={"others": tuple(line for asked, _ in before for line in asked.others)})


def _folder(changedir: str) -> str:
    """Where commands run, from the root; empty: there, or where it is unknown."""
    folder = posixpath.normpath(_replaced(changedir.strip()) or ".")
    return "" if folder.startswith(("..", "/")) or folder == "." or "{" in folder else folder


def _root_from(folder: str) -> str:
    return posixpath.relpath(".", folder) if folder else "."


def _is_synchronised(runner: str, groups: Sequence[str]) -> bool:
    """Whether tox-uv installs as `uv sync` does; what is named counts alone."""
    return runner.strip() == "uv-venv-lock-runner" and not groups


def _replaced(line: str, root: str = ".") -> str:
    """A line with what tox would put in, as far as it is clear; the rest stays in braces."""
    for _ in range(_DEEPEST):
        fresh = _SUBSTITUTED.sub(lambda match: _substitute(match["inside"], root), line)
        if fresh == line:
            break
        line = fresh
    return line.replace("\1", "{").replace("\2", "}")


def _substitute(inside: str, root: str) -> str:
    if inside.startswith("posargs"):
        return inside.partition(":")[2]
    # Sources come from the copy under test: a package that is installed is the one that lies there.
    if inside in ("toxinidir", "tox_root", "envsitepackagesdir", "env_site_packages_dir"):
        return root
    if inside in ("changedir", "change_dir"):
        return "."
    if inside in ("envpython", "env_python", "basepython"):
        return "python"
    if inside.startswith("env:"):
        return inside.split(":", 2)[2] if inside.count(":") > 1 else ""
    if inside in ("/", ":"):
        return inside
    return f"\1{inside}\2"


def _words_of(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _dependency(line: str) -> Asked:
    return pip_needs(
        [line]
        if ";" in line or " @" in line
        else line.split()
        if line.startswith("-")
        else [line.replace(" ", "")]
    )


def _of_toml(tool: Mapping[str, Any], place: str, python: str) -> Asked | None:
    environments = table(tool, "env")
    environment = chosen([*strings(tool.get("env_list")), *environments], python)
    options = {**table(tool, "env_run_base"), **table(environments, environment)}
    if not options:
        return None
    needs = Asked(
        extras=tuple(canonical(each) for each in one_or_more(options.get("extras"))),
        groups=tuple(canonical(each) for each in one_or_more(options.get("dependency_groups"))),
        variables={
            name: value
            for name, value in table(options, "set_env").items()
            if isinstance(value, str) and "{" not in value and name not in _RESERVED
        },
    )
    for line in one_or_more(options.get("deps")):
        needs = needs.joined(_dependency(_replaced(line)))
    changedir = options.get("change_dir", options.get("changedir"))
    folder = _folder(changedir) if isinstance(changedir, str) else ""
    listed = [options.get(name) for name in _COMMANDS]
    commands = [command for each in listed if isinstance(each, list) for command in each]
    root = _root_from(folder)
    of_commands = [
        (command_needs(_toml_words(each, root), folder=folder), "posargs" in str(each)) for each in commands
    ]
    needs = needs.joined(_together(of_commands))
    synchronised = _is_synchronised(str(options.get("runner", "")), needs.groups)
    needs = needs.joined(Asked(default_groups=synchronised))
    update = {"source": f"{place}, {environment}", "why": f"tox's environment {environment!r} runs the tests"}
    return needs.model_copy(update=update)


def _toml_words(command: Any, root: str) -> list[str]:
    words: list[str] = []
    for word in command if isinstance(command, list) else []:
        if isinstance(word, str):
            plain = _replaced(word, root)
            words += plain.split() if word.startswith("{posargs") else [plain]
        elif isinstance(word, dict) and word.get("replace") == "posargs":
            words += strings(word.get("default"))
    return words
