"""What a maintainer can do about tests that cannot be loaded."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from cogworks.services.python.distributions import WITH_PKG_RESOURCES, Catalogue
from cogworks.services.python.plugin_needs import asked_of_plugins
from cogworks.services.python.recipe.result import Before

_MISSING = re.compile(r"ModuleNotFoundError: No module named '(?P<name>[\w.]+)'")
_ASKED_FOR = (
    re.compile(
        r"['\"`](?P<name>[A-Za-z]\w*)['\"`] (?:module|package|library) (?:is|must be|needs to be|has to be) (?:required|installed|needed)"
    ),
    re.compile(r"\bpip install ['\"`]?(?P<name>[A-Za-z][\w-]*)\b(?![.\[])"),
)
"""How projects say in their own words that a package of theirs is missing."""
_REMOVED = re.compile(r"\bPytestRemovedIn(?P<version>\d{1,3})Warning\b")
_SIGNS_OF_PYTEST = {"Marks cannot be applied to fixtures": "9"}
"""What pytest says of tests that an earlier version ran -> the first version that does not."""
_WARNS = re.compile(
    r"^E {1,8}(?:[\w.]{1,100}\.)?(?P<warning>(?!PytestRemoved)\w{0,60}Warning): ", re.MULTILINE
)
_MOST_NOTES = 5


def remedies(
    errors: Iterable[str],
    *,
    is_own: Callable[[str], bool],
    at_setup: Iterable[str] = (),
    behind_try: Iterable[str] = (),
    left_out: Sequence[str] = (),
    packages: Sequence[str] = (),
) -> tuple[str, ...]:
    """A sentence for each thing that can be mended; none where nothing is known.

    Args:
        errors: the collection errors of a run.
        is_own: whether a top-level module is one of the repository.
        at_setup: the messages of tests that could be loaded and not begun.
        behind_try: modules that are imported where they are there, and used all the same.
        left_out: what was not obeyed.
        packages: those that `[environment] packages` has already.
    """
    errors = tuple(errors)
    missing = {names[-1] for error in errors if (names := _MISSING.findall(error))}
    requested = {match["name"] for error in errors for each in _ASKED_FOR for match in each.finditer(error)}
    own = sorted(name for name in missing if is_own(name.split(".")[0]))
    silent = {
        name
        for name in (*behind_try, *requested)
        if not is_own(name.split(".")[0]) and not _is_standard(name)
    }
    foreign = sorted({name for name in missing if name not in own} | silent)
    plugins, others = asked_of_plugins((*errors, *at_setup))
    line = _line(foreign, plugins, packages)
    sentences = []
    if foreign:
        sentences.append(
            f"Name the package that brings {_listed(foreign)} in `.cogworks/config.toml` of the default branch: under `[environment]`: "
            f"`{line}`. Or declare it where the project does, as a dependency, an extra or a group for its tests."
        )
        sentences += [f"This was not installed: {note}." for note in left_out[:_MOST_NOTES]]
    if own:
        sentences.append(
            f"{_listed(own)} belongs to this repository and is not in it: where building the project generates it, "
            "declare in pyproject.toml how it is built (`[build-system]`); else commit it to the base branch."
        )
    sentences += [
        f"{what} belongs to {name}, which is not installed. Under `[environment]` in `.cogworks/config.toml`: `{line}`; or take it out."
        for what, name in plugins.items()
    ]
    return (*sentences, *others, *_of_versions(errors, packages))


def _of_versions(errors: Sequence[str], packages: Sequence[str]) -> Iterator[str]:
    """What to do where versions are later than those that the tests were written for."""
    text = "\n".join(errors)
    firsts = {match["version"] for match in _REMOVED.finditer(text)}
    firsts |= {version for sign, version in _SIGNS_OF_PYTEST.items() if sign in text}
    if firsts:
        listed = ", ".join(f'"{each}"' for each in (*packages, f"pytest<{min(firsts, key=int)}"))
        yield (
            "The tests do what this pytest no longer allows. Until they are mended, name an earlier one under `[environment]` in "
            f"`.cogworks/config.toml`: `packages = [{listed}]`."
        )
    if warnings := sorted({match["warning"] for match in _WARNS.finditer(text)}):
        yield (
            f"pytest makes an error of {_listed(warnings)} by the settings of the project. Let its `filterwarnings` pass over this one, "
            "or name an earlier version of the package that warns under `[environment]` in `.cogworks/config.toml`: "
            '`packages = ["NAME<VERSION"]`.'
        )


def unprepared(before: Before, setup: Sequence[str] = ()) -> tuple[str, ...]:
    """What to do where tests may need what nothing made for them; none where nothing is known to make anything.

    Args:
        setup: the lines that are configured.
    """
    missing = [each for each in before.commands if each not in setup]
    if not missing:
        return ()
    lines = json.dumps([*setup, *missing], ensure_ascii=False)
    sentence = (
        f"{before.source} runs {_listed(missing)} before the tests, and no run here does. If the tests need what that makes, let a setup "
        f"run it: under `[environment]` in `.cogworks/config.toml`: `setup = {lines}`."
    )
    return (sentence,)


def is_module_of(folder: Path, name: str) -> bool:
    """Whether a top-level module or package lies in a repository, below `src` or not."""
    return any((root / name).is_dir() or (root / f"{name}.py").is_file() for root in (folder, folder / "src"))


def _is_standard(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] in sys.stdlib_module_names


def _line(modules: Sequence[str], plugins: Mapping[str, str], packages: Sequence[str]) -> str:
    """The line of configuration that adds to what is configured what usually brings the modules, and the plugins."""
    catalogue = Catalogue({})
    names = [
        WITH_PKG_RESOURCES
        if top == "pkg_resources"
        else min(catalogue.bringing(top) or {top.replace("_", "-")})
        for top in (each.split(".")[0] for each in modules)
    ]
    listed = ", ".join(f'"{name}"' for name in dict.fromkeys((*packages, *names, *plugins.values())))
    return f"packages = [{listed}]"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
