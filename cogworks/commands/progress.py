"""What a command does while it works: it shows one line an event on stderr, and ends in order when told to."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


def progress_line(*, quiet: bool = False) -> Callable[[str], None]:
    """A function that shows one line of progress; standard output stays free for results."""

    def say(line: str) -> None:
        if not quiet:
            click.echo(f"  {line}", err=True)

    return say


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does, by KeyboardInterrupt: leases are given back, processes are stopped."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
