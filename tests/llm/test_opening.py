"""Each provider says itself what it needs of a machine and how it is opened."""

import re
import sys
from pathlib import Path

import pytest

from cogworks.errors import ConfigurationError, PermissionRefused, UsageError
from cogworks.llm.opening import Opening, opening_of
from cogworks.llm.waiting import Waits
from cogworks.settings.config import read_environment
from cogworks.settings.providers import PROVIDERS
from cogworks.settings.sections import LlmConfig
from tests.asked import question

WAITS = Waits(lambda _: None, lambda: 0.0)
LLM = LlmConfig(model="m")


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_has_a_module_that_opens_it(name: str) -> None:
    assert isinstance(opening_of(name), Opening)


def test_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    known = "anthropic, openai, bedrock, vertex, command and cassette"

    with pytest.raises(UsageError, match=re.escape(f"'gemini'; known providers are {known}.")):
        opening_of("gemini")


@pytest.mark.parametrize(
    ("name", "variables", "url"),
    [
        ("anthropic", {}, "https://api.anthropic.com/v1/messages"),
        ("anthropic", {"OPENAI_BASE_URL": "https://there"}, "https://api.anthropic.com/v1/messages"),
        ("anthropic", {"COGWORKS_LLM_BASE_URL": "https://own"}, "https://own/v1/messages"),
        ("openai", {}, "https://api.openai.com/v1/chat/completions"),
        ("openai", {"OPENAI_BASE_URL": "https://there"}, "https://there/v1/chat/completions"),
        (
            "openai",
            {"OPENAI_BASE_URL": "https://there", "COGWORKS_LLM_BASE_URL": "https://own"},
            "https://own/v1/chat/completions",
        ),
    ],
)
def test_each_provider_has_its_own_address(name: str, variables: dict[str, str], url: str) -> None:
    environment = read_environment({"COGWORKS_LLM_API_KEY": "k", **variables})

    with opening_of(name).open(LLM, environment, WAITS) as provider:
        assert url in repr(provider)


@pytest.mark.parametrize(
    ("name", "variables", "found", "remedy"),
    [
        ("anthropic", {"ANTHROPIC_API_KEY": "k\n"}, "a key for anthropic is set", ""),
        ("anthropic", {"COGWORKS_LLM_API_KEY": "k"}, "a key for anthropic is set", ""),
        ("anthropic", {"OPENAI_API_KEY": "k"}, "no key for anthropic", "`ANTHROPIC_API_KEY`"),
        ("openai", {"OPENAI_API_KEY": "k"}, "a key for openai is set", ""),
        ("openai", {"ANTHROPIC_API_KEY": "k"}, "no key for openai", "`OPENAI_API_KEY`"),
        ("openai", {"OPENAI_BASE_URL": "http://127.0.0.1:1"}, "a server of this machine; no key", ""),
        ("openai", {"OPENAI_BASE_URL": "http://[::1]:1", "OPENAI_API_KEY": "k"}, "a key for openai", ""),
        ("bedrock", {"AWS_REGION": "eu-central-1", "AWS_BEARER_TOKEN_BEDROCK": "k"}, "credentials for", ""),
        ("command", {"COGWORKS_LLM_COMMAND": sys.executable}, "the program of `COGWORKS_LLM_COMMAND`", ""),
        ("cassette", {}, "recorded replies; no key is needed", ""),
    ],
)
def test_what_a_provider_finds_on_this_machine(
    name: str, variables: dict[str, str], found: str, remedy: str
) -> None:
    readiness = opening_of(name).readiness(read_environment(variables))

    assert found in readiness.found
    assert remedy in readiness.remedy
    assert bool(readiness.remedy) == bool(remedy)


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_without_a_key_no_vendor_is_opened(name: str) -> None:
    with (
        pytest.raises(PermissionRefused, match="there is no key for the model provider"),
        opening_of(name).open(LLM, read_environment({}), WAITS),
    ):
        pytest.fail("was opened")


@pytest.mark.parametrize(
    "value", [" s3cret", "s3cret ", "s3 cret", "s3\ncret", "s3cret\x1b", "s3crét", " \n"]
)
@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("anthropic", "COGWORKS_LLM_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("openai", "OPENAI_API_KEY"),
        ("bedrock", "AWS_BEARER_TOKEN_BEDROCK"),
    ],
)
def test_a_key_that_no_request_can_carry_is_refused_by_the_name_of_its_variable(
    name: str, variable: str, value: str
) -> None:
    environment, opening = read_environment({variable: value, "AWS_REGION": "eu-central-1"}), opening_of(name)

    with pytest.raises(ConfigurationError) as refused:
        opening.readiness(environment)
    with pytest.raises(ConfigurationError) as again, opening.open(LLM, environment, WAITS):
        pytest.fail("was opened")

    for each in (refused, again):
        assert f"the environment has 1 problem(s):\n  - `{variable}` " in str(each.value)
        assert "cret" not in str(each.value) + repr(environment)


@pytest.mark.parametrize("name", ["anthropic", "openai", "bedrock", "vertex"])
def test_a_proxy_that_cannot_be_used_is_named_before_anything_is_sent(name: str) -> None:
    key = {"COGWORKS_LLM_API_KEY": "k", "AWS_BEARER_TOKEN_BEDROCK": "k", "AWS_REGION": "eu-central-1"}
    environment = read_environment({**key, "HTTPS_PROXY": "socks5://s3cret@host"})

    with pytest.raises(ConfigurationError, match="`HTTPS_PROXY` is of a kind of proxy") as refused:
        opening_of(name).readiness(environment)
    assert "s3cret" not in str(refused.value)


def test_the_program_is_split_as_a_shell_would_and_sees_the_variables_that_are_named(tmp_path: Path) -> None:
    program = tmp_path / "ask"
    program.write_text('#!/bin/sh\nprintf \'{"text": "%s %s %s %s"}\' "$2" "$TOKEN" "$ADDRESS" "$OTHER"\n')
    program.chmod(0o755)
    environment = read_environment(
        {
            "PATH": f"{tmp_path}:/usr/bin:/bin",
            "COGWORKS_LLM_COMMAND": "ask --as 'a b'",
            "COGWORKS_LLM_COMMAND_ENV": "TOKEN, ADDRESS UNSET",
            "TOKEN": "s3cret",
            "ADDRESS": "here",
            "OTHER": "unseen",
        }
    )

    with opening_of("command").open(LLM, environment, WAITS) as provider:
        assert provider.complete(question()).text == "a b s3cret here "
    assert "s3cret" not in repr(environment)


def test_a_program_with_an_open_quote_is_refused_by_the_name_of_its_variable() -> None:
    environment = read_environment({"COGWORKS_LLM_COMMAND": "ask 's3cret"})

    with pytest.raises(ConfigurationError, match="`COGWORKS_LLM_COMMAND` cannot be split") as refused:
        opening_of("command").readiness(environment)
    assert "s3cret" not in str(refused.value)
