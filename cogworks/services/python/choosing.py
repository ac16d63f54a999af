"""Chooses the Python for one request: the repository's own environment, one that was prepared, or the service's where that does as well."""

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from cogworks.codebase.failures import GitFailed
from cogworks.domain_services.messages import ErrorCode, RepositorySettings, Request
from cogworks.own_folders import own_folder
from cogworks.services.python.building.built import Built
from cogworks.services.python.building.checkout import Checkout, changed_natively, checkout_of
from cogworks.services.python.machine import Machine
from cogworks.services.python.manifest_files import base_problem, recipe_of, version_of
from cogworks.services.python.own_setup import OwnSetup, own_setup
from cogworks.services.python.pythons import (
    Interpreter,
    NotBuilt,
    Python,
    asked_python,
    bare,
    own,
    own_python,
    python_for,
    suffices,
)
from cogworks.services.python.recipe.reading import HERE
from cogworks.services.python.recipe.result import Recipe
from cogworks.services.python.roots import whole_of
from cogworks.services.python.runners import reports_by_order
from cogworks.services.sandbox.isolation import refusal


def prepared_interpreter(
    settings: RepositorySettings, search_path: str, virtual_env: str = ""
) -> Interpreter:
    """The interpreter that is configured, else that of `$VIRTUAL_ENV`, else the `python3` of PATH; nothing is installed.

    Raises:
        NotBuilt: there is none, or it does not run.
    """
    program, source = _named(settings.python, search_path, virtual_env)
    python = asked_python(program) if program else None
    if program is None or python is None:
        raise NotBuilt(
            f'`environment = "prepared"` wants a Python that an earlier step prepared, and {source} is none that runs. Name it '
            'by `python = "/path/to/python"` under `[environment]`, or activate its virtual environment before cogworks starts.',
            ErrorCode.TOOL_NOT_FOUND,
        )
    # The folder that is named and not where links of it lead: packages may have put those there.
    prefix = program.parent.parent
    return Interpreter(
        program,
        prefix,
        f"the prepared Python {python.version} at {prefix}",
        (program.parent,),
        (
            f"nothing was installed: the tests run with the prepared Python {python.version} ({source})",
            *_not_run(settings),
        ),
        variables=dict(settings.variables),
        base=python.base,
    )


def _named(configured: str, search_path: str, virtual_env: str) -> tuple[Path | None, str]:
    if configured:
        return Path(configured), f"`[environment] python` ({configured})"
    if virtual_env:
        return Path(virtual_env, "bin", "python"), f"$VIRTUAL_ENV ({virtual_env})"
    own = Path(sys.executable).parent
    others = os.pathsep.join(each for each in search_path.split(os.pathsep) if each and Path(each) != own)
    program = shutil.which("python3", path=others)
    return (Path(program) if program else None), "`python3` on PATH"


def _not_run(settings: RepositorySettings) -> tuple[str, ...]:
    """That a setup is not run, where there is one."""
    if not (settings.setup or settings.setup_script):
        return ()
    key = "`[environment] setup`" if settings.setup else "`.cogworks/setup.sh`"
    return (f'{key} is not run: `environment = "prepared"` says that an earlier step did everything',)


_FOLDER = "recipes"
_MOST = 500


def kept_recipe(
    folder: Path,
    commit: str,
    root: str,
    settings: RepositorySettings,
    read: Callable[[], Recipe],
    *,
    search_path: str,
) -> Recipe:
    """The kept recipe of a commit. It is read anew where none is kept, or the kept one cannot be used.

    Args:
        folder: where environments are kept.
        commit: its full name, so that what it holds never changes.
        read: reads it anew.
    """
    inputs = f"{_rules()}\n{HERE}\n{commit}\n{root}\n{settings.model_dump_json()}"
    place = folder / _FOLDER / f"{hashlib.sha256(inputs.encode()).hexdigest()[:40]}.json"
    try:
        kept = Recipe.model_validate_json(place.read_bytes())
    except (OSError, ValidationError):
        kept = None
    # A Python that fits may have come or gone since.
    if kept is not None and kept.read_for == version_of(kept.requires_python, settings, search_path):
        return kept
    recipe = read()
    _keep(place, recipe)
    return recipe


@cache
def _rules() -> str:
    """Changes with the rules themselves."""
    here = Path(__file__).parent
    texts = (path.read_bytes() for path in [*sorted((here / "recipe").glob("*.py")), *_others(here)])
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def _others(here: Path) -> Iterator[Path]:
    yield from (here / name for name in ("manifest_files.py", "distributions.py", "imports.py"))


def _keep(place: Path, recipe: Recipe) -> None:
    """Write it in one rename; where there is no writing it is read again the next time."""
    try:
        own_folder(place.parent)
        for old in sorted(place.parent.glob("*.json"), key=lambda each: each.stat().st_mtime)[:-_MOST]:
            old.unlink(missing_ok=True)
        descriptor, name = tempfile.mkstemp(dir=place.parent, suffix=".new")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(recipe.model_dump_json())
        Path(name).rename(place)
    except OSError:
        return


def interpreter_for(request: Request, folder: Path, machine: Machine, *, limit_s: float) -> Interpreter:
    """With which Python code of the repository in `folder` is run for this request.

    What has to be installed is read from the files of `repository.base`, never from what a change made of them.

    Args:
        limit_s: how long making an environment may take.

    Raises:
        NotBuilt: there is none, and the text says why.
    """
    if machine.environments is None:
        _refuse_base(request)
        return own()
    recipe = asked_recipe(request, folder, machine)
    return equipped_with(recipe, request, folder, machine, limit_s=limit_s)


def asked_recipe(request: Request, folder: Path, machine: Machine) -> Recipe:
    """What the repository of a request asks for.

    Raises:
        NotBuilt: there is no such commit, or its files cannot be read.
    """
    base = _refuse_base(request)
    repository = request.repository
    settings, root = (repository.settings, repository.root) if repository else (RepositorySettings(), "")

    def read() -> Recipe:
        return recipe_of(folder, base, search_path=machine.search_path, settings=settings, root=root)

    try:
        if base is None or machine.environments is None or not (whole_of(folder, root) / ".git").exists():
            return read()
        return kept_recipe(
            machine.environments.folder, base, root, settings, read, search_path=machine.search_path
        )
    except GitFailed as error:
        text = f"the manifest of the repository cannot be read: {error}"
        raise NotBuilt(text, ErrorCode.ARTIFACT_NOT_FOUND) from error


def needs_pytest(recipe: Recipe, command: Sequence[str]) -> bool:
    """Whether tests that this command runs need pytest beside what the repository asks for.

    Args:
        command: its words; none: that of the recipe, else plain pytest.
    """
    return recipe.imports_pytest or not reports_by_order(command or recipe.command)


def equipped_with(
    recipe: Recipe,
    request: Request,
    folder: Path,
    machine: Machine,
    *,
    limit_s: float,
    with_pytest: bool = True,
) -> Interpreter:
    """The Python for a recipe; the other arguments and what is raised are those of `interpreter_for`.

    Args:
        with_pytest: whether it gets pytest where the recipe does not ask for it.
    """
    if machine.environments is None:
        return own()
    settings = request.repository.settings if request.repository else RepositorySettings()
    if settings.mode == "prepared":
        return prepared_interpreter(settings, machine.search_path, os.environ.get("VIRTUAL_ENV", ""))
    python = python_for(recipe.requires_python, recipe.python, machine.search_path)
    has_setup = bool(settings.setup or settings.setup_script.strip())
    is_bare = recipe.project is None and not recipe.hashed and not has_setup and suffices(recipe.requirements)
    if is_bare and python == own_python():
        return bare(recipe.left_out)._replace(variables=recipe.variables)
    if (reason := refusal(machine.isolation, needs_walls=request.caller.needs_walls)) is not None:
        raise NotBuilt(reason, ErrorCode.TOOL_NOT_FOUND)
    deadline = time.monotonic() + limit_s
    checkout = _checkout(request, folder, machine) if has_setup or recipe.project is not None else None
    built = _built(recipe, checkout, machine, python, limit_s=limit_s)
    if built is not None and recipe.dynamic:
        # Only the build says what such a project needs.
        needed = {*recipe.requirements, *built.dependencies(recipe.extras, python.version)}
        recipe = recipe.model_copy(update={"requirements": tuple(sorted(needed))})
    left_s = max(deadline - time.monotonic(), 1.0)
    environment = machine.environments.interpreter(
        recipe,
        python,
        isolation=machine.isolation,
        search_path=machine.search_path,
        limit_s=left_s,
        own_setup=_own_setup(settings, checkout, built, machine) if has_setup else None,
        with_pytest=with_pytest,
    )
    environment = environment._replace(variables={**environment.variables, **recipe.variables})
    return environment if built is None else built.added_to(environment)


def _checkout(request: Request, folder: Path, machine: Machine) -> Checkout:
    base, root = (request.repository.base, request.repository.root) if request.repository else (None, "")
    try:
        return checkout_of(whole_of(folder, root), base, search_path=machine.search_path, root=root)
    except GitFailed as error:
        raise NotBuilt(f"the project cannot be checked out to be built: {error}") from error


def _own_setup(
    settings: RepositorySettings, checkout: Checkout | None, built: Built | None, machine: Machine
) -> OwnSetup | None:
    if checkout is None:
        return None
    try:
        return own_setup(settings, checkout, built, search_path=machine.search_path)
    except GitFailed as error:
        raise NotBuilt(f"the repository cannot be checked out for its setup: {error}") from error


def _built(
    recipe: Recipe, checkout: Checkout | None, machine: Machine, python: Python, *, limit_s: float
) -> Built | None:
    """What building the project comes to; None: there is nothing to build."""
    if recipe.project is None or machine.environments is None or checkout is None:
        return None
    isolation, search_path = machine.isolation, machine.search_path
    built = machine.environments.built(
        recipe.project, checkout, python, isolation=isolation, search_path=search_path, limit_s=limit_s
    )
    try:
        # What a compiler made of the base says nothing of a change to what it read.
        changed = changed_natively(checkout, search_path=search_path) if built.is_compiled else None
    except GitFailed as error:
        raise NotBuilt(f"the project cannot be checked out to be built: {error}") from error
    if changed is None:
        return built
    return machine.environments.built(
        recipe.project, changed, python, isolation=isolation, search_path=search_path, limit_s=limit_s
    )


def _refuse_base(request: Request) -> str | None:
    base = request.repository.base if request.repository else None
    if (problem := base_problem(base)) is not None:
        raise NotBuilt(problem, ErrorCode.INVALID_REQUEST)
    return base
