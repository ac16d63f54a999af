"""A program of the operator as the model: real processes."""

import re
import sys

import pytest

from cogworks.errors import ConfigurationError, InvalidReply, NodeFailed, PermissionRefused, TryAgainLater
from cogworks.llm.provider import Usage
from cogworks.llm.providers.command import CommandProvider
from tests.asked import question

REQUEST = question("größer?", system="s", model="local", schema={"type": "object"}, max_output_tokens=9)


def program(code: str, *, max_bytes: int = 10_000, left_s: float | None = None) -> CommandProvider:
    return CommandProvider(
        [sys.executable, "-c", f"import json, os, sys, time\n{code}"],
        environment={"PATH": "/usr/bin", "NAMED": "yes"}, max_bytes=max_bytes, left_s=lambda: left_s,
    )  # fmt: skip


def test_the_program_reads_the_request_and_its_text_and_usage_are_the_reply() -> None:
    told = program(
        "asked = json.load(sys.stdin)\n"
        "print(json.dumps({'text': asked['messages'][0]['text'], 'usage': {'input_tokens': 3, 'output_tokens': 4}}))"
    ).complete(REQUEST)

    assert (told.text, told.model, told.stop_reason) == ("größer?", "local", "end_turn")
    assert told.usage == Usage(input_tokens=3, output_tokens=4)


def test_without_usage_a_token_for_three_bytes_is_counted_so_that_budgets_hold() -> None:
    told = program("print(json.dumps({'text': 'abcdef'}))").complete(REQUEST)

    assert told.usage.output_tokens == 2
    assert told.usage.input_tokens > 20


@pytest.mark.parametrize(
    ("code", "kind"),
    [(1, NodeFailed), (64, ConfigurationError), (75, TryAgainLater), (77, PermissionRefused), (78, ConfigurationError)],
)  # fmt: skip
def test_an_exit_code_says_what_went_wrong_and_standard_error_why(code: int, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="no more today"):
        program(f"print('no more today', file=sys.stderr); sys.exit({code})").complete(REQUEST)


def test_a_secret_that_the_program_prints_is_hidden() -> None:
    with pytest.raises(NodeFailed) as caught:
        program("sys.exit('sk-' + 'a' * 30)").complete(REQUEST)

    assert "a" * 30 not in str(caught.value)


@pytest.mark.parametrize(
    "code",
    [
        "print('hello')",
        "print('{}')",
        "pass",
        "print(json.dumps({'text': 1}))",
        "print(json.dumps({'text': 'a', 'usage': {'output_tokens': 10**9 + 1}}))",
        "print(json.dumps({'text': '', 'usage': {'output_tokens': -1}}))",
    ],
)
def test_what_is_no_answer_is_refused_with_what_is_wanted(code: str) -> None:
    with pytest.raises(InvalidReply, match=re.escape('Wanted is {"text"')):
        program(code).complete(REQUEST)


def test_a_program_that_writes_too_much_is_killed() -> None:
    with pytest.raises(InvalidReply, match="more than 10000 bytes"):
        program("while True: print('x' * 1000, flush=True)").complete(REQUEST)


def test_a_program_that_takes_too_long_is_killed() -> None:
    with pytest.raises(TryAgainLater, match="did not answer within") as caught:
        program("time.sleep(600)", left_s=0.1).complete(REQUEST)

    assert caught.value.is_timeout


def test_it_sees_only_the_environment_it_is_handed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    told = program("print(json.dumps({'text': json.dumps(sorted(os.environ))}))").complete(REQUEST)

    assert "GITHUB_TOKEN" not in told.text
    assert "NAMED" in told.text


def test_a_program_that_is_not_there_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="cannot be started"):
        CommandProvider(["/nowhere/program"], environment={}).complete(REQUEST)
