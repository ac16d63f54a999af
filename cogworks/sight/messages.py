"""Which lines of code can have written what a request quotes: a message with values in it, found by its fixed parts. And which
sections of documents it names by their headings.

A request quotes `Key 'a' error:` and the code has `"Key '%s' error:"`. As words they have little in common with what is wrong, and yet
the line is where to begin.
"""

import re
from collections.abc import Sequence

MAX_CHARS = 60_000
"""Of a longer request only the beginning is looked at."""
_LITERAL = re.compile(r"""(["'`])((?:(?!\1)[^\\\n]|\\.){6,400})\1""")
_VALUE = re.compile(r"%(?:\(\w+\))?[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]|#?\$?\{[^{}]{0,80}\}")
"""Where a value is put into a text: `%s`, `%(name)d`, `{}`, `{name!r}`, `${name}`, `#{name}`."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_MARKUP = re.compile(r"[`*_]")
_SPACE = re.compile(r"\s+")
_ESCAPED = re.compile(r"\\(.)")
_MAX_VALUE = 160
"""Characters of a value between two fixed parts."""
_LEAST_WORDS, _LEAST_LETTERS = 2, 8
"""Of the fixed parts: what is shorter says nothing."""
_MAX_STARTS = 50


class Quoted:
    """A request, ready to be asked which lines can have written a part of it."""

    def __init__(self, text: str) -> None:
        self._text = _SPACE.sub(" ", text[:MAX_CHARS])
        self._words = frozenset(_WORD.findall(self._text))
        self._lower = self._text.lower()

    def names(self, heading: str) -> bool:
        """Whether the request names a section of a document by all of its heading; a heading of one word is too common. Never raises."""
        plain = _SPACE.sub(" ", _MARKUP.sub("", heading)).strip().lower()
        return len(_WORD.findall(plain)) >= _LEAST_WORDS and plain in self._lower

    def is_written_by(self, line: str) -> bool:
        """Whether a string in a line of code is a message of the request, whatever values stand in it. Never raises."""
        return any(self._has(found[2]) for found in _LITERAL.finditer(line))

    def _has(self, literal: str) -> bool:
        parts = [_SPACE.sub(" ", part) for part in _VALUE.split(_ESCAPED.sub(r"\1", literal))]
        words = [word for part in parts for word in _WORD.findall(part)]
        if len(words) < _LEAST_WORDS or sum(map(len, words)) < _LEAST_LETTERS:
            return False
        # Cheap, and nearly always the end of it.
        return self._words.issuperset(words) and self._follow([part for part in parts if part.strip()])

    def _follow(self, parts: Sequence[str]) -> bool:
        """Whether the parts stand one after the other, with no more than a value between them."""
        start = -1
        for _ in range(_MAX_STARTS):
            start = self._text.find(parts[0], start + 1)
            if start < 0:
                return False
            end = start + len(parts[0])
            for part in parts[1:]:
                at = self._text.find(part, end, end + _MAX_VALUE + len(part))
                if at < 0:
                    break
                end = at + len(part)
            else:
                return True
        return False
