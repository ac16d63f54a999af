"""The table `[codegen]` of `.cogworks/config.toml`: how a change is tried and looked for."""

from pydantic import Field

from cogworks.vocabulary import Value


class ChangeLimits(Value):
    """`[codegen.limits]`: how much one change of a sub-work-item may do to files that are there; new ones do not count."""

    max_loc_changes: int = Field(default=200, ge=1, le=500)
    """Lines added and removed."""
    max_files_per_diff: int = Field(default=5, ge=1, le=15)
    max_files_beyond_plan: int = Field(default=5, ge=0, le=15)
    """Of a sub-work-item in all its visits: files that the plan does not list, where the coder says why; tests do not count."""
    max_total_churn: float = Field(default=2_000.0, ge=1, le=10_000)
    """Of everything a visit keeps, new files included: half of the lines that were added or removed, weighed by kind."""
    mistakes_s: float = Field(default=20.0, ge=0, le=600)
    """So long mistakes are put into a proven change to see whether its tests notice them; 0: none is."""


class ProbeConfig(Value):
    """`[codegen.search]`: whether suspects are probed when tests of a sub-work-item fail, and how much."""

    investigations_enabled: bool = False
    """Whether suspects are probed before anybody is told of them."""
    max_probes: int = Field(default=7, ge=1, le=100)
    """Of one analysis."""
    probe_pool: int = Field(default=3, ge=1, le=16)
    """Probes that run at the same time; what they find out does not depend on it."""
    probe_seconds: float = Field(default=60.0, ge=1, le=3600)
    """Time limit of one probe."""


class CodegenConfig(Value):
    """`[codegen]`: how a change is tried before it is kept, and looked for when it is not."""

    limits: ChangeLimits = ChangeLimits()
    search: ProbeConfig = ProbeConfig()
