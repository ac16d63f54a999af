"""What starts before every run loads little: no run is so short that it would not notice."""

import subprocess
import sys
from pathlib import Path

import cogworks
from cogworks.services.sandbox.cores import most_processes
from cogworks.services.sandbox.inside.order import Limits, Order
from cogworks.services.sandbox.isolation import NO_ISOLATION
from cogworks.services.sandbox.running import Confined, _order
from tests.limits import ENDS_WITHIN_S

_LOADED = "import sys; sys.path.insert(0, sys.argv[1]); import cogworks.services.sandbox.inside.launch; print(*sorted(sys.modules))"
_HEAVY = {
    "ast", "dataclasses", "inspect", "ipaddress", "pathlib", "platform", "selectors", "socket", "subprocess", "tempfile", "urllib",
}  # fmt: skip


def _loaded() -> set[str]:
    root = str(Path(cogworks.__file__).parents[1])
    words = [sys.executable, "-I", "-S", "-c", _LOADED, root]
    ended = subprocess.run(words, capture_output=True, text=True, check=True, timeout=ENDS_WITHIN_S)
    return set(ended.stdout.split())


def test_the_launcher_loads_nothing_that_takes_longer_to_load_than_it_takes_itself() -> None:
    loaded = _loaded()
    assert not loaded & _HEAVY
    assert len(loaded) < 110, sorted(loaded)


def test_the_launcher_has_loaded_all_of_itself_before_it_leaves_the_files_it_is_loaded_from() -> None:
    inside = Path(cogworks.__file__).parent / "services/sandbox/inside"
    own = {f"cogworks.services.sandbox.inside.{each.stem}" for each in inside.glob("[!_]*.py")}
    assert own <= _loaded()


def test_an_order_says_how_many_processes_a_command_may_have(tmp_path: Path) -> None:
    def ordered(limits: Limits) -> Order:
        confined = Confined(("true",), tmp_path, {}, (), (tmp_path,), timeout_s=1, limits=limits)
        return _order(confined, NO_ISOLATION, 5, ())

    assert ordered(Limits()).limits.processes == most_processes()
    assert ordered(Limits(processes=7)).limits.processes == 7
