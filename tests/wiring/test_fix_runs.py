"""How often what costs time is started for one repair: the counts hold whatever the machine does besides."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from cogworks.codebase.sandboxes import Sandbox, Sandboxes
from cogworks.repair.instance import Instance
from cogworks.repair.proof import Proof
from cogworks.settings.config import read_environment
from cogworks.telling import unknown
from cogworks.vocabulary import CommitOid
from cogworks.wiring.fix import open_repair
from cogworks.wiring.fix_order import Order
from tests.fakes import ScriptedModel
from tests.fixing import FILES, GOOD, PATIENT, TARGET, diffs, landmark, make_shop, pattern, plan

FIRST = "making the environment, then running the suite"
COVERED = "running the suite with coverage"
AGAIN = "running the suite"
BESIDE = "trying inputs beside those of the tests"
SLOW = "import time\n\n\ndef test_that_takes_its_time():\n    time.sleep(1.2)\n"


def repaired(folder: Path, files: dict[str, str]) -> tuple[list[str], Proof]:
    """What ran outside of probes, in its order, and the proof."""
    ran: list[str] = []

    @contextmanager
    def noted(what: str, limit_s: float, so_far: Callable[[], str] = unknown, /) -> Iterator[None]:
        if "test" in what or "suite" in what:
            ran.append(what)
        yield

    shop = make_shop(folder, files)
    model = ScriptedModel(pattern(), plan(landmark()), diffs(GOOD))
    order = Order(shop, Instance(instance_id="a", failing_tests=(TARGET,)), PATIENT)
    with open_repair(order, read_environment({}), say=print, provider=model, during=noted) as repair:
        result = repair.run()
        assert result.success, repair.reason
        assert repair.notes.proof is not None
        return ran, repair.notes.proof


@pytest.mark.parametrize("module", ["cogworks.wiring.fix", "cogworks.services.python.__main__"])
def test_what_a_repair_seldom_needs_is_not_loaded_for_it(module: str) -> None:
    words = [sys.executable, "-c", f"import sys, {module}; print('yaml' in sys.modules)"]

    told = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)  # our own words

    assert told.stdout == "False\n"


LOADING = """
import sys
from cogworks.cli.main import main
try:
    main(["--version"])
except SystemExit:
    import cogworks.wiring.fix, httpx
print(*sys.modules)
"""
FIRST_HALF = "import sys, cogworks.wiring.fix_workplace; print(*sys.modules)"
LATER = {
    "cogworks.llm.gateway", "cogworks.wiring.fix_model", "jinja2", "cogworks.codegen.suitability", "cogworks.codegen.repairing", "cogworks.repair.planning", "cogworks.injection.detecting", "jsonschema", "snowballstemmer",
}  # fmt: skip
SELDOM = (
    "rich", "pygments", "boto3", "cogworks.llm.providers.cassette", "cogworks.llm.providers.clouds", "cogworks.llm.providers.command",
    "cogworks.llm.providers.openai", "cogworks.llm.providers.anthropic", "cogworks.pipeline.graph", "cogworks.forge", "cogworks.packs",
)  # fmt: skip
"""What draws for people, providers that may not be the one that is asked, and what only the work on an issue needs."""


def test_the_command_loads_what_every_repair_needs_and_no_more() -> None:
    told = subprocess.run(
        [sys.executable, "-c", LOADING], capture_output=True, text=True, check=True, timeout=120
    )  # our own words

    loaded = set(told.stdout.split())
    assert not loaded & set(SELDOM)
    # 700 on Python 3.11; there were 791.
    assert len(loaded) < 730


def test_what_is_wanted_after_the_first_run_of_the_tests_is_not_loaded_before_it() -> None:
    told = subprocess.run(
        [sys.executable, "-c", FIRST_HALF], capture_output=True, text=True, check=True, timeout=120
    )  # our own words

    assert not set(told.stdout.split()) & LATER


def test_what_is_warmed_up_is_what_comes_later() -> None:
    warming = "import sys; from cogworks.wiring.fix import warm; warm(); print(*sys.modules)"

    told = subprocess.run(
        [sys.executable, "-c", warming], capture_output=True, text=True, check=True, timeout=120
    )  # our own words

    assert set(told.stdout.split()) >= LATER


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_short_suite_runs_twice_before_a_change_and_once_with_it(tmp_path: Path) -> None:
    ran, proof = repaired(tmp_path, dict(FILES))

    assert [each for each in ran if each != BESIDE] == [FIRST, COVERED, AGAIN]
    assert ran[-1] == BESIDE
    (target,) = [each for each in proof.tests if each.id == TARGET]
    assert (target.verdict, target.reruns) == ("fail_to_pass", ("passed", "passed"))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_first_probes_have_their_answers_from_the_run_that_measured_coverage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out: list[object] = []
    at = Sandboxes.at

    def noted(sandboxes: Sandboxes, commit: CommitOid, *, base: CommitOid) -> AbstractContextManager[Sandbox]:
        laid_out.append(commit)
        return at(sandboxes, commit, base=base)

    monkeypatch.setattr(Sandboxes, "at", noted)
    shop = make_shop(tmp_path, dict(FILES))
    model = ScriptedModel(pattern(), plan(landmark()), diffs(GOOD))
    order = Order(shop, Instance(instance_id="a", failing_tests=(TARGET,)), PATIENT)

    with open_repair(order, read_environment({}), say=print, provider=model) as repair:
        assert repair.run().success, repair.reason
        assert repair.notes.findings is not None
        reports = repair.notes.findings.reports

    assert [(each.kind, each.error) for each in reports] == [("trace", "")] * len(reports)
    assert "likely_cause" in [each.recommendation for each in reports]
    assert laid_out == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_of_a_suite_that_takes_longer_only_what_a_change_reaches_runs_before_the_commit(
    tmp_path: Path,
) -> None:
    ran, _ = repaired(tmp_path, {**FILES, "tests/test_slow.py": SLOW})

    assert [each for each in ran if each != BESIDE] == [FIRST, COVERED, "running 3 test(s)", AGAIN]
