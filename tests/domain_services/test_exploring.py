"""Lines of a file, as services tell of them."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.exploring import Lines, merged

stretches = st.lists(
    st.tuples(st.integers(1, 60), st.integers(0, 9)).map(lambda pair: (pair[0], pair[0] + pair[1])),
    max_size=20,
)


@given(stretches)
def test_merged_stretches_hold_the_same_lines_in_order_and_apart(given_lines: list[Lines]) -> None:
    found = merged(given_lines)

    assert {line for first, last in found for line in range(first, last + 1)} == {
        line for first, last in given_lines for line in range(first, last + 1)
    }
    assert all(one[1] + 1 < other[0] for one, other in pairwise(found))
