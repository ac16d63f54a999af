"""What a decision costs stays in proportion to what is proposed; counted in instructions, not in time."""

from scripts.benchmarks.cycle import measure, table


def test_the_cost_of_a_decision_grows_with_the_proposals_and_no_faster() -> None:
    few, many = measure((10, 100), cycles=6)

    assert many.arbiter_instructions < 12 * few.arbiter_instructions
    assert many.cycle_instructions < 12 * few.cycle_instructions
    assert (few.events, many.events) == (19, 109)
    assert len(table((few, many)).splitlines()) == 4


def test_the_count_of_instructions_is_the_same_every_time() -> None:
    first, second = measure((10,), cycles=6), measure((10,), cycles=6)

    assert first[0].arbiter_instructions == second[0].arbiter_instructions
