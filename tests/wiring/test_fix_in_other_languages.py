"""Real repairs in languages whose failing assertions print no stack: by what tests execute where that is measured, else by what they call."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from cogworks.codegen.repair_job import Notes
from cogworks.cycle.watchdogs import RunResult
from cogworks.repair.instance import Instance
from cogworks.settings.config import read_environment
from cogworks.wiring.fix import open_repair
from cogworks.wiring.fix_order import Order
from tests.fakes import ScriptedModel
from tests.fixing import PATIENT, diffs, landmark, make_shop, place, plan
from tests.services.command.commanding import needs

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
CONFIG = {".cogworks/config.toml": '[llm]\nmodel = "claude-sonnet-5-5"\n'}
GO = {
    "go.mod": "module example.com/shop\n\ngo 1.18\n",
    "shop.go": "package shop\n\nvar free = Total(nil)\n\nfunc Total(prices []int) int {\n\treturn sum(prices) - 1\n}\n",
    "sum.go": "package shop\n\nfunc sum(prices []int) int {\n\tall := 0\n\tfor _, each := range prices {\n\t\tall += each\n\t}\n\treturn all\n}\n",
    "shop_test.go": (
        'package shop\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n\tif got := Total([]int{1, 2}); got != 3 {\n'
        '\t\tt.Errorf("got %d", got)\n\t}\n}\n\nfunc TestSum(t *testing.T) {\n\tif sum([]int{1, 2}) != 3 {\n\t\tt.Error("sum")\n\t}\n}\n'
    ),
}
SHAPES = {
    "go.mod": "module example.com/shapes\n\ngo 1.18\n",
    "shape/shape.go": "package shape\n\ntype Shape interface {\n\tArea() int\n}\n",
    "shape/square.go": (
        "package shape\n\ntype Square struct {\n\tSide int\n}\n\nfunc (s Square) Area() int {\n\treturn s.Side + s.Side\n}\n"
    ),
    "shape/strip.go": (
        "package shape\n\ntype Strip struct {\n\tLength int\n}\n\nfunc (s Strip) Area() int {\n\treturn s.Length\n}\n"
    ),
    "plan/plan.go": (
        'package plan\n\nimport "example.com/shapes/shape"\n\nfunc Cover(shapes []shape.Shape) int {\n\treturn sum(measures(shapes))\n}\n\n'
        "func sum(sizes []int) int {\n\tall := 0\n\tfor _, each := range sizes {\n\t\tall += each\n\t}\n\treturn all\n}\n\n"
        "func measures(shapes []shape.Shape) []int {\n\tfound := []int{}\n\tfor _, each := range shapes {\n"
        "\t\tfound = append(found, one(each))\n\t}\n\treturn found\n}\n\nfunc one(each shape.Shape) int {\n\treturn each.Area()\n}\n"
    ),
    "cmd/main.go": (
        'package main\n\nimport (\n\t"fmt"\n\n\t"example.com/shapes/plan"\n)\n\n'
        "func main() {\n\tfmt.Println(plan.Cover(nil))\n}\n"
    ),
    "plan/plan_test.go": (
        'package plan\n\nimport (\n\t"testing"\n\n\t"example.com/shapes/shape"\n)\n\n'
        "func TestCover(t *testing.T) {\n\tif got := Cover([]shape.Shape{shape.Strip{4}, shape.Square{3}}); got != 13 {\n"
        '\t\tt.Errorf("got %d", got)\n\t}\n}\n\n'
        "func TestStrips(t *testing.T) {\n\tif Cover([]shape.Shape{shape.Strip{2}}) != 2 {\n\t\tt.Error()\n\t}\n}\n"
    ),
}
RUST = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "shop"\nversion = "0.1.0"\n',
    "src/lib.rs": "pub fn total(prices: &[i32]) -> i32 {\n    sum(prices) - 1\n}\n\nfn sum(prices: &[i32]) -> i32 {\n    prices.iter().sum()\n}\n",
    "tests/shop.rs": "use shop::total;\n\n#[test]\nfn adds_up() {\n    assert_eq!(total(&[1, 2]), 3);\n}\n\n#[test]\nfn is_a_number() {\n    assert!(total(&[9]) > 0);\n}\n",
}


@pytest.mark.parametrize(
    ("files", "path", "line", "old"),
    [
        pytest.param(GO, "shop.go", 6, "\treturn sum(prices) - 1\n", marks=needs("go")),
        pytest.param(RUST, "src/lib.rs", 2, "    sum(prices) - 1\n", marks=needs("cargo")),
    ],
    ids=["go", "rust"],
)
def test_a_bug_is_found_from_what_its_test_calls_and_repaired(
    tmp_path: Path, files: dict[str, str], path: str, line: int, old: str
) -> None:
    new = old.replace(" - 1", "")
    result, patch, notes, _ = repaired(tmp_path, files, path, line, old=old, new=new)

    assert result.success
    assert f"+{new}" in patch
    assert notes.localised is not None
    assert any(each.symbol.id.lower().endswith(".total") for each in notes.localised.suspects)
    assert notes.findings is not None
    assert {report.kind for report in notes.findings.reports} <= {"ast", "grep"}


@needs("go")
def test_a_go_method_that_is_called_through_an_interface_alone_is_the_first_suspect(tmp_path: Path) -> None:
    old = "\treturn s.Side + s.Side\n"
    new = "\treturn s.Side * s.Side\n"

    result, patch, notes, said = repaired(tmp_path, SHAPES, "shape/square.go", 8, old=old, new=new)

    assert result.success
    assert f"+{new}" in patch
    assert notes.localised is not None
    assert notes.localised.suspects[0].symbol.id == "shape.square.Square.Area"
    assert notes.localised.suspects[0].signals["coverage"] == 1.0
    assert not [each for each in notes.localised.ranking.suspects if each.symbol.artifact == "cmd/main.go"]
    assert notes.localised.covering is not None
    assert notes.localised.covering["shape/square.go"] == ("plan/plan_test.go::TestCover",)
    assert not [text for text in said if "nobody tells the lines" in text]


def repaired(
    folder: Path, files: Mapping[str, str], path: str, line: int, *, old: str, new: str
) -> tuple[RunResult, str, Notes, list[str]]:
    """How a repair came out whose model knows the place and the change."""
    shop = make_shop(folder, {**files, **CONFIG})
    at = place(path, line, line)
    said: list[str] = []
    pattern = {
        "summary": "One too few.",
        "primary": at,
        "alternatives": [],
        "invariants": [],
        "confidence": 0.9,
        "assumptions_to_check": [],
    }
    model = ScriptedModel(json.dumps(pattern), plan(landmark("one", at)), diffs({path: (old, new)}))

    with open_repair(
        Order(shop, Instance(instance_id="a", failing_tests=()), PATIENT),
        read_environment({}),
        say=said.append,
        provider=model,
    ) as repair:
        result = repair.run()
        return result, repair.patch, repair.notes, said
