"""The verdict on a patch: the tests on a fresh checkout before and after it, whatever the repair itself believes."""

from cogworks.codebase.diffmodel import Diff
from cogworks.domain_services.messages import TestReport
from cogworks.evaluation.report import Mu
from cogworks.repair.instance import Instance
from cogworks.repair.transact.churn import churn
from cogworks.repair.transact.measure import Measurement, measured, refusal, worse
from cogworks.vocabulary import Value


class Verdict(Value):
    """What the tests say of a patch."""

    is_solved: bool
    reason: str = ""
    repaired: tuple[str, ...] = ()
    regressions: tuple[str, ...] = ()
    mu: Mu


def selection(instance: Instance) -> tuple[str, ...]:
    """The tests of the verdict; none: the whole suite, where the instance does not say what has to go on passing."""
    if not instance.pass_to_pass:
        return ()
    return tuple(dict.fromkeys((*instance.failing_tests, *instance.pass_to_pass)))


def new_failures(before: TestReport, after: TestReport) -> tuple[str, ...]:
    """What fails only with the patch; it runs again before it counts."""
    return worse(measured(before), measured(after)).failing


def judged(instance: Instance, before: Measurement, after: Measurement, *, diff: Diff) -> Verdict:
    """The verdict on a patch.

    Args:
        after: with further runs of what is new in it.
    """
    reason = refusal(before, after, landmark=instance.failing_tests)
    unsteady = before.flaky | after.flaky
    return Verdict(
        is_solved=reason is None,
        reason=reason or "",
        repaired=tuple(sorted(before.failing & after.passing)),
        regressions=tuple(sorted(before.passing - after.passing - unsteady)),
        mu=Mu(before=before.scalar, after=after.scalar + churn(diff)),
    )
