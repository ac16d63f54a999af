"""Libraries of the system that tests need and the machine does not have, as its loader names them."""

import re
from collections.abc import Iterable

_MISSING = re.compile(r"(?<![\w.+-])([\w.+-]{1,100}): cannot open shared object file")
_MOST_NAMED = 5


def library_remedies(errors: Iterable[str]) -> tuple[str, ...]:
    """What can be done about libraries that could not be opened; none where that is not what went wrong.

    Args:
        errors: what went wrong in the words of whoever met it.
    """
    names = list(dict.fromkeys(name for error in errors for name in _MISSING.findall(error)))[:_MOST_NAMED]
    if not names:
        return ()
    listed = ", ".join(f"`{name}`" for name in names)
    told = (
        f"{listed} belongs to the system, not to the project: install the package that brings it on the machine that runs "
        f"cogworks (Debian, Ubuntu: `apt-file search {names[0]}` names it), in a workflow in a step before it."
    )
    return (told,)
