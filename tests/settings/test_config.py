from contextlib import suppress
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.codegen.testgate import WAIVABLE
from cogworks.errors import ConfigurationError, UsageError
from cogworks.settings.config import (
    APP_VARIABLES,
    Config,
    Environment,
    TestsConfig,
    WaivableCheck,
    child_environment,
    parse_config,
    read_environment,
    require_config,
)
from cogworks.settings.for_services import package_index_settings
from cogworks.settings.sections import LabelConfig, LlmConfig, label_clashes

SMALLEST = '[llm]\nmodel = "claude-sonnet-5-5"\n'


def _problems(text: str) -> tuple[str, ...]:
    with pytest.raises(ConfigurationError) as refused:
        parse_config(text)
    assert refused.value.source == ".cogworks/config.toml"
    return refused.value.problems


def test_a_model_is_all_that_has_to_be_configured() -> None:
    assert parse_config(SMALLEST) == Config(llm=LlmConfig(model="claude-sonnet-5-5"))


def test_all_problems_are_reported_at_once() -> None:
    assert _problems(
        """
        [llm]
        modle = "m"
        provider = "oracle"
        prices.mine = { input = 1, output = 2, cache_write = 3, cache_raed = 4 }
        [budgets]
        pipeline_max_tokens = -1
        pipeline_max_cost_dollars = inf
        [lables]
        [labels]
        hold = "cogworks:run"
        [paths]
        specs = "/etc"
        """
    ) == (
        "`llm.model` is missing",
        "`llm.provider` is 'oracle': Input should be 'anthropic', 'openai', 'bedrock', 'vertex', 'command' or 'cassette'",
        "`llm.prices.mine.cache_read` is missing",
        "`llm.prices.mine.cache_raed` is not a key cogworks knows; did you mean `cache_read`?",
        "`llm.modle` is not a key cogworks knows; did you mean `model`?",
        "`budgets.pipeline_max_cost_dollars` is inf: Input should be a finite number",
        "`budgets.pipeline_max_tokens` is -1: Input should be greater than 0",
        "`paths.specs` is '/etc': String should match pattern '^(?:[A-Za-z0-9_][A-Za-z0-9_./-]*)?$'",
        "`lables` is not a key cogworks knows; did you mean `labels`?",
        "`labels.hold` and `labels.trigger` are both 'cogworks:run'; give each its own name",
    )


def test_a_key_that_resembles_none_gets_the_list_of_all() -> None:
    assert _problems(f"{SMALLEST}[ledger]\nzzz = 1\n") == (
        "`ledger.zzz` is not a key cogworks knows; known here: checkpoint_usd, keep_days, writers",
    )


def test_who_writes_tests_and_which_checks_of_them_only_warn_are_settings() -> None:
    text = f'{SMALLEST}[tests]\nwriter = "none"\nwarn_only = ["TEST_NOT_RED"]\n'

    assert parse_config(text).tests == TestsConfig(writer="none", warn_only=("TEST_NOT_RED",))
    assert parse_config(SMALLEST).tests == TestsConfig(writer="separate", warn_only=())


def test_what_is_wanted_of_the_tests_that_are_there_is_one_of_three_words() -> None:
    model = '[llm]\nmodel = "m"\n'
    assert parse_config(model).tests.baseline == "require"
    assert [
        parse_config(f'{model}[tests]\nbaseline = "{word}"\n').tests.baseline
        for word in ("require", "allow-failing", "none")
    ] == ["require", "allow-failing", "none"]
    assert _problems(f'{model}[tests]\nbaseline = "ignore"\n') == (
        "`tests.baseline` is 'ignore': Input should be 'require', 'allow-failing' or 'none'",
    )


def test_that_a_test_file_is_there_cannot_be_waived() -> None:
    (problem,) = _problems(f'{SMALLEST}[tests]\nwarn_only = ["TEST_FILE_MISSING"]\n')

    assert problem.startswith(
        "`tests.warn_only.0` is 'TEST_FILE_MISSING': Input should be 'TEST_HASH_CHANGED'"
    )
    assert set(get_args(WaivableCheck)) == WAIVABLE


def test_text_that_is_no_toml_is_named_with_its_place() -> None:
    (problem,) = _problems("[llm\n")

    assert problem.startswith("not TOML: ")
    assert "line 1" in problem


def test_a_missing_file_comes_with_the_lines_to_commit() -> None:
    with pytest.raises(UsageError) as refused:
        require_config({"pipeline.toml": ""}, where="octo/demo")

    message = str(refused.value)
    assert "octo/demo has no `.cogworks/config.toml`" in message
    assert parse_config(message[message.index("[llm]") :]) == parse_config(SMALLEST)


@pytest.mark.parametrize(
    ("labels", "problems"),
    [
        ({}, []),
        (
            {"hold": "Stop", "cancel": "stop"},
            ["`labels.cancel` and `labels.hold` are both 'stop'; give each its own name"],
        ),
        (
            {"trigger": "Cogworks:Node:go"},
            [
                "`labels.trigger` is 'Cogworks:Node:go', but `cogworks:node:*` is kept for views; choose another name"
            ],
        ),
        ({"restart": " "}, ["`labels.restart` is ' '; GitHub wants a name of 1 to 50 characters"]),
        (
            {"restart": "r" * 51},
            [f"`labels.restart` is {'r' * 51!r}; GitHub wants a name of 1 to 50 characters"],
        ),
    ],
    ids=["defaults", "same-name", "reserved", "empty", "too-long"],
)
def test_labels_that_cannot_be_told_apart_are_refused(labels: dict[str, str], problems: list[str]) -> None:
    assert label_clashes(LabelConfig(**labels)) == problems


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ConfigurationError):
        assert isinstance(parse_config(text), Config)


def test_the_most_particular_variable_holds_the_token() -> None:
    tokens = {"COGWORKS_GITHUB_TOKEN": "c", "GH_TOKEN": "g", "GITHUB_TOKEN": "t"}

    found = [read_environment(dict(list(tokens.items())[skipped:])) for skipped in range(4)]

    assert [(each.github_token, each.github_token_source) for each in found] == [
        ("c", "COGWORKS_GITHUB_TOKEN"),
        ("g", "GH_TOKEN"),
        ("t", "GITHUB_TOKEN"),
        ("", ""),
    ]


def test_an_empty_variable_is_no_token() -> None:
    assert read_environment({"COGWORKS_GITHUB_TOKEN": "", "GH_TOKEN": "g"}).github_token == "g"


@pytest.mark.parametrize(
    "value", [" s3cret", "s3cret ", "s3 cret", "s3\ncret", "s3cret\x1b", "s3crét", " \n"]
)
@pytest.mark.parametrize(
    "variable",
    [
        "COGWORKS_GITHUB_TOKEN",
        "GH_TOKEN",
        "GITHUB_TOKEN",
        *APP_VARIABLES,
    ],
)
def test_a_credential_that_no_request_can_carry_is_refused_by_the_name_of_its_variable(
    variable: str, value: str
) -> None:
    found = read_environment({variable: value, "PATH": value})

    with pytest.raises(ConfigurationError) as refused:
        found.refuse_unusable("PATH", variable)

    assert f"the environment has 1 problem(s):\n  - `{variable}` " in str(refused.value)
    assert "cret" not in str(refused.value) + repr(found)
    others = {"unusable", "work_dir", "variables"}
    assert found.model_dump(exclude=others) == (
        read_environment({}).model_dump(exclude=others)
        | {name: variable for name in _SOURCES if variable in _SOURCES[name]}
    )


_SOURCES = {"github_token_source": ("COGWORKS_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_line_end_of_a_file_behind_a_credential_is_left_out(end: str) -> None:
    found = read_environment({"GH_TOKEN": f"s3cret{end}"})

    assert (found.github_token, found.unusable) == ("s3cret", {})


def test_everything_else_comes_from_the_environment_too(tmp_path: Path) -> None:
    variables = {
        "COGWORKS_LLM_PROVIDER": "cassette",
        "COGWORKS_LLM_MODEL": "my-model",
        "COGWORKS_CASSETTE_DIR": "/recorded",
        "GITHUB_API_URL": "http://hub/api/v3",
        "GITHUB_GRAPHQL_URL": "http://hub/api/graphql",
        "GITHUB_SERVER_URL": "http://hub",
        "GITHUB_RUN_ID": "12",
        "GITHUB_RUN_ATTEMPT": "3",
        "XDG_CACHE_HOME": str(tmp_path),
        "NO_COLOR": "",
        "CI": "true",
    }
    found = read_environment(variables)

    assert found == Environment(
        llm_provider="cassette",
        llm_model="my-model",
        variables=variables,
        cassette_dir="/recorded",
        github_api_url="http://hub/api/v3",
        github_graphql_url="http://hub/api/graphql",
        github_server_url="http://hub",
        host="actions:12/3",
        work_dir=str(tmp_path / "cogworks"),
        color=False,
        is_ci=True,
    )
    assert read_environment({"HOME": "/home/ada"}).work_dir == "/home/ada/.cache/cogworks"
    assert read_environment({"COGWORKS_WORK_DIR": "/elsewhere"}).work_dir == "/elsewhere"


def test_secrets_are_not_shown() -> None:
    found = read_environment(
        {"GH_TOKEN": "s3cret-token", "ANTHROPIC_API_KEY": "s3cret-key", "OPENAI_API_KEY": "s3cret-other"}
    )

    assert "s3cret" not in repr(found)
    assert "s3cret" not in str(found)


def test_a_child_gets_this_environment_and_what_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT", "1")
    monkeypatch.setenv("CHANGED", "1")

    found = child_environment({"CHANGED": "2"})

    assert (found["KEPT"], found["CHANGED"]) == ("1", "2")


def test_what_says_where_packages_come_from_is_passed_on_and_nothing_else() -> None:
    environ = {
        "PIP_INDEX_URL": "https://i.example",
        "HTTPS_PROXY": "http://p",
        "COGWORKS_REGISTRY_HOSTS": "npm.example",
        "PIP_TARGET": "/x",
        "GH_TOKEN": "t",
    }

    assert package_index_settings(environ) == {
        "PIP_INDEX_URL": "https://i.example",
        "HTTPS_PROXY": "http://p",
        "COGWORKS_REGISTRY_HOSTS": "npm.example",
    }


def test_pip_s_file_of_this_user_is_named_where_no_other_is(tmp_path: Path) -> None:
    file = tmp_path / ".config" / "pip" / "pip.conf"
    file.parent.mkdir(parents=True)
    file.touch()
    home = {"HOME": str(tmp_path)}

    assert package_index_settings(home) == {"PIP_CONFIG_FILE": str(file)}
    assert package_index_settings({"XDG_CONFIG_HOME": str(tmp_path / ".config")}) == package_index_settings(
        home
    )
    assert package_index_settings({**home, "PIP_CONFIG_FILE": "/etc/p"}) == {"PIP_CONFIG_FILE": "/etc/p"}
    assert package_index_settings({"HOME": "/nowhere"}) == {}


def test_every_manifest_is_asked_about_unless_the_repository_allows_changes() -> None:
    assert "**/pyproject.toml" in parse_config(SMALLEST).dependencies.asked_about
    assert parse_config(SMALLEST + '[dependencies]\nchanges = "allow"\n').dependencies.asked_about == ()
    assert _problems(SMALLEST + '[dependencies]\nchange = "allow"\n') == (
        "`dependencies.change` is not a key cogworks knows; did you mean `changes`?",
    )
