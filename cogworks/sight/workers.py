"""Reads batches of files on several cores. This process reads along, and reads again what a worker does not give back."""

import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from cogworks.cores import cores
from cogworks.sight.batches import Batch, Unread, batch_of, files_as_bytes, from_bytes
from cogworks.sight.work import LENGTH

_WORTH_A_WORKER = 1_500
"""Files; fewer are read in half a second, of which a worker saves hardly more than its start takes."""
_MOST_WORKERS = 3
"""To hand out files and to write down what they say is a quarter of the work, which this process does alone."""
_AT_ONCE = 2
"""Batches of one worker: while it reads one, the next one is on its way."""
_MOST_WAITING = 8
"""Batches that were begun, whether they are read by now or not: what holds the memory down."""
_WORK = "import sys; sys.path[:] = sys.argv[1:]; from cogworks.sight.work import main; main()"
_ENVIRONMENT = {"LC_ALL": "C.UTF-8"}


class Worker:
    """One process, which ends with this one whatever ends it."""

    def __init__(self) -> None:
        """Raises: OSError: it cannot be started."""
        # What is imported here is imported there, and nothing else.
        places = [str(Path(each).absolute()) for each in sys.path]
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _WORK, *places],
            cwd="/",
            env=_ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="sight")
        self._asked: list[Future[Batch]] = []
        self._is_broken = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_room(self) -> bool:
        """Whether it may be asked for one more batch."""
        self._asked = [each for each in self._asked if not each.done()]
        return not self._is_broken and len(self._asked) < _AT_ONCE

    def read(self, files: Sequence[Unread]) -> "Future[Batch]":
        """What it will have read; fails with an OSError, an EOFError or a ValueError where it does not."""
        try:
            asked = self._pool.submit(self._read, files)
        except RuntimeError as error:
            # There may be no more threads.
            asked, self._is_broken = Future(), True
            asked.set_exception(OSError(str(error)))
        self._asked.append(asked)
        return asked

    def end(self) -> None:
        """Amid whatever it reads."""
        self._process.kill()
        self._pool.shutdown(cancel_futures=True)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            # What nobody has read may still be on its way.
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _read(self, files: Sequence[Unread]) -> Batch:
        try:
            return from_bytes(self._exchanged(files_as_bytes(files)))
        except BaseException:
            self._is_broken = True
            raise

    def _exchanged(self, data: bytes) -> bytes:
        asks, answers = self._process.stdin, self._process.stdout
        if asks is None or answers is None:
            raise EOFError
        asks.write(LENGTH.pack(len(data)))
        asks.write(data)
        asks.flush()
        header = answers.read(LENGTH.size)
        if len(header) < LENGTH.size:
            raise EOFError
        (length,) = LENGTH.unpack(header)
        return answers.read(length)


class _Task:
    """One batch, and who reads it."""

    def __init__(self, files: Sequence[Unread], asked: "Future[Batch] | None") -> None:
        self._files, self._asked = files, asked
        self._read: Batch | None = batch_of(files) if asked is None else None

    @property
    def is_done(self) -> bool:
        return self._read is not None or (self._asked is not None and self._asked.done())

    def take_back(self) -> bool:
        """Read it here, where no worker has begun with it."""
        if self._read is None and self._asked is not None and self._asked.cancel():
            self._read = batch_of(self._files)
            return True
        return False

    def batch(self) -> Batch:
        if self._read is None and self._asked is not None:
            # Without an answer it is read as it would be without workers; what ended one may be its files.
            with suppress(CancelledError, OSError, EOFError, ValueError):
                return self._asked.result()
        return self._read or batch_of(self._files)


@contextmanager
def workers_for(files: int, most_cores: int | None = None) -> Iterator[list[Worker]]:
    """Workers for so many files, ended with the block; none where there is one core, or none can be started.

    Args:
        most_cores: None: as many as this process may use.
    """
    workers: list[Worker] = []
    try:
        if files >= _WORTH_A_WORKER and sys.executable:
            with suppress(OSError):
                workers.extend(Worker() for _ in range(min(_MOST_WORKERS, (most_cores or cores()) - 1)))
        yield workers
    finally:
        for worker in workers:
            worker.end()


def read_along(batches: Iterable[Sequence[Unread]], workers: Sequence[Worker]) -> Iterator[Batch]:
    """What each batch comes to, in their order: the same with any number of workers."""
    waiting: deque[_Task] = deque()
    for files in batches:
        worker = next((each for each in workers if each.has_room), None)
        waiting.append(_Task(files, worker.read(files) if worker else None))
        while waiting and (waiting[0].is_done or len(waiting) > _MOST_WAITING):
            yield waiting.popleft().batch()
    while waiting:
        # No worker is waited for while another batch has not been begun.
        if waiting[0].is_done or not any(each.take_back() for each in reversed(waiting)):
            yield waiting.popleft().batch()
