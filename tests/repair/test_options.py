import pytest

from cogworks.errors import ConfigurationError
from cogworks.repair.options import Options, parse_options

SEED = """\
search: {max_steps: 2, diffs_per_step: 6, finalists: 2, retries_per_step: 1, use_landmarks: false}
limits: {max_loc_changes: 12, max_files_per_diff: 2, slice_padding_lines: 80}
tnr: {actions_per_txn: 3, require_mu_nonworsening: true}
gates: {static: true, targeted_tests: true, smoke: false}
logging: {dir: .agent_runs, stream: true}
model: {provider: anthropic, name: claude-sonnet-5-5}
"""
TOML = """\
[codegen.search]
max_steps = 2
diffs_per_step = 6
finalists = 2
use_landmarks = false
[codegen.limits]
slice_padding_lines = 80
[codegen.logging]
dir = ".agent_runs"
stream = true
[codegen.model]
provider = "anthropic"
name = "claude-sonnet-5-5"
"""


def test_yaml_and_toml_say_the_same() -> None:
    found = parse_options(SEED, source="config.yaml")

    assert found == parse_options(TOML, source="config.toml")
    assert (found.search.diffs_per_step, found.limits.slice_padding_lines) == (6, 80)


def test_an_empty_file_is_the_defaults() -> None:
    assert parse_options("", source="a.yml") == parse_options("", source="a.toml") == Options()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "search: {finalist: 1}",
            "`search.finalist` is not a key the patch loop knows; did you mean `finalists`",
        ),
        ("serch: {}", "`serch` is not a key the patch loop knows; did you mean `search`"),
        ("search: {finalists: 0}", "`search.finalists` is 0"),
        ("search: {investigations_enabled: [1]}", "`search.investigations_enabled` is [1]"),
        ("search: {probe_pool: 0}", "`search.probe_pool` is 0"),
        ("tnr: {require_mu_nonworsening: false}", "only True is possible"),
        ("gates: {static: perhaps}", "`gates.static` is 'perhaps'"),
        ("gates: {smoke: true}", "`gates.smoke` is True; name the tests in a list"),
        (
            "model: {provider: oracle}",
            "`model.provider` is 'oracle'; only '', 'anthropic', 'openai', 'bedrock', 'vertex', 'command' or 'cassette' is possible",
        ),
        ("[1]", "wanted tables"),
        ("a: [", "is not YAML"),
        ("!!python/object/apply:os.getcwd []", "is not YAML"),
    ],
)
def test_what_is_unknown_or_cannot_be_kept_is_refused_by_name(text: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_options(text, source="config.yaml")

    assert problem in str(caught.value)


def test_all_problems_are_told_at_once_and_another_suffix_is_refused() -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_options("search: {a: 1}\ngates: {smoke: 7, static: perhaps}", source="c.yaml")
    with pytest.raises(ConfigurationError, match=r"ends with none of \.toml"):
        parse_options("", source="config.ini")

    assert len(caught.value.problems) == 3
