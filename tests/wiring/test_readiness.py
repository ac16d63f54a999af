"""What keeps a run from beginning is found by trying it: the machine, the configuration, the languages."""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from cogworks.domain_services.opening import BUNDLED_PATTERNS, open_client
from cogworks.errors import ConfigurationError, UsageError
from cogworks.forge.diagnosis import Check
from cogworks.forge.snapshot import Contents
from cogworks.readiness import examined
from cogworks.settings.config import Environment, child_environment, parse_config, read_environment
from cogworks.wiring.readiness import (
    machine_trials,
    provider_trial,
    refuse_unready,
    repository_trials,
    slow_trials,
)
from cogworks.wiring.services import services_of
from tests.world import CONFIG

WEB = Contents(languages={"TypeScript": 1000}, root_names=("package.json", "src", "tsconfig.json"))
PRICED = '[llm]\nmodel = "my-model"\n[llm.prices."my-model"]\ninput = 0\noutput = 0\ncache_write = 0\ncache_read = 0\n'
DOCUMENTATION = """
[pipelines.docs]
start = "label"
nodes = [{ id = "label", type = "deterministic", method = "builtin", call = "set_labels", labels = ["docs"] }]
edges = []
"""


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(llm_provider="cassette", work_dir=str(tmp_path / "work"))


def named(checks: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks}


def of_repository(
    environment: Environment,
    text: str,
    files: Mapping[str, str] | None = None,
    contents: Contents | None = None,
) -> dict[str, Check]:
    trials = repository_trials(parse_config(text), files or {}, contents or Contents(), environment)
    return named(examined(trials))


def test_a_model_without_a_price_is_found_before_anything_is_asked_of_it(environment: Environment) -> None:
    text = '[llm]\nmodel = "my-model"\n'

    found = of_repository(environment, text)["model"]

    assert found.status == "failed"
    assert "model 'my-model' has no price" in found.found
    assert '`[llm.prices."my-model"]`' in found.found
    with pytest.raises(ConfigurationError, match="has no price"):
        refuse_unready(parse_config(text), {}, Contents(), environment)


@pytest.mark.parametrize(
    "named",
    [
        'fallback_model = "other"\n',
        '[llm.nodes.review]\nmodel = "other"\n',
        '[llm.lanes.small]\nmodel = "other"\n',
    ],
    ids=["fallback", "node", "lane"],
)
def test_every_model_that_may_be_asked_needs_a_price_and_none_on_this_machine(
    environment: Environment, named: str
) -> None:
    text = f'[llm]\nmodel = "claude-sonnet-5-5"\n{named}'
    here = environment.model_copy(
        update={"llm_provider": "openai", "variables": {"OPENAI_BASE_URL": "http://localhost:1"}}
    )

    assert "model 'other' has no price" in of_repository(environment, text)["model"].found
    assert of_repository(here, text)["model"].status == "ok"


def test_a_model_for_a_node_or_a_lane_that_is_not_there_is_found(environment: Environment) -> None:
    text = f'{PRICED}[llm.nodes.reviw]\nmodel = "my-model"\n[llm.lanes.tiny]\nmodel = "my-model"\n'

    found = of_repository(environment, text)["nodes"]

    assert found.status == "failed"
    assert "`llm.nodes.reviw` names no node of" in found.found
    assert "did you mean 'review'?" in found.found
    assert "`llm.lanes.tiny` names no pipeline of" in found.found


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("", "the provider `command` needs a program"),
        ("no-such-program --fast", "names the program `no-such-program`, which is not on this machine"),
        ("ask 'a", "`COGWORKS_LLM_COMMAND` cannot be split into words"),
    ],
    ids=["none", "missing", "open quote"],
)
def test_a_program_that_cannot_be_asked_is_found_with_and_without_a_repository(
    command: str, told: str
) -> None:
    own = read_environment({"COGWORKS_LLM_PROVIDER": "command", "COGWORKS_LLM_COMMAND": command})

    for found in (of_repository(own, PRICED)["model"], named(examined([provider_trial(own)]))["model"]):
        assert found.status == "failed"
        assert told in found.found
    with pytest.raises(UsageError, match=re.escape(told)):
        refuse_unready(parse_config(PRICED), {}, Contents(), own)


def test_a_program_that_is_there_needs_no_key(environment: Environment) -> None:
    named_program = {"COGWORKS_LLM_COMMAND": sys.executable}
    own = environment.model_copy(update={"llm_provider": "command", "variables": named_program})

    for found in (of_repository(own, PRICED)["model"], named(examined([provider_trial(own)]))["model"]):
        assert found.status == "ok"
        assert "`COGWORKS_LLM_COMMAND`; no key is needed" in found.found


@pytest.mark.parametrize(
    ("environ", "status", "told"),
    [
        ({"OPENAI_BASE_URL": "http://localhost:1"}, "ok", "a server of this machine; no key is needed"),
        ({"OPENAI_BASE_URL": "http://llm.example"}, "failed", "unencrypted to 'llm.example'"),
        ({"OPENAI_API_KEY": "s3cret key"}, "failed", "`OPENAI_API_KEY` holds a blank"),
        ({"ANTHROPIC_API_KEY": "k"}, "failed", "no key for openai"),
        ({"OPENAI_API_KEY": "k"}, "ok", "a key for openai is set"),
    ],
    ids=["local", "in-the-clear", "unusable", "another's", "key"],
)
def test_a_server_that_cannot_be_asked_is_found_without_a_repository(
    environ: dict[str, str], status: str, told: str
) -> None:
    own = read_environment({"COGWORKS_LLM_PROVIDER": "openai", **environ})

    [found] = examined([provider_trial(own)])

    assert (found.status, told in found.found) == (status, True)
    assert "s3cret" not in found.found


def test_an_unknown_model_needs_a_price_unless_a_server_of_this_machine_has_it() -> None:
    text = '[llm]\nmodel = "my-model"\n'
    here = read_environment({"COGWORKS_LLM_PROVIDER": "openai", "OPENAI_BASE_URL": "http://localhost:1"})
    there = read_environment({"COGWORKS_LLM_PROVIDER": "openai", "OPENAI_API_KEY": "k"})

    assert of_repository(here, text)["model"].status == "ok"
    assert "has no price" in of_repository(there, text)["model"].found


def test_a_model_of_this_machine_may_cost_nothing(environment: Environment) -> None:
    found = of_repository(environment, PRICED)["model"]

    assert (found.status, found.found) == ("ok", "recorded replies; no key is needed; my-model has a price")


ELIXIR = Contents(languages={"Elixir": 1000}, root_names=("mix.exs", "lib"))


def test_a_repository_in_a_language_that_nobody_knows_is_refused_until_a_service_does(
    environment: Environment,
) -> None:
    services = '[[services]]\nname = "beam"\ncommand = ["beam-service"]\nartifacts = ["*.ex", "*.exs"]\n'

    with pytest.raises(ConfigurationError, match=r"Elixir \(100 %\) \(seen: mix\.exs\)"):
        refuse_unready(parse_config(CONFIG), {}, ELIXIR, environment)
    refuse_unready(parse_config(CONFIG), {"services.toml": services}, ELIXIR, environment)


def test_a_repository_in_typescript_is_known_where_node_is_and_else_the_program_is_named(
    environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tmp_path / "bin" / "node"
    node.parent.mkdir()
    node.write_text("#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(node.parent))
    node.chmod(0o755)

    known = of_repository(environment, CONFIG, {}, WEB)["languages"]
    node.unlink()
    refused = of_repository(environment, CONFIG, {}, WEB)["languages"]

    assert (known.status, known.found) == ("ok", "TypeScript (100 %), known to the service of commands")
    assert (refused.status, refused.found) == (
        "failed",
        "its tests are run by `node`, not on this machine's PATH",
    )
    assert refused.remedy.startswith("Install Node.js")


def test_a_pipeline_whose_nodes_ask_no_service_needs_none(environment: Environment) -> None:
    found = of_repository(environment, CONFIG, {"pipeline.toml": DOCUMENTATION}, WEB)

    assert (found["languages"].status, found["languages"].found) == ("ok", "no node writes code")


def test_a_malformed_file_of_the_operator_is_no_problem_of_the_repository(
    environment: Environment, tmp_path: Path
) -> None:
    file = tmp_path / "services.toml"
    file.write_text("[[")
    own = environment.model_copy(update={"services_config": str(file)})

    with pytest.raises(UsageError, match="not TOML"):
        refuse_unready(parse_config(CONFIG), {}, Contents(), own)


def test_a_work_directory_that_cannot_be_written_is_found_and_refused(
    environment: Environment, tmp_path: Path
) -> None:
    (tmp_path / "work").write_text("a file")

    found = named(examined(machine_trials(environment)))

    assert (found["git"].status, found["work directory"].status) == ("ok", "failed")
    assert "cannot be written: it is no directory" in found["work directory"].found
    with pytest.raises(UsageError, match="COGWORKS_WORK_DIR"):
        refuse_unready(parse_config(CONFIG), {}, Contents(), environment)


def test_what_is_tried_leaves_nothing(environment: Environment) -> None:
    examined(machine_trials(environment))

    assert list(Path(environment.work_dir).iterdir()) == []


@pytest.fixture
def shim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A version manager's stand-in for uv, first on PATH and alone of its name."""
    program = tmp_path / "shims" / "uv"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'mise: no version is set for uv' >&2\nexit 1\n")
    program.chmod(0o755)
    others = [each for each in os.environ["PATH"].split(os.pathsep) if not (Path(each) / "uv").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join([str(program.parent), *others]))
    return program


def test_an_unusable_uv_and_an_unreachable_index_are_found(
    shim: Path, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://me:s3cret@127.0.0.1:9/simple/")

    found = named(examined(slow_trials(environment)))

    assert found["environments"].status == "warning"
    assert f"{shim} cannot be used (it ends with 1: mise: no version is set for uv), so pip is used" in (
        found["environments"].found
    )
    assert found["package index"].status == "failed"
    assert "http://127.0.0.1:9/simple/pytest/" in found["package index"].found
    assert "s3cret" not in found["package index"].found


def test_the_bundled_service_is_asked_about_what_its_handshake_says(environment: Environment) -> None:
    [bundled] = services_of(environment, {})
    client = open_client(bundled, environment=child_environment())
    try:
        assert client.handshake().artifact_patterns == BUNDLED_PATTERNS
    finally:
        client.close()
