"""Programs that never end, repaired with the real service and pytest; only the model is scripted."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cogworks.repair.instance import Instance
from cogworks.repair.options import Gates, Options
from cogworks.settings.config import read_environment
from cogworks.telling import unknown
from cogworks.wiring.fix import open_repair
from cogworks.wiring.fix_order import Order
from tests.fakes import ScriptedModel
from tests.fixing import diffs, landmark, make_shop, pattern, place, plan

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
ENVIRONMENT = read_environment({"COGWORKS_LLM_PROVIDER": "cassette", "HOME": "/nonexistent"})
LOOP = (
    """\
def steps(number):
    count = 0
    while number != 1:
        number = number // 2 if number % 2 else 3 * number + 1
        count += 1
    return count
""",
    "from work import steps\n\n\ndef test_it():\n    assert steps(6) == 8\n\n\ndef test_one():\n    assert steps(1) == 0\n",
    ("number != 1", "number != 0"),
    ("number // 2 if number % 2 else 3 * number + 1", "3 * number + 1 if number % 2 else number // 2"),
)
DEADLOCK = (
    """\
import threading


class Account:
    def __init__(self):
        self._lock = threading.Lock()
        self.balance = 0

    def add(self, amount):
        with self._lock:
            self.balance += amount

    def move(self, amount):
        with self._lock:
            self.add(amount)
        return self.balance
""",
    (
        "from work import Account\n\n\ndef test_it():\n    assert Account().move(2) == 2\n\n\n"
        "def test_one():\n    account = Account()\n    account.add(3)\n    assert account.balance == 3\n"
    ),
    (
        "        with self._lock:\n            self.add(amount)\n",
        "        with self._lock:\n            self.add(+amount)\n",
    ),
    ("        with self._lock:\n            self.add(amount)\n", "        self.add(amount)\n"),
)
SLEEPER = (
    """\
import time


def tried(action, times):
    try:
        return action()
    except ValueError:
        time.sleep(0.05)
        return tried(action, times)
""",
    (
        "import pytest\nfrom work import tried\n\n\ndef never():\n    raise ValueError\n\n\n"
        "def test_it():\n    with pytest.raises(ValueError):\n        tried(never, 3)\n\n\n"
        "def test_one():\n    assert tried(lambda: 1, 3) == 1\n"
    ),
    ("        time.sleep(0.05)\n", "        time.sleep(0.01)\n"),
    (
        "        time.sleep(0.05)\n        return tried(action, times)\n",
        "        if times < 1:\n            raise\n        time.sleep(0.05)\n        return tried(action, times - 1)\n",
    ),
)
QUEUE = (
    """\
import queue


def doubled(jobs):
    inbox = queue.Queue()
    for job in jobs:
        inbox.put(job)
    done = []
    while len(done) <= len(jobs):
        done.append(inbox.get() * 2)
    return done
""",
    "from work import doubled\n\n\ndef test_it():\n    assert doubled([1, 2]) == [2, 4]\n\n\ndef test_one():\n    assert True\n",
    ("inbox.get() * 2", "2 * inbox.get()"),
    ("len(done) <= len(jobs)", "len(done) < len(jobs)"),
)


def repaired(
    folder: Path, program: tuple[str, str, tuple[str, str], tuple[str, str]], limit_s: float
) -> tuple[bool, str, list[str], list[str]]:
    """Whether it is repaired and by what, what was said, and which runs of tests it took."""
    text, tests, hanging, fix = program
    files = {"work.py": text, "test_work.py": tests}
    shop = make_shop(folder, files)
    said: list[str] = []
    runs: list[str] = []

    @contextmanager
    def during(what: str, limit_s: float, so_far: Callable[[], str] = unknown, /) -> Iterator[None]:
        runs.append(what)
        yield

    whole = place("work.py", 1, len(text.splitlines()))
    answers = (
        json.dumps(json.loads(pattern()) | {"primary": whole, "alternatives": []}),
        plan(landmark("end", whole)),
        diffs({"work.py": hanging}, {"work.py": fix}),
    )
    instance = Instance(instance_id="fix", failing_tests=())
    order = Order(
        shop,
        instance,
        Options(gates=Gates(test_timeout_s=limit_s)),
        command="python -m pytest -q",
        with_uncommitted=True,
    )
    with open_repair(
        order, ENVIRONMENT, say=said.append, provider=ScriptedModel(*answers), during=during
    ) as repair:
        result = repair.run()
        tried = [each.result for each in repair.notes.tried]
        assert [each.code for each in tried] == ["gate_targeted", "kept"], repair.reason
        assert tried[0].after is not None
        assert tried[0].after.hung == {"test_work.py::test_it"}
        # A probe would wait for it.
        assert repair.notes.findings is None
        return (
            result.success,
            repair.patch,
            said,
            [each for each in runs if "test(s)" in each or "suite" in each],
        )


@pytest.mark.parametrize(
    "program", [LOOP, DEADLOCK, SLEEPER, QUEUE], ids=["loop", "deadlock", "recursion", "queue"]
)
def test_a_test_that_hangs_is_named_at_once_runs_as_seldom_as_can_be_and_is_repaired(
    tmp_path: Path, program: tuple[str, str, tuple[str, str], tuple[str, str]]
) -> None:
    success, patch, said, runs = repaired(tmp_path, program, 1.0)

    assert success
    assert program[3][1].splitlines()[0].strip() in patch
    named = [each for each in said if "hangs: it was ended after 1 s" in each]
    assert [each.split(" ")[0] for each in named] == ["test_work.py::test_it"]
    # It is named before anything else is done with it.
    assert said.index(named[0]) < next(n for n, each in enumerate(said) if "to repair" in each)
    # The suite and its coverage, a candidate that hangs as well, the one that does not, and the suite with it: no rerun of a hang.
    assert len(runs) <= 5, runs


def test_without_a_word_the_limit_is_derived_from_the_tests_that_pass(tmp_path: Path) -> None:
    success, _, said, _ = repaired(tmp_path, QUEUE, 0)

    assert success
    assert [each for each in said if "hangs: it was ended after 60 s" in each]
