"""Real repairs in languages whose failing assertions print no stack and whose coverage nobody measures."""

import json
from pathlib import Path

import pytest

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
    shop = make_shop(tmp_path, {**files, **CONFIG})
    at = place(path, line, line)
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
        say=print,
        provider=model,
    ) as repair:
        result, patch, notes = repair.run(), repair.patch, repair.notes

    assert result.success, repair.reason
    assert f"+{new}" in patch
    assert notes.localised is not None
    assert any(each.symbol.id.lower().endswith(".total") for each in notes.localised.suspects)
    assert notes.findings is not None
    assert {report.kind for report in notes.findings.reports} <= {"ast", "grep"}
