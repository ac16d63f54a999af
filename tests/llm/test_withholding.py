"""Secrets that a model writes: gone before anybody keeps or uses the reply, and the same for whoever reads it again."""

import json

import pytest

from cogworks.codebase.changes import FileChange
from cogworks.codebase.unwritable import secret_refusal
from cogworks.errors import TryAgainLater
from cogworks.llm.provider import BrokenReply, Message, ModelReply, ModelRequest, Usage
from cogworks.llm.withholding import Withholding, withheld
from cogworks.secretforms import WITHHELD
from tests.codebase.test_secretlines import DRAWN, FORMS, TOKEN

OWN = "a-key-of-this-machine-5f1c"
BLOCK = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA0\nZx9Kq2Lm\n-----END RSA PRIVATE KEY-----"
WRITTEN = {name: text for name, text in FORMS.items() if name != "a private key"} | {"a private key": BLOCK}


def question(text: str = "What is the token?") -> ModelRequest:
    return ModelRequest(
        model="m",
        system="You answer.",
        messages=(Message(role="user", text=text),),
        output_schema={},
        max_output_tokens=10,
        purpose="p",
    )


def reply(text: str) -> ModelReply:
    return ModelReply(text=text, stop_reason="end_turn", usage=Usage(), model="m")


class Says:
    """Answers alike, or breaks off in the midst of it."""

    def __init__(self, text: str, *, breaks: bool = False) -> None:
        self._text, self._breaks = text, breaks

    def complete(self, request: ModelRequest) -> ModelReply:
        if self._breaks:
            raise BrokenReply(TryAgainLater("later"), reply(self._text), is_retryable=True)
        return reply(self._text)

    def count(self, request: ModelRequest) -> int:
        return 7


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("before", ["x = '", "\n", ""], ids=["in-quotes", "on-a-line", "alone"])
def test_a_secret_of_any_form_is_taken_out_and_the_rest_is_as_it_was(text: str, before: str) -> None:
    said = json.dumps({"content": f"{before}{text}'\n", "more": "untouched"})

    clean = withheld(said, [])

    assert json.loads(clean) == {"content": f"{before}{WITHHELD}'\n", "more": "untouched"}
    assert withheld(clean, []) == clean


@pytest.mark.parametrize(
    "named", [f"API_KEY = '{DRAWN}'", f'"clientSecret": "{DRAWN}"', f"postgres://shop:{DRAWN}@db"]
)
def test_a_drawn_value_that_is_called_a_secret_is_taken_out(named: str) -> None:
    clean = json.loads(withheld(json.dumps({"content": f"a\n{named}\n"}), []))["content"]

    assert DRAWN not in clean
    assert WITHHELD in clean


@pytest.mark.parametrize("text", [f"API_KEY = '{DRAWN}'", BLOCK], ids=["drawn", "block"])
def test_what_the_question_shows_stays(text: str) -> None:
    """A file that is written anew has to have it again, and it is in the repository anyway."""
    said = json.dumps({"content": f"{text}\n"})

    assert withheld(said, ["the file:", f"{text}\n"]) == said
    assert withheld(said, ["another file"]) != said


def test_a_token_is_taken_out_even_where_the_question_has_it() -> None:
    assert TOKEN not in withheld(f"it is {TOKEN}", [f"Is it {TOKEN}?"])


@pytest.mark.parametrize("letter", ["\\u0067", "\\u0067\\u0068\\u0070"])
def test_json_with_other_letters_for_the_same_hides_nothing(letter: str) -> None:
    told = json.loads(f'"{letter}"')
    said = f'{{"a": ["{letter}{TOKEN.removeprefix(told)}"], "b": 1}}'

    assert json.loads(withheld(said, [])) == {"a": [WITHHELD], "b": 1}


@pytest.mark.parametrize("text", ["plain words", '{"a": 1,  "b": "\\u00e4"}', "", '{"a": "cut'])
def test_a_reply_without_secrets_stays_byte_for_byte(text: str) -> None:
    assert withheld(text, []) == text


def test_what_is_secret_on_this_machine_is_taken_out_and_short_values_are_words() -> None:
    asked = Withholding(Says(f"{OWN} and a key"), [OWN, "key"])

    assert asked.complete(question()).text == f"{WITHHELD} and a key"
    assert asked.count(question()) == 7


def test_what_came_of_a_broken_reply_has_no_secret_either() -> None:
    with pytest.raises(BrokenReply) as raised:
        Withholding(Says(f"it is {TOKEN}", breaks=True)).complete(question())

    assert raised.value.partial.text == f"it is {WITHHELD}"


def test_a_change_out_of_which_a_secret_was_taken_is_refused_with_its_place() -> None:
    written = json.loads(withheld(json.dumps(f"a = 1\nb = '{TOKEN}'\n"), []))

    reason = secret_refusal([FileChange(path="a.py", action="create", content=written)], lambda _: None)

    assert reason == (
        "'a.py' line 2 looks like a secret that was taken out of the reply; use a placeholder, and say what has to be "
        "configured"
    )
