"""A laboratory without worktrees and services: rooms answer as they are told; obeys `cogworks.repair.probe.investigating.SandboxPool`."""

import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from cogworks.codebase.sandboxes import Hit
from cogworks.domain_services.exploring import Trace, TraceEvent
from cogworks.domain_services.messages import Message, TestCase
from cogworks.domain_services.operations import Operation
from cogworks.repair.probe.probes import Params, Result
from tests.repair.exploring import SHOP

Answering = Callable[["ScriptedSandbox", str, Any], Sequence[Message]]
"""The room, the operation's method and its parameters -> the answers of the services."""


def nothing(_room: "ScriptedSandbox", _method: str, _params: Any) -> Sequence[Message]:
    """No service offers anything."""
    return ()


def event(kind: str, line: int, *, depth: int = 1, artifact: str = "shop.py", **more: Any) -> TraceEvent:
    return TraceEvent.model_validate(
        {"kind": kind, "artifact": artifact, "line": line, "symbol": "s", "depth": depth, **more}
    )


def traced(
    *events: TraceEvent, test: str = "t", outcome: str = "failed", message: str = "", **more: Any
) -> Trace:
    case = TestCase.model_validate({"id": test, "outcome": outcome, "message": message})
    return Trace(case=case, events=events, **more)


class ScriptedSandbox:
    """Remembers what was applied; obeys `cogworks.repair.probe.probes.Room`."""

    def __init__(self, answering: Answering, texts: Mapping[str, str], asked: list[tuple[str, Any]]) -> None:
        self._answering, self._texts, self._asked = answering, texts, asked
        self.applied = ""
        self.refuses = ""

    def text(self, path: str) -> str | None:
        return self._texts.get(path)

    def apply(self, diff: str) -> str | None:
        self.applied = diff
        return self.refuses or None

    def reset(self) -> None:
        self.applied = ""

    def grep(self, word: str, *, most: int) -> Sequence[Hit]:
        return [
            Hit(path, number, line)
            for path, text in sorted(self._texts.items())
            for number, line in enumerate(text.split("\n"), 1)
            if re.search(rf"\b{re.escape(word)}\b", line)
        ][:most]

    def ask(self, operation: Operation[Params, Result], params: Params) -> Sequence[Result]:
        self._asked.append((operation.method, params))
        return [
            operation.result.model_validate(each.model_dump())
            for each in self._answering(self, operation.method, params)
        ]


class ScriptedSandboxPool:
    """Lends rooms to threads, and counts."""

    def __init__(
        self,
        answering: Answering = nothing,
        *,
        texts: Mapping[str, str] | None = None,
        pauses_s: Sequence[float] = (),
        spoil: Callable[[int], bool] = lambda _: False,
        lacking: Collection[str] = (),
    ) -> None:
        """Args:
        lacking: operations that no service offers.
        pauses_s: how long each room is kept, in the order in which they are lent, over and over.
        spoil: whether the tree is another one after so many rooms.
        """
        self._lacking = lacking
        self._answering, self._pauses_s, self._spoil = answering, pauses_s, spoil
        self._texts = {"shop.py": SHOP} if texts is None else texts
        self._mutex = threading.Lock()
        self.lent = self.alive = self.most_alive = 0
        self.is_cancelled = False
        self.asked: list[tuple[str, Any]] = []

    def offers(self, operation: Operation[Params, Result]) -> bool:
        return operation.method not in self._lacking

    @contextmanager
    def sandbox(self, *, limit_s: float) -> Iterator[ScriptedSandbox]:
        assert limit_s > 0
        with self._mutex:
            number = self.lent
            self.lent += 1
            self.alive += 1
            self.most_alive = max(self.most_alive, self.alive)
        if self._pauses_s:
            time.sleep(self._pauses_s[number % len(self._pauses_s)])
        try:
            yield ScriptedSandbox(self._answering, self._texts, self.asked)
        finally:
            with self._mutex:
                self.alive -= 1

    def digest(self) -> str:
        return "changed" if self._spoil(self.lent) else "tree"

    def cancel(self) -> None:
        self.is_cancelled = True
