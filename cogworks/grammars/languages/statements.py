"""What import statements take, read from their text."""

import re
from collections.abc import Iterable, Iterator

from cogworks.grammars.spec import Names

_QUOTED = re.compile(r"""(?:\bfrom\s*|^\s*import\s*|\(\s*|=\s*require\s*\(\s*)(["'`])([^"'`\n]+)\1""")
_WORD = r"[\w$]+"
_LIST = re.compile(r"\{([^{}]*)\}")
_DEFAULT = re.compile(rf"^\s*import\s+(?:type\s+)?({_WORD})\s*(?:,|from\b)")
_WHOLE = re.compile(rf"\*\s*as\s+({_WORD})")
_INCLUDE = re.compile(r'#\s*(?:include|import)\s*([<"])([^>"\n]+)[>"]')
_GO = re.compile(r'^\s*(?:([\w.]+)\s+)?["`]([^"`\n]+)["`]')
_RUBY = re.compile(r"""(require|require_relative|load|autoload)\b[\s(]*(?::\w+\s*,\s*)?["']([^"'\n]+)["']""")
_PHP_FILE = re.compile(r"""["']([^"'\n]+\.php)["']""")
_MAX_NAMES = 2_000


def script(text: str) -> Iterator[Names]:
    """`import a, {b as c} from "m"`, `export * from "m"`, `require("m")`, `import("m")`."""
    quoted = _QUOTED.search(text)
    if quoted is None:
        return
    module = quoted[2]
    head = text[: quoted.start()]
    default, whole, names = _DEFAULT.match(text), _WHOLE.search(head), _LIST.search(head)
    if default:
        yield module, "default", default[1]
    if whole:
        yield module, None, whole[1]
    elif text.lstrip().startswith("export") and "*" in head:
        yield module, "*", None
    for name, alias in _listed(names[1] if names else "", " as "):
        yield module, name.removeprefix("type "), alias
    if not default and not whole and not names and "*" not in head:
        yield module, None, None


def go(text: str) -> Iterator[Names]:
    """One line of an import: `alias "path"`."""
    if (match := _GO.match(text)) is not None:
        yield match[2], "*" if match[1] == "." else None, None if match[1] in (".", "_") else match[1]


def rust(text: str) -> Iterator[Names]:
    """`use a::{b as c, d::*};`, `mod a;`, `extern crate a;`."""
    words = " ".join(text.split()).rstrip("; ")
    if (match := re.search(r"\bmod (\w+)$", words)) is not None:
        yield f"self::{match[1]}", None, None
    elif (match := re.search(r"\bextern crate (\w+)(?: as (\w+))?$", words)) is not None:
        yield match[1], None, match[2]
    elif (match := re.search(r"\buse (.+)$", words)) is not None:
        yield from _unfolded(match[1], "::")


def java(text: str) -> Iterator[Names]:
    """`import static a.b.C.*;`."""
    words = re.sub(r"\s*\.\s*", ".", " ".join(text.split())).rstrip("; ").split(" ")
    head, _, last = words[-1].rpartition(".")
    if head:
        yield head, last, None


def c_sharp(text: str) -> Iterator[Names]:
    """`global using static A = B.C;`."""
    words = " ".join(text.split()).rstrip("; ")
    match = re.search(r"\busing (?:static |unsafe )*(?:(\w+) = )?([\w.:]+)", words)
    if match is not None:
        yield match[2], None, match[1]


def include(text: str) -> Iterator[Names]:
    """`#include "x.h"`."""
    if (match := _INCLUDE.search(text)) is not None:
        yield match[2], None, None


def ruby(text: str) -> Iterator[Names]:
    """`require "x"`; what is relative says so in the name."""
    if (match := _RUBY.search(text)) is not None:
        yield match[2], "relative" if match[1] == "require_relative" else None, None


def php(text: str) -> Iterator[Names]:
    r"""`use function A\{B as C};`, `require __DIR__ . "/x.php";`."""
    words = " ".join(text.split()).rstrip("; ")
    if (match := re.match(r"use (?:function |const )?(.+)$", words)) is not None:
        for module, name, alias in _unfolded(match[1], "\\"):
            yield f"{module}\\{name}" if name else module, None, alias
    elif (path := _PHP_FILE.search(words)) is not None:
        yield path[1], None, None


def _listed(names: str, word: str) -> Iterator[tuple[str, str | None]]:
    for each in names.split(",")[:_MAX_NAMES]:
        name, _, alias = " ".join(each.split()).partition(word)
        if name:
            yield name, alias or None


def _unfolded(tree: str, separator: str) -> Iterable[Names]:
    """The leaves of `a::{b, c::{d as e, self}}`, without recursion."""
    prefixes, leaves, word = [""], list[Names](), ""
    for sign in [*tree, ","]:
        if len(leaves) >= _MAX_NAMES:
            break
        if sign == "{":
            prefixes.append(prefixes[-1] + word.strip())
            word = ""
        elif sign in ",}":
            if word.strip():
                leaves.append(_leaf(prefixes[-1] + word.strip(), separator))
            word = ""
            if sign == "}" and len(prefixes) > 1:
                prefixes.pop()
        else:
            word += sign
    return leaves


def _leaf(path: str, separator: str) -> Names:
    whole, _, alias = path.partition(" as ")
    head, has_separator, last = whole.strip().replace(" ", "").rpartition(separator)
    if not has_separator:
        return last, None, alias or None
    return (head, None, alias or None) if last == "self" else (head, last, alias or None)
