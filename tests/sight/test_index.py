"""One tree, ready to be searched; what it says is read once for each content."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cogworks.sight.batches import Unread, batch_of
from cogworks.sight.index import Index
from cogworks.sight.question import About
from cogworks.sight.ranking import rank
from cogworks.sight.store import Store
from tests.limits import ENDS_WITHIN_S
from tests.sight.trees import SHOP, MemoryTree

ABOUT = About(title="Prices are rounded wrongly")


def test_a_content_that_was_read_once_is_not_read_again_whichever_tree_asks(tmp_path: Path) -> None:
    place = tmp_path / "sight" / "index.sqlite3"
    Index(MemoryTree(SHOP), Store(place))
    again = MemoryTree({**SHOP, "src/shop/mail.py": "def post() -> None: ...\n"})

    Index(again, Store(place))

    assert again.read_paths == ["src/shop/mail.py"]


def test_a_broken_index_is_made_anew(tmp_path: Path) -> None:
    place = tmp_path / "index.sqlite3"
    place.write_bytes(b"no database at all" * 100)

    index = Index(MemoryTree(SHOP), Store(place))

    assert rank(index, ABOUT)[0].path == "src/shop/pricing.py"


def test_two_processes_may_fill_it_at_once(tmp_path: Path) -> None:
    place = tmp_path / "index.sqlite3"
    one, other = Store(place), Store(place)
    Index(MemoryTree(SHOP), one)

    index = Index(MemoryTree({**SHOP, "src/shop/tax.py": "RATE = 19\n"}), other)

    assert rank(index, ABOUT)[0].path == "src/shop/pricing.py"


def test_others_may_write_while_files_are_read_for_the_index(tmp_path: Path) -> None:
    place = tmp_path / "index.sqlite3"
    other = Store(place)

    class Slow(MemoryTree):
        def read(self, path: str) -> str | None:
            other.add(batch_of([Unread(f"theirs of {path}", "a.py", "def price(): ...\n")]))
            return super().read(path)

    index = Index(Slow(SHOP), Store(place))

    assert len(other.known(f"theirs of {path}" for path in SHOP)) > 5
    assert rank(index, ABOUT)[0].path == "src/shop/pricing.py"


def test_a_term_is_found_in_whatever_was_kept_together_or_later() -> None:
    store = Store()
    store.add(
        batch_of([Unread("a", "a.py", "price = price_of()\n"), Unread("b", "b.py", "def price(): ...\n")])
    )
    store.add(batch_of([Unread("c", "c.md", "The price.")]))

    assert _found(store, "price") == {("a", 2, 1), ("b", 1, 1), ("c", 1, 0)}


def test_what_another_process_kept_meanwhile_is_kept_once() -> None:
    """It may have begun with the same files."""
    store = Store()
    store.add(
        batch_of([Unread("b", "b.py", "def price(): ...\n"), Unread("d", "d.py", "def cost(): price()\n")])
    )

    store.add(batch_of([Unread(name, f"{name}.py", f"def price(): return {name}_of\n") for name in "abcd"]))

    assert _found(store, "price") == {("a", 1, 1), ("b", 1, 1), ("c", 1, 1), ("d", 1, 0)}
    assert _found(store, "bof") == set()
    names = {number: name for name, (number, *_) in store.known("abcd").items()}
    assert sorted(names[each] for each in store.defining("price")) == ["a", "b", "c"]


def _found(store: Store, term: str) -> set[tuple[str, int, int]]:
    names = {number: name for name, (number, *_) in store.known("abcd").items()}
    return {(names[card], in_text, in_names) for card, in_text, in_names in store.postings(term)}


def test_people_who_wait_hear_how_far_it_has_come() -> None:
    said: list[str] = []
    tree, store = MemoryTree({f"part{number}.txt": f"Price {number}.\n" for number in range(8_600)}), Store()

    for _ in range(2):
        Index(tree, store, say=said.append, cores=1)

    assert said == [
        "reading 8600 files that are new here",
        "read 4000 of 8600 files",
        "read 8000 of 8600 files",
    ]


def test_few_files_are_read_in_silence() -> None:
    said: list[str] = []

    Index(MemoryTree(SHOP), Store(), say=said.append)

    assert said == []


def test_imports_lead_to_files_of_the_tree() -> None:
    index = Index(MemoryTree(SHOP), Store())

    assert index.imports(["src/shop/cart.py"]) == {"src/shop/cart.py": {"src/shop/pricing.py"}}


def test_relative_imports_of_scripts_lead_to_files() -> None:
    files = {
        "lib/cart.js": "import { rounded } from './pricing.js';\n",
        "lib/pricing.js": "export const rounded = 1;\n",
    }
    index = Index(MemoryTree(files), Store())

    assert index.imports(["lib/cart.js"]) == {"lib/cart.js": {"lib/pricing.js"}}


def test_the_file_is_made_without_waiting_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def connect(*words: Any, **more: Any) -> sqlite3.Connection:
        connection = sqlite3.Connection(*words, **more)
        connection.set_trace_callback(said.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect)

    Store(tmp_path / "sight.sqlite3").close()

    # What comes before this waits.
    assert said[0] == "PRAGMA synchronous = OFF"
    assert "PRAGMA journal_mode = WAL" in said


def test_a_file_that_is_no_text_is_known_and_says_nothing() -> None:
    tree = MemoryTree({**SHOP, "src/shop/blob.py": ""})
    index = Index(tree, Store())

    assert index.text("src/shop/blob.py") == ""
    assert "src/shop/blob.py" in {each.path for each in index.documents}


@pytest.mark.parametrize("is_kept", [True, False], ids=["in a file", "in memory"])
def test_a_thread_may_go_on_with_what_another_one_opened(tmp_path: Path, is_kept: bool) -> None:
    """Actions of a coding cycle run in threads of their own, one after the other."""
    store = Store(tmp_path / "sight.sqlite3" if is_kept else None)
    Index(MemoryTree(SHOP), store)

    with ThreadPoolExecutor(1) as other:
        index = other.submit(Index, MemoryTree(SHOP), store).result(timeout=ENDS_WITHIN_S)

    assert index.paths_defining("total") == Index(MemoryTree(SHOP), Store()).paths_defining("total")
