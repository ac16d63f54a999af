"""Chooses the Python for one request: the repository's own environment, or the service's where that does as well."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from cogworks.codebase.failures import GitFailed
from cogworks.domain_services.messages import ErrorCode, RepositorySettings, Request
from cogworks.services.python.building.built import Built
from cogworks.services.python.building.checkout import Checkout, changed_natively, checkout_of
from cogworks.services.python.interpreters import Interpreter, NotBuilt, bare, own, suffices
from cogworks.services.python.kept_recipes import kept_recipe
from cogworks.services.python.machine import Machine
from cogworks.services.python.manifest_files import base_problem, recipe_of
from cogworks.services.python.own_setup import OwnSetup, own_setup
from cogworks.services.python.prepared import prepared_interpreter
from cogworks.services.python.pythons import Python, own_python, python_for
from cogworks.services.python.recipe.result import Recipe
from cogworks.services.python.roots import whole_of
from cogworks.services.python.runners import reports_by_order
from cogworks.services.sandbox.isolation import refusal


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
        return kept_recipe(machine.environments.folder, base, root, settings, read)
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
        # Only the build tells what such a project needs.
        told = {*recipe.requirements, *built.dependencies(recipe.extras, python.version)}
        recipe = recipe.model_copy(update={"requirements": tuple(sorted(told))})
    left_s = max(deadline - time.monotonic(), 1.0)
    found = machine.environments.interpreter(
        recipe,
        python,
        isolation=machine.isolation,
        search_path=machine.search_path,
        limit_s=left_s,
        own_setup=_own_setup(settings, checkout, built, machine) if has_setup else None,
        with_pytest=with_pytest,
    )
    found = found._replace(variables={**found.variables, **recipe.variables})
    return found if built is None else built.added_to(found)


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
