"""A pytest plugin that shuffles the tests, the same way for the same seed; imports nothing of cogworks."""

from __future__ import annotations

import hashlib

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cogworks-seed", metavar="NUMBER", type=int, help="shuffles the order of the tests")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("--cogworks-seed")
    if seed is not None:
        # A place of its own for each test: two that stand in each other's way keep their order when others are left out.
        items.sort(key=lambda item: hashlib.sha256(f"{seed} {item.nodeid}".encode(errors="replace")).digest())
