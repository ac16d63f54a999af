"""What else a repository was asked for, and what was merged there: the items that another one may say again."""

from typing import Literal

from cogworks.vocabulary import BranchName, IssueNumber, Value


class Neighbour(Value):
    """Another issue of the repository, or a merged pull request."""

    number: IssueNumber
    title: str
    body: str
    kind: Literal["issue", "pull request"]
    state: Literal["open", "closed", "merged"]
    why_closed: str = ""
    """`completed`, `not planned` or `duplicate`; empty where nobody said."""
    labels: tuple[str, ...] = ()
    head: BranchName = BranchName("")
    """Of a pull request."""
