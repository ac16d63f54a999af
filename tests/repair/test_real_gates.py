"""Transactions whose gates are real: pytest in another process in isolation, Python's own compiler."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from cogworks.codebase.diffmodel import Diff, render
from cogworks.codebase.diffplacing import between
from cogworks.domain_services.messages import Diagnostic, TestReport
from cogworks.repair.transact.gates import Limits, Selection
from cogworks.repair.transact.outcomes import Result, Terms
from cogworks.repair.transact.transaction import TransactionPorts, transact
from cogworks.repair.violations import Reading, Step
from cogworks.services.python.syntax import syntax_problems
from cogworks.services.python.testrun import run_tests
from cogworks.services.python.wanted import Wanted
from cogworks.services.sandbox.probing import strongest
from cogworks.vocabulary import CommitOid, RunId
from tests.codebase.repositories import git
from tests.repair.benches import make_worktree, on_disk, patch_tree

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SHOP = "def total(prices):\n    result = 0\n    for price in prices:\n        result -= price\n    return result\n"
FILES = {
    "shop.py": SHOP + "\n\ndef count(prices):\n    return len(prices)\n",
    "tests/test_shop.py": (
        "import pytest\nfrom shop import count, total\n\n\n"
        '@pytest.mark.parametrize("prices", [[1, 2], [3]], ids=["a-b", "c"])\n'
        "def test_total(prices):\n    assert total(prices) == sum(prices)\n\n\n"
        "def test_count():\n    assert count([1]) == 1\n"
    ),
    "tests/other/test_shop.py": "def test_total():\n    raise SystemExit('not to be run')\n",
    ".gitignore": "*.log\ncache/\n",
}
TARGET = "tests/test_shop.py::test_total[a-b]"


class RealChecks:
    """The Python service's own work, without the service around it; obeys `cogworks.repair.transact.transaction.Checks`."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree

    def static(self, paths: Sequence[str]) -> Sequence[Diagnostic]:
        return [
            found
            for path in paths
            if path.endswith(".py")
            for found in syntax_problems(path, (self._tree / path).read_bytes())
        ]

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport:
        isolation = strongest(os.environ["PATH"])
        wanted = Wanted(tests=tests, timeout_s=timeout_s)
        return run_tests(self._tree, wanted, isolation=isolation, search_path=os.environ["PATH"])

    def read(self, images: Mapping[str, str | None]) -> Reading:
        syntax = [
            found
            for path, text in images.items()
            if text is not None and path.endswith(".py")
            for found in syntax_problems(path, text.encode())
        ]
        return Reading(syntax=tuple(syntax))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_worktree(tmp_path, FILES)


def tried(tree: Path, new: str, *, limit_s: float = 60.0, **selection: object) -> Result:
    selected = Selection(targeted=(TARGET,), regression=("tests/test_shop.py::test_count",), is_last=True)
    terms = Terms(
        run=RunId("r"),
        sub_item="A",
        step=Step(id="fix-total", files=("shop.py",)),
        selection=selected.model_copy(update=selection),
        base=CommitOid(git(tree, "rev-parse", "main")),
        limits=Limits(targeted_s=limit_s),
    )
    diff = render(Diff(files=(between("shop.py", FILES["shop.py"], new),)))
    return transact(diff, terms, TransactionPorts(patch_tree(tree), RealChecks(tree)))


def test_the_exact_test_is_run_and_its_repair_is_kept(tree: Path) -> None:
    result = tried(tree, FILES["shop.py"].replace("-=", "+="))

    assert result.is_kept, result.reasons
    assert result.before is not None
    assert result.after is not None
    assert result.before.failing == {TARGET}
    assert result.after.passing == {TARGET, "tests/test_shop.py::test_count"}
    assert git(tree, "status", "--porcelain", "--ignored").splitlines() == ["!! cache/", "!! old.log"]


@pytest.mark.parametrize(
    ("old", "new", "code", "reason"),
    [
        ("result -= price", "result += price; ]", "rejected", "syntax: shop.py:4"),
        ("len(prices)", "len(prices) + 1", "gate_targeted", TARGET),
    ],
    ids=["syntax error", "no repair"],
)
def test_what_real_gates_stop_leaves_no_trace(tree: Path, old: str, new: str, code: str, reason: str) -> None:
    before = on_disk(tree)

    result = tried(tree, FILES["shop.py"].replace(old, new))

    assert result.code == code
    assert any(reason in each for each in result.reasons), result.reasons
    assert on_disk(tree) == before


def test_an_unrelated_test_that_breaks_is_named(tree: Path) -> None:
    both = FILES["shop.py"].replace("-=", "+=").replace("len(prices)", "0")

    result = tried(tree, both)

    assert result.code == "gate_regression"
    assert result.reasons == ("breaks tests/test_shop.py::test_count",)


def test_an_endless_loop_is_ended_and_undone(tree: Path) -> None:
    before = on_disk(tree)
    loop = FILES["shop.py"].replace("result -= price", "continue\n    while True:\n        result += 0")

    result = tried(tree, loop, limit_s=8)

    assert (result.code, result.reasons) == ("gate_targeted", ("the tests did not finish within 8 s",))
    assert on_disk(tree) == before


def test_a_test_that_is_not_there_proves_nothing(tree: Path) -> None:
    result = tried(tree, FILES["shop.py"].replace("-=", "+="), targeted=("tests/test_shop.py::test_gone",))

    assert result.code == "gate_targeted"
