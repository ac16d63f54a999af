"""Which procedure does the work of which node of the default pipeline?

Which procedure does the work of a node? One rule for all pipelines, the built-in one included.

1. A node with a prompt does what the prompt says: `llm` answers, `spawning` decides on follow-up issues.
2. `method` decides for the others: `domain_service` asks the service, `script` runs a script of a built-in pipeline, and
   `builtin` looks its `call` (or else its id) up among the built-in procedures.
3. An `llm` node without a prompt is one of the built-in nodes, found by its id.
"""

from collections.abc import Mapping

from pydantic import BaseModel

from cogworks.nodes import (
    architecture,
    code_generation,
    deterministic,
    division,
    intake,
    integration,
    interface_design,
    parting,
    planning,
    review,
)
from cogworks.nodes.contract import BuiltIn, NodePorts, NodeProcedure, Outcome
from cogworks.nodes.deterministic import OPERATIONS, procedure_of_script, procedure_of_service
from cogworks.nodes.from_prompt import procedure_from_prompt
from cogworks.nodes.replies import ConditionReply
from cogworks.nodes.spawning import procedure_of_spawning
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.graph import Node
from cogworks.vocabulary import NodeId

BUILT_IN: Mapping[NodeId, BuiltIn] = {
    NodeId("intake"): intake.NODE,
    NodeId("architecture"): architecture.NODE,
    NodeId("interface_design"): interface_design.NODE,
    NodeId("planning"): planning.NODE,
    NodeId("code_generation"): code_generation.NODE,
    NodeId("review"): review.NODE,
    NodeId("integration"): integration.NODE,
    NodeId("division"): division.NODE,
    NodeId("parts"): parting.CREATING,
    NodeId("start"): parting.STARTING,
}
"""Id of a node -> the node that ships with cogworks."""

NODES: Mapping[NodeId, NodeProcedure] = {node_id: node.run for node_id, node in BUILT_IN.items()}
"""Id of a node -> what it does."""

REPLIES: Mapping[str, type[BaseModel]] = {
    "condition": ConditionReply,
    **{stem: reply for node in BUILT_IN.values() for stem, reply in node.replies.items()},
}
"""Stem of a prompt -> type of its reply."""

CALLS = {
    "comment": deterministic.comment,
    "open_pull_request": deterministic.open_pull_request,
    "set_labels": deterministic.set_labels,
    "validate_paths": deterministic.validate_paths,
}
"""The built-in procedures that any pipeline may call, besides the node `integration`."""


def procedure_for(
    node: Node, files: Mapping[str, str], nodes: Mapping[NodeId, NodeProcedure]
) -> NodeProcedure | None:
    """What a visit of the node does; None when this version knows no such procedure.

    Args:
        files: of the repository, below `.cogworks`: path -> text.
        nodes: the built-in nodes.

    Raises: NodeFailed when a file that the node names is not there.
    """
    if node.type == "spawning":
        return procedure_of_spawning(node, files)
    if node.type == "llm":
        return procedure_from_prompt(node, files) if node.prompt else nodes.get(node.id)
    if node.method == "script":
        return procedure_of_script(node)
    name = node.call or node.id
    if node.method == "domain_service":
        return procedure_of_service(node) if name in OPERATIONS else None
    call = CALLS.get(name)
    if call is None:
        return nodes.get(NodeId(name))

    def run(task: NodeTask, ports: NodePorts) -> Outcome:
        return call(node, task, ports)

    return run
