"""A pytest plugin that calls functions with inputs beside those that tests give them; imports nothing of cogworks.

What a test calls is noted while it runs, with copies of what it gave, and called again when it has ended: once as it was, then
with each input changed a little. The same inputs come about in every run, so that two states of the code can be compared.
"""

from __future__ import annotations

import copy
import gc
import inspect
import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from itertools import islice
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from cogworks_functions import places_in, source_of
from cogworks_mutants import try_mutants

_MOST_CALLS, _MOST_LOOKED_AT, _MOST_VARIANTS = 8, 200, 16
_CALL_S, _TEST_S = 0.2, 1.5
_MOST_ITEMS, _MOST_CHARS, _DEEPEST = 50, 1_000, 4
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_NOT_CALLED = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_PLAIN = (int, float, complex, str, bytes, bool, type(None))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cogworks-beside", metavar="JSON", help="which lines are looked at, and how much is tried"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    wish, reporter = _wish_and_reporter(session.config)
    if wish is None or not wish["mistakes"]["lines"]:
        return
    if session.testsfailed:
        reporter.write(kind="untried", text="some of the tests cannot be loaded")
        return
    for record in try_mutants(session, begin=partial(_unwatched, session.config), **wish["mistakes"]):
        reporter.write(**record)


def _unwatched(config: pytest.Config) -> None:
    """In a fork nobody hears of calls, and what they change would be a mistake more."""
    config.option.cogworks_beside = None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    wish, reporter = _wish_and_reporter(item.config)
    if wish is None or not wish["lines"] or not _is_called(item, wish):
        yield
        return
    watch = Watch(str(item.config.rootpath), wish["lines"])
    sys.setprofile(watch.happened)
    try:
        yield
    finally:
        sys.setprofile(None)
    ends = time.monotonic() + _TEST_S
    for call in watch.calls:
        for number, arguments, shown in call.variants():
            if time.monotonic() > ends:
                return
            is_value, outcome = _outcome(call.function, arguments)
            about = {"artifact": call.artifact, "line": call.line, "symbol": call.symbol}
            own = {"own": call.given, "variant": number, "given": shown}
            reporter.write(kind="beside", **about, **own, outcome=outcome, is_value=is_value)


def _wish_and_reporter(config: pytest.Config) -> tuple[Any, Any]:
    wish = config.getoption("--cogworks-beside")
    reporter = config.pluginmanager.get_plugin("cogworks-reporter")
    return (None, None) if wish is None or reporter is None else (json.loads(wish), reporter)


def _is_called(item: pytest.Item, wish: Any) -> bool:
    """Whether the calls of this test are made again: those of all tests are, where none is named."""
    wanted = wish.get("of", [])
    return not wanted or any(
        item.nodeid == each or item.nodeid.startswith((f"{each}::", f"{each}[")) for each in wanted
    )


class Call:
    """A call of a function, with copies of what it was given."""

    def __init__(self, artifact: str, function: FunctionType, values: dict[str, Any]) -> None:
        self.artifact = artifact
        self.function = function
        self.line = function.__code__.co_firstlineno
        self.symbol = function.__qualname__
        self.values = values
        self.given = described(values)

    def variants(self) -> Iterator[tuple[int, dict[str, Any], str]]:
        """The given values, as number 0, and those beside them; each is a copy of its own."""
        seen: set[str] = set()
        ways: list[tuple[str | None, Callable[[Any], Any]]] = [(None, lambda value: value)]
        ways += [(None, how) for how in WAYS]
        # With one input alone the joint change is the same.
        ways += [(name, how) for how in WAYS for name in self.values] if len(self.values) > 1 else []
        for only, how in ways:
            try:
                arguments = {
                    name: changed(value, how) if only in (None, name) else copy.deepcopy(value)
                    for name, value in self.values.items()
                }
                shown = described(arguments)
            except Exception:  # noqa: S112  # whatever an object of the repository does when it is copied
                continue
            if shown not in seen:
                seen.add(shown)
                yield len(seen) - 1, arguments, shown
            if len(seen) > _MOST_VARIANTS:
                return


class Watch:
    """Notes the calls of the functions around some lines."""

    def __init__(self, root: str, lines: dict[str, list[tuple[int, int]]]) -> None:
        self._wanted: dict[tuple[str, int], str] = {}
        for artifact, stretches in lines.items():
            path = os.path.join(root, artifact)
            for line in places_in(source_of(path), stretches):
                self._wanted[os.path.realpath(path), line] = artifact
        self._known: dict[int, tuple[CodeType, str]] = {}
        self._looked_at = 0
        self._frames: set[int] = set()
        self.calls: list[Call] = []

    def happened(self, frame: FrameType, event: str, _: Any) -> None:
        """The profile function of the test's thread."""
        if event != "call" or len(self.calls) == _MOST_CALLS or self._looked_at == _MOST_LOOKED_AT:
            return
        code = frame.f_code
        artifact = self._artifact(code)
        # A generator is entered again whenever it goes on.
        if not artifact or code.co_flags & _NOT_CALLED or id(frame) in self._frames:
            return
        self._looked_at += 1
        if code.co_flags & inspect.CO_GENERATOR:
            self._frames.add(id(frame))
        try:
            self._note(artifact, frame)
        except Exception:  # what cannot be copied is not called again
            return

    def _note(self, artifact: str, frame: FrameType) -> None:
        code = frame.f_code
        functions = [each for each in gc.get_referrers(code) if isinstance(each, FunctionType)]
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if len(functions) != 1 or not names or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            return
        values = {name: copy.deepcopy(frame.f_locals[name]) for name in names}
        call = Call(artifact, functions[0], values)
        if all(call.given != each.given for each in self.calls):
            self.calls.append(call)

    def _artifact(self, code: CodeType) -> str:
        # By identity: code that reads the same is equal, wherever it stands.
        if id(code) not in self._known:
            place = (os.path.realpath(code.co_filename), code.co_firstlineno)
            self._known[id(code)] = (code, self._wanted.get(place, ""))
        return self._known[id(code)][1]


class _Late(BaseException):
    """A call takes too long."""


def _late(_signal: int, _frame: object) -> None:
    raise _Late


def _outcome(function: FunctionType, values: dict[str, Any]) -> tuple[bool, str]:
    """Whether a value comes of it, and what: the value and what was given as it is left, or the kind of the exception."""
    code = function.__code__
    positional = [values[name] for name in code.co_varnames[: code.co_argcount]]
    named = {name: values[name] for name in code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]}
    before = signal.signal(signal.SIGVTALRM, _late)
    signal.setitimer(signal.ITIMER_VIRTUAL, _CALL_S)
    try:
        result = function(*positional, **named)
        if inspect.isgenerator(result):
            result = list(islice(result, _MOST_ITEMS))
        return True, f"{described(result)} after which {described(values)}"
    except _Late:
        return False, "no end"
    except BaseException as error:  # a test that leaves or is interrupted inside is an outcome as well
        return False, type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def described(value: Any, depth: int = _DEEPEST) -> str:
    """A value as text that is the same in every run."""
    text = _described(value, depth)
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}… {len(text)}"


def _described(value: Any, depth: int) -> str:
    kind = type(value)
    if kind in _PLAIN:
        return repr(value)
    if depth == 0:
        return kind.__name__
    if isinstance(value, dict):
        inside = [
            f"{_described(key, depth - 1)}: {_described(each, depth - 1)}" for key, each in value.items()
        ]
        return f"{kind.__name__}{{{', '.join(inside[:_MOST_ITEMS])}}}"
    if isinstance(value, (list, tuple, set, frozenset)):
        inside = [_described(each, depth - 1) for each in value]
        inside = inside if isinstance(value, (list, tuple)) else sorted(inside)
        return f"{kind.__name__}[{', '.join(inside[:_MOST_ITEMS])}]"
    if isinstance(value, (FunctionType, type)):
        return value.__qualname__
    if isinstance(attributes := getattr(value, "__dict__", None), dict):
        return f"{kind.__name__}({_described(attributes, depth - 1)})"
    return _ADDRESS.sub("0x", repr(value))


def changed(value: Any, how: Callable[[Any], Any], depth: int = _DEEPEST) -> Any:
    """A copy in which everything plain is changed in one way."""
    if type(value) in (int, float, str, bytes) or (isinstance(value, list) and how in _OF_LISTS):
        return how(copy.deepcopy(value))
    if depth == 0:
        return copy.deepcopy(value)
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(changed(each, how, depth - 1) for each in value)
    if type(value) is dict:
        return {key: changed(each, how, depth - 1) for key, each in value.items()}
    copied = copy.deepcopy(value)
    attributes = getattr(copied, "__dict__", None)
    if isinstance(attributes, dict) and not isinstance(value, (FunctionType, type)):
        for name in list(attributes):
            attributes[name] = changed(attributes[name], how, depth - 1)
    return copied


def _numbers(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: change(value) if type(value) in (int, float) else value


def _texts(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: change(value) if type(value) in (str, bytes) and value else value


def _lists(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: change(value) if isinstance(value, list) and value else value


def _next_letters(text: Any) -> Any:
    """Every letter and digit gives way to the next one; what stands between them stays."""
    if isinstance(text, bytes):
        return _next_letters(text.decode("latin-1")).encode("latin-1", "replace")
    return "".join(_NEXT.get(each, each) for each in text)


_RINGS = ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")
_NEXT = {each: ring[(at + 1) % len(ring)] for ring in _RINGS for at, each in enumerate(ring)}
_OF_LISTS: Sequence[Callable[[Any], Any]] = (
    _lists(lambda value: [*value, value[-1]]),
    _lists(lambda value: value[:-1]),
    _lists(lambda value: value[::-1]),
)
WAYS: Sequence[Callable[[Any], Any]] = (
    _numbers(lambda value: value + 1),
    _texts(_next_letters),
    *_OF_LISTS,
    _numbers(lambda value: value * 2),
    _texts(lambda value: value + value),
    _numbers(lambda value: value - 1),
    _texts(lambda value: value[:-1]),
    _numbers(lambda value: -value),
    _texts(lambda value: value[1:]),
    _numbers(lambda value: value + 10),
    _texts(lambda value: value.swapcase()),
    _numbers(lambda value: value * 4),
)
