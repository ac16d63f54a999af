"""A domain service that behaves as its first argument says; standard library only."""

import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

HANDSHAKE = {
    "name": "scripted",
    "service_version": "0.1",
    "api_version": "1.0",
    "domain": "test",
    "capabilities": ["validate", "simulate"],
}
HANDSHAKES: dict[str, dict[str, Any]] = {
    "wrong-version": HANDSHAKE | {"api_version": "2.0"},
    "no-simulate": HANDSHAKE | {"capabilities": ["validate"]},
    "odd-handshake": {"name": "x"},
}
BLOCKING = {"artifact": "a", "severity": "blocking", "category": "type_error", "message": "m"}
CHANGES: dict[str, dict[str, Any]] = {
    "wrong-id": {"request_id": "other"},
    "contradiction": {"diagnostics": [BLOCKING]},
    "unknown-category": {"diagnostics": [BLOCKING | {"category": "novelty"}], "status": "failure"},
    "looked-at-nothing": {"metadata": {"counts": {"artifacts": 0}}},
    "schema": {"status": "splendid"},
    "bare-error": {"status": "error"},
    "error": {"status": "error", "error": {"code": "tool_failed", "message": "no compiler"}},
    "recoverable": {
        "status": "error",
        "error": {"code": "tool_failed", "message": "no compiler", "recoverable": True},
    },
    "bad-report": {"result": {"cases": [{"id": "t"}]}},
    "no-tests": {"result": {"cases": []}},
}
BYTES = {
    "close": b"",
    "break-off": b'{"request_id": "',
    "oversized": b'{"x": "' + b"a" * (16 * 1024 * 1024) + b'"}\n',
    "not-utf-8": b"\xff\xfe\n",
    "not-json": b"hello\n",
}


def answer(behaviour: str, request: dict[str, Any], count: int) -> bytes:
    response = {
        "request_id": request["request_id"],
        "status": "success",
        "metadata": {"counts": {"artifacts": 1}},
    }
    if request["method"] == "handshake":
        response["result"] = HANDSHAKES.get(behaviour, HANDSHAKE)
        return json.dumps(response).encode() + b"\n"
    if behaviour == "hang":
        time.sleep(600)
    if behaviour == "crash" or (behaviour == "crash-once" and count == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    if behaviour in BYTES:
        return BYTES[behaviour]
    return json.dumps(response | CHANGES.get(behaviour, {})).encode() + b"\n"


def main() -> None:
    behaviour, journal, path = sys.argv[1], Path(sys.argv[2]), sys.argv[4]
    if behaviour == "not-starting":
        sys.exit("no licence")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        while True:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines:
                for line in lines:
                    request = json.loads(line)
                    with journal.open("a") as file:
                        file.write(f"{request['method']}\n")
                    asked = journal.read_text().split().count(request["method"])
                    reply = answer(behaviour, request, asked)
                    connection.sendall(reply)
                    if not reply.endswith(b"\n"):
                        break


if __name__ == "__main__":
    main()
