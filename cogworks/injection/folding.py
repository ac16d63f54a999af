"""How a text reads once its disguises are off: what looks like something else, what nobody sees, and encodings of parts and of the whole.

No result grows: none is longer than ten times what it was made from, and there are as many as there are encodings. How the words of
an attack are shown stands here, too.
"""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

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
    return _BREAKS.sub(lambda match: "\n" if match[0][0] == "\r" else " ", text)


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
    return _ENCLOSED.sub(lambda match: latin(match[0]), text)


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


MAX_QUOTED_CHARS = 120


def quoted(said: str) -> str:
    """The words without anything that acts where they are shown, fit to stand between backticks."""
    # A backtick would end the code that the words stand in.
    line = " ".join(in_markdown(visible(said)).replace("`", "'").split())
    return line if len(line) <= MAX_QUOTED_CHARS else f"{line[: MAX_QUOTED_CHARS - 2]} …"


def mark(kinds: tuple[str, ...]) -> str:
    """What is said of a text beside its name, where a model reads it; empty where nothing was found."""
    return f"; contaminated: {', '.join(sorted(set(kinds)))}" if kinds else ""


MAX_PARTS = 200
"""Encoded parts that are looked at in one text."""


class Decoded(NamedTuple):
    """What a part of a text says."""

    text: str
    start: int
    """Where in the other text it begins; 0 for one that was read as a whole, whose lines stay where they are."""
    encoding: str


# A blob may be broken into lines, each behind the mark of a citation, a list or a comment.
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}(?:[ \t]*\n[ \t>#*|]*[A-Za-z0-9+/_-]{12,})*={0,2}")
_BASE32 = re.compile(r"(?:[A-Z2-7]{8}){2,}[A-Z2-7]{0,7}={0,6}")
_HEX = re.compile(r"(?:(?:0x|\\x|%)?[0-9A-Fa-f]{2}[ \t,:;-]{0,2}){8,}")
_NUMBERS = re.compile(r"(?:\b\d{2,3}\b[ \t,;]{1,2}){7,}\d{2,3}\b")
_OCTETS = re.compile(r"(?:[01]{8}[ \t,]{0,2}){6,}")
_HEX_PREFIX = re.compile(r"0x|\\x|%|[^0-9A-Fa-f]+")
_SMUGGLED = re.compile("[\U000e0020-\U000e007e]{4,}")
_VARIED = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_BITS = re.compile("[\u200b\u200c\u200d\u2060\ufeff]{32,}")
_ESCAPED = re.compile(r"\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})|\\([0-7]{3})")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_CODED = re.compile(r"(?<!\S)[^\s%]*%[0-9A-Fa-f]{2}\S*")
_QUOTED = re.compile(r"=(?:\n|([0-9A-F]{2}))")
_ENTITY = re.compile(r"&(?:#\d{2,7}|#x[0-9a-f]{2,6}|[a-z]{2,8});", re.IGNORECASE)
_STRING = re.compile(r"\"([^\"\n]{2,120})\"|'([^'\n]{2,120})'|`([^`\n]{2,120})`|“([^”\n]{2,120})”")
_ROTATED_WORDS = re.compile(
    r"\b(?:gur|naq|nyy|lbhe|lbh|vtaber|qvfertneq|sbetrg|cerivbhf|vafgehpgvbaf|flfgrz|cebzcg|ehyrf|nccebir|gbxra|grfgf|erirny|cevag|fraq)\b",
    re.IGNORECASE,
)
_TURNED_WORDS = re.compile(
    r"\b(?:eht|dna|lla|ruoy|erongi|drageretsid|tegrof|suoiverp|roirp|snoitcurtsni|metsys|tpmorp|selur|evorppa|nekot|stset|laever|tnirp|dnes|weiver)\b",
    re.IGNORECASE,
)


def decoded_parts(text: str) -> Iterator[Decoded]:
    """Every part of a text that is an encoding of another one."""
    count = 0
    for name, pattern, decode in _PARTS:
        for match in pattern.finditer(text):
            plain = decode(match[0])
            if plain is None or not _is_writing(plain):
                continue
            count += 1
            if count > MAX_PARTS:
                return
            yield Decoded(plain, match.start(), name)


def rewritten(text: str) -> Iterator[Decoded]:
    """The text as a whole, read in other ways, where one of them may be meant; each keeps the lines."""
    for name, read in _WHOLES:
        other = read(text)
        if other != text:
            yield Decoded(other, 0, name)


def _base64(part: str) -> str | None:
    # The second alphabet of RFC 4648 has `-` and `_` (https://www.rfc-editor.org/rfc/rfc4648#section-5).
    joined = re.sub(r"\s+[>#*|]*\s*", "", part).rstrip("=").translate(str.maketrans("-_", "+/"))
    # A blob may begin or end with what only looks as if it belonged to it.
    whole = joined[: len(joined) - (len(joined) % 4 == 1)]
    return _text_of(lambda: base64.b64decode(whole + "=" * (-len(whole) % 4)))


def _base32(part: str) -> str | None:
    whole = part.rstrip("=")
    return _text_of(lambda: base64.b32decode(whole + "=" * (-len(whole) % 8)))


def _hex(part: str) -> str | None:
    digits = _HEX_PREFIX.sub("", part)
    return _text_of(lambda: bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _numbers(part: str) -> str | None:
    codes = [int(each) for each in re.findall(r"\d+", part)]
    return "".join(map(chr, codes)) if all(10 <= code <= 255 for code in codes) else None


def _octets(part: str) -> str | None:
    bits = re.sub(r"[^01]", "", part)
    return _text_of(lambda: bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) // 8 * 8, 8)))


def _smuggled(part: str) -> str:
    # A tag character stands for the ASCII one 0xE0000 below it
    # (https://www.unicode.org/charts/PDF/UE0000.pdf).
    return "".join(chr(ord(char) - 0xE0000) for char in part)


def _varied(part: str) -> str | None:
    # There are 256 variation selectors in two blocks, so that one of them can stand for each byte.
    def byte(char: str) -> int:
        return ord(char) - (0xE0100 - 16 if ord(char) >= 0xE0100 else 0xFE00)

    return _text_of(lambda: bytes(byte(char) for char in part if byte(char) < 256))


def _unseen_bits(part: str) -> str | None:
    return _octets("".join("0" if char == "\u200b" else "1" for char in part))


def _text_of(decode: Callable[[], bytes]) -> str | None:
    try:
        return decode().decode("utf-8", "ignore")
    except (ValueError, binascii.Error):
        return None


def _is_writing(text: str) -> bool:
    """Whether somebody may have written it: enough of it, and nearly all of it letters, digits and blanks."""
    if len(text.strip()) < 4:
        return False
    # Hashes and keys decode to some bytes, too: what people wrote is nearly all readable.
    fine = sum(char.isprintable() or char in "\n\t\r" for char in text)
    letters = sum(char.isalnum() or char in " %&#;\\=+/" for char in text)
    return fine >= 0.95 * len(text) and letters >= 0.7 * len(text)


_PARTS: tuple[tuple[str, re.Pattern[str], Callable[[str], str | None]], ...] = (
    ("base64", _BASE64, _base64),
    ("base32", _BASE32, _base32),
    ("hex", _HEX, _hex),
    ("character codes", _NUMBERS, _numbers),
    ("binary", _OCTETS, _octets),
    ("tag characters", _SMUGGLED, _smuggled),
    ("variation selectors", _VARIED, _varied),
    ("zero-width bits", _BITS, _unseen_bits),
)


def _unescaped(text: str) -> str:
    def char(match: re.Match[str]) -> str:
        code = int(match[1] or match[2], 16) if match[1] or match[2] else int(match[3], 8)
        # A surrogate has no UTF-8, and a break would shift the lines that findings name.
        is_fine = code < 0x110000 and not 0xD800 <= code < 0xE000 and code not in (10, 13)
        return chr(code) if is_fine else match[0]

    return _ESCAPED.sub(char, text)


def _unquoted(text: str) -> str:
    def word(match: re.Match[str]) -> str:
        # What stands in a query is read as words.
        apart = re.sub(r"[?&=+]", " ", match[0])
        return _PERCENT.sub(
            lambda codes: _one_line(bytes.fromhex(codes[0].replace("%", "")).decode("utf-8", "replace")),
            apart,
        )

    return _CODED.sub(word, text)


def _unprintable(text: str) -> str:
    # Quoted-printable: three codes at least, else `=20` is arithmetic.
    if len(_QUOTED.findall(text)) < 3:
        return text
    return _QUOTED.sub(lambda match: _one_line(chr(int(match[1], 16))) if match[1] else "\n", text)


def _entities(text: str) -> str:
    return _ENTITY.sub(lambda match: _one_line(html.unescape(match[0])), text)


def _one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ")


def _rotated(text: str) -> str:
    return codecs.encode(text, "rot13") if len(_ROTATED_WORDS.findall(text)) >= 2 else text


def _turned(text: str) -> str:
    if len(_TURNED_WORDS.findall(text)) < 2:
        return text
    return "\n".join(line[::-1] for line in text.split("\n"))


def _turned_words(text: str) -> str:
    if len(_TURNED_WORDS.findall(text)) < 2:
        return text
    return re.sub(r"\w+", lambda match: match[0][::-1], text)


def _glued(text: str) -> str:
    """The strings of each few lines put together, as `a = 'ig'; b = 'nore'` asks for."""
    lines = text.split("\n")
    pieces = [["".join(groups) for groups in _STRING.findall(line)] for line in lines]
    glued_lines = []
    for at in range(len(lines)):
        near = [piece for strings in pieces[max(0, at - 3) : at + 1] for piece in strings][-12:]
        # Both ways, for nobody knows whether the pieces are words or parts of words.
        glued_lines.append(f"{''.join(near)} . {' '.join(near)}" if pieces[at] and len(near) > 1 else "")
    return "\n".join(glued_lines) if any(glued_lines) else text


_WHOLES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("escapes", _unescaped),
    ("percent encoding", _unquoted),
    ("quoted-printable", _unprintable),
    ("HTML entities", _entities),
    ("rot13", _rotated),
    ("written backwards", _turned),
    ("words written backwards", _turned_words),
    ("pieces of strings", _glued),
)
