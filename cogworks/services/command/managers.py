"""Which version of Yarn or pnpm a project pins, and how a setup gets that one; pure rules from texts."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from cogworks.services.setup.layers import OWN_PREFIX

_NUMBER = r"(?:0|[1-9][0-9]{0,5})"
# It becomes a word of a command, so nothing is let through that a shell knows.
_PINNED = re.compile(
    rf"(?P<program>yarn|pnpm)@(?P<version>{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-[0-9A-Za-z][0-9A-Za-z.-]{{0,60}})?)(?:\+[!-~]{{1,300}})?"
)
_OWN_YARN = re.compile(r"(?m)^yarnPath[ \t]*:[ \t]*(\S{1,300})")
_CLASSIC = re.compile(r"(?:^|/)yarn-1\.[^/]*$")
_LINKER = re.compile(r"(?m)^nodeLinker[ \t]*:[ \t]*['\"]?(?:node-modules|pnpm)\b")
_LOCKS = (
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install --frozen-lockfile"),
    ("package-lock.json", "npm ci"),
    ("npm-shrinkwrap.json", "npm ci"),
)


_IMMUTABLE = "yarn install --immutable"


class Manager(NamedTuple):
    """The package manager that a project pins; empty: none, or one that it brings with it."""

    program: str = ""
    version: str = ""

    @property
    def package(self) -> str:
        """What the npm registry has it as; empty: nothing is to be had."""
        if not self.program:
            return ""
        # From 2 on the package `yarn` is another one.
        name = "@yarnpkg/cli-dist" if _is_berry(self) else self.program
        return f"{name}@{self.version}"

    @property
    def installing(self) -> str:
        """The line of a setup after which later lines and all runs find this version."""
        return f'npm install --global --prefix "$HOME/{OWN_PREFIX}" {self.package}'


def manager_of(manifest: Mapping[str, Any]) -> Manager:
    """What `packageManager` of a `package.json` pins; nothing where it is no plain version of Yarn or pnpm."""
    match = _PINNED.fullmatch(str(manifest.get("packageManager", "")))
    return Manager(match["program"], match["version"]) if match else Manager()


def installing_line(manifest: Mapping[str, Any], texts: Mapping[str, str]) -> tuple[str, Manager]:
    """The command that installs the packages of a `package.json`, and what has to be installed itself for that.

    Args:
        texts: of the files beside it, of which those count that are lock files and `.yarnrc.yml`.
    """
    pinned = manager_of(manifest)
    line = _line(pinned, texts)
    program = line.split()[0]
    own = _OWN_YARN.search(texts.get(".yarnrc.yml", "")) if program == "yarn" else None
    if own is not None:
        # Whichever Yarn is started hands over to this one.
        return _of_yarn(line, is_classic=bool(_CLASSIC.search(own[1].strip("'\"")))), Manager()
    if program != pinned.program:
        return line, Manager()
    return (_of_yarn(line, is_classic=not _is_berry(pinned)) if program == "yarn" else line), pinned


def starter_of(line: str, texts: Mapping[str, str]) -> str:
    """What a command needs before it to find packages that `line` installed; empty where they lie in `node_modules`."""
    is_plug_n_play = line == _IMMUTABLE and not _LINKER.search(texts.get(".yarnrc.yml", ""))
    return "yarn " if is_plug_n_play else ""


def _of_yarn(line: str, *, is_classic: bool) -> str:
    return line if is_classic else _IMMUTABLE


def _line(pinned: Manager, texts: Mapping[str, str]) -> str:
    lines = [line for lock, line in _LOCKS if lock in texts]
    own = [line for line in lines if line.split()[0] == pinned.program]
    return next(iter([*own, *lines]), "npm install")


def _is_berry(manager: Manager) -> bool:
    return manager.program == "yarn" and int(manager.version.partition(".")[0]) > 1
