"""What may run and which edges are taken, found by exhaustive search; reads the file's plain values, shares no code."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

Table = dict[str, Any]
Place = tuple[str, str | None]
"""A node, and the sub-item it works for."""


def held_edges(raw: Table, node: str, output: Table) -> list[Table]:
    """The edges that leave the node and hold, in declared order; loops among them."""
    evaluation = next(each for each in raw["nodes"] if each["id"] == node).get("evaluation", "all-matching")
    held = []
    for edge in raw["edges"]:
        if edge["source"] != node:
            continue
        holds = output[edge["id"]] if "condition" in edge else True
        if evaluation == "explicit":
            holds = edge["id"] in output["next_edges"]
        if holds:
            held.append(edge)
            if evaluation == "first-matching":
                break
    return held


def loop_walked(raw: Table, node: str, output: Table) -> Table | None:
    """The rework edge that wins over all others when it has a traversal left."""
    return next((edge for edge in held_edges(raw, node, output) if "rework" in edge), None)


def reference_choice(raw: Table, node: str, output: Table) -> dict[str, bool]:
    """Every forward edge that leaves the node and whether it is taken, when no loop is walked."""
    taken = {edge["id"] for edge in held_edges(raw, node, output)}
    loop = loop_walked(raw, node, output)
    if loop is not None:
        taken.add(loop["rework"].get("overflow_edge", ""))
    leaving = [edge for edge in raw["edges"] if edge["source"] == node and "rework" not in edge]
    return {edge["id"]: edge["id"] in taken for edge in leaving}


class Reference:
    """The rules of the frontier over one flat graph of places, by exhaustive search backwards."""

    def __init__(
        self,
        raw: Table,
        *,
        status: Mapping[Place, str],
        taken: Mapping[tuple[str, str | None], bool],
        depends_on: Mapping[str, Sequence[str]] | None,
    ) -> None:
        """Args:
        raw: the pipeline's table.
        status: every place that was started -> succeeded, failed, running or waiting_gate.
        taken: edge and sub-item of its source -> how a finished place decided it.
        depends_on: sub-item -> those it builds on; None while they are not planned.
        """
        self.status = status
        self.taken = taken
        self.planned = depends_on is not None
        self.scope = {node["id"]: node["scope"] for node in raw["nodes"]}
        self.depends_on = depends_on or {}
        self.keys: list[str | None] = list(self.depends_on) or [None]
        forward = [edge for edge in raw["edges"] if "rework" not in edge]
        inner = {
            e["source"] for e in forward if self.scope[e["source"]] == self.scope[e["target"]] == "sub-item"
        }
        self.exits = [node for node, scope in self.scope.items() if scope == "sub-item" and node not in inner]
        self.loops = {(edge["source"], edge["target"]) for edge in raw["edges"] if "rework" in edge}
        self.steps = {(edge["source"], edge["target"]) for edge in forward}
        self.arrows = [
            (edge["id"], source, target)
            for edge in forward
            for source in self.places(edge["source"])
            for target in self.places(edge["target"])
            if source[1] == target[1] or self.scope[source[0]] != self.scope[target[0]]
        ]

    def places(self, node: str) -> list[Place]:
        return [(node, key) for key in (self.keys if self.scope[node] == "sub-item" else [None])]

    def all_places(self) -> list[Place]:
        return [place for node in self.scope for place in self.places(node)]

    def is_ghost(self, place: Place) -> bool:
        return place[1] is None and self.scope[place[0]] == "sub-item"

    def arrow(self, edge: str, source: Place) -> str:
        """taken, refused, open or broken."""
        known = self.status.get(source)
        if known is None:
            kind = self.kind(source)
            return {"skipped": "refused", "empty": "taken", "blocked": "broken"}.get(kind, "open")
        if known == "failed":
            return "broken"
        if known != "succeeded" or (edge, source[1]) not in self.taken:
            return "open"
        return "taken" if self.taken[edge, source[1]] else "refused"

    def kind(self, place: Place) -> str:
        """What an unstarted place is: ready, skipped, blocked, pending or (for no sub-items) empty."""
        into = [self.arrow(edge, source) for edge, source, target in self.arrows if target == place]
        if "broken" in into:
            return "blocked"
        if "open" in into:
            return "pending"
        if "taken" not in into and place[0] != "n0":
            return "skipped"
        if self.is_ghost(place):
            return "empty" if self.planned else "pending"
        waits = [(node, key) for key in self.depends_on.get(place[1] or "", ()) for node in self.exits]
        ends = [self.status.get(each) or self.kind(each) for each in waits]
        ends += [self.status.get(each) or self.kind(each) for each in self.repeated_from(place)]
        if "failed" in ends or "blocked" in ends:
            return "blocked"
        at_work = [each for each, known in self.status.items() if known in {"running", "waiting_gate"}]
        if any(place in self.repeated_from(each) for each in at_work):
            return "pending"
        return "ready" if set(ends) <= {"succeeded", "skipped"} else "pending"

    def repeated_from(self, place: Place) -> set[Place]:
        """Every other place that a loop may repeat when this one ends."""
        return {(node, place[1]) for node in self.repeats.get(place[0], ())}

    @cached_property
    def repeats(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for source, target in self.loops:
            between = {at for at in self.scope if self.leads(target, at) and self.leads(at, source)}
            found.setdefault(source, set()).update(between - {source})
        return found

    def leads(self, node: str, other: str) -> bool:
        """Whether forward edges lead from one node to another; every node leads to itself."""
        return node == other or any(
            self.leads(target, other) for source, target in self.steps if source == node
        )

    def found(self, kind: str) -> set[Place]:
        return {
            place
            for place in self.all_places()
            if place not in self.status and not self.is_ghost(place) and self.kind(place) == kind
        }

    def is_behind(self, place: Place, other: Place) -> bool:
        """Whether a path of arrows leads from the other place here."""
        return any(
            target == place and (source == other or self.is_behind(source, other))
            for _, source, target in self.arrows
        )

    def is_finished(self) -> bool:
        kinds = {self.status.get(place) or self.kind(place) for place in self.all_places()}
        return kinds <= {"succeeded", "skipped", "empty"}
