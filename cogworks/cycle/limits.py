"""How much a coding cycle may use before it has to stop."""

from pydantic import Field

from cogworks.cycle.actions import Action
from cogworks.vocabulary import Value


class Limits(Value):
    """The limits of one run; zero and negative ones are refused."""

    max_cycles: int = Field(default=100, gt=0)
    max_patches: int = Field(default=10, gt=0)
    """Transactions that may be started."""
    max_test_runs: int = Field(default=20, gt=0)
    generation_retries: int = Field(default=1, ge=0)
    """Further requests for a change after one that gave nothing valid, before the failure is analysed anew."""
    finalists: int = Field(default=2, gt=0)
    """Changes of one request that are tried."""
    cycle_timeout_s: float = Field(default=600.0, gt=0)
    total_timeout_s: float = Field(default=3600.0, gt=0)
    test_timeout_s: float = Field(default=300.0, gt=0)
    build_timeout_s: float = Field(default=600.0, gt=0)
    lint_timeout_s: float = Field(default=120.0, gt=0)
    patch_timeout_s: float = Field(default=30.0, gt=0)
    """Of undoing a patch. Applying one runs the tests inside its transaction and has their limit."""
    other_timeout_s: float = Field(default=180.0, gt=0)

    def action_ms(self, action: Action) -> int:
        """How long one action may take, in milliseconds."""
        match action:
            case Action.RUN_TESTS | Action.RUN_FOCUSED_TESTS | Action.APPLY_PATCH:
                seconds = self.test_timeout_s
            case Action.BUILD:
                seconds = self.build_timeout_s
            case Action.LINT | Action.VALIDATE:
                seconds = self.lint_timeout_s
            case Action.REVERT_PATCH:
                seconds = self.patch_timeout_s
            case _:
                seconds = self.other_timeout_s
        return round(seconds * 1000)
