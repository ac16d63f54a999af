"""Programs of Python that are or start the tests, as the command that runs and reports each of them."""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cogworks.services.python.recipe.result import Asked
from cogworks.services.python.runners import of_program

PYTEST_FILE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
"""By these names pytest finds files of tests."""
_OF_TESTS = re.compile(r"(?:.*/)?[\w-]*tests?[\w-]*\.py", re.IGNORECASE)
_PACKAGE = re.compile(r"(?:.*/)?(?:unit_?)?tests?")
_OPTIONS = frozenset({"-v", "--verbose", "-q", "--quiet", "-b", "--buffer", "-f", "--failfast"})
"""Of unittest: none changes what a test comes to."""
_CASE = re.compile(r"^class \w+\([^)]{0,500}TestCase\b", re.MULTILINE)
_RUNS = re.compile(r"\bunittest\.main\(|\bTextTestRunner\(")
_MAIN = re.compile(r"\bunittest\.main\(")
_GATHERS = re.compile(r"\bdiscover\(|\bloadTestsFrom(?:Names?|Module)\(")
"""It runs tests of other files as well."""
_ASKS_DJANGO = re.compile(r"=\s*get_runner\(")
_STARTER = re.compile(r"(?:tests?/)?[\w-]*tests?[\w-]*\.py", re.IGNORECASE)
_GATHERED = re.compile(r"\bloadTestsFromModule\(\s*([\w.]+)\s*[,)]")
_GATHERS_OTHERS = re.compile(r"\bdiscover\(|\bloadTestsFromNames?\((?!\s*\w+\s*\))")
"""It runs tests that it finds or names itself. Names in a variable come from its command line."""
_IMPORTED = re.compile(
    r"^[ \t]*(?:import[ \t]+(?P<whole>\w+)|from[ \t]+(?P<package>\w+)[ \t]+import[ \t]+(?P<part>\w+))[ \t]*$",
    re.MULTILINE,
)
_UNITTEST = ("python", "-m", "unittest")
_AS_PYTHON_DOES = "default::DeprecationWarning:"
"""Of the program that it runs Python shows these warnings; here that is a module. With a filter on the command line unittest
leaves those alone that a test file sets, as a program does that starts the tests by a runner of its own."""


def script_of(words: Sequence[str]) -> str:
    """The file of tests that Python is asked to run; empty: these words, what follows `python`, name none.

    A package that is run stands as the file that a module of its name would be.
    """
    if len(words) == 2 and words[0] == "-m":
        module = words[1].replace(".", "/")
        path = f"{module}.py"
        return path if _PACKAGE.fullmatch(module) or ("/" in module and _OF_TESTS.fullmatch(path)) else ""
    if not words or not _OF_TESTS.fullmatch(words[0]) or not _OPTIONS.issuperset(words[1:]):
        return ""
    path = posixpath.normpath(words[0])
    return "" if path.startswith(("/", "..")) else path


def by_unittest(asked: Asked, files: Mapping[str, str]) -> Asked:
    """The same, run by unittest or Django where what it runs is a script of such tests; without its script otherwise."""
    plain = asked.model_copy(update={"script": "", "is_beside": False})
    if not asked.runner and starts_django(files.get(asked.script, "")):
        return plain.model_copy(update=_django(asked.script))
    # What it finds beside where it is started is nothing that anybody else can start.
    if asked.is_beside:
        return plain
    if asked.runner == "pytest" and _is_apart(asked, files):
        also = f"{asked.script} is run as well, which is no test of pytest; all that pytest finds is taken for the suite"
        return plain.model_copy(update={"paths": (), "notes": (*asked.notes, f"{asked.source}: {also}")})
    if not asked.runner and (folder := _package_of(asked.script, files)):
        return plain.model_copy(update={"runner": "pytest", "paths": (folder,)})
    text = files.get(asked.script, "")
    if not asked.runner and (package := _gathered(asked.script, files)):
        return plain.model_copy(update={"runner": "unittest", "command": (*_UNITTEST, package)})
    if asked.runner or not (_CASE.search(text) and _RUNS.search(text)) or _GATHERS.search(text):
        return plain
    return plain.model_copy(update={"runner": "unittest", "command": _command(asked.script, text)})


def _package_of(script: str, files: Mapping[str, str]) -> str:
    """The folder of the package of tests that is run as a program, where pytest finds them; empty: it is none."""
    name = script.removesuffix(".py")
    if not name or script in files or not _PACKAGE.fullmatch(name):
        return ""
    folder = next((each for each in (name, f"src/{name}") if f"{each}/__main__.py" in files), "")
    has_tests = any(path.startswith(f"{folder}/") and PYTEST_FILE.fullmatch(path) for path in files)
    return folder if folder and has_tests else ""


def starts_django(text: str) -> bool:
    """Whether a program asks Django for its runner of tests, as Django's documentation tells reusable applications."""
    return _ASKS_DJANGO.search(text) is not None and "django.test" in text


def started_by_a_script(files: Mapping[str, str]) -> Asked | None:
    """How tests of Django run that a program of the root or of the folder of tests starts; None: none does, or several do."""
    programs = [path for path in files if _STARTER.fullmatch(path) and starts_django(files[path])]
    return Asked(**_django(programs[0])) if len(programs) == 1 else None


def _django(script: str) -> dict[str, Any]:
    return {"runner": "django", "command": of_program(("python", script))}


def _is_apart(asked: Asked, files: Mapping[str, str]) -> bool:
    """Whether a script of tests is run beside places that it does not lie in, so that these are not the whole suite."""
    above = (f"{place.rstrip('/')}/" for place in asked.paths)
    return bool(asked.paths) and asked.script in files and not asked.script.startswith(tuple(above))


def gathered_by_a_script(files: Mapping[str, str]) -> Asked | None:
    """How tests run in the one package that a program at the root runs as a whole; None: there is none, or several."""
    packages = {_gathered(path, files) for path in files if _OF_TESTS.fullmatch(path)} - {""}
    return Asked(runner="unittest", command=(*_UNITTEST, *packages)) if len(packages) == 1 else None


def _gathered(script: str, files: Mapping[str, str]) -> str:
    """The package whose tests a program at the root runs by unittest, all of them and no others; empty: that is not so."""
    text = files.get(script, "")
    names = set(_GATHERED.findall(text))
    if (
        "/" in script
        or not names
        or not _RUNS.search(text)
        or _CASE.search(text)
        or _GATHERS_OTHERS.search(text)
    ):
        return ""
    package_of = {
        match["whole"] or match["part"]: match["whole"] or match["package"]
        for match in _IMPORTED.finditer(text)
    }
    wholes = {match["whole"] for match in _IMPORTED.finditer(text)} & names
    packages = {package_of.get(name, "") for name in names}
    is_one = len(packages) == 1 and packages == wholes
    package = packages.pop()
    return package if is_one and f"{package}/__init__.py" in files else ""


def run_by_unittest_alone(files: Mapping[str, str], paths: Iterable[str]) -> Asked | None:
    """How tests run in the one file that has some, where nothing that was read names pytest; None: that is not so.

    Args:
        paths: files that pytest does not find by their names.
    """
    [first, *others] = paths
    if others or any("pytest" in text or "py.test" in text for text in files.values()):
        return None
    text = files[first]
    if (
        not _CASE.search(text)
        or _GATHERS.search(text)
        or re.search(r"^(?:async )?def test", text, re.MULTILINE)
    ):
        return None
    if posixpath.join(posixpath.dirname(first), "__init__.py") in files:
        return Asked(runner="unittest", command=(*_UNITTEST, first))
    return Asked(runner="unittest", command=_command(first, text))


def _command(path: str, text: str) -> tuple[str, ...]:
    folder, name = posixpath.split(path)
    has_own_runner = not _MAIN.search(text) and _RUNS.search(text) is not None
    options = ("-W", f"{_AS_PYTHON_DOES}{name.removesuffix('.py')}") if has_own_runner else ()
    # A program imports what lies beside it.
    place = ("discover", "-s", folder, "-p", name) if folder else (name,)
    return (*_UNITTEST[:1], *options, *_UNITTEST[1:], *place)
