"""What a command shows while it works: one line an event, on stderr."""

from collections.abc import Callable

import click


def progress_line(*, quiet: bool = False) -> Callable[[str], None]:
    """A function that shows one line of progress; standard output stays free for results."""

    def say(line: str) -> None:
        if not quiet:
            click.echo(f"  {line}", err=True)

    return say
