"""What an operator can do about tests that cannot even be loaded."""

import re
from collections.abc import Callable, Sequence

from cogworks.coding.events import Event, ExecutionComplete

_MISSING = re.compile(r"No module named '([\w.]+)'")
_SHOWN = 5


def import_hint(collection_errors: Sequence[str]) -> str:
    """What to do about modules that the tests cannot import; empty when they find all of them."""
    names = list(dict.fromkeys(_MISSING.findall("\n".join(collection_errors))))[:_SHOWN]
    if not names:
        return ""
    return (
        f"tests could not be loaded: no module named {', '.join(names)}. Where that is a package, name it among the "
        "dependencies that the repository declares; they are installed for the tests (`cogworks doctor` says where). Where it "
        "is a module of the repository, set `pythonpath` in its pytest configuration"
    )


class Hints:
    """Listens to one repair, and tells each hint once."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told: set[str] = set()

    def __call__(self, event: Event) -> None:
        if not isinstance(event.body, ExecutionComplete) or event.body.result.tests is None:
            return
        hint = import_hint(event.body.result.tests.collection_errors)
        if hint and hint not in self._told:
            self._told.add(hint)
            self._tell(hint)
