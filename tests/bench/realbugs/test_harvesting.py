"""The bugs between two releases are found by running the newer tests on parts of the difference; the tests are really run."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from cogworks.domain_services.exploring import Signature, Signatures
from scripts.benchmarks.realbugs.harvesting import Harvest, harvested, steps
from scripts.benchmarks.realbugs.hunks import Sides, hunks_between
from scripts.benchmarks.realbugs.plainruns import plain_suite
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


def laid_out(folder: Path, shop: str, tests: str = TESTS) -> Path:
    (folder / "tests").mkdir(parents=True)
    (folder / "shop.py").write_text(shop)
    (folder / "tests" / "test_shop.py").write_text(tests)
    return folder


def pair_of(folder: Path, older: str, newer: str) -> Opened:
    sides = Sides({"shop.py": older}, {"shop.py": newer})
    roots = laid_out(folder / "older", older), laid_out(folder / "newer", newer)
    return Opened(*roots, sides, hunks_between(sides))


def signatures(sources: Mapping[str, str], paths: Iterable[str]) -> Signatures:
    """As far as it matters here: the parameters of `name`."""
    assert list(paths) == ["shop.py"]
    names = ("text", "last") if "last" in sources["shop.py"] else ("text",)
    found = Signature(
        id="shop.name", kind="function", artifact="shop.py", line=11, positional=names, with_default=names[1:]
    )
    return Signatures(signatures=(found,))


def harvest_of(pair: Opened, folder: Path) -> Harvest:
    tree = pair.lay_out({}, folder / "tree")
    with plain_suite(tree, folder / "environments") as suite:
        return harvested("shop-1-2", pair, suite, signatures, lambda _: None)


@pytest.mark.timeout(300)
def test_each_smallest_set_that_turns_tests_green_is_a_bug_and_what_does_not_count_is_told(
    tmp_path: Path,
) -> None:
    pair = pair_of(tmp_path, OLDER, NEWER)

    found = harvest_of(pair, tmp_path)

    assert (found.tests, found.failing) == (6, 5)
    assert sorted((bug.tests, len(bug.hunks)) for bug in found.bugs) == [
        (("tests/test_shop.py::test_count",), 1),
        (("tests/test_shop.py::test_half",), 2),
        (("tests/test_shop.py::test_total",), 1),
    ]
    assert {each.what: each.reason for each in found.excluded} == {
        "tests/test_shop.py::test_version": "changes nothing but the version",
        "tests/test_shop.py::test_name": "changes a public signature: shop.name: has further parameters",
    }
    for bug in found.bugs:
        *_, (_, _, after) = steps(bug, pair)
        assert after == pair.sources(bug.hunks)


def test_a_pair_without_a_failing_test_gives_nothing(tmp_path: Path) -> None:
    found = harvest_of(pair_of(tmp_path, NEWER, NEWER.replace("# A share.", "# Half.")), tmp_path)

    assert found.bugs == ()
    assert [each.reason for each in found.excluded] == [
        "no test of the newer release fails on the older sources"
    ]


def test_a_pair_with_a_source_of_one_side_alone_is_not_looked_into(tmp_path: Path) -> None:
    pair = pair_of(tmp_path, OLDER, NEWER)
    odd = Opened(
        pair.older, pair.newer, Sides({**pair.sides.older, "gone.py": ""}, pair.sides.newer), pair.hunks
    )

    found = harvest_of(odd, tmp_path)

    assert [each.reason for each in found.excluded] == ["sources are new or gone: gone.py"]
