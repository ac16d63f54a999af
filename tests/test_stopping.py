"""Signals: whoever waits wakes up, nothing is lost, and no handler can wait for a lock."""

import ast
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import cogworks
from cogworks.stopping import ENDINGS, Stop, ended_by_signal, ends_within, left_by_signal, noted_signals
from tests.limits import ENDS_WITHIN_S, Started

PACKAGE = Path(cogworks.__file__).parent
FLOOD = 10_000

_FLOODED_POLL = f"""
import random, signal
from cogworks.cli.poll import PollingWorld
from cogworks.errors import TryAgainLater
from cogworks.forge.addresses import parse_repository
from cogworks.engine.poll import Poller, keep_sweeping
from cogworks.stopping import noted_signals

class Quiet(PollingWorld):
    def look(self, since):
        raise TryAgainLater("an outage, so that nothing is done but waiting")

address = parse_repository("o/r", server_url="https://github.com")
for _ in range({FLOOD}):
    with noted_signals() as stop:
        # A timer's signal comes at any instant of the wait, also between two lines of Python.
        signal.signal(signal.SIGALRM, stop.note)
        signal.setitimer(signal.ITIMER_REAL, 1e-5 + random.random() * 1e-4)
        world = Quiet(address, None, stop, milestone="", quiet=True)
        keep_sweeping(Poller(world), interval_s=1e-5, jitter=random.random, report=lambda report: None)
print("every wait ended")
"""


@pytest.mark.slow
def test_ten_thousand_signals_at_any_instant_of_a_poll_loop_leave_it_waiting_for_none() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FLOODED_POLL],
        capture_output=True,
        text=True,
        check=False,
        timeout=ENDS_WITHIN_S,
    )

    assert (done.stdout, done.stderr) == ("every wait ended\n", "")


def test_more_signals_than_the_pipe_holds_block_no_handler() -> None:
    stop = Stop()
    try:
        for _ in range(FLOOD * 10):
            stop.note(signal.SIGTERM, None)

        assert FLOOD <= stop.times < FLOOD * 10
    finally:
        stop.close()


@pytest.mark.parametrize("number", ENDINGS, ids=lambda number: number.name)
def test_a_signal_ends_a_wait_and_stays_counted(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with noted_signals() as stop:
        had_one = stop.wait(0)
        signal.raise_signal(number)
        assert (had_one, stop.wait(ENDS_WITHIN_S), stop.wait(ENDS_WITHIN_S), stop.times) == (
            False, True, True, 1,
        )  # fmt: skip

    assert signal.getsignal(number) is before


def test_sigterm_interrupts_a_block_like_ctrl_c() -> None:
    with pytest.raises(KeyboardInterrupt), ended_by_signal():
        os.kill(os.getpid(), signal.SIGTERM)


def test_sigterm_is_the_ordinary_end_of_a_service() -> None:
    with pytest.raises(SystemExit) as ended, left_by_signal():
        os.kill(os.getpid(), signal.SIGTERM)

    assert ended.value.code == 0


DISPOSITIONS = ("signal.SIG_IGN", "signal.SIG_DFL", "signal.default_int_handler")
"""What the interpreter or the kernel does itself."""
HANDLING = {
    "stopping.py": "owns the handlers",
    "services/sandbox/inside/forking.py": "is woken by the end of what it forked, without cogworks",
    "services/python/inside/cogworks_beside.py": "ends a call that does not come to an end, likewise without cogworks",
    "services/python/inside/cogworks_limit.py": "runs in the interpreter of the repository, without cogworks",
}
"""Modules that hand functions to `signal.signal`."""
HARMLESS = ("os.write", "SystemExit")
"""What a handler may call: no lock is taken, no buffered stream is written."""


def test_every_signal_handler_only_raises_or_writes_one_byte() -> None:
    dispositions: list[tuple[str, str]] = []
    handlers: list[tuple[str, str]] = []
    for module in sorted(PACKAGE.rglob("*.py")):
        name = module.relative_to(PACKAGE).as_posix()
        for call in _registrations(module):
            given = ast.unparse(call.args[1])
            (dispositions if given in DISPOSITIONS else handlers).append((name, given))

    assert {name for name, _ in handlers} == HANDLING.keys()
    for name in HANDLING:
        for handler in _handlers(PACKAGE / name):
            called = {ast.unparse(call.func) for call in _calls(handler)}
            assert called <= set(HARMLESS), f"{name}: {handler.name} calls {sorted(called)}"
            assert not any(isinstance(node, ast.With | ast.For | ast.While) for node in ast.walk(handler))


def _registrations(module: Path) -> Iterator[ast.Call]:
    text = module.read_text(encoding="utf-8")
    assert "add_signal_handler" not in text
    assert "from signal import" not in text
    if "signal" in text:
        for call in _calls(ast.parse(text)):
            if ast.unparse(call.func) == "signal.signal":
                yield call


def _handlers(module: Path) -> list[ast.FunctionDef]:
    """Every function of the form of a handler: its second argument is the frame."""
    found = [
        node
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and any(each.arg == "_frame" for each in node.args.args)
    ]
    assert found
    return found


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


@pytest.mark.parametrize("is_told", [True, False], ids=["told of the end", "looks for it"])
def test_the_end_of_a_child_is_waited_for(monkeypatch: pytest.MonkeyPatch, is_told: bool) -> None:
    if not is_told:
        # As on macOS.
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    started: Started[bytes] = Started([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with started as child:
        assert not ends_within(child, 0.05)
        child.terminate()
        assert ends_within(child, ENDS_WITHIN_S)
        assert child.returncode == -signal.SIGTERM
        # Nobody has to be asked any more.
        assert ends_within(child, 0.0)


def test_a_child_is_gone_also_while_another_thread_takes_its_code() -> None:
    started: Started[bytes] = Started([sys.executable, "-S", "-c", ""])
    with started as child:
        # What `Popen` does in another thread that waits for the same child.
        lock: threading.Lock = vars(child)["_waitpid_lock"]
        assert lock.acquire(timeout=ENDS_WITHIN_S)
        threading.Timer(0.3, lock.release).start()

        assert ends_within(child, ENDS_WITHIN_S)
