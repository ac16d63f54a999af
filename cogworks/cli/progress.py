"""What a command shows while it works: one line an event, on stderr.

Says after two seconds what is going on, then more and more seldom, for people who wait for one long thing, and uses the
time to load what comes next.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from itertools import chain, repeat

import click

from cogworks.errors import CogworksError
from cogworks.leaving import in_log_of_actions
from cogworks.telling import During, unknown


def progress_line(*, quiet: bool = False) -> Callable[[str], None]:
    """A function that shows one line of progress; standard output stays free for results."""

    def say(line: str) -> None:
        if not quiet:
            click.echo(f"  {in_log_of_actions(line)}", err=True)

    return say


FIRST_S, SELDOM = 2.0, 15
"""The first line comes after so many seconds. Each pause is twice as long as the one before, up to so many times the first: a
reply that takes a quarter of an hour fills no log."""
_is_announced: ContextVar[bool] = ContextVar("is_announced", default=False)
"""Whether the block around is announced."""


def ticking(say: Callable[[str], None], *, first_s: float = FIRST_S, only_long: bool = False) -> During:
    """A function whose blocks say at once what begins, then every so often how long it has taken, then when it ended or failed.

    Args:
        first_s: the first pause.
        only_long: nothing is said of what ends before the first such line, and of the rest only these lines; nor of what
            happens within a block that is announced already.
    """

    @contextmanager
    def during(what: str, limit_s: float, so_far: Callable[[], str] = unknown) -> Iterator[None]:
        if only_long and _is_announced.get():
            yield
            return
        began_s, ended, outer = time.monotonic(), threading.Event(), _is_announced.set(True)

        def say_so_far() -> None:
            pauses = chain((min(2**doubled, SELDOM) for doubled in range(SELDOM)), repeat(SELDOM))
            while not ended.wait(first_s * next(pauses)):
                known = so_far()
                took = f"{time.monotonic() - began_s:.0f} s of at most {limit_s:.0f} s"
                say(f"{what}: {took}{f', {known}' if known else ''}")

        if not only_long:
            say(f"{what} (at most {limit_s:.0f} s)")
        ticker = threading.Thread(target=say_so_far, daemon=True)
        ticker.start()
        ending = "ended"
        try:
            yield
        except Exception as error:
            # A visit that goes on in the next step ends so as well, and nothing failed.
            ending = "ended" if isinstance(error, CogworksError) and not error.exit_code else "failed"
            raise
        finally:
            _is_announced.reset(outer)
            ended.set()
            ticker.join()
            if not only_long:
                say(f"{what}: {ending} after {time.monotonic() - began_s:.1f} s")

    return during


def loading_meanwhile(during: During, load: Callable[[], object]) -> During:
    """The same, and modules are loaded meanwhile: in a thread of its own, from the first block on, once.

    Args:
        load: of modules; an import of one of them before it is loaded waits for it.
    """
    waiting = [load]

    def started(
        what: str, limit_s: float, so_far: Callable[[], str] = unknown
    ) -> AbstractContextManager[None]:
        while waiting:
            threading.Thread(target=waiting.pop()).start()
        return during(what, limit_s, so_far)

    return started
