"""Publishes what a visit wants on GitHub, keeps the views up to date, and shows check runs where the token is an App's."""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from cogworks.errors import CogworksError
from cogworks.forge.effects import (
    AddReaction,
    CloseIssue,
    ClosePullRequest,
    EditComment,
    EditPullRequest,
    Effect,
    PostReview,
    ReportCheck,
    SetBase,
    SetLabels,
)
from cogworks.forge.labels import LabelSource
from cogworks.forge.publication import (
    Known,
    PublicationContext,
    Published,
    PublishedPull,
    adopted,
    known_from,
)
from cogworks.forge.snapshot import Snapshot
from cogworks.github.composing import operations
from cogworks.github.credentials import TokenSource
from cogworks.github.documents import as_error, compose
from cogworks.github.publishing import Client, Publication, Push, with_labels
from cogworks.github.remarking import reviewed
from cogworks.leaving import in_markdown, in_title
from cogworks.vocabulary import IssueNumber


class CheckSource(Protocol):
    """Makes check runs; GraphQL would need the App's own id."""

    def report_check(self, check: ReportCheck) -> None:
        """Make the check run unless it is there.

        Raises:
            CogworksError: it was refused, or GitHub never said whether it was done.
        """


def may_report(tokens: TokenSource) -> bool:
    """Whether the token is one of an App's installation, as a workflow's own is; a person's is always refused."""
    return tokens.token().startswith("ghs_")


def reported(checks: Sequence[ReportCheck], source: CheckSource | None) -> tuple[str, ...]:
    """Make the check runs; a warning for each that cannot be had, for it only repeats what the pull request says.

    Args:
        source: None: nobody here may make any.
    """
    warnings: list[str] = []
    if source is None:
        return ()
    for check in checks:
        try:
            texts = {"title": in_title(check.title), "summary": in_markdown(check.summary)}
            source.report_check(check.model_copy(update=texts))
        except CogworksError as error:
            warnings.append(f"no check run: {error}")
    return tuple(warnings)


class Writer:
    """Carries effects out on one server."""

    def __init__(
        self,
        client: Client,
        labels: Callable[[], LabelSource],
        *,
        sleep: Callable[[float], None],
        checks: Callable[[], CheckSource | None] = lambda: None,
    ) -> None:
        """
        Args:
            labels: called at most once per call, and only when a label is missing.
            checks: who makes check runs; None: nobody here may.
        """
        self._client = client
        self._labels = labels
        self._sleep = sleep
        self._checks = checks
        self._posted: frozenset[str] = frozenset()

    def publish(
        self,
        effects: Sequence[Effect],
        snapshot: Snapshot,
        context: PublicationContext,
        *,
        push: Push | None = None,
    ) -> Published:
        """Carry out what is not there yet and adopt what is; ids of all of it come back, in the effects' order.

        Pushes go first, then one document with commits, pull requests, comments, labels; then sub-issues, five a
        document, then one document of dependency links; then reviews. A link, a check run
        or a review that cannot be made is a warning.

        Args:
            push: needed when there is a `PushBranch`.

        Raises:
            OutcomeUnknown: GitHub never said whether a part was done; the next step adopts it if it was.
            TryAgainLater: a branch moved meanwhile, or as the client says.
            PermissionRefused, UsageError, CogworksError: a part was refused; parts before it may be there.
        """
        known = known_from(snapshot, context, posted=self._posted)
        checks = [effect for effect in effects if isinstance(effect, ReportCheck)]
        others = [effect for effect in effects if not isinstance(effect, ReportCheck | PostReview)]
        publication = Publication(self._client, self._labels, self._sleep, others, known)
        published = publication.published(push)
        self._posted |= {comment.node_id for comment in published.comments}
        unsaid = [
            self._review(effect, published.pull_requests, publication.opened, known)
            for effect in effects
            if isinstance(effect, PostReview)
        ]
        refused = reported(checks, self._checks() if checks else None)
        warnings = (*published.warnings, *filter(None, unsaid), *refused)
        return published.model_copy(update={"warnings": warnings})

    def _review(
        self,
        effect: PostReview,
        pulls: Sequence[PublishedPull],
        opened: Collection[IssueNumber],
        known: Known,
    ) -> str:
        matching = [each for each in pulls if (each.head, each.base) == (effect.branch, effect.base)]
        if not matching:
            return f"branch {effect.branch!r} has no pull request to remark on. The remarks are only in the ledger."
        pull = matching[0]
        return reviewed(self._client, effect, pull, known, is_new=pull.number in opened, sleep=self._sleep)

    def apply_views(self, effects: Sequence[Effect], snapshot: Snapshot) -> str | None:
        """Bring labels, comments of ours and pull requests up to date in one document; a reason if that failed, which stops nothing."""
        views = [
            effect
            for effect in effects
            if isinstance(
                effect,
                SetLabels
                | EditComment
                | AddReaction
                | SetBase
                | EditPullRequest
                | ClosePullRequest
                | CloseIssue,
            )
        ]
        known = known_from(snapshot, PublicationContext(), posted=self._posted)
        try:
            known = with_labels(views, known, self._labels)
            parts = [
                operation
                for index, effect in enumerate(views)
                if adopted(effect, known) is None
                for operation in operations(index, effect, known)
            ]
            answer = self._client.mutate(*compose(parts)) if parts else None
        except CogworksError as error:
            return str(error)
        if answer is None or not answer.errors:
            return None
        return str(
            as_error(answer.errors[0], doing="bring labels, status comment and pull requests up to date")
        )
