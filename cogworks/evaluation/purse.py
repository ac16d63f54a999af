"""What all instances of an evaluation together may cost, and what of it each may use."""

from decimal import ROUND_DOWN, Decimal

from cogworks.vocabulary import Value

_SMALLEST = Decimal("0.000001")


class Purse(Value):
    """A limit, what is spent of it, and what instances under way may still use."""

    limit_usd: Decimal | None = None
    """None: no limit but that of each instance."""
    spent_usd: Decimal = Decimal(0)
    lent_usd: Decimal = Decimal(0)

    too_little_usd: Decimal = Decimal(0)
    """The largest share that did not suffice for an instance; nobody is lent that little again."""

    @property
    def left_usd(self) -> Decimal | None:
        """What nobody has been lent; None: no limit."""
        if self.limit_usd is None:
            return None
        return max(Decimal(0), self.limit_usd - self.spent_usd - self.lent_usd)

    def share_usd(self, begins: int) -> Decimal | None:
        """What the next of so many instances that could begin now may use; 0: it cannot begin, None: no limit.

        Fewer begin, with more each, rather than all with what was too little before.
        """
        left = self.left_usd
        if left is None:
            return None
        shares = ((left / number).quantize(_SMALLEST, ROUND_DOWN) for number in range(begins, 0, -1))
        return next((share for share in shares if share > self.too_little_usd), Decimal(0))

    def lending(self, share_usd: Decimal | None) -> "Purse":
        """The purse while an instance is under way."""
        return self.model_copy(update={"lent_usd": self.lent_usd + (share_usd or 0)})

    def paying(self, cost_usd: float, *, share_usd: Decimal | None = None, sufficed: bool = True) -> "Purse":
        """The purse when an instance has ended: its share is back, less what it cost.

        Args:
            sufficed: whether the share was enough for it.
        """
        too_little = self.too_little_usd if sufficed else max(self.too_little_usd, share_usd or Decimal(0))
        return self.model_copy(
            update={
                "spent_usd": self.spent_usd + Decimal(str(cost_usd)),
                "lent_usd": self.lent_usd - (share_usd or 0),
                "too_little_usd": too_little,
            }
        )
