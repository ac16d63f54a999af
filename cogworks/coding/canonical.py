"""One text for equal data, and the digest of it."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel


def canonical(data: Any) -> str:
    """JSON with sorted keys, without blanks, in characters as they are.

    Raises:
        ValueError: a number in it is not finite.
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256(text: str) -> str:
    """64 hex digits; a lone surrogate, which UTF-8 cannot carry, counts as its escape."""
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()


def digest(value: BaseModel) -> str:
    """The digest of a value's canonical JSON."""
    return sha256(canonical(value.model_dump(mode="json")))
