"""Questions about many files are asked about some of them at a time, and say the same."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cogworks.domain_services.checking import Artifacts
from cogworks.domain_services.exploring import ExploreParams
from cogworks.domain_services.opening import BUNDLED, open_client
from cogworks.domain_services.operations import DEPENDENCY_GRAPH, INDEX
from cogworks.domain_services.panel import Member, ServicePanel
from cogworks.domain_services.parts import PAGE_BYTES, PAGE_FILES, in_pages, pages
from cogworks.settings.config import child_environment
from tests.services.asking import Copy, laid_out, result_of

LONG = f"# {'x' * 78}\n" * (PAGE_BYTES // 160)
SHOP: Mapping[str, str] = {
    "shop/__init__.py": "",
    "shop/cart.py": f"from shop.tax import rate\n\n\nclass Cart:\n    def total(self):\n        return rate()\n\n\n{LONG}",
    "shop/tax.py": f"import decimal\n\n\ndef rate():\n    return decimal.Decimal(1)\n\n\n{LONG}",
    "tests/test_cart.py": f"from shop.cart import Cart\n\n\ndef test_total():\n    Cart().total()\n\n\n{LONG}",
}


def test_a_page_ends_before_it_holds_too_much(tmp_path: Path) -> None:
    laid_out(tmp_path, SHOP)

    assert list(pages([*SHOP, "gone.py"], tmp_path)) == [
        ("shop/__init__.py", "shop/cart.py"),
        ("shop/tax.py",),
        ("tests/test_cart.py", "gone.py"),
    ]


def test_a_page_ends_after_so_many_files_and_a_longer_file_has_one_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("#" * (2 * PAGE_BYTES))
    names = [f"{number}.py" for number in range(PAGE_FILES + 1)]

    assert [len(page) for page in pages(names, tmp_path)] == [PAGE_FILES, 1]
    assert list(pages(["a.py", "long.py", "b.py"], tmp_path)) == [("a.py",), ("long.py",), ("b.py",)]


def test_a_question_about_everything_stays_one(tmp_path: Path) -> None:
    assert list(in_pages(ExploreParams(), tmp_path)) == [ExploreParams()]


def test_all_pages_of_an_index_say_what_the_whole_says(tmp_path: Path) -> None:
    copy = Copy(laid_out(tmp_path, SHOP))
    params = ExploreParams(artifacts=tuple(sorted(SHOP)))

    whole = result_of("index", copy, params)
    parts = [result_of("index", copy, each) for each in in_pages(params, tmp_path)]

    assert len(parts) == 3
    assert {key: [each for part in parts for each in part[key]] for key in whole} == whole


def test_all_pages_of_a_dependency_graph_say_what_the_whole_says(tmp_path: Path) -> None:
    copy = Copy(laid_out(tmp_path, SHOP))
    params = Artifacts(artifacts=tuple(sorted(SHOP)))

    whole = result_of("dependency_graph", copy, params)
    joined: dict[str, dict[str, Any]] = {"modules": {}, "uses": {}, "external": {}}
    for each in in_pages(params, tmp_path):
        part = result_of("dependency_graph", copy, each)
        joined = {key: values | part[key] for key, values in joined.items()}

    assert joined == {key: whole[key] for key in joined}


def test_the_panel_asks_in_pages_and_hands_on_every_answer(tmp_path: Path) -> None:
    copy = Copy(laid_out(tmp_path, SHOP))
    client = open_client(BUNDLED, environment=child_environment())
    with ServicePanel([Member(client=client)], warn=lambda _: None) as panel:
        indexes = panel.call(INDEX, copy, ExploreParams(artifacts=tuple(SHOP)))
        graphs = panel.call(DEPENDENCY_GRAPH, copy, Artifacts(artifacts=tuple(SHOP)))

    assert isinstance(indexes, tuple)
    assert isinstance(graphs, tuple)
    assert [len(each.result.symbols) for each in indexes] == [4, 2, 2]
    assert [sorted(each.result.uses) for each in graphs] == [
        ["shop", "shop.cart"],
        ["shop.tax"],
        ["tests.test_cart"],
    ]
