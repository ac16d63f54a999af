"""Which tests of a slow suite are run before all others: those that import what a change touches, however far away."""

from collections.abc import Collection, Mapping, Sequence

from cogworks.domain_services.checking import Artifacts, DependencyGraph
from cogworks.domain_services.operations import DEPENDENCY_GRAPH
from cogworks.domain_services.transport import ServiceFailed
from cogworks.nodes.contract import NodePorts, Workspace

SLOW_S = 60.0
"""A suite that takes less is run at once."""
MOST_NEAR = 20
"""Where more files of tests are near, the whole suite says it as soon."""


def near_tests(
    ports: NodePorts, workspace: Workspace, changed: Collection[str], tests: Collection[str]
) -> tuple[str, ...]:
    """Those of the test files that use a changed file; none where nobody can tell, or where they are many.

    Args:
        tests: files in which a test passes without the change.
    """
    try:
        answers = ports.service.call(
            DEPENDENCY_GRAPH, workspace, Artifacts(artifacts=tuple(workspace.files()))
        )
    except ServiceFailed:
        # The whole suite follows anyway.
        return ()
    graphs = [answer.result for answer in answers] if isinstance(answers, tuple) else []
    users = _users(graphs)
    near = sorted((reached(changed, users) & {*tests}) - {*changed})
    return tuple(near) if len(near) <= MOST_NEAR else ()


def reached(changed: Collection[str], users: Mapping[str, Collection[str]]) -> frozenset[str]:
    """The files that use one of the changed ones, or use one that does; cycles end.

    Args:
        users: file -> the files that use it.
    """
    found: set[str] = set()
    waiting = [*changed]
    while waiting:
        fresh = {user for user in users.get(waiting.pop(), ()) if user not in found}
        found |= fresh
        waiting += fresh
    return frozenset(found)


def _users(graphs: Sequence[DependencyGraph]) -> Mapping[str, Collection[str]]:
    users: dict[str, set[str]] = {}
    for graph in graphs:
        for module, used in graph.uses.items():
            for each in used:
                if module in graph.modules and each in graph.modules:
                    users.setdefault(graph.modules[each], set()).add(graph.modules[module])
    return users
