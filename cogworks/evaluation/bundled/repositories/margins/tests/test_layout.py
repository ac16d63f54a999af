from margins import boxed, widest


def test_the_widest_line_counts():
    assert widest(["a", "abc", "ab"]) == 3


def test_a_frame_is_as_wide_as_its_text():
    assert boxed("ab\na") == "+----+\n| ab |\n| a  |\n+----+"
