"""Files by path over REST."""

from cogworks.hub.actions.commits import FileWrite, put_file
from cogworks.hub.refusals import NotFound
from cogworks.hub.rest.exchange import Answer, Call, Route
from cogworks.hub.rest.gitdata import decoded, resolved, sent_signature
from cogworks.hub.rest.shapes.gitdata import entry_summary, file, git_commit


def get(call: Call) -> Answer:
    """A file with its content, or the list of a directory."""
    return _at(call, call.path["path"].strip("/"))


def get_root(call: Call) -> Answer:
    return _at(call, "")


def _at(call: Call, path: str) -> Answer:
    repository, git = call.repository(), call.git()
    at = call.query.get("ref") or repository.default_branch
    if git.resolve(f"{at}^{{commit}}") is None:
        raise NotFound("This repository is empty." if not git.refs() else f"No commit found for the ref {at}")
    entry = git.entry(resolved(call, at).tree, path)
    if entry is None:
        raise NotFound
    if entry.type == "tree":
        prefix = f"{path}/" if path else ""
        rows = git.tree(entry.oid) or ()
        return Answer([entry_summary(call.world, repository, prefix + row.name, row, at) for row in rows])
    if call.wants("raw"):
        return Answer(raw=git.blob(entry.oid) or b"")
    return Answer(file(call.world, repository, path, entry, at))


def readme(call: Call) -> Answer:
    repository, git = call.repository(), call.git()
    at = call.query.get("ref") or repository.default_branch
    rows = git.tree(resolved(call, at).tree) or ()
    entry = next((row for row in rows if row.type == "blob" and row.name.lower().startswith("readme")), None)
    if entry is None:
        raise NotFound
    return Answer(file(call.world, repository, entry.name, entry, at))


def put(call: Call) -> Answer:
    return _write(call, decoded(call.fields.required("content")))


def delete(call: Call) -> Answer:
    return _write(call, None)


def _write(call: Call, content: bytes | None) -> Answer:
    repository, fields = call.repository(), call.fields
    path = call.path["path"]
    branch = fields.text("branch") or repository.default_branch
    write = FileWrite(
        path=path,
        content=content,
        message=fields.required("message"),
        branch=branch,
        sha=fields.text("sha"),
        author=sent_signature(call, "author"),
    )
    entry, commit, is_new = put_file(call.world, call.actor, repository, write)
    shown = None if entry is None else entry_summary(call.world, repository, path, entry, branch)
    body = {"content": shown, "commit": git_commit(call.world, repository, commit)}
    return Answer(body, 201 if is_new else 200)


_ROOT = "/repos/{owner}/{repo}"
ROUTES = (
    Route("GET", f"{_ROOT}/readme", readme),
    Route("GET", f"{_ROOT}/contents", get_root),
    Route("GET", f"{_ROOT}/contents/{{path}}", get),
    Route("PUT", f"{_ROOT}/contents/{{path}}", put),
    Route("DELETE", f"{_ROOT}/contents/{{path}}", delete),
)
