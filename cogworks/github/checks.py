"""Check runs: what speaks for a commit, shown beside it; only an App may write them."""

from collections.abc import Sequence
from typing import Protocol

from cogworks.errors import CogworksError
from cogworks.forge.effects import ReportCheck
from cogworks.github.credentials import TokenSource
from cogworks.leaving import in_markdown, in_title


class CheckSource(Protocol):
    """Makes check runs; GraphQL would need the App's own id."""

    def report_check(self, check: ReportCheck) -> None:
        """Make the check run unless it is there.

        Raises:
            CogworksError: it was refused, or GitHub never said whether it was done.
        """


def may_report(tokens: TokenSource) -> bool:
    """Whether the token is one of an App's installation, as a workflow's own is; a person's is always refused."""
    return tokens.token().startswith("ghs_")


def reported(checks: Sequence[ReportCheck], source: CheckSource | None) -> tuple[str, ...]:
    """Make the check runs; a warning for each that cannot be had, for it only repeats what the pull request says.

    Args:
        source: None: nobody here may make any.
    """
    warnings: list[str] = []
    if source is None:
        return ()
    for check in checks:
        try:
            told = {"title": in_title(check.title), "summary": in_markdown(check.summary)}
            source.report_check(check.model_copy(update=told))
        except CogworksError as error:
            warnings.append(f"no check run: {error}")
    return tuple(warnings)
