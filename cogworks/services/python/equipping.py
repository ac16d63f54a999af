"""The operation `prepare`: make the environment of a repository, and say how it came about."""

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path

from cogworks.domain_services.checking import Choice, Prepared, PrepareParams
from cogworks.domain_services.messages import RepositorySettings, Request, Response
from cogworks.services.python.choosing import asked_recipe, equipped_with, needs_pytest
from cogworks.services.python.keeping import made_environment
from cogworks.services.python.machine import Machine
from cogworks.services.python.own_setup import setup_choices
from cogworks.services.python.pythons import Interpreter, own_python, python_for
from cogworks.services.python.recipe.result import (
    Recipe,
    Undeclared,
    configuration,
    places,
    undeclared_in_words,
)
from cogworks.services.python.responses import response_of
from cogworks.services.python.runners import as_typed
from cogworks.services.python.simulating import left_out
from cogworks.services.python.translating import in_other_words
from cogworks.services.python.wanted import Wanted


def prepare(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`.

    Raises:
        NotBuilt: there is no environment, and the text says why.
    """
    params = PrepareParams.model_validate(request.params)
    recipe = asked_recipe(request, folder, machine)
    started = time.time()
    run = in_other_words(Wanted(command=params.command), request, folder, machine.search_path)
    interpreter = equipped_with(
        recipe,
        request,
        folder,
        machine,
        limit_s=params.timeout_s,
        with_pytest=needs_pytest(recipe, run.command),
    )
    settings = request.repository.settings if request.repository else RepositorySettings()
    result = prepared(
        recipe,
        interpreter,
        started,
        places=places(recipe, folder),
        setup=setup_choices(settings),
        follows_from_files=_follows_from_files(recipe, settings, machine),
    )
    counts = {"requirements": len(recipe.requirements), "choices": len(result.choices)}
    return response_of(request, left_out(interpreter), result.model_dump(mode="json"), counts=counts)


def _follows_from_files(recipe: Recipe, settings: RepositorySettings, machine: Machine) -> bool:
    """Whether every machine of the kind of this one makes the same environment of the same files."""
    # What people put there, what lines of a setup find, and other Pythons are there or not on machines of one kind.
    if machine.environments is None or settings.mode == "prepared" or setup_choices(settings):
        return False
    return python_for(recipe.requires_python, recipe.python, machine.search_path) == own_python()


def prepared(
    recipe: Recipe,
    interpreter: Interpreter,
    started: float,
    *,
    places: tuple[str, ...] = (),
    setup: tuple[Choice, ...] = (),
    follows_from_files: bool = False,
) -> Prepared:
    """The description of an environment.

    Args:
        started: when it was asked for, in seconds since the epoch.
        places: the files and folders that its command runs; none: what the runner finds.
        setup: what the repository runs of its own.
        follows_from_files: see `Prepared`.
    """
    environment = made_environment(interpreter.prefix)
    return Prepared(
        described=interpreter.described,
        key=_key(environment.key if environment else f"{interpreter.python}", recipe),
        follows_from_files=follows_from_files,
        choices=(*recipe.choices, *setup, _runner(recipe)),
        command=as_typed(recipe.command),
        runner=recipe.runner,
        configuration=configuration(recipe, places) if recipe.choices else "",
        notes=tuple(
            dict.fromkeys((*interpreter.notes, *undeclared_in_words(_undeclared(recipe, interpreter))))
        ),
        is_reused=environment is None or environment.made_at < started,
        seconds=environment.seconds if environment else 0.0,
        disk_bytes=environment.disk_bytes if environment else 0,
    )


def _undeclared(recipe: Recipe, interpreter: Interpreter) -> Iterator[Undeclared]:
    """The modules that nothing declares and no package brought."""
    folders = [*interpreter.prefix.glob("lib/python*/site-packages"), *interpreter.paths]
    for each in recipe.undeclared:
        names = (each.module, f"{each.module}.py", f"{each.module}.*.so")
        if not any(any(folder.glob(name)) for folder in folders for name in names):
            yield each


def _runner(recipe: Recipe) -> Choice:
    words = " ".join(as_typed(recipe.command))
    what = f"{recipe.runner} with `{words}`" if words else recipe.runner
    return Choice(
        what=what,
        source=recipe.run_source if words else "",
        why="it is how the repository itself runs its tests" if words else "the service's own way",
    )


def _key(environment: str, recipe: Recipe) -> str:
    inputs = json.dumps([environment, sorted(recipe.variables.items())])
    return hashlib.sha256(inputs.encode()).hexdigest()[:40]
