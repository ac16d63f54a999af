"""A package of the lock has a known weakness, or whoever would know it is not there or answers nonsense."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.limits import ENDS_WITHIN_S

ROOT = Path(__file__).parents[2]
HASH = f"    --hash=sha256:{'a' * 64}"
LOCK = f"click==8.1.0 \\\n{HASH}\n    # via shop\njinja2==3.0.0 \\\n{HASH}\n    # via shop\n"
NOWHERE = "http://127.0.0.1:9"
QUERIES = [{"package": {"purl": "pkg:pypi/click@8.1.0"}}, {"package": {"purl": "pkg:pypi/jinja2@3.0.0"}}]


class Source:
    """A server of advisories on this machine."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        """Path -> what is sent, as JSON or as bytes; a number is the status of an error."""
        self.asked: list[tuple[str, Any]] = []
        self.url = ""

    @contextmanager
    def open(self) -> Iterator["Source"]:
        source = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                source.asked.append((self.path, json.loads(self.rfile.read(length)) if length else None))
                answer = source.answers.get(self.path, 404)
                body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(answer if isinstance(answer, int) else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815 - so the base class wants it

            def log_message(self, *_: object) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            self.url = f"http://127.0.0.1:{server.server_port}"
            thread = Thread(target=server.serve_forever, daemon=True)
            thread.start()
            yield self
            server.shutdown()
            thread.join(ENDS_WITHIN_S)


def audit(folder: Path, *options: str, lock: str = LOCK) -> tuple[int, list[str]]:
    path = folder / "requirements.lock"
    path.write_text(lock, "utf-8")
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "audit"), "--lock", str(path), *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=ENDS_WITHIN_S,
        env={"PATH": "/usr/bin:/bin", "NO_PROXY": "*"},
    )
    assert "Traceback" not in done.stderr
    return done.returncode, (done.stdout or done.stderr).splitlines()


def test_one_request_asks_about_all_packages_and_names_what_is_known(tmp_path: Path) -> None:
    found = {"results": [{}, {"vulns": [{"id": "PYSEC-2", "modified": "x"}, {"id": "GHSA-1"}]}]}
    with Source({"/v1/querybatch": found}).open() as osv:
        code, told = audit(tmp_path, "--osv", osv.url, "--pypi", NOWHERE)

    assert osv.asked == [("/v1/querybatch", {"queries": QUERIES})]
    assert (code, told) == (
        1,
        [
            "jinja2==3.0.0: GHSA-1, PYSEC-2",
            f"2 of 2 packages were looked up at {osv.url}; 2 advisories are known.",
        ],
    )


def test_a_lock_without_known_weaknesses_passes(tmp_path: Path) -> None:
    with Source({"/v1/querybatch": {"results": [{}, {}]}}).open() as osv:
        assert audit(tmp_path, "--osv", osv.url) == (
            0,
            [f"2 of 2 packages were looked up at {osv.url}; 0 advisories are known."],
        )


def test_where_the_first_source_is_out_of_reach_the_second_is_asked(tmp_path: Path) -> None:
    known = [{"id": "PYSEC-1", "withdrawn": None}, {"id": "PYSEC-0", "withdrawn": "2026-01-01T00:00:00Z"}]
    answers = {
        "/pypi/click/8.1.0/json": {"vulnerabilities": known},
        "/pypi/jinja2/3.0.0/json": {"vulnerabilities": []},
    }
    with Source(answers).open() as pypi:
        code, told = audit(tmp_path, "--osv", NOWHERE, "--pypi", pypi.url)

    assert (code, told[0], told[-1]) == (
        1,
        "click==8.1.0: PYSEC-1",
        f"2 of 2 packages were looked up at {pypi.url}; 1 advisories are known.",
    )
    assert told[1].startswith(f"not asked: {NOWHERE}: it cannot be reached (")


def test_a_package_that_could_not_be_looked_up_is_never_called_clean(tmp_path: Path) -> None:
    with Source({"/pypi/click/8.1.0/json": {"vulnerabilities": []}}).open() as pypi:
        code, told = audit(tmp_path, "--osv", NOWHERE, "--pypi", pypi.url)

    assert code == 75
    assert told[1:] == [
        f"not asked: {pypi.url}, jinja2==3.0.0: it answers 404",
        f"1 of 2 packages were looked up at {pypi.url}; 0 advisories are known, and nothing of 1 packages.",
    ]


def test_without_any_source_nothing_is_claimed(tmp_path: Path) -> None:
    code, told = audit(tmp_path, "--osv", NOWHERE, "--pypi", NOWHERE)

    assert (code, told[-1]) == (
        75,
        "No source of advisories could be reached: nothing is known of 2 packages.",
    )


@pytest.mark.parametrize(
    "answer",
    [
        b"not json",
        b"[" * 100_000,
        {"results": [{}]},
        {"results": [{}, {"vulns": "none"}]},
        {"results": [{}, []]},
        {"results": None},
        [],
        503,
    ],
    ids=["no JSON", "deep", "too few", "no list", "no object", "null", "a list", "an error"],
)
def test_an_answer_that_cannot_be_read_is_no_clean_bill(answer: object, tmp_path: Path) -> None:
    with Source({"/v1/querybatch": answer}).open() as osv:
        code, told = audit(tmp_path, "--osv", osv.url, "--pypi", NOWHERE)

    assert (code, told[0].startswith(f"not asked: {osv.url}: ")) == (75, True)


def test_names_of_advisories_cannot_command_the_runner(tmp_path: Path) -> None:
    found = {"results": [{"vulns": [{"id": "x\n::set-output name=a::b\x1b[31m"}]}, {}]}
    with Source({"/v1/querybatch": found}).open() as osv:
        _, told = audit(tmp_path, "--osv", osv.url)

    assert told[0] == "click==8.1.0: x???set-output name?a??b??31m"


def test_nobody_off_this_machine_is_asked_without_tls(tmp_path: Path) -> None:
    code, told = audit(tmp_path, "--osv", "http://osv.example", "--pypi", "http://pypi.example")

    assert (code, told[0]) == (75, "not asked: http://osv.example: only https is asked off this machine")


@pytest.mark.parametrize(
    ("lock", "why"),
    [("", "pins no package"), ("click==8.1.0\n", "has packages without a hash: click==8.1.0")],
)
def test_a_lock_that_pins_too_little_is_refused(lock: str, why: str, tmp_path: Path) -> None:
    code, (told,) = audit(tmp_path, "--osv", NOWHERE, lock=lock)

    assert (code, why in told) == (2, True)


def test_ci_fails_for_what_is_found_and_not_for_want_of_a_network() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")

    assert re.findall(r"run: (.*scripts/audit.*)", text) == ["./scripts/audit || [ $? -eq 75 ]"]
