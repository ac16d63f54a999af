"""A pytest plugin that notes which files and addresses beyond the isolation the tests try to reach; imports nothing of cogworks.

The isolation holds without it. It only says what was refused, as far as this interpreter sees it.
"""

from __future__ import annotations

import json
import sys

import pytest
from cogworks_witness import Witness


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cogworks-reach", metavar="JSON", help="the directories the tests may read and write")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("cogworks-reporter")
    if reporter is not None and (text := config.getoption("--cogworks-reach")):
        sys.addaudithook(Witness(reporter, **json.loads(text)))
