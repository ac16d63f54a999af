from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.domain_services.messages import Message
from cogworks.errors import CogworksError
from cogworks.repair.localise.suspects import Suspect
from cogworks.repair.probe.investigating import Findings, ProbeLimits, TreeChanged, Watching, investigate
from cogworks.repair.probe.probes import ProbePatch, Scene
from tests.exhaustive import examples
from tests.repair.examples import suspect
from tests.repair.exploring import FAILING
from tests.repair.sandbox_pools import ScriptedSandbox, ScriptedSandboxPool, event, nothing, traced

SUSPECTS: tuple[Suspect, ...] = tuple(
    suspect(f"shop.{name}", (10 * place, 10 * place + 5), (6 - place) / 10)
    for place, name in enumerate("abcde", 1)
)
SCENE = Scene(failing=FAILING, suspects=SUSPECTS)
CULPRIT = "shop.d"


def answering(_sandbox: ScriptedSandbox, method: str, params: Any) -> Sequence[Message]:
    """The wrong value comes from d, by way of a; b and c do not run, and e does so without a trace of it."""
    if method != "trace":
        raise CogworksError(f"{method} broke")
    steps = [
        event("call", 10),
        event("call", 50, depth=2),
        event("call", 40, depth=3),
        event("return", 45, depth=3, value="0"),
        event("return", 15, value="0"),
    ]
    return [traced(*steps, test=params.test, message=FAILING.cases[0].message)]


def investigated(
    sandbox_pool: ScriptedSandboxPool, *, told: list[tuple[str, dict[str, Any]]] | None = None, **more: Any
) -> Findings:
    limits = {key: more.pop(key) for key in ("most", "pool") if key in more}
    heard: list[tuple[str, dict[str, Any]]] = [] if told is None else told
    watching = Watching(lambda kind, /, **data: heard.append((kind, data)))
    return investigate(SCENE, sandbox_pool, ProbeLimits.model_validate(limits), watching, **more)


def test_the_culprit_is_believed_in_and_who_did_not_run_is_not() -> None:
    found = investigated(ScriptedSandboxPool(answering))

    assert found.in_order(SUSPECTS)[0].symbol.id == CULPRIT
    assert found.beliefs["shop.b"] < found.before["shop.b"]
    assert sum(found.beliefs.values()) == pytest.approx(1)
    assert [report.recommendation for report in found.reports[:5]] == [
        "possible",
        "unlikely",
        "unlikely",
        "likely_cause",
        "unknown",
    ]
    assert all(0 <= report.information_gain <= 1 for report in found.reports)


@pytest.mark.parametrize(
    ("lacking", "asked"),
    [
        (("trace",), {"ast", "coverage", "grep"}),
        (("trace", "coverage", "instrument"), {"ast", "grep"}),
        (("instrument",), {"trace", "ast", "coverage", "grep"}),
    ],
)
def test_nothing_is_asked_that_no_service_can_answer(lacking: Sequence[str], asked: set[str]) -> None:
    found = investigated(ScriptedSandboxPool(answering, lacking=lacking), most=40)

    assert {report.kind for report in found.reports} == asked


@given(
    pool=st.integers(1, 8),
    pauses_s=st.lists(st.sampled_from([0.0, 0.001, 0.003]), min_size=1, max_size=12),
    most=st.integers(1, 20),
)
@settings(max_examples=examples(40), deadline=None)
def test_what_is_found_out_depends_neither_on_the_pool_nor_on_who_ends_first(
    pool: int, pauses_s: list[float], most: int
) -> None:
    one_by_one, heard = ScriptedSandboxPool(answering), list[tuple[str, dict[str, Any]]]()
    together, heard_too = (
        ScriptedSandboxPool(answering, pauses_s=pauses_s),
        list[tuple[str, dict[str, Any]]](),
    )

    first = investigated(one_by_one, told=heard, most=most, pool=1)
    second = investigated(together, told=heard_too, most=most, pool=pool)

    assert second.model_dump_json() == first.model_dump_json()
    assert heard_too[1:] == heard[1:]
    assert together.most_alive <= pool
    assert len(first.reports) == min(most, one_by_one.lent) == together.lent


def test_the_budget_of_probes_ends_the_investigation() -> None:
    sandbox_pool = ScriptedSandboxPool(answering)

    assert len(investigated(sandbox_pool, most=6).reports) == sandbox_pool.lent == 6


def test_it_ends_when_nothing_is_left_to_ask_and_nothing_is_asked_twice() -> None:
    found = investigated(ScriptedSandboxPool(answering), most=100)

    asked = [(report.suspect, report.kind) for report in found.reports]
    # There is nothing to check: no invariant was found.
    assert len(asked) == len({*asked}) == 6 * len(SUSPECTS)


def test_a_probe_that_breaks_is_uninformative_and_says_why() -> None:
    found = investigated(ScriptedSandboxPool(answering), most=7)

    broken = found.reports[5]
    assert (broken.kind, broken.result, broken.error) == ("ast", "uninformative", "call_graph broke")
    assert broken.information_gain == 0


def test_who_told_something_is_asked_again_before_who_did_not() -> None:
    found = investigated(ScriptedSandboxPool(answering), most=6)

    told = {report.suspect for report in found.reports[:5] if report.result == "informative"}
    assert found.reports[5].suspect in told


def test_a_worktree_that_is_not_what_it_was_ends_everything() -> None:
    sandbox_pool = ScriptedSandboxPool(answering, spoil=lambda lent: lent >= 3)

    with pytest.raises(TreeChanged, match="changed the worktree that is repaired"):
        investigated(sandbox_pool, pool=1)

    assert sandbox_pool.is_cancelled
    assert sandbox_pool.lent == 3


def test_every_stage_is_told_in_a_legal_order() -> None:
    heard: list[tuple[str, dict[str, Any]]] = []

    investigated(ScriptedSandboxPool(answering), told=heard, most=8)

    kinds = [kind for kind, _ in heard]
    assert kinds == (
        ["investigations.start"]
        + ["probe.start"] * 5
        + ["probe.done"] * 5
        + ["probe.start"] * 3
        + ["probe.done"] * 3
        + ["investigations.done"]
    )
    assert heard[-1][1]["probes"] == 8


def proposed(name: str, suspect: str) -> ProbePatch:
    return ProbePatch(id=name, suspect=suspect, diff="diff", purpose="assert", loc_changed=1, rationale="")


def test_proposed_changes_go_first_and_those_of_nobody_are_passed_over() -> None:
    def fires(sandbox: ScriptedSandbox, _method: str, params: Any) -> Sequence[Message]:
        hits = [event("exception", 11, value="AssertionError('cogworks_probe_x')")] if sandbox.applied else []
        return [traced(*hits, test=params.test)]

    patches = [proposed("1", "shop.e"), proposed("2", "shop.nobody")]
    found = investigated(ScriptedSandboxPool(fires), proposed=patches, most=5)

    by_suspect = {report.suspect: report for report in found.reports}
    assert (by_suspect["shop.e"].kind, by_suspect["shop.e"].recommendation) == ("assert", "likely_cause")
    assert max(found.beliefs, key=lambda name: found.beliefs[name]) == "shop.e"
    assert [patch.id for patch in found.patches] == ["1"]


def test_what_is_known_of_the_same_tree_is_not_asked_again() -> None:
    first = investigated(ScriptedSandboxPool(answering), most=5)
    second = investigated(ScriptedSandboxPool(answering), most=5, known=first)

    assert second.reports[:5] == first.reports
    assert {report.kind for report in second.reports[5:]} == {"ast"}
    assert len({report.id for report in second.reports}) == 10
    assert all(fact in second.board.facts for fact in first.board.facts)


def test_the_evidence_begins_with_the_likeliest_and_ends_where_there_is_no_room() -> None:
    found = investigated(ScriptedSandboxPool(answering))

    lines = found.evidence()

    assert lines[0].startswith(f"{CULPRIT}, ")
    assert '"origin":"returned 0"' in "".join(lines)
    assert found.evidence(max_chars=len(lines[0]) + 1) == lines[:1]
    assert found.evidence(max_chars=3) == ()


def test_why_a_probe_came_to_nothing_is_no_evidence() -> None:
    found = investigated(ScriptedSandboxPool(answering), most=50)

    assert any("call_graph broke" in report.error for report in found.reports)
    assert "broke" not in "".join(found.evidence())


def test_without_services_nothing_is_believed_that_was_not_before() -> None:
    found = investigated(ScriptedSandboxPool(nothing), most=50)

    assert found.beliefs == pytest.approx(found.before)
    assert {report.result for report in found.reports} == {"uninformative"}
    assert found.patches == ()


def test_the_worktree_is_looked_at_once_for_each_probe_and_once_before_all_of_them() -> None:
    class Counting(ScriptedSandboxPool):
        looks = 0

        def digest(self) -> str:
            self.looks += 1
            return super().digest()

    alone, told = Counting(answering), Counting(answering)

    investigated(alone, most=4)
    investigated(told, most=4, at=told.digest())

    assert (alone.looks, told.looks) == (5, 5)


def test_a_worktree_that_changed_before_the_first_probe_ends_everything_as_well() -> None:
    with pytest.raises(TreeChanged):
        investigated(ScriptedSandboxPool(answering), at="another")
