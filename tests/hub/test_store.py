"""Where the hub keeps its records."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cogworks.hub.check_records import Status
from cogworks.hub.records import Label, User
from cogworks.hub.store import Store

MOMENT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "hub.sqlite3")
    yield made
    made.close()


def label(store: Store, name: str, repository_id: int = 1) -> Label:
    record = Label(id=store.next_id(), repository_id=repository_id, name=name, created_at=MOMENT)
    return store.put(record)


def test_a_record_is_found_by_id_by_key_and_below_its_parent(store: Store) -> None:
    bug, other = label(store, "Bug"), label(store, "Bug", repository_id=2)

    assert store.get(Label, bug.id) == bug
    assert store.find(Label, "1/bug") == bug
    assert (store.children(Label, 1), store.children(Label, 2), store.count(Label, 1)) == ([bug], [other], 1)
    assert (store.get(User, bug.id), store.get(Label, None), store.find(Label, "3/bug")) == (None, None, None)
    assert store.every(Label) == [bug, other]


def test_a_key_is_taken_once(store: Store) -> None:
    label(store, "bug")

    with pytest.raises(Exception, match="UNIQUE"):
        label(store, "BUG")


def test_children_are_filtered_by_tag(store: Store) -> None:
    made = [
        store.put(
            Status(
                id=store.next_id(),
                repository_id=1,
                oid=oid,
                context="ci",
                state="success",
                creator_id=1,
                created_at=MOMENT,
            )
        )
        for oid in ("a", "b", "a")
    ]

    assert store.children(Status, 1, tag="a") == [made[0], made[2]]
    assert store.tagged(Status, "b") == [made[1]]


def test_many_come_in_the_order_asked_for_without_those_that_are_gone(store: Store) -> None:
    one, two, three = (label(store, name) for name in ("one", "two", "three"))
    store.remove(two)

    assert store.many(Label, (three.id, two.id, one.id)) == [three, one]


def test_a_failed_transaction_leaves_no_trace(store: Store) -> None:
    kept = label(store, "kept")

    def fail_at_the_end() -> None:
        with store.transaction():
            store.put(kept.model_copy(update={"color": "000000"}))
            with store.transaction():
                label(store, "inner")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_at_the_end()

    assert store.every(Label) == [kept]


def test_what_another_process_writes_is_seen(store: Store, tmp_path: Path) -> None:
    mine = label(store, "mine")
    other = Store(tmp_path / "hub.sqlite3")
    theirs = other.put(mine.model_copy(update={"color": "000000"}))
    other.close()

    assert store.get(Label, mine.id) == theirs


def test_numbers_are_never_given_twice(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda _: store.next_number("issues"), range(200)))

    assert sorted(numbers) == list(range(1, 201))
    assert store.next_id(1000) > 1000


def test_everything_is_there_after_reopening(tmp_path: Path) -> None:
    first = Store(tmp_path / "hub.sqlite3")
    kept = label(first, "kept")
    first.close()

    second = Store(tmp_path / "hub.sqlite3")
    assert second.every(Label) == [kept]
    assert second.next_id() > kept.id
    second.close()
