"""Every question about GitHub that no source settles, and how a scratch repository answers it."""

from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import NamedTuple

from tests.live.scratch import Json, Scratch

COMMIT = "commit: createCommitOnBranch(input: $commit) { commit { oid } }"


class Question(NamedTuple):
    """One thing that only GitHub itself can tell."""

    topic: str
    text: str
    how: str
    ask: Callable[[Scratch], str]


def commit_input(scratch: Scratch, branch: str, head: str, path: str) -> Json:
    return {
        "branch": {"repositoryNameWithOwner": scratch.repository, "branchName": branch},
        "expectedHeadOid": head,
        "message": {"headline": f"live check {scratch.stamp}"},
        "fileChanges": {"additions": [{"path": path, "contents": "bGl2ZQo="}]},
    }


def hidden_refs(scratch: Scratch) -> str:
    name = f"refs/cogworks/live-{scratch.stamp}"
    made = scratch.rest("POST", "/git/refs", {"ref": name, "sha": scratch.head})
    if made.status != 201:
        return f"not asked: the ref could not be made ({made.said})"
    scratch.afterwards(name, lambda: scratch.rest("DELETE", f"/git/{name}"))
    found = scratch.query(
        f'{{ object(expression: "{name}") {{ oid }} ref(qualifiedName: "{name}") {{ name }} }}'
    ).data["repository"]
    words = [f"`{field}` {'resolves it' if found[field] else 'does not'}" for field in ("object", "ref")]
    return "; ".join(words)


def hidden_ref_writes(scratch: Scratch) -> str:
    name = f"refs/cogworks/live-{scratch.stamp}-write"
    update = {"name": name, "beforeOid": "0" * 40, "afterOid": scratch.head}
    reply = scratch.mutate(
        "mutation($i: UpdateRefsInput!) { updateRefs(input: $i) { clientMutationId } }",
        {"i": {"repositoryId": scratch.id, "refUpdates": [update]}},
    )
    if reply.errors:
        return f"no: {reply.said}"
    scratch.afterwards(name, lambda: scratch.rest("DELETE", f"/git/{name}"))
    return "yes, with this token"


def hidden_refs_under_rules(scratch: Scratch) -> str:
    rule = {
        "name": f"live check {scratch.stamp}",
        "target": "branch",
        "enforcement": "active",
        "conditions": {"ref_name": {"include": ["~ALL"], "exclude": []}},
        "rules": [{"type": "creation"}],
    }
    made = scratch.rest("POST", "/rulesets", rule)
    if made.status != 201:
        return f"not asked: the token may not make a ruleset ({made.said})"
    scratch.afterwards("ruleset", lambda: scratch.rest("DELETE", f"/rulesets/{made.body['id']}"))
    name = f"refs/cogworks/live-{scratch.stamp}-rule"
    tried = scratch.rest("POST", "/git/refs", {"ref": name, "sha": scratch.head})
    if tried.status == 201:
        scratch.afterwards(name, lambda: scratch.rest("DELETE", f"/git/{name}"))
    # The rule must not stand in the way of the questions that follow.
    what, remove = scratch.clean_ups.pop(
        next(i for i, each in enumerate(scratch.clean_ups) if each[0] == "ruleset")
    )
    removed = remove()
    if removed.status >= 400:
        scratch.afterwards(what, remove)
    return f"no: `{name}` could be made" if tried.status == 201 else f"yes: {tried.said}"


def pull_request_in_one_document(scratch: Scratch) -> str:
    branch = f"{scratch.branch}-one-document"
    variables = {
        "ref": {"repositoryId": scratch.id, "name": f"refs/heads/{branch}", "oid": scratch.head},
        "commit": commit_input(scratch, branch, scratch.head, f"live-{scratch.stamp}.txt"),
        "pull": {
            "repositoryId": scratch.id,
            "headRefName": branch,
            "baseRefName": scratch.default_branch,
            "title": f"live check {scratch.stamp}",
        },
    }
    scratch.afterwards(f"branch {branch}", lambda: scratch.rest("DELETE", f"/git/refs/heads/{branch}"))
    reply = scratch.mutate(
        "mutation($ref: CreateRefInput!, $commit: CreateCommitOnBranchInput!, $pull: CreatePullRequestInput!) {"
        " ref: createRef(input: $ref) { ref { name } } " + COMMIT + ""
        " pull: createPullRequest(input: $pull) { pullRequest { number headRefOid } } }",
        variables,
    )
    opened = (reply.data.get("pull") or {}).get("pullRequest")
    if not opened:
        return f"no: {reply.said}"
    scratch.afterwards(
        f"pull request #{opened['number']}",
        lambda: scratch.rest("PATCH", f"/pulls/{opened['number']}", {"state": "closed"}),
    )
    head = ((reply.data.get("commit") or {}).get("commit") or {}).get("oid")
    return (
        "yes, with the commit as its head"
        if opened["headRefOid"] == head
        else "yes, but its head is an older commit"
    )


def read_after_write(scratch: Scratch) -> str:
    issue = scratch.new_issue()
    behind = 0
    for count in range(1, 6):
        scratch.graphql(
            "mutation($i: AddCommentInput!) { addComment(input: $i) { clientMutationId } }",
            {"i": {"subjectId": issue["node_id"], "body": f"{count}"}},
        )
        found = scratch.query(
            f"{{ issue(number: {issue['number']}) {{ comments(first: 1) {{ totalCount }} }} }}"
        )
        behind += found.data["repository"]["issue"]["comments"]["totalCount"] != count
    return f"{behind} of 5 reads right after a write did not show it"


def comment_edit_cost(scratch: Scratch) -> str:
    issue = scratch.new_issue()
    made = scratch.rest("POST", f"/issues/{issue['number']}/comments", {"body": "1"})
    edited = scratch.rest("PATCH", f"/issues/comments/{made.body['id']}", {"body": "2"})
    used = [reply.headers.get("x-ratelimit-used", "?") for reply in (made, edited)]
    return f"the hour's counter stood at {used[0]}, then at {used[1]}; GitHub shows no counter of content creation"


def mutation_cost(scratch: Scratch) -> str:
    branch = scratch.new_branch("cost")
    head, used = scratch.head, []
    for number in range(3):
        reply = scratch.mutate(
            f"mutation($commit: CreateCommitOnBranchInput!) {{ {COMMIT} }}",
            {"commit": commit_input(scratch, branch, head, f"{number}.txt")},
        )
        head = reply.data["commit"]["commit"]["oid"]
        used.append(int(reply.headers.get("x-ratelimit-used", "0")))
    return f"{', '.join(str(after - before) for before, after in pairwise(used))} point(s) each"


def commit_dates(scratch: Scratch) -> str:
    branch = scratch.new_branch("dates")
    reply = scratch.mutate(
        "mutation($commit: CreateCommitOnBranchInput!) { commit: createCommitOnBranch(input: $commit)"
        " { commit { authoredDate committedDate signature { isValid } } } }",
        {"commit": commit_input(scratch, branch, scratch.head, "dates.txt")},
    )
    made = reply.data["commit"]["commit"]
    away_s = (
        parsedate_to_datetime(reply.headers["date"]) - datetime.fromisoformat(made["committedDate"])
    ).total_seconds()
    signature = "signed" if (made["signature"] or {}).get("isValid") else "not signed"
    return f"committed {away_s:.0f} s before the answer's `Date`; {signature}"


def empty_tree(scratch: Scratch) -> str:
    reply = scratch.rest("POST", "/git/trees", {"tree": []})
    return "accepted" if reply.status == 201 else f"refused: {reply.said}"


def stale_head(scratch: Scratch) -> str:
    branch = scratch.new_branch("stale")
    reply = scratch.mutate(
        f"mutation($commit: CreateCommitOnBranchInput!) {{ {COMMIT} }}",
        {"commit": commit_input(scratch, branch, "1" * 40, "stale.txt")},
    )
    return f"HTTP {reply.status}, {reply.said}"


def logins(scratch: Scratch) -> str:
    issue = scratch.new_issue()
    viewer = scratch.graphql("{ viewer { login databaseId } }").data["viewer"]
    who = "author { login ... on User { databaseId } ... on Bot { databaseId } }"
    author = scratch.query(f"{{ issue(number: {issue['number']}) {{ {who} }} }}").data["repository"]["issue"][
        "author"
    ]
    same = "the same" if viewer["databaseId"] == author.get("databaseId") else "another"
    return f"viewer {viewer['login']}, author {author['login']}, {same} databaseId"


def fields_of(scratch: Scratch, type_name: str) -> set[str]:
    reply = scratch.graphql("query($t: String!) { __type(name: $t) { fields { name } } }", {"t": type_name})
    return {field["name"] for field in reply.data["__type"]["fields"]}


def extension_fields(scratch: Scratch) -> str:
    known = fields_of(scratch, "Issue")
    asked = ("subIssues", "blockedBy", "blocking", "issueDependenciesSummary")
    return ", ".join(f"{name}: {'yes' if name in known else 'no'}" for name in asked)


def update_refs(scratch: Scratch) -> str:
    known = "yes" if "updateRefs" in fields_of(scratch, "Mutation") else "no"
    meta = scratch.get("/meta")
    version = meta.body.get("installed_version") if isinstance(meta.body, dict) else None
    return f"{known}, on {f'GitHub Enterprise Server {version}' if version else 'a server that tells no version'}"


def label_length(scratch: Scratch) -> str:
    return "; ".join(f"{length} characters: {_label(scratch, length)}" for length in (50, 51))


def _label(scratch: Scratch, length: int) -> str:
    name = f"live-{scratch.stamp}-".ljust(length, "x")
    reply = scratch.rest("POST", "/labels", {"name": name, "color": "ededed"})
    if reply.status != 201:
        return f"refused ({reply.said})"
    scratch.afterwards(f"label {name}", lambda: scratch.rest("DELETE", f"/labels/{name}"))
    return "accepted"


QUESTIONS = (
    Question(
        "hidden refs",
        "Does `object(expression:)` resolve a ref outside refs/heads and refs/tags?",
        "made refs/cogworks/… by REST, read it by GraphQL",
        hidden_refs,
    ),
    Question(
        "hidden refs", "May this token write such refs?", "updateRefs from an all-zero oid", hidden_ref_writes
    ),
    Question(
        "hidden refs",
        "Do rulesets hold for them?",
        "a ruleset that forbids creations in ~ALL, then a hidden ref",
        hidden_refs_under_rules,
    ),
    Question(
        "one document",
        "Does createPullRequest see the ref and the commit of the same document?",
        "createRef, createCommitOnBranch, createPullRequest",
        pull_request_in_one_document,
    ),
    Question(
        "staleness",
        "Does a read right after a write show it?",
        "5 times addComment, then totalCount",
        read_after_write,
    ),
    Question(
        "limits",
        "Does editing a comment count as content creation?",
        "x-ratelimit-used after creating and after editing",
        comment_edit_cost,
    ),
    Question(
        "limits",
        "What does a mutation cost?",
        "x-ratelimit-used over three createCommitOnBranch",
        mutation_cost,
    ),
    Question(
        "commits",
        "Is a commit of createCommitOnBranch dated by the server, and signed?",
        "committedDate against the `Date` header",
        commit_dates,
    ),
    Question("commits", "Is the empty tree refused?", "POST git/trees without entries", empty_tree),
    Question(
        "commits",
        "How is a stale head told?",
        "createCommitOnBranch with a wrong expectedHeadOid",
        stale_head,
    ),
    Question(
        "identity", "Do viewer and author have one login?", "viewer against the author of a new issue", logins
    ),
    Question("schema", "Which fields of issues are there?", "introspection", extension_fields),
    Question("schema", "Is there updateRefs?", "introspection and GET /meta", update_refs),
    Question("labels", "How long may a label's name be?", "labels of 50 and 51 characters", label_length),
)
