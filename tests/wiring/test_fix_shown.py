"""What a model is shown of the failing tests before it proposes: their source, what they are given, and what probes observed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from cogworks.repair.instance import Instance
from cogworks.repair.options import Options
from cogworks.settings.config import read_environment
from cogworks.wiring.fix import open_repair
from cogworks.wiring.fix_order import Order
from tests.fakes import ScriptedModel
from tests.fixing import diffs, landmark, make_shop, place, plan

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
CODE = """\
def total(prices, discount=0):
    result = 0
    for price in prices:
        result -= price
    return result - discount
"""
GOOD = {"shop/code.py": ("        result -= price\n", "        result += price\n")}
PLACE = place("shop/code.py", 4, 4)
PATTERN = json.dumps(
    {
        "summary": "It subtracts.",
        "primary": PLACE,
        "alternatives": [],
        "invariants": [],
        "confidence": 0.9,
        "assumptions_to_check": [],
    }
)


class Shape(NamedTuple):
    """Test files of one shape, the failing test, and lines of its files that whoever repairs has to see."""

    files: Mapping[str, str]
    test: str
    shown: tuple[str, ...]


FIXTURES = Shape(
    {
        "tests/conftest.py": (
            "import pytest\n\n\n@pytest.fixture\ndef discount():\n    return 47\n\n\n"
            "@pytest.fixture\ndef basket(discount):\n    return [100, 200, discount]\n\n\n"
            "@pytest.fixture\ndef unrelated():\n    return 'far away'\n"
        ),
        "tests/test_shop.py": (
            "from shop.code import total\n\n\ndef test_total(basket, discount):\n"
            "    assert total(basket, discount) == 300\n\n\ndef test_none():\n    assert total([]) == 0\n"
        ),
    },
    "tests/test_shop.py::test_total",
    (
        "    return [100, 200, discount]",
        "    return 47",
        "    assert total(basket, discount) == 300",
    ),
)
PARAMETERS = Shape(
    {
        "tests/test_shop.py": (
            "import pytest\n\nfrom shop.code import total\n\nCASES = [([100, 11], 111), ([], 0)]\n\n\n"
            "@pytest.mark.parametrize(('prices', 'wanted'), CASES)\ndef test_total(prices, wanted):\n"
            "    assert total(prices) == wanted\n"
        ),
    },
    "tests/test_shop.py::test_total[prices0-111]",
    (
        "CASES = [([100, 11], 111), ([], 0)]",
        "@pytest.mark.parametrize(('prices', 'wanted'), CASES)",
        "    assert total(prices) == wanted",
    ),
)
UNITTEST = Shape(
    {
        "tests/base.py": (
            "import unittest\n\n\nclass ShopCase(unittest.TestCase):\n    def setUp(self):\n        self.discount = 13\n"
        ),
        "tests/__init__.py": "",
        "tests/test_shop.py": (
            "from shop.code import total\nfrom tests.base import ShopCase\n\n\nclass TotalTest(ShopCase):\n"
            "    def setUp(self):\n        super().setUp()\n        self.prices = [5, 8]\n\n"
            "    def test_total(self):\n        self.assertEqual(total(self.prices, self.discount), 0)\n\n"
            "    def test_none(self):\n        self.assertEqual(total([]), 0)\n"
        ),
    },
    "tests/test_shop.py::TotalTest::test_total",
    (
        "        self.prices = [5, 8]",
        "        self.discount = 13",
        "        self.assertEqual(total(self.prices, self.discount), 0)",
    ),
)


@pytest.mark.parametrize(
    "shape", [FIXTURES, PARAMETERS, UNITTEST], ids=["fixtures", "parameters", "unittest"]
)
def test_a_proposal_sees_the_failing_test_what_it_is_given_and_what_was_observed(
    tmp_path: Path, shape: Shape
) -> None:
    files = {
        "shop/__init__.py": "",
        "shop/code.py": CODE,
        ".cogworks/config.toml": '[llm]\nmodel = "claude-sonnet-5-5"\n',
        **shape.files,
    }
    model = ScriptedModel(PATTERN, plan(landmark("one", PLACE)), diffs(GOOD))
    order = Order(
        make_shop(tmp_path, files), Instance(instance_id="a", failing_tests=(shape.test,)), Options()
    )

    with open_repair(order, read_environment({}), say=print, provider=model) as repair:
        result = repair.run()

    assert result.success, repair.reason
    asked = model.requests[-1]
    said = "\n".join(message.text for message in asked.messages)
    assert "which diffs make this change?" in said + asked.system
    for line in shape.shown:
        assert line in said
    assert "far away" not in said
    # What the trace of the failing test saw in the suspect.
    assert "shop.code.total" in said.split("## What probes found out")[-1]
