"""A package's tests as cogworks runs them: the Python service makes the environment and runs the suite."""

import time
from collections.abc import Mapping
from pathlib import Path

from cogworks.domain_services import operations
from cogworks.domain_services.answers import Answer
from cogworks.domain_services.checking import Prepared, PrepareParams
from cogworks.domain_services.client import Configured
from cogworks.domain_services.messages import TestReport
from cogworks.domain_services.opening import BUNDLED, open_client
from cogworks.errors import CogworksError
from cogworks.settings.config import child_environment
from cogworks.vocabulary import Value
from cogworks.wiring.services import configured_words, repository_settings
from scripts.benchmarks.zoo.animals import Animal

_ENDINGS = {"passed": "passed", "failed": "failed", "error": "failed", "skipped": "skipped"}


class OurRun(Value):
    """What came of it."""

    outcomes: Mapping[str, str]
    """Test id -> `passed`, `failed` or `skipped`."""
    reasons: Mapping[str, str] = {}
    """Test id -> what it is told of it, of those that do not pass."""
    unloaded: tuple[str, ...] = ()
    """Collection errors, each with its place."""
    refusal: str = ""
    """Why there is no result, in the service's words."""
    command: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    cold_s: float = 0.0
    warm_s: float = 0.0
    test_s: float = 0.0
    disk_bytes: int = 0


class _Tree(Value):
    path: Path


def our_run(animal: Animal, checkout: Path, environments: Path, *, limit_s: float) -> OurRun:
    """Prepare and test a checkout, which is only read.

    Args:
        environments: where those of packages are kept.
        limit_s: of each operation.
    """
    files = {"config.toml": animal.configuration}
    configured = Configured(repository_settings(files), configured_words(files))
    service = BUNDLED.model_copy(
        update={
            "command": (*BUNDLED.command, "--environments", str(environments)),
            "timeouts": {"simulate": limit_s, "prepare": limit_s},
        }
    )
    with open_client(service, environment=child_environment(), configured=configured) as client:
        tree = _Tree(path=checkout)
        try:
            started_s = time.monotonic()
            first = _prepared(client.call(operations.PREPARE, tree, PrepareParams(timeout_s=limit_s)))
            cold_s = time.monotonic() - started_s
            _prepared(client.call(operations.PREPARE, tree, PrepareParams(timeout_s=limit_s)))
            warm_s = time.monotonic() - started_s - cold_s
            report = client.simulate(tree, timeout_s=limit_s)
        except CogworksError as error:
            return OurRun(outcomes={}, refusal=str(error))
    return OurRun(
        outcomes=_outcomes(report),
        reasons=_reasons(report),
        unloaded=report.collection_errors,
        refusal="the suite did not end in time" if report.timed_out else "",
        command=first.command,
        choices=tuple(f"{each.what} ({each.source})" for each in first.choices),
        cold_s=cold_s,
        warm_s=warm_s,
        test_s=time.monotonic() - started_s - cold_s - warm_s,
        disk_bytes=first.disk_bytes,
    )


def _prepared(answer: object) -> Prepared:
    if isinstance(answer, Answer) and isinstance(answer.result, Prepared):
        return answer.result
    raise CogworksError(f"the service does not prepare environments: {answer}")


def _outcomes(report: TestReport) -> dict[str, str]:
    return {case.id: _ENDINGS[case.outcome] for case in report.cases}


def _reasons(report: TestReport) -> dict[str, str]:
    """The last line of each message, and what a maintainer is told to do about the test."""
    return {
        case.id: "; ".join(
            [*case.message.strip().splitlines()[-1:], *(each for each in report.remedies if case.id in each)]
        )
        for case in report.cases
        if case.outcome != "passed"
    }
