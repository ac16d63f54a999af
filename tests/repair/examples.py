"""A small shop with a fault in it, as the rules of the patch loop see it."""

from cogworks.domain_services.exploring import CallNode, Lines, Symbol, SymbolKind
from cogworks.repair.localise.suspects import Suspect


def symbol(name: str, lines: Lines, *, kind: SymbolKind = "function", artifact: str = "shop.py") -> Symbol:
    parent = name.rpartition(".")[0] or None
    is_test = artifact.startswith("tests/")
    return Symbol(id=name, kind=kind, artifact=artifact, lines=lines, parent=parent, is_test=is_test)


def node(
    name: str, lines: Lines, *, hop: int = 1, kind: SymbolKind = "function", artifact: str = "shop.py"
) -> CallNode:
    return CallNode(symbol=symbol(name, lines, kind=kind, artifact=artifact), hop=hop)


def suspect(name: str, lines: Lines, suspicion: float, *, artifact: str = "shop.py") -> Suspect:
    return Suspect(
        symbol=symbol(name, lines, artifact=artifact), own=(lines,), signals={}, suspicion=suspicion
    )


def numbered_text(lines: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, lines + 1))
