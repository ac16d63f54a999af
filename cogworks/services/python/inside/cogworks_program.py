"""Runs a program that starts Django's tests by itself, with a report of each; imports nothing of cogworks.

Its own words stand on the command line, the program first. The tests get the runner that it asks Django for, and report.
"""

from __future__ import annotations

import os
import runpy
import sys
from typing import Any

import cogworks_unittest
from cogworks_django_runner import reporting
from django.test import utils


def main() -> None:
    session = cogworks_unittest.session()
    given = utils.get_runner

    def get_runner(*args: Any, **options: Any) -> Any:
        # What a test asks for later is Django's own.
        vars(utils)["get_runner"] = given
        return reporting(given(*args, **options), session, takes_labels=False)

    vars(utils)["get_runner"] = get_runner
    del sys.argv[0]
    # Where Python looks first when it is given a program; otherwise that is where it was started.
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
