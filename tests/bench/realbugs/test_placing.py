"""Where the place of a bug is given, rules and transactions alone keep the fix and nothing else; services and tests are real."""

import subprocess
from pathlib import Path

import pytest

from cogworks.settings.config import read_environment
from scripts.benchmarks.realbugs.offers import Step, offers
from scripts.benchmarks.realbugs.placing import tried_in_place
from scripts.benchmarks.realbugs.selection import Bug, Piece
from tests.bench.realbugs.small_pair import NEWER, OLDER, TESTS, pair_of
from tests.codebase.repositories import ENVIRONMENT, git
from tests.limits import LONG_RUN_ENDS_WITHIN_S

TARGET = "tests/test_shop.py::test_total"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_of_all_that_is_offered_at_the_place_only_the_fix_is_kept(tmp_path: Path) -> None:
    pair = pair_of(tmp_path, OLDER, NEWER)
    (number,) = [each for each, hunk in enumerate(pair.hunks) if "- 1" in "".join(hunk.removed)]
    bug = Bug(id="shop-1-2-1", pieces=(Piece(hunks=(number,), tests=(TARGET,)),))
    step = Step(pair.sides.older, pair.sources({number}), {"tests/test_shop.py": TESTS}, (TARGET,))
    stock = [offers(step, seed="a", most_mutants=3)]
    tree = pair.lay_out(pair.sides.older, tmp_path / "tree")
    git(tree, "init", "--quiet")
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "the older release")
    environment = read_environment({"COGWORKS_WORK_DIR": str(tmp_path / "work"), "HOME": str(tmp_path)})

    tried = tried_in_place(bug, pair.hunks, stock, tree, environment)

    assert [each.offer.kind for each in tried if each.result.is_kept] == ["fix"]
    assert tried[-1].result.is_kept
    assert (tree / "shop.py").read_text() == pair.sources({number})["shop.py"]
    changed = subprocess.run(
        ["git", "diff", "--name-only", "HEAD~1"],
        cwd=tree,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
        timeout=LONG_RUN_ENDS_WITHIN_S,
    )
    assert changed.stdout.split() == ["shop.py"]
