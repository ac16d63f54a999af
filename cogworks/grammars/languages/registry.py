"""Every language there is a grammar for, by the endings of its files."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

from cogworks.grammars.languages.c import CPP, C
from cogworks.grammars.languages.c_sharp import C_SHARP
from cogworks.grammars.languages.go import GO
from cogworks.grammars.languages.java import JAVA
from cogworks.grammars.languages.php import PHP
from cogworks.grammars.languages.python import PYTHON
from cogworks.grammars.languages.ruby import RUBY
from cogworks.grammars.languages.rust import RUST
from cogworks.grammars.languages.scripts import JAVASCRIPT, TSX, TYPESCRIPT
from cogworks.grammars.spec import LanguageSpec

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


_READ = {**_BY_SUFFIX, **dict.fromkeys(PYTHON.suffixes, PYTHON)}


def grammar_of(path: str) -> LanguageSpec | None:
    """As `language_of`, and Python as well, which has a service of its own."""
    return _READ.get(PurePosixPath(path).suffix.lower())
