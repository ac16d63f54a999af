"""What is wanted of the tests that are there before a change, and what they can show of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cogworks.coding.handoff import holds_tests
from cogworks.domain_services.messages import TestReport
from cogworks.nodes.contract import Failed, Workspace
from cogworks.nodes.suite import Scope
from cogworks.repair.measure import file_of
from cogworks.repair.proof import Guard
from cogworks.repair.system_libraries import library_remedies
from cogworks.repair.unloaded import MAX_NAMED, Unloaded, unloaded_of

NO_TESTS = (
    "No test was found, so that nothing could show whether a change makes anything worse. If there are tests, name their "
    'command: `command = "…"` under `[tests]` in `.cogworks/config.toml`. If there are none, say so there: '
    '`baseline = "none"`; only the tests that come with a change count then.'
)
_ELSEWHERE = (
    'Or let the work go on without these tests: `baseline = "allow-failing"` under `[tests]` in '
    "`.cogworks/config.toml`; every proof then begins with what it could not run."
)


class Judged(NamedTuple):
    """What the suite as it was found can show of a change."""

    unloaded: tuple[Unloaded, ...] = ()
    """What of it cannot be loaded; tests that wait for what is still to be written are no part of it."""
    guard: Guard = "suite"


WHOLE = Judged()
"""Everything can be loaded, and some of it passes."""


@dataclass(frozen=True)
class Baseline:
    """`[tests] baseline`, for one visit."""

    wanted: str
    """`require`, `allow-failing` or `none`."""
    workspace: Workspace
    own: Collection[str]
    """Files that only this sub-work-item brought in; what is wrong with them is its own business."""

    def scope(self, tests: Sequence[str]) -> Scope:
        """What the suite is made of: everything, or of what was handed over the files that hold tests."""
        if self.wanted != "none":
            return None
        # Own tests that nobody handed over came with the code of an earlier visit.
        own = (
            path for path in sorted(self.own) if holds_tests(path) and self.workspace.read(path) is not None
        )
        return tuple(dict.fromkeys((*tests, *own)))

    def judged(self, found: TestReport) -> Judged:
        """What the suite as it was found can show."""
        passed = (c for c in found.cases if c.outcome == "passed" and file_of(c.id) not in self.own)
        guard: Guard = "off" if self.wanted == "none" else "suite" if any(passed) else "empty"
        return Judged(_unloaded(found, self.own), guard)

    def refusal(self, found: TestReport) -> Failed | None:
        """Why nobody is asked for a change; None where the suite as it was found is what is wanted."""
        return refusal_of(found, wanted=self.wanted, own=self.own)


def refusal_of(
    found: TestReport, *, wanted: str, own: Collection[str] = (), who: str = "code_generation"
) -> Failed | None:
    """Why nobody is asked for a change where a suite was found like this; None where it is what is wanted.

    Args:
        wanted, own: as `Baseline` has them.
        who: begins the reason.
    """
    if found.timed_out:
        return _too_slow(who)
    unloaded = _unloaded(found, own) if wanted == "require" else ()
    remedies = (*found.remedies, *library_remedies(found.collection_errors))
    return _not_loaded(unloaded, remedies, who) if unloaded else None


def has_no_tests(found: TestReport) -> bool:
    """Whether nothing was there to run: no test that was not skipped, and nothing that could not be loaded."""
    return not found.collection_errors and all(case.outcome == "skipped" for case in found.cases)


def _unloaded(found: TestReport, own: Collection[str]) -> tuple[Unloaded, ...]:
    return tuple(each for each in unloaded_of(found.collection_errors) if each.place not in own)


def _too_slow(who: str) -> Failed:
    return Failed(
        reason=f"{who}: the test suite did not finish in time before anything was changed. Make it faster or raise "
        "`timeout_s` under `[tests]` in `.cogworks/config.toml`, then remove the trigger label and set it again.",
        category="service_failed",
    )


def _not_loaded(found: Sequence[Unloaded], remedies: Sequence[str], who: str) -> Failed:
    more = f"; and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    listed = "; ".join(f"{each.name} cannot be loaded: {each.why}" for each in found[:MAX_NAMED])
    found_so = (
        "This is so before any change. Tests that cannot be loaded guard nothing, so the model was not asked."
    )
    told = [
        f"{who}: {listed}{more}. {found_so}",
        *(remedies or ("Mend it on the base branch.",)),
        f"Then remove the trigger label and set it again. {_ELSEWHERE}",
    ]
    return Failed(reason="\n".join(told), category="escalated")
