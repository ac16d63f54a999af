"""The process of the service of commands: `cogworks service command --socket PATH`."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from cogworks.codebase.places import scratch_folder
from cogworks.removal import remove_tree
from cogworks.services.command.answering import CommandService
from cogworks.services.command.grammars.code import Shelf
from cogworks.services.command.ground import Commands, Machine
from cogworks.services.python.cloning import Clones
from cogworks.services.sandbox.probing import strongest
from cogworks.services.sandbox.starting import LAUNCHERS
from cogworks.services.serving import end_with_standard_input, serve
from cogworks.stopping import left_by_signal


def run(
    socket: Path,
    *,
    commands: Commands,
    kept: Path | None = None,
    until_stdin_closes: bool,
    listening: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until SIGTERM, or until standard input closes; a test run that is under way ends with the process.

    Args:
        kept: where what compilers keep for a work item outlives a run; None: nothing does.
        listening: called with the address as soon as callers are let in.
    """
    with left_by_signal(), scratch_folder("cogworks-kept-") as passing:
        if until_stdin_closes:
            end_with_standard_input(partial(_leave, passing))
        search_path = os.environ.get("PATH", os.defpath)
        with Clones((), token=None, environment=os.environ) as clones:
            machine = Machine(
                search_path,
                strongest(search_path),
                commands,
                kept,
                clones,
                dict(os.environ),
                Shelf().facts,
                passing=passing,
            )
            serve(CommandService(machine).answer, socket_path=socket, listening=listening)


def _leave(passing: Path) -> None:
    """What is done before an end that passes no `finally`."""
    LAUNCHERS.close()
    remove_tree(passing, ignore_errors=True)
