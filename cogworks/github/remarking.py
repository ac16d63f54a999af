"""Reviews of our own: remarks at lines of a pull request, made once whatever becomes of an answer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from cogworks.errors import PermissionRefused
from cogworks.forge.bodies import capped, marked, parse_marker
from cogworks.forge.effects import LineRemark, PostReview
from cogworks.forge.publication import Known, PublishedPull
from cogworks.github.documents import (
    Answer,
    GraphQLProblem,
    Operation,
    OutcomeUnknown,
    as_error,
    compose,
    document,
    is_internal,
    is_limited,
)
from cogworks.github.pulls import account
from cogworks.unexpected import expecting
from cogworks.vocabulary import VisitKey

_PAUSE_S = 2.0
_MAX_TRIES = 3
_ALIAS = "review"


class Client(Protocol):
    """Reads and writes through GraphQL; see `GraphQLClient` for what each raises."""

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer: ...
    def mutate(self, document: str, variables: Mapping[str, Any]) -> Answer: ...


def reviewed(
    client: Client,
    effect: PostReview,
    pull: PublishedPull,
    known: Known,
    *,
    is_new: bool,
    sleep: Callable[[float], None],
) -> str:
    """Make the review of a pull request unless it is there; a warning where GitHub does not let us, else nothing.

    Args:
        known: who counts as us.
        is_new: the pull request was opened a moment ago, so that nothing of ours can stand there.

    Raises:
        TryAgainLater: GitHub never said whether it was done, or takes nothing now; the next step finds out.
        CogworksError: what stands there cannot be read.
    """
    desk = _Desk(client, effect, pull, known)
    left = effect.remarks if is_new else desk.unsaid()
    is_listed, problem = False, None
    for _ in range(_MAX_TRIES):
        if not left:
            return ""
        problem = desk.sent(left, is_listed=is_listed)
        if problem is None:
            return ""
        is_refused = not (is_internal(problem) or is_limited(problem))
        for _ in range(1 if is_refused else 2):
            # A list may lag behind a write. What is absent twice is taken for not done.
            sleep(_PAUSE_S)
            left = desk.unsaid()
            if not left:
                return ""
        if is_refused and is_listed:
            break
        is_listed = is_listed or is_refused
    doing = f"remark on lines of #{pull.number}"
    error = as_error(problem or GraphQLProblem((), "UNKNOWN", "no answer"), doing=doing)
    if problem is not None and not (is_internal(problem) or is_limited(problem)):
        return f"could not post the remarks of the review, so they are only in the ledger: {error}"
    raise error


class _Desk:
    """One pull request, and what we have to say about it."""

    def __init__(self, client: Client, effect: PostReview, pull: PublishedPull, known: Known) -> None:
        self._client = client
        self._effect = effect
        self._pull = pull
        self._known = known

    def unsaid(self) -> tuple[LineRemark, ...]:
        """What is still to be said: nothing where the review is there, and no remark that is there already."""
        topics = {(topic, key) for topic, key in self._remarks_there()}
        own = (_topic_of(self._effect), self._effect.visit_key)
        if own in topics:
            return ()
        posted = {topic for topic, _ in topics}
        return tuple(each for each in self._effect.remarks if _topic(each) not in posted)

    def sent(self, remarks: Sequence[LineRemark], *, is_listed: bool) -> GraphQLProblem | None:
        """Why it is not there, as far as the answer says; an unknown end counts as a breakdown of GitHub.

        Args:
            is_listed: all of it in the body, at no line.
        """
        text = "\n\n".join([self._effect.body, *map(_listed, remarks)]) if is_listed else self._effect.body
        fields: dict[str, Any] = {
            "pullRequestId": self._pull.node_id,
            "commitOID": self._effect.head,
            "event": "COMMENT",
            "body": marked(capped(text), visit_key=self._effect.visit_key, topic=_topic_of(self._effect)),
        }
        if not is_listed:
            fields["threads"] = [_thread(each, self._effect.visit_key) for each in remarks]
        try:
            answer = self._client.mutate(*compose([Operation(_ALIAS, "addPullRequestReview", fields)]))
        except PermissionRefused as error:
            return GraphQLProblem((), "FORBIDDEN", str(error))
        except OutcomeUnknown as error:
            return GraphQLProblem((), "INTERNAL", str(error))
        if answer.errors:
            return answer.errors[0]
        review = (answer.data.get(_ALIAS) or {}).get("pullRequestReview")
        return None if review else GraphQLProblem((), "INTERNAL", "the answer says nothing of the review")

    def _remarks_there(self) -> Iterator[tuple[str, VisitKey]]:
        owner, _, name = self._known.repository.repository.name_with_owner.partition("/")
        variables = {"owner": owner, "name": name, "number": self._pull.number}
        answer = self._client.query(document("said-at-lines"), variables)
        pull = (answer.data.get("repository") or {}).get("pullRequest")
        if answer.errors or not pull:
            problem = next(iter(answer.errors), GraphQLProblem((), "NOT_FOUND", "it is gone"))
            raise as_error(problem, doing=f"read the reviews of #{self._pull.number}")
        with expecting("pullRequest.reviews"):
            for review in pull["reviews"]["nodes"]:
                for each in (review, *review["comments"]["nodes"]):
                    marker, author = parse_marker(each["body"]), account(each.get("author"))
                    # Anybody can copy a marker; only those who have held a lease can have meant it.
                    if marker is not None and author is not None and author.id in self._known.identities:
                        yield marker.topic, marker.visit_key


def _topic_of(effect: PostReview) -> str:
    return f"review:{effect.head[:12]}"


def _topic(remark: LineRemark) -> str:
    return f"remark:{remark.key}"


def _thread(remark: LineRemark, visit_key: VisitKey) -> dict[str, Any]:
    several = {"startLine": remark.first_line, "startSide": "RIGHT"}
    return {
        "path": remark.path,
        "line": remark.last_line,
        "side": "RIGHT",
        **(several if remark.first_line < remark.last_line else {}),
        "body": marked(capped(remark.body), visit_key=visit_key, topic=_topic(remark)),
    }


def _listed(remark: LineRemark) -> str:
    lines = f"line {remark.first_line}"
    if remark.first_line < remark.last_line:
        lines = f"lines {remark.first_line} to {remark.last_line}"
    return f"`{remark.path}` {lines}:\n\n{remark.body}"
