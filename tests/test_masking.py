"""What is secret stands in no text for people, and nothing else is missing from it."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cogworks.github.responses import Refused, judge
from cogworks.github.rest_failures import failure
from cogworks.leaving import HIDDEN, masked

LONG = "ghp_0123456789abcdefghij"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Bearer k", "Bearer ***"),
        ("x-api-key: k", "x-api-key: ***"),
        ("GET /v1?key=k&n=1", "GET /v1?key=***&n=1"),
        ('{"key":"k"}', '{"key":"***"}'),
        ("no such key: k.", "no such key: ***."),
        ("a kind k-means of k_1, ok", "a kind k-means of k_1, ok"),
        ("könnte k", "könnte ***"),
    ],
)
def test_a_short_secret_is_hidden_where_it_stands_alone(text: str, shown: str) -> None:
    assert masked(text, ["k"]) == shown


@pytest.mark.parametrize("around", ["\\n", "%20", "a", "_"])
def test_a_long_secret_is_hidden_whatever_it_touches(around: str) -> None:
    assert masked(f"{around}{LONG}{around}", [LONG]) == f"{around}{HIDDEN}{around}"


def test_the_longest_of_several_secrets_is_hidden_first() -> None:
    assert masked("hunter2-long hunter2", ["hunter2", "", "hunter2-long"]) == f"{HIDDEN} {HIDDEN}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://me:hunter2@host/a@b", "https://***@host/a@b"),
        ("http://token@proxy:8080", "http://***@proxy:8080"),
        ("http://me:p@ss@proxy", "http://***@proxy"),
        ("http://me:p/ss@proxy", "http://***@proxy"),
        ("http://me:p#ss?x@proxy and a@b", "http://***@proxy and a@b"),
        ("http://host:8080/a@b", "http://host:8080/a@b"),
        ("https://host/owner/name@v1?to=a@b", "https://host/owner/name@v1?to=a@b"),
    ],
)
def test_user_and_password_of_an_address_are_hidden(text: str, shown: str) -> None:
    assert masked(text) == shown


@pytest.mark.parametrize("body", [f"no such token {LONG}", f'{{"message": "no such token {LONG}"}}'])
def test_what_github_quotes_of_a_token_is_hidden(body: str) -> None:
    refused = judge(400, {}, body.encode(), url="https://api.github.com/graphql")

    assert isinstance(refused, Refused)
    for message in (str(refused.error), str(failure("GET /", 400, body, {}, is_write=False))):
        assert "answered 400: no such token ***." in message


@given(st.text(min_size=1, max_size=30), st.text(), st.text())
def test_no_secret_is_left_between_separators_and_hiding_twice_changes_nothing(
    secret: str, before: str, after: str
) -> None:
    assume(secret.strip("*"))

    once = masked(f"{before} {secret} {after}", [secret])

    assert f" {secret} " not in once
    assert masked(once, [secret]) == once
