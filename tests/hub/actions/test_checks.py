"""Statuses and check runs."""

import pytest

from cogworks.hub.actions.checks import (
    check_runs,
    create_check_run,
    create_status,
    rollup_state,
    statuses,
    update_check_run,
)
from cogworks.hub.check_records import Annotation
from cogworks.hub.refusals import Forbidden, Unprocessable
from tests.hub.bench import Bench


def rollup(bench: Bench) -> str | None:
    return rollup_state(bench.world, bench.repository.id, bench.tip())


def test_the_worst_of_the_newest_counts(bench: Bench) -> None:
    world, repository, oid = bench.world, bench.repository, bench.tip()
    assert rollup(bench) is None
    create_status(world, bench.writer, repository, oid=oid, state="failure", context="ci")
    assert rollup(bench) == "FAILURE"
    newest = create_status(world, bench.writer, repository, oid=oid, state="success", context="ci")
    run = create_check_run(world, bench.bot, repository, oid=oid, name="tests", fields={})
    assert (statuses(world, repository.id, oid), rollup(bench)) == ([newest], "PENDING")
    update_check_run(world, bench.bot, repository, run, {"conclusion": "neutral"})
    assert rollup(bench) == "SUCCESS"
    create_status(world, bench.writer, repository, oid=oid, state="error", context="other")
    assert rollup(bench) == "ERROR"


def test_a_conclusion_completes_a_run_and_a_new_run_replaces_it(bench: Bench) -> None:
    world, repository, oid = bench.world, bench.repository, bench.tip()
    first = create_check_run(
        world, bench.bot, repository, oid=oid, name="tests", fields={"conclusion": "failure"}
    )
    second = create_check_run(
        world, bench.bot, repository, oid=oid, name="tests", fields={"external_id": "2"}
    )

    assert (first.status, first.completed_at) == ("completed", bench.clock.now())
    assert check_runs(world, repository.id, oid) == [second]
    assert check_runs(world, repository.id, oid, only_latest=False) == [first, second]


@pytest.mark.parametrize("fields", [{"conclusion": "great"}, {"status": "completed"}])
def test_a_run_that_makes_no_sense_is_refused(bench: Bench, fields: dict[str, str]) -> None:
    with pytest.raises(Unprocessable):
        create_check_run(bench.world, bench.bot, bench.repository, oid=bench.tip(), name="x", fields=fields)


def test_a_commit_must_exist_and_an_app_must_ask(bench: Bench) -> None:
    world, repository = bench.world, bench.repository
    with pytest.raises(Unprocessable, match="No commit found"):
        create_status(world, bench.writer, repository, oid="0" * 40, state="success")
    with pytest.raises(Unprocessable, match="No commit found"):
        create_check_run(world, bench.bot, repository, oid="0" * 40, name="x", fields={})
    with pytest.raises(Forbidden, match="GitHub App"):
        create_check_run(world, bench.writer, repository, oid=bench.tip(), name="x", fields={})


def test_annotations_are_added_to_those_that_are_there(bench: Bench) -> None:
    world, repository = bench.world, bench.repository
    told = [
        Annotation(path="a.py", start_line=line, end_line=line, level="failure", message="no")
        for line in range(51)
    ]
    run = create_check_run(
        world, bench.bot, repository, oid=bench.tip(), name="x", fields={"annotations": told[:1]}
    )

    changed = update_check_run(world, bench.bot, repository, run, {"annotations": tuple(told[1:3])})

    assert changed.annotations == tuple(told[:3])
    with pytest.raises(Unprocessable, match="50"):
        update_check_run(world, bench.bot, repository, run, {"annotations": tuple(told)})
