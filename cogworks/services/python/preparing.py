"""Runs a repository's own command on a copy of it, in complete isolation, and hands back the files it left."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cogworks.errors import CogworksError
from cogworks.services.python.machine import Machine
from cogworks.services.python.workroom import ToolCall, workroom
from cogworks.services.sandbox.isolation import Isolation, refusal
from cogworks.services.sandbox.probing import strongest
from cogworks.services.sandbox.running import NotStarted

LIMIT_S = 1800.0


class PreparationFailed(CogworksError):
    """The command could not be run, or ended badly."""


@contextmanager
def prepared(
    repository: Path,
    command: str,
    *,
    search_path: str,
    isolation: Isolation | None = None,
    limit_s: float = LIMIT_S,
) -> Iterator[Path]:
    """A folder with the repository's files as the command left them, without history; gone after the block.

    The command is a line for `sh`. It has no network, no environment of ours, and may write nothing but this folder.

    Args:
        isolation: the strongest of this machine where none are given.

    Raises:
        PreparationFailed: the isolation of this machine are not complete, or the command did not end with 0.
    """
    isolation = isolation or strongest(search_path)
    if (why := refusal(isolation, needs_walls=True)) is not None:
        raise PreparationFailed(f"`environment_cmd` was not run: {why}")
    with workroom() as room:
        room.put_all_of(repository)
        call = ToolCall(("/bin/sh", "-c", command), timeout_s=limit_s)
        try:
            result = room.run(call, Machine(search_path, isolation))
        except NotStarted as error:
            raise PreparationFailed(f"`environment_cmd` was not run: {error}") from error
        if result.code != 0:
            ended = "was ended" if result.code is None else f"ended with {result.code}"
            raise PreparationFailed(f"`environment_cmd` {ended}: {command}\n{result.complaint}")
        yield room.folder
