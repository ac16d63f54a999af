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
    found = _QUOTED.search(text)
    if found is None:
        return
    module = found[2]
    head = text[: found.start()]
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
    if (found := _GO.match(text)) is not None:
        yield found[2], "*" if found[1] == "." else None, None if found[1] in (".", "_") else found[1]


def rust(text: str) -> Iterator[Names]:
    """`use a::{b as c, d::*};`, `mod a;`, `extern crate a;`."""
    words = " ".join(text.split()).rstrip("; ")
    if (found := re.search(r"\bmod (\w+)$", words)) is not None:
        yield f"self::{found[1]}", None, None
    elif (found := re.search(r"\bextern crate (\w+)(?: as (\w+))?$", words)) is not None:
        yield found[1], None, found[2]
    elif (found := re.search(r"\buse (.+)$", words)) is not None:
        yield from _unfolded(found[1], "::")


def java(text: str) -> Iterator[Names]:
    """`import static a.b.C.*;`."""
    words = re.sub(r"\s*\.\s*", ".", " ".join(text.split())).rstrip("; ").split(" ")
    head, _, last = words[-1].rpartition(".")
    if head:
        yield head, last, None


def c_sharp(text: str) -> Iterator[Names]:
    """`global using static A = B.C;`."""
    words = " ".join(text.split()).rstrip("; ")
    found = re.search(r"\busing (?:static |unsafe )*(?:(\w+) = )?([\w.:]+)", words)
    if found is not None:
        yield found[2], None, found[1]


def include(text: str) -> Iterator[Names]:
    """`#include "x.h"`."""
    if (found := _INCLUDE.search(text)) is not None:
        yield found[2], None, None


def ruby(text: str) -> Iterator[Names]:
    """`require "x"`; what is relative says so in the name."""
    if (found := _RUBY.search(text)) is not None:
        yield found[2], "relative" if found[1] == "require_relative" else None, None


def php(text: str) -> Iterator[Names]:
    r"""`use function A\{B as C};`, `require __DIR__ . "/x.php";`."""
    words = " ".join(text.split()).rstrip("; ")
    if (found := re.match(r"use (?:function |const )?(.+)$", words)) is not None:
        for module, name, alias in _unfolded(found[1], "\\"):
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
    prefixes, found, word = [""], list[Names](), ""
    for sign in [*tree, ","]:
        if len(found) >= _MAX_NAMES:
            break
        if sign == "{":
            prefixes.append(prefixes[-1] + word.strip())
            word = ""
        elif sign in ",}":
            if word.strip():
                found.append(_leaf(prefixes[-1] + word.strip(), separator))
            word = ""
            if sign == "}" and len(prefixes) > 1:
                prefixes.pop()
        else:
            word += sign
    return found


def _leaf(path: str, separator: str) -> Names:
    whole, _, alias = path.partition(" as ")
    head, found, last = whole.strip().replace(" ", "").rpartition(separator)
    if not found:
        return last, None, alias or None
    return (head, None, alias or None) if last == "self" else (head, last, alias or None)
