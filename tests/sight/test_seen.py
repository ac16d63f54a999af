from cogworks.sight.seen import Seen

LINES = "".join(f"line {number}\n" for number in range(1, 31))


def test_what_was_shown_counts_until_the_file_changes() -> None:
    texts = {"a.txt": LINES, "b.txt": LINES}
    seen = Seen(texts.get)
    seen.note("a.txt", 3, 5)
    seen.note("a.txt", 9, 9)
    seen.note("a.txt", 6, 7)
    seen.note("b.txt", 1, 2)

    assert [*seen.paths] == ["a.txt", "b.txt"]
    assert seen.stretches("a.txt") == ((3, 7), (9, 9))

    texts["a.txt"] = LINES.replace("line 30", "line thirty")

    assert seen.paths == ("b.txt",)
    assert seen.stretches("a.txt") == ()

    seen.note("a.txt", 1, 1)

    assert seen.stretches("a.txt") == ((1, 1),)


def test_what_is_left_to_show_of_a_stretch_is_what_was_not_shown() -> None:
    seen = Seen({"a.txt": LINES}.get)
    seen.note("a.txt", 3, 5)
    seen.note("a.txt", 9, 12)

    assert seen.unseen("a.txt", 1, 10) == ((1, 2), (6, 8))
    assert seen.unseen("a.txt", 4, 5) == ()
    assert seen.unseen("a.txt", 13, 14) == ((13, 14),)


def test_a_file_that_is_not_there_is_never_seen() -> None:
    seen = Seen(lambda _: None)
    seen.note("gone.txt", 1, 3)

    assert seen.paths == ()


def test_the_file_of_the_latest_look_stands_last() -> None:
    texts = {"a.txt": LINES, "b.txt": LINES}
    seen = Seen(texts.get)
    orders = []

    for path, first in (("b.txt", 1), ("a.txt", 1), ("b.txt", 5)):
        seen.note(path, first, first + 1)
        orders.append(seen.newest_last)
    texts["b.txt"] = "another text\n"

    assert orders == [("b.txt",), ("b.txt", "a.txt"), ("a.txt", "b.txt")]
    assert seen.newest_last == ("a.txt",)
