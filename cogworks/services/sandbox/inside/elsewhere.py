"""The launcher's first process where the system is not Linux: it can find no process of the command but those of its group."""

import os
import select
import signal
from contextlib import suppress

from cogworks.services.sandbox.inside.order import Verdict

_PAUSE_S = 0.05


def await_end(child: int) -> Verdict:
    """How the command ended; afterwards nobody is left of the group that it led.

    Ends early, with everything, when our standard input closes: the process that wanted this is gone.
    """
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            _end_group(child)
            return Verdict(os.waitstatus_to_exitcode(status))
        # Nobody ever writes there: readable means closed.
        if select.select([0], [], [], _PAUSE_S)[0]:
            break
    _end_group(child)
    os.waitpid(child, 0)
    return Verdict(None)


def _end_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
