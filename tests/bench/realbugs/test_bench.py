"""A few of the real bugs, from the index to the verdict; the whole benchmark is `./scripts/bench realbugs`."""

from collections import Counter
from pathlib import Path

import pytest

from scripts.benchmarks.realbugs.bench import RELEASES, harvest, pairs, play
from scripts.benchmarks.realbugs.keeping import harvests_in
from scripts.benchmarks.realbugs.report import is_met, report

DOCUMENT = Path(__file__).parents[3] / "docs" / "benchmarks" / "real-bugs.md"
NAMED = pairs(RELEASES.read_text(encoding="utf-8"))
CHEAP = ("xmltodict-1.0.0-1.0.1", "parse-1.20.2-1.21.0")


def test_at_most_fifteen_packages_are_named_and_every_release_by_its_hash() -> None:
    assert len({pair.newer.name for pair in NAMED}) <= 15
    assert all(len(release.sha256) == 64 for pair in NAMED for release in pair)
    assert max(Counter(pair.name for pair in NAMED).values()) == 1


def test_every_pair_is_in_the_published_results() -> None:
    published = DOCUMENT.read_text(encoding="utf-8")

    assert [pair.name for pair in NAMED if f"| {pair.name} |" not in published] == []


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_true_fix_of_a_real_bug_is_kept_and_nothing_else(tmp_path: Path) -> None:
    cheap = [pair for pair in NAMED if pair.name in CHEAP]

    found = harvest(cheap, tmp_path)
    bugs = play(cheap, tmp_path)

    print(report(found, bugs))  # noqa: T201  # the tables that `-s` shows
    assert {each.pair: len(each.bugs) for each in found} == {CHEAP[0]: 2, CHEAP[1]: 1}
    assert is_met(bugs)
    assert {kind for each in bugs for kind in each.kept} == {"fix"}
    assert {kind for each in bugs for kind in each.offered} >= {
        "fix",
        "mutant",
        "test-deleting",
        "path-escaping",
    }


def test_what_was_found_and_played_before_is_not_done_again(tmp_path: Path) -> None:
    pair = NAMED[0]
    kept = harvests_in(tmp_path) / f"{pair.name}.json"
    kept.write_text(f'{{"pair": "{pair.name}", "tests": 7}}', encoding="utf-8")

    assert [each.tests for each in harvest([pair], tmp_path)] == [7]
    assert play([pair], tmp_path) == []
