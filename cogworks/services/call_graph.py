"""Who is near whom: relations between symbols, walked from some of them. The same for every language."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from cogworks.domain_services.exploring import CallGraphParams

Kind = Literal["calls", "imports", "inherits", "tests"]


class Relation(NamedTuple):
    """One edge, by ids."""

    source: str
    target: str
    kind: Kind


Symbols = Mapping[str, Mapping[str, Any]]
"""Id -> the fields of a `Symbol`."""
_MAX_DIGITS = 9


class Neighbourhood(NamedTuple):
    """The symbols near the seeds."""

    hops: Mapping[str, int]
    """Id -> distance from the nearest seed; by distance, then by id."""
    is_truncated: bool
    """Whether more lie within the distance."""


def neighbours_of(relations: Iterable[Relation]) -> Mapping[str, Collection[str]]:
    """Who is one step away from whom, whichever way the relation goes."""
    neighbours: dict[str, set[str]] = {}
    for source, target, _ in relations:
        neighbours.setdefault(source, set()).add(target)
        neighbours.setdefault(target, set()).add(source)
    return neighbours


def neighbourhood(
    neighbours: Mapping[str, Collection[str]], seeds: Iterable[str], *, hops: int, max_nodes: int
) -> Neighbourhood:
    """Breadth first from the seeds. Where there is no room for all of one distance, the first by id are kept."""
    hop_by_id: dict[str, int] = {}
    layer = sorted(set(seeds))
    for hop in range(hops + 1):
        room = max_nodes - len(hop_by_id)
        hop_by_id |= dict.fromkeys(layer[:room], hop)
        if len(layer) > room:
            return Neighbourhood(hop_by_id, is_truncated=True)
        layer = sorted({each for near in layer for each in neighbours.get(near, ())} - hop_by_id.keys())
    return Neighbourhood(hop_by_id, is_truncated=False)


def symbol_at(symbols: Symbols, place: str) -> str | None:
    """The innermost symbol at `<artifact>:<line>`."""
    artifact, _, number = place.rpartition(":")
    if not number.isdecimal() or len(number) > _MAX_DIGITS:
        return None
    line = int(number)
    around = [
        (symbol["lines"][1] - symbol["lines"][0], symbol["parent"] is None, each)
        for each, symbol in symbols.items()
        if symbol["artifact"] == artifact and symbol["lines"][0] <= line <= symbol["lines"][1]
    ]
    return min(around)[2] if around else None


def call_graph_of(
    symbols: Iterable[Mapping[str, Any]], relations: Mapping[Relation, float], params: CallGraphParams
) -> dict[str, Any]:
    """The fields of a `CallGraph`; variables have no part in it."""
    by_id = {each["id"]: each for each in symbols if each["kind"] != "variable"}
    seeds = {seed: seed if seed in by_id else symbol_at(by_id, seed) for seed in params.seeds}
    near = neighbourhood(
        neighbours_of(relations),
        [each for each in seeds.values() if each is not None],
        hops=params.hops,
        max_nodes=params.max_nodes,
    )
    return {
        "nodes": [{"symbol": by_id[each], "hop": hop} for each, hop in near.hops.items()],
        "edges": [
            {**relation._asdict(), "weight": weight}
            for relation, weight in relations.items()
            if relation.source in near.hops and relation.target in near.hops
        ],
        "truncated": near.is_truncated,
        "unknown_seeds": [seed for seed, symbol in seeds.items() if symbol is None],
    }
