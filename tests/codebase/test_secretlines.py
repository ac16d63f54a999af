"""Secrets in what a model wrote: refused with the place, and what was there before is nobody's doing."""

import time

import pytest

from cogworks.codebase.changes import FileChange
from cogworks.codebase.unwritable import secret_refusal, secrets_among, secrets_in
from cogworks.secretforms import may_hold, secret_places

TOKEN = "ghp_" + "a1" * 18
FORMS = {
    "a GitHub token": TOKEN,
    "an AWS key id": "AKIA" + "A" * 16,
    "a model provider's key": "sk-" + "a" * 24,
    "a GitLab token": "glpat-" + "a" * 20,
    "a Google key": "AIza" + "a" * 35,
    "a key of a payment service": "sk_live_" + "a" * 24,
    "a token of a package registry": "npm_" + "a" * 36,
    "a Hugging Face token": "hf_" + "a" * 32,
    "a Slack token": "xoxb-" + "1" * 12,
    "a private key": "-----BEGIN RSA PRIVATE KEY-----",
    "a JSON web token": ".".join(["eyJ" + "a" * 12, "eyJ" + "b" * 12, "c" * 12]),
}


@pytest.mark.parametrize(("what", "text"), FORMS.items())
def test_each_form_is_found_with_its_line(what: str, text: str) -> None:
    assert list(secrets_in(f"a = 1\nb = '{text}'\n")) == [(2, what)]


OTHERS = (
    ("a GitHub token", *(f"gh{letter}_{'a' * 30}" for letter in "opusr"), "github_pat_" + "a" * 30),
    ("an AWS key id", "ASIA" + "A" * 16),
    ("a key of a payment service", "rk_live_" + "a" * 20),
    ("a token of a package registry", "pypi-AgEI" + "a" * 40),
    ("a Slack token", *(f"xox{letter}-{'1' * 12}" for letter in "abprs")),
)


@pytest.mark.parametrize(
    ("what", "text"),
    [(what, text) for what, *texts in (*FORMS.items(), *OTHERS) for text in texts if what != "a private key"],
)
def test_no_form_is_passed_over_where_a_token_of_it_stands(what: str, text: str) -> None:
    assert may_hold(f"b = '{text}'", what)
    assert list(secret_places(f"b = '{text}'")) == [(5, 5 + len(text))]


@pytest.mark.parametrize("what", [each for each in FORMS if each != "a private key"])
def test_of_a_long_text_only_forms_are_looked_for_of_which_something_stands_there(what: str) -> None:
    assert not may_hold("+    task = asked(1)\n" * 3, what)


@pytest.mark.parametrize(
    "text", ["key = 'k'", "token = os.environ['TOKEN']", "ask-anything-you-like-to-know", "sk-short"]
)
def test_plain_words_and_short_keys_are_none(text: str) -> None:
    assert list(secrets_in(text)) == []


DRAWN = "q8Zr1Kx0Vw7Lp3Ty6Bn2Hs5Dj9"


@pytest.mark.parametrize(
    "text",
    [
        f"API_KEY = '{DRAWN}'",
        f'"clientSecret": "{DRAWN}",',
        f"access_token: {DRAWN}",
        f"password={DRAWN}",
        "SECRET_KEY = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b'",
        f"URL = 'postgres://shop:{DRAWN}@db.internal/shop'",
    ],
)
def test_a_drawn_key_that_is_called_a_secret_is_found_whatever_its_form(text: str) -> None:
    assert list(secrets_in(text)) == [(1, "a random key that is called a secret")]


@pytest.mark.parametrize(
    "text",
    [
        "password = 'correct-horse-battery-staple'",
        "API_KEY = 'test-9f86d081884c7d659a2feaa0c55ad015'",
        "token = 'abcdefghijklmnopqrstuvwxyz0987'",
        "secret = os.environ['SHOP_SECRET_2024_REGION_1']",
        "digest = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'",
        "authors = 'Ada Lovelace and Grace Hopper 1852 1992'",
        "URL = 'https://user:password@example.com/a'",
        "tokens = tokenize_everything_that_is_there_now(text)",
        "token_count = 12345678901234567890123",
        "monkey = 'q8Zr1Kx0Vw7Lp3Ty6Bn2Hs5Dj9'",
    ],
)
def test_what_people_write_is_none(text: str) -> None:
    assert list(secrets_in(text)) == []


def test_what_is_called_a_password_counts_only_where_that_is_wanted() -> None:
    lines = [(7, "password = 'correct-horse-battery'")]

    assert list(secrets_among(lines)) == []
    assert list(secrets_among(lines, passwords=True)) == [(7, "a password or key")]


def test_a_change_is_refused_with_the_place_and_without_the_secret() -> None:
    changes = [
        FileChange(path="a.py", action="modify", content=f"old = '{TOKEN}'\nnew = 1\n"),
        FileChange(path="b.py", action="create", content=f"x = 1\ny = '{TOKEN}'\n"),
        FileChange(path="c.py", action="delete", content=""),
    ]

    reason = secret_refusal(changes, {"a.py": f"old = '{TOKEN}'\n"}.get)

    assert (
        reason
        == "'b.py' line 2 looks like a GitHub token; use a placeholder, and say what has to be configured"
    )


@pytest.mark.parametrize("word", ["auth", "password", "secret ", "://a:b"])
def test_a_line_of_nothing_but_such_words_is_read_in_time(word: str) -> None:
    begun_s = time.thread_time()

    list(secrets_among([(1, word * 50_000)], passwords=True))

    assert time.thread_time() - begun_s < 5
