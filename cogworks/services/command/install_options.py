"""What the repository's own workflows say to a package manager beside the command itself."""

import re
from collections.abc import Iterator, Mapping, Sequence

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
    path, given = next(_options(program, texts), ("", ()))
    return " ".join((command, *(each for each in given if each not in command.split()))), path


def _options(program: str, texts: Mapping[str, str]) -> Iterator[tuple[str, Sequence[str]]]:
    for path in sorted(filter(is_workflow, texts), key=_rank):
        for found in _INSTALLS.finditer(texts[path]):
            if found[1] == program:
                known = [each for each in found[2].split() if each in _KNOWN.get(program, ())]
                yield (path, known) if known else ("", ())


def _rank(path: str) -> tuple[int, str]:
    """Workflows that test come before those that publish."""
    words = re.split(r"[^a-z]+", path.removeprefix(FOLDER).lower())
    return next((at for at, each in enumerate(_LIKELY) if each in words), len(_LIKELY)), path
