"""The bugs between two releases are found by running the newer tests on parts of the difference; the tests are really run."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from cogworks.domain_services.exploring import Signature, Signatures
from scripts.benchmarks.realbugs.harvesting import Harvest, harvested, steps
from scripts.benchmarks.realbugs.hunks import Sides
from scripts.benchmarks.realbugs.plainruns import plain_suite
from scripts.benchmarks.realbugs.sources import Opened
from tests.bench.realbugs.small_pair import NEWER, OLDER, pair_of

pytestmark = pytest.mark.slow


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


@pytest.mark.timeout(300)
def test_a_piece_that_breaks_a_test_by_itself_is_joined_with_the_next(tmp_path: Path) -> None:
    older = "def one():\n    return 1\n\n\ndef two():\n    return one() * 2\n"
    newer = older.replace("return 1", "return 2").replace("one() * 2", "one()")
    tests = (
        "import shop\n\n\ndef test_one():\n    assert shop.one() == 2\n\n\n"
        "def test_two():\n    assert shop.two() == 2\n\n\n"
        "def test_both():\n    assert (shop.one(), shop.two()) == (2, 2)\n"
    )

    found = harvest_of(pair_of(tmp_path, older, newer, tests), tmp_path)

    assert [[(len(piece.hunks), len(piece.tests)) for piece in bug.pieces] for bug in found.bugs] == [
        [(2, 2)]
    ]


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
