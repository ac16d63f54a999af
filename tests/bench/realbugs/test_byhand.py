"""The plain loop that a repair is compared with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cogworks.codebase.diffmodel import Diff, render
from cogworks.codebase.diffplacing import between
from scripts.benchmarks.realbugs.byhand import by_hand
from scripts.benchmarks.realbugs.offers import Kind, Offer
from tests.limits import ENDS_WITHIN_S

BUG, WRONG, FIX = (f"def total(a, b):\n    return a {sign} b\n" for sign in "-*+")
TESTS = "from shop import total\n\n\ndef test_total():\n    assert total(2, 3) == 5\n"


def offer(kind: Kind, before: str, after: str) -> Offer:
    return Offer(kind=kind, diff=render(Diff(files=(between("shop.py", before, after),))))


@pytest.mark.slow
def test_each_offer_that_applies_is_one_run_until_the_fix_of_each_piece_is_there(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(BUG)
    (tmp_path / "test_shop.py").write_text(TESTS)
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "a"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True, timeout=ENDS_WITHIN_S)
    later = f"{FIX}# done\n"
    stock = [
        [offer("mutant", BUG, WRONG), offer("non-applying", FIX, WRONG), offer("fix", BUG, FIX)],
        [offer("fix", FIX, later), offer("mutant", FIX, WRONG)],
    ]

    found = by_hand(tmp_path, stock, Path(sys.executable), os.environ)

    # As it is, the mutant, and two fixes.
    assert found.runs == 4
    assert (tmp_path / "shop.py").read_text() == later
    assert found.spent.processor_s > 0
