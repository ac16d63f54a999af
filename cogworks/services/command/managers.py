"""Which version of Yarn or pnpm a project pins or its lock file asks for, and how a setup gets that one; pure rules from texts."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cogworks.services.setup.layers import OWN_PREFIX

_NUMBER = r"(?:0|[1-9][0-9]{0,5})"
# It becomes a word of a command, so nothing is let through that a shell knows; as with a range.
_PINNED = re.compile(
    rf"(?P<program>yarn|pnpm)@(?P<version>{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-[0-9A-Za-z][0-9A-Za-z.-]{{0,60}})?)(?:\+[!-~]{{1,300}})?"
)
_RANGE = re.compile(rf"[\^~]?{_NUMBER}(?:\.(?:{_NUMBER}|x)){{0,2}}")
_OWN_YARN = re.compile(r"(?m)^yarnPath[ \t]*:[ \t]*(\S{1,300})")
_CLASSIC = re.compile(r"(?:^|/)yarn-1\.[^/]*$")
_LINKER = re.compile(r"(?m)^nodeLinker[ \t]*:[ \t]*['\"]?(?:node-modules|pnpm)\b")
_FROZEN = "yarn install --frozen-lockfile"
_IMMUTABLE = "yarn install --immutable"
_LOCKS = (
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", _FROZEN),
    ("package-lock.json", "npm ci"),
    ("npm-shrinkwrap.json", "npm ci"),
)
_FORMAT = re.compile(r"(?m)^lockfileVersion[ \t]*:[ \t]*['\"]?([0-9]{1,4}(?:\.[0-9]{1,4})?)['\"\s]")
_PNPM_OF_FORMAT = ((5, "7"), (6, "8"), (9, "10"))
"""The highest format of a lock file -> the pnpm that installs from it as it stands.

Tried with the real ones. pnpm 6 wrote formats up to 5.3 and reaches no registry under Node.js from 20 on; pnpm 7 reads them all. pnpm 9
reads 6.0 and not 6.1.
"""
_PNPM_OF_UNKNOWN = "10"
_NEWEST_PNPM = "11"
_BERRY = re.compile(r"(?m)^__metadata:")
_CLASSIC_LOCK = re.compile(r"(?m)^# yarn lockfile v1\b")
_CLASSIC_YARN, _BERRY_YARN = "1", "4"


class Manager(NamedTuple):
    """The package manager that a project pins or that its lock file asks for; empty: none, or one that every machine has."""

    program: str = ""
    version: str = ""
    """Of one that is pinned; of another a range of npm."""
    asking: str = ""
    """What asks for it where nothing is pinned, in words; any version that is on a machine is taken then."""

    @property
    def package(self) -> str:
        """What the npm registry has it as; empty: nothing is to be had."""
        if not self.program:
            return ""
        # From 2 on the package `yarn` is another one.
        name = "@yarnpkg/cli-dist" if _is_berry(self) else self.program
        return f"{name}@{self.version}"

    @property
    def reason(self) -> str:
        """Why it has to be there, for people."""
        return (
            f"{self.asking} asks for {self.program}"
            if self.asking
            else f"`packageManager` pins {self.program} {self.version}"
        )

    def installed_before(self, lines: Sequence[str]) -> tuple[str, ...]:
        """The lines of a setup after one by which they and all runs find this version."""
        installing = f'npm install --global --prefix "$HOME/{OWN_PREFIX}" {self.package}'
        own = [line.replace(_FROZEN, _IMMUTABLE) for line in lines] if _is_berry(self) else lines
        return (installing, *own)


def manager_of(manifest: Mapping[str, Any]) -> Manager:
    """What `packageManager` of a `package.json` pins; nothing where it is no plain version of Yarn or pnpm."""
    match = _PINNED.fullmatch(str(manifest.get("packageManager", "")))
    return Manager(match["program"], match["version"]) if match else Manager()


def installing_line(manifest: Mapping[str, Any], texts: Mapping[str, str]) -> tuple[str, Manager]:
    """The command that installs the packages of a `package.json`, and what it needs that a machine may lack.

    The command suits the manager that is pinned or brought along, else whichever a machine has.

    Args:
        texts: of the files beside it, of which those count that are lock files and `.yarnrc.yml`.
    """
    pinned = manager_of(manifest)
    line = _line(pinned, texts)
    program = line.split()[0]
    own = _OWN_YARN.search(texts.get(".yarnrc.yml", "")) if program == "yarn" else None
    if own is not None:
        # Whichever Yarn is started hands over to this one.
        is_classic = bool(_CLASSIC.search(own[1].strip("'\"")))
        version = _CLASSIC_YARN if is_classic else _BERRY_YARN
        return _of_yarn(line, is_classic=is_classic), Manager("yarn", version, "`yarnPath` of `.yarnrc.yml`")
    if program == "yarn" and pinned.program != "yarn":
        return line, _of_yarn_lock(texts["yarn.lock"])
    if program == "pnpm" and pinned.program != "pnpm":
        return line, _of_pnpm_lock(texts["pnpm-lock.yaml"], manifest)
    if program != pinned.program:
        return line, Manager()
    return (_of_yarn(line, is_classic=not _is_berry(pinned)) if program == "yarn" else line), pinned


def starter_of(line: str, manager: Manager, texts: Mapping[str, str]) -> str:
    """What a command needs before it to find packages that `line` installs; empty where they lie in `node_modules`."""
    is_of_berry = line == _IMMUTABLE or (_is_berry(manager) and "node_modules" not in texts)
    return "yarn " if is_of_berry and not _LINKER.search(texts.get(".yarnrc.yml", "")) else ""


def _of_pnpm_lock(lock: str, manifest: Mapping[str, Any]) -> Manager:
    version, about = _PNPM_OF_UNKNOWN, []
    if match := _FORMAT.search(lock):
        major = int(match[1].partition(".")[0])
        version = next((pnpm for most, pnpm in _PNPM_OF_FORMAT if major <= most), _NEWEST_PNPM)
        about.append(f"format {match[1]}")
        if version == _NEWEST_PNPM:
            about.append("newer than any that is known here")
    engines = manifest.get("engines")
    wanted = str(engines.get("pnpm", "")) if isinstance(engines, Mapping) else ""
    if _RANGE.fullmatch(wanted):
        # pnpm refuses a project whose range it does not fit.
        version = wanted
        about.append(f"`engines` wants {wanted}")
    return Manager("pnpm", version, f"`pnpm-lock.yaml` ({', '.join(about)})" if about else "`pnpm-lock.yaml`")


def _of_yarn_lock(lock: str) -> Manager:
    if _BERRY.search(lock):
        return Manager("yarn", _BERRY_YARN, "`yarn.lock` (format of Yarn 2 and newer)")
    about = " (format of Yarn 1)" if _CLASSIC_LOCK.search(lock) else ""
    return Manager("yarn", _CLASSIC_YARN, f"`yarn.lock`{about}")


def _of_yarn(line: str, *, is_classic: bool) -> str:
    return line if is_classic else _IMMUTABLE


def _line(pinned: Manager, texts: Mapping[str, str]) -> str:
    lines = [line for lock, line in _LOCKS if lock in texts]
    own = [line for line in lines if line.split()[0] == pinned.program]
    return next(iter([*own, *lines]), "npm install")


def _is_berry(manager: Manager) -> bool:
    return manager.program == "yarn" and int(manager.version.partition(".")[0]) > 1
