from cogworks.repair.ladder import Ladder, Rung


def test_every_rung_is_climbed_once_and_then_it_is_over() -> None:
    ladder, climbed = Ladder(), []

    while (rung := ladder.next_rung()) is not Rung.GIVE_UP:
        climbed.append(rung)
        ladder = ladder.after(rung)

    assert climbed == [Rung.PROPOSE_AGAIN, Rung.PLAN_AGAIN, Rung.COMBINE_AGAIN, Rung.WIDEN]


def test_a_rung_may_be_allowed_more_than_once() -> None:
    ladder = Ladder(most=2).after(Rung.PROPOSE_AGAIN)

    assert ladder.next_rung() is Rung.PROPOSE_AGAIN
    assert ladder.after(Rung.PROPOSE_AGAIN).next_rung() is Rung.PLAN_AGAIN


def test_only_rungs_that_are_asked_for_are_climbed() -> None:
    anew = (Rung.PLAN_AGAIN, Rung.COMBINE_AGAIN)
    ladder = Ladder().after(Rung.PLAN_AGAIN)

    assert ladder.next_rung(anew) is Rung.COMBINE_AGAIN
    assert ladder.after(Rung.COMBINE_AGAIN).next_rung(anew) is Rung.GIVE_UP
