"""What a command that runs in a folder of the repository is from the root, where cogworks runs it."""

import posixpath
from collections.abc import Sequence

from cogworks.services.python.recipe.result import Asked

_PATH_OPTIONS = (
    "-c",
    "--config-file",
    "--ignore",
    "--ignore-glob",
    "--deselect",
    "--rootdir",
    "--confcutdir",
)
"""Of pytest: their value is a path."""
_PLACES_OF_UNITTEST = {"-s": "-s", "--start-directory": "-s", "-t": "-t", "--top-level-directory": "-t"}


def below(folder: str, path: str) -> str:
    """The path from the root of what stands in a folder."""
    return posixpath.normpath(posixpath.join(folder, path))


def from_root(asked: Asked, folder: str) -> Asked:
    """How the same tests run from the root.

    Args:
        folder: in which the command runs, from the root; empty or `.`: the root itself.
    """
    if posixpath.normpath(folder or ".") == ".":
        return asked
    # What a script finds beside where it is started is nothing that anybody else can start.
    asked = asked.model_copy(update={"script": ""})
    if asked.runner == "pytest":
        paths = tuple(below(folder, path) for path in asked.paths) or (posixpath.normpath(folder),)
        return asked.model_copy(update={"paths": paths, "command": _pytest(asked.command, folder)})
    if asked.runner == "unittest":
        return asked.model_copy(update={"command": _unittest(asked.command, folder)})
    if asked.runner == "django":
        command = [
            below(folder, each) if posixpath.basename(each) == "manage.py" else each for each in asked.command
        ]
        return asked.model_copy(update={"command": tuple(command)})
    return asked


def _pytest(words: Sequence[str], folder: str) -> tuple[str, ...]:
    found: list[str] = []
    for before, word in zip(("", *words), words, strict=False):
        option, equals, value = word.partition("=")
        if before in _PATH_OPTIONS:
            found.append(below(folder, word))
        elif equals and option in _PATH_OPTIONS:
            found.append(f"{option}={below(folder, value)}")
        else:
            found.append(word)
    return tuple(found)


def _unittest(words: Sequence[str], folder: str) -> tuple[str, ...]:
    """Discovery begins in the folder; modules that are named are left as they are."""
    begin = words.index("unittest") + 1
    rest, options, places = list(words[begin:]), list[str](), dict[str, str]()
    if rest[:1] == ["discover"]:
        rest.pop(0)
    elif any(not word.startswith("-") for word in rest):
        return tuple(words)
    while rest:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if option in _PLACES_OF_UNITTEST and (equals or rest):
            places[_PLACES_OF_UNITTEST[option]] = below(folder, value if equals else rest.pop(0))
        elif not word.startswith("-") and not (options and options[-1] in ("-p", "-k", "--pattern")):
            places.setdefault("-s", below(folder, word))
        else:
            options.append(word)
    start = places.setdefault("-s", posixpath.normpath(folder))
    places.setdefault("-t", start)
    return (*words[:begin], "discover", *options, *(word for place in places.items() for word in place))
