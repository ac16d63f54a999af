"""The operation `call_graph`: what calls, inherits and tests what, around some symbols."""

from pathlib import Path
from typing import Any

from cogworks.domain_services.exploring import CallGraphParams
from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.services.neighbourhood import neighbourhood, neighbours_of, symbol_at
from cogworks.services.python.code.relations import relations_of
from cogworks.services.python.code.repository import Code, collector_at_rest, read_code
from cogworks.services.python.indexing import symbols_of
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import found
from cogworks.vocabulary import Severity


def call_graph(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = CallGraphParams.model_validate(request.params)
    code = read_code(folder, machine.facts_of)
    counts = {"artifacts": len(code.files), "unread": len(code.unread)}
    missing = [
        Diagnostic(
            artifact=each.artifact,
            severity=Severity.INFORMATIONAL,
            category="completeness",
            message=f"not in the graph: {each.reason}",
        )
        for each in code.unread
    ]
    with collector_at_rest():
        graph = call_graph_of(code, params)
    return found(request, missing, graph, counts=counts)


def call_graph_of(code: Code, params: CallGraphParams) -> dict[str, Any]:
    """The fields of a `CallGraph`; variables have no part in it."""
    symbols = {
        each["id"]: each
        for path in code.files
        for each in symbols_of(code, path)
        if each["kind"] != "variable"
    }
    relations = relations_of(code)
    seeds = {seed: seed if seed in symbols else symbol_at(symbols, seed) for seed in params.seeds}
    near = neighbourhood(
        neighbours_of(relations),
        [each for each in seeds.values() if each is not None],
        hops=params.hops,
        max_nodes=params.max_nodes,
    )
    return {
        "nodes": [{"symbol": symbols[each], "hop": hop} for each, hop in near.hops.items()],
        "edges": [
            {**relation._asdict(), "weight": weight}
            for relation, weight in relations.items()
            if relation.source in near.hops and relation.target in near.hops
        ],
        "truncated": near.is_truncated,
        "unknown_seeds": [seed for seed, symbol in seeds.items() if symbol is None],
    }
