"""A pytest plugin that keeps a measured run in one process and free of other measurements; imports nothing of cogworks."""

from __future__ import annotations

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    # pytest-cov and we would take the tracing from each other.
    early_config.known_args_namespace.no_cov = True


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    # The workers of pytest-xdist are other processes; it looks at its options before us or after us.
    if hasattr(config.option, "dist"):
        config.option.dist, config.option.tx = "no", []
        config.option.numprocesses, config.option.distload = 0, False
