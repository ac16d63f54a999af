"""Every language there is a grammar for, by the endings of its files."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

from cogworks.services.command.grammars.languages.c import CPP, C
from cogworks.services.command.grammars.languages.c_sharp import C_SHARP
from cogworks.services.command.grammars.languages.go import GO
from cogworks.services.command.grammars.languages.java import JAVA
from cogworks.services.command.grammars.languages.php import PHP
from cogworks.services.command.grammars.languages.ruby import RUBY
from cogworks.services.command.grammars.languages.rust import RUST
from cogworks.services.command.grammars.languages.scripts import JAVASCRIPT, TSX, TYPESCRIPT
from cogworks.services.command.grammars.spec import LanguageSpec

LANGUAGES: tuple[LanguageSpec, ...] = (
    TYPESCRIPT,
    TSX,
    JAVASCRIPT,
    GO,
    RUST,
    JAVA,
    C,
    CPP,
    C_SHARP,
    RUBY,
    PHP,
)
_BY_SUFFIX: Mapping[str, LanguageSpec] = MappingProxyType(
    {suffix: spec for spec in LANGUAGES for suffix in spec.suffixes}
)
SUFFIXES = tuple(_BY_SUFFIX)
PATTERNS = tuple(f"*{suffix}" for suffix in SUFFIXES)
"""For a handshake's `artifact_patterns`."""


def language_of(path: str) -> LanguageSpec | None:
    """The language of a file by its name; None: none that is known here."""
    return _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())
