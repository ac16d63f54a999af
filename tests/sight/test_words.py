"""From code and text to the terms that are looked up."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cogworks.sight import words
from cogworks.sight.words import MAX_TERM_CHARS, count_terms, terms_of


def test_an_identifier_is_found_whole_and_by_its_parts() -> None:
    assert list(terms_of("max_output_tokens")) == ["maxoutputtokens", "max", "output", "token"]
    assert list(terms_of("maxOutputTokens")) == ["maxoutputtokens", "max", "output", "token"]
    assert list(terms_of("max-output-tokens")) == ["maxoutputtokens", "max", "output", "token"]
    assert list(terms_of("HTTPServer")) == ["httpserver", "http", "server"]


def test_forms_of_a_word_are_one_term() -> None:
    assert set(terms_of("rounding rounds rounded")) == {"round"}


def test_words_that_say_nothing_are_left_out() -> None:
    assert list(terms_of("it is the one that was 42")) == ["one"]


@given(st.text(max_size=300))
def test_any_text_has_terms_of_bounded_length(text: str) -> None:
    assert all(0 < len(term) <= MAX_TERM_CHARS for term in terms_of(text))


@given(st.text("abAB_-1.ü \n\ud800", max_size=60))
def test_terms_are_counted_in_the_order_in_which_they_come_first(text: str) -> None:
    assert list(count_terms(text).items()) == list(Counter(terms_of(text)).items())


def test_encoded_data_are_not_remembered() -> None:
    """Every file of a repository may hold some, each as long as the file."""
    remembered = [words._terms.cache_info().currsize, words._terms_in.cache_info().currsize]
    text = "price4All" * 10_000

    assert count_terms(text) == dict(Counter(terms_of(text)))
    assert [words._terms.cache_info().currsize, words._terms_in.cache_info().currsize] == remembered
