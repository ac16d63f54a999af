"""The test runner of a Django project, with a report of each test; imports nothing of cogworks.

Django imports it by the name that `--testrunner` says, after the settings of the project are there.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import django
from cogworks_results import Results
from cogworks_unittest import session
from django.conf import settings
from django.test.utils import get_runner

_BASE: Any = get_runner(settings)
_SESSION = session()
_SESSION.begin(django=django.get_version())


class Runner(_BASE):
    """The runner that the project itself has, in one process."""

    test_loader = _SESSION.loader

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{**options, "interactive": False})
        # One failure more or less must not hide the others, and another process could not report.
        self.failfast, self.parallel = False, 0

    def build_suite(self, test_labels: Any = None, *args: Any, **options: Any) -> Any:
        labels = [_label(place) for place in _SESSION.places] or test_labels
        self._chosen = _SESSION.chosen(super().build_suite(labels, *args, **options))
        return self._chosen

    def get_resultclass(self) -> Any:
        return self._result

    def run_suite(self, suite: Any, **options: Any) -> Any:
        self._ran = super().run_suite(suite, **options)
        return self._ran

    def run_tests(self, *args: Any, **options: Any) -> NoReturn:
        super().run_tests(*args, **options)
        sys.exit(_SESSION.end(self._ran))

    def _result(self, *args: Any, **options: Any) -> Results:
        result = Results(*args, **options)
        _SESSION.arrange(result, self._chosen)
        return result


def _label(place: str) -> str:
    return place if os.path.isdir(place) else _SESSION.loader.module_name(place)
