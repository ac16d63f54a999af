"""What of a suite could not be loaded, and why: of its tests nothing is known, whatever all others say.

Libraries of the system that tests need and the machine does not have, as its loader names them.
"""

import re
from collections.abc import Iterable, Sequence

from cogworks.domain_services.messages import EVERYTHING
from cogworks.domain_services.reasons import marked_reason, raised_reason
from cogworks.leaving import in_code
from cogworks.vocabulary import Value

MAX_NAMED = 5
_MAX_REASON_CHARS = 200
_FRAME = re.compile(r"^(?P<at>[^\s:<]+:\d+): in ", re.MULTILINE)
_UNREADABLE = re.compile(r'^E\s+File "(?P<file>[^"\n<]+)", line (?P<line>\d+)$', re.MULTILINE)
"""A file that cannot even be read as code is no frame yet."""


class Unloaded(Value):
    """A file or folder of tests that could not be loaded, on one side of a change or on both."""

    place: str
    """`.` when that is so for all tests."""
    reason: str
    """What the error says first where pytest marks it or below a traceback, else its last line."""
    at: str = ""
    """`file:line` where it arose, the innermost frame of the repository; empty: the error does not say."""
    before: bool = True
    after: bool = True

    @property
    def why(self) -> str:
        """The reason in words, with its place."""
        return f"{in_code(self.reason)} (at {in_code(self.at)})" if self.at else in_code(self.reason)

    @property
    def name(self) -> str:
        """The place in words."""
        return "the whole suite" if self.place == EVERYTHING else in_code(self.place)


def unloaded_of(errors: Iterable[str]) -> tuple[Unloaded, ...]:
    """What the collection errors of a report are about, each place once."""
    by_place: dict[str, Unloaded] = {}
    for each in map(_understood, errors):
        by_place.setdefault(each.place, each)
    return tuple(by_place.values())


def causes(unloaded: Iterable[Unloaded]) -> tuple[tuple[str, str], ...]:
    """Why something could not be loaded, each reason once: the places in words, of many the first, and the reason."""
    names: dict[str, list[str]] = {}
    for each in unloaded:
        names.setdefault(each.why, []).append(each.name)
    return tuple((_listed(places), why) for why, places in names.items())


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"{', '.join(names[:MAX_NAMED])}{more}"


def unloaded_between(before: Iterable[Unloaded], after: Iterable[Unloaded]) -> tuple[Unloaded, ...]:
    """What could not be loaded without a change or with it."""
    old = {each.place: each for each in before}
    new = {each.place: each for each in after}
    return tuple(
        unloaded.model_copy(update={"before": place in old, "after": place in new})
        for place, unloaded in {**new, **old}.items()
    )


def unloaded_in_words(unloaded: Sequence[Unloaded]) -> str:
    """What is not proven for it: a sentence for each case there is; empty when everything was loaded."""
    cases = (
        (True, True, "Not proven for {}, which could not be loaded: {}."),
        (False, True, "Not proven for {}, which cannot be loaded with the change: {}."),
        (True, False, "Not proven for {} as it was before, for it could not be loaded then: {}."),
    )
    sentences = []
    for before, after, words in cases:
        if such := [each for each in unloaded if (each.before, each.after) == (before, after)]:
            names = ", ".join(each.name for each in such[:MAX_NAMED])
            more = f" and {len(such) - MAX_NAMED} more" if len(such) > MAX_NAMED else ""
            reasons = dict.fromkeys(in_code(each.reason) for each in such[:MAX_NAMED])
            sentences.append(words.format(f"{names}{more}", "; ".join(reasons)))
    return " ".join(sentences)


def _understood(error: str) -> Unloaded:
    place, separator, text = error.partition(": ")
    if not separator or "\n" in place:
        # What went wrong with the run as a whole names no place.
        place, text = EVERYTHING, error
    frames = [*_FRAME.findall(text), *(f"{file}:{line}" for file, line in _UNREADABLE.findall(text))]
    at = next((frame for frame in reversed(frames) if not frame.startswith(("<", "/"))), "")
    return Unloaded(place=place, reason=_reason(text), at=at)


def _reason(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["it does not say why"]
    reason = marked_reason(text) or raised_reason(text) or lines[-1]
    return reason if len(reason) <= _MAX_REASON_CHARS else f"{reason[: _MAX_REASON_CHARS - 1]}…"


_MISSING = re.compile(r"(?<![\w.+-])([\w.+-]{1,100}): cannot open shared object file")
_MOST_NAMED = 5
_AGAINST_THE_RULE = {
    "libglib-2.0": "libglib2.0-0",
    "libgobject-2.0": "libglib2.0-0",
    "libgio-2.0": "libglib2.0-0",
    "libxml2": "libxml2",
    "libxslt": "libxslt1.1",
}
"""Library without its version -> the package that brings it."""


def library_remedies(errors: Iterable[str]) -> tuple[str, ...]:
    """What can be done about libraries that could not be opened; none where that is not what went wrong.

    Args:
        errors: what went wrong, in the words of the tool that failed.
    """
    names = list(dict.fromkeys(name for error in errors for name in _MISSING.findall(error)))[:_MOST_NAMED]
    if not names:
        return ()
    listed = ", ".join(f"`{name}`" for name in names)
    packages = " ".join(dict.fromkeys(map(debian_package, names)))
    remedy = (
        f"{listed} belongs to the system, not to the project: install the package that brings it on the machine that runs "
        f"cogworks, in a workflow in a step before it. Debian, Ubuntu: `apt-get install {packages}` by the rule for names of "
        f"libraries; where there is none of that name, `apt-get install apt-file && apt-file update && apt-file search {names[0]}` "
        f"finds it. Fedora: `dnf provides '*/{names[0]}'`."
    )
    return (remedy,)


def debian_package(library: str) -> str:
    """What the package of a shared library is called by Debian's rule for their names, or against it where that is known."""
    name, _, version = library.partition(".so")
    plain, number = name.lower().replace("_", "-"), version.removeprefix(".")
    if name in _AGAINST_THE_RULE:
        return _AGAINST_THE_RULE[name]
    return f"{plain}-{number}" if number and plain[-1:].isdigit() else f"{plain}{number}"
