"""The order of the suite, what takes long first, so that no process is left alone with it at the end; and which isolation it tries.

No property fails because the machine is busy: hypothesis measures no time here.
"""

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from cogworks.services.sandbox.probing import strongest
from tests.exhaustive import SEED, examples

settings.register_profile(
    "without_clock",
    settings.default,
    deadline=None,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("without_clock")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs so, and every process below would inherit it: no test of Ctrl-C could pass.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Whoever runs the tests may have set a width, as pytest-xdist does for its workers; tables would be as narrow as that.
os.environ.pop("COLUMNS", None)

LONG = ("chaos", "end_to_end", "bench", "action", "cli", "engine", "demo", "hub")


def pytest_report_header() -> str:
    """Which layers hold on this machine, for the escape tests can try no others; and which part of the sweeps is played."""
    isolation = strongest(os.environ["PATH"])
    return f"isolation: {', '.join(isolation.layers)}; seed of the sweeps: {SEED}"


def pytest_collection() -> None:
    """Nothing that is collected is garbage; looking for some in between takes a fifth of the collection."""
    gc.disable()


def pytest_collection_finish() -> None:
    """The modules and the list of tests stay: no later look for garbage goes through them again, and few through everything."""
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], 100)
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests first, then long folders; inside a folder and between the others the order stays as it is."""
    root = Path(__file__).parent
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path not in slow, _place(item.path.relative_to(root).parts[0])))


def _place(folder: str) -> int:
    return LONG.index(folder) if folder in LONG else len(LONG)
