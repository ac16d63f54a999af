"""Where artifacts are written in the repository."""

from pydantic import Field

from cogworks.vocabulary import Value

_SHOWN_BELOW = "docs/specs", "specifications"


class PathConfig(Value):
    """`[paths]`: where artifacts are written in the repository."""

    specs: str = Field(default="", pattern=r"^(?:[A-Za-z0-9_][A-Za-z0-9_./-]*)?$")
    """Empty: specifications are read in their pull request and kept in the ledger, and no file of them is merged."""

    @property
    def merges_specs(self) -> bool:
        """Whether specifications become files of the repository."""
        return bool(self.specs)

    @property
    def spec_folders(self) -> tuple[str, ...]:
        """Where specifications may be written, without a trailing slash: the first that git does not ignore counts.

        Where none is merged, it is where the file stands in the pull request.
        """
        # Many repositories ignore `docs`, which their tools make.
        return (self.specs.rstrip("/"),) if self.merges_specs else _SHOWN_BELOW
