"""Words in what a runner wrote that would act where they stand, found from outside: by the rules of the places, not by ours."""

import re
from collections.abc import Iterator

from cogworks.hub.actions.timeline import closing_numbers

FORGED_VISIT = "f" * 64
"""What adversaries write into trailers and markers of ours."""
_PROSE = re.compile(r"^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_OURS = re.compile(
    r"<!-- (?:cogworks:1 k=[0-9a-f]{64} t=[\w.:/@+-]+ h=[0-9a-f]{8}(?: r=\d+)?|the last part|cogworks[\w: -]*) -->"
)
_CALL = re.compile(r"(?<![\w/])@([A-Za-z0-9][A-Za-z0-9-]*(?:/[\w-]+)?)")
_LOADED = re.compile(r"!\[[^\]]*\]\(|<(?:img|image|picture|source|video|svg|iframe|script)\b", re.IGNORECASE)
_UNSEEN = re.compile("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SKIPS = re.compile(r"\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|^skip-checks:", re.IGNORECASE)
_TRAILER = re.compile(r"^([A-Za-z0-9]+(?:-[A-Za-z0-9]+)+)[ \t]*:[ \t]*(.*)$", re.MULTILINE)
_COMMAND = re.compile(r"^\s*(?:::[a-z-]+|##\[)", re.MULTILINE)


def in_conversation(text: str, *, may_close: frozenset[int], may_call: frozenset[str]) -> Iterator[str]:
    """What a title, body or comment does besides being read."""
    prose = _PROSE.sub(" ", text)
    for hidden in _HIDDEN.findall(prose):
        if _OURS.fullmatch(hidden) is None:
            yield f"hides {hidden[:60]!r}"
        if FORGED_VISIT in hidden:
            yield f"carries a forged marker {hidden[:60]!r}"
    shown = _HIDDEN.sub(" ", prose)
    for number in closing_numbers(shown):
        if number not in may_close:
            yield f"closes #{number}"
    for login in _CALL.findall(shown):
        if login not in may_call:
            yield f"calls @{login}"
    for found in _LOADED.findall(shown):
        yield f"loads {found!r}"
    yield from _unseen(text)


def in_commit(message: str, *, is_ledger: bool) -> Iterator[str]:
    """What the message of a commit does besides being read."""
    for number in closing_numbers(message):
        yield f"closes #{number}"
    for login in _CALL.findall(message):
        yield f"calls @{login}"
    if not is_ledger and _SKIPS.search(message):
        yield "switches checks off"
    for key, value in _TRAILER.findall(message):
        is_ours = key.startswith("Cogworks-") or (is_ledger and key == "skip-checks")
        if not is_ours or FORGED_VISIT in value:
            yield f"has the trailer {key}: {value[:40]}"
    yield from _unseen(message)


def in_output(text: str) -> Iterator[str]:
    """What lines of a console or of an Actions log do besides being read."""
    for found in _COMMAND.findall(text):
        yield f"commands the runner of Actions: {found.strip()!r}"
    yield from _unseen(text)


def _unseen(text: str) -> Iterator[str]:
    for sign in sorted(set(_UNSEEN.findall(text))):
        yield f"has the sign {sign!r}"
