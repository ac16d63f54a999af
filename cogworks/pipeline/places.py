"""Where a visit of a run stands: at a node, or beside one to decide by a model where it leads.

A routing visit of `review` for sub-item A has the instance `review-routing@A`. No node id of a file holds a '-', so the
name is free, and it is fit for a folder, a label and a shell.
"""

from cogworks.pipeline.elements import Instance
from cogworks.vocabulary import NodeId

_ROUTING = "-routing"


def routing_of(place: Instance) -> Instance:
    """The visit that asks a model where this node leads."""
    return Instance(NodeId(place.node + _ROUTING), place.sub_item)


def is_routing(at: Instance) -> bool:
    """Whether it is a visit that decides edges, and none of a node."""
    return at.node.endswith(_ROUTING)


def place_of(at: Instance) -> Instance:
    """The place in the graph a visit belongs to: for a routing visit the node whose edges it decides."""
    return Instance(NodeId(at.node.removesuffix(_ROUTING)), at.sub_item)
