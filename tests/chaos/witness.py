"""Looks on at a coding visit: a journal tells each action of it and each answer of the model; one moment may last for ever."""

import time
from pathlib import Path
from typing import Literal, NamedTuple

from cogworks.cycle.context import CycleContext
from cogworks.cycle.executor import Executor
from cogworks.cycle.results import ActionResult, Payload
from cogworks.llm.provider import ModelReply, ModelRequest
from cogworks.llm.providers.cassette import CassetteProvider

FOREVER_S = 600.0


class Pause(NamedTuple):
    """Where the witness lets time stand still."""

    cycle: int
    place: Literal["begin", "end"]
    """Before the action does anything, or when it did everything and nobody knows its result."""

    def __str__(self) -> str:
        return f"{self.place} {self.cycle}"


def watch(journal: Path, pause: str) -> None:
    """From now on, in this process.

    Args:
        pause: a `Pause` in words; empty: none.
    """
    execute, complete = Executor.execute, CassetteProvider.complete

    def note(line: str) -> None:
        with journal.open("a") as told:
            told.write(f"{line}\n")

    def executed(
        self: Executor, payload: Payload, context: CycleContext, *, deadline_ms: int
    ) -> ActionResult:
        def reached(place: Literal["begin", "end"]) -> None:
            here = str(Pause(context.cycle + 1, place))
            note(here)
            if here == pause:
                time.sleep(FOREVER_S)

        reached("begin")
        result = execute(self, payload, context, deadline_ms=deadline_ms)
        reached("end")
        return result

    def completed(self: CassetteProvider, request: ModelRequest) -> ModelReply:
        reply = complete(self, request)
        note(f"answered {request.purpose}")
        return reply

    Executor.execute = executed  # type: ignore[method-assign]  # the witness looks on from outside
    CassetteProvider.complete = completed  # type: ignore[method-assign]  # as above
