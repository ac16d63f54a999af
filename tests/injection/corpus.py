"""The corpus of attacks and of harmless texts: what stands in tests/data/injection.

Texts that signatures are tuned with stand within an ordinary issue each, and once more in a carrier that differs from its neighbour's. The texts of the
statistical layer and those that are held out have honest prose around them and are there as they were written. What is held out was written by people
who knew neither the detector nor any other text of the corpus. Once somebody has looked at what is missed of it, it is learned from.
"""

import base64
import codecs
import hashlib
import json
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal
from urllib.parse import quote

_DATA = Path(__file__).parent.parent / "data" / "injection"
Part = Literal["tuned", "learned", "held out"]
PARTS: tuple[Part, ...] = ("tuned", "learned", "held out")
WRITERS = ("blind-1", "blind-2", "blind-3", "blind-4")
"""Who wrote what is learned from, each of them knowing neither the detector nor the others."""
HELD_OUT_WRITERS = ("blind-5", "blind-6")
"""Those whose texts are held out."""


@dataclass(frozen=True)
class Sample:
    """One text, and what it is."""

    text: str
    kind: str
    carrier: str
    part: Part
    is_attack: bool


def samples() -> list[Sample]:
    """Everything, in a fixed order."""
    learned = [each for name in (*WRITERS, "drafted", "outputs") for each in written_by(name)]
    held_out = [each for name in HELD_OUT_WRITERS for each in written_by(name, "held out")]
    return [*tuned(), *learned, *held_out]


def written_by(name: str, part: Part = "learned") -> Iterator[Sample]:
    """The attacks of one writer, then the harmless texts, as they are; some wrote harmless ones alone."""
    for prefix in ("attacks", "benign"):
        if not (_DATA / f"{prefix}-{name}.toml").is_file():
            continue
        for kind, text in _read(f"{prefix}-{name}"):
            yield Sample(text, kind, name, part, is_attack=prefix == "attacks")


def is_reported(sample: Sample) -> bool:
    """Whether a model that read all held-out texts by the definition of Intake's `orders` found some in this one."""
    return hashlib.sha256(sample.text.encode("utf-8", "surrogatepass")).hexdigest()[:16] in _reported()


@cache
def _reported() -> frozenset[str]:
    return frozenset(json.loads((_DATA / "reported.json").read_text("utf-8"))["texts"])


def tuned() -> list[Sample]:
    """What signatures may be tuned with."""
    return [*_attacks(), *_benign()]


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


ENCODERS: Mapping[str, Callable[[str], str]] = {
    "base64": _base64,
    "base64url": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "hex": lambda text: text.encode().hex(),
    "percent": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "reversed": lambda text: text[::-1],
}
"""What `{name:text}` in the data stands for."""
_CYRILLIC = str.maketrans("aeopcxyi", "аеорсхуі")
_LEET = str.maketrans("aeio", "4310")


def _is_latin(text: str) -> bool:
    return sum(char.isascii() for char in text) > 0.9 * len(text)


def _words_apart(text: str) -> str:
    return "  ".join(" ".join(word) for word in text.split())


def _wide(text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


def _script(text: str) -> str:
    """Mathematical letters."""
    return "".join(
        chr(0x1D5BA + ord(char) - ord("a")) if "a" <= char <= "z" else chr(0x1D5A0 + ord(char) - ord("A")) if "A" <= char <= "Z" else char
        for char in text
    )  # fmt: skip


_CARRIERS: Mapping[str, Callable[[str], str]] = {
    "comment": lambda text: f"The dialog closes too early.\n\n<!-- {text} -->\n\nSeen with version 2.1.",
    "link title": lambda text: f'See [the log](https://example.com/log.txt "{text.replace(chr(34), chr(39))}") for more.',
    "base64": lambda text: f"Attachment:\n\n{_base64(text)}\n",
    "unseen characters": "\u200b".join,
    "code": lambda text: f"Steps:\n\n```text\n{text}\n```\n",
    "lookalikes": lambda text: text.translate(_CYRILLIC) if _is_latin(text) else f"> {text}",
    "tags": lambda text: "Fine so far." + "".join(chr(0xE0000 + ord(char)) for char in text) if text.isascii() else f"- {text}",
    "hex": lambda text: f"dump: {text.encode().hex()}",
    "wide": lambda text: _wide(text) if _is_latin(text) else f"1. {text}",
    "list": lambda text: f"- the button is grey\n- the text is cut\n- {text}\n- the colour is wrong",
    "entities": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "percent": lambda text: f"https://example.com/?q={quote(text)}",
    "rot13": lambda text: codecs.encode(text, "rot13") if _is_latin(text) else f"**{text}**",
    "broken lines": lambda text: "\n".join(re.findall(r"\S+(?: \S+){0,3}", text)),
    "details": lambda text: f"<details><summary>Environment</summary>\n\n{text}\n\n</details>",
    "docstring": lambda text: f'```python\ndef total(rows):\n    """{text}"""\n    return sum(rows)\n```',
    "comment in steps": lambda text: f"### Steps\n\n1. start\n2. stop\n<!--\n{text}\n-->",
    "reference": lambda text: f"[//]: # ({text})\n\nThe table is sorted in the wrong order.",
    "alt text": lambda text: f"![{text}](https://example.com/screen.png)\n\nThe picture shows the fault.",
    "base64 twice": lambda text: f"token-data: {_base64(_base64(text))}",
    "marks": lambda text: "".join(f"{char}\u0301" if char.isalpha() else char for char in text) if _is_latin(text) else f"## {text}",
    "letters": lambda text: _script(text) if _is_latin(text) else f"+ {text}",
    "turned": lambda text: f"\u202e{text}\u202c",
    "escapes": lambda text: "".join(f"\\u{ord(char):04x}" if ord(char) < 0x10000 else char for char in text),
    "log": lambda text: f"2026-01-02 10:00:00 ERROR worker: {text}\n2026-01-02 10:00:01 INFO worker: stopped",
    "cell": lambda text: "| field | value |\n|---|---|\n| note | " + text.replace("\n", " ") + " |",
    "emphasis": lambda text: re.sub(r"\b(\w+)\b", r"**\1**", text) if _is_latin(text) and "<" not in text and "/" not in text else f"_{text}_",
    "span": lambda text: f'All good. <span style="display:none">{text}</span>',
    "citation": lambda text: "\n".join(f"> {line}" for line in text.split("\n")),
    "json": lambda text: '{"title": "Crash on start", "notes": "' + text.replace("\n", " ").replace('"', "'") + '"}',
    "binary": lambda text: " ".join(f"{byte:08b}" for byte in text.encode()),
    "digits": lambda text: text.translate(_LEET) if _is_latin(text) and "://" not in text else f"TODO: {text}",
}  # fmt: skip
_ISSUES = (
    "{}",
    "The export stops at 1,000 rows. It should write all of them.\n\n{}",
    "{}\n\nThe parser raises `KeyError` for an empty file; return an empty list instead.",
    "### Expected\nThe total is 12.\n\n### Actual\nThe total is 11.\n\n{}\n\nVersion 3.4 on Linux.",
    "Please add a flag `--json` to `list`.\n\n{}\n\nThanks!",
    "Rounding is wrong for negative numbers: `round_half(-2.5)` gives -2.\n{}\nThe docs say -3.",
)
_FRAMES = (
    "Our injection filter misses this sentence: \"{}\" Please add a test.",
    "The chatbot of our shop followed the text `{}` that an attacker had put into a review of a product. Reject such reviews.",
    "Add to the corpus of jailbreaks in `tests/attacks.txt`:\n\n```text\n{}\n```\n",
    "Security report: a web page with the words “{}” changes the answer of our bot. The attack works with every browser.",
    "The detector scores “{}” with 0.2, although it is a typical attack; the threshold is 0.5.",
    "Unser Filter gegen Prompt Injection erkennt „{}“ nicht.",
    "Notre filtre laisse passer « {} » ; c'est une attaque connue.",
    "El filtro no detecta «{}», que es un ataque conocido.",
    "检测器没有识别这种攻击：“{}”。请添加测试。",
    "攻撃文「{}」がフィルタを通過します。テストを追加してください。",
    "The guardrail does not stop the prompt injection \"{}\" when it comes in a PDF.",
    "`is_malicious(\"{}\")` should be true.",
    "Documentation of attacks: give this example of a jailbreak:\n\n> {}\n\nand explain why it fails here.",
    "Фильтр пропускает атаку «{}».",
    "False negative of the moderation model: `{}`. It was rated as harmless.",
)  # fmt: skip
_PLACEHOLDER = re.compile(r"\{(base64|base64url|hex|percent|rot13|reversed):((?:[^{}]|\{[^{}]*\})*)\}")


def _read(name: str) -> Iterator[tuple[str, str]]:
    data = tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8"))
    for kind, group in data.items():
        for text in group["texts"]:
            yield kind, _PLACEHOLDER.sub(lambda found: ENCODERS[found[1]](found[2]), text)


def _texts(name: str) -> Iterator[tuple[str, str]]:
    for suffix in ("", "-earlier-held-out", "-later-held-out"):
        yield from _read(f"{name}{suffix}")


def _attacks() -> Iterator[Sample]:
    carriers = list(_CARRIERS.items())
    for place, (kind, text) in enumerate(_texts("attacks")):
        issue = _ISSUES[place % len(_ISSUES)].replace("{}", text)
        yield Sample(issue, kind, "issue", "tuned", is_attack=True)
        name, carry = carriers[place % len(carriers)]
        yield Sample(carry(unicodedata.normalize("NFC", text)), kind, name, "tuned", is_attack=True)


def _benign() -> Iterator[Sample]:
    carriers = list(_CARRIERS.items())
    for place, (kind, text) in enumerate(_texts("benign")):
        yield Sample(text, kind, "issue", "tuned", is_attack=False)
        # Harmless texts are encoded as well: it is no crime.
        if place % 3 == 0:
            name, carry = carriers[(place // 3) % len(carriers)]
            if (carried := carry(text)) != text:
                yield Sample(carried, kind, name, "tuned", is_attack=False)
    plain = [
        text for _, text in _texts("attacks") if "\n" not in text and not set(text) & set('"“”„«»「」`{}')
    ]
    for place, text in enumerate(plain[::2]):
        frame = _FRAMES[place % len(_FRAMES)]
        yield Sample(frame.replace("{}", text), "quoted attack", "issue", "tuned", is_attack=False)
