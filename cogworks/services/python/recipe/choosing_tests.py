"""Which source says what the tests need: the first that says anything, in the order that docs/environments.md tells."""

import re
from collections.abc import Callable, Iterator, Mapping

from cogworks.services.python.recipe.before_tests import before_tests
from cogworks.services.python.recipe.declared import Declared
from cogworks.services.python.recipe.evidence import needs_module, test_files
from cogworks.services.python.recipe.handed_on import handed_on
from cogworks.services.python.recipe.hatch import hatch_asked
from cogworks.services.python.recipe.nox import FILE as NOXFILE
from cogworks.services.python.recipe.nox import nox_asked
from cogworks.services.python.recipe.pytest_settings import pytest_settings
from cogworks.services.python.recipe.requirement_files import for_development, for_tests, purposes
from cogworks.services.python.recipe.result import Asked, Before
from cogworks.services.python.recipe.scripts import (
    PYTEST_FILE,
    by_unittest,
    gathered_by_a_script,
    run_by_unittest_alone,
    started_by_a_script,
)
from cogworks.services.python.recipe.tox import tox_asked
from cogworks.services.python.recipe.workflows import workflows_asked

BY_NAME = "its name"
_NAMED = re.compile(r"(?:.*/)?tests?\.py")
_TEST = re.compile(r"^[ \t]*(?:async[ \t]+)?def test|^class \w+\([^)]{0,500}TestCase\b", re.MULTILINE)
_DOCTEST = ("pytest", "--doctest-modules")


def asked_by_tests(files: Mapping[str, str], declared: Declared, python: str) -> Asked:
    """What they need of whichever source says it first, and how they run, of whichever says that first."""
    candidates = [by_unittest(each, files) for each in _each(files, declared, python)]
    installs = next((each for each in candidates if each.installs), Asked())
    runs = next((each for each in candidates if each.runner), None) or _guessed(files)
    # What a source says that nothing is taken from was not left out.
    heard = candidates if installs not in candidates else candidates[: candidates.index(installs) + 1]
    notes = tuple(note for each in (*heard, *([] if runs in heard else [runs])) for note in each.notes)
    update = {
        **runs.running,
        "variables": {**runs.variables, **installs.variables},
        "notes": notes,
        "run_source": runs.source,
        "before": next(
            (each for one in (installs, runs) if (each := before_tests(one, files)).commands), Before()
        ),
        "default_groups": installs.default_groups
        or runs.default_groups
        or (bool(declared.default_groups) and not installs.installs),
    }
    return installs.model_copy(update=update)


def _each(files: Mapping[str, str], declared: Declared, python: str) -> Iterator[Asked]:
    sources: tuple[Callable[[], Asked | None], ...] = (
        lambda: tox_asked(files, python),
        lambda: nox_asked(files[NOXFILE]) if NOXFILE in files else None,
        lambda: hatch_asked(files),
        lambda: _named(files, declared, for_tests),
        lambda: workflows_asked(files),
        lambda: _named(files, declared, for_development),
    )
    for read in sources:
        if (asked := read()) is not None:
            yield handed_on(asked, files)


def _named(files: Mapping[str, str], declared: Declared, choose: Callable[[list[str]], list[str]]) -> Asked:
    """The extras, groups and files of certain names, all of them: each may hold a part."""
    purpose_by_path = purposes(files)
    chosen = set(choose([*declared.extras, *declared.groups, *purpose_by_path.values()]))
    groups = tuple(name for name in sorted(declared.groups) if name in chosen)
    return Asked(
        source=BY_NAME,
        extras=tuple(name for name in sorted(declared.extras) if name in chosen),
        groups=groups,
        files=tuple(sorted(path for path, purpose in purpose_by_path.items() if purpose in chosen)),
        requirements=tuple(line for _, line in declared.for_tests) if choose is for_tests else (),
        # Whoever wants every group says nothing of tests, and those for documentation may want another Python.
        default_groups=bool(declared.default_groups) and not (groups and declared.are_all_default),
    )


def _guessed(files: Mapping[str, str]) -> Asked:
    """How tests run where nothing says it."""
    tests = test_files(files)
    text = "\n".join(files[path] for path in files if path in tests or path.endswith("/tests.py"))
    if "manage.py" in files and "django.test" in text and "pytest" not in text:
        return Asked(runner="django", command=("python", "manage.py", "test"))
    is_of_pytest = bool(pytest_settings(files).options) or needs_module(files, "pytest")
    # pytest finds a part of such tests, and that part passes; those of Django fail without its settings.
    if not is_of_pytest and (asked := started_by_a_script(files) or gathered_by_a_script(files)) is not None:
        return asked
    if any(PYTEST_FILE.fullmatch(path) for path in tests) or "python_files" in pytest_settings(files).options:
        return Asked(runner="pytest")
    # pytest finds no files of these names by itself.
    others = {path for path in files if _NAMED.fullmatch(path)} | {*tests}
    if paths := tuple(sorted(path for path in others if _TEST.search(files[path]))):
        return run_by_unittest_alone(files, paths) or Asked(runner="pytest", paths=paths)
    is_doctest = any("doctest" in each for path, each in files.items() if path not in tests)
    has_examples = any(">>> " in each for path, each in files.items() if path.endswith(".py"))
    return Asked(runner="pytest", command=_DOCTEST if is_doctest and has_examples else ())
