"""What the setup of a repository leaves for its runs: made once in isolation with a door to registries, then kept."""

import os
import pwd
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from cogworks.codebase.failures import GitFailed
from cogworks.domain_services.messages import ErrorCode, Repository, RepositorySettings, Request
from cogworks.removal import temporary_folder
from cogworks.services.command.fetching import (
    is_workflow,
    lacks_modules,
    locks_crates,
    names_crates,
    own_cache,
)
from cogworks.services.command.ground import CONFIGURED, Ground, Machine, NotReady
from cogworks.services.command.managers import Manager
from cogworks.services.command.newer_node import newer_node, node_here, with_node
from cogworks.services.command.recipe import Recipe
from cogworks.services.command.recipes import recipe_of, wanted_texts
from cogworks.services.command.refused_node import node_instead
from cogworks.services.command.toolchains import Toolchain, how_to_get, packaged_version, toolchain_of
from cogworks.services.python.building.checkout import Checkout, checkout_of, store_of, text_of
from cogworks.services.python.keeping import Kept, made_environment
from cogworks.services.python.pythons import NotBuilt
from cogworks.services.setup.layers import FILES, HOME
from cogworks.services.setup.registries import TOGETHER, VARIABLE, not_reached_by, own_registries
from cogworks.services.setup.setups import Setup, setup_key

_MOST_MANIFESTS = 50
_INSTEAD = MappingProxyType(
    {
        "composer": "Without all of that, commit `vendor/` as `composer install` makes it (`git add -f vendor`), and say "
        '`environment = "prepared"` in `.cogworks/config.toml`.'
    }
)
"""What to do without a program."""


class Provision(NamedTuple):
    """What every run of a root is given besides its copy."""

    setup: Setup = Setup()  # frozen
    """What was run; none where there was nothing to run."""
    key: str = ""
    """Changes exactly when the setup has to run anew; empty: there is none."""
    layers: tuple[Path, ...] = ()
    """Folders whose files are laid into the copy where it has none."""
    home: Path | None = None
    """A folder that every run gets a copy of as its home; None: an empty one."""
    variables: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    is_reused: bool = True
    seconds: float = 0.0
    disk_bytes: int = 0


@contextmanager
def provided(
    request: Request,
    ground: Ground,
    machine: Machine,
    *,
    limit_s: float | None = None,
    hints: Callable[[Setup, str], tuple[str, ...]] = lambda *_: (),
) -> Iterator[Provision]:
    """What is there for a run, for the length of a `with` block.

    In `prepared` mode an earlier step installed everything. Else the setup that is configured runs once, in isolation; so
    does one that is only a default of the manifest, where what it installs is not there.

    Args:
        limit_s: how long a setup may take; None: none is run, and what is not there is not there.
        hints: asked where the setup fails, with what it printed: what to do, in words.

    Raises:
        NotBuilt: the setup did not finish.
        NotReady: the files of the base cannot be read.
    """
    repository = request.repository
    settings = repository.settings if repository else RepositorySettings()
    variables = tuple(sorted(settings.variables.items()))
    if repository is None or settings.mode == "prepared":
        yield Provision(variables=variables)
        return
    try:
        checkout = checkout_of(
            ground.folder, repository.base, search_path=machine.search_path, root=ground.root
        )
        recipe = _recipe_of(checkout, machine)
        setup = _setup_of(repository, ground, recipe, checkout, machine)._replace(variables=variables)
        if not setup.is_there:
            yield Provision(variables=variables)
            return
        store = store_of(checkout, search_path=machine.search_path)
    except GitFailed as error:
        raise NotReady(f"the files of the base cannot be read for the setup: {error}") from error
    tools = _tools(setup, recipe, machine)
    key = setup_key(
        setup, checkout.blobs, store, (ground.root, *_fingerprints(tools, setup, recipe, machine))
    )
    with _folder(machine) as folder:
        kept = Kept(folder, "setup")
        started = time.time()
        empty = Provision(setup, key, variables=variables)
        place = kept.ready(key)
        if place is None and limit_s is not None:
            _refuse_missing(setup, recipe.manager, machine)
            make = _maker(setup, checkout, tools, machine, partial(hints, setup))
            place = kept.made(key, make, limit_s=limit_s)
        yield empty if place is None else _of_layer(empty, place, kept.noted(key), started=started)


def _maker(
    setup: Setup,
    checkout: Checkout,
    tools: Toolchain,
    machine: Machine,
    hints: Callable[[str], tuple[str, ...]],
) -> Callable[[Path, float], Mapping[str, Any]]:
    """What runs the setup and fills a folder with its layer."""
    # Slow to import, and seldom needed: a layer is there far more often than it is made.
    from cogworks.services.setup import running  # noqa: PLC0415 - slow, and seldom needed

    home = machine.home or Path(pwd.getpwuid(os.getuid()).pw_dir)
    proxies = dict(own_registries(machine.settings, home).variables).get("GOPROXY", "")
    printed = list[str]()

    def hinted(text: str) -> tuple[str, ...]:
        printed.append(text)
        return hints(text)

    means = running.Means(
        machine.isolation,
        # What a setup installs comes before what is on this machine, as it does in every run.
        os.pathsep.join([*tools.folders, machine.search_path]),
        machine.settings,
        home,
        readable=tools.readable,
        variables=own_cache(tools.variables, proxies),
        hints=hinted,
    )

    def make(place: Path, left_s: float) -> Mapping[str, Any]:
        begun_s, ground = time.monotonic(), running.Ground(checkout)
        try:
            return running.set_up(setup, ground, means, place, limit_s=left_s)
        except NotBuilt:
            again = _with_node_asked_for(setup, printed)
            if again is None:
                raise
        left_s = max(left_s - (time.monotonic() - begun_s), 1.0)
        noted = running.set_up(again, ground, means, place, limit_s=left_s)
        return {**noted, "notes": [f"{again.why}: `{again.lines[0]}` ran first", *noted["notes"]]}

    return make


def _with_node_asked_for(setup: Setup, printed: Sequence[str]) -> Setup | None:
    """A default setup that begins with the Node.js that something asked for while it ran; None: nothing did."""
    wanted, why = node_instead(printed[-1]) if printed and not _is_configured(setup) else ("", "")
    lines = with_node(setup.lines, wanted) if wanted else setup.lines
    return setup._replace(lines=lines, why=why) if lines != setup.lines else None


def _is_configured(setup: Setup) -> bool:
    return setup.source.startswith(".cogworks/") or bool(setup.script.strip())


def _of_layer(provision: Provision, place: Path, noted: Mapping[str, Any], *, started: float) -> Provision:
    about = made_environment(place)
    return provision._replace(
        layers=(place / FILES,),
        home=place / HOME,
        notes=tuple(str(each) for each in noted.get("notes", ())),
        is_reused=about is None or about.made_at < started,
        seconds=about.seconds if about else 0.0,
        disk_bytes=about.disk_bytes if about else 0,
    )


@contextmanager
def _folder(machine: Machine) -> Iterator[Path]:
    """Where layers are kept; where nothing outlives a run, until the block ends."""
    if machine.kept is not None:
        yield machine.kept.resolve() / "setups"
        return
    with temporary_folder("cogworks-setups-") as folder:
        yield folder


def _recipe_of(checkout: Checkout, machine: Machine) -> Recipe:
    """What the manifests of the base ask for, whatever a change made of them."""
    names = sorted({path if is_workflow(path) else path.partition("/")[0] for path in checkout.blobs})
    texts = dict.fromkeys(names, "") | {
        name: text_of(checkout, name, search_path=machine.search_path) for name in wanted_texts(names)
    }
    return recipe_of(texts, machine.commands.language)


def _setup_of(
    repository: Repository, ground: Ground, recipe: Recipe, checkout: Checkout, machine: Machine
) -> Setup:
    """What is run: what is configured, else what the manifests of the base ask for."""
    settings = repository.settings
    if settings.setup or settings.setup_script.strip():
        return Setup(settings.setup, settings.setup_script)
    if machine.commands.setup:
        return Setup(machine.commands.setup, source=CONFIGURED)
    if recipe.language == "typescript" and (ground.place / "node_modules").is_dir():
        return Setup()

    needs_setup = recipe.language == ground.recipe.language and _is_wanted(
        recipe.language, checkout, ground.toolchain, machine
    )
    setup = Setup(recipe.setup if needs_setup else (), source=recipe.source.partition(",")[0])
    return _with_node(_with_manager(setup, recipe.manager, machine), recipe, ground, machine)


def _with_node(setup: Setup, recipe: Recipe, ground: Ground, machine: Machine) -> Setup:
    """The setup that begins with a newer Node.js, where the project asks for one and this machine has npm to get it."""
    if not setup.lines or shutil.which("npm", path=machine.search_path) is None:
        return setup
    here = node_here(os.pathsep.join([*ground.toolchain.folders, machine.search_path]))
    wanted, who = newer_node(recipe.node, recipe.manager, here, test=recipe.test)
    lines = with_node(setup.lines, wanted) if wanted else setup.lines
    if lines == setup.lines:
        return setup
    why = f"{who}, and this machine has {here}"
    return setup._replace(lines=lines, why="; ".join(filter(None, [why, setup.why])))


def _with_manager(setup: Setup, manager: Manager, machine: Machine) -> Setup:
    """The setup that begins with the package manager of the project, where this machine lacks that one and has npm.

    A pinned one is that version alone; where only a lock file asks, any version will do.
    """
    if not setup.lines or not manager.program or shutil.which("npm", path=machine.search_path) is None:
        return setup
    here = packaged_version(manager.program, machine.search_path)
    is_here = shutil.which(manager.program, path=machine.search_path) is not None
    if here == manager.version or (manager.asking and is_here):
        return setup
    other = f"has {here or 'one that does not tell its version'}" if is_here else "has none"
    return setup._replace(
        lines=manager.installed_before(setup.lines),
        brings=manager.program,
        why=f"{manager.reason}, and this machine {other}",
    )


def _is_wanted(language: str, checkout: Checkout, toolchain: Toolchain, machine: Machine) -> bool:
    """Whether a setup that nobody configured is run: not where the packages of this user do, or no registry here has any."""

    def read(path: str) -> str:
        return text_of(checkout, path, search_path=machine.search_path)

    if language == "go":
        cache = toolchain.variables.get("GOMODCACHE")
        return not read("vendor/modules.txt") and lacks_modules(
            read("go.sum"), Path(cache) if cache else None
        )
    if language == "rust" and "Cargo.lock" in checkout.blobs:
        return locks_crates(read("Cargo.lock"))
    if language == "rust":
        manifests = sorted((path for path in checkout.blobs if f"/{path}".endswith("/Cargo.toml")), key=len)
        return any(names_crates(read(path)) for path in manifests[:_MOST_MANIFESTS])
    return language not in ("java", "csharp")


def _refuse_missing(setup: Setup, manager: Manager, machine: Machine) -> None:
    """Nothing, unless what a manifest asks for is installed by a program that is not on this machine.

    Raises:
        NotReady: it names the program and how to get it.
    """
    if _is_configured(setup):
        return
    for program in (line.split()[0] for line in setup.lines):
        if program != setup.brings and shutil.which(program, path=machine.search_path) is None:
            own = manager if manager.program == program else Manager()
            problem = f"{own.asking or setup.source} asks for `{program}`, not on this machine's PATH"
            raise NotReady(f"{problem}: {_how_to_get(program, own, machine)}", ErrorCode.TOOL_NOT_FOUND)


def _how_to_get(program: str, manager: Manager, machine: Machine) -> str:
    """With the hosts that it asks for packages, where nothing would be won by the program alone.

    Args:
        manager: which one a setup could install itself; empty: none.
    """
    getting = f"{how_to_get(program)}."
    if manager.package:
        getting = f"{getting} Or {how_to_get('npm')}: by npm the setup installs `{manager.package}` itself."
    hosts = not_reached_by(program, machine.settings.get(VARIABLE, ""))
    if not hosts:
        return getting
    allowing = f"`{VARIABLE}={','.join(TOGETHER[program])}`"
    text = f"{getting} The hosts of its packages are no registries here either: the operator can allow them by {allowing}."
    return f"{text} {_INSTEAD[program]}" if program in _INSTEAD else text


def _tools(setup: Setup, recipe: Recipe, machine: Machine) -> Toolchain:
    """The programs that a setup starts with: those of the recipe, and the first word of each line."""
    first = [line.split()[0] for line in setup.lines if line.split() and "/" not in line.split()[0]]
    own = [each for each in first if each != setup.brings]
    available = [each for each in own if shutil.which(each, path=machine.search_path)]
    return toolchain_of(
        tuple(dict.fromkeys([*recipe.programs, *available])), machine.search_path, home=machine.home
    )


def _fingerprints(tools: Toolchain, setup: Setup, recipe: Recipe, machine: Machine) -> list[str]:
    """What changes when a program is another one."""
    words = [*recipe.programs, *(line.split()[0] for line in setup.lines if line.split())]
    fingerprints = []
    for word in dict.fromkeys(words):
        program = shutil.which(word, path=os.pathsep.join([*tools.folders, machine.search_path]))
        if program is not None and (place := Path(program).resolve()).is_file():
            about = place.stat()
            fingerprints.append(f"{place} {about.st_size} {about.st_mtime_ns}")
    return fingerprints
