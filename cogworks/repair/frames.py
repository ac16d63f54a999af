"""The stack frames in what a failing test printed."""

import re

from cogworks.repair.suspects import Frame

_FRAME = re.compile(r"^(?P<artifact>[^\s<>:][^<>:\n]*):(?P<line>[1-9]\d{0,8}): in \S", re.MULTILINE)


def frames_of(message: str) -> tuple[Frame, ...]:
    """The frames a failure's text names as `path:line: in name`, where it was raised first.

    Frames of the interpreter and of libraries (`<python>/…`) are left out; a text without frames has none.
    """
    found = [Frame(artifact=each["artifact"], line=int(each["line"])) for each in _FRAME.finditer(message)]
    return tuple(reversed(found))
