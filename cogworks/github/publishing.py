"""Carries the effects of one visit out: as few documents as possible, nothing twice, whatever becomes of an answer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from cogworks.errors import CogworksError, TryAgainLater
from cogworks.forge.effects import (
    AddReaction,
    CloseIssue,
    ClosePullRequest,
    CommitFiles,
    CreateIssue,
    CreateSubIssue,
    EditComment,
    EditPullRequest,
    Effect,
    LinkDependency,
    OpenPullRequest,
    PostComment,
    PushBranch,
    SetBase,
    SetLabels,
)
from cogworks.forge.labels import LabelSource, appearance
from cogworks.forge.publication import (
    Known,
    Learned,
    Published,
    PublishedComment,
    PublishedCommit,
    PublishedIssue,
    PublishedPull,
    PublishedSubIssue,
    RefusedIssue,
    Repeatable,
    adopted,
    with_sub_item,
)
from cogworks.github.composing import describe, learned, missing_labels, operations
from cogworks.github.documents import (
    Answer,
    GraphQLProblem,
    Operation,
    OutcomeUnknown,
    as_error,
    compose,
    is_internal,
    is_undefined_field,
)
from cogworks.github.second_looks import (
    is_not_visible_yet,
    may_pass,
    newest_issues,
    seen_again,
    with_thread,
    with_written,
)
from cogworks.unexpected import UnexpectedAnswer, expecting
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber

Push = Callable[[BranchName, CommitOid, CommitOid | None], None]
"""Push a commit to a branch whose head must be the third argument (None: must not exist); raises when it cannot."""

ISSUES_PER_DOCUMENT = 5
_RE_READ_PAUSE_S = 2.0
_MAX_TRIES = 2


class Client(Protocol):
    """Reads and writes through GraphQL; see `GraphQLClient` for what each raises."""

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer: ...
    def mutate(self, document: str, variables: Mapping[str, Any]) -> Answer: ...


def with_labels(effects: Sequence[Effect], known: Known, labels: Callable[[], LabelSource]) -> Known:
    """The same, knowing the ids of all labels that the effects need; missing ones are created."""
    names = {name for effect in effects for name in missing_labels(effect, known)}
    if not names:
        return known
    source = labels()
    ids = {name: source.ensure_label(name, *appearance(name)) for name in sorted(names)}
    return replace(known, label_ids={**known.label_ids, **ids})


class Publication:
    """The effects of one visit on their way."""

    def __init__(
        self,
        client: Client,
        labels: Callable[[], LabelSource],
        sleep: Callable[[float], None],
        effects: Sequence[Effect],
        known: Known,
    ) -> None:
        self._client = client
        self._labels = labels
        self._sleep = sleep
        self._effects = effects
        self._known = known
        self._learned: dict[int, Learned] = {}
        self._opened: set[int] = set()
        """Pull requests opened by this call, by the place of their effect."""
        self._warnings: list[str] = []
        self._refused: list[RefusedIssue] = []

    def published(self, push: Push | None) -> Published:
        self._read_what_no_snapshot_has()
        self._adopt()
        self._known = with_labels(
            [self._effects[index] for index in self._left(object)], self._known, self._labels
        )
        self._push_branches(push)
        self._send(
            self._left(
                CommitFiles,
                OpenPullRequest,
                EditComment,
                EditPullRequest,
                ClosePullRequest,
                CloseIssue,
                AddReaction,
                SetLabels,
                SetBase,
                PostComment,
            )
        )
        for some in _in_documents(self._left(CreateSubIssue)):
            self._send(some)
        for some in _in_documents(self._left(CreateIssue)):
            self._create_issues(some)
        self._link(self._left(LinkDependency))
        return self._summary()

    @property
    def opened(self) -> frozenset[IssueNumber]:
        """The pull requests that this call opened; what it adopted was there before, or nobody knows."""
        facts = (self._learned[index] for index in self._opened)
        return frozenset(fact.number for fact in facts if isinstance(fact, PublishedPull))

    def _left(self, *kinds: type) -> list[int]:
        return [
            index
            for index, effect in enumerate(self._effects)
            if index not in self._learned and isinstance(effect, kinds)
        ]

    def _learn(self, index: int, fact: Learned) -> None:
        self._learned[index] = fact
        if isinstance(fact, PublishedSubIssue):
            self._known = with_sub_item(self._known, fact)

    def _adopt(self) -> None:
        left = [self._effects[index] for index in self._left(CommitFiles)]
        self._known = with_written(self._client, self._known, left)
        for index in self._left(object):
            fact = adopted(self._effects[index], self._known)
            if fact is not None:
                self._learn(index, fact)

    def _push_branches(self, push: Push | None) -> None:
        for index in self._left(PushBranch):
            effect = self._effects[index]
            if not isinstance(effect, PushBranch):
                continue
            if push is None:
                raise CogworksError(
                    f"branch {effect.branch!r} has to be pushed, but no way to push was given; report this."
                )
            tip = self._known.branches.get(effect.branch)
            push(effect.branch, effect.oid, tip.oid if tip else None)
            self._learn(index, PublishedCommit(branch=effect.branch, oid=effect.oid))

    def _send(self, indices: Sequence[int]) -> None:
        """Until all of them are done: one document, and if need be one more after a look at what became of the first."""
        failure: CogworksError | None = None
        for _ in range(_MAX_TRIES):
            indices = [index for index in indices if index not in self._learned]
            if not indices:
                return
            problems, failure = self._mutate(indices)
            left = [index for index in indices if index not in self._learned]
            if left:
                failure = self._after_failure(left, problems, failure)
        if failure is not None and any(index not in self._learned for index in indices):
            raise failure

    def _mutate(self, indices: Sequence[int]) -> tuple[Mapping[int, GraphQLProblem], OutcomeUnknown | None]:
        """Send what the effects need and learn from the answer; what went wrong, by effect."""
        parts = {index: operations(index, self._effects[index], self._known) for index in indices}
        try:
            answer = self._client.mutate(*compose([part for index in indices for part in parts[index]]))
        except OutcomeUnknown as error:
            return {}, error
        general = next((problem for problem in answer.errors if not problem.path), None)
        problems: dict[int, GraphQLProblem] = {}
        for index in indices:
            needed = [part for part in parts[index] if part.is_needed]
            fact = self._fact(index, needed, answer)
            problem = next((one for part in needed if (one := answer.problem_at(part.alias))), general)
            if fact is not None:
                self._learn(index, fact)
                if isinstance(fact, PublishedPull):
                    self._opened.add(index)
            elif problem is not None:
                problems[index] = problem
        return problems, None

    def _fact(self, index: int, needed: Sequence[Operation], answer: Answer) -> Learned | None:
        payloads = [answer.data.get(part.alias) for part in needed]
        if any(payload is None for payload in payloads):
            return None
        try:
            with expecting(needed[0].alias):
                return learned(self._effects[index], payloads[0])
        except UnexpectedAnswer:
            # It may have been done all the same: a second look finds out.
            return None

    def _after_failure(
        self, left: Sequence[int], problems: Mapping[int, GraphQLProblem], unknown: OutcomeUnknown | None
    ) -> CogworksError:
        """Look at what is there now, unless trying again cannot help.

        Raises:
            CogworksError: a part was refused for good, or a branch belongs to somebody else now.
        """
        for index, problem in problems.items():
            if not may_pass(self._effects[index], problem):
                raise as_error(problem, doing=describe(self._effects[index]))
        if unknown is None and all(
            index in problems and is_not_visible_yet(problems[index]) for index in left
        ):
            # Only pull requests of branches made in the same document come here: they pass on their own.
            return as_error(problems[left[0]], doing=describe(self._effects[left[0]]))
        expected = {index: self._expected_head(index) for index in left}
        self._look_again()
        unkeyed = [index for index in self._left(PostComment, CreateSubIssue) if index in left]
        if any(index not in problems or is_internal(problems[index]) for index in unkeyed):
            # A list may lag behind a write. What is absent twice is taken for not done.
            self._look_again()
        self._refuse_foreign(expected)
        if unknown is not None:
            return unknown
        index = next(iter(problems), left[0])
        if index in problems:
            return as_error(problems[index], doing=describe(self._effects[index]))
        return OutcomeUnknown(
            f"GitHub did not say whether it did this: {describe(self._effects[index])}. Run the step again."
        )

    def _expected_head(self, index: int) -> CommitOid | None:
        effect = self._effects[index]
        if not isinstance(effect, CommitFiles):
            return None
        parts = operations(index, effect, self._known)
        return CommitOid(parts[-1].input["expectedHeadOid"])

    def _refuse_foreign(self, expected: Mapping[int, CommitOid | None]) -> None:
        """Stop where somebody else moved a branch between our read and our commit."""
        for index, head in expected.items():
            effect = self._effects[index]
            if index in self._learned or not isinstance(effect, CommitFiles):
                continue
            tip = self._known.branches.get(effect.branch)
            if tip is None or tip.oid == head:
                continue
            self._close_pulls_from(effect.branch)
            raise TryAgainLater(
                f"somebody moved branch {effect.branch!r} from {str(head)[:10]} to {tip.oid[:10]}. Nothing of "
                "theirs was touched. Run the step again: it starts from what is there."
            )

    def _close_pulls_from(self, branch: BranchName) -> None:
        """Take back pull requests that this call opened for a branch without its commit."""
        pulls = [fact for index in self._opened if isinstance(fact := self._learned[index], PublishedPull)]
        parts = [
            Operation(f"c{number}", "closePullRequest", {"pullRequestId": pull.node_id})
            for number, pull in enumerate(pulls)
            if pull.head == branch
        ]
        if parts:
            self._client.mutate(*compose(parts))

    def _look_again(self) -> None:
        self._sleep(_RE_READ_PAUSE_S)
        self._known = seen_again(self._client, self._known)
        self._read_what_no_snapshot_has()
        self._adopt()

    def _read_what_no_snapshot_has(self) -> None:
        left = [self._effects[index] for index in self._left(PostComment, CreateIssue)]
        threads = {effect.number for effect in left if isinstance(effect, PostComment)}
        # Comments elsewhere than on the issue are not in the snapshot, and a dead run may have posted them.
        for number in sorted(threads - {self._known.repository.issue.number}):
            self._known = with_thread(self._client, self._known, number)
        # Issues that stand alone are in no list of the snapshot, and an earlier attempt may have created them.
        if keys := {effect.visit_key for effect in left if isinstance(effect, CreateIssue)}:
            issues = newest_issues(self._client, self._known.repository, keys)
            self._known = replace(self._known, issues=issues)

    def _create_issues(self, indices: Sequence[int]) -> None:
        """Issues of their own: one that is refused, or never heard of, is a fact to record, and the others stand."""
        reasons: dict[int, str] = {}
        for _ in range(_MAX_TRIES):
            left = [index for index in indices if index not in self._learned]
            if not left:
                return
            problems, unknown = self._mutate(left)
            reasons = {
                index: str(as_error(problem, doing=describe(self._effects[index])))
                for index, problem in problems.items()
            }
            lost = [index for index in left if index not in self._learned and index not in problems]
            reasons |= {index: str(unknown or "GitHub did not say what became of it.") for index in lost}
            if not lost and not any(may_pass(self._effects[index], problems[index]) for index in problems):
                break
            # A list may lag behind a write. What is absent twice is taken for not done.
            self._look_again()
            self._look_again()
        for index in indices:
            effect = self._effects[index]
            if index not in self._learned and isinstance(effect, CreateIssue):
                self._refused.append(RefusedIssue(key=effect.key, reason=reasons[index]))

    def _link(self, indices: Sequence[int]) -> None:
        """Links are a convenience: the plan in the ledger decides, so one that fails is a warning.

        The same link twice is one link, so they are sent again without a look at what became of them.
        """
        warnings: list[str] = []
        for _ in range(_MAX_TRIES):
            left = [index for index in indices if index not in self._learned]
            if not left:
                return
            warnings, is_worth_more = self._linked(left)
            if not is_worth_more:
                break
            self._sleep(_RE_READ_PAUSE_S)
        self._warnings += warnings

    def _linked(self, indices: Sequence[int]) -> tuple[list[str], bool]:
        """What is missing after one document of links, and whether another one may make it."""
        try:
            problems, unknown = self._mutate(indices)
        except TryAgainLater as error:
            return [f"dependency links are missing: {error}"], True
        if unknown is not None:
            return [f"dependency links may be missing: {unknown}"], True
        refused: dict[int, GraphQLProblem] = {}
        for index, problem in problems.items():
            if "already" in problem.message.lower():
                self._learn(index, Repeatable())
            elif is_undefined_field(problem):
                return [
                    "this GitHub has no dependencies between issues; the plan in the ledger has them"
                ], False
            else:
                refused[index] = problem
        warnings = [str(as_error(why, doing=describe(self._effects[at]))) for at, why in refused.items()]
        return warnings, any(may_pass(self._effects[at], why) for at, why in refused.items())

    def _summary(self) -> Published:
        facts = [self._learned[index] for index in sorted(self._learned)]
        return Published(
            commits=tuple(fact for fact in facts if isinstance(fact, PublishedCommit)),
            pull_requests=tuple(fact for fact in facts if isinstance(fact, PublishedPull)),
            sub_issues=tuple(fact for fact in facts if isinstance(fact, PublishedSubIssue)),
            issues=tuple(fact for fact in facts if isinstance(fact, PublishedIssue)),
            refused_issues=tuple(self._refused),
            comments=tuple(fact for fact in facts if isinstance(fact, PublishedComment)),
            warnings=tuple(self._warnings),
        )


def _in_documents(indices: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(indices), ISSUES_PER_DOCUMENT):
        yield indices[start : start + ISSUES_PER_DOCUMENT]
