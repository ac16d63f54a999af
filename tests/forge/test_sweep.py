"""Which items a sweep lets move, from what their issue, their ledger's tip and their pull requests say."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from cogworks.engine.poll import MAX_SKIPPED_SWEEPS, Look, fingerprint, remembered
from cogworks.forge.sweep import (
    COMMENTS_PER_ITEM,
    LabelChange,
    Listed,
    Movable,
    PullSeen,
    Resting,
    Seen,
    Tip,
    Verdict,
    Waited,
    has_begun,
    in_milestone,
    is_down_to,
    judge,
    unread,
    waited_for,
    wants_mergeable,
    wants_pulls,
)
from cogworks.settings.sections import LabelConfig
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber
from tests.engine.open_items import record

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HEAD = CommitOid("a" * 40)
OTHER_HEAD = CommitOid("b" * 40)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def change(name: str, label: str = "cogworks:run", *, is_added: bool = True) -> LabelChange:
    return LabelChange(id=name, label=label, is_added=is_added)


def item(*more: str, changes: Sequence[LabelChange] = (), comments: Sequence[int] = ()) -> Listed:
    """An open issue with the trigger label, set by the event `e1`, and more labels."""
    return Listed(
        number=IssueNumber(7),
        title="Wrong sum",
        url="https://github.com/o/r/issues/7",
        updated_at=ago(900),
        labels=frozenset({"cogworks:run", *more}),
        label_changes=(change("e1"), *changes),
        comment_ids=tuple(comments),
    )


def tip(message: str, *, age_s: float = 600) -> Tip:
    return Tip(oid=HEAD, message=message, committed_date=ago(age_s))


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


def seen(listed: Listed, ledger: Tip | None, *pulls: PullSeen, has_spoken: bool = False) -> Seen:
    return Seen(
        spoken=frozenset({listed.number}) if has_spoken else frozenset(),
        server_date=NOW,
        config_oid="c",
        labels=LabelConfig(),
        items=(listed,),
        tips={} if ledger is None else {listed.number: ledger},
        pulls={known.number: known for known in pulls},
    )


def verdict(listed: Listed, ledger: Tip | None, *pulls: PullSeen, has_spoken: bool = False) -> Verdict:
    return judge(listed, seen(listed, ledger, *pulls, has_spoken=has_spoken))


def test_an_item_without_a_ledger_is_new() -> None:
    assert verdict(item(), None) == Movable(reason="new")


def test_a_new_item_that_is_held_rests() -> None:
    assert verdict(item("cogworks:hold"), None) == Resting(why="held", reason="label 'cogworks:hold' is set")


@pytest.mark.parametrize("verb", ["claim", "checkpoint"])
@pytest.mark.parametrize(("age_s", "left"), [(0, "240 s"), (239, "1 s")], ids=["just-claimed", "old"])
def test_a_leased_item_is_left_to_its_runner(verb: str, age_s: int, left: str) -> None:
    assert verdict(item(), tip(record(verb, holder="host:1:ab"), age_s=age_s)) == Resting(
        why="leased", reason=f"host:1:ab works on architecture ({left} until it may be taken over)"
    )


def test_a_lease_of_240_seconds_may_be_taken_over() -> None:
    assert verdict(item(), tip(record("checkpoint"), age_s=240)) == Movable(
        reason="the runner of architecture last renewed its lease 240 s ago"
    )


def test_a_refused_item_moves_when_its_configuration_was_changed() -> None:
    refused = tip(record("refused", node="inputs", waits_for=f"configuration @{'d' * 40}"))

    assert verdict(item(), refused) == Movable(reason="the configuration was changed")


@pytest.mark.parametrize("verb", ["succeeded", "failed", "released"])
def test_a_record_that_waits_for_nobody_lets_the_item_move(verb: str) -> None:
    assert verdict(item(), tip(record(verb))) == Movable(reason=f"after architecture {verb}")


def test_a_commit_nobody_of_us_wrote_lets_the_step_look() -> None:
    assert isinstance(verdict(item(), tip("Merge branch 'x'")), Movable)


ENDS = (
    record("done"),
    record("succeeded", waits_for="done"),
    record("answered", node="inputs", waits_for="cancelled"),
    record("failed", waits_for="retry"),
    record("succeeded", waits_for="approval"),
    record("succeeded", waits_for=f"merge 9@{HEAD}"),
    record("obeyed", node="inputs", waits_for="resume"),
    record("refused", node="inputs", waits_for="configuration @c"),
)
ENDINGS = ["done", "done-at-once", "cancelled", "failed", "approval", "merge", "held", "refused"]


@pytest.mark.parametrize("message", ENDS, ids=ENDINGS)
def test_an_item_to_which_nothing_happened_rests(message: str) -> None:
    assert isinstance(verdict(item(comments=[5]), tip(message), pull()), Resting)


@pytest.mark.parametrize("message", ENDS, ids=ENDINGS)
def test_an_item_that_somebody_speaks_to_moves_however_it_rests(message: str) -> None:
    asked = verdict(item(comments=[5]), tip(message), pull(), has_spoken=True)

    assert asked == Movable(reason="somebody wrote to cogworks")


@pytest.mark.parametrize("message", ENDS, ids=ENDINGS)
@pytest.mark.parametrize(
    ("listed", "label"),
    [
        (item(changes=[change("e2")]), "cogworks:run"),
        (item("cogworks:restart", changes=[change("e2", "cogworks:restart")]), "cogworks:restart"),
        (item("cogworks:hold", changes=[change("e2", "cogworks:hold")]), "cogworks:hold"),
        (item("cogworks:safety-critical"), "cogworks:safety-critical"),
    ],
    ids=["retry", "restart", "hold", "label-whose-event-is-not-seen"],
)
def test_an_input_label_moves_an_item_however_it_rests(message: str, listed: Listed, label: str) -> None:
    assert verdict(listed, tip(message), pull()) == Movable(reason=f"label {label!r} was set or removed")


@pytest.mark.parametrize("message", ENDS, ids=ENDINGS)
@pytest.mark.parametrize(
    ("known", "reason"),
    [
        (pull(state="merged"), "pull request #9 was merged"),
        (pull(state="closed"), "pull request #9 was closed"),
        (pull(head_oid=OTHER_HEAD), "pull request #9 has new commits"),
        (pull(is_approved=True), "pull request #9 is approved"),
    ],
    ids=["merged", "closed", "pushed-to", "approved"],
)
def test_what_becomes_of_a_pull_request_moves_an_item_however_it_rests(
    message: str, known: PullSeen, reason: str
) -> None:
    assert verdict(item(), tip(message), known) == Movable(reason=reason)


def test_what_a_step_has_seen_moves_nothing_again() -> None:
    seen_all = f"comment=5 event=e3 labels=hold pulls=9:closed:{OTHER_HEAD[:12]},10:open+:{HEAD[:12]}"
    ledger = tip(record("obeyed", node="inputs", waits_for="label", seen=seen_all))
    listed = item("cogworks:hold", changes=[change("e3", "cogworks:hold")], comments=[4, 5])
    pulls = (pull(state="closed", head_oid=OTHER_HEAD), pull(10, is_approved=True))

    assert verdict(listed, ledger, *pulls) == Resting(why="held", reason="waits until a label is removed")
    assert unread(listed, ledger) == 0


def test_a_label_that_is_taken_off_lets_a_held_item_move() -> None:
    ledger = tip(record("obeyed", node="inputs", waits_for="label", seen="event=e1 labels=hold"))

    assert verdict(item(changes=[change("e4", "cogworks:hold", is_added=False)]), ledger) == Movable(
        reason="label 'cogworks:hold' was set or removed"
    )


def test_a_cursor_that_scrolled_away_is_older_than_every_change_that_is_left() -> None:
    ledger = tip(record("succeeded", waits_for="approval", seen="event=e0"))

    assert isinstance(verdict(item(), ledger), Movable)


def test_a_review_is_old_news_once_a_step_has_seen_it_and_its_end_is_none() -> None:
    ledger = tip(record("succeeded", waits_for=f"merge 9@{HEAD}", seen=f"event=e1 pulls=9:open+:{HEAD[:12]}"))

    assert isinstance(verdict(item(), ledger, pull(is_approved=True)), Resting)
    assert isinstance(verdict(item(), ledger, pull(is_approved=None)), Resting)
    assert verdict(item(), ledger, pull()) == Movable(reason="pull request #9 is no longer approved")


@pytest.mark.parametrize(
    "trailer",
    [{"waits_for": f"merge 9@{HEAD}"}, {"waits_for": "done"}, {"waits_for": "retry"}],
    ids=["at-a-gate", "at-the-end", "after-a-failure"],
)
def test_a_review_that_asks_for_changes_moves_an_item_until_a_step_has_dealt_with_it(
    trailer: dict[str, str],
) -> None:
    before = tip(record("succeeded", **trailer, seen=f"event=e1 pulls=9:open:{HEAD[:12]} reviews=41"))

    touched, untouched = ({IssueNumber(9): pull(updated_at=ago(age))} for age in (60, 6_000))
    waits_for_it = "merge" in trailer["waits_for"]
    assert wants_pulls(before, touched) == (9,)
    assert wants_pulls(before, untouched) == ((9,) if waits_for_it else ())
    assert isinstance(verdict(item(), before, pull(change_requests=(41,))), Resting)
    assert verdict(item(), before, pull(change_requests=(41, 52))) == Movable(
        reason="somebody asked for changes of pull request #9"
    )
    assert isinstance(verdict(item(), before, pull(state="open", change_requests=())), Resting)


@pytest.mark.parametrize(
    "trailer",
    [{"waits_for": f"merge 9@{HEAD}"}, {"waits_for": "done"}, {"waits_for": "retry"}],
    ids=["at-a-gate", "at-the-end", "after-a-failure"],
)
def test_checks_that_failed_move_an_item_until_a_step_has_dealt_with_that_head(
    trailer: dict[str, str],
) -> None:
    pulls = f"event=e1 pulls=9:open:{HEAD[:12]}"
    before = tip(record("succeeded", **trailer, seen=pulls))
    after = tip(record("succeeded", **trailer, seen=f"{pulls} checks=9:repair:{HEAD[:12]}"))
    looks_failed = {IssueNumber(9): pull(updated_at=ago(6_000), looks_failed=True)}

    assert wants_pulls(before, looks_failed) == (9,)
    assert verdict(item(), before, pull(has_failed_checks=True)) == Movable(
        reason="checks of pull request #9 failed"
    )
    assert isinstance(verdict(item(), before, pull(has_failed_checks=False)), Resting)
    assert wants_pulls(after, looks_failed) == ((9,) if "merge" in trailer["waits_for"] else ())
    assert isinstance(verdict(item(), after, pull(has_failed_checks=True)), Resting)


WAITS = tip(record("succeeded", waits_for=f"merge 9@{HEAD}"))


def test_an_item_says_what_it_waits_for() -> None:
    both = tip(record("succeeded", waits_for=f"merge 9@{HEAD}; reopen 8@{HEAD}; approval"))

    assert verdict(item(), both, pull(), pull(8, state="closed")) == Resting(
        why="waiting",
        reason="waits for pull request #9 to be merged or approved; waits until pull request #8 is reopened; "
        "waits for an approval",
    )


def test_a_pull_request_that_is_gone_lets_the_step_look() -> None:
    assert verdict(item(), WAITS) == Movable(reason="pull request #9 is not there any more")


def test_pull_requests_that_are_not_the_runs_decide_nothing() -> None:
    other = pull(8, state="closed")

    assert isinstance(verdict(item(), WAITS, pull(), other), Resting)


def test_a_leased_item_is_woken_by_what_people_ask_for_but_not_by_its_pull_requests() -> None:
    leased = tip(record("checkpoint"), age_s=10)

    assert isinstance(verdict(item(), leased, pull(state="merged")), Resting)
    assert isinstance(verdict(item(comments=[5]), leased, has_spoken=True), Movable)


@pytest.mark.parametrize(
    "changes",
    [[change("e2", "bug")], [change("e2", "cogworks:node:planning")], [change("e2", is_added=False)]],
    ids=["another-label", "a-view", "taken-off"],
)
def test_what_is_no_input_moves_nothing(changes: list[LabelChange]) -> None:
    assert isinstance(verdict(item(changes=changes), WAITS, pull()), Resting)


def test_more_comments_than_are_read_let_the_step_look() -> None:
    crowd = range(100, 100 + COMMENTS_PER_ITEM)

    assert verdict(item(comments=[*crowd]), WAITS, pull()) == Movable(
        reason="more comments were written than were read"
    )


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
        ("merge 12@abc", (Waited(kind="merge", number=IssueNumber(12), oid=CommitOid("abc")),)),
        ("merge 12@", (Waited(kind="merge", number=IssueNumber(12)),)),
        ("done", (Waited(kind="done"),)),
        ("merge 1@; resume", (Waited(kind="merge", number=IssueNumber(1)), Waited(kind="resume"))),
        ("Merge twelve", ()),
        ("", ()),
        ("budget @abc", (Waited(kind="budget", oid=CommitOid("abc")),)),
    ],
)
def test_the_trailer_is_read_as_it_is_written(trailer: str, wanted: tuple[Waited, ...]) -> None:
    assert waited_for(tip(record("succeeded", waits_for=trailer))) == wanted


@pytest.mark.parametrize(
    ("trailer", "pulls", "wanted"),
    [
        ({"waits_for": "done"}, {}, (9,)),
        ({"waits_for": "done"}, {IssueNumber(9): pull(updated_at=ago(6_000))}, (9,)),
        ({"waits_for": "done"}, {IssueNumber(9): pull(updated_at=ago(60))}, ()),
        ({"waits_for": "done"}, {IssueNumber(9): pull(state="merged")}, ()),
        ({"waits_for": f"merge 9@{HEAD}"}, {}, ()),
    ],
    ids=["not-listed", "unchanged", "read-with-its-reviews", "merged", "waited-for"],
)
def test_whether_an_open_one_can_be_merged_is_wanted_where_nothing_else_of_it_is_read(
    trailer: dict[str, str], pulls: Mapping[IssueNumber, PullSeen], wanted: tuple[int, ...]
) -> None:
    before = tip(
        record("succeeded", **trailer, seen=f"event=e1 pulls=9:open:{HEAD[:12]},8:merged:{HEAD[:12]}")
    )

    assert wants_mergeable(before, pulls) == wanted


def test_a_conflict_that_was_dealt_with_is_not_asked_about_again() -> None:
    line = f"event=e1 pulls=9:open:{HEAD[:12]} conflicts=9:repair:{HEAD[:12]}"
    before = tip(record("succeeded", waits_for="done", seen=line))

    assert wants_mergeable(before, {IssueNumber(9): pull(updated_at=ago(6_000))}) == ()


def test_the_reviews_of_all_that_is_waited_for_are_wanted() -> None:
    assert wants_pulls(tip(record("succeeded", waits_for="merge 1@a; resume; merge 2@b")), {}) == (1, 2)


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


def among(*numbers: int) -> Seen:
    """A sweep over a divided item that waits for two issues, and these others."""
    divided = item()
    others = [divided.model_copy(update={"number": IssueNumber(number)}) for number in numbers]
    ledger = tip(record("done", waits_for="part 11@; part 12@"))
    return seen(divided, ledger).model_copy(update={"items": (divided, *others)})


def test_a_divided_item_rests_until_none_of_its_issues_is_open() -> None:
    assert judge(item(), among(11, 12, 13)) == Resting(
        why="waiting", reason="was divided; waits for #11, #12"
    )
    assert judge(item(), among(12)) == Resting(why="waiting", reason="was divided; waits for #12")
    assert judge(item(), among(13)) == Movable(
        reason="none of the issues that it was divided into is worked on any more"
    )


def test_what_becomes_of_its_issues_is_a_change_of_a_divided_item() -> None:
    earlier = Look(fingerprint=fingerprint(item(), among(12)), outcome="done")
    now = among(13)

    last = remembered(judge(item(), now), earlier, fingerprint(item(), now), sweep=2)

    assert isinstance(last, Movable)


def test_issues_that_are_waited_for_are_read_as_no_pull_requests() -> None:
    assert wants_pulls(tip(record("done", waits_for="part 11@; merge 9@")), {}) == (9,)


def held_up(*numbers: int) -> Seen:
    """A sweep over an item that two issues block, and these others."""
    ledger = tip(record("refused", waits_for="blocked 11@; blocked 12@"))
    return among(*numbers).model_copy(update={"tips": {item().number: ledger}})


def test_an_item_rests_while_an_issue_that_blocks_it_is_seen() -> None:
    assert judge(item(), held_up(12, 13)) == Resting(why="waiting", reason="waits for #12")
    assert judge(item(), held_up(13)) == Movable(reason="nothing seems to block it any more")
    assert not has_begun(item(), held_up(12))
