import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from cogworks.domain_services.failures import ServiceFailed
from cogworks.domain_services.opening import BUNDLED, open_client
from cogworks.domain_services.panel import Member, ServicePanel
from cogworks.repair.consulting import Consulted
from tests.fixing import make_shop


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
