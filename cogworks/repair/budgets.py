"""How many diffs of one request may reach the tree."""

from typing import Literal

from pydantic import Field

from cogworks.vocabulary import Value

Budget = Literal["finalists", "actions_per_txn"]


class Budgets(Value):
    """Two limits, of which the smaller one counts; a diff that breaks a rule reaches no tree and uses up nothing."""

    finalists: int = Field(ge=1)
    actions_per_txn: int = Field(ge=1)

    @property
    def most(self) -> int:
        return min(self.finalists, self.actions_per_txn)

    @property
    def reached(self) -> tuple[Budget, ...]:
        """The names of those that `most` diffs use up."""
        limits: tuple[tuple[Budget, int], ...] = (
            ("finalists", self.finalists),
            ("actions_per_txn", self.actions_per_txn),
        )
        return tuple(name for name, limit in limits if limit == self.most)
