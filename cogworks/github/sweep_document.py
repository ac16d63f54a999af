"""The document of one request of a sweep, and what its answer says."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cogworks.forge.bodies import parse_marker
from cogworks.forge.inbox import parse_command
from cogworks.forge.sweep import COMMENTS_PER_ITEM, EVENTS_PER_ITEM, LabelChange, Listed, PullSeen, Tip
from cogworks.forge.unmergeable import failed_of
from cogworks.github.documents import Answer, GraphQLProblem, as_error, is_forbidden
from cogworks.github.pulls import check_seen
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber

PAGE = 50
PULLS_PAGE = 100
_CONFIGURATION = (
    'defaultBranchRef { target { ... on Commit { folder: file(path: ".cogworks") { oid }\n'
    '      config: file(path: ".cogworks/config.toml") { object { ... on Blob { text isTruncated } } } } } }'
)
_ISSUES = f"""issues(first: {PAGE}, after: $issues, labels: [$label], states: [OPEN], orderBy: {{field: CREATED_AT, direction: ASC}}) {{
      pageInfo {{ hasNextPage endCursor }}
      nodes {{ number title url updatedAt milestone {{ number title }} labels(first: 50) {{ nodes {{ name }} }}
        comments(last: {COMMENTS_PER_ITEM}) {{ nodes {{ fullDatabaseId viewerDidAuthor }} }}
        timelineItems(last: {EVENTS_PER_ITEM}, itemTypes: [LABELED_EVENT, UNLABELED_EVENT]) {{ nodes {{ __typename
          ... on LabeledEvent {{ id label {{ name }} }}
          ... on UnlabeledEvent {{ id label {{ name }} }}
        }} }} }}
    }}"""
_PULLS = f"""pullRequests(first: {PULLS_PAGE}, after: $pulls, orderBy: {{field: UPDATED_AT, direction: DESC}}) {{
      pageInfo {{ hasNextPage endCursor }}
      nodes {{ ...Pull }}
    }}"""
_TIP = "target { oid ... on Commit { message committedDate } }"
_REVIEWED = (
    "...Pull mergeable latestOpinionatedReviews(first: 20, writersOnly: true) "
    "{ nodes { fullDatabaseId state authorCanPushToRepository commit { oid } } } "
    "commits(last: 1) { nodes { commit { statusCheckRollup { contexts(first: 50) { nodes { __typename "
    "... on CheckRun { id name conclusion status externalId } ... on StatusContext { id context state } } } } } } }"
)
_MERGED = "...Pull mergeable"
_PULL = """fragment Pull on PullRequest {
  number pullRequestState: state headRefName headRefOid updatedAt isCrossRepository
  newest: commits(last: 1) { nodes { commit { statusCheckRollup { state } } } }
}"""


@dataclass(frozen=True)
class Wish:
    """What one request of a sweep asks for."""

    with_issues: bool = False
    with_pulls: bool = False
    tips: Sequence[IssueNumber] = ()
    """Items whose ledger's tip is read."""
    reviewed: Sequence[IssueNumber] = ()
    """Pull requests that are read with their reviews."""
    merged: Sequence[IssueNumber] = ()
    """Pull requests of which it is read whether they can be merged."""
    spoken: Mapping[IssueNumber, int] = field(default_factory=dict)
    """Items whose newest comments are read, and how many of them."""

    @property
    def is_empty(self) -> bool:
        read = self.tips or self.reviewed or self.merged or self.spoken
        return not (self.with_issues or self.with_pulls or read)


@dataclass(frozen=True)
class Page:
    """A page of a listing: nodes, and the cursor of the next one where there is one."""

    nodes: Sequence[Mapping[str, Any]]
    next_cursor: str | None


def sweep_document(wish: Wish) -> str:
    """The query for a wish. Variables: `owner`, `name`; with issues `issues` and `label`; with pulls `pulls`."""
    head = "$owner: String!, $name: String!"
    fields = ["nameWithOwner"]
    if wish.with_issues:
        head += ", $label: String!, $issues: String"
        fields += [_CONFIGURATION, _ISSUES]
    if wish.with_pulls:
        head += ", $pulls: String"
        fields.append(_PULLS)
    fields += [
        f't{number}: ref(qualifiedName: "refs/heads/cogworks/ledger/{number}") {{ {_TIP} }}'
        for number in wish.tips
    ]
    fields += [f"p{number}: pullRequest(number: {number}) {{ {_REVIEWED} }}" for number in wish.reviewed]
    fields += [f"m{number}: pullRequest(number: {number}) {{ {_MERGED} }}" for number in wish.merged]
    fields += [
        f"c{number}: issue(number: {number}) {{ comments(last: {count}) {{ nodes {{ fullDatabaseId body }} }} }}"
        for number, count in wish.spoken.items()
    ]
    repository = "\n    ".join(fields)
    query = (
        f"query Sweep({head}) {{\n  rateLimit {{ cost remaining resetAt }}\n  viewer {{ login }}\n"
        f"  repository(owner: $owner, name: $name, followRenames: true) {{\n    {repository}\n  }}\n}}\n"
    )
    return f"{query}{_PULL}\n" if "...Pull" in query else query


def repository_of(answer: Answer, where: str) -> Mapping[str, Any]:
    """The repository in an answer.

    Raises:
        CogworksError: it is not there, or something of it could not be read, as the fitting kind.
    """
    for problem in answer.errors:
        if not _is_absence(problem):
            raise as_error(problem, doing=f"look through {where}")
    repository = answer.data.get("repository")
    if not repository:
        problem = next(iter(answer.errors), GraphQLProblem((), "NOT_FOUND", "there is no such repository"))
        raise as_error(problem, doing=f"look through {where}")
    node: Mapping[str, Any] = repository
    return node


def configuration_of(repository: Mapping[str, Any]) -> tuple[str, str | None]:
    """The oid of `.cogworks` at the default branch's head (`""`: none) and the text of its `config.toml`."""
    target = (repository.get("defaultBranchRef") or {}).get("target") or {}
    blob = ((target.get("config") or {}).get("object")) or {}
    return (target.get("folder") or {}).get("oid") or "", blob.get("text")


def page_of(connection: Mapping[str, Any]) -> Page:
    """One page of a listing."""
    info = connection["pageInfo"]
    return Page(
        nodes=[node for node in connection["nodes"] if node],
        next_cursor=info["endCursor"] if info["hasNextPage"] else None,
    )


def is_app(answer: Answer) -> bool:
    """Whether the token speaks for an installation, whose comments are never a person's."""
    login: str = (answer.data.get("viewer") or {}).get("login") or ""
    return login.endswith("[bot]")


def listed(node: Mapping[str, Any], *, viewer_is_app: bool) -> Listed:
    """An issue of the listing."""
    milestone = node.get("milestone") or {}
    return Listed(
        number=IssueNumber(node["number"]),
        title=node["title"],
        url=node["url"],
        updated_at=node["updatedAt"],
        labels=frozenset(label["name"] for label in node["labels"]["nodes"]),
        milestone_number=milestone.get("number"),
        milestone_title=milestone.get("title") or "",
        label_changes=tuple(
            LabelChange(
                id=event["id"],
                label=(event.get("label") or {}).get("name") or "",
                is_added=event["__typename"] == "LabeledEvent",
            )
            for event in node["timelineItems"]["nodes"]
            if event and "id" in event
        ),
        comment_ids=tuple(
            int(comment["fullDatabaseId"])
            for comment in node["comments"]["nodes"]
            # With a personal token the viewer is a person as well.
            if comment and not (viewer_is_app and comment["viewerDidAuthor"])
        ),
    )


def spoken_to(repository: Mapping[str, Any], after: Mapping[IssueNumber, int]) -> frozenset[IssueNumber]:
    """The items where somebody wrote a line to cogworks, in a comment with a higher id than the one given."""
    return frozenset(
        number
        for number, last in after.items()
        for comment in ((repository.get(f"c{number}") or {}).get("comments") or {}).get("nodes") or ()
        if comment and int(comment["fullDatabaseId"]) > last and _speaks_to_us(comment["body"])
    )


def _speaks_to_us(body: str) -> bool:
    return parse_marker(body) is None and parse_command(body) is not None


def tips_of(repository: Mapping[str, Any], numbers: Iterable[IssueNumber]) -> dict[IssueNumber, Tip]:
    """The tips that were asked for; an item without a ledger has none."""
    refs = {number: repository.get(f"t{number}") for number in numbers}
    return {
        number: Tip(
            oid=CommitOid(ref["target"]["oid"]),
            message=ref["target"]["message"],
            committed_date=ref["target"]["committedDate"],
        )
        for number, ref in refs.items()
        if ref
    }


def reviewed_of(repository: Mapping[str, Any], numbers: Iterable[IssueNumber]) -> list[PullSeen]:
    """The pull requests that were asked for with their reviews; those that are gone are left out."""
    nodes = (repository.get(f"p{number}") for number in numbers)
    return [pull_seen(node) for node in nodes if node]


def merged_of(repository: Mapping[str, Any], numbers: Iterable[IssueNumber]) -> list[PullSeen]:
    """The pull requests that were asked whether they can be merged; those that are gone are left out."""
    return [pull_seen(node) for number in numbers if (node := repository.get(f"m{number}"))]


def pull_seen(node: Mapping[str, Any]) -> PullSeen:
    """A pull request; a fork's head is no branch of ours."""
    head = node["headRefName"] if not node["isCrossRepository"] else f"fork:{node['headRefName']}"
    return PullSeen(
        number=IssueNumber(node["number"]),
        state=node["pullRequestState"].lower(),
        head=BranchName(head),
        head_oid=CommitOid(node["headRefOid"]),
        updated_at=node["updatedAt"],
        is_approved=_is_approved(node),
        change_requests=_change_requests(node),
        looks_failed=any(rollup["state"] in ("FAILURE", "ERROR") for rollup in _rollups(node, "newest")),
        has_failed_checks=_has_failed_checks(node),
        is_conflicting=node.get("mergeable") == "CONFLICTING",
    )


def _has_failed_checks(node: Mapping[str, Any]) -> bool:
    contexts = [each for rollup in _rollups(node, "commits") for each in rollup["contexts"]["nodes"] if each]
    return bool(failed_of([check_seen(each) for each in contexts]))


def _rollups(node: Mapping[str, Any], alias: str) -> list[Mapping[str, Any]]:
    """What the checks of the head add up to; none where there are none, or they may not be read."""
    commits = ((node.get(alias) or {}).get("nodes")) or ()
    return [
        each["commit"]["statusCheckRollup"]
        for each in commits
        if each and each["commit"]["statusCheckRollup"]
    ]


def _is_approved(node: Mapping[str, Any]) -> bool | None:
    if "latestOpinionatedReviews" not in node:
        return None
    reviews = ((node["latestOpinionatedReviews"] or {}).get("nodes")) or ()
    writers = [review for review in reviews if review["authorCanPushToRepository"]]
    refused = any(review["state"] == "CHANGES_REQUESTED" for review in writers)
    approved = any(
        review["state"] == "APPROVED" and (review.get("commit") or {}).get("oid") == node["headRefOid"]
        for review in writers
    )
    return approved and not refused


def _change_requests(node: Mapping[str, Any]) -> tuple[int, ...]:
    reviews = ((node.get("latestOpinionatedReviews") or {}).get("nodes")) or ()
    return tuple(
        int(review["fullDatabaseId"])
        for review in reviews
        if review["authorCanPushToRepository"] and review["state"] == "CHANGES_REQUESTED"
    )


def _is_absence(problem: GraphQLProblem) -> bool:
    """Something optional is not there: a ledger, a pull request, the configuration."""
    if problem.path[:1] == ("rateLimit",) or ("statusCheckRollup" in problem.path and is_forbidden(problem)):
        return True
    if problem.type != "NOT_FOUND" or problem.path[:1] != ("repository",) or len(problem.path) < 2:
        return False
    part = str(problem.path[1])
    return part == "defaultBranchRef" or (part[:1] in "tpmc" and part[1:].isdigit())
