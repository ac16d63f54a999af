"""What kind of machine this is, as far as that decides with what the tests of a repository run."""

import hashlib
import platform
import sys

from cogworks import __version__

_CHARS = 16


def machine_kind() -> str:
    """Changes with this program, its Python, the system and its libraries; alike on machines that are."""
    marks = (__version__, sys.version, sys.platform, platform.machine(), *platform.libc_ver())
    return hashlib.sha256("\0".join(marks).encode()).hexdigest()[:_CHARS]
