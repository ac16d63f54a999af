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
from cogworks.hub.graphql.tables import InputFields, Table
from cogworks.hub.records import Issue, Label

TABLE = Table()


def _labelable(request: Request, fields: InputFields) -> Issue:
    return node_of(request, fields["labelable_id"], Issue, names=BOTH)


@TABLE.mutation("addLabelsToLabelable")
def add(request: Request, fields: InputFields) -> Mapping[str, object]:
    labels = labels_of(request, fields["label_ids"])
    return {"labelable": add_labels(request.world, request.actor, _labelable(request, fields), labels)}


@TABLE.mutation("removeLabelsFromLabelable")
def remove(request: Request, fields: InputFields) -> Mapping[str, object]:
    labels = labels_of(request, fields["label_ids"])
    return {"labelable": remove_labels(request.world, request.actor, _labelable(request, fields), labels)}


@TABLE.mutation("clearLabelsFromLabelable")
def clear(request: Request, fields: InputFields) -> Mapping[str, object]:
    return {"labelable": set_labels(request.world, request.actor, _labelable(request, fields), [])}


@TABLE.mutation("createLabel")
def create(request: Request, fields: InputFields) -> Mapping[str, object]:
    label = create_label(
        request.world,
        request.actor,
        repository_node(request, fields["repository_id"]),
        name=fields["name"],
        color=fields["color"],
        description=fields.get("description"),
    )
    return {"label": label}


@TABLE.mutation("updateLabel")
def update(request: Request, fields: InputFields) -> Mapping[str, object]:
    label = node_of(request, fields["id"], Label, names="Label")
    changed = update_label(
        request.world,
        request.actor,
        label,
        request.repository(label.repository_id),
        name=fields.get("name"),
        color=fields.get("color"),
        description=fields.get("description"),
    )
    return {"label": changed}


@TABLE.mutation("deleteLabel")
def delete(request: Request, fields: InputFields) -> Mapping[str, object]:
    label = node_of(request, fields["id"], Label, names="Label")
    delete_label(request.world, request.actor, label, request.repository(label.repository_id))
    return {}
