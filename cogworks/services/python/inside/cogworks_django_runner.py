"""Makes a runner of Django report each test; imports nothing of cogworks."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import django
from cogworks_results import Results
from cogworks_unittest import Session


def reporting(base: Any, session: Session, *, takes_labels: bool) -> Any:
    """The runner that the project itself has, in one process.

    Args:
        base: its class.
        takes_labels: whether the wanted tests are found by their names; otherwise what the caller names is found, and
            the wanted ones of it are run.
    """
    session.begin(django=django.get_version())

    class Runner(base):  # known only when it runs
        test_loader = session.loader

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "interactive": False})
            # One failure more or less must not hide the others, and another process could not report.
            self.failfast, self.parallel = False, 0

        def build_suite(self, test_labels: Any = None, *args: Any, **options: Any) -> Any:
            labels = [_label(session, place) for place in session.places] if takes_labels else []
            self._chosen = session.chosen(super().build_suite(labels or test_labels, *args, **options))
            return self._chosen

        def get_resultclass(self) -> Any:
            return self._result

        def run_suite(self, suite: Any, **options: Any) -> Any:
            self._ran = super().run_suite(suite, **options)
            return self._ran

        def run_tests(self, *args: Any, **options: Any) -> NoReturn:
            super().run_tests(*args, **options)
            sys.exit(session.end(self._ran))

        def _result(self, *args: Any, **options: Any) -> Results:
            result = Results(*args, **options)
            session.arrange(result, self._chosen)
            return result

    return Runner


def _label(session: Session, place: str) -> str:
    return place if os.path.isdir(place) else session.loader.module_name(place)
