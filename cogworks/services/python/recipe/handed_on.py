"""Commands that hand the tests on to a script or a Makefile of the repository; read, never run."""

import posixpath
import shlex
from collections.abc import Mapping

from cogworks.services.python.recipe.commands import tested
from cogworks.services.python.recipe.result import Asked
from cogworks.services.python.recipe.translation import files_read, translated

_WITH_FILES_OF_THEIR_OWN = ("tox", "nox", "hatch")
"""What these run is read as a source of its own."""


def handed_on(asked: Asked, files: Mapping[str, str]) -> Asked:
    """The same with how the tests run, if nothing else says that and exactly one script or target clearly runs them.

    Args:
        files: path -> text, with the Makefile and scripts.
    """
    if asked.runner or asked.script:
        return asked
    for number, other in enumerate(asked.others):
        words = shlex.split(other)
        name = posixpath.basename(words[0]) if words else ""
        if name in _WITH_FILES_OF_THEIR_OWN or not any(path in files for path in files_read(words)):
            continue
        translation = translated(words, files)
        run = tested(list(translation.command)) if translation else Asked()
        if translation is not None and run.runner:
            update = {
                **run.running,
                "paths": (*run.paths, *translation.paths),
                "variables": {**asked.variables, **translation.variables},
                "others": asked.others[:number],
            }
            return asked.model_copy(update=update)
    return asked
