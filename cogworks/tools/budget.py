"""What calls may cost together: reserved before each of them, settled after it."""


class Budget:
    """A sum that cannot be overdrawn; in the unit in which tools declare their cost."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.spent = 0.0
        self._reserved = 0.0

    @property
    def left(self) -> float:
        """What nobody has spent or reserved."""
        return max(0.0, self.limit - self.spent - self._reserved)

    def reserve(self, cost: float) -> str | None:
        """Set the cost of a call aside; the reason when there is not enough left, and then nothing is set aside."""
        # Sums of decimal fractions miss their mark by less than this.
        if cost > self.left + 1e-9:
            return f"the call costs {cost:g} and {self.left:g} of {self.limit:g} is left"
        self._reserved += cost
        return None

    def settle(self, reserved: float, *, spent: float) -> None:
        """Book what a call really cost and release the rest of its reservation."""
        self._reserved = max(0.0, self._reserved - reserved)
        self.spent += spent
