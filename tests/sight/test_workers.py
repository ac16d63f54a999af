"""Several cores read the files of an index: the index is the same, and no process is left."""

import os
import select
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest

from cogworks.sight.batches import (
    Batch,
    Unread,
    as_bytes,
    batch_of,
    files_as_bytes,
    files_in,
    from_bytes,
    in_batches,
)
from cogworks.sight.index import Index
from cogworks.sight.store import Store
from cogworks.sight.workers import Worker, read_along, workers_for
from tests.limits import ENDS_WITHIN_S, Started
from tests.sight.trees import MemoryTree

MANY = 2_300
"""Files: some batches, the last one not full."""


def text_of(number: int) -> str:
    return (
        f'"""Prices of kind {number % 7}; ünïcode, \\U0001f4b0 and \\N{{LATIN SMALL LETTER A}}."""\n\nfrom shop.part{number % 90} import rounded\n\n\n'
        f"def price_of_{number}(rows):\n    # What it costs.\n    return rounded(rows[{number}])\n"
    )


def files_of(count: int) -> Iterator[Unread]:
    return (Unread(f"{number:040}.py", f"shop/part{number}.py", text_of(number)) for number in range(count))


TREE = {**{each.path: each.text for each in files_of(MANY)}, "README.md": "Prices.\n", "empty.py": ""}


@pytest.fixture
def worker() -> Iterator[Worker]:
    own = Worker()
    yield own
    own.end()


def is_over(pid: int) -> bool:
    """Whether a process ends; it may be nobody's child any more."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with os.fdopen(descriptor):
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        return bool(waiting.poll(ENDS_WITHIN_S * 1000))


@pytest.mark.parametrize("cores", [2, 4])
def test_the_index_is_the_same_byte_for_byte_whatever_the_number_of_cores(tmp_path: Path, cores: int) -> None:
    for number in (1, cores):
        store = Store(tmp_path / f"{number}.sqlite3")
        Index(MemoryTree(TREE), store, cores=number)
        store.close()

    alone, together = (tmp_path / f"{number}.sqlite3" for number in (1, cores))
    assert dumped(together) == dumped(alone)
    assert together.read_bytes() == alone.read_bytes()


def dumped(place: Path) -> Sequence[str]:
    connection = sqlite3.connect(place)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def test_a_worker_reads_what_this_process_would(worker: Worker) -> None:
    files = list(files_of(50))

    assert worker.read(files).result(timeout=ENDS_WITHIN_S) == batch_of(files)
    assert worker.read(files[:3]).result(timeout=ENDS_WITHIN_S) == batch_of(files[:3])


def test_a_worker_has_nothing_of_our_environment_and_holds_no_folder(worker: Worker) -> None:
    files = list(files_of(3))
    # A process that has only begun shows no environment at all.
    assert list(read_along([files], [worker])) == [batch_of(files)]
    place = Path(f"/proc/{worker.pid}")

    assert (place / "environ").read_bytes() == b"LC_ALL=C.UTF-8\0"
    assert (place / "cwd").readlink() == Path("/")


def test_what_a_worker_did_not_give_back_is_read_here(worker: Worker) -> None:
    batches = list(in_batches(files_of(MANY)))
    os.kill(worker.pid, signal.SIGSTOP)

    def killed_amid() -> Iterator[list[Unread]]:
        for number, files in enumerate(batches):
            if number == 3:
                os.kill(worker.pid, signal.SIGKILL)
            yield files

    told = list(read_along(killed_amid(), [worker]))

    assert told == [batch_of(each) for each in batches]
    assert not worker.has_room


def test_a_worker_that_ends_with_what_it_is_sent_holds_nothing_up(worker: Worker) -> None:
    os.kill(worker.pid, signal.SIGKILL)
    files = list(files_of(3))

    assert list(read_along([files, files], [worker])) == [batch_of(files)] * 2


class Stuck(Worker):
    """One that answers only who waits for it."""

    has_room = True

    def __init__(self) -> None:
        self.waited: list[int] = []
        self.begun = 0

    def read(self, files: Sequence[Unread]) -> "Future[Batch]":
        stuck = self

        class Answer(Future[Batch]):
            def result(self, timeout: float | None = None) -> Batch:
                stuck.waited.append(stuck.begun)
                return batch_of(files)

        answer = Answer()
        answer.set_running_or_notify_cancel()
        return answer

    def batches(self) -> Iterator[list[Unread]]:
        for _ in range(20):
            self.begun += 1
            yield list(files_of(1))


def test_no_more_batches_are_begun_than_memory_has_room_for() -> None:
    worker = Stuck()

    told = list(read_along(worker.batches(), [worker]))

    assert told == [batch_of(list(files_of(1)))] * 20
    assert worker.waited[:3] == [9, 10, 11]


def test_few_files_or_one_core_are_read_without_workers() -> None:
    with workers_for(1_000, 8) as few, workers_for(MANY, 1) as alone, workers_for(MANY, 3) as several:
        assert (len(few), len(alone), len(several)) == (0, 0, 2)


def test_workers_end_with_their_block_amid_what_they_read() -> None:
    with workers_for(MANY, 3) as workers:
        asked = [each.read(list(files_of(500))) for each in workers]

    assert all(is_over(each.pid) for each in workers)
    assert [each.done() for each in asked] == [True, True]


def test_workers_end_with_a_block_that_is_broken_off() -> None:
    begun: list[Worker] = []

    def interrupted() -> None:
        with workers_for(MANY, 3) as workers:
            begun.extend(workers)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert [is_over(each.pid) for each in begun] == [True, True]


def test_where_no_process_can_be_started_there_are_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    for program in ("/no/such/program", ""):
        monkeypatch.setattr(sys, "executable", program)
        with workers_for(MANY, 8) as workers:
            assert workers == []


def test_where_no_thread_can_be_started_files_are_read_here(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refused)
    files = list(files_of(3))

    assert list(read_along([files], [worker])) == [batch_of(files)]
    assert not worker.has_room


_LONG = f"""
import sys
from pathlib import Path
from cogworks.sight.index import Index
from cogworks.sight.store import Store
from cogworks.sight.workers import Worker
from tests.sight.test_workers import TREE, MemoryTree

class Telling(MemoryTree):
    def read(self, path):
        if len(self.read_paths) == {MANY} * 2 // 3:
            print("amid it", flush=True)
        return super().read(path)

began = Worker.__init__
def told(self):
    began(self)
    print(self.pid, flush=True)
Worker.__init__ = told
Index(Telling(TREE), Store(Path(sys.argv[1])), cores=3)
print("to the end", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("is_group", [True, False], ids=["its group", "it alone"])
def test_a_signal_leaves_no_process_and_an_index_that_can_be_read(
    tmp_path: Path, number: signal.Signals, is_group: bool
) -> None:
    place = tmp_path / "sight.sqlite3"
    command = [sys.executable, "-c", _LONG, str(place)]
    with Started(
        command,
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        assert running.stdout is not None
        pids = [int(running.stdout.readline()) for _ in range(2)]
        assert running.stdout.readline() == "amid it\n"
        (os.killpg if is_group else os.kill)(running.pid, number)
        said, wrong = running.communicate(timeout=ENDS_WITHIN_S)

    assert all(is_over(each) for each in pids)
    assert "to the end" not in said
    assert running.returncode == -number
    assert ("Traceback" in wrong) == (number == signal.SIGINT), wrong
    store = Store(place)
    index = Index(MemoryTree(TREE), store)
    assert index.paths_defining("price_of_5") == ("shop/part5.py",)


def test_ctrl_c_is_heard_by_the_process_that_sent_the_files(worker: Worker) -> None:
    files = list(files_of(500))
    # By now it is there.
    assert worker.read(files[:1]).result(timeout=ENDS_WITHIN_S) == batch_of(files[:1])
    asked = worker.read(files)
    os.kill(worker.pid, signal.SIGINT)

    assert asked.result(timeout=ENDS_WITHIN_S) == batch_of(files)


def test_batches_end_at_a_number_of_files_and_of_characters() -> None:
    assert [len(each) for each in in_batches(files_of(600))] == [250, 250, 100]
    long = [Unread(str(number), "a.txt", "x" * 1_500_000) for number in range(7)]
    assert [len(each) for each in in_batches(long)] == [3, 3, 1]


def test_files_and_batches_come_over_as_they_were() -> None:
    files = [*files_of(3), Unread("odd", "a\udce4.py", "text \ud800 and \0 and \U0001f4b0\r\n")]
    data = as_bytes(batch_of(files))

    assert files_in(files_as_bytes(files)) == files
    assert from_bytes(data) == batch_of(files)
    for cut in (data[:2], data[:-1], data[: len(data) // 2], data + b"?", b""):
        with pytest.raises(ValueError, match=r"cut off|Expecting|Unterminated|delimiter"):
            from_bytes(cut)


def test_a_worker_loads_what_reads_files_and_no_more() -> None:
    loading = "import sys, cogworks.sight.work; print(*sys.modules)"

    told = subprocess.run(
        [sys.executable, "-I", "-c", loading],
        capture_output=True,
        text=True,
        check=True,
        timeout=ENDS_WITHIN_S,
    )

    loaded = set(told.stdout.split())
    assert not loaded & {
        "sqlite3",
        "subprocess",
        "pydantic",
        "httpx",
        "cogworks.codebase",
        "cogworks.settings",
    }
