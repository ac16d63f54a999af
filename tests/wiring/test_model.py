"""What a visit keeps of the questions to its model."""

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cogworks.engine.ports import SessionOrder
from cogworks.errors import ConfigurationError, PermissionRefused, TryAgainLater, UsageError
from cogworks.llm.gateway import ReplyRecord
from cogworks.llm.opening import Opening
from cogworks.llm.provider import ModelRequest, Usage
from cogworks.llm.providers.cassette import Cassette
from cogworks.llm.providers.command import program_of
from cogworks.llm.providers.openai import OpenAIProvider
from cogworks.llm.providers.responses import ResponsesProvider
from cogworks.llm.waiting import Heard
from cogworks.repair.proposing import ModelProposer
from cogworks.settings.config import Environment, parse_config, read_environment
from cogworks.settings.sections import LlmConfig
from cogworks.telling import unknown
from cogworks.vocabulary import RunId
from cogworks.wiring.model import (
    announced_while_waiting,
    check_model,
    gateway_for,
    open_provider,
    priced,
    silence_of,
)
from tests.asked import question
from tests.fakes import ScriptedModel, finished
from tests.fixing import diffs
from tests.model_server import Answer, ModelServer, completed, failed, replied
from tests.model_streams import completion_chunks, message_events, streamed
from tests.nodes.examples import task
from tests.repair.test_proposing import request

SECRET = "ghp_" + "b" * 30
REPLY = diffs({"a.txt": ("a = bad", f"a = '{SECRET}'")})


def order(text: str, kept: dict[str, str], replies: list[ReplyRecord], task: Any) -> SessionOrder:
    return SessionOrder(
        run_id=RunId("r"),
        task=task,
        config=parse_config(f'[llm]\nmodel = "claude-sonnet-5-5"\n{text}'),
        files={},
        budget_usd=5,
        budget_tokens=500_000,
        memory={},
        on_reply=replies.append,
        keep=kept.__setitem__,
        left_s=lambda: None,
        check=lambda: None,
        checkpoint=lambda: None,
        secure=lambda *_: None,
        needs_walls=lambda: False,
    )


def asked(text: str) -> tuple[dict[str, str], list[ReplyRecord]]:
    """What is kept after two questions."""
    kept: dict[str, str] = {}
    replies: list[ReplyRecord] = []
    visit = order(text, kept, replies, task=task("intake"))
    proposer = ModelProposer(gateway_for(visit, ScriptedModel(REPLY, REPLY)))
    proposer.propose(request())
    proposer.propose(request(most=2))
    return kept, replies


def test_the_words_of_a_visits_prompts_are_kept_only_when_they_are_wanted() -> None:
    nothing, digests = asked("")
    kept, replies = asked('[audit]\nprompts = "full"\nmax_prompt_tokens = 50\n')

    assert nothing == {}
    assert len(digests) == len(replies) == 2
    assert all(record.manifest.messages_sha256 for record in digests)
    assert sorted(kept) == sorted(f"prompt-{record.request_key[:16]}.json" for record in replies)
    for text in kept.values():
        told = json.loads(text)
        assert SECRET not in text
        assert told["system"].startswith("These rules stand above everything else")
        assert len(told["messages"][0]) == 200 + len("[…]")
        assert told["reply_sha256"]


def test_an_answer_may_be_as_long_as_is_configured() -> None:
    model = ScriptedModel(REPLY)
    visit = order("max_output_tokens = 900\n", {}, [], task=task("intake"))

    ModelProposer(gateway_for(visit, model)).propose(request())

    assert [asked.max_output_tokens for asked in model.requests] == [900]


@pytest.mark.parametrize("status", [503, 529])
def test_the_fallback_is_asked_where_the_model_stays_overloaded(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    visit = order('fallback_model = "claude-opus-5-5"\n', {}, [], task=task("intake"))
    with ModelServer() as server:
        server.answers(*[failed(status)] * 5, replied(REPLY))
        with open_provider(visit.config, keyed("k", server.url)) as provider:
            ModelProposer(gateway_for(visit, provider)).propose(request())

    assert [seen.body["model"] for seen in server.seen] == ["claude-sonnet-5-5"] * 5 + ["claude-opus-5-5"]


@pytest.mark.parametrize("kind", ["input", "output", "cache_write", "cache_read"])
def test_a_call_costs_what_is_configured_for_its_kinds_of_tokens(kind: str) -> None:
    prices = {"input": 0, "output": 0, "cache_write": 0, "cache_read": 0, kind: 2}
    table = ", ".join(f"{name} = {usd}" for name, usd in prices.items())
    usage = Usage(
        input_tokens=500_000,
        output_tokens=500_000,
        cache_creation_input_tokens=500_000,
        cache_read_input_tokens=500_000,
    )
    replies: list[ReplyRecord] = []
    visit = order(f'[llm.prices]\n"claude-sonnet-5-5" = {{ {table} }}\n', {}, replies, task=task("intake"))

    ModelProposer(
        gateway_for(visit, ScriptedModel(finished(REPLY).model_copy(update={"usage": usage})))
    ).propose(request())

    assert [record.cost_usd for record in replies] == [1]


def test_another_word_than_these_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"audit\.prompts"):
        parse_config('[llm]\nmodel = "m"\n[audit]\nprompts = "some"\n')


def test_a_repository_that_brings_rules_of_its_own_is_refused_before_anything_is_claimed() -> None:
    config = parse_config('[llm]\nmodel = "claude-sonnet-5-5"\n')
    environment = Environment(llm_provider="cassette")

    with pytest.raises(ConfigurationError, match=r"^\.cogworks/prompts/_rules\.md\.j2 has 1 problem"):
        check_model(config, {"prompts/_rules.md.j2": "Do as you like."}, environment)


def test_recorded_replies_may_lie_in_several_folders(tmp_path: Path) -> None:
    config = parse_config('[llm]\nmodel = "claude-sonnet-5-5"\n')
    asked = ModelRequest(
        model="m", system="", messages=(), output_schema={}, max_output_tokens=1, purpose="intake-1"
    )
    Cassette(tmp_path / "second").keep(asked, finished("{}"))
    folders = os.pathsep.join(str(tmp_path / name) for name in ("first", "second"))
    (tmp_path / "first").mkdir()

    with open_provider(config, Environment(llm_provider="cassette", cassette_dir=folders)) as provider:
        assert provider.complete(asked).text == "{}"


def test_replies_are_recorded_into_one_folder_alone(tmp_path: Path) -> None:
    config = parse_config('[llm]\nmodel = "claude-sonnet-5-5"\n')
    environment = Environment(
        llm_provider="anthropic", cassette_mode="record", cassette_dir=os.pathsep.join(("one", "two"))
    )

    with (
        pytest.raises(UsageError, match="`COGWORKS_CASSETTE_DIR` names several; name the one to record into"),
        open_provider(config, environment),
    ):
        pass


def test_each_provider_that_is_opened_has_its_own_key_and_ends_with_its_block() -> None:
    """Nothing is kept for the next: not the client, not its key, not its address."""
    config = parse_config('[llm]\nmodel = "claude-sonnet-5-5"\n')
    with ModelServer() as one, ModelServer() as other:
        one.answers(replied("{}"), replied("{}"))
        other.answers(replied("{}"))
        first = keyed("the-first-key", one.url)
        with (
            open_provider(config, first) as outer,
            open_provider(config, keyed("second", other.url)) as inner,
        ):
            for each in (inner, outer):
                each.complete(question())
        with open_provider(config, first) as again:
            again.complete(question())

    keys = [[seen.headers["authorization"] for seen in server.seen] for server in (one, other)]
    assert keys == [["Bearer the-first-key"] * 2, ["Bearer second"]]
    assert len({id(each) for each in (outer, inner, again)}) == 3
    with pytest.raises(RuntimeError, match="closed"):
        outer.complete(question())


def test_a_program_beside_the_caller_is_found_from_the_empty_folder_it_runs_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "ask"
    program.write_text('#!/bin/sh\necho \'{"text": "here"}\'\n')
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    own = read_environment({"COGWORKS_LLM_PROVIDER": "command", "COGWORKS_LLM_COMMAND": "./ask --fast"})

    with open_provider(parse_config('[llm]\nmodel = "mine"\n'), own) as provider:
        said = provider.complete(question())

    assert (program_of(own), said.text) == ((str(program), "--fast"), "here")


@pytest.mark.parametrize(("named", "silence_s"), [("", 300.0), ("command", None)])
def test_a_program_that_answers_in_one_piece_may_be_silent(named: str, silence_s: float | None) -> None:
    config = parse_config('[llm]\nmodel = "mine"\n')

    assert silence_of(config, Environment(llm_provider=named)) == silence_s


LOCAL = parse_config('[llm]\nmodel = "local-model"\nprovider = "openai"\n')


def test_a_server_of_this_machine_is_asked_without_key_and_price() -> None:
    with ModelServer() as server:
        server.answers(completed("{}"))
        environment = read_environment({"OPENAI_BASE_URL": server.url, "ANTHROPIC_API_KEY": "of-another"})
        check_model(LOCAL, {}, environment)
        with open_provider(LOCAL, environment) as provider:
            provider.complete(question(model="local-model"))

    [seen] = server.seen
    assert "of-another" not in str(seen.headers)
    assert "authorization" not in seen.headers
    assert priced(LOCAL, environment).llm.prices["local-model"].output == 0


def test_a_price_that_is_given_holds_on_this_machine_too() -> None:
    prices = "prices.local-model = { input = 1, output = 2, cache_write = 3, cache_read = 4 }\n"
    config = parse_config(f'[llm]\nmodel = "local-model"\nprovider = "openai"\n{prices}')

    assert priced(config, read_environment({"OPENAI_BASE_URL": "http://localhost:1"})) == config


@pytest.mark.parametrize(
    ("environ", "refusal", "told"),
    [
        ({}, PermissionRefused, "Set `COGWORKS_LLM_API_KEY` or `OPENAI_API_KEY`"),
        ({"ANTHROPIC_API_KEY": "k"}, PermissionRefused, "Set `COGWORKS_LLM_API_KEY` or `OPENAI_API_KEY`"),
        ({"OPENAI_API_KEY": "k"}, ConfigurationError, "model 'local-model' has no price"),
        ({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://llm.example"}, ConfigurationError, "unencrypted"),
        ({"OPENAI_API_KEY": "k k"}, ConfigurationError, "`OPENAI_API_KEY` holds a blank"),
    ],
    ids=["no-key", "another's key", "no-price", "in-the-clear", "unusable"],
)
def test_any_other_server_needs_its_own_key_encryption_and_a_price(
    environ: dict[str, str], refusal: type[Exception], told: str
) -> None:
    with pytest.raises(refusal, match=told):
        check_model(LOCAL, {}, read_environment(environ))


SAID = "Use the key ghp_" + "b" * 30


def recorded(folder: Path, mode: str, url: str, *texts: str, key: str = "k") -> list[str]:
    """What comes of these questions in that mode."""
    environment = read_environment(
        {
            "COGWORKS_CASSETTE_MODE": mode,
            "COGWORKS_CASSETTE_DIR": str(folder),
            "ANTHROPIC_API_KEY": key,
            "COGWORKS_LLM_BASE_URL": url,
        }
    )
    with open_provider(parse_config('[llm]\nmodel = "m"\n'), environment) as provider:
        return [provider.complete(question(text, purpose=text.split()[0])).text for text in texts]


def test_what_is_recorded_is_replayed_without_what_its_provider_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cassettes"
    with ModelServer() as server:
        server.answers(replied('{"n":1}'))
        recorded(folder, "record", server.url, "first")

    def missing(_: str) -> Opening:
        raise UsageError("its library is not installed")

    monkeypatch.setattr("cogworks.wiring.model.opening_of", missing)

    assert recorded(folder, "replay-or-record", "https://nowhere.invalid", "first") == ['{"n":1}']
    with pytest.raises(UsageError, match="its library is not installed"):
        recorded(folder, "replay-or-record", "https://nowhere.invalid", "second")


def test_replies_are_recorded_replayed_or_both(tmp_path: Path) -> None:
    folder = tmp_path / "cassettes"
    with ModelServer() as server:
        server.answers(*(replied(f'{{"n":{number}}}') for number in range(5)))

        assert recorded(folder, "record", server.url, "one") == ['{"n":0}']
        assert recorded(folder, "record", server.url, "one") == ['{"n":1}']
        assert recorded(folder, "replay-or-record", server.url, "one", "two") == ['{"n":1}', '{"n":2}']
        # Nobody is asked, so that no key is needed.
        assert recorded(folder, "replay-or-record", server.url, "two", key="") == ['{"n":2}']
        assert recorded(folder, "replay", server.url, "one", "two", key="") == ['{"n":1}', '{"n":2}']
        assert len(server.seen) == 3


def test_a_prompt_that_no_longer_matches_is_shown_with_what_changed(tmp_path: Path) -> None:
    with ModelServer() as server:
        server.answers(replied("{}"))
        recorded(tmp_path, "record", server.url, "one")
    for page in tmp_path.glob("one.toml"):
        page.write_text(page.read_text().replace("key = ", "key = 'of another prompt' #"))
    (tmp_path / "one.prompt.md").write_text(
        (tmp_path / "one.prompt.md").read_text().replace("Be brief.", "Be long.")
    )

    with pytest.raises(UsageError, match="answers another prompt") as refused:
        recorded(tmp_path, "replay", "http://127.0.0.1:1", "one")

    assert "-Be long.\n+Be brief." in str(refused.value)


def test_a_prompt_that_changed_is_shown_before_it_is_asked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ModelServer() as server:
        server.answers(replied("{}"), replied("[]"))
        recorded(tmp_path, "replay-or-record", server.url, "one")
        assert capsys.readouterr().err == ""
        for page, old, new in (
            ("one.toml", "key = ", "key = 'other' #"),
            ("one.prompt.md", "Be brief.", "Be long."),
        ):
            (tmp_path / page).write_text((tmp_path / page).read_text().replace(old, new))

        assert recorded(tmp_path, "replay-or-record", server.url, "one") == ["[]"]

    told = capsys.readouterr().err
    assert "one.toml answers another prompt; 'one' is asked again, and its reply replaced:" in told
    assert "-Be long.\n+Be brief." in told


def test_no_secret_is_recorded_and_whoever_asked_gets_the_whole_reply(tmp_path: Path) -> None:
    with ModelServer() as server:
        server.answers(replied(SAID))

        assert recorded(tmp_path, "record", server.url, SAID) == [SAID]

    written = "".join(path.read_text() for path in tmp_path.iterdir())
    assert "Use the key ***" in written
    assert "ghp_" not in written


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({"COGWORKS_CASSETTE_MODE": "rewind"}, "is 'rewind'; set it to record, replay or replay-or-record"),
        (
            {"COGWORKS_CASSETTE_MODE": "record"},
            "name the directory to record into in `COGWORKS_CASSETTE_DIR`",
        ),
        (
            {"COGWORKS_CASSETTE_MODE": "replay-or-record", "COGWORKS_LLM_PROVIDER": "cassette"},
            "there is nobody to ask: the provider is `cassette`",
        ),
    ],
    ids=["unknown", "no-place", "nobody"],
)
def test_a_mode_that_cannot_be_obeyed_is_told(environ: dict[str, str], told: str) -> None:
    environment = read_environment({"ANTHROPIC_API_KEY": "k", **environ})

    with pytest.raises(UsageError, match=re.escape(told)), open_provider(LOCAL, environment):
        pass


@pytest.mark.parametrize(
    ("api", "base_url", "provider"),
    [
        ("", "", ResponsesProvider),
        ("", "https://api.openai.com/v1/", ResponsesProvider),
        ("", "https://llm.example/v1", OpenAIProvider),
        ('api = "chat"\n', "", OpenAIProvider),
        ('api = "responses"\n', "https://llm.example/v1", ResponsesProvider),
    ],
    ids=["theirs", "theirs-by-name", "another", "chat", "responses"],
)
def test_the_api_of_openai_is_the_newer_one_there_and_what_is_configured_anywhere(
    api: str, base_url: str, provider: type[OpenAIProvider]
) -> None:
    config = parse_config(f'[llm]\nmodel = "m"\nprovider = "openai"\n{api}')
    environment = read_environment({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": base_url})

    with open_provider(config, environment) as opened:
        assert type(opened) is provider


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_a_reply_of_which_nothing_comes_for_as_long_as_is_configured_is_given_up(name: str) -> None:
    def alive() -> Iterator[bytes]:
        for _ in range(60):
            yield b": keep-alive\n\n"
            time.sleep(0.05)
        yield from message_events("{}") if name == "anthropic" else completion_chunks("{}")

    config = parse_config('[llm]\nmodel = "local-model"\nstall_timeout_s = 1\n')
    with ModelServer() as server:
        server.answers(Answer(200, b"", {"content-type": "text/event-stream"}, pieces=alive))
        environment = read_environment(
            {"COGWORKS_LLM_API_KEY": "k", "COGWORKS_LLM_BASE_URL": server.url, "COGWORKS_LLM_PROVIDER": name}
        )
        with (
            open_provider(config, environment) as provider,
            pytest.raises(TryAgainLater, match="nothing of the reply came for 1 s"),
        ):
            provider.complete(question())


def test_people_who_wait_are_told_how_much_of_a_reply_has_come() -> None:
    told: list[str] = []

    @contextmanager
    def during(what: str, limit_s: float, so_far: Callable[[], str] = unknown) -> Iterator[None]:
        yield
        told.append(so_far())

    with ModelServer() as server:
        server.answers(streamed(message_events('{"a": 1}' * 100)))
        environment = keyed("k", server.url)
        with announced_while_waiting(during)(
            LOCAL.model_copy(update={"llm": LlmConfig(model="m")}), environment
        ) as asking:
            asking.complete(question())

    assert told == ["about 200 tokens so far"]


@pytest.mark.parametrize(("name", "reply"), [("anthropic", replied("{}")), ("openai", completed("{}"))])
def test_people_who_wait_are_told_that_a_provider_asked_to_wait_and_how_long(
    name: str, reply: Answer
) -> None:
    told: list[str] = []
    heard = Heard(sleep=lambda _: told.append(heard.words()))
    with ModelServer() as server:
        server.answers(failed(429, "rate_limit_error", **{"retry-after": "90"}), reply)
        environment = read_environment(
            {"COGWORKS_LLM_API_KEY": "k", "COGWORKS_LLM_BASE_URL": server.url, "COGWORKS_LLM_PROVIDER": name}
        )
        with open_provider(LOCAL, environment, heard=heard) as provider:
            assert provider.complete(question()).text == "{}"

    assert told == ["it could not answer; it is asked again after a pause of 90 s"]


def test_the_key_of_one_provider_is_never_sent_to_the_other() -> None:
    keys = {"ANTHROPIC_API_KEY": "the-one", "OPENAI_API_KEY": "the-other"}
    with ModelServer() as server:
        server.answers(replied("{}"), completed("{}"))
        for name in ("anthropic", "openai"):
            environment = read_environment(
                {**keys, "COGWORKS_LLM_BASE_URL": server.url, "COGWORKS_LLM_PROVIDER": name}
            )
            with open_provider(LOCAL, environment) as provider:
                provider.complete(question(model="local-model"))

    assert [seen.headers["authorization"] for seen in server.seen] == ["Bearer the-one", "Bearer the-other"]


def keyed(key: str, url: str) -> Environment:
    return read_environment({"ANTHROPIC_API_KEY": key, "COGWORKS_LLM_BASE_URL": url, "HOME": "/nonexistent"})
