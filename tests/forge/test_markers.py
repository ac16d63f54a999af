import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.forge.bodies import Marker, marked, parse_marker, text_below_marker
from cogworks.vocabulary import VisitKey

VISIT_KEY = VisitKey("ab" * 32)
topics = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.:/@+-]{0,99}", fullmatch=True)
visit_keys = st.from_regex(r"[0-9a-f]{64}", fullmatch=True).map(VisitKey)


@given(st.text(), visit_keys, topics)
def test_what_is_marked_is_recognised_with_its_text_unchanged(
    text: str, visit_key: VisitKey, topic: str
) -> None:
    body = marked(text, visit_key=visit_key, topic=topic)

    marker = parse_marker(body)

    assert marker is not None
    assert (marker.visit_key, marker.topic) == (visit_key, topic)
    assert text_below_marker(body) == text
    assert marker.matches(text)


@given(st.text(), st.none() | st.integers(0, 999_999_999))
def test_a_marker_tells_the_revision_that_its_text_shows(text: str, revision: int | None) -> None:
    marker = parse_marker(marked(text, visit_key=VISIT_KEY, topic="status", revision=revision))

    assert marker is not None
    assert marker.revision == revision
    assert marker.matches(text)


@given(st.text())
def test_no_text_breaks_the_reader(body: str) -> None:
    marker = parse_marker(body)

    assert marker is None or body.startswith("<!-- cogworks:1 k=")


def test_a_marker_counts_only_on_the_first_line() -> None:
    body = marked("text", visit_key=VISIT_KEY, topic="status")

    assert parse_marker(f"Hello\n{body}") is None
    assert parse_marker(f" {body}") is None
    assert parse_marker(body.replace("\n", "\r\n")) == parse_marker(body)


def test_an_edit_below_the_marker_is_seen_but_new_line_ends_are_not() -> None:
    marker = parse_marker(marked("one\ntwo\n", visit_key=VISIT_KEY, topic="status"))

    assert marker == Marker(visit_key=VISIT_KEY, topic="status", digest=marker.digest if marker else "")
    assert marker.matches("one\r\ntwo")
    assert not marker.matches("one\nthree")


@pytest.mark.parametrize("topic", ["", "-->", "a b", "a\nb", "-x", "x" * 101, "é"])
def test_a_topic_that_could_end_the_comment_is_refused(topic: str) -> None:
    with pytest.raises(ValueError, match="a marker cannot carry"):
        marked("text", visit_key=VISIT_KEY, topic=topic)


@pytest.mark.parametrize("visit_key", ["", "xyz", "AB" * 32, "a" * 63])
def test_a_visit_key_that_is_none_is_refused(visit_key: str) -> None:
    with pytest.raises(ValueError, match="a marker cannot carry"):
        marked("text", visit_key=VisitKey(visit_key), topic="status")
