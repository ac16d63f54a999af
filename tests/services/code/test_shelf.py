"""No file is parsed twice, and memory has an end."""

from hypothesis import given
from hypothesis import strategies as st

from cogworks.services.python.code.facts import FileFacts, Unreadable
from cogworks.services.python.code.files import Shelf
from tests.services.code.samples import facts_of


class Counted:
    """A reading that counts."""

    def __init__(self) -> None:
        self.read: list[bytes] = []

    def __call__(self, data: bytes) -> FileFacts | Unreadable:
        self.read.append(data)
        return facts_of("x = 1") if data else Unreadable("is empty")


def test_the_same_content_is_read_once() -> None:
    counted = Counted()
    shelf = Shelf(counted)

    answers = [shelf.facts(data) for data in (b"a", b"", b"a", b"")]

    assert counted.read == [b"a", b""]
    assert answers[0] is answers[2]
    assert answers[1] == answers[3] == Unreadable("is empty")


def test_what_was_asked_longest_ago_makes_room() -> None:
    counted = Counted()
    shelf = Shelf(counted, max_bytes=4)

    for data in (b"aa", b"bb", b"aa", b"cc", b"aa", b"bb"):
        shelf.facts(data)

    assert counted.read == [b"aa", b"bb", b"cc", b"bb"]


@given(st.lists(st.binary(max_size=6), max_size=40))
def test_whatever_is_asked_the_answer_is_that_of_the_reading(asked: list[bytes]) -> None:
    shelf = Shelf(lambda data: Unreadable(repr(data)), max_bytes=10)

    assert [shelf.facts(data) for data in asked] == [Unreadable(repr(data)) for data in asked]
