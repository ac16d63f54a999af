"""Branches, refs, raw objects and history over REST."""

import base64
from datetime import datetime

from cogworks.hub.actions.commits import TreeRow, existing_commit, write_blob, write_commit, write_tree
from cogworks.hub.actions.refs import HEADS, create_ref, delete_ref, update_ref
from cogworks.hub.gitobjects import Commit, Signature
from cogworks.hub.records import Repository
from cogworks.hub.refusals import Conflict, NotFound, Unprocessable
from cogworks.hub.rest.exchange import NO_CONTENT, Answer, Call, Fields, Route, created
from cogworks.hub.rest.shapes.gitdata import blob, commit_full, commit_simple, git_commit, ref, tree
from cogworks.hub.rest.shapes.pulls import file_change
from cogworks.hub.rest.shapes.repositories import repository_page, repository_url


def list_branches(call: Call) -> Answer:
    repository = call.repository()
    root = repository_url(call.world, repository)
    return call.page(
        list(call.git().refs(HEADS).items()),
        lambda row: {
            "name": row[0].removeprefix(HEADS),
            "commit": {"sha": row[1], "url": f"{root}/commits/{row[1]}"},
            "protected": False,
        },
    )


def get_branch(call: Call) -> Answer:
    repository, name = call.repository(), call.path["branch"]
    tip = call.git().branch(name)
    if tip is None:
        raise NotFound("Branch not found")
    url = f"{repository_url(call.world, repository)}/branches/{name}"
    return Answer(
        {
            "name": name,
            "commit": commit_simple(call.world, repository, existing_commit(call.git(), tip)),
            "_links": {"self": url, "html": f"{repository_page(call.world, repository)}/tree/{name}"},
            "protected": False,
            "protection": {"enabled": False},
            "protection_url": f"{url}/protection",
        }
    )


def get_protection(call: Call) -> Answer:
    get_branch(call)
    raise NotFound("Branch not protected")


def get_ref(call: Call) -> Answer:
    repository, name = call.repository(), f"refs/{call.path['ref']}"
    oid = call.git().ref(name)
    if oid is None:
        raise NotFound
    return Answer(ref(call.world, repository, name, oid))


def matching_refs(call: Call) -> Answer:
    repository = call.repository()
    rows = list(call.git().refs(f"refs/{call.path['ref']}").items())
    return call.page(rows, lambda row: ref(call.world, repository, row[0], row[1]))


def post_ref(call: Call) -> Answer:
    repository, fields = call.repository(), call.fields
    name = fields.required("ref")
    if not name.startswith("refs/") or name.count("/") < 2:
        raise Unprocessable("Reference name must start with 'refs/' and contain at least two slashes.")
    try:
        oid = create_ref(call.world, call.actor, repository, name, fields.required("sha"))
    except Unprocessable as refusal:
        # REST says it more shortly than GraphQL.
        raise (
            Unprocessable("Reference already exists") if "already exists" in refusal.message else refusal
        ) from None
    return created(ref(call.world, repository, name, oid))


def patch_ref(call: Call) -> Answer:
    repository, fields = call.repository(), call.fields
    name = f"refs/{call.path['ref']}"
    force = fields.flag("force") or False
    oid = update_ref(call.world, call.actor, repository, name, fields.required("sha"), force=force)
    return Answer(ref(call.world, repository, name, oid))


def remove_ref(call: Call) -> Answer:
    delete_ref(call.world, call.actor, call.repository(), f"refs/{call.path['ref']}")
    return NO_CONTENT


def post_blob(call: Call) -> Answer:
    fields = call.fields
    text = fields.required("content")
    content = decoded(text) if fields.text("encoding") == "base64" else text.encode()
    repository = call.repository()
    oid = write_blob(call.world, call.actor, repository, content)
    return created({"sha": oid, "url": f"{repository_url(call.world, repository)}/git/blobs/{oid}"})


def decoded(text: str) -> bytes:
    """What base64 stands for. Raises `Unprocessable`."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except ValueError as error:
        raise Unprocessable("content is not valid Base64") from error


def get_blob(call: Call) -> Answer:
    content = call.git().blob(call.path["file_sha"])
    if content is None:
        raise NotFound
    return Answer(blob(call.world, call.repository(), call.path["file_sha"], content))


def post_tree(call: Call) -> Answer:
    repository, fields, git = call.repository(), call.fields, call.git()
    rows = [_tree_row(call, row) for row in fields.objects("tree")]
    oid = write_tree(call.world, call.actor, repository, rows, fields.text("base_tree"))
    return created(tree(call.world, repository, oid, [(entry.name, entry) for entry in git.tree(oid) or ()]))


def _tree_row(call: Call, row: Fields) -> TreeRow:
    """A row names an object, or carries the text of a new file; a `sha` of null removes the path."""
    content = row.text("content")
    if content is not None:
        oid: str | None = write_blob(call.world, call.actor, call.repository(), content.encode())
    else:
        oid = row.text("sha")
        if oid is None and "sha" not in row:
            raise Unprocessable("Must supply tree.sha or tree.content")
    return TreeRow(path=row.required("path"), mode=row.text("mode") or "100644", oid=oid)


def get_tree(call: Call) -> Answer:
    git, name = call.git(), call.path["tree_sha"]
    oid = git.resolve(f"{name}^{{tree}}")
    if oid is None:
        raise NotFound
    if call.query.get("recursive"):
        rows = git.walk(oid)
    else:
        rows = [(entry.name, entry) for entry in git.tree(oid) or ()]
    return Answer(tree(call.world, call.repository(), oid, rows))


def post_commit(call: Call) -> Answer:
    fields, repository = call.fields, call.repository()
    commit = write_commit(
        call.world,
        call.actor,
        repository,
        message=fields.required("message"),
        tree=fields.required("tree"),
        parents=fields.texts("parents") or (),
        author=sent_signature(call, "author"),
        committer=sent_signature(call, "committer"),
    )
    return created(git_commit(call.world, repository, commit))


def sent_signature(call: Call, name: str) -> Signature | None:
    """An author or committer from the body; None when it was not sent."""
    sent = call.fields.get(name)
    if not isinstance(sent, dict):
        return None
    fields = Fields(sent)
    date = fields.text("date")
    try:
        when = call.world.clock.now() if date is None else datetime.fromisoformat(date)
    except ValueError as error:
        raise Unprocessable(f"Invalid request.\n\n{date} is not a valid ISO 8601 date.") from error
    return Signature(name=fields.required("name"), email=fields.required("email"), date=when)


def get_git_commit(call: Call) -> Answer:
    commit = call.git().commit(call.path["commit_sha"])
    if commit is None:
        raise NotFound
    return Answer(git_commit(call.world, call.repository(), commit))


def post_tag(call: Call) -> Answer:
    fields, repository, git = call.fields, call.repository(), call.git()
    kind = fields.choice("type", ("commit", "tree", "blob")) or "commit"
    target, name, message = fields.required("object"), fields.required("tag"), fields.required("message")
    if git.object(target) is None:
        raise Unprocessable(f"Could not verify object {target}")
    who = sent_signature(call, "tagger") or Signature(
        name=call.actor.known.login, email=call.actor.known.noreply, date=call.world.clock.now()
    )
    text = f"object {target}\ntype {kind}\ntag {name}\ntagger {who.format()}\n\n{message}\n"
    write_blob(call.world, call.actor, repository, b"")  # the same right as for any other object
    oid = git.write("tag", text.encode())
    root = repository_url(call.world, repository)
    return created(
        {
            "node_id": oid,
            "tag": name,
            "sha": oid,
            "url": f"{root}/git/tags/{oid}",
            "message": message,
            "tagger": {"name": who.name, "email": who.email, "date": who.date.isoformat()},
            "object": {"type": kind, "sha": target, "url": f"{root}/git/{kind}s/{target}"},
        }
    )


def resolved(call: Call, name: str) -> Commit:
    """The commit that a branch, tag or oid means. Raises `NotFound`, and `Conflict` for an empty repository."""
    git = call.git()
    if not git.refs():
        raise Conflict("Git Repository is empty.")
    oid = git.resolve(f"{name}^{{commit}}")
    if oid is None:
        raise Unprocessable(f"No commit found for SHA: {name}")
    return existing_commit(git, oid)


def list_commits(call: Call) -> Answer:
    repository, query = call.repository(), call.query
    start = resolved(call, query.get("sha") or repository.default_branch)
    paths = (query["path"],) if "path" in query else ()
    commits = call.git().log(start.oid, paths=paths)
    author = query.get("author")
    if author is not None:
        commits = [one for one in commits if author in (one.author.name, one.author.email)]
    return call.page(commits, lambda one: commit_simple(call.world, repository, one))


def get_commit(call: Call) -> Answer:
    return Answer(commit_full(call.world, call.repository(), resolved(call, call.path["ref"])))


def compare(call: Call) -> Answer:
    base_name, dots, head_name = call.path["basehead"].partition("...")
    if not dots:
        raise NotFound
    repository, git, world = call.repository(), call.git(), call.world
    base, head = (_end(call, repository, name) for name in (base_name, head_name))
    fork = git.merge_base(base.oid, head.oid)
    if fork is None:
        raise NotFound(f"No common ancestor between {base_name} and {head_name}.")
    ahead, behind = git.log(head.oid, f"^{base.oid}"), git.count(base.oid, f"^{head.oid}")
    words = {
        (True, True): "diverged",
        (True, False): "ahead",
        (False, True): "behind",
        (False, False): "identical",
    }
    page = repository_page(world, repository)
    url = f"{repository_url(world, repository)}/compare/{base_name}...{head_name}"
    changes = git.changes(fork, head.oid)
    return Answer(
        {
            "url": url,
            "html_url": f"{page}/compare/{base_name}...{head_name}",
            "permalink_url": f"{page}/compare/{base.oid}...{head.oid}",
            "diff_url": f"{page}/compare/{base_name}...{head_name}.diff",
            "patch_url": f"{page}/compare/{base_name}...{head_name}.patch",
            "base_commit": commit_simple(world, repository, base),
            "merge_base_commit": commit_simple(world, repository, existing_commit(git, fork)),
            "status": words[bool(ahead), bool(behind)],
            "ahead_by": len(ahead),
            "behind_by": behind,
            "total_commits": len(ahead),
            "commits": [commit_simple(world, repository, one) for one in reversed(ahead)],
            "files": [file_change(world, repository, head.oid, change) for change in changes],
        }
    )


def _end(call: Call, repository: Repository, name: str) -> Commit:
    git = call.git()
    oid = git.resolve(f"{name.removeprefix(f'{repository.owner}:')}^{{commit}}")
    if oid is None:
        raise NotFound
    return existing_commit(git, oid)


_ROOT = "/repos/{owner}/{repo}"
ROUTES = (
    Route("GET", f"{_ROOT}/branches", list_branches),
    Route("GET", f"{_ROOT}/branches/{{branch}}", get_branch),
    Route("GET", f"{_ROOT}/branches/{{branch}}/protection", get_protection),
    Route("GET", f"{_ROOT}/git/ref/{{ref}}", get_ref),
    Route("GET", f"{_ROOT}/git/matching-refs/{{ref}}", matching_refs),
    Route("POST", f"{_ROOT}/git/refs", post_ref),
    Route("PATCH", f"{_ROOT}/git/refs/{{ref}}", patch_ref),
    Route("DELETE", f"{_ROOT}/git/refs/{{ref}}", remove_ref),
    Route("POST", f"{_ROOT}/git/blobs", post_blob),
    Route("GET", f"{_ROOT}/git/blobs/{{file_sha}}", get_blob),
    Route("POST", f"{_ROOT}/git/trees", post_tree),
    Route("GET", f"{_ROOT}/git/trees/{{tree_sha}}", get_tree),
    Route("POST", f"{_ROOT}/git/commits", post_commit),
    Route("GET", f"{_ROOT}/git/commits/{{commit_sha}}", get_git_commit),
    Route("POST", f"{_ROOT}/git/tags", post_tag),
    Route("GET", f"{_ROOT}/commits", list_commits),
    Route("GET", f"{_ROOT}/commits/{{ref}}", get_commit),
    Route("GET", f"{_ROOT}/compare/{{basehead}}", compare),
)
