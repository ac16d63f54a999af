"""Secrets in what a model wrote: refused with the place, and what was there before is nobody's doing."""

import pytest

from cogworks.codebase.changes import FileChange
from cogworks.codebase.secretlines import secret_refusal, secrets_among, secrets_in

TOKEN = "ghp_" + "a1" * 18
FORMS = {
    "a GitHub token": TOKEN,
    "an AWS key id": "AKIA" + "A" * 16,
    "a model provider's key": "sk-" + "a" * 24,
    "a Slack token": "xoxb-" + "1" * 12,
    "a private key": "-----BEGIN RSA PRIVATE KEY-----",
    "a JSON web token": ".".join(["eyJ" + "a" * 12, "eyJ" + "b" * 12, "c" * 12]),
}


@pytest.mark.parametrize(("what", "text"), FORMS.items())
def test_each_form_is_found_with_its_line(what: str, text: str) -> None:
    assert list(secrets_in(f"a = 1\nb = '{text}'\n")) == [(2, what)]


@pytest.mark.parametrize(
    "text", ["key = 'k'", "token = os.environ['TOKEN']", "ask-anything-you-like-to-know", "sk-short"]
)
def test_plain_words_and_short_keys_are_none(text: str) -> None:
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
