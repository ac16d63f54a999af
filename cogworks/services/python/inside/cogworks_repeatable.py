"""A pytest plugin that gives a run what tools do on a build server, without `CI`, which tests may look at; imports nothing of cogworks.

Comparisons are shown whole, and Hypothesis tries the same examples in every run.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_NAME = "hypothesis"


def pytest_configure(config: Any) -> None:
    show_whole_comparisons(config)
    repeat_examples()


def show_whole_comparisons(config: Any) -> None:
    """Have pytest before 9.1 shorten no comparison of this run, as it does in a run of a build server.

    What tests start of pytest in their process has a configuration of its own.
    """
    with suppress(ImportError):
        from _pytest.assertion import truncate  # noqa: PLC0415 - a run of unittest need not have it

        shorten = getattr(truncate, "truncate_if_required", None)
        if shorten is None:
            return

        def shorten_others(explanation: Any, item: Any, *rest: Any, **named: Any) -> Any:
            return explanation if item.config is config else shorten(explanation, item, *rest, **named)

        vars(truncate)["truncate_if_required"] = shorten_others


def repeat_examples() -> None:
    """Have Hypothesis begin with its profile for build servers, as soon as something imports it."""
    if _NAME in sys.modules:
        _begin_with_ci(sys.modules[_NAME])
    elif not any(isinstance(each, _Watch) for each in sys.meta_path):
        sys.meta_path.insert(0, _Watch())


def _begin_with_ci(module: Any) -> None:
    # Versions without that profile know no build servers either.
    with suppress(Exception):
        module.settings.load_profile("ci")


class _Watch(MetaPathFinder):
    """Finds Hypothesis as everybody does, once."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name != _NAME:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    """Loads as another loader does, and sets the profile then: before anything that imports Hypothesis can choose one."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _begin_with_ci(module)
