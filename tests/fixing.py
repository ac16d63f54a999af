"""A small shop whose total is wrong in two places, and what a model would say of it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cogworks.repair.options import Gates, Options
from tests.codebase.repositories import git

PATIENT = Options(gates=Gates(held_back_s=600))
"""For machines with more to do: held-back checks that do not come to their end are told, and warn of nothing."""
CART = """\
from shop.money import rounded


def total(prices):
    result = 0
    for price in prices:
        result -= price
    return rounded(result)


def count(prices):
    return len(prices)
"""
MONEY = """\
def rounded(amount):
    return int(amount)
"""
TESTS = """\
from shop.cart import count, total
from shop.money import rounded


def test_total():
    assert total([1.4, 1.4]) == 2.8


def test_count():
    assert count([1]) == 1


def test_whole_amounts():
    assert rounded(3.0) == 3
"""
FILES: Mapping[str, str] = {
    "shop/__init__.py": "",
    "shop/cart.py": CART,
    "shop/money.py": MONEY,
    "tests/test_shop.py": TESTS,
    ".cogworks/config.toml": '[llm]\nmodel = "claude-sonnet-5-5"\n',
}
TARGET = "tests/test_shop.py::test_total"
GOOD = {
    "shop/cart.py": ("        result -= price\n", "        result += price\n"),
    "shop/money.py": ("    return int(amount)\n", "    return amount\n"),
}


def make_shop(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    """A repository with the shop as its one commit."""
    git(folder, "init", "--quiet", "--initial-branch=main", "shop")
    shop = folder / "shop"
    for path, text in files.items():
        (shop / path).parent.mkdir(parents=True, exist_ok=True)
        (shop / path).write_text(text)
    git(shop, "add", "--all")
    git(shop, "commit", "--quiet", "--message", "a shop")
    return shop


def make_task(folder: Path, **more: Any) -> Path:
    """A task file for the shop."""
    task = folder / "task.json"
    task.write_text(json.dumps({"instance_id": "shop-1", "failing_tests": [TARGET], **more}))
    return task


def pattern() -> str:
    """The total is wrong because of its sign and of the rounding."""
    return json.dumps(
        {
            "summary": "The total subtracts, and rounding cuts the cents off.",
            "primary": place("shop/cart.py", 5, 7),
            "alternatives": [{"place": place("shop/money.py", 1, 2), "why": "it cuts"}],
            "invariants": ["whole amounts stay whole"],
            "confidence": 0.9,
            "assumptions_to_check": [],
        }
    )


def plan(*landmarks: Mapping[str, Any]) -> str:
    return json.dumps({"landmarks": list(landmarks)})


def landmark(name: str = "add-up", *places: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A landmark at both faults, or at these places."""
    both = (place("shop/cart.py", 5, 7), place("shop/money.py", 1, 2))
    told = {"intent": "Add the prices up, with their cents.", "places": list(places or both), "allow_api": []}
    return {"id": name, "test": "", "after": [], **told, **more}


def place(path: str, first: int, last: int) -> dict[str, Any]:
    return {"path": path, "first_line": first, "last_line": last}


def diffs(*each: Mapping[str, tuple[str, str]] | str) -> str:
    """Replies with edits (path -> search, replace), or with unified diffs."""
    return json.dumps({"diffs": [_diff(one) for one in each]})


def _diff(one: Mapping[str, tuple[str, str]] | str) -> dict[str, Any]:
    if isinstance(one, str):
        return {"edits": [], "unified_diff": one, "rationale": "a diff"}
    edits = [{"path": path, "search": old, "replace": new} for path, (old, new) in one.items()]
    return {"edits": edits, "unified_diff": "", "rationale": "edits"}
