from collections.abc import Sequence
from typing import Any

import pytest

from cogworks.domain_services.exploring import (
    CallGraph,
    CallNode,
    Coverage,
    Instrumented,
    Steps,
    SymbolIndex,
    TestCoverage,
)
from cogworks.domain_services.messages import Message, TestCase, TestReport
from cogworks.errors import CogworksError
from cogworks.repair.probe.probes import AGENDA, Probe, ProbePatch, Scene, Seen
from cogworks.repair.probe.probing import seen_by
from cogworks.repair.probe.schedule import AskedOnce
from tests.repair.examples import suspect, symbol
from tests.repair.exploring import FAILING, SHOP, TARGET
from tests.repair.sandbox_pools import Answering, ScriptedSandbox, event, nothing, traced

TOTAL, COUNT = suspect("shop.total", (1, 2), 0.7), suspect("shop.count", (5, 6), 0.3)
PASSING = "tests/test_shop.py::test_count"
SCENE = Scene(
    failing=FAILING, suspects=(TOTAL, COUNT), covering={"shop.py": (TARGET, PASSING, "tests/more.py::t")}
)
TESTS = "def test_total():\n    a = 1\n    b = 2\n    assert total([1]) == 1\n"
TEXTS = {"shop.py": SHOP, "tests/test_shop.py": TESTS}
STATEMENTS = ((2, 2), (3, 3), (4, 4))


def probe(kind: str, **more: Any) -> Probe:
    return Probe.model_validate({"id": "p", "kind": kind, "suspect": TOTAL, "operations": 10, **more})


def seen(of: Probe, answering: Answering, *, scene: Scene = SCENE) -> Seen:
    return seen_by(of, scene, ScriptedSandbox(answering, TEXTS, []), AskedOnce())


def instrumented(sandbox: ScriptedSandbox, method: str, params: Any) -> Sequence[Message]:
    """A service that puts a line into a file, or takes statements out of it, and tests whose values are ints unless they fail."""
    if method == "instrument":
        assert sandbox.applied == "", "asked of a file that was changed already"
        rows = (sandbox.text(params.artifact) or "").split("\n")
        if params.mode == "shorten":
            gone = {line for first, last in params.without for line in range(first, last + 1)}
            kept = "\n".join(row for number, row in enumerate(rows, 1) if number not in gone)
            return [Instrumented(content=kept, lines=(2, 4), statements=STATEMENTS)]
        changed = "\n".join([rows[0], f"    {params.mode}", *rows[1:]])
        return [Instrumented(content=changed, lines=(2, 3), statements=((2, 2),))]
    if method == "index":
        return [
            SymbolIndex(
                symbols=(symbol("tests.test_shop.test_total", (1, 4), artifact="tests/test_shop.py"),)
            )
        ]
    if method == "trace" and "+    note" in sandbox.applied:
        kind = "'NoneType'" if params.test == TARGET else "'int'"
        return [traced(event("line", 3, values={"cogworks_probe_prices": kind}), test=params.test)]
    if method == "trace" and "+    check" in sandbox.applied:
        fails = [event("exception", 2, value="AssertionError('cogworks_probe_prices')")]
        return [traced(*(fails if params.test == TARGET else []), test=params.test)]
    if method == "trace":
        # The test fails alike as long as it asserts.
        still = "-    assert" not in sandbox.applied
        message = FAILING.cases[0].message if still else ""
        return [
            traced(event("call", 1), message=message, outcome="failed" if still else "passed", test=TARGET)
        ]
    return ()


@pytest.mark.parametrize("kind", [kind for kind in AGENDA if kind != "grep"])
def test_what_nobody_offers_is_an_error_and_no_finding(kind: str) -> None:
    found = seen(probe(kind), nothing)

    assert found.error
    assert (found.recommendation, found.observations) == ("unknown", {})


@pytest.mark.parametrize("kind", [kind for kind in AGENDA if kind != "grep"])
def test_a_service_that_breaks_is_an_error_and_no_finding(kind: str) -> None:
    def broken(_sandbox: ScriptedSandbox, _method: str, _params: Any) -> Sequence[Message]:
        raise CogworksError("it broke")

    found = seen(probe(kind), broken)

    assert (found.error, found.recommendation) == ("it broke", "unknown")


@pytest.mark.parametrize("kind", ["trace", "coverage", "instrument", "assert", "reduce"])
def test_without_a_test_that_runs_there_is_nothing_to_look_at(kind: str) -> None:
    unloaded = Scene(
        failing=TestReport(cases=(), collection_errors=("tests/test_shop.py: no",)), suspects=(TOTAL,)
    )

    assert seen(probe(kind, allowed={"prices": ("int",)}), instrumented, scene=unloaded).error


def test_steps_that_came_with_the_coverage_are_what_a_trace_would_tell_and_cost_no_run() -> None:
    within, beyond = event("return", 2, value="1", values={"a": "1"}), event("line", 4)
    told = Steps(test=TARGET, events=(event("call", 1), beyond, within))
    scene = SCENE.model_copy(update={"steps": told})

    def answering(_sandbox: ScriptedSandbox, _method: str, _params: Any) -> Sequence[Message]:
        return [traced(event("call", 1), within, message=FAILING.cases[0].message, test=TARGET)]

    assert seen(probe("trace"), nothing, scene=scene) == seen(probe("trace"), answering)


@pytest.mark.parametrize("change", [{"truncated": True}, {"test": PASSING}])
def test_steps_that_broke_off_or_are_those_of_another_test_are_not_relied_on(change: dict[str, Any]) -> None:
    told = Steps(test=TARGET, events=(event("call", 1),)).model_copy(update=change)

    assert seen(probe("trace"), nothing, scene=SCENE.model_copy(update={"steps": told})).error


def test_a_trace_that_broke_off_is_taken_again_for_the_suspect_alone() -> None:
    asked: list[Any] = []

    def answering(_sandbox: ScriptedSandbox, _method: str, params: Any) -> Sequence[Message]:
        asked.append(params)
        is_first = len(asked) == 1
        return [traced(*([] if is_first else [event("call", 1)]), truncated=is_first, test=TARGET)]

    assert seen(probe("trace"), answering).observations["executed"] is True
    assert [each.lines for each in asked] == [((1, 2), (5, 6)), ((1, 2),)]


def test_probes_of_several_suspects_share_what_they_ask_of_unchanged_files() -> None:
    asked: list[str] = []

    def answering(_sandbox: ScriptedSandbox, method: str, _params: Any) -> Sequence[Message]:
        asked.append(method)
        return [traced(event("call", 1), test=TARGET)]

    shared = AskedOnce()
    found = [
        seen_by(
            probe("trace", suspect=each), SCENE, ScriptedSandbox(answering, TEXTS, []), shared
        ).recommendation
        for each in (TOTAL, COUNT)
    ]

    assert (found, asked) == (["unknown", "unlikely"], ["trace"])


@pytest.mark.parametrize(
    ("other", "told"),
    [("tests/test_shop.py::test_count", {"failing_tests_not_followed": 1}), (f"{TARGET}[two]", {})],
)
def test_whoever_does_not_run_in_one_failing_test_is_told_to_be_unlikely_with_the_tests_that_were_not_followed(
    other: str, told: dict[str, int]
) -> None:
    """Of several failing tests one alone is followed; cases of one test run the same code."""

    def answering(_sandbox: ScriptedSandbox, _method: str, _params: Any) -> Sequence[Message]:
        return [traced(event("call", 1), test=TARGET)]

    cases = (*FAILING.cases, TestCase(id=other, outcome="failed", message="assert 2 == 3"))
    scene = SCENE.model_copy(update={"failing": FAILING.model_copy(update={"cases": cases})})

    found = seen(probe("trace", suspect=COUNT), answering, scene=scene)

    assert found.recommendation == "unlikely"
    assert found.observations == {"test": TARGET, "executed": False, **told}


def test_coverage_is_measured_for_the_failing_tests() -> None:
    def answering(_sandbox: ScriptedSandbox, _method: str, params: Any) -> Sequence[Message]:
        assert params.tests == (TARGET,)
        report = TestReport(cases=(TestCase(id=TARGET, outcome="failed"),))
        return [Coverage(report=report, tests=(TestCoverage(test=TARGET, lines={"shop.py": ((5, 6),)}),))]

    assert seen(probe("coverage"), answering).recommendation == "unlikely"


def test_the_structure_is_put_together_from_what_is_offered() -> None:
    def answering(_sandbox: ScriptedSandbox, method: str, _params: Any) -> Sequence[Message]:
        return (
            [CallGraph(nodes=(CallNode(symbol=TOTAL.symbol, hop=0),), edges=())]
            if method == "call_graph"
            else ()
        )

    assert seen(probe("ast"), answering).observations == {"callers": [], "callees": [], "data": []}


def test_the_name_of_a_suspect_is_looked_for_outside_of_it() -> None:
    found = seen(probe("grep"), nothing)

    assert found.observations == {
        "word": "total",
        "elsewhere": ["tests/test_shop.py:4"],
        "words_of_failure": ["total"],
    }


def test_kinds_of_values_that_only_the_failing_test_gives_are_found() -> None:
    found = seen(probe("instrument"), instrumented)

    assert found.recommendation == "possible"
    assert found.violated == {"prices": ("int",)}
    assert found.observations["given"] == {"prices": ["NoneType"]}
    assert found.patch is not None
    assert (found.patch.purpose, found.patch.loc_changed, found.patch.suspect) == (
        "instrument",
        1,
        "shop.total",
    )
    assert "+    note\n" in found.patch.diff


def test_a_check_of_what_holds_elsewhere_fires_in_the_failing_test_alone() -> None:
    found = seen(probe("assert", allowed={"prices": ("int",)}), instrumented)

    assert found.recommendation == "possible"
    assert (found.observations["fired"], found.observations["fired_in_passing_tests"]) == (True, [])


def test_a_failing_test_is_cut_down_to_what_it_needs_to_fail_alike() -> None:
    found = seen(probe("reduce"), instrumented)

    assert found.observations == {"statements": 3, "left_out": [[2, 2], [3, 3]], "executed": True}
    assert found.recommendation == "possible"
    assert found.patch is not None
    assert "-    a = 1\n-    b = 2\n" in found.patch.diff


def test_a_probe_ends_when_its_operations_are_used_up() -> None:
    asked: list[str] = []

    def answering(sandbox: ScriptedSandbox, method: str, params: Any) -> Sequence[Message]:
        asked.append(method)
        return instrumented(sandbox, method, params)

    seen(probe("reduce", operations=4), answering)

    assert len(asked) == 4


MARK = "diff --git a/shop.py b/shop.py\n"


@pytest.mark.parametrize(
    ("purpose", "outcome", "recommendation", "key", "value"),
    [
        ("assert", traced(event("exception", 2, value="AssertionError('cogworks_probe_x')")), "likely_cause", "fired", True),
        ("assert", traced(event("call", 1)), "unlikely", "fired", False),
        ("instrument", traced(event("line", 2, values={"cogworks_probe_x": "-2"})), "unknown", "noted", {"x": ["-2"]}),
        ("reduce", traced(event("call", 1), message=FAILING.cases[0].message), "possible", "fails_alike", True),
        ("reduce", traced(message=FAILING.cases[0].message), "unlikely", "executed", False),
        ("reduce", traced(message="E   KeyError"), "unknown", "fails_alike", False),
    ],
    ids=["fires", "does not fire", "notes", "shorter", "shorter without it", "fails otherwise"],
)  # fmt: skip
def test_what_a_proposed_change_shows(
    purpose: Any, outcome: Message, recommendation: str, key: str, value: object
) -> None:
    patch = ProbePatch(
        id="1", suspect="shop.total", diff=MARK, purpose=purpose, loc_changed=1, rationale="why"
    )

    def answering(sandbox: ScriptedSandbox, _method: str, _params: Any) -> Sequence[Message]:
        assert sandbox.applied == MARK
        return [outcome]

    found = seen(probe(purpose, patch=patch), answering)

    assert (found.recommendation, found.observations[key]) == (recommendation, value)
    assert found.patch == patch


def test_a_change_that_does_not_apply_is_an_error() -> None:
    patch = ProbePatch(id="1", suspect="shop.total", diff=MARK, purpose="assert", loc_changed=1, rationale="")
    sandbox = ScriptedSandbox(nothing, TEXTS, [])
    sandbox.refuses = "corrupt patch"

    found = seen_by(probe("assert", patch=patch), SCENE, sandbox, AskedOnce())

    assert found.error == "the probe's change does not apply: corrupt patch"
