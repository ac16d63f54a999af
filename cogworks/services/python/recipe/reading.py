"""Reads a repository's recipe from its texts; nothing of it is run."""

import sys
from collections.abc import Collection, Mapping
from functools import cached_property

from packaging.requirements import InvalidRequirement, Requirement

from cogworks.domain_services.checking import Choice
from cogworks.domain_services.messages import RepositorySettings
from cogworks.services.python.building.project import project_of
from cogworks.services.python.distributions import Catalogue
from cogworks.services.python.recipe.basket import Basket
from cogworks.services.python.recipe.brought_along import brought_along
from cogworks.services.python.recipe.choosing_tests import BY_NAME, asked_by_tests
from cogworks.services.python.recipe.commands import USUAL_GROUPS
from cogworks.services.python.recipe.declared import Declared
from cogworks.services.python.recipe.evidence import (
    Foreign,
    foreign_imports,
    needs_module,
    optional_imports,
)
from cogworks.services.python.recipe.locks import locked_versions
from cogworks.services.python.recipe.passed_over import python_files, tests_that_run
from cogworks.services.python.recipe.pyproject import FILE, pyproject_of
from cogworks.services.python.recipe.pytest_settings import (
    ALIKE,
    Used,
    agrees,
    is_limited,
    plugins_of_tests,
    plugins_used,
    pytest_settings,
    with_a_runner_that_runs,
)
from cogworks.services.python.recipe.requirement_files import BASE, Member, best, members_of, purposes
from cogworks.services.python.recipe.result import Recipe, Undeclared
from cogworks.services.python.recipe.setup_files import CFG, PY, setup_cfg_of, setup_py_of
from cogworks.services.python.recipe.texts import canonical, strings, table, toml

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
_BESIDE_TESTS = frozenset(
    ["doc", "docs", "lint", "style", "type", "types", "typing", "mypy", "release", "build"]
)
"""Extras and groups of other work."""
_OF_PYTEST = ("pytest", "_pytest")
CONFIGURED = ".cogworks/config.toml [environment]"


def read_recipe(
    files: Mapping[str, str],
    settings: RepositorySettings | None = None,
    *,
    python: str = HERE,
    paths: Collection[str] = (),
) -> Recipe:
    """What is installed, with which Python, and how the tests run.

    Args:
        files: repository-relative path -> text, of every file that says what is installed, and of Python files.
        settings: what the repository's configuration of cogworks says; it counts before everything else.
        python: the version that tests run with, as `3.12`.
        paths: every file of the repository, read or not.
    """
    return _Reading(files, settings or RepositorySettings(), python, paths).recipe()


def declared_by(files: Mapping[str, str]) -> Declared:
    """What the project declares of itself, of whichever file counts for its tools."""
    first = pyproject_of(files[FILE]) if FILE in files else Declared()
    project = table(toml(files.get(FILE, ""))[0], "project")
    others = Declared()
    if CFG in files:
        others = others.with_more(setup_cfg_of(files[CFG]))
    if PY in files:
        others = others.with_more(setup_py_of(files[PY]))
    dynamic = strings(project.get("dynamic"))
    # Poetry and flit put a `setup.py` of their own making into what they publish.
    is_declared = bool(project) or bool(first.dependencies)
    if is_declared and "dependencies" not in dynamic:
        others = others._replace(dependencies=(), files=(), dynamic=())
    if is_declared and "optional-dependencies" not in dynamic:
        others = others._replace(extras={})
    declared = first.with_more(others)
    read_fields = {
        *(["dependencies"] if others.dependencies or others.files else []),
        *(["optional-dependencies"] if others.extras else []),
    } - set(others.dynamic)
    return declared._replace(dynamic=tuple(each for each in declared.dynamic if each not in read_fields))


class _Reading:
    """One reading, in the order of its steps."""

    def __init__(
        self, files: Mapping[str, str], settings: RepositorySettings, python: str, paths: Collection[str]
    ) -> None:
        self._files = files
        self._settings = settings
        self._paths = paths
        self._version = python
        self._declared = declared_by(files)
        self._basket = Basket(files, self._declared)
        self._asked = asked_by_tests(files, self._declared, python)
        self._choices: list[Choice] = []
        self._undeclared: list[Undeclared] = []
        self._packages: list[str] = []
        self._wished: set[str] = set()
        self._taken_files: list[str] = []
        self._catalogue = Catalogue({})

    @property
    def _is_all_said(self) -> bool:
        settings = self._settings
        return None not in (settings.extras, settings.groups, settings.requirements)

    def recipe(self) -> Recipe:
        """All of it."""
        self._take_project()
        self._take_asked()
        if not self._is_all_said:
            self._take_used()
        return self._result()

    def _take_project(self) -> None:
        declared, basket = self._declared, self._basket
        for place, line in declared.dependencies:
            basket.take_line(place, line)
        for place, path in declared.files:
            basket.refer(place, path)
        is_declared = bool(declared.dependencies or declared.files)
        of_tool = self._asked.source not in ("", BY_NAME)
        # Where tests have a source of their own, what the project declares is all that its code needs.
        if self._settings.requirements is None and not (is_declared and of_tool):
            for path in sorted(path for path, purpose in purposes(self._files).items() if purpose in BASE):
                self._take_file(path, "", "a file of this name says what the code needs")

    def _take_asked(self) -> None:
        settings, asked, basket = self._settings, self._asked, self._basket
        why = asked.why
        for name in self._names(
            settings.extras, (*asked.extras, *(self._declared.extras if asked.every_extra else ()))
        ):
            source = CONFIGURED if settings.extras is not None else self._source(f"extra {name!r}")
            basket.take_extra(name, source)
            self._choose(f"extra {name!r}", source, why)
        named = (*asked.groups, *(self._declared.groups if asked.every_group else ()))
        for name in self._names(settings.groups, named):
            # What its tool installs by itself is not there in every project.
            if settings.groups is None and name in USUAL_GROUPS and name not in self._declared.groups:
                continue
            source = CONFIGURED if settings.groups is not None else self._source(f"group {name!r}")
            basket.take_group(name, source)
            self._choose(f"dependency group {name!r}", source, why)
        if settings.groups is None and asked.default_groups:
            self._take_default_groups()
        for path in asked.files if settings.requirements is None else settings.requirements:
            self._take_file(
                path, CONFIGURED if settings.requirements is not None else self._source(path), why
            )
        if not self._is_all_said:
            for line in asked.requirements:
                self._take_package(line, self._source(line), why)
        for line in settings.packages:
            self._take_package(line, CONFIGURED, "")

    def _take_default_groups(self) -> None:
        default, declared = self._declared.default_groups, self._declared.groups
        for name in USUAL_GROUPS[:1] if default is None else default:
            if name not in declared or name in self._basket.groups:
                continue
            if declared[name].fits(self._version):
                self._basket.take_group(name)
                source = declared[name].place.split(",")[0]
                self._choose(f"dependency group {name!r}", source, "uv installs it without being asked to")
            else:
                wanted = declared[name].requires_python
                self._basket.left_out.append(
                    f"{declared[name].place} is for Python {wanted}, and tests run with {self._version}"
                )

    def _names(self, configured: tuple[str, ...] | None, default: tuple[str, ...]) -> list[str]:
        return list(dict.fromkeys(map(canonical, default if configured is None else configured)))

    def _source(self, what: str) -> str:
        """Where something stands; by its name alone, in the file that declares it."""
        asked = self._asked
        if asked.source != BY_NAME:
            return asked.source
        declared = {**self._declared.extras, **self._declared.groups}
        name = what.split("'")[1] if "'" in what else ""
        return declared[name].place.split(",")[0] if name in declared else ""

    def _take_file(self, named: str, source: str, why: str) -> None:
        path = named.removeprefix("-c ").strip()
        if named not in self._taken_files:
            self._taken_files.append(named)
            self._basket.refer(source or named, path, is_constraint=named.startswith("-c "))
            if path in self._files:
                self._choose(f"file {named}", source or path, why)

    def _take_package(self, line: str, source: str, why: str) -> None:
        before = len(self._basket.requirements)
        self._basket.take_line(source, line)
        if len(self._basket.requirements) > before:
            self._packages.append(line)
            self._choose(f"package {line}", source, why)

    def _choose(self, what: str, source: str, why: str) -> None:
        reason = why or ("its name says that it is for tests" if source != CONFIGURED else "it is configured")
        self._choices.append(Choice(what=what, source=source, why=reason))

    def _take_used(self) -> None:
        """What the configuration of pytest and the test files use, and nothing has named yet."""
        if self._asked.runner == "pytest":
            of_tests = plugins_of_tests(tests_that_run(self._files, self._asked), self._python.values())
            for used in (*plugins_used(pytest_settings(self._files), self._asked.command), *of_tests):
                self._take_plugin(used)
        for used in brought_along(self._python, self._basket.reached):
            self._take_plugin(used)
        for each in self._foreign:
            if not self._is_there(each):
                self._take_import(each)
        for each in optional_imports(self._python, self._paths):
            if not self._is_there(each):
                self._wish(each)

    @cached_property
    def _python(self) -> Mapping[str, str]:
        return python_files(self._files, self._asked)

    @cached_property
    def _foreign(self) -> tuple[Foreign, ...]:
        return foreign_imports(self._python, self._paths)

    @property
    def _imports_pytest(self) -> bool:
        """Whether a test file does, anywhere, or whatever is loaded with it."""
        return needs_module(self._files, *_OF_PYTEST) or any(map(self._comes_with_pytest, self._foreign))

    def _wish(self, each: Foreign) -> None:
        """Take what makes tests run that would be skipped; where it cannot be installed they are skipped."""
        before = set(self._basket.requirements)
        members = [
            member
            for member in self._members()
            if member.name not in _BESIDE_TESTS
            and self._catalogue.may_bring(member.distribution, each.dotted)
        ]
        if members and each.is_of_test:
            chosen = best(members)
            self._take_package(
                chosen.line, chosen.place, f"`{each.place}` imports {each.module!r} where it is there"
            )
        # Where nothing says what tests need, they may look at all that the code can do.
        elif not self._asked.installs and self._settings.extras is None:
            for name in dict.fromkeys(member.name for member in members if member.kind == "extra"):
                self._basket.take_extra(name)
                why = f"`{each.place}` imports {each.module!r} where it is there, and nothing says what tests need"
                self._choose(f"extra {name!r}", self._declared.extras[name].place.split(",")[0], why)
        if each.is_loaded and not members and not self._declared.dynamic:
            self._doubt(each, is_optional=True)
        self._wished |= self._basket.requirements - before

    def _take_plugin(self, used: Used) -> None:
        name = _name(used.distribution)
        if name and is_limited(used.distribution):
            self._take_limited(name, used)
            return
        if (
            not name
            or not {name, *ALIKE.get(name, ())}.isdisjoint(self._basket.reached)
            or not self._is_wanted(name)
        ):
            return
        members = [each for each in self._members() if each.distribution == name]
        line = best(members).line if members else used.distribution
        self._take_package(line, used.source, used.why)

    def _take_limited(self, name: str, used: Used) -> None:
        """Take an earlier version of a plugin, where nothing says another one; it gives way where it cannot be installed."""
        before = set(self._basket.requirements)
        others = {*before, *self._basket.constraints, *locked_versions(self._files, [name]).lines}
        is_its_own = used.is_sure or name in self._basket.reached
        if is_its_own and self._is_wanted(name) and agrees(used.distribution, others):
            self._take_package(used.distribution, used.source, used.why)
        self._wished |= self._basket.requirements - before

    def _is_wanted(self, name: str) -> bool:
        """A plugin of this project itself is on the path of its tests."""
        return name != canonical(self._declared.name or "\0")

    def _is_there(self, each: Foreign) -> bool:
        reached = self._basket.reached
        return self._comes_with_pytest(each) or any(
            self._catalogue.may_bring(name, each.dotted) for name in reached
        )

    def _comes_with_pytest(self, each: Foreign) -> bool:
        return self._catalogue.may_bring("pytest", each.dotted) or each.module in ("_pytest", "py")

    def _take_import(self, each: Foreign) -> None:
        members = [
            member
            for member in self._members()
            if self._catalogue.may_bring(member.distribution, each.dotted)
        ]
        exact = [
            member
            for member in members
            if member.distribution in {canonical(each.module), *self._catalogue.bringing(each.module)}
        ]
        owners = {(member.kind, member.name) for member in exact or members}
        why = f"`{each.place}` imports {each.module!r}, which only this declares"
        if len(owners) == 1:
            kind, name = next(iter(owners))
            source = (exact or members)[0].place
            if kind == "extra" and self._settings.extras is None:
                self._basket.take_extra(name)
                self._choose(f"extra {name!r}", source, why)
            elif kind == "group" and self._settings.groups is None:
                self._basket.take_group(name)
                self._choose(f"dependency group {name!r}", source, why)
            elif kind == "file" and self._settings.requirements is None:
                self._take_file(name, source, why)
        elif owners:
            chosen = best(exact or members)
            self._take_package(chosen.line, chosen.place, f"`{each.place}` imports {each.module!r}")
        elif each.is_loaded and not self._declared.dynamic:
            self._doubt(each, is_optional=False)

    def _doubt(self, each: Foreign, *, is_optional: bool) -> None:
        module = each.module.split(".")[0]
        # The first place is enough: one package mends them all.
        if (module, is_optional) not in [(known.module, known.is_optional) for known in self._undeclared]:
            self._undeclared.append(Undeclared(module=module, place=each.place, is_optional=is_optional))

    def _placed(self, path: str) -> str:
        """Where a package that is named as if it were installed lies in the repository."""
        places = {*self._paths, *self._files}

        def has(place: str) -> bool:
            return any(each == place or each.startswith(f"{place}/") for each in places)

        return f"src/{path}" if not has(path) and has(f"src/{path}") else path

    def _members(self) -> list[Member]:
        return members_of(self._declared, self._files, set(self._taken_files))

    def _result(self) -> Recipe:
        settings, basket, declared, asked = self._settings, self._basket, self._declared, self._asked
        requirements, outdated = with_a_runner_that_runs(basket.requirements)
        locked = locked_versions(self._files, requirements)
        if locked.lines:
            self._choose(
                f"{len(locked.lines)} locked versions",
                locked.source,
                "a lock file says which versions were tried",
            )
        project = None if settings.install == "never" else project_of(self._files)
        left_out = [*basket.left_out, *asked.notes, *locked.left_out, *outdated]
        if project is None:
            left_out += [
                f"{FILE if FILE in self._files else PY}: `{each}` is dynamic, and only a build would tell them"
                for each in declared.dynamic
            ]
        return Recipe(
            requirements=tuple(sorted(requirements)),
            wished=tuple(sorted(self._wished)),
            constraints=tuple(sorted(basket.constraints)),
            locked=locked.lines,
            hashed=tuple(sorted(basket.hashed)),
            requires_python=declared.requires_python,
            python=settings.python,
            project=project,
            dynamic=declared.dynamic,
            extras=tuple(sorted(basket.extras)),
            groups=tuple(sorted(basket.groups)),
            files=tuple(sorted(self._taken_files)),
            packages=tuple(sorted(dict.fromkeys(self._packages))),
            variables={**asked.variables, **settings.variables},
            run_source=asked.run_source,
            runner=asked.runner or "pytest",
            command=asked.command,
            paths=tuple(map(self._placed, asked.paths)),
            before=asked.before,
            imports_pytest=self._imports_pytest,
            choices=tuple(dict.fromkeys(self._choices)),
            left_out=tuple(dict.fromkeys(left_out)),
            undeclared=tuple(dict.fromkeys(self._undeclared)),
        )


def _name(line: str) -> str:
    try:
        return canonical(Requirement(line).name) if line else ""
    except InvalidRequirement:
        return ""
