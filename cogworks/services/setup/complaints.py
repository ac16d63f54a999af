"""The message about a setup that did not finish: where, what, its own last words, and what to do."""

import re
from typing import NamedTuple

from cogworks.domain_services.messages import ErrorCode
from cogworks.services.python.building.complaints import missing_tools
from cogworks.services.python.pythons import NotBuilt
from cogworks.services.sandbox.running import Ended
from cogworks.services.setup.last_words import failure_text
from cogworks.services.setup.registries import refusals_in_words
from cogworks.services.setup.setups import SCRIPT, Command, Setup

_LAST_LINES, _FEW_LINES = 12, 4
"""Shown of what was said last, and where the cause is known."""
_INSTALLS = re.compile(
    r"\b(?:apt-get|apt|aptitude|yum|dnf|apk|pacman|brew|zypper)\b(?P<rest>[^;&|\n]{0,300})"
)
_WANTS_ROOT = re.compile(
    r"are you root\?|must be (?:run as )?root|requires? (?:root|superuser)|sudo:|Could not open lock file|unable to lock the admin"
    r"|no new privileges|/var/lib/(?:dpkg|apt)",
    re.IGNORECASE,
)
_WORDS = frozenset({"install", "add", "update", "upgrade", "in", "cask", "reinstall"})
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9.+-]{1,60}")
_NOT_FOUND = 127
_PREPARED = '`environment = "prepared"`'


class Attempt(NamedTuple):
    """One command of a setup, and how it ended."""

    setup: Setup
    command: Command
    ended: Ended
    limit_s: float
    """Of the whole setup."""
    refused: tuple[str, ...] = ()
    """What it asked for and is not allowed."""
    problems: tuple[str, ...] = ()
    """Which registries could not be had."""
    is_hopeless: bool = False
    """Whether the next attempt would meet the same problems."""
    hints: tuple[str, ...] = ()
    """What to do, in words, by what the repository asks for."""


def not_set_up(attempt: Attempt) -> NotBuilt:
    """The failure, with everything that its reader needs."""
    what, ended, causes = _shown(attempt), attempt.ended, _network(attempt)
    if ended.timed_out:
        text = f"{what} did not finish in {attempt.limit_s:.0f} s, the limit of the operation. {_last_words(ended, _LAST_LINES)}"
        remedy = f"Make it faster, raise `timeouts` of the service in `.cogworks/services.toml`, or run it before cogworks and say {_PREPARED}."
        return NotBuilt(f"{text} {remedy}", ErrorCode.TIMEOUT)
    # The cause first: the last words of a setup may be many, and be about what followed.
    text = _ending(what, ended, _FEW_LINES if causes else _LAST_LINES)
    parts = [*causes, f"{text[0].upper()}{text[1:]}" if causes else text, *_remedies(attempt)]
    # A registry that is down may be back for the next attempt.
    return NotBuilt(
        " ".join(part for part in parts if part).replace("\n ", "\n"),
        is_recoverable=bool(attempt.problems and not attempt.refused and not attempt.is_hopeless),
    )


def _shown(attempt: Attempt) -> str:
    shown = attempt.command.shown
    if shown == SCRIPT:
        return f"the setup `{SCRIPT}`"
    number = attempt.setup.lines.index(shown) + 1
    which = f" ({number} of {len(attempt.setup.lines)} in `{attempt.setup.source}`)"
    return f"the setup `{shown}`{which}"


def _ending(what: str, ended: Ended, lines: int) -> str:
    if ended.blocked and ended.code is None:
        reasons = "; ".join(each.removeprefix("ended: ") for each in ended.blocked)
        return f"{what} was ended, for it {reasons}. {_last_words(ended, lines)}"
    return f"{what} ended with {ended.code}. {_last_words(ended, lines)}"


def _network(attempt: Attempt) -> list[str]:
    sentences = refusals_in_words(attempt.refused)
    if attempt.problems:
        listed = "; ".join(attempt.problems)
        sentences.append(
            f"A package registry could not be used: {listed}. Check the network of this machine, then try again."
        )
    return sentences


def _remedies(attempt: Attempt) -> list[str]:
    output, words = attempt.ended.output, attempt.command.shown
    asking = attempt.setup.script if words == SCRIPT else words
    if (match := _INSTALLS.search(asking)) is not None or _WANTS_ROOT.search(output):
        named = _packages(match["rest"]) if match else []
        which = ", ".join(f"`{each}`" for each in named) or "what it wants"
        text = (
            f"A setup has no rights of root: system packages are for the machine. Install {which} there in a step before cogworks "
            f"and leave it out here; where that step installs everything, say {_PREPARED} in `.cogworks/config.toml`."
        )
        return [text]
    if attempt.ended.code == _NOT_FOUND:
        return [
            f"Install the program that is not found on this machine, or say {_PREPARED} and install in a step before cogworks."
        ]
    if attempt.hints:
        return [*attempt.hints]
    if attempt.refused or attempt.problems:
        return []
    if remedy := missing_tools(output):
        return [remedy]
    return [
        f"Mend it on the base branch, or install in a step before cogworks and say {_PREPARED} in `.cogworks/config.toml`."
    ]


def _packages(rest: str) -> list[str]:
    words = [word for word in rest.split() if not word.startswith("-") and word not in _WORDS]
    return [word for word in words if _PACKAGE.fullmatch(word)][:8]


def _last_words(ended: Ended, most: int) -> str:
    last = failure_text(ended.output, most)
    return f"Its last words:\n{last}\n" if last else "It said nothing."
