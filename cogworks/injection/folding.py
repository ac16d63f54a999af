"""How a text reads once nothing in it can look like something else, and how the words of an attack are shown."""

import re
import unicodedata
from functools import lru_cache

from cogworks.leaving import in_markdown

# Nearly all that a page may leave out, while a model reads it
# (https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point).
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# These turn the order in which a line is shown, so that people read another one than is stored
# (https://trojansource.codes).
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_MARKS = re.compile("[\u0300-\u036f]")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2032": "'", "\u00a0": " "})
_BREAKS = re.compile("\r\n?|[\u2028\u2029\x85\x0b\x0c]")
_FOREIGN = re.compile(
    "[\u00d8\u00f8\u0110\u0111\u0131\u0141\u0142\u0370-\u058f\u13a0-\u13ff\u1d00-\u1d7f\u0250-\u02af\u2c00-\u2c5f\ua4d0-\ua4ff]"
)
_ENCLOSED = re.compile("[\U0001f100-\U0001f1ff]")
_LATIN_NAME = re.compile(
    r"(?:LATIN (?:LETTER )?(?:SMALL CAPITAL|SMALL LETTER|CAPITAL LETTER|SMALL|CAPITAL)|LATIN CAPITAL LETTER|"
    r"LISU LETTER|SYMBOL LETTER|LATIN LETTER SMALL CAPITAL)(?: (?:SCRIPT|DOTLESS|OPEN|TURNED|LONG))? ([A-Z])(?: WITH .*)?"
)
_LIKE = dict(
    zip(
        "аеорсухіјѕһԁԛԝѵвнкмтгзлиӏьΑΒΕΖΗΙΚΜΝΟΡΤΥΧαβγεηικνορτυχωςσϲϳպսօոհցզɡɑ",
        "aeopcyxijshdqwvbhkmtrznulbabezhikmnoptyxabyenikvoptuxwcccjwuonhgqga",
        strict=True,
    )
)
"""Letters of other scripts -> what they are taken for."""


def lines_alike(text: str) -> str:
    """The text with one kind of line break; every later step keeps its lines."""
    return _BREAKS.sub(lambda found: "\n" if found[0][0] == "\r" else " ", text)


def visible(text: str) -> str:
    """What people see of a text: without characters that take no room."""
    return _CONTROLS.sub("", _UNSEEN.sub("", text))


def is_obscured(line: str) -> bool:
    """Whether a line holds more unseen characters than writing needs, or turns its own direction."""
    return len(_UNSEEN.findall(line)) >= 3 or _DIRECTIONS.search(line) is not None


def folded(text: str) -> str:
    """In lower case, without marks and unseen characters, each character in its plainest form; folding twice changes nothing."""
    plain = "\n".join(_folded_line(line) for line in lines_alike(text).split("\n"))
    return plain if plain.isascii() else _enclosed(plain)


def _folded_line(line: str) -> str:
    # Nothing of what follows changes an ASCII line, and most lines are one.
    if line.isascii():
        return _CONTROLS.sub("", line).lower()
    # Quotes once more: normalising makes two primes of `″`, and a prime counts as an apostrophe.
    composed = unicodedata.normalize("NFKC", visible(line).translate(_QUOTES)).translate(_QUOTES)
    bare = _MARKS.sub("", unicodedata.normalize("NFD", composed.lower()))
    return _CONTROLS.sub(" ", visible(unicodedata.normalize("NFC", bare))).replace("\n", " ")


def _enclosed(text: str) -> str:
    return _ENCLOSED.sub(lambda found: latin(found[0]), text)


def skeleton(text: str) -> str:
    """A folded text in which letters of other scripts are the Latin ones that they look like."""
    # Most texts hold no letter of these scripts, and looking up each character by its name is slow.
    if text.isascii() or not _FOREIGN.search(text):
        return text
    return "".join(char if char.isascii() else latin(char) for char in text)


@lru_cache(maxsize=4096)
def latin(char: str) -> str:
    """The Latin letter that one character is taken for; itself where it is taken for none."""
    if like := _LIKE.get(char):
        return like
    named = _LATIN_NAME.search(unicodedata.name(char, ""))
    return named[1].lower() if named else char


MAX_CHARS = 120


def quoted(said: str) -> str:
    """The words without anything that acts where they are shown, fit to stand between backticks."""
    # A backtick would end the code that the words stand in.
    line = " ".join(in_markdown(visible(said)).replace("`", "'").split())
    return line if len(line) <= MAX_CHARS else f"{line[: MAX_CHARS - 2]} …"


def mark(kinds: tuple[str, ...]) -> str:
    """What is said of a text beside its name, where a model reads it; empty where nothing was found."""
    return f"; contaminated: {', '.join(sorted(set(kinds)))}" if kinds else ""
