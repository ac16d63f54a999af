"""Mutations that move refs and make commits."""

from collections.abc import Mapping

from cogworks.hub.actions.commits import create_commit_on_branch
from cogworks.hub.actions.refs import HEADS, create_ref, delete_ref, update_ref, update_refs
from cogworks.hub.gitobjects import ZERO_OID
from cogworks.hub.gitstore import RefUpdate
from cogworks.hub.graphql.gitvalues import GitCommit, GitRef
from cogworks.hub.graphql.nodes import node_of, repository_node
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.repositories import repository
from cogworks.hub.graphql.tables import InputFields, Table
from cogworks.hub.records import Repository
from cogworks.hub.refusals import Unprocessable

TABLE = Table()


@TABLE.mutation("createRef")
def create(request: Request, fields: InputFields) -> Mapping[str, object]:
    where = repository_node(request, fields["repository_id"])
    name = fields["name"]
    if not name.startswith("refs/"):
        raise Unprocessable(f"{name} is not a valid ref name. A full one such as {HEADS}{name} is wanted.")
    oid = create_ref(request.world, request.actor, where, name, fields["oid"])
    return {"ref": GitRef(where, name, oid)}


@TABLE.mutation("updateRef")
def update(request: Request, fields: InputFields) -> Mapping[str, object]:
    ref = node_of(request, fields["ref_id"], GitRef, names="Ref")
    force = bool(fields.get("force"))
    oid = update_ref(request.world, request.actor, ref.repository, ref.name, fields["oid"], force=force)
    return {"ref": GitRef(ref.repository, ref.name, oid)}


@TABLE.mutation("updateRefs")
def update_many(request: Request, fields: InputFields) -> Mapping[str, object]:
    """All or none. The zero oid before means "must not exist", the zero oid after means "delete"."""
    where = repository_node(request, fields["repository_id"])
    rows = fields["ref_updates"]
    updates = [
        RefUpdate(
            name=row["name"],
            new=None if row["after_oid"] == ZERO_OID else row["after_oid"],
            old=row.get("before_oid"),
        )
        for row in rows
    ]
    forced = frozenset(row["name"] for row in rows if row.get("force"))
    update_refs(request.world, request.actor, where, updates, forced=forced)
    return {}


@TABLE.mutation("deleteRef")
def delete(request: Request, fields: InputFields) -> Mapping[str, object]:
    ref = node_of(request, fields["ref_id"], GitRef, names="Ref")
    delete_ref(request.world, request.actor, ref.repository, ref.name)
    return {}


@TABLE.mutation("createCommitOnBranch")
def commit_on_branch(request: Request, fields: InputFields) -> Mapping[str, object]:
    where, branch = _branch(request, fields["branch"])
    changes = fields.get("file_changes") or {}
    message = fields["message"]
    commit = create_commit_on_branch(
        request.world,
        request.actor,
        where,
        branch=branch,
        expected_head_oid=fields["expected_head_oid"],
        message=f"{message['headline']}\n\n{message.get('body') or ''}".strip(),
        additions={file["path"]: file["contents"] for file in changes.get("additions") or ()},
        deletions=[file["path"] for file in changes.get("deletions") or ()],
    )
    return {"commit": GitCommit(where, commit), "ref": GitRef(where, HEADS + branch, commit.oid)}


def _branch(request: Request, fields: InputFields) -> tuple[Repository, str]:
    """The repository and short name that a CommittableBranch names: by id, or by the names of both."""
    if fields.get("id") is not None:
        ref = node_of(request, fields["id"], GitRef, names="Ref")
        return ref.repository, ref.short_name
    full_name, branch = fields.get("repository_name_with_owner"), fields.get("branch_name")
    if not full_name or not branch:
        raise Unprocessable(
            "A branch is named by `id`, or by `repositoryNameWithOwner` together with `branchName`."
        )
    owner, _, name = full_name.partition("/")
    return repository(None, request, owner, name), branch.removeprefix(HEADS)
