"""A domain service that is in order, or broken in the one way its first argument says; standard library only."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

METHODS = ["validate", "normalise", "simulate"]
KNOWN = {*METHODS, "handshake"}
HANDSHAKE: dict[str, Any] = {
    "name": "scripted",
    "service_version": "0.1",
    "api_version": "1.0",
    "domain": "test",
    "capabilities": METHODS,
    "artifact_types": ["text"],
}
HANDSHAKES: dict[str, dict[str, Any]] = {
    "wrong-version": HANDSHAKE | {"api_version": "2.0"},
    "no-simulate": HANDSHAKE | {"capabilities": ["validate"]},
    "odd-handshake": {"name": "x"},
    "with-rules": HANDSHAKE | {"capabilities": [*METHODS, "review_rules"], "artifact_types": ["rule"]},
    "only-text": HANDSHAKE | {"artifact_patterns": ["*.txt"]},
    "deaf-to-commands": HANDSHAKE | {"test_commands": True},
    "ungrouped": HANDSHAKE | {"test_groups": True},
    "no-walls": HANDSHAKE | {"domain": "other"},
    "rootless": HANDSHAKE | {"artifact_types": ["picture"], "artifact_patterns": ["*.png"]},
    "only-pictures": HANDSHAKE | {"artifact_types": ["picture"], "artifact_patterns": ["*.png"]},
}
BLOCKING = {"artifact": "a", "severity": "blocking", "category": "type_error", "message": "m"}
PASSED: dict[str, Any] = {
    "cases": [{"id": "a.txt::works", "outcome": "passed"}],
    "commands": ["try a.txt"],
    "versions": {"try": "1"},
}
FAILED: dict[str, Any] = {"cases": [{"id": "a.txt::fails", "outcome": "failed"}]}
UNWALLED = {"blocked": ["t: tried to read /key"], "unprotected": ["reach the network"]}
CHANGES: dict[str, dict[str, Any]] = {
    "rootless": {"result": {"cases": [{"id": ".::npm run check", "outcome": "passed"}]}},
    "no-walls": {"result": PASSED | UNWALLED},
    "wrong-id": {"request_id": "other"},
    "contradiction": {"status": "success", "diagnostics": [BLOCKING]},
    "unfounded-failure": {"status": "failure", "diagnostics": []},
    "unknown-category": {"diagnostics": [BLOCKING | {"category": "novelty"}], "status": "failure"},
    "looked-at-nothing": {"metadata": {"counts": {"artifacts": 0}}},
    "schema": {"status": "splendid"},
    "wrong-type": {"metadata": {"duration_ms": "12"}},
    "bare-error": {"status": "error"},
    "error": {"status": "error", "error": {"code": "tool_failed", "message": "no compiler"}},
    "error-and-success": {"error": {"code": "tool_failed", "message": "no compiler"}},
    "recoverable": {
        "status": "error",
        "error": {"code": "tool_failed", "message": "no compiler", "recoverable": True},
    },
    "ungrouped": {"result": {"cases": [*FAILED["cases"], *PASSED["cases"]]}},
    "bad-report": {"result": {"cases": [{"id": "t"}]}},
    "no-tests": {"result": {"cases": []}, "status": "success", "diagnostics": []},
}
BYTES = {
    "close": b"",
    "break-off": b'{"request_id": "',
    "oversized": b'{"x": "' + b"a" * (16 * 1024 * 1024) + b'"}\n',
    "not-utf-8": b"\xff\xfe\n",
    "not-json": b"hello\n",
}
LENIENT = {
    "knows-everything": "unsupported_method",
    "with-rules": "unsupported_method",
    "any-version": "api_version_mismatch",
    "any-parameters": "invalid_request",
    "any-repository": "artifact_not_found",
}
"""Behaviour -> the refusal it does not know."""


class Service:
    def __init__(self, behaviour: str, journal: Path) -> None:
        self.behaviour = behaviour
        self.journal = journal
        self.turn = threading.Lock()
        self.owed = b""

    def reply(self, line: bytes) -> bytes:
        """The bytes that go back for one line."""
        try:
            request = json.loads(line)
            method = request["method"]
            request["request_id"]
        except (ValueError, TypeError, KeyError):
            if self.behaviour == "dies-of-nonsense":
                os._exit(3)
            return encoded(refusal({"request_id": ""}, "invalid_request"))
        with self.journal.open("a") as file:
            file.write(f"{method}\n")
        code = refused(request)
        if code is not None and code != LENIENT.get(self.behaviour):
            if self.behaviour == "free-text":
                return encoded({"request_id": request["request_id"], "status": f"sorry: {code}"})
            return encoded(refusal(request, code))
        if method == "handshake":
            return encoded(self.greeting(request))
        return self.misbehaved(request)

    def greeting(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.behaviour == "hangs-at-handshake":
            time.sleep(600)
        result = HANDSHAKES.get(self.behaviour, HANDSHAKE)
        if self.behaviour == "fickle":
            result = HANDSHAKE | {"service_version": str(time.monotonic_ns())}
        return {"request_id": request["request_id"], "status": "success", "result": result}

    def misbehaved(self, request: dict[str, Any]) -> bytes:
        if self.behaviour == "hang":
            time.sleep(600)
        asked = self.journal.read_text().split().count(request["method"])
        if self.behaviour == "crash" or (self.behaviour == "crash-once" and asked == 1):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.behaviour in BYTES:
            return BYTES[self.behaviour]
        if self.behaviour == "partial" and request["method"] == "simulate":
            return encoded(refusal(request, "unsupported_method"))
        response = judged(request, blind=self.behaviour == "blind")
        if self.behaviour == "tells-its-limit" and "timeout_s" in request["params"]:
            response["result"] = PASSED | {"commands": [f"for {request['params']['timeout_s']} s"]}
        if self.behaviour == "ignores-contracts":
            response["constraint_results"] = []
        line = encoded(response | CHANGES.get(self.behaviour, {}))
        return line * 2 if self.behaviour == "two-answers" else line

    def converse(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines:
            while line := lines.readline():
                with self.turn:
                    reply, self.owed = self.owed + self.reply(line), b""
                    if self.behaviour == "late-reply" and b'"handshake"' not in line:
                        # Too slow for this caller, so the next one gets it.
                        self.owed, reply = reply, b""
                        time.sleep(0.6)
                        return
                try:
                    connection.sendall(reply)
                except OSError:
                    return
                if not reply.endswith(b"\n"):
                    return

    def shuffle(self, connection: socket.socket) -> None:
        """Answer whatever came together, the last first."""
        with connection:
            time.sleep(0.1)
            lines = connection.recv(65536).splitlines(keepends=True)
            connection.sendall(b"".join(self.reply(line) for line in reversed(lines)))


def refused(request: dict[str, Any]) -> str | None:
    """The error a request deserves."""
    if not str(request.get("api_version", "1.0")).startswith("1."):
        return "api_version_mismatch"
    if request["method"] not in KNOWN:
        return "unsupported_method"
    if request["method"] == "handshake":
        return None
    params = request.get("params", {})
    if not all(isinstance(params.get(key, []), list) for key in ("artifacts", "tests")):
        return "invalid_request"
    return (
        None if Path((request.get("repository") or {}).get("path", "/no")).is_dir() else "artifact_not_found"
    )


def formatted(artifact: str) -> dict[str, Any]:
    """Only files whose name says so are not in order."""
    rough = "rough" in artifact
    return {"artifact": artifact, "changed": rough, **({"content": "formatted\n"} if rough else {})}


def judged(request: dict[str, Any], *, blind: bool) -> dict[str, Any]:
    """The response of a service in order."""
    params = request.get("params", {})
    artifacts, tests = (
        params[key] if isinstance(params.get(key), list) else [] for key in ("artifacts", "tests")
    )
    bad = not blind and ("broken.txt" in artifacts or "a.txt::fails" in tests)
    result: dict[str, Any] = {}
    if request["method"] == "simulate":
        result = FAILED if bad else PASSED
    if request["method"] == "normalise":
        result = {"files": [formatted(each) for each in artifacts]}
    return {
        "request_id": request["request_id"],
        "status": "failure" if bad else "success",
        "result": result,
        "diagnostics": [BLOCKING] if bad else [],
        "constraint_results": [
            {"contract": each["id"], "status": "not_checked"}
            for each in request.get("interface_contracts", [])
        ],
        "metadata": {"counts": {"artifacts": len(artifacts)}},
    }


def refusal(request: dict[str, Any], code: str) -> dict[str, Any]:
    error = {"code": code, "message": code.replace("_", " ")}
    return {"request_id": request["request_id"], "status": "error", "error": error}


def encoded(response: dict[str, Any]) -> bytes:
    return json.dumps(response).encode() + b"\n"


def main() -> None:
    behaviour, journal, path = sys.argv[1], Path(sys.argv[2]), sys.argv[4]
    if behaviour == "not-starting":
        sys.exit("no licence")
    if behaviour == "talks-much":
        sys.exit("".join(f"frame {number} of a long traceback\n" for number in range(400)))
    if behaviour == "immortal":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if behaviour == "leaves-a-child":
        child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
        subprocess.Popen([sys.executable, "-S", "-c", child])
        time.sleep(0.3)
    service = Service(behaviour, journal)
    os.umask(0 if behaviour == "open-door" else 0o177)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        os.umask(0o022)
        listener.listen()
        while True:
            connection, _ = listener.accept()
            if behaviour == "one-at-a-time":
                service.converse(connection)
            elif behaviour == "out-of-order":
                service.shuffle(connection)
            else:
                threading.Thread(target=service.converse, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()
