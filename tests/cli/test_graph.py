import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cogworks.cli.graph import graph
from cogworks.errors import CogworksError, ConfigurationError
from cogworks.pipeline.parser import built_in_pipelines
from cogworks.pipeline.render import dot, mermaid

TWO = """
default = "short"
[pipelines.short]
start = "a"
nodes = [{ id = "a", type = "llm" }]
[pipelines.long]
start = "a"
nodes = [{ id = "a", type = "llm" }, { id = "b", type = "llm" }]
edges = [{ source = "a", target = "b" }]
"""
BROKEN = (
    '[pipelines.x]\nstart = "a"\nnodes = [{ id = "a", type = "llm", gait = 1 }, { id = "b", type = "lm" }]\n'
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".cogworks").mkdir()
    return tmp_path


def _run(*words: str) -> Result:
    return CliRunner().invoke(graph, words)


def _refusal(*words: str) -> CogworksError:
    error = _run(*words).exception
    assert isinstance(error, CogworksError)
    return error


def test_without_a_file_the_built_in_pipeline_is_shown(here: Path) -> None:
    default = built_in_pipelines().choose()

    assert _run().stdout == mermaid(default)
    assert _run("--format", "dot").stdout == dot(default)
    assert json.loads(_run("--format", "json").stdout)["graph_hash"] == default.graph_hash


def test_the_repositorys_own_file_is_preferred(here: Path) -> None:
    (here / ".cogworks/pipeline.toml").write_text(TWO)

    assert _run().stdout == 'flowchart TD\n  n_a(["A"])\n'
    assert "n_a --> n_b" in _run("--pipeline", "long").stdout
    assert "it has 'short', 'long'" in str(_refusal("--pipeline", "medium"))


def test_check_tells_what_can_run(here: Path) -> None:
    known = TWO.replace('"a"', '"intake"').replace('"b"', '"planning"')
    (here / "two.toml").write_text(known)

    found = _run("check", "two.toml")

    assert found.exit_code == 0
    assert [line.partition(", graph")[0] for line in found.stdout.splitlines()] == [
        "two.toml: pipeline 'short' can run (1 nodes, 0 edges",
        "two.toml: pipeline 'long' can run (2 nodes, 1 edges",
    ]
    assert json.loads(_run("check", "two.toml", "--json").stdout)["outcome"] == "ok"


def test_check_lists_every_problem(here: Path) -> None:
    (here / ".cogworks/pipeline.toml").write_text(BROKEN)

    refused = _refusal("check")

    assert isinstance(refused, ConfigurationError)
    assert refused.exit_code == 2
    assert refused.problems == (
        "pipelines.x.nodes[0] (a): unknown key 'gait'; did you mean 'gate'?",
        "pipelines.x.nodes[1] (b): `type` is 'lm', wanted one of llm, deterministic, spawning; did you mean 'llm'?",
        "pipelines.x: node 'a' has no edges; connect it or remove it",
        "pipelines.x: node 'b' has no edges; connect it or remove it",
    )


def test_a_file_that_cannot_be_read_is_named(here: Path) -> None:
    (here / "latin.toml").write_bytes(b"# caf\xe9\n")

    assert str(_refusal("--file", "none.toml")).startswith("cannot read none.toml: No such file")
    assert "is not UTF-8 text" in str(_refusal("check", "latin.toml"))


def test_json_is_a_format_too(here: Path) -> None:
    assert _run("--json").stdout == _run("--format", "json").stdout


def test_a_file_and_a_work_item_cannot_both_be_drawn(here: Path) -> None:
    (here / "two.toml").write_text(TWO)

    refused = _run("--file", "two.toml", "https://github.com/octo/demo/issues/1")

    assert refused.exit_code == 2
    assert "--pipeline and --file cannot be combined with an ISSUE_URL or `check`" in refused.stderr


def test_what_is_neither_a_work_item_nor_check_is_refused_with_the_way_to_name_a_file(here: Path) -> None:
    refused = _run("other.toml")

    assert refused.exit_code == 2
    assert (
        "'other.toml' is neither an ISSUE_URL nor `check`. To name a file, write `--file FILE`"
        in refused.stderr
    )
    assert "Run `cogworks graph check FILE`" in _run("--file", "other.toml", "check").stderr


def test_a_picture_too_large_for_mermaid_is_drawn_with_a_warning(here: Path) -> None:
    nodes = ['{ id = "a", type = "llm", evaluation = "all-matching" }']
    nodes += [f'{{ id = "n{at}", type = "llm" }}' for at in range(501)]
    edges = [f'{{ source = "a", target = "n{at}" }}' for at in range(501)]
    text = f'[pipelines.wide]\nstart = "a"\nnodes = [{", ".join(nodes)}]\nedges = [{", ".join(edges)}]\n'
    (here / ".cogworks/pipeline.toml").write_text(text)

    drawn = _run()

    assert (drawn.exit_code, drawn.stdout.count("-->")) == (0, 501)
    assert drawn.stderr == (
        "warning: Mermaid draws at most 500 edges and 50000 characters, and this picture has more; use --format dot.\n"
    )
    assert _run("--format", "dot").stderr == ""
