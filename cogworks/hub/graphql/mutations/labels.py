"""Mutations of labels, and of which labels something wears."""

from collections.abc import Mapping

from cogworks.hub.actions.labels import (
    add_labels,
    create_label,
    delete_label,
    remove_labels,
    set_labels,
    update_label,
)
from cogworks.hub.graphql.mutations.issues import BOTH, labels_of
from cogworks.hub.graphql.nodes import node_of, repository_node
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.tables import Given, Table
from cogworks.hub.records import Issue, Label

TABLE = Table()


def _labelable(request: Request, given: Given) -> Issue:
    return node_of(request, given["labelable_id"], Issue, names=BOTH)


@TABLE.mutation("addLabelsToLabelable")
def add(request: Request, given: Given) -> Mapping[str, object]:
    labels = labels_of(request, given["label_ids"])
    return {"labelable": add_labels(request.world, request.actor, _labelable(request, given), labels)}


@TABLE.mutation("removeLabelsFromLabelable")
def remove(request: Request, given: Given) -> Mapping[str, object]:
    labels = labels_of(request, given["label_ids"])
    return {"labelable": remove_labels(request.world, request.actor, _labelable(request, given), labels)}


@TABLE.mutation("clearLabelsFromLabelable")
def clear(request: Request, given: Given) -> Mapping[str, object]:
    return {"labelable": set_labels(request.world, request.actor, _labelable(request, given), [])}


@TABLE.mutation("createLabel")
def create(request: Request, given: Given) -> Mapping[str, object]:
    label = create_label(
        request.world,
        request.actor,
        repository_node(request, given["repository_id"]),
        name=given["name"],
        color=given["color"],
        description=given.get("description"),
    )
    return {"label": label}


@TABLE.mutation("updateLabel")
def update(request: Request, given: Given) -> Mapping[str, object]:
    label = node_of(request, given["id"], Label, names="Label")
    changed = update_label(
        request.world,
        request.actor,
        label,
        request.repository(label.repository_id),
        name=given.get("name"),
        color=given.get("color"),
        description=given.get("description"),
    )
    return {"label": changed}


@TABLE.mutation("deleteLabel")
def delete(request: Request, given: Given) -> Mapping[str, object]:
    label = node_of(request, given["id"], Label, names="Label")
    delete_label(request.world, request.actor, label, request.repository(label.repository_id))
    return {}
