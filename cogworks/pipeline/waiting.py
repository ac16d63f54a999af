"""What only a person can do for a run to go on."""

from collections.abc import Sequence
from typing import Literal

from cogworks.pipeline.people import Doubt
from cogworks.pipeline.visits import VisitRecord
from cogworks.vocabulary import IssueNumber, NodeId, ScopeCode, SubItemKey, Value


class WaitingFor(Value):
    """Something only a person can do, and the words to ask for it."""

    kind: Literal["merge", "review", "approval", "label", "reopen", "resume", "run", "retry", "blocked"]
    node: NodeId | None = None
    sub_item: SubItemKey | None = None
    number: IssueNumber | None = None
    url: str = ""
    who: str
    ask: str
    """What to do, in one sentence."""
    paste: str = ""
    """The comment that does it as well."""
    code: ScopeCode = ""
    """In which way the work left its bounds, where that is why people are asked."""

    @property
    def line(self) -> str:
        """What to do, where, and who may, for a console."""
        return f"{self.ask}{f': {self.url}' if self.url else ''} ({self.who})"


def blocked(numbers: Sequence[IssueNumber]) -> WaitingFor:
    """What has to be closed before an item is begun."""
    listed = ", ".join(f"#{number}" for number in numbers)
    return WaitingFor(
        kind="blocked",
        number=numbers[0],
        who="nobody needs to do anything here",
        ask=(
            f"it begins by itself once {listed} "
            f"{'is closed or no longer blocks' if len(numbers) == 1 else 'are closed or no longer block'} it"
        ),
    )


def doubted(doubt: Doubt) -> WaitingFor:
    """The question whether a text that somebody else changed is what people want."""
    what = "the issue" if doubt.sub_item is None else f"sub-issue #{doubt.number}"
    names = " and ".join(f"@{login}" for login in doubt.by)
    have = "have" if len(doubt.by) > 1 else "has"
    who = f"{names}, who {have} no write permission" if names else "somebody whom GitHub does not name"
    request = f", after @{doubt.asked_by} asked for it" if doubt.asked_by else ""
    return WaitingFor(
        kind="run",
        sub_item=doubt.sub_item,
        who="anyone with write permission",
        ask=f"{what} was edited by {who}{request}; look at it: `/cogworks run` takes it as it is now",
        paste="/cogworks run",
    )


def beyond_bounds(visit: VisitRecord) -> WaitingFor:
    """What people have to allow, in a document of theirs, before a visit is done again."""
    return WaitingFor(
        kind="retry",
        node=visit.node,
        sub_item=visit.sub_item,
        who="anyone with write permission",
        ask=visit.summary.removeprefix(f"{visit.code}: ").rstrip(". "),
        paste="/cogworks retry",
        code=visit.code,
    )
