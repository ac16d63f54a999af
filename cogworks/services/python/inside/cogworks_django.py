"""The test runner of a Django project, with a report of each test; imports nothing of cogworks.

Django imports it by the name that `--testrunner` says, after the settings of the project are there.
"""

from __future__ import annotations

from cogworks_django_runner import reporting
from cogworks_unittest import session
from django.conf import settings
from django.test.utils import get_runner

Runner = reporting(get_runner(settings), session(), takes_labels=True)
