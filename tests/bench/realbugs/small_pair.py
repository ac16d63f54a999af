"""A pair of releases small enough for tests: four faults, a new parameter and a new version."""

from pathlib import Path

from scripts.benchmarks.realbugs.hunks import Sides, hunks_between
from scripts.benchmarks.realbugs.sources import Opened

OLDER = """\
__version__ = "1"


def total(prices):
    return sum(prices) - 1


def count(prices):
    return len(prices) + 1


def name(text):
    return text.title()


def half(amount):
    return amount


def rate():
    return 2
"""
NEWER = (
    OLDER.replace('"1"', '"2"')
    .replace("(prices) - 1", "(prices)")
    .replace("+ 1", "")
    .replace("def name(text):\n    return text", "def name(text, last=''):\n    return (text + last)")
    .replace("return amount", "return amount * rate()")
    .replace("return 2", "# A share.\n    return 0.5")
)
TESTS = """\
import shop


def test_version():
    assert shop.__version__ == "2"


def test_total():
    assert shop.total([1]) == 1


def test_count():
    assert shop.count([1]) == 1


def test_name():
    assert shop.name("a", "b") == "Ab"


def test_half():
    assert shop.half(4) == 2


def test_rate():
    assert shop.rate() in (0.5, 2)
"""


def laid_out(folder: Path, shop: str, tests: str) -> Path:
    (folder / "tests").mkdir(parents=True)
    (folder / "shop.py").write_text(shop)
    (folder / "tests" / "test_shop.py").write_text(tests)
    return folder


def pair_of(folder: Path, older: str, newer: str, tests: str = TESTS) -> Opened:
    """Both releases with the same tests."""
    sides = Sides({"shop.py": older}, {"shop.py": newer})
    roots = laid_out(folder / "older", older, tests), laid_out(folder / "newer", newer, tests)
    return Opened(*roots, sides, hunks_between(sides))
