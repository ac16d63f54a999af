"""A step in a process of its own, while this one is asked to stop."""

import os
import signal
import socket
import threading
from pathlib import Path

import pytest

from cogworks.cli.child_step import ChildSteps
from cogworks.stopping import Stop
from tests.engine.invoking import environment
from tests.limits import ENDS_WITHIN_S


@pytest.mark.parametrize(
    "patience",
    [pytest.param(0, id="at-the-first", marks=pytest.mark.slow), pytest.param(1, id="at-the-second")],
)
def test_one_signal_more_than_a_step_may_outlast_interrupts_it(patience: int, tmp_path: Path) -> None:
    stop = Stop()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(ENDS_WITHIN_S)

        def ask_to_stop() -> None:
            # The step is connected, and waits for an answer that never comes.
            connection, _ = silent.accept()
            for _ in range(patience + 1):
                stop.note(signal.SIGTERM, None)
            with connection:
                connection.settimeout(ENDS_WITHIN_S)
                while connection.recv(4096):
                    pass

        asking = threading.Thread(target=ask_to_stop, daemon=True)
        asking.start()
        server = f"http://127.0.0.1:{silent.getsockname()[1]}"
        steps = ChildSteps(
            os.environ | environment(server, tmp_path), lambda line: None, stop, patience=patience
        )
        told = steps.run(f"{server}/octo/demo/issues/1")
        asking.join(timeout=ENDS_WITHIN_S)
    stop.close()

    assert (told["exit_code"], told["outcome"]) == (130, "interrupted")
