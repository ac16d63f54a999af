"""Takes secrets out of what is kept and shown: texts by masking, documents also by the names of their keys."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from cogworks.masking import HIDDEN, masked

_KEYS = re.compile(
    r"secret|token|passw(or)?d|api[_-]?key|private[_-]?key|authorization|cookie|credential", re.IGNORECASE
)
_SECRETIVE = ("TOKEN", "SECRET", "PASSWORD", "API_KEY", "PRIVATE_KEY")
"""In the names of variables whose values are hidden wherever they turn up."""
_MIN_SECRET_CHARS = 6
"""A shorter value of a declared secret would hide half of every text."""


class Redactor:
    """Hides secrets; hiding twice changes nothing."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Args:
        secrets: values that are known to be secret.
        """
        self._known = tuple({secret for secret in secrets if len(secret) >= _MIN_SECRET_CHARS})

    def text(self, text: str) -> str:
        """The text with `***` in the place of each secret."""
        return masked(text, self._known)

    def data(self, value: Any) -> Any:
        """The same for every text in a JSON document, and for everything under a key that tells of a secret."""
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {
                    self.text(str(key)): HIDDEN if _is_telling(str(key), each) else self.data(each)
                    for key, each in value.items()
                }
            case list() | tuple():
                return [self.data(each) for each in value]
            case _:
                return value


def redactor_of(environment: Mapping[str, str]) -> Redactor:
    """Hides the values of variables whose names tell of a secret, and what looks like one."""
    return Redactor(
        value for name, value in environment.items() if any(word in name.upper() for word in _SECRETIVE)
    )


def _is_telling(key: str, value: Any) -> bool:
    if _KEYS.search(key) is None or isinstance(value, bool | None):
        return False
    # `max_tokens: 500` counts; `token: 500` may open something.
    return not (isinstance(value, int | float) and "tokens" in key.lower())
