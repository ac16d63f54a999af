import itertools

from hypothesis import given
from hypothesis import strategies as st

from cogworks.repair.localise.slices import MOST_SLICES, Slice, slices_of
from tests.repair.examples import numbered_text, suspect


def test_a_window_reaches_sixty_lines_around_the_suspect_and_ends_with_the_file() -> None:
    found = slices_of([suspect("shop.f", (100, 110), 1.0)], {"shop.py": numbered_text(150)})

    assert [each.lines for each in found] == [(40, 150)]
    assert found[0].text.startswith("line 40\n")
    assert found[0].text.endswith("line 150\n")


def test_windows_that_touch_are_one() -> None:
    suspects = [suspect("shop.f", (100, 110), 1.0), suspect("shop.g", (1, 3), 0.5)]
    texts = {"shop.py": numbered_text(400)}

    apart = slices_of(suspects, texts, padding=10)
    together = slices_of(suspects, texts, padding=50)

    assert [each.lines for each in apart] == [(1, 13), (90, 120)]
    assert [each.lines for each in together] == [(1, 160)]


def test_what_is_too_much_is_left_out_from_the_least_suspicious_on() -> None:
    suspects = [suspect(f"shop.f{n}", (n * 100, n * 100), 1 - n / 100) for n in range(1, 20)]

    found = slices_of(suspects, {"shop.py": numbered_text(2000)}, padding=5)

    assert [each.lines[0] for each in found] == [n * 100 - 5 for n in range(1, MOST_SLICES + 1)]


def test_a_file_without_text_has_no_window() -> None:
    suspects = [suspect("gone.f", (1, 2), 1.0, artifact="gone.py"), suspect("shop.f", (1, 1), 0.5)]

    found = slices_of(suspects, {"shop.py": "x = 1\n"})

    assert [each.artifact for each in found] == ["shop.py"]


def test_lines_are_shown_with_their_numbers() -> None:
    window = Slice(artifact="shop.py", lines=(9, 10), text="a = 1\nb = 2\n")

    assert window.numbered() == " 9 a = 1\n10 b = 2\n"


places = st.lists(
    st.tuples(st.sampled_from(["a.py", "b.py"]), st.integers(1, 900), st.integers(0, 40)), max_size=40
)


@given(places, st.integers(0, 80))
def test_windows_never_overlap_and_are_never_too_many(
    where: list[tuple[str, int, int]], padding: int
) -> None:
    texts = {"a.py": numbered_text(1000), "b.py": numbered_text(1000)}
    suspects = [
        suspect(f"f{n}", (first, first + more), 0.5, artifact=artifact)
        for n, (artifact, first, more) in enumerate(where)
    ]

    found = slices_of(suspects, texts, padding=padding)

    assert len(found) <= MOST_SLICES
    for one, other in itertools.pairwise(found):
        assert one.artifact < other.artifact or one.lines[1] + 1 < other.lines[0]
    for each in found:
        first, last = each.lines
        assert each.text == "".join(f"line {number}\n" for number in range(first, last + 1))
