"""What the conformance suite found, check by check."""

from typing import Literal

from cogworks.vocabulary import Value


class Finding(Value):
    """One way in which a service differs from the Extension API."""

    found: str
    remedy: str
    """What the author of the service does about it."""


class CheckResult(Value):
    """One check and what came of it."""

    check: str
    title: str
    status: Literal["passed", "failed", "skipped"]
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    """Why it was skipped."""


class Conformance(Value):
    """The whole examination of one service."""

    service: str
    results: tuple[CheckResult, ...]

    @property
    def is_conformant(self) -> bool:
        """Whether nothing was found."""
        return all(result.status != "failed" for result in self.results)

    @property
    def failed(self) -> tuple[str, ...]:
        """The checks that found something."""
        return tuple(result.check for result in self.results if result.status == "failed")


class Skipped(Exception):
    """A check that does not apply; its text says why."""
