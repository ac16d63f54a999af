"""GitHub in memory as one work item sees it: what is there, and what every effect does to it."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import tomli_w

from cogworks.forge.addresses import IssueAddress
from cogworks.forge.bodies import capped, marked, parse_marker
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
    PostReview,
    PushBranch,
    ReportCheck,
    SetBase,
    SetLabels,
)
from cogworks.forge.facts import (
    Account,
    Branch,
    Checks,
    CheckSeen,
    Comment,
    Edit,
    FailedCheck,
    Issue,
    LabelEvent,
    Ledger,
    LedgerCommit,
    PullRequest,
    RateLimit,
    Review,
    ReviewText,
    SubIssue,
    Viewer,
)
from cogworks.forge.publication import (
    Learned,
    PublishedComment,
    PublishedCommit,
    PublishedIssue,
    PublishedPull,
    PublishedSubIssue,
    Repeatable,
    WrittenCommit,
    blob_name,
    commit_body,
)
from cogworks.forge.snapshot import Neighbour, RepositoryFacts, Snapshot
from cogworks.github.earlier_logs import EarlierLog
from cogworks.ledger.record import Change, read_state
from cogworks.packs.choosing import ReadElsewhere
from cogworks.pipeline.spend import ItemCost
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Login
from tests.pipeline.graphs import document

ISSUE = IssueNumber(7)
ADDRESS = IssueAddress("https://github.com", "octo-org", "adder", ISSUE)
START = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
BOT = Account(login=Login("cogs"), id=900, is_bot=True)
ANN = Account(login=Login("ann"), id=7)
MAIN = BranchName("main")
ROOT = CommitOid("0" * 39 + "1")
CONFIG = '[llm]\nmodel = "claude-sonnet-5-5"\n'
PIPELINE = document(
    [
        {
            "id": "spec",
            "type": "llm",
            "outputs": ["specification"],
            "gate": "human-gated",
            "slug": "spec",
            "produces_code": True,
        },
        {"id": "plan", "type": "llm", "inputs": ["specification"], "outputs": ["plan"]},
        {
            "id": "code",
            "type": "llm",
            "scope": "sub-item",
            "slug": "swi",
            "inputs": ["plan"],
            "outputs": ["code"],
            "produces_code": True,
        },
        {
            "id": "ship",
            "type": "deterministic",
            "method": "builtin",
            "scope": "sub-item",
            "slug": "swi",
            "inputs": ["code"],
            "outputs": ["pull"],
        },
    ],
    "spec>plan plan>code code>ship",
    parallel_sub_items=False,
)
ONE_NODE = document([{"id": "plan", "type": "llm", "outputs": ["plan"]}])


@dataclass
class World:
    """GitHub, as far as one work item goes; time moves one second a call."""

    pipeline: Mapping[str, Any] | None = field(default_factory=lambda: PIPELINE)
    """None: the repository declares none."""
    now: datetime = START
    is_open: bool = True
    is_locked: bool = False
    is_reopened: bool = False
    parent: IssueNumber | None = None
    author: Account | None = ANN
    open_blockers: tuple[IssueNumber, ...] = ()
    title: str = "add() subtracts"
    body: str = "It should add."
    body_edit: Edit | None = None
    title_edit: Edit | None = None
    labels: list[str] = field(default_factory=lambda: ["cogworks:run"])
    label_events: list[LabelEvent] = field(default_factory=list)
    labels_elsewhere: dict[IssueNumber, set[str]] = field(default_factory=dict)
    """Of sub-issues."""
    comments: list[Comment] = field(default_factory=list)
    sub_issues: list[SubIssue] = field(default_factory=list)
    issues: list[SubIssue] = field(default_factory=list)
    """Issues of their own that were created."""
    links: set[tuple[str, str]] = field(default_factory=set)
    branches: dict[BranchName, Branch] = field(default_factory=dict)
    pulls: list[PullRequest] = field(default_factory=list)
    hidden_pulls: set[IssueNumber] = field(default_factory=set)
    """Left out of a read, like merged ones whose branch and cross-reference are gone."""
    root: CommitOid | None = None
    commits: list[LedgerCommit] = field(default_factory=list)
    """Oldest first; empty = the branch does not exist."""
    permissions: dict[Login, str] = field(default_factory=lambda: {Login("ann"): "write"})
    files: dict[str, str] = field(default_factory=dict)
    """The tree of the ledger's tip."""
    logs: list[EarlierLog] = field(default_factory=list)
    examples: dict[str, ReadElsewhere] = field(default_factory=dict)
    """Files of other repositories by the place that packs name."""
    """What other ledgers hold of earlier visits to the coding node."""
    item_costs: list[ItemCost] = field(default_factory=list)
    """What other items came to, the one that ended last first."""
    neighbours: list[Neighbour] = field(default_factory=list)
    """Other issues of the repository, and what was merged there."""
    rate: RateLimit | None = None
    config: str = CONFIG
    ledger_author: str = "cogs[bot]"
    is_ledger_signed: bool = True
    """Of the ledger's tip."""
    more_files: dict[str, str] = field(default_factory=dict)
    """Further files below `.cogworks`."""
    writes: list[str] = field(default_factory=list)
    """Every effect people could see, in order."""
    branch_commits: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Branch and visit key -> commits made."""
    paid: Counter[str] = field(default_factory=Counter)
    """Purpose -> how often the model was paid for it."""
    count: int = 100
    head: CommitOid = field(default_factory=lambda: CommitOid("a" * 40))
    """Of the default branch."""

    elsewhere: list[tuple[IssueNumber, str]] = field(default_factory=list)
    """What was posted below pull requests and sub-issues, which `comments` has as well."""
    review_texts: dict[str, ReviewText] = field(default_factory=dict)
    """Node id of a review -> what is written in it."""
    failed_checks: dict[IssueNumber, tuple[FailedCheck, ...]] = field(default_factory=dict)
    """What the checks of a pull request say that failed."""
    written: dict[CommitOid, WrittenCommit] = field(default_factory=dict)
    """What the commits on work branches did."""

    def __post_init__(self) -> None:
        self.set_label("cogworks:run", "e1")

    def _written(self, effect: CommitFiles) -> WrittenCommit:
        tip = self.branches.get(effect.branch) or self.branches.get(effect.base)
        files = {file.path: ("", blob_name(file.text)) for file in effect.files}
        return WrittenCommit(parents=(tip.oid if tip else self.head,), changed=len(files), files=files)

    def number(self) -> int:
        self.count += 1
        return self.count

    def oid(self) -> CommitOid:
        return CommitOid(f"{self.number():040x}")

    def set_label(self, name: str, event: str, *, by: Account = ANN) -> None:
        """A person puts the label on the issue (again)."""
        if name not in self.labels:
            self.labels.append(name)
        self.label_events.append(LabelEvent(id=event, label=name, added=True, actor=by, created_at=self.now))

    def say(self, body: str, *, by: Account = ANN, edited: bool = False) -> int:
        """Somebody comments; the comment's id."""
        number = self.number()
        self.comments.append(
            Comment(
                node_id=f"C_{number}",
                database_id=number,
                author=by,
                body=body,
                created_at=self.now,
                edited=edited,
                viewer_did_author=False,
            )
        )
        return number

    def edit(self, body: str, *, by: Account | None = ANN) -> None:
        """Somebody rewrites the issue."""
        self.body, self.body_edit = body, Edit(by=by, at=self.now)

    def rename(self, title: str, *, by: Account | None = ANN) -> None:
        """Somebody gives the issue another title."""
        self.title, self.title_edit = title, Edit(by=by, at=self.now)

    def edit_sub_issue(self, place: int, body: str, *, by: Account | None = ANN) -> None:
        """Somebody rewrites the sub-issue at this place, counted from 0."""
        edited = {"body": body, "body_edit": Edit(by=by, at=self.now)}
        self.sub_issues[place] = self.sub_issues[place].model_copy(update=edited)

    def own_comments(self) -> list[str]:
        """The bodies of the program's comments."""
        return [comment.body for comment in self.comments if comment.author == BOT]

    def reactions(self) -> list[tuple[str, ...]]:
        """What it reacted with, by comment of a person."""
        return [comment.own_reactions for comment in self.comments if comment.author != BOT]

    @property
    def state(self) -> RunState:
        return read_state(self.files["state.json"], branch="cogworks/ledger/7")

    def merge(self, number: IssueNumber) -> None:
        """A person merges the pull request."""
        self.pulls = [
            pull.model_copy(update={"state": "merged", "merged_by": ANN}) if pull.number == number else pull
            for pull in self.pulls
        ]

    def review(
        self,
        number: IssueNumber,
        text: ReviewText,
        *,
        state: str = "changes_requested",
        by: Account = ANN,
        can_push: bool = True,
        at: datetime | None = None,
    ) -> Review:
        """Somebody reviews a pull request; it is their last opinion of it."""
        (pull,) = (each for each in self.pulls if each.number == number)
        database_id = self.number()
        review = Review.model_validate(
            {
                "author": by,
                "state": state,
                "oid": pull.head_oid,
                "can_push": can_push,
                "node_id": f"PRR_{database_id}",
                "database_id": database_id,
                "submitted_at": at or self.now,
            }
        )
        self.review_texts[review.node_id] = text
        others = tuple(each for each in pull.reviews if each.author != by)
        changed = pull.model_copy(update={"reviews": (*others, review)})
        self.pulls = [changed if each.number == number else each for each in self.pulls]
        return review

    def check(
        self, number: IssueNumber, *told: FailedCheck, pending: Sequence[str] = (), ours: Sequence[str] = ()
    ) -> None:
        """Checks end at the head of a pull request: those that are told failed; others are pending, or ours."""
        (pull,) = (each for each in self.pulls if each.number == number)
        seen = (
            *(CheckSeen(node_id=f"CR_{each.name}", name=each.name, is_failed=True) for each in told),
            *(CheckSeen(node_id=f"CR_{name}", name=name, is_pending=True) for name in pending),
            *(CheckSeen(node_id=f"CR_{name}", name=name, is_failed=True, is_ours=True) for name in ours),
        )
        self.failed_checks[number] = told
        changed = pull.model_copy(update={"checks": Checks(state="failure", seen=seen)})
        self.pulls = [changed if each.number == number else each for each in self.pulls]

    def move_head(self, number: IssueNumber) -> None:
        """Something was pushed to the branch of a pull request; no check has looked at it."""
        (pull,) = (each for each in self.pulls if each.number == number)
        changed = pull.model_copy(
            update={"head_oid": self.oid(), "checks": Checks(), "is_conflicting": False}
        )
        self.pulls = [changed if each.number == number else each for each in self.pulls]

    def conflict(self, number: IssueNumber) -> None:
        """Somebody pushed to the default branch what GitHub cannot merge with a pull request."""
        self.head = self.oid()
        (pull,) = (each for each in self.pulls if each.number == number)
        changed = pull.model_copy(update={"is_conflicting": True})
        self.pulls = [changed if each.number == number else each for each in self.pulls]

    def close(self, number: IssueNumber) -> None:
        """A person closes the pull request unmerged."""
        self._put(number, "closed")

    def reopen(self, number: IssueNumber) -> None:
        """A person opens it again."""
        self._put(number, "open")

    def _put(self, number: IssueNumber, state: str) -> None:
        self.pulls = [
            PullRequest.model_validate({**pull.model_dump(), "state": state})
            if pull.number == number
            else pull
            for pull in self.pulls
        ]

    def snapshot(self) -> Snapshot:
        ledger = None
        if self.commits:
            tip = self.commits[-1]
            ledger = Ledger(
                oid=tip.oid,
                message=tip.message,
                committed_date=tip.committed_date,
                state_text=self.files.get("state.json"),
                history=tuple(reversed(self.commits[-50:])),
                author=self.ledger_author,
                is_signed_by_host=self.is_ledger_signed,
            )
        config_files = {"config.toml": self.config}
        if self.pipeline is not None:
            config_files["pipeline.toml"] = tomli_w.dumps(dict(self.pipeline))
        config_files |= self.more_files
        return Snapshot(
            server_date=self.now,
            viewer=Viewer(login=Login("cogs[bot]"), id=BOT.id, is_app=True),
            repository=RepositoryFacts(
                node_id="R_1",
                name_with_owner=ADDRESS.repository,
                viewer_permission="WRITE",
                default_branch=MAIN,
                head_oid=self.head,
                config_files=config_files,
                config_oid=hashlib.sha256(repr(sorted(config_files.items())).encode()).hexdigest()[:40],
                label_ids={},
            ),
            issue=Issue(
                node_id="I_7",
                number=ISSUE,
                title=self.title,
                body=self.body,
                body_edit=self.body_edit,
                title_edit=self.title_edit,
                state="open" if self.is_open else "closed",
                is_reopened=self.is_reopened,
                locked=self.is_locked,
                url=ADDRESS.url,
                author=self.author,
                labels=tuple(self.labels),
                comments=tuple(self.comments),
                label_events=tuple(self.label_events),
                sub_issues=tuple(self.sub_issues),
                parent=self.parent,
                open_blockers=self.open_blockers,
            ),
            root_oid=self.root,
            ledger=ledger,
            branches=dict(self.branches),
            pulls=tuple(pull for pull in self.pulls if pull.number not in self.hidden_pulls),
            rate=self.rate,
        )

    def create_root(self) -> CommitOid:
        """The commit every ledger starts from."""
        self.root = ROOT
        return ROOT

    def empty_ledger(self) -> None:
        """The ledger's branch stands at the root, without a commit of its own."""
        self.commits = [LedgerCommit(oid=ROOT, message="root", committed_date=self.now)]

    def commit(self, oid: CommitOid, change: Change) -> None:
        self.files.update(change.files)
        self.commits.append(LedgerCommit(oid=oid, message=change.message, committed_date=self.now))

    def do(self, effect: Effect) -> Learned:
        """Carry one effect out, whether it is there already or not."""
        self.writes.append(effect.kind)
        match effect:
            case CommitFiles():
                oid = self.oid()
                self.written[oid] = self._written(effect)
                self.branches[effect.branch] = Branch(
                    oid=oid, message=f"x\n\n{commit_body(effect.visit_key)}"
                )
                self.branch_commits[effect.branch, effect.visit_key] += 1
                return PublishedCommit(branch=effect.branch, oid=oid)
            case PushBranch():
                self.branches[effect.branch] = Branch(oid=effect.oid, message="x")
                return PublishedCommit(branch=effect.branch, oid=effect.oid)
            case OpenPullRequest():
                return self._opened(effect)
            case CreateSubIssue() | CreateIssue():
                return self._created(effect) if isinstance(effect, CreateSubIssue) else self._spawned(effect)
            case PostComment():
                return self._posted(effect)
            case LinkDependency():
                self.links.add((effect.blocked, effect.blocking))
            case EditComment() | AddReaction():
                self._change_comment(effect)
            case SetBase() | EditPullRequest() | ClosePullRequest() | CloseIssue() | SetLabels():
                self._change(effect)
            case ReportCheck() | PostReview():
                pass  # nothing reads them here
        return Repeatable()

    def _label(self, effect: SetLabels) -> None:
        if effect.number != ISSUE:
            self.labels_elsewhere.setdefault(effect.number, set()).update(effect.add)
            return
        self.labels = [name for name in self.labels if name not in effect.remove]
        self.labels += [name for name in effect.add if name not in self.labels]

    def _react(self, effect: AddReaction) -> None:
        def changed(review: Review) -> Review:
            if review.node_id != effect.subject_id:
                return review
            return review.model_copy(update={"own_reactions": (*{*review.own_reactions, effect.content},)})

        self.pulls = [
            pull.model_copy(update={"reviews": tuple(map(changed, pull.reviews))}) for pull in self.pulls
        ]

    def _change_comment(self, effect: EditComment | AddReaction) -> None:
        if isinstance(effect, AddReaction):
            self._react(effect)

        def changed(comment: Comment) -> Comment:
            if isinstance(effect, EditComment) and comment.node_id == effect.comment_id:
                return comment.model_copy(update={"body": effect.body})
            if isinstance(effect, AddReaction) and comment.node_id == effect.subject_id:
                return comment.model_copy(
                    update={"own_reactions": (*{*comment.own_reactions, effect.content},)}
                )
            return comment

        self.comments = [changed(comment) for comment in self.comments]

    def _change(self, effect: SetBase | EditPullRequest | ClosePullRequest | CloseIssue | SetLabels) -> None:
        if isinstance(effect, SetLabels):
            self._label(effect)
        elif isinstance(effect, ClosePullRequest):
            self.close(effect.number)
        elif isinstance(effect, CloseIssue):
            self.is_open = False
        elif isinstance(effect, SetBase):
            self._rebase(effect)
        else:
            self.pulls = [
                pull.model_copy(update={"body": effect.body}) if pull.number == effect.number else pull
                for pull in self.pulls
            ]

    def _rebase(self, effect: SetBase) -> None:
        if effect.lost_base:
            self.branches[effect.lost_base] = Branch(oid=effect.lost_base_oid, message="x")
        self.pulls = [
            pull.model_copy(update={"base": effect.base, "state": "open"})
            if pull.number == effect.number
            else pull
            for pull in self.pulls
        ]

    def _opened(self, effect: OpenPullRequest) -> PublishedPull:
        number = IssueNumber(self.number())
        self.pulls.append(
            PullRequest(
                node_id=f"P_{number}",
                number=number,
                title=effect.title,
                body=effect.body,
                url=f"https://github.com/octo-org/adder/pull/{number}",
                head=effect.head,
                base=effect.base,
                head_oid=self.branches[effect.head].oid,
                base_oid=CommitOid("a" * 40),
                state="open",
                author=BOT,
            )
        )
        made = self.pulls[-1]
        return PublishedPull(
            slug=effect.slug,
            number=number,
            node_id=made.node_id,
            url=made.url,
            head=made.head,
            base=made.base,
            is_shown_only=effect.is_shown_only,
        )

    def _created(self, effect: CreateSubIssue) -> PublishedSubIssue:
        number = IssueNumber(self.number())
        self.sub_issues.append(
            SubIssue(
                node_id=f"I_{number}",
                number=number,
                title=effect.title,
                body=marked(effect.body, visit_key=effect.visit_key, topic=effect.key),
                state="open",
                author=BOT,
            )
        )
        self.labels_elsewhere[number] = set(effect.labels)
        return PublishedSubIssue(key=effect.key, number=number, node_id=f"I_{number}", url="")

    def _spawned(self, effect: CreateIssue) -> PublishedIssue:
        number = IssueNumber(self.number())
        body = marked(effect.body, visit_key=effect.visit_key, topic=effect.key)
        self.issues.append(
            SubIssue(
                node_id=f"I_{number}", number=number, title=effect.title, body=body, state="open", author=BOT
            )
        )
        return PublishedIssue(key=effect.key, number=number, node_id=f"I_{number}", url=f"url-{number}")

    def _posted(self, effect: PostComment) -> PublishedComment:
        number = self.number()
        if effect.number != ISSUE:
            self.elsewhere.append((effect.number, effect.body))
        self.comments.append(
            Comment(
                node_id=f"C_{number}",
                database_id=number,
                author=BOT,
                body=marked(
                    capped(effect.body),
                    visit_key=effect.visit_key,
                    topic=effect.topic,
                    revision=effect.revision,
                ),
                created_at=self.now,
                edited=False,
                viewer_did_author=True,
            )
        )
        return PublishedComment(
            topic=effect.topic, number=effect.number, node_id=f"C_{number}", database_id=number, url=""
        )

    def twice(self) -> list[str]:
        """What is there more than once and must not be."""
        found = Counter(
            f"comment {parse_marker(comment.body)}" for comment in self.comments if comment.author == BOT
        )
        topics = [marker.topic for body in self.own_comments() if (marker := parse_marker(body))]
        found.update(f"comment {topic}" for topic in topics)
        for issue in self.sub_issues:
            marker = parse_marker(issue.body)
            found[f"sub-issue {marker.topic if marker else '?'}"] += 1
        found.update(f"issue {issue.title}" for issue in self.issues)
        found.update(f"pull request {pull.head} -> {pull.base}" for pull in self.pulls)
        found.update(f"label {name}" for name in self.labels)
        if "state.json" in self.files:
            found.update(f"visit {visit.visit_key}" for visit in self.state.visits)
        found.update({f"commit {key}": made for key, made in self.branch_commits.items()})
        return sorted(name for name, times in found.items() if times > 1)
