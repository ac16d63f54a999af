"""Files that an operator names on the command line."""

from pathlib import Path
from typing import TYPE_CHECKING

from cogworks.errors import UsageError

if TYPE_CHECKING:
    from cogworks.repair.options import Options


def text_of(path: Path) -> str:
    """The text of a file.

    Raises:
        UsageError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def options_in(path: Path | None) -> "Options":
    """The options of the patch loop in a file; the defaults where none is named.

    Raises:
        UsageError: it cannot be read.
        ConfigurationError: it is malformed; every problem at once.
    """
    from cogworks.repair.options import Options, parse_options

    return Options() if path is None else parse_options(text_of(path), source=str(path))
