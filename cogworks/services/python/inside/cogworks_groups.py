"""A pytest plugin that runs tests in groups and stops after one in which a test failed; imports nothing of cogworks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cogworks-groups",
        metavar="SIZES",
        help="how many of the last files and ids on the command line are one group, e.g. `2,5`",
    )


def pytest_configure(config: pytest.Config) -> None:
    text = config.getoption("--cogworks-groups")
    if text:
        sizes = [int(size) for size in text.split(",")]
        named = config.args[-sum(sizes) :]
        if len(named) == sum(sizes):
            groups = [group for group, size in enumerate(sizes) for _ in range(size)]
            # Named twice, a test belongs to the first group.
            group_of = dict(zip(reversed(named), reversed(groups), strict=True))
            config.pluginmanager.register(Groups(group_of), "cogworks-grouping")


class Groups:
    """What is left out has no result: that nobody ran it is no news about it."""

    def __init__(self, group_of: dict[str, int]) -> None:
        self._group_of = group_of
        self._failed: int | None = None
        """The first group in which a test failed."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self._group(item.nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        is_left_out = self._failed is not None and self._group(item.nodeid) > self._failed
        return True if is_left_out else None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            group = self._group(report.nodeid)
            self._failed = group if self._failed is None else min(group, self._failed)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._failed = 0

    def _group(self, nodeid: str) -> int:
        """The first that names the test or what it is a part of; what nobody named is never left out."""
        return min((self._group_of[name] for name in _names(nodeid) if name in self._group_of), default=0)


def _names(nodeid: str) -> Iterator[str]:
    """A test's id, and those of all that it is a part of."""
    yield nodeid
    name = nodeid.split("[", 1)[0]
    while name:
        yield name
        for mark in ("::", "/"):
            if mark in name:
                name = name.rsplit(mark, 1)[0]
                break
        else:
            return
