"""A pytest plugin that notes, step by step and with values, what one test executes; imports nothing of cogworks.

Only the test's own thread is followed, from the test function on: not fixtures, other threads or processes.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import reprlib
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from opcode import opmap
from types import CodeType, FrameType
from typing import Any

import pytest

_MASK = "***"
_WORDS = r"passw|secret|api_?key|private_?key|credential|authori[sz]ation|cookie"
_OF_ACCESS = r"(?:access|api|auth|bearer|bot|csrf|deploy|github|id|refresh|session|user)_?token"
_SECRET = f"{_WORDS}|{_OF_ACCESS}"
_SECRET_NAME = re.compile(f"(?i){_SECRET}")
# Parsers are full of tokens that are objects, numbers and `<p>`: by this name alone only what could be a credential is one.
_TOKEN_NAME = re.compile("(?i)token")
_COULD_BE_ONE = r"[\w.+/=~-]{6,}"
_ONE = re.compile(_COULD_BE_ONE)
_NAMED = re.compile(
    rf"(?i)\b(\w*(?:{_SECRET})\w*['\"]?\s*[=:]\s*)(?:'[^']*'?|\"[^\"]*\"?|[^\s,)\]}}'\"]+)",
)
_NAMED_TOKEN = re.compile(
    rf"(?i)\b(\w*token\w*['\"]?\s*[=:]\s*)(['\"]?){_COULD_BE_ONE}\2(?=[\s,)\]}}'\"…]|$)",
)
_WELL_KNOWN = re.compile(
    r"\b(?:(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|AKIA|ASIA|eyJ)[\w.-]{8,}|(?i:bearer|basic) [\w.+/=-]{8,})"
)
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_RETURNS = frozenset(opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in opmap)
_MAY_COME_BACK = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_INSTALLED = ("/site-packages/", "/dist-packages/")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cogworks-steps", metavar="JSON", help="what of the test is noted, and how much")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    reporter = item.config.pluginmanager.get_plugin("cogworks-reporter")
    wish = item.config.getoption("--cogworks-steps")
    if reporter is None or wish is None:
        yield
        return
    with steps_noted(reporter, item, json.loads(wish)):
        yield


@contextmanager
def steps_noted(reporter: Any, item: pytest.Item, wish: Mapping[str, Any]) -> Iterator[None]:
    """What is executed meanwhile."""
    notes = Notes(reporter, item, **wish)
    before = sys.gettrace()
    sys.settrace(notes.entered)
    try:
        yield
    finally:
        # The test may have taken the tracing for itself; then it is not known to the end.
        is_whole = sys.gettrace() == notes.entered and not notes.is_full
        sys.settrace(before)
        reporter.write(kind="steps-end", is_whole=is_whole)


class Notes:
    """Writes one record per event, until there are enough."""

    def __init__(
        self,
        reporter: Any,
        item: pytest.Item,
        *,
        artifacts: list[str],
        lines: list[tuple[int, int]],
        max_events: int,
        max_value_chars: int,
    ) -> None:
        self._reporter = reporter
        self._root = f"{item.config.rootpath}{os.sep}"
        self._test = (
            str(getattr(item, "path", item.fspath)),
            getattr(item, "originalname", None) or item.name,
        )
        self._artifacts = frozenset(artifacts)
        self._lines = lines
        self._left = max_events
        self._has_begun = False
        self._paths: dict[str, str] = {}
        self.shown = Shown(
            max_value_chars, places={self._root: "", str(item.config.rootpath.parent): "<tmp>"}
        )
        self.is_full = False
        """Whether something was left out for want of room."""

    def entered(self, frame: FrameType, event: str, argument: Any) -> Any:
        """The trace function of every frame that is entered, also of a generator that goes on."""
        is_test = self._is_test(frame.f_code)
        self._has_begun = self._has_begun or is_test
        artifact = self._artifact(frame.f_code)
        if self.is_full or not self._has_begun or not (artifact or is_test):
            return None
        return _Frame(self, artifact, self._depth(frame)).happened(frame, event, argument)

    def left(self, code: CodeType) -> None:
        """A frame is left; with that of the test function all is over, but a coroutine may come back."""
        if self._is_test(code) and not code.co_flags & _MAY_COME_BACK:
            self._has_begun = False

    def wants(self, artifact: str, line: int) -> bool:
        """Whether an event there is noted; the first one for which there is no room ends the tracing."""
        is_asked = artifact and (not self._lines or any(first <= line <= last for first, last in self._lines))
        if self.is_full or not self._has_begun or not is_asked:
            return False
        self.is_full = self._left == 0
        if self.is_full:
            # The rest of the test runs at its own speed.
            sys.settrace(None)
        self._left -= 1
        return not self.is_full

    def note(self, frame: FrameType, kind: str, **more: Any) -> None:
        """Write an event."""
        self._reporter.write(
            kind="step", event=kind, line=frame.f_lineno, symbol=frame.f_code.co_qualname, **more
        )

    def _is_test(self, code: CodeType) -> bool:
        return (self._path(code), code.co_name) == self._test

    def _artifact(self, code: CodeType) -> str:
        """The file's path in the repository, empty when it is none or nobody asked about it."""
        path = self._path(code)
        artifact = path.removeprefix(self._root) if path.startswith(self._root) else ""
        return artifact if artifact in self._artifacts or not self._artifacts else ""

    def _path(self, code: CodeType) -> str:
        """The file the code stands in, empty for none and for one of an installed package."""
        # By its name: code that reads the same is equal, wherever it stands.
        name = code.co_filename
        if name not in self._paths:
            path = "" if name.startswith("<") else os.path.realpath(name)
            self._paths[name] = "" if any(part in path for part in _INSTALLED) else path
        return self._paths[name]

    def _depth(self, frame: FrameType) -> int:
        """Frames from the test function on; what a loop of events calls counts as called by the test."""
        depth = own = 0
        each: FrameType | None = frame
        while each is not None:
            if self._is_test(each.f_code):
                return depth
            depth += 1
            if self._path(each.f_code).startswith(self._root):
                own = depth
            each = each.f_back
        return own


class _Frame:
    """What was known of one frame when something happened in it last."""

    def __init__(self, notes: Notes, artifact: str, depth: int) -> None:
        self._notes = notes
        self._artifact = artifact
        self._depth = depth
        self._known: Mapping[str, str] = {}
        self._is_raising = False

    def happened(self, frame: FrameType, event: str, argument: Any) -> Any:
        """The trace function of this frame."""
        # A frame that an exception leaves is said to return too; the exception was noted.
        returns = event == "return" and (
            not self._is_raising or frame.f_code.co_code[frame.f_lasti] in _RETURNS
        )
        self._is_raising = event == "exception"
        if (returns or event != "return") and self._notes.wants(self._artifact, frame.f_lineno):
            more = {"artifact": self._artifact, "depth": self._depth, "values": self._changed(frame)}
            if returns:
                more["value"] = self._notes.shown.of(frame.f_code.co_name, argument)
            elif event == "exception":
                more["value"] = self._notes.shown.of("", argument[1])
            self._notes.note(frame, event, **more)
        if event == "return":
            self._notes.left(frame.f_code)
        return None if self._notes.is_full else self.happened

    def _changed(self, frame: FrameType) -> dict[str, str]:
        # Other names are the interpreter's and pytest's own.
        named = [(name, value) for name, value in frame.f_locals.items() if name.isidentifier()]
        now = {name: self._notes.shown.of(name, value) for name, value in named}
        changed = {name: text for name, text in now.items() if self._known.get(name) != text}
        self._known = now
        return changed


class Shown(reprlib.Repr):
    """Values as text of limited length, the same in every run, without secrets; a `__repr__` that fails is survived."""

    def __init__(self, max_chars: int, *, places: Mapping[str, str]) -> None:
        super().__init__()
        self._max_chars = max_chars
        self._places = places
        self.maxlevel = 4
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = 10
        # Room for what is taken out before the text is cut.
        self.maxstring = self.maxother = self.maxlong = 2 * max_chars + 200

    def of(self, name: str, value: Any) -> str:
        """The value of what goes by that name."""
        if _is_secret(name, value):
            return _MASK
        text = _ADDRESS.sub("0x…", self.repr(value))
        for place, shown in self._places.items():
            text = text.replace(place, shown)
        text = _NAMED.sub(rf"\1{_MASK}", _WELL_KNOWN.sub(_MASK, text))
        text = _NAMED_TOKEN.sub(rf"\1{_MASK}", text)
        return text if len(text) <= self._max_chars else f"{text[: self._max_chars - 1]}…"

    def repr_dict(self, x: dict[Any, Any], level: int) -> str:
        if not x:
            return "{}"
        if level <= 0:
            return "{...}"
        shown = [
            f"{self.repr1(key, level - 1)}: {_MASK if _is_secret(key, value) else self.repr1(value, level - 1)}"
            for key, value in list(x.items())[: self.maxdict]
        ]
        return "{" + ", ".join([*shown, *(["..."] if len(x) > self.maxdict else [])]) + "}"


def _is_secret(name: object, value: object) -> bool:
    if not isinstance(name, str):
        return False
    if _SECRET_NAME.search(name):
        return True
    text = value.decode("ascii", "replace") if isinstance(value, bytes) else value
    return isinstance(text, str) and _TOKEN_NAME.search(name) is not None and _ONE.fullmatch(text) is not None
