"""`cogworks` in processes forked from one that has imported it: as mortal as any other, without the price of a start."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.forking import Cogworks, nothing
from tests.limits import ENDS_WITHIN_S


class Forked(Cogworks):
    """A running `cogworks`, the leader of a session of its own; what it says goes to files."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        environment: Mapping[str, str],
        said: Path,
        first: Callable[[], None] = nothing,
    ) -> None:
        """Args:
        words: the command line behind `cogworks`.
        said: the file for its standard output; `.err` is added for the complaints.
        first: what it does before; goes to it by name.
        """
        self._said = said
        with said.open("w") as out, _complaints(said).open("w") as err:
            super().__init__(
                words, env=environment, stdout=out, stderr=err, start_new_session=True, first=first
            )

    def wait(self, timeout: float = ENDS_WITHIN_S) -> int:
        """Its exit code, at its end."""
        try:
            return super().wait(timeout)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"it still runs after {timeout:g} s; {self.complaints()}") from error

    def cut_off(self) -> None:
        """SIGKILL to it and everything it started, as a power cut would: git and the like lead sessions of their own."""
        for pid in list(_stopped(self.pid)):
            # Some die with their parent.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def printed(self) -> str:
        return self._said.read_text()

    def complaints(self) -> str:
        return _complaints(self._said).read_text()


def _stopped(pid: int) -> Iterator[int]:
    """A process and its descendants; each stands still before its children are looked for, so that none is missed."""
    with suppress(ProcessLookupError, FileNotFoundError):
        os.kill(pid, signal.SIGSTOP)
        yield pid
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _stopped(int(child))


def _complaints(said: Path) -> Path:
    return said.with_name(f"{said.name}.err")
