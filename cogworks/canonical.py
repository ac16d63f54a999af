"""One text for equal data, and the digest of it. Stored digests and file names depend on every byte of these texts."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel


def canonical(data: Any) -> str:
    """JSON with sorted keys, without blanks, in ASCII: also a text that UTF-8 cannot carry has one.

    Raises:
        ValueError: a number in it is not finite.
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical_text(data: Any) -> str:
    """As `canonical`, with characters as they are: what a model or a person reads, and what a recorded reply is named by.

    Raises:
        ValueError: a number in it is not finite.
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256(text: str) -> str:
    """64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def digest(value: BaseModel) -> str:
    """The digest of a value's canonical JSON."""
    return sha256(canonical(value.model_dump(mode="json")))
