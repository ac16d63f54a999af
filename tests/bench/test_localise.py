"""What the index costs is measured on code of the promised sizes, and published."""

from pathlib import Path

from cogworks.services.call_graph import Relation
from cogworks.services.python.code.relations import relations_of
from scripts.benchmarks.localise import SIZES, measure, module_text, table
from tests.services.code.samples import code_of

PUBLISHED = Path(__file__).parents[2] / "docs" / "extension-api.md"


def test_a_repository_of_the_asked_size_is_measured() -> None:
    (cost,) = measure((1_000,), library=False, runs=1)

    assert cost.files == 5
    assert 900 < cost.lines < 1_100
    assert min(cost.parse_ms, cost.cold_ms, cost.warm_ms, cost.graph_ms) > 0
    assert len(table((cost,)).splitlines()) == 3


def test_every_size_is_published() -> None:
    published = PUBLISHED.read_text("utf-8")

    names = [*(f"{size:,} generated lines" for size in SIZES), "standard library"]
    assert [name for name in names if f"| {name} |" not in published] == []


def test_the_generated_modules_have_relations_to_find() -> None:
    code = code_of({f"shop/part{number}.py": module_text(number, 3) for number in range(3)})

    relations = relations_of(code)

    assert relations[Relation("shop.part0.Order0.price5", "shop.part0.Order0.price4", "calls")] == 1.0
    assert relations[Relation("shop.part0.order0", "shop.part1.Order1.price1", "calls")] == 1.0
