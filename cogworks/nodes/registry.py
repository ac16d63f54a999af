"""Which procedure does the work of which node of the default pipeline?"""

from collections.abc import Mapping

from cogworks.nodes import (
    architecture,
    code_generation,
    intake,
    integration,
    interface_design,
    planning,
    review,
)
from cogworks.nodes.contract import NodeProcedure
from cogworks.vocabulary import NodeId

NODES: Mapping[NodeId, NodeProcedure] = {
    NodeId("intake"): intake.run,
    NodeId("architecture"): architecture.run,
    NodeId("interface_design"): interface_design.run,
    NodeId("planning"): planning.run,
    NodeId("code_generation"): code_generation.run,
    NodeId("review"): review.run,
    NodeId("integration"): integration.run,
}
"""Id of a node -> what it does."""
