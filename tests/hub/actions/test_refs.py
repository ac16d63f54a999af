"""What moving refs does, by API and by push."""

import pytest

from cogworks.hub.actions.pulls import pull_part
from cogworks.hub.actions.refs import create_ref, delete_ref, reconcile, update_ref, update_refs
from cogworks.hub.gitobjects import ZERO_OID
from cogworks.hub.gitstore import RefUpdate
from cogworks.hub.refusals import Forbidden, NotFound, Refusal, StaleData, Unprocessable
from tests.hub.bench import Bench


def test_a_ref_that_exists_is_not_created_again(bench: Bench) -> None:
    with pytest.raises(Unprocessable) as refused:
        create_ref(bench.world, bench.writer, bench.repository, "refs/heads/main", bench.tip())

    assert str(refused.value) == 'A ref named "refs/heads/main" already exists in the repository.'


@pytest.mark.parametrize(
    ("name", "oid", "reason"),
    [
        ("refs/heads/a..b", None, "refs/heads/a..b is not a valid ref name."),
        ("refs/heads/new", "f" * 40, "Object does not exist"),
    ],
    ids=["bad-name", "no-object"],
)
def test_a_ref_needs_a_valid_name_and_an_object(
    bench: Bench, name: str, oid: str | None, reason: str
) -> None:
    with pytest.raises(Unprocessable) as refused:
        create_ref(bench.world, bench.writer, bench.repository, name, oid or bench.tip())

    assert str(refused.value) == reason


def test_a_branch_below_another_branch_is_refused(bench: Bench) -> None:
    with pytest.raises(StaleData, match="cannot create 'refs/heads/main/below'"):
        create_ref(bench.world, bench.writer, bench.repository, "refs/heads/main/below", bench.tip())


def test_a_ref_moves_only_forward_unless_forced(bench: Bench) -> None:
    start = bench.tip()
    first = bench.commit("one", {"a": "1"})
    bench.commit("two", {"b": "2"})

    with pytest.raises(Unprocessable, match="Update is not a fast forward"):
        update_ref(bench.world, bench.writer, bench.repository, "refs/heads/two", first)
    update_ref(bench.world, bench.writer, bench.repository, "refs/heads/two", first, force=True)
    update_ref(bench.world, bench.writer, bench.repository, "refs/heads/main", first)

    assert (bench.tip("two"), bench.tip(), start == first) == (first, first, False)


def test_many_refs_move_together_or_not_at_all(bench: Bench) -> None:
    main = bench.tip()
    one = bench.commit("one", {"a": "1"})
    moves = [
        RefUpdate(name="refs/archive/one", new=one, old=ZERO_OID),
        RefUpdate(name="refs/heads/one", new=None, old=one),
    ]

    with pytest.raises(StaleData):
        update_refs(
            bench.world, bench.writer, bench.repository, [*moves, RefUpdate("refs/heads/main", one, one)]
        )
    assert (bench.git.ref("refs/archive/one"), bench.tip("one"), bench.tip()) == (None, one, main)

    update_refs(bench.world, bench.writer, bench.repository, moves)
    assert (bench.git.ref("refs/archive/one"), bench.git.branch("one")) == (one, None)


@pytest.mark.parametrize("name", ["refs/heads/main", "refs/heads/none"])
def test_the_default_branch_and_a_missing_one_cannot_be_deleted(bench: Bench, name: str) -> None:
    with pytest.raises(Unprocessable):
        delete_ref(bench.world, bench.owner, bench.repository, name)


def test_deleting_the_base_closes_the_pull_requests_on_it(bench: Bench) -> None:
    bench.commit("base", {"base": "1"})
    pull = bench.pull("topic", base="base")
    base_oid = bench.tip("base")

    delete_ref(bench.world, bench.writer, bench.repository, "refs/heads/base")

    after = bench.now(pull)
    assert (after.state, pull_part(after).merged_at, pull_part(after).base_oid) == ("closed", None, base_oid)
    assert bench.kinds(pull) == ["base_ref_deleted", "closed"]


def test_deleting_the_head_closes_its_pull_request_and_keeps_its_oid(bench: Bench) -> None:
    pull = bench.pull("topic")
    head = bench.tip("topic")

    delete_ref(bench.world, bench.writer, bench.repository, "refs/heads/topic")

    after = bench.now(pull)
    assert (after.state, pull_part(after).head_oid) == ("closed", head)
    assert bench.kinds(pull) == ["head_ref_deleted", "closed"]


def test_a_new_commit_on_the_head_or_base_moves_the_pull_request(bench: Bench) -> None:
    pull = bench.pull("topic")
    head = bench.commit("topic", {"more": "1"})
    base = bench.commit("main", {"other": "1"})

    after = pull_part(bench.now(pull))

    assert (after.head_oid, after.base_oid) == (head, base)


def test_moving_the_head_elsewhere_is_a_forced_push(bench: Bench) -> None:
    pull = bench.pull("topic")
    other = bench.commit("other", {"other": "1"})

    update_ref(bench.world, bench.writer, bench.repository, "refs/heads/topic", other, force=True)

    assert (bench.kinds(pull), pull_part(bench.now(pull)).head_oid) == (["head_ref_force_pushed"], other)


def test_pushing_the_head_into_the_base_merges_the_pull_request(bench: Bench) -> None:
    pull = bench.pull("topic")
    base, head = bench.tip(), bench.tip("topic")

    update_ref(bench.world, bench.owner, bench.repository, "refs/heads/main", head)

    after = pull_part(bench.now(pull))
    assert (after.merge_commit_oid, after.merged_by_id) == (head, bench.owner.known.id)
    assert (after.base_oid, bench.now(pull).state) == (base, "closed")
    assert bench.kinds(pull) == ["merged", "closed"]


def test_pushing_the_merge_and_deleting_the_head_at_once_merges_too(bench: Bench) -> None:
    pull = bench.pull("topic")
    head = bench.tip("topic")

    bench.git.update_refs(
        [RefUpdate(name="refs/heads/main", new=head), RefUpdate(name="refs/heads/topic", new=None)]
    )
    reconcile(bench.world, bench.repository, bench.owner.known.id)

    assert pull_part(bench.now(pull)).merge_commit_oid == head


def test_a_commit_on_the_default_branch_closes_what_it_fixes(bench: Bench) -> None:
    issue, other = bench.issue(), bench.issue()
    oid = bench.commit("topic", {"fix.txt": "1"}, f"Fix it\n\nFixes #{issue.number}, see #{other.number}")
    assert bench.now(issue).is_open

    update_ref(bench.world, bench.writer, bench.repository, "refs/heads/main", oid)

    assert (bench.now(issue).state, bench.now(other).state) == ("closed", "open")
    assert bench.kinds(issue) == ["closed"]


def test_looking_twice_has_no_second_effect(bench: Bench) -> None:
    pull = bench.pull("topic")
    bench.git.update_refs([RefUpdate(name="refs/heads/topic", new=None)])

    for _ in range(2):
        reconcile(bench.world, bench.repository, bench.owner.known.id)

    assert bench.kinds(pull) == ["head_ref_deleted", "closed"]


@pytest.mark.parametrize("who", ["reader", "nobody"])
def test_only_writers_move_refs(bench: Bench, who: str) -> None:
    from cogworks.hub.actions.access import ANONYMOUS

    actor = {"reader": bench.reader, "nobody": ANONYMOUS}[who]

    with pytest.raises(Refusal) as refused:
        create_ref(bench.world, actor, bench.repository, "refs/heads/new", bench.tip())

    assert refused.value.status in (401, 403)
    assert not isinstance(refused.value, NotFound)
    assert isinstance(refused.value, Forbidden) is (who == "reader")
