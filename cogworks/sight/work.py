"""A worker of the index: reads batches of files that another process sends, and ends with it. It loads what reads files, no more."""

import os
import signal
import struct
from queue import SimpleQueue
from threading import Thread

from cogworks.sight.batches import as_bytes, batch_of, files_in

LENGTH = struct.Struct(">Q")
"""Before each message."""
_IN, _OUT = 0, 1
_PIECE = 1 << 20


def main() -> None:
    """Answer batches, one after the other, until nobody can send one any more."""
    # Whoever pressed Ctrl-C asked the other process, which decides what becomes of this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked: SimpleQueue[bytes] = SimpleQueue()
    try:
        # Somebody always listens: the end of the other process is heard amid the longest batch.
        Thread(target=_listen, args=(asked,), daemon=True).start()
        while True:
            answer = as_bytes(batch_of(files_in(asked.get())))
            _send(LENGTH.pack(len(answer)))
            _send(answer)
    finally:
        os._exit(1)


def _listen(asked: "SimpleQueue[bytes]") -> None:
    try:
        while True:
            (length,) = LENGTH.unpack(_received(LENGTH.size))
            asked.put(_received(length))
    finally:
        # Its batch is of no use to anybody.
        os._exit(0)


def _received(length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        piece = os.read(_IN, min(_PIECE, length - len(data)))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def _send(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(_OUT, rest) :]
