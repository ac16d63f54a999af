"""The signatures of injections: a versioned file of words and patterns, ready to be searched for."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import re2

from cogworks.injection.folding import folded

KINDS = (
    "instruction_override",
    "persona_override",
    "behaviour_change",
    "prompt_disclosure",
    "secret_disclosure",
    "exfiltration",
    "gate_bypass",
    "forged_role",
    "concealment",
    "addressed_order",
    "payload_splitting",
    "encoded_order",
)
"""What an attack is after."""


@dataclass(frozen=True)
class Signature:
    """One way in which somebody gives a model orders."""

    id: str
    kind: str
    weight: float
    """How sure it is by itself; the threshold is what sums are compared with."""
    why: str
    is_of_lines: bool
    """It is looked for in the text itself, not in its words."""
    is_order: bool
    """It counts less where somebody only tells of what does so."""
    pattern: Any


@dataclass(frozen=True)
class SignatureFile:
    """What the file says."""

    version: str
    hold_at: float
    """A sum of weights from which on a text is an injection, ambiguous or not."""
    mark_at: float
    """From which on a text is worth a mark."""
    signatures: tuple[Signature, ...]
    lexicon: Mapping[str, frozenset[str]]
    """Every word or expression of each list, without patterns."""
    topics: Any
    """Words of people who talk about injections."""
    reports: Any
    """Words before something that is said by others."""
    harmless: Any
    """Phrases that hold the words of a signature and give no orders."""
    subjects: frozenset[str]
    """Words before an order that make it a statement about somebody else."""
    spoken_to: frozenset[str]
    """Words that speak to the reader all the same."""


# Compiling the file takes many times as long as reading a text with it.
@cache
def bundled() -> SignatureFile:
    """The file that ships with the program."""
    text = (files("cogworks.injection") / "signatures.toml").read_text(encoding="utf-8")
    return parse_signatures(text)


def parse_signatures(text: str) -> SignatureFile:
    """Raises: ValueError: the file is none, or one of its patterns is none."""
    data = tomllib.loads(text)
    lexicon = {name: _plain(words) for name, words in data["lexicon"].items()}
    signatures = tuple(_signature(each, lexicon) for each in data["signature"])
    ids = [each.id for each in signatures]
    # What was found is told apart by its id, and each id counts once in a sum.
    if doubled := sorted({each for each in ids if ids.count(each) > 1}):
        message = f"signatures.toml: these ids are there more than once: {', '.join(doubled)}"
        raise ValueError(message)
    return SignatureFile(
        version=data["version"],
        hold_at=data["hold_at"],
        mark_at=data["mark_at"],
        signatures=signatures,
        lexicon={name: frozenset(words) for name, words in lexicon.items()},
        topics=_compiled(f"(?:{'|'.join(lexicon['topic'])})"),
        reports=frozenset(lexicon["reporting"]),
        harmless=_compiled("|".join(" " + _words(each, lexicon) for each in data["harmless"])),
        subjects=frozenset(_plain(data["subjects"])),
        spoken_to=frozenset(_plain(data["spoken_to"])),
    )


def _signature(data: Mapping[str, Any], lexicon: Mapping[str, list[str]]) -> Signature:
    if data["kind"] not in KINDS:
        message = (
            f"signatures.toml: {data['id']} is of kind {data['kind']!r}, wanted one of {', '.join(KINDS)}"
        )
        raise ValueError(message)
    if "words" in data:
        # `Reading.words` has a blank before every word, so nothing is found in the middle of one.
        pattern = "|".join(" " + _words(each, lexicon) for each in data["words"])
    elif "text" in data:
        pattern = "|".join(_text(each, lexicon) for each in data["text"])
    else:
        pattern = "(?m)" + "|".join(data["lines"])
    return Signature(
        id=data["id"],
        kind=data["kind"],
        weight=data["weight"],
        why=data["why"],
        is_of_lines="lines" in data,
        is_order=data.get("order", False),
        pattern=_compiled(pattern),
    )


def _words(said: str, lexicon: Mapping[str, list[str]]) -> str:
    """A row of words as a pattern: `{list}`, `{list|list}`, `[may|be]`, `~N` for up to N words of the sentence, `*N` for any N."""
    made = []
    for part in _split(said):
        match part[0]:
            case "{":
                made.append(f"(?:{'|'.join(_alternatives(part[1:-1], lexicon))}) (?:, )?")
            # A class of characters is part of a word.
            case "[" if not part.startswith("[^"):
                made.append(f"(?:(?:{part[1:-1]}) )?")
            case "~":
                # `.env` begins with a stop and ends no sentence.
                made.append(f"(?:(?:[^ .!?;。！？；][^ ]*|[.][a-z][^ ]*) ){{0,{int(part[1:])}}}")
            case "*":
                made.append(f"(?:[^ ]+ ){{0,{int(part[1:])}}}")
            case _:
                # A comma between two words of an order does not make it another one.
                made.append(f"(?:{folded(part)}) " + ("" if part == "," else "(?:, )?"))
    return "".join(made)


def _split(said: str) -> list[str]:
    """The parts of a row: a blank within brackets divides nothing."""
    parts, depth = [""], 0
    for char in said.strip():
        depth += (char in "([{") - (char in ")]}")
        if char == " " and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _text(said: str, lexicon: Mapping[str, list[str]]) -> str:
    """A pattern over writing without blanks: `<list>` is one of a list, `…` up to 16 characters of the sentence."""
    made = said.replace("…", "[^。！？!?]{0,16}")
    for name in lexicon:
        if f"<{name}>" in made:
            made = made.replace(f"<{name}>", f"(?:{'|'.join(_alternatives(name, lexicon))})")
    return folded(made)


def _alternatives(names: str, lexicon: Mapping[str, list[str]]) -> list[str]:
    return [each for name in names.split("|") for each in lexicon[name]]


def _plain(words: Iterable[str]) -> list[str]:
    # A list holds a word a line, and lines are folded each by itself: one call for all of them.
    plain = folded("\n".join(words)).split("\n")
    # The longest first reads best in what is quoted; the engine finds the same either way.
    return sorted(plain, key=len, reverse=True)


def _compiled(pattern: str) -> Any:
    # RE2, for it takes time in proportion to the text whatever the pattern is, and the text may be anybody's
    # (docs/threat-model.md).
    options = re2.Options()
    # It would write to standard error what is raised below.
    options.log_errors = False
    options.max_mem = 64 << 20
    try:
        # Bytes, as the texts that are searched: of a `str` RE2 encodes a copy and counts every place anew.
        return re2.compile(pattern.encode(), options)
    except re2.error as error:
        message = f"signatures.toml: {pattern[:200]!r} is no pattern: {error}"
        raise ValueError(message) from None
