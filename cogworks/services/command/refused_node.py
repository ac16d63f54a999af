"""What a package manager of JavaScript said where it refused the Node.js of this machine, and what to do; a pure rule from texts."""

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from cogworks.services.command.managers import Manager
from cogworks.services.command.newer_node import newer_node
from cogworks.services.command.toolchains import how_to_get

_VERSION = r"v?(\d{1,4}(?:\.\d{1,4}){0,2})"
_RANGE = r"[^\"\n]{1,200}"
_BY_PNPM_ITSELF = re.compile(
    rf"This version of pnpm requires at least Node\.js {_VERSION}[^\n]{{0,200}}\n[^\n]{{0,20}}"
    rf"The current version of Node\.js is {_VERSION}"
)
_BY_PNPM = re.compile(
    rf"Your Node version is incompatible with \"[^\"\n]{{1,400}}\"\.\s{{0,20}}Expected version: (?P<range>{_RANGE})\n\s{{0,20}}"
    rf"Got: {_VERSION}"
)
_BY_YARN = re.compile(
    rf"error (?P<package>[^\s:]{{1,214}}): The engine \"node\" is incompatible with this module\. "
    rf"Expected version \"(?P<range>{_RANGE})\"\. Got \"{_VERSION}\""
)
_BY_NPM = re.compile(
    r"notsup Not compatible with your version of node/npm: (?P<package>[^\s:]{1,214})\s{1,20}npm \S{1,6} notsup "
    rf"Required:\s{{1,20}}\{{[^}}\n]{{0,200}}\"node\":\"(?P<range>{_RANGE})\"[^\n]{{0,200}}\n[^\n]{{0,200}}\"node\":\"{_VERSION}\""
)
_LEAST = re.compile(rf"\s*>=\s*{_VERSION}\s*")
_YARN_INSTALLS = re.compile(r"yarn(?: install)?(?= --|$)")
_UNCHECKED = "--ignore-engines"
_OF_PACKAGES = "Resolving packages"
"""Printed by Yarn 1 before it compares what packages ask for."""


class _Refusal(NamedTuple):
    who: str
    """Asks for another version."""
    wanted: str
    """A range of npm."""
    here: str
    """The version of this machine."""


def refused_node(printed: str, lines: Sequence[str]) -> str:
    """What to do where an installation ended for the version of Node.js alone; empty where it did not.

    Args:
        printed: what the installing program printed.
        lines: the setup that it is part of.
    """
    refusal = _refusal(printed)
    if refusal is None:
        return ""
    least = _LEAST.fullmatch(refusal.wanted)
    wanted = f"Node.js {least[1]} or newer" if least else f"Node.js `{refusal.wanted}`"
    getting = (
        how_to_get("node", least[1]) if least else how_to_get("node").replace("Node.js", "one of those", 1)
    )
    problem = f"{refusal.who} asks for {wanted}, and this machine has {refusal.here}: {getting}"
    return f"{problem}{_unchecked(refusal, lines)}."


def node_instead(printed: str) -> tuple[str, str]:
    """The range of npm of a Node.js with which such an installation would not have ended, and why; both empty where none is known."""
    refusal = _refusal(printed)
    wanted, _ = newer_node(refusal.wanted, Manager(), refusal.here) if refusal else ("", "")
    if refusal is None or not wanted:
        return "", ""
    return wanted, f"{refusal.who} asks for Node.js `{refusal.wanted}`, and this machine has {refusal.here}"


def _refusal(printed: str) -> _Refusal | None:
    if match := _BY_PNPM_ITSELF.search(printed):
        return _Refusal("The pnpm of this project", f">={match[1]}", match[2])
    if match := _BY_PNPM.search(printed):
        return _Refusal("package.json", match["range"].strip(), match[2])
    if match := _BY_NPM.search(printed):
        return _Refusal(f"The package `{match['package']}`", match["range"], match[3])
    if match := _BY_YARN.search(printed):
        # The manifest of the project itself comes before all packages.
        who = f"The package `{match['package']}`" if _OF_PACKAGES in printed else "package.json"
        return _Refusal(who, match["range"], match[3])
    return None


def _unchecked(refusal: _Refusal, lines: Sequence[str]) -> str:
    """How Yarn 1, which compares the versions that every single package asks for, installs all the same."""
    own = [f"{line} {_UNCHECKED}" if _YARN_INSTALLS.match(line) else line for line in lines]
    if not refusal.who.startswith("The package") or own == [*lines]:
        return ""
    setup = json.dumps(own, ensure_ascii=False)
    return f". If the tests do not need that package, `setup = {setup}` under `[environment]` in `.cogworks/config.toml` installs it unchecked"
