import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cogworks.codebase.diffmodel import Diff, render
from cogworks.codebase.diffplacing import between
from cogworks.domain_services.answers import Answer, NotOffered
from cogworks.domain_services.exploring import Beside, BesideParams, Coverage
from cogworks.domain_services.messages import Diagnostic, Metadata, TestCase, TestReport
from cogworks.domain_services.opening import BUNDLED, open_client
from cogworks.domain_services.panel import Member, ServicePanel
from cogworks.domain_services.transport import ServiceFailed
from cogworks.repair.consulting import Consulted, HasPath
from cogworks.repair.transact.gates import Selection
from cogworks.repair.transact.transaction import TransactionPorts, transact
from cogworks.repair.violations import Step
from cogworks.telling import unknown
from cogworks.vocabulary import Severity
from tests.fixing import make_shop
from tests.repair.benches import FILES, make_worktree, on_disk, patch_tree, terms


class Tree(NamedTuple):
    path: Path


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_shop(tmp_path)


@pytest.fixture
def consulted(shop: Path) -> Iterator[Consulted]:
    with ServicePanel([Member(open_client(BUNDLED, environment=os.environ))], warn=print) as panel:
        yield Consulted(Tree(shop), panel)


def test_signatures_and_syntax_are_read_before_and_after_without_touching_the_tree(
    consulted: Consulted, shop: Path
) -> None:
    before = (shop / "shop" / "cart.py").read_text()

    found = consulted.read(
        {"shop/cart.py": before.replace("def count(prices)", "def count(them)"), "shop/money.py": "def ("}
    )

    assert "shop.cart.count" in {each.id for each in found.before.signatures}
    after = {each.id: each for each in found.after.signatures}
    assert after["shop.cart.count"].positional == ("them",)
    assert [each.artifact for each in found.syntax] == ["shop/money.py"]
    assert (shop / "shop" / "cart.py").read_text() == before


def test_a_deleted_file_has_no_signatures_afterwards(consulted: Consulted) -> None:
    found = consulted.read({"shop/money.py": None})

    assert [each.id for each in found.before.signatures] == ["shop.money.rounded"]
    assert found.after.signatures == ()


def test_definitions_and_calls_are_those_of_the_service(consulted: Consulted) -> None:
    graph = consulted.call_graph(["tests/test_shop.py:6"], hops=2, most=40)
    index = consulted.index(["shop/money.py"])

    assert graph is not None
    assert {"shop.cart.total", "shop.money.rounded"} <= {node.symbol.id for node in graph.nodes}
    assert index is not None
    assert "shop.money.rounded" in {symbol.id for symbol in index.symbols}


@pytest.mark.parametrize("path", ["../shop/shop/cart.py", "/etc/passwd", "shop", "shop/none.py"])
def test_only_files_of_the_tree_are_read(consulted: Consulted, path: str) -> None:
    assert consulted.text(path) is None


def test_a_signal_that_a_service_fails_at_is_left_out_by_name(shop: Path) -> None:
    gone = BUNDLED.model_copy(
        update={"command": (sys.executable, "-c", "raise SystemExit(3)"), "attempts": 1}
    )
    said: list[str] = []

    with ServicePanel([Member(open_client(gone, environment=os.environ))], warn=print) as panel:
        consulted = Consulted(Tree(shop), panel, warn=said.append)
        found = consulted.coverage(timeout_s=1.0)
        with pytest.raises(ServiceFailed):
            consulted.static(["shop/cart.py"])

    assert found is None
    assert said[0].startswith("coverage was left out: service 'python' failed")


def test_what_a_linter_would_find_anew_is_told_and_stops_nothing(consulted: Consulted, shop: Path) -> None:
    before = (shop / "shop" / "cart.py").read_text()

    clean = consulted.read({"shop/cart.py": before.replace("result -= price", "result += price")})
    careless = consulted.read({"shop/cart.py": f"import os\n{before}"})

    assert clean.lint == ()
    assert {each.artifact for each in careless.lint} == {"shop/cart.py"}
    assert careless.syntax == ()


class OtherLanguages:
    """A service that knows Rust and finds fault with one name; obeys `Services`."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.signed = 0

    def validate(self, workspace: HasPath, paths: Sequence[str]) -> Sequence[Diagnostic]:
        self.asked.append(tuple(paths))
        return [
            Diagnostic(
                artifact=path,
                line=1,
                severity=Severity.BLOCKING,
                category="borrow_checker",
                message="value used after being moved",
            )
            for path in paths
            if "moved" in (workspace.path / path).read_text()
        ]

    def simulate(self, workspace: HasPath, tests: Sequence[str] = (), **times: float | None) -> TestReport:
        return TestReport(cases=(TestCase(id="cart::adds", outcome="failed"),))

    def simulate_groups(
        self, workspace: HasPath, groups: Sequence[Sequence[str]], **times: float | None
    ) -> None:
        return None

    def call(self, operation: object, workspace: HasPath, params: object) -> NotOffered:
        self.signed += 1
        return NotOffered(service="rust", method="signatures", offered=("validate",))


@pytest.mark.parametrize(
    ("path", "good", "bad"),
    [
        ("src/cart.rs", "fn total() -> i32 { 1 }\n", "fn total( -> i32 { 1 }\n"),
        (
            "src/cart.ts",
            "export const total = (a: number): number => a;\n",
            "export const total = (a: => a;\n",
        ),
        ("cart.go", "package cart\n\nfunc Total() int { return 1 }\n", "package cart\n\nfunc Total( int {\n"),
        ("Cart.java", "class Cart { int total() { return 1; } }\n", "class Cart { int total( { }\n"),
    ],
    ids=["rust", "typescript", "go", "java"],
)
def test_other_languages_are_read_by_their_grammar_and_judged_by_their_own_service(
    tmp_path: Path, path: str, good: str, bad: str
) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(good)
    services = OtherLanguages()
    consulted = Consulted(Tree(tmp_path), services)

    assert consulted.read({path: good.replace("otal", "otals")}).syntax == ()
    assert {each.artifact for each in consulted.read({path: bad}).syntax} == {path}
    assert [each.category for each in consulted.read({path: f"{good}// moved\n"}).lint] == ["borrow_checker"]
    assert consulted.static([path]) == ()
    (tmp_path / path).write_text(bad)
    assert {each.category for each in consulted.static([path])} == {"syntax_error"}
    # What cannot be read now either is not the change's fault.
    assert consulted.read({path: f"{bad}\n"}).syntax == ()
    assert set(services.asked) == {(path,)}


def test_the_worktree_is_judged_once_for_several_diffs_of_the_same_files(tmp_path: Path) -> None:
    (tmp_path / "cart.rs").write_text("fn total() {}\n")
    services = OtherLanguages()
    consulted = Consulted(Tree(tmp_path), services)

    for number in range(3):
        consulted.read({"cart.rs": f"fn total{number}() {{}}\n"})

    assert len(services.asked) == 4


def test_what_was_found_in_a_text_at_a_commit_is_not_looked_for_again(tmp_path: Path) -> None:
    old, new = "fn total() {}\n", "fn totals() {}\n"
    (tmp_path / "cart.rs").write_text(old)
    (tmp_path / "more.rs").write_text(old)
    services = OtherLanguages()

    class Standing(NamedTuple):
        path: Path
        commit: list[str]

        def stands_at(self) -> str:
            return self.commit[0]

    tree = Standing(tmp_path, ["one"])
    consulted = Consulted(tree, services)

    consulted.read({"cart.rs": f"{new}// moved\n"})
    consulted.read({"cart.rs": f"{new}// moved\n"})
    assert services.signed == 2
    assert consulted.static(["cart.rs"]) == ()
    (tmp_path / "cart.rs").write_text(f"{new}// moved\n")
    assert [each.category for each in consulted.static(["cart.rs"])] == ["borrow_checker"]
    assert len(services.asked) == 2
    # Other files around it, or one that goes, may make of the same text something else.
    consulted.read({"cart.rs": f"{new}// moved\n", "more.rs": None})
    tree.commit[0] = "two"
    consulted.static(["cart.rs"])
    assert len(services.asked) == 5
    asked = services.signed
    consulted.read({"cart.rs": f"{new}// moved\n"})
    assert services.signed == asked + 1


def test_a_patch_of_another_language_that_cannot_be_read_reaches_no_file(tmp_path: Path) -> None:
    tree = make_worktree(tmp_path, {**FILES, "cart.rs": "fn total() -> i32 {\n    1\n}\n"})
    ports = TransactionPorts(patch_tree(tree), Consulted(Tree(tree), OtherLanguages()))
    step = Step(id="fix", files=("cart.rs",))
    before = on_disk(tree)
    text = "fn total() -> i32 {\n    1\n}\n"
    broken = Diff(files=(between("cart.rs", text, text.replace("1", "(1")),))

    result = transact(render(broken), terms(tree, Selection(targeted=("cart::adds",)), step=step), ports)

    assert (result.code, [each.code for each in result.violations]) == ("rejected", ["syntax"])
    assert on_disk(tree) == before


class Quiet:
    """Services that run no test and offer nothing."""

    def call(self, *_: object) -> tuple[Answer[Any], ...] | NotOffered:
        return NotOffered(service="quiet", method="any", offered=())

    def validate(self, *_: object) -> Sequence[Diagnostic]:
        return ()

    def simulate(self, workspace: HasPath, tests: Sequence[str] = (), **times: float | None) -> TestReport:
        return TestReport(cases=())

    def simulate_groups(
        self, workspace: HasPath, groups: Sequence[Sequence[str]], **times: float | None
    ) -> None:
        return None


def test_whatever_runs_tests_tells_what_it_is_and_how_long_it_may_take(tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []

    @contextmanager
    def during(what: str, limit_s: float, so_far: Callable[[], str] = unknown, /) -> Iterator[None]:
        told.append((what, limit_s))
        yield

    consulted = Consulted(Tree(tmp_path), Quiet(), during=during)
    consulted.run((), timeout_s=600)
    consulted.run(("t.py::a", "t.py::b"), timeout_s=300)
    consulted.run_groups([["t.py::a"], ["t.py::b", "t.py::c"]], timeout_s=60)
    consulted.coverage(timeout_s=90)

    assert told == [
        ("making the environment, then running the suite", 1800 + 600),
        ("running 2 test(s)", 300),
        ("running 3 test(s)", 60),
        ("running the suite with coverage", 90),
    ]


class Careful(Quiet):
    """A service that does not try what it was asked to try."""

    def call(self, *_: object) -> tuple[Answer[Any], ...]:
        told = Beside(notes=("there is no isolation",))
        return (Answer("careful", "success", told, (), (), Metadata()),)


def test_what_could_not_be_tried_beside_the_tests_is_told(tmp_path: Path) -> None:
    said: list[str] = []
    consulted = Consulted(Tree(tmp_path), Careful(), warn=said.append)

    found = consulted.beside(BesideParams(tests=("t.py::a",), lines={"a.py": ((1, 1),)}))

    assert said == ["beside: there is no isolation"]
    assert found == Beside(notes=("there is no isolation",))


class Measuring(Quiet):
    """Two services: one could not load a file, the other one ran out of time."""

    def call(self, *_: object) -> tuple[Answer[Any], ...]:
        reports = (TestReport(cases=(), collection_errors=("a.py",)), TestReport(cases=(), timed_out=True))
        return tuple(
            Answer("measuring", "success", Coverage(report=each, tests=()), (), (), Metadata())
            for each in reports
        )


def test_what_kept_a_run_with_coverage_from_its_end_is_in_its_report(tmp_path: Path) -> None:
    coverage = Consulted(Tree(tmp_path), Measuring()).coverage(timeout_s=1.0)

    assert coverage is not None
    assert (coverage.report.collection_errors, coverage.report.timed_out) == (("a.py",), True)
