"""A domain service that announces `prepare`: `python preparing_service.py BEHAVIOUR --socket PATH`; standard library only."""

import json
import socket
import sys
import time
from typing import Any

PREPARED = {
    "described": "scripted 1.0 with two packages",
    "key": "abc",
    "choices": [
        {"what": "extra 'dev'", "source": "tox.ini [testenv] extras", "why": "its tests need it"},
        {"what": "Python 3.12", "source": ""},
    ],
    "command": ["try", "-q"],
    "runner": "try",
    "configuration": '[environment]\nextras = ["dev"]\n',
    "notes": ["requirements/docs.txt was left out."],
    "is_reused": False,
    "seconds": 4.25,
    "disk_bytes": 3 * 1024**2,
}
REPORT = {
    "cases": [
        {"id": "tests/a.txt::works", "outcome": "passed"},
        {"id": "tests/a.txt::fails", "outcome": "failed", "message": "no"},
        {"id": "tests/b.txt::later", "outcome": "skipped"},
    ],
    "blocked": ["a.txt::works: tried to reach the network"],
    "commands": ["try -q"],
}
NO_PACKAGE = {
    "code": "tool_not_found",
    "message": "tox.ini [testenv] extras names 'dev', which is no extra. Correct it.",
}


def answer(behaviour: str, request: dict[str, Any]) -> dict[str, Any]:
    """The response to one request."""
    method = request["method"]
    envelope: dict[str, Any] = {"request_id": request["request_id"], "status": "success"}
    if method == "handshake":
        return envelope | {
            "result": {
                "name": "scripted",
                "service_version": "0.1",
                "api_version": "1.0",
                "domain": "test",
                "capabilities": ["validate", "simulate", "prepare"],
                "artifact_types": ["text"],
            }
        }
    if method == "prepare":
        if behaviour == "cannot":
            return envelope | {"status": "error", "error": NO_PACKAGE}
        return envelope | {"result": PREPARED | {"is_reused": behaviour == "reused"}}
    if behaviour == "slow":
        time.sleep(0.3)
    failed = {"artifact": "tests/a.txt", "severity": "blocking", "category": "test_failure", "message": "no"}
    return envelope | {"status": "failure", "diagnostics": [failed], "result": REPORT}


def main() -> None:
    """Answer one connection after another until the process is ended."""
    behaviour, path = sys.argv[1], sys.argv[sys.argv.index("--socket") + 1]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen()
        while True:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines:
                for line in lines:
                    connection.sendall(json.dumps(answer(behaviour, json.loads(line))).encode() + b"\n")


if __name__ == "__main__":
    main()
