"""Code under test writes into the report of its own run: what it says there counts for nothing."""

from pathlib import Path

import pytest

from cogworks.services.python.testrun import run_tests
from cogworks.services.python.wanted import Wanted
from tests.services.asking import HERE, laid_out

# Each runs pytest.
pytestmark = pytest.mark.slow

HONEST = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
WRONG = "def total(prices):\n    return 0\n"
FINDS = """
import json
import os
import stat


def report():
    for number in range(3, 64):
        try:
            found = os.fstat(number)
            held = os.pread(number, 100, 0)
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode) and held.startswith(b"{"):
            return number
    raise LookupError("no report is open")


def line(**record):
    return (json.dumps(record) + "\\n").encode()


TEST = "tests/test_shop.py::test_total"
PASSED = line(kind="start", id=TEST)
PASSED += b"".join(line(kind="phase", id=TEST, when=each, outcome="passed", text="") for each in ("setup", "call", "teardown"))
PASSED += line(kind="finish", id=TEST)
"""
APPENDS = f"""{FINDS}

def total(prices):
    os.write(report(), PASSED + line(kind="end", code=0))
    os._exit(0)
"""
REPLACES = f"""{FINDS}

def total(prices):
    number = report()
    os.ftruncate(number, 0)
    os.pwrite(number, PASSED + line(kind="end", code=0), 0)
    os._exit(0)
"""
LEAVES_OUT = f"""{FINDS}
import atexit


def amend():
    number = report()
    held = os.pread(number, 1_000_000, 0)
    kept = [each for each in held.splitlines(True) if b'"call"' not in each]
    os.ftruncate(number, 0)
    os.pwrite(number, b"".join(kept), 0)
    os._exit(0)


def total(prices):
    atexit.register(amend)
    return 0
"""
AT_IMPORT = f"""{FINDS}
number = report()
os.write(number, PASSED + line(kind="end", code=0))
os._exit(0)
"""


def passes(folder: Path, files: dict[str, str]) -> list[str]:
    report = run_tests(laid_out(folder, files), Wanted(), isolation=HERE, search_path="/usr/bin:/bin")
    return [case.id for case in report.cases if case.outcome == "passed"]


def test_an_honest_run_is_believed(tmp_path: Path) -> None:
    right = WRONG.replace("0", "sum(prices)")

    assert passes(tmp_path, {"shop.py": right, "tests/test_shop.py": HONEST}) == [
        "tests/test_shop.py::test_total"
    ]


@pytest.mark.parametrize(
    "code", [APPENDS, REPLACES, LEAVES_OUT, AT_IMPORT], ids=["appends", "replaces", "leaves-out", "at-import"]
)
def test_a_forged_result_is_none(code: str, tmp_path: Path) -> None:
    assert passes(tmp_path, {"shop.py": code, "tests/test_shop.py": HONEST}) == []
