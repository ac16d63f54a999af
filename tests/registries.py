"""Package registries that a test needs: asked once, and the test is passed over by name where none answers."""

import urllib.error
import urllib.request
from functools import cache

import pytest

ANSWERS_WITHIN_S = 10.0


@cache
def answers(url: str) -> bool:
    """Whether a registry is there for this machine."""
    try:
        with urllib.request.urlopen(url, timeout=ANSWERS_WITHIN_S):
            return True
    except (OSError, ValueError):
        return False


def need(url: str) -> None:
    """Pass over the running test where a registry cannot be reached."""
    if not answers(url):
        pytest.skip(f"{url} cannot be reached from this machine")


NPM = "https://registry.npmjs.org/ms"
PYPI = "https://pypi.org/simple/six/"
