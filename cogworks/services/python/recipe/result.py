"""What the texts of a repository come to: the recipe of its environment."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import Field

from cogworks.domain_services.checking import Choice
from cogworks.services.python.building.project import Project
from cogworks.services.python.runners import as_typed
from cogworks.vocabulary import Value


class Undeclared(Value):
    """A module that tests import and nothing declares; whether it comes with something else is known once packages are there."""

    module: str
    """Its first name alone."""
    place: str
    """File and line."""
    is_optional: bool
    """Whether it is imported where it is there."""


_MOST_NAMED = 6
_SURE = "imported, nothing declares {}, and {} came with no other package; where tests need {}"
_OPTIONAL = (
    "imported where {} there, and nothing declares {} for tests; where they fail or are skipped without {}"
)
_REMEDY = "name its package in `[environment] packages` of .cogworks/config.toml."


def undeclared_in_words(undeclared: Iterable[Undeclared]) -> tuple[str, ...]:
    """A note about those that tests cannot do without, and one about the others; the first of many are named."""
    every = list(undeclared)
    # What is imported where it is there and used elsewhere as well is one matter.
    optional = {each.module for each in every if each.is_optional}
    known = [each for each in every if each.is_optional or each.module not in optional]
    kinds = ([each for each in known if each.is_optional == is_optional] for is_optional in (False, True))
    return tuple(_note(kind) for kind in kinds if kind)


def _note(kind: Sequence[Undeclared]) -> str:
    is_optional = kind[0].is_optional
    if len(kind) == 1:
        words = _OPTIONAL.format("it is", "it", "it") if is_optional else _SURE.format("it", "it", "it")
        return f"{kind[0].place}: {kind[0].module!r} is {words}, {_REMEDY}"
    words = (
        _OPTIONAL.format("they are", "them", "one") if is_optional else _SURE.format("them", "they", "one")
    )
    named = ", ".join(f"{each.module!r} ({each.place})" for each in kind[:_MOST_NAMED])
    more = f" and {len(kind) - _MOST_NAMED} more" if len(kind) > _MOST_NAMED else ""
    return f"{named}{more} are {words}, {_REMEDY}"


class Before(Value):
    """What a repository's own tools run before its tests, and no run here does."""

    source: str = ""
    """File, with its line or table."""
    commands: tuple[str, ...] = ()


class Recipe(Value):
    """What has to be installed and how tests run, in an order that does not depend on the order of the files."""

    requirements: tuple[str, ...] = ()
    """Names with versions and markers, no addresses and no paths."""
    wished: tuple[str, ...] = ()
    """Those of the requirements without which tests run all the same, some of them skipped."""
    constraints: tuple[str, ...] = ()
    locked: tuple[str, ...] = ()
    """Constraints `name==version` of a lock file that contradict no requirement."""
    hashed: tuple[str, ...] = ()
    """Those requirements that come with hashes, each with its `--hash` options."""
    requires_python: str = ""
    python: str = ""
    """The version that the repository's configuration of cogworks asks for."""
    read_for: str = ""
    """The version that everything here was read for, as `3.12`: conditions of tox depend on it."""
    project: Project | None = None
    """How the project is built, where it declares that and may be."""
    dynamic: tuple[str, ...] = ()
    """Fields of `[project]` that only a build tells."""
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Requirements files; one that only constrains stands after `-c `."""
    packages: tuple[str, ...] = ()
    """Requirements that stand in none of these."""
    variables: dict[str, str] = Field(default_factory=dict)
    run_source: str = ""
    """The file, with its line or table, that says how the tests run; empty: none does."""
    runner: str = "pytest"
    command: tuple[str, ...] = ()
    """Words of the command that runs the tests; none: plain pytest."""
    paths: tuple[str, ...] = ()
    """Files and folders of the tests, where the repository's own command names them."""
    before: Before = Before()
    imports_pytest: bool = False
    """Whether a file of the repository does, so that pytest has to be there whatever runs the tests."""
    choices: tuple[Choice, ...] = ()
    left_out: tuple[str, ...] = ()
    """What could not be read or is not obeyed, each with its place."""
    undeclared: tuple[Undeclared, ...] = ()
    """What is doubtful; nothing that was said is missing because of it."""


class Asked(Value):
    """What one source says that tests need, and how they run."""

    source: str = ""
    """File, with its line or table."""
    why: str = ""
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Requirements files; one that only constrains stands after `-c `."""
    requirements: tuple[str, ...] = ()
    variables: dict[str, str] = Field(default_factory=dict)
    runner: str = ""
    command: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    run_source: str = ""
    """The source of how they run, where several were asked."""
    others: tuple[str, ...] = ()
    """Commands before the tests that neither install nor test, as far as is known."""
    before: Before = Before()
    """Those of them that may make what tests need."""
    script: str = ""
    """A program of Python that is run and may be the tests; its text says whether it is."""
    is_beside: bool = False
    """Whether that program is started in another folder than the root."""
    notes: tuple[str, ...] = ()
    every_extra: bool = False
    every_group: bool = False
    default_groups: bool = False
    """Whether those that uv installs without being asked to are wanted; by itself that says nothing of what is installed."""

    @property
    def installs(self) -> bool:
        """Whether it says anything of what is installed."""
        return bool(
            self.extras
            or self.groups
            or self.files
            or self.requirements
            or self.every_extra
            or self.every_group
        )

    def joined(self, other: "Asked") -> "Asked":
        """Both; how tests run is what the first says of it."""
        return self.model_copy(
            update={
                "extras": _each(self.extras, other.extras),
                "groups": _each(self.groups, other.groups),
                "files": _each(self.files, other.files),
                "requirements": _each(self.requirements, other.requirements),
                "notes": _each(self.notes, other.notes),
                "variables": {**other.variables, **self.variables},
                "others": self.others if self.runner else _each(self.others, other.others),
                "script": self.script or other.script,
                "is_beside": self.is_beside if self.script else other.is_beside,
                "every_extra": self.every_extra or other.every_extra,
                "every_group": self.every_group or other.every_group,
                "default_groups": self.default_groups or other.default_groups,
                **({} if self.runner else other.running),
            }
        )

    @property
    def running(self) -> dict[str, object]:
        """How tests run."""
        return {"runner": self.runner, "command": self.command, "paths": self.paths}


def _each(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


_WIDTH = 100


def places(recipe: Recipe, folder: Path) -> tuple[str, ...]:
    """The files and folders that its command names; none if one of them is not in `folder`."""
    are_there = all((folder / each.split("::")[0]).exists() for each in recipe.paths)
    return recipe.paths if are_there else ()


def configuration(recipe: Recipe, places: Sequence[str] = ()) -> str:
    """For `.cogworks/config.toml`; the comments say where each choice comes from.

    Args:
        places: what is run; none: what the runner finds.
    """
    environment: dict[str, Any] = {
        "extras": list(recipe.extras),
        "groups": list(recipe.groups),
        "requirements": list(recipe.files),
    }
    if recipe.packages:
        environment["packages"] = list(recipe.packages)
    if recipe.python:
        environment["python"] = recipe.python
    if recipe.variables:
        environment["variables"] = dict(sorted(recipe.variables.items()))
    document: dict[str, Any] = {"environment": environment}
    if recipe.command:
        document["tests"] = {"command": shlex.join((*as_typed(recipe.command), *places))}
    return "".join(f"# {line}\n" for line in _comments(recipe)) + tomli_w.dumps(document)


def _comments(recipe: Recipe) -> list[str]:
    lines = [
        " ".join(f"{each.what}: {each.source or 'a default'} ({each.why})".split()) for each in recipe.choices
    ]
    return [line[: _WIDTH * 2] for line in lines]
