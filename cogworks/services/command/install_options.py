"""What the repository's own workflows say to a package manager beside the command itself."""

import re
from collections.abc import Iterator, Mapping, Sequence

FOLDER = ".github/workflows/"
_INSTALLS = re.compile(
    r"(?m)^[ \t]*(?:-[ \t]+)?(?:run:[ \t]*)?['\"]?(npm|pnpm|yarn)(?:[ \t]+(?:install|ci|i))?((?:[ \t]+--[a-z][a-z-]*(?:=[a-z]+)?)*)[ \t]*['\"]?$"
)
_KNOWN: Mapping[str, frozenset[str]] = {
    "npm": frozenset({"--legacy-peer-deps", "--force", "--ignore-scripts", "--strict-peer-deps=false"}),
    "pnpm": frozenset({"--ignore-scripts", "--no-frozen-lockfile", "--shamefully-hoist"}),
    "yarn": frozenset({"--ignore-engines", "--ignore-scripts", "--ignore-optional"}),
}
"""What decides whether an installation comes to its end; anything else is left to the workflow."""


def is_workflow(path: str) -> bool:
    """Whether a file may say how the project installs itself."""
    return path.startswith(FOLDER) and path.endswith((".yml", ".yaml")) and path.count("/") == 2


def with_own_options(command: str, texts: Mapping[str, str]) -> tuple[str, str]:
    """An installing command with the options that the first workflow with such a line gives it, and the path of that one.

    Args:
        texts: of workflows and other files, by their paths.
    """
    program = command.partition(" ")[0]
    path, given = next(_options(program, texts), ("", ()))
    return " ".join((command, *(each for each in given if each not in command.split()))), path


def _options(program: str, texts: Mapping[str, str]) -> Iterator[tuple[str, Sequence[str]]]:
    for path in sorted(filter(is_workflow, texts)):
        for found in _INSTALLS.finditer(texts[path]):
            known = [each for each in found[2].split() if each in _KNOWN.get(program, ())]
            if found[1] == program and known:
                yield path, known
