"""What a run keeps of what people said: holds, approvals, ignored labels, and the answers they are owed."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Literal

from pydantic import Field, model_validator

from cogworks.vocabulary import CommitOid, IssueNumber, NodeId, ScopeCode, SubItemKey, Value, VisitKey

INPUTS_NODE = NodeId("inputs")
"""No node of any graph: the name under which a lease is taken to answer people. Its visits are not recorded."""
MIN_HASH_DIGITS = 7
CONFIGURATION = "configuration"
"""What a refused item waits for, in the trailer that a sweep reads."""
BLOCKED = "blocked"
"""What an item waits for that begins when other issues are closed, in the same trailer."""
PART = "part"
"""What an item waits for that was divided, in the same trailer."""

Reaction = Literal["THUMBS_UP", "EYES", "THUMBS_DOWN", "CONFUSED"]


InputLabel = Literal["hold", "cancel", "restart", "safety_critical"]
"""An input label by what it asks for; a team may call it otherwise."""


class Held(Value):
    """Somebody stopped the run by a command."""

    by: str
    why: str = ""


class Approval(Value):
    """Somebody approved one artifact; it counts only while the artifact is still that one."""

    node: NodeId
    sub_item: SubItemKey | None
    artifact: str
    """7 to 64 hex digits that the artifact's hash starts with."""
    by: str
    comment_id: int


class AskedCall(Value):
    """A call of a tool that a visit makes only when somebody approves it."""

    tool: str
    hash: str
    """Of tool, profile, input and tree; an approval of anything else counts for nothing."""
    shown: str
    """The input without secrets, cut short; fit to stand between backticks."""
    rejected_because: str = ""
    """A person refused it, for this reason: the visit fails."""
    lapsed: str = ""
    """Why an earlier approval of this very call did not count."""
    code: ScopeCode = ""
    """In which way the work left its bounds, where that is why people are asked."""


SOMEBODY = "somebody"
"""Who approved a call, where an older ledger did not say."""


class ApprovedCall(Value):
    """A call that somebody approved."""

    hash: str
    by: str
    written: datetime | None = None
    """When, by GitHub's clock."""
    comment_id: int = 0
    """In which comment; 0 in older ledgers."""

    @model_validator(mode="before")
    @classmethod
    def _of_an_older_ledger(cls, data: object) -> object:
        """There only the hash was kept."""
        return {"hash": data, "by": SOMEBODY} if isinstance(data, str) else data


class ShownCall(Value):
    """An approved call of whose approval GitHub shows the comment, of somebody who may."""

    node: NodeId
    sub_item: SubItemKey | None
    hash: str
    written: datetime
    """When the comment was, by GitHub's clock."""


class GatePassed(Value):
    """Why a human gate counts as passed; derived from GitHub's facts, kept for the history."""

    node: NodeId
    sub_item: SubItemKey | None
    how: Literal["merged", "approved"]
    by: str
    oid: CommitOid


class Refusal(Value):
    """Why an item cannot begin, as it was reported to the person who asked for it; somebody has to mend the repository."""

    digest: str
    """sha256 of the problem's text."""
    config_oid: str
    """The tree of `.cogworks` that has the problem; empty where there is none."""
    blocked_by: tuple[IssueNumber, ...] = ()
    """The issues that have to be closed first, where it is that and no problem."""


class CommentRef(Value):
    """The status comment: `node_id` for edits, `database_id` for links."""

    node_id: str
    database_id: int
    visit_key: str = ""
    """The one in its marker; empty: that of the run's first visit."""


REPLY = "reply-"
"""How the topic of an answer begins; the id of the comment follows."""


class Owed(Value):
    """A comment that has to be posted once, under a lease."""

    topic: str
    body: str
    visit_key: VisitKey
    """Its marker's, given when the comment became due: the runner that posts it recognises it by that."""


class IgnoredLabel(Value):
    """An input label set by somebody who may not."""

    event_id: str
    label: str
    by: str


class Receipt(Value):
    """The reaction that a command's comment gets."""

    subject_id: str
    """Node id of the comment."""
    content: Reaction


class SeenPull(Value):
    """A pull request of the run as a step last saw it."""

    number: IssueNumber
    state: Literal["open", "closed", "merged"]
    head_oid: CommitOid
    is_approved: bool = False
    is_base_gone: bool = False
    """When it was first seen closed, the branch it goes to was gone: GitHub closed it, nobody rejected it."""


class FailedHead(Value):
    """A head of a pull request at which checks failed, or that conflicts with its base branch, and what became of that."""

    number: IssueNumber
    oid: CommitOid
    became: Literal["repair", "person", "left"]
    """`repair`: a visit was started; `person`: somebody was asked, for enough had been started; `left`: the same checks fail on
    the branch that the pull request goes to, or nothing of the run can mend it."""


class Wording(Value):
    """A title and body that somebody who may ask for work stands for: prompts are made from no other."""

    digest: str
    by: str = ""
    """Who asked for it, or edited it; empty where an older ledger did not say."""
    body_edited_at: datetime | None = None
    title_edited_at: datetime | None = None


class Doubt(Value):
    """A text that somebody changed who may not ask for work, after it was asked for: nothing is made from it."""

    sub_item: SubItemKey | None = None
    """None: the issue itself."""
    number: IssueNumber
    wording: Wording
    by: tuple[str, ...] = ()
    """Who changed it, as far as they are known and may not."""
    asked_by: str = ""


class Contaminated(Value):
    """A text of people that gives orders to the model: nothing is made from it before somebody answers for it."""

    source: str
    """What the text is."""
    digest: str
    """Its sha256."""
    kind: str
    signature: str = ""
    """Empty: a model found it."""
    version: str = ""
    """Of the signatures."""
    line: int = 0
    why: str
    how: str = ""
    """How the words were hidden; empty: not at all."""
    quote: str
    """The words, fit to be shown between backticks."""


class Reported(Value):
    """A passage of the issue that a model took for an attempt to steer its reader."""

    visit_key: VisitKey
    """Of the visit in which it was asked."""
    digest: str
    """Of title and body together: the report is about this very text."""
    source: str
    """Which of the two holds the passage."""
    quote: str
    """The words, fit to be shown between backticks."""


class Cleared(Value):
    """A text that gives orders to the model, and why somebody who may ask for work wants it used all the same."""

    source: str
    digest: str
    by: str
    why: str


class Inputs(Value):
    """The newest human inputs that have been dealt with; it moves in the commit that obeys them."""

    last_comment_id: int = 0
    last_label_event_id: str = ""
    times: int = 0
    """How many commits dealt with inputs."""
    ignored_labels: tuple[IgnoredLabel, ...] = ()
    """Labels that are on the issue and do not count."""
    reviews: tuple[int, ...] | None = None
    """The reviews that asked for changes and were dealt with; None while no pull request is known, and in older ledgers."""
    failed_heads: tuple[FailedHead, ...] = ()
    conflicts: tuple[FailedHead, ...] = ()
    """Heads that could not be merged."""
    """The heads with failed checks that were dealt with."""
    receipts: tuple[Receipt, ...] = ()
    """For the commands dealt with last."""
    answered: Mapping[str, date] = Field(default_factory=dict)
    """Who may ask for nothing and was answered -> on which day, by GitHub's clock; those of the last two days alone."""
    labels: tuple[InputLabel, ...] = ()
    """Input labels that were on the issue at the last look, no matter who set them."""
    pulls: tuple[SeenPull, ...] = ()
    """The run's pull requests at the last look, by number."""
    request: Wording | None = None
    """The issue as it was asked for; None before it was, and in older ledgers."""
    sub_requests: Mapping[SubItemKey, Wording] = Field(default_factory=dict)
    """The sub-issues that people edited who may; the others are as the plan has them."""
    doubts: tuple[Doubt, ...] = ()
    """Texts that wait for a person."""
    contaminated: tuple[Contaminated, ...] = ()
    """Texts that give orders to the model and that nobody answered for."""
    reported: tuple[Reported, ...] = ()
    """What a model said of the issue, as it is and as it was before; what of it waits for a person is among `contaminated`."""
    cleared: tuple[Cleared, ...] = ()
    """Those that somebody answered for."""
