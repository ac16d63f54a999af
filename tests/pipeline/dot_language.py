"""A reader of the DOT that is drawn: the statements of the language's grammar that a picture needs, and nothing else."""

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(r'\s*(?:(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<word>[A-Za-z_]\w*)|(?P<sign>->|[{}\[\]=,;]))')
Attributes = dict[str, str]


@dataclass
class Digraph:
    """What one picture holds; labels as Graphviz shows them."""

    name: str
    nodes: dict[str, Attributes] = field(default_factory=dict)
    edges: list[tuple[str, str, Attributes]] = field(default_factory=list)
    boxes: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """Identifier -> label and the nodes in it."""


def read_dot(text: str) -> Digraph:
    """The one digraph of a text; ValueError where the grammar does not allow what is there."""
    reader = _Reader(_tokens(text))
    reader.expect("digraph")
    found = Digraph(reader.name())
    reader.expect("{")
    _statements(reader, found)
    if reader.waiting:
        message = f"after the graph: {reader.waiting[0]!r}"
        raise ValueError(message)
    return found


def _statements(reader: "_Reader", found: Digraph) -> tuple[str, list[str]]:
    """Everything up to the closing brace; the label that was set in it and the nodes declared in it."""
    label, declared = "", []
    while not reader.takes("}"):
        if reader.takes("subgraph"):
            name = reader.name()
            reader.expect("{")
            title, inside = _statements(reader, found)
            found.boxes[name] = (title, tuple(inside))
            continue
        first = reader.name()
        if reader.takes("="):
            value = reader.name()
            label = value if first == "label" else label
        elif reader.takes("->"):
            second = reader.name()
            found.edges.append((first, second, _attributes(reader)))
        else:
            given = _attributes(reader)
            if first != "node":
                found.nodes[first] = given
                declared.append(first)
    return label, declared


def _attributes(reader: "_Reader") -> Attributes:
    found: Attributes = {}
    if reader.takes("["):
        while not reader.takes("]"):
            key = reader.name()
            reader.expect("=")
            found[key] = reader.name()
            reader.takes(",")
    return found


class _Reader:
    def __init__(self, tokens: list[tuple[str, bool]]) -> None:
        self.waiting = tokens

    def takes(self, sign: str) -> bool:
        if self.waiting and self.waiting[0] == (sign, False):
            del self.waiting[0]
            return True
        return False

    def expect(self, sign: str) -> None:
        if not self.takes(sign):
            message = f"wanted {sign!r}, found {self.waiting[:1]!r}"
            raise ValueError(message)

    def name(self) -> str:
        if not self.waiting or (
            re.fullmatch(r"->|[{}\[\]=,;]", self.waiting[0][0]) and not self.waiting[0][1]
        ):
            message = f"wanted a name, found {self.waiting[:1]!r}"
            raise ValueError(message)
        return self.waiting.pop(0)[0]


def _tokens(text: str) -> list[tuple[str, bool]]:
    """Every token with whether it was quoted."""
    found = []
    at = 0
    while at < len(text.rstrip()):
        token = _TOKEN.match(text, at)
        if token is None:
            message = f"no token at {text[at : at + 20]!r}"
            raise ValueError(message)
        quoted = token["text"]
        found.append((_as_shown(quoted[1:-1]) if quoted else token["word"] or token["sign"], bool(quoted)))
        at = token.end()
    return found


def _as_shown(inside: str) -> str:
    """A quoted string as a label shows it: `\\"` is a quote to the lexer, every other backslash begins an escape."""
    return re.sub(r"\\(.)", lambda found: found[1] if found[1] in '"\\' else f"<escape {found[1]}>", inside)
