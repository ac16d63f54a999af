"""Which items a sweep lets move, from what their issue, their ledger's tip and their pull requests say."""

from datetime import UTC, datetime, timedelta

import pytest

from cogworks.github.sweep import (
    NEWS_PER_ITEM,
    Listed,
    Movable,
    News,
    PullSeen,
    Resting,
    Seen,
    Tip,
    Verdict,
    Waited,
    claimed_at,
    in_milestone,
    is_down_to,
    judge,
    waited_for,
)
from cogworks.github.sweep_memory import MAX_SKIPPED_SWEEPS, Look, fingerprint, remembered
from cogworks.settings import LabelConfig
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber
from tests.polling.open_items import record

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HEAD = CommitOid("a" * 40)
OTHER_HEAD = CommitOid("b" * 40)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def item(*news: News, labels: frozenset[str] = frozenset({"cogworks:run"})) -> Listed:
    return Listed(
        number=IssueNumber(7),
        title="Wrong sum",
        url="https://github.com/o/r/issues/7",
        updated_at=ago(900),
        labels=labels,
        news=(News(at=ago(5000), label="cogworks:run"), *news),
    )


def tip(message: str, *, age_s: float = 600, claimed_s: float | None = 660) -> Tip:
    claimed = None if claimed_s is None else ago(claimed_s)
    return Tip(oid=HEAD, message=message, committed_date=ago(age_s), claimed_date=claimed)


def pull(number: int = 9, **changes: object) -> PullSeen:
    usual = PullSeen(
        number=IssueNumber(number),
        state="open",
        head=BranchName("cogworks/7/spec"),
        head_oid=HEAD,
        updated_at=ago(600),
        is_approved=False,
    )
    return usual.model_copy(update=changes)


def seen(listed: Listed, ledger: Tip | None, *pulls: PullSeen) -> Seen:
    return Seen(
        server_date=NOW,
        config_oid="c",
        labels=LabelConfig(),
        items=(listed,),
        tips={} if ledger is None else {listed.number: ledger},
        pulls={known.number: known for known in pulls},
    )


def verdict(listed: Listed, ledger: Tip | None, *pulls: PullSeen) -> Verdict:
    return judge(listed, seen(listed, ledger, *pulls))


def test_an_item_without_a_ledger_is_new() -> None:
    assert verdict(item(), None) == Movable(reason="new")


@pytest.mark.parametrize("ledger", [None, tip(record("succeeded"))], ids=["new", "ready"])
def test_a_held_item_rests_whatever_its_ledger_says(ledger: Tip | None) -> None:
    held = item(labels=frozenset({"cogworks:run", "cogworks:hold"}))

    assert verdict(held, ledger) == Resting(why="held", reason="label 'cogworks:hold' is set")


@pytest.mark.parametrize("verb", ["claim", "checkpoint"])
@pytest.mark.parametrize(("age_s", "left"), [(0, "240 s"), (239, "1 s")], ids=["just-claimed", "old"])
def test_a_leased_item_is_left_to_its_runner(verb: str, age_s: int, left: str) -> None:
    assert verdict(item(), tip(record(verb, holder="host:1:ab"), age_s=age_s)) == Resting(
        why="leased", reason=f"host:1:ab works on architecture ({left} until it may be taken over)"
    )


def test_a_lease_of_240_seconds_may_be_taken_over() -> None:
    assert verdict(item(), tip(record("checkpoint"), age_s=240)) == Movable(
        reason="the runner of architecture was last heard of 240 s ago"
    )


@pytest.mark.parametrize("verb", ["succeeded", "failed", "released"])
def test_a_record_that_waits_for_nobody_lets_the_item_move(verb: str) -> None:
    assert verdict(item(), tip(record(verb))) == Movable(reason=f"after architecture {verb}")


def test_a_commit_nobody_of_us_wrote_lets_the_step_look() -> None:
    assert isinstance(verdict(item(), tip("Merge branch 'x'")), Movable)


@pytest.mark.parametrize("message", [record("done"), record("succeeded", waits_for="done")])
def test_a_finished_item_rests_even_when_somebody_comments(message: str) -> None:
    chatted = item(News(at=ago(1)))

    assert verdict(chatted, tip(message)) == Resting(why="done", reason="every node is done")


WAITS = tip(record("succeeded", waits_for=f"merge 9@{HEAD}"))


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        (pull(), Resting(why="waiting", reason="waits for pull request #9 to be merged or approved")),
        (pull(state="merged"), Movable(reason="pull request #9 was merged")),
        (pull(state="closed"), Movable(reason="pull request #9 was closed")),
        (pull(head_oid=OTHER_HEAD), Movable(reason="pull request #9 has new commits")),
        (pull(is_approved=True), Movable(reason="pull request #9 is approved")),
        (pull(number=10), Movable(reason="pull request #9 is not there any more")),
    ],
    ids=["open", "merged", "closed", "pushed-to", "approved", "gone"],
)
def test_a_gate_opens_by_what_happened_to_its_pull_request(known: PullSeen, wanted: Verdict) -> None:
    assert verdict(item(), WAITS, known) == wanted


@pytest.mark.parametrize(
    ("state", "wanted"),
    [
        ("closed", Resting(why="waiting", reason="waits until pull request #9 is reopened")),
        ("open", Movable(reason="pull request #9 is open again")),
    ],
)
def test_a_rejected_pull_request_is_waited_for_until_it_is_reopened(state: str, wanted: Verdict) -> None:
    rejected = tip(record("succeeded", waits_for=f"reopen 9@{HEAD}"))

    assert verdict(item(), rejected, pull(state=state)) == wanted


def test_another_pull_request_of_the_item_that_was_closed_since_lets_it_move() -> None:
    other = pull(number=8, state="closed", updated_at=ago(10))

    assert verdict(item(), WAITS, pull(), other) == Movable(reason="pull request #8 was closed")


@pytest.mark.parametrize(
    "other",
    [
        pull(number=8, state="closed", updated_at=ago(700)),
        pull(number=8, state="closed", updated_at=ago(10), head=BranchName("cogworks/70/spec")),
        pull(number=8, state="open", updated_at=ago(10)),
    ],
    ids=["before-the-claim", "of-another-item", "still-open"],
)
def test_pull_requests_that_decide_nothing_new_move_nothing(other: PullSeen) -> None:
    assert isinstance(verdict(item(), WAITS, pull(), other), Resting)


@pytest.mark.parametrize(
    ("news", "reason"),
    [
        (News(at=ago(30)), "somebody commented"),
        (News(at=ago(630)), "somebody commented"),
        (News(at=ago(30), label="cogworks:run"), "label 'cogworks:run' was set or removed"),
        (News(at=ago(30), label="cogworks:cancel"), "label 'cogworks:cancel' was set or removed"),
    ],
    ids=["comment", "comment-while-the-node-ran", "retry", "cancel"],
)
def test_what_people_did_since_the_step_read_the_item_lets_it_move(news: News, reason: str) -> None:
    assert verdict(item(news), WAITS, pull()) == Movable(reason=reason)


@pytest.mark.parametrize(
    "news",
    [News(at=ago(700)), News(at=ago(30), label="bug"), News(at=ago(30), label="cogworks:node:planning")],
    ids=["before-the-claim", "another-label", "a-view"],
)
def test_what_is_no_input_or_was_seen_already_moves_nothing(news: News) -> None:
    assert isinstance(verdict(item(news), WAITS, pull()), Resting)


def test_more_news_than_are_read_let_the_step_look() -> None:
    crowd = [News(at=ago(30 - n), label="bug") for n in range(NEWS_PER_ITEM)]

    assert verdict(item(*crowd), WAITS, pull()) == Movable(reason="more happened on the issue than was read")


def test_a_claim_too_long_ago_to_be_seen_counts_every_news_as_new() -> None:
    old = tip(record("succeeded", waits_for=f"merge 9@{HEAD}"), claimed_s=None)

    assert isinstance(verdict(item(), old, pull()), Movable)


@pytest.mark.parametrize("kind", ["approval", "retry", "label", "somethingnew"])
def test_an_item_that_waits_for_a_person_rests(kind: str) -> None:
    assert verdict(item(), tip(record("succeeded", waits_for=kind))).__class__ is Resting


@pytest.mark.parametrize(
    ("limits", "wanted"),
    [
        ("abc", Resting(why="waiting", reason="stopped at its budget")),
        ("def", Movable(reason="the budget was changed")),
    ],
    ids=["as-it-was", "changed"],
)
def test_an_item_that_stopped_at_its_budget_rests_until_the_budget_is_changed(
    limits: str, wanted: Verdict
) -> None:
    stopped = tip(record("released", waits_for="budget @abc"))
    now = seen(item(), stopped).model_copy(update={"limits": limits})

    assert judge(item(), now) == wanted


@pytest.mark.parametrize(
    ("trailer", "wanted"),
    [
        ("merge 12@abc", Waited(kind="merge", number=IssueNumber(12), oid=CommitOid("abc"))),
        ("merge 12@", Waited(kind="merge", number=IssueNumber(12))),
        ("done", Waited(kind="done")),
        ("budget @abc", Waited(kind="budget", oid=CommitOid("abc"))),
        ("Merge twelve", None),
        ("", None),
    ],
)
def test_the_trailer_is_read_as_it_is_written(trailer: str, wanted: Waited | None) -> None:
    assert waited_for(tip(record("succeeded", waits_for=trailer))) == wanted


def test_the_newest_claim_tells_when_the_item_was_last_read() -> None:
    history = [(record("succeeded"), ago(1)), (record("claim"), ago(2)), (record("claim"), ago(9))]

    assert claimed_at(history) == ago(2)
    assert claimed_at(history[:1]) is None


@pytest.mark.parametrize(("wanted", "fits"), [("", True), ("3", True), ("First", True), ("Second", False)])
def test_a_milestone_is_named_by_title_or_number(wanted: str, fits: bool) -> None:
    planned = item().model_copy(update={"milestone_number": 3, "milestone_title": "First"})

    assert in_milestone(planned, wanted) is fits


def test_pull_requests_are_listed_down_to_the_last_sweep_and_a_little_further() -> None:
    page = [pull(number=2, updated_at=ago(10)), pull(number=1, updated_at=ago(60))]

    assert [is_down_to(page, since) for since in (None, ago(30), ago(57), ago(600))] == [
        True, True, False, False,
    ]  # fmt: skip


def test_an_item_that_did_not_move_is_left_alone_until_something_changes() -> None:
    now = seen(item(), WAITS, pull())
    before = fingerprint(item(), now)
    look = Look(fingerprint=before, outcome="waiting", sweep=1)
    merged = seen(item(), WAITS, pull(state="merged"))

    assert remembered(Movable(reason="x"), look, before, sweep=2).__class__ is Resting
    assert remembered(Movable(reason="x"), look, fingerprint(item(), merged), sweep=2) == Movable(reason="x")


@pytest.mark.parametrize("outcome", ["succeeded", "backed_off", "try_again_later"])
def test_an_item_whose_step_may_succeed_by_itself_is_tried_again(outcome: str) -> None:
    look = Look(fingerprint="f", outcome=outcome, sweep=1)

    assert remembered(Movable(reason="x"), look, "f", sweep=2) == Movable(reason="x")


def test_a_step_that_keeps_failing_is_tried_less_and_less_often() -> None:
    def tried_in(failures: int) -> int:
        look = Look(fingerprint="other", outcome="failed", failures=failures, sweep=10)
        return next(
            n
            for n in range(1, 100)
            if isinstance(remembered(Movable(reason="x"), look, "f", sweep=10 + n), Movable)
        )

    assert [tried_in(failures) for failures in (1, 2, 3, 9)] == [2, 4, 8, MAX_SKIPPED_SWEEPS]
