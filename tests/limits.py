"""How long a test waits for something that ends by itself: far longer than it takes anywhere, and not for ever."""

import os
import subprocess
import time
from typing import AnyStr

ENDS_WITHIN_S = 300.0
"""For whatever does not say another limit; pytest ends most tests earlier, but cannot reach every wait."""
LONG_RUN_ENDS_WITHIN_S = 3_000.0
"""For what is a whole run of its own: an evaluation, a benchmark, an installation."""
_PAUSE_S = 0.01


class Started(subprocess.Popen[AnyStr]):
    """A `Popen` whose block ends in time, or fails with the process killed."""

    def wait(self, timeout: float | None = ENDS_WITHIN_S) -> int:
        try:
            return super().wait(timeout)
        except subprocess.TimeoutExpired:
            # Who gave a limit of their own decides what comes of it.
            if timeout == ENDS_WITHIN_S:
                self.kill()
            raise


def reaped(child: int, *, within_s: float = ENDS_WITHIN_S) -> int:
    """The exit code of a child that was forked here; negative: a signal ended it."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_PAUSE_S)
    raise TimeoutError(f"process {child} did not end within {within_s:g} s")
