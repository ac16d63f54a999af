"""Which packages have to be fetched, by which options, and what to do where they are missing; pure rules from texts and folders."""

import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from cogworks.services.command.recipe import Recipe
from cogworks.services.setup.registries import TOGETHER, VARIABLE
from cogworks.toml_text import tables_in

_LOCKED = re.compile(r'(?m)^source = "(?:registry|sparse)\+')
_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")
_GO_PROXY = "https://proxy.golang.org"
_UPPER = re.compile(r"[A-Z]")


def lacks_modules(sums: str, cache: Path | None) -> bool:
    """Whether a module whose sources `go.sum` names is not in a module cache.

    Args:
        sums: the text of `go.sum`.
        cache: that of the user who runs the service; None: there is none.
    """
    modules = list(_modules(sums))
    return bool(modules) and (cache is None or any(not (cache / each).is_file() for each in modules))


def own_cache(variables: Mapping[str, str], proxies: str) -> Mapping[str, str]:
    """The variables of a setup that asks a module cache first and fills one of its own, for that cache is read only.

    Args:
        variables: those of the toolchain.
        proxies: the value of `GOPROXY` on this machine; empty: everybody's.
    """
    cache = variables.get("GOMODCACHE")
    if cache is None:
        return variables
    others = {name: value for name, value in variables.items() if name != "GOMODCACHE"}
    # The cache is laid out as a proxy is, so that nothing is fetched twice.
    return {**others, "GOPROXY": f"file://{cache}/cache/download,{proxies or _GO_PROXY}"}


def names_crates(manifest: str) -> bool:
    """Whether a `Cargo.toml` names a crate of a registry."""
    try:
        content = tables_in(manifest)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return any(_is_of_registry(each) for table in _tables(content) for each in table.values())


def locks_crates(lock: str) -> bool:
    """Whether a `Cargo.lock` names a crate of a registry."""
    return bool(_LOCKED.search(lock))


def _modules(sums: str) -> Iterator[str]:
    """Where the archive of each module lies in a cache; upper case is written with a mark there."""
    for line in sums.splitlines():
        words = line.split()
        # Of most modules only `go.mod` is ever read.
        if len(words) == 3 and not words[1].endswith("/go.mod"):
            name, version = (_UPPER.sub(lambda match: f"!{match[0].lower()}", each) for each in words[:2])
            yield f"cache/download/{name}/@v/{version}.zip"


def _tables(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    targets = content.get("target")
    within = [*targets.values()] if isinstance(targets, dict) else []
    for place in (content, content.get("workspace"), *within):
        for name in _TABLES if isinstance(place, dict) else ():
            if isinstance(table := place.get(name), dict):
                yield table


def _is_of_registry(dependency: Any) -> bool:
    if isinstance(dependency, dict):
        return not any(each in dependency for each in ("path", "git", "workspace"))
    return isinstance(dependency, str)


FOLDER = ".github/workflows/"
_INSTALLS = re.compile(
    r"(?m)^[ \t]*(?:-[ \t]+)?(?:run:[ \t]*)?['\"]?(npm(?=[ \t]+(?:install|ci|i)\b)|pnpm(?=[ \t]+(?:install|i)\b)|yarn)(?:[ \t]+(?:install|ci|i))?((?:[ \t]+--[a-z][a-z-]*(?:=[a-z]+)?)*)[ \t]*['\"]?$"
)
_KNOWN: Mapping[str, frozenset[str]] = {
    "npm": frozenset({"--legacy-peer-deps", "--force", "--ignore-scripts", "--strict-peer-deps=false"}),
    "pnpm": frozenset({"--ignore-scripts", "--no-frozen-lockfile", "--shamefully-hoist"}),
    "yarn": frozenset({"--ignore-engines", "--ignore-scripts", "--ignore-optional"}),
}
"""What decides whether an installation comes to its end; anything else is left to the workflow."""
_LIKELY = ("test", "tests", "ci", "unit", "node", "build", "main", "check")


def is_workflow(path: str) -> bool:
    """Whether a file may say how the project installs itself."""
    return path.startswith(FOLDER) and path.endswith((".yml", ".yaml")) and path.count("/") == 2


def with_own_options(command: str, texts: Mapping[str, str]) -> tuple[str, str]:
    """An installing command with the options that the likeliest workflow with such a line gives it, and the path of that one where there are any.

    Args:
        texts: of workflows and other files, by their paths.
    """
    program = command.partition(" ")[0]
    path, options = next(_options(program, texts), ("", ()))
    return " ".join((command, *(each for each in options if each not in command.split()))), path


def _options(program: str, texts: Mapping[str, str]) -> Iterator[tuple[str, Sequence[str]]]:
    for path in workflows_by_rank(texts):
        for match in _INSTALLS.finditer(texts[path]):
            if match[1] == program:
                options = [each for each in match[2].split() if each in _KNOWN.get(program, ())]
                yield (path, options) if options else ("", ())


def workflows_by_rank(paths: Collection[str]) -> list[str]:
    """The workflows among some paths, those that likely run the tests first."""
    return sorted(filter(is_workflow, paths), key=_rank)


def _rank(path: str) -> tuple[int, str]:
    """Workflows that test come before those that publish."""
    words = re.split(r"[^a-z]+", path.removeprefix(FOLDER).lower())
    return next((at for at, each in enumerate(_LIKELY) if each in words), len(_LIKELY)), path


class _Store(NamedTuple):
    pattern: re.Pattern[str]
    """How the tool says that something is missing and that it may not fetch it."""
    remedy: str


_FILLED = "let a step before cogworks run `{line}` as the same user, which fills `{folder}`"
_STORES: Mapping[str, _Store] = MappingProxyType(
    {
        "maven": _Store(
            re.compile(r"in offline mode|has not been downloaded from it before"),
            f"Maven fetches nothing here: {_FILLED.format(line='mvn -B test', folder='~/.m2/repository')}. "
            "With the packages of Debian alone: `MAVEN_OPTS`, see docs/environments.md.",
        ),
        "gradle": _Store(
            re.compile(r"available for offline mode"),
            f"Gradle fetches nothing here: {_FILLED.format(line='gradle test', folder='~/.gradle/caches')}, "
            "with Gradle 6.2 or newer.",
        ),
    }
)


_NO_GEM = re.compile(
    r"in locally installed gems|in any of the sources|Bundler::\w*NotFound|Gem::Missing\w*Error"
)
_NO_FILE = re.compile(r"cannot load such file -- ([\w-]{1,80}(?:/[\w-]{1,80}){0,8})(?![\w./-])")
"""What is looked for by a path of its own begins with a slash or has an ending."""
_NOT_LOADED = re.compile(r"\bvendor/|\b(?:Class|Interface|Trait|Enum|Function)\b.{1,300}\bnot found\b")
_FETCHES = MappingProxyType({"ruby": "bundle", "php": "composer"})
"""The program that fetches packages."""
_BUNDLED = re.compile(r"bundle exec (rspec|rake(?: [\w:-]{1,80})?)")
_PREPARED = '`environment = "prepared"`'
_GEMS = f"Let a step before cogworks install the gems of the `Gemfile`, and say {_PREPARED} in `.cogworks/config.toml`."
_VENDOR = (
    "`vendor/` is not there, which `composer install` makes. Commit it (`git add -f vendor`) and say "
    f"{_PREPARED} in `.cogworks/config.toml`, or leave that out there and have Composer on this machine, with its hosts "
    f"allowed: `{VARIABLE}={','.join(TOGETHER['composer'])}`."
)


def not_fetched(
    recipe: Recipe, errors: Collection[str], *, has_vendor: bool, files: Collection[str] = ()
) -> tuple[str, ...]:
    """How the packages come onto this machine; nothing where none of the errors is about that.

    Args:
        has_vendor: whether the folder is there that Composer makes.
        files: of the repository; what one of them could be is no package.
    """
    store = _STORES.get(recipe.runner)
    if store and any(store.pattern.search(each) for each in errors):
        return (store.remedy,)
    if recipe.language == "ruby" and any(_lacks_gem(each, files) for each in errors):
        return _without_bundler(recipe)
    is_bare = recipe.language == "php" and not has_vendor
    return (_VENDOR,) if is_bare and any(_NOT_LOADED.search(each) for each in errors) else ()


def _lacks_gem(error: str, files: Collection[str]) -> bool:
    if _NO_GEM.search(error):
        return True
    match = _NO_FILE.search(error)
    return match is not None and not any(f"/{file}".endswith(f"/{match[1]}.rb") for file in files)


def by_hand(recipe: Recipe, setup: Sequence[str]) -> tuple[str, ...]:
    """What to do where these lines cannot fetch the packages; nothing where they are about others, or nothing is known."""
    if not any(_FETCHES.get(recipe.language, "\n") in line for line in setup):
        return ()
    return (_VENDOR,) if recipe.language == "php" else _without_bundler(recipe)


def _without_bundler(recipe: Recipe) -> tuple[str, ...]:
    if (line := _BUNDLED.match(recipe.test)) is None:
        return (_GEMS,)
    own = f"`command = {json.dumps(line[1])}`"
    return (
        f"{_GEMS} Or leave Bundler out, where the gems of this machine are enough: {_PREPARED} there and, under `[tests]`, {own}.",
    )
