import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cogworks.cli.cassette import cassette
from cogworks.llm.provider import Message, ModelRequest
from cogworks.llm.providers.cassette import CassetteMiss, CassetteProvider, RecordingProvider
from tests.fakes import ScriptedModel, finished


def request(text: str, purpose: str = "intake-1", wanted: str = "value") -> ModelRequest:
    return ModelRequest(
        model="claude-sonnet-5-5",
        system="Be brief.",
        messages=(Message(role="user", text=text),),
        output_schema={"title": "Number", "type": "object", "required": [wanted]},
        max_output_tokens=100,
        purpose=purpose,
    )


def run(*arguments: str, answer: str = "") -> Result:
    return CliRunner().invoke(cassette, arguments, input=answer, catch_exceptions=False)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A cassette with one reply, and a miss because its prompt changed."""
    RecordingProvider(ScriptedModel('{"value": 7}'), tmp_path).complete(request("Pick."))
    with pytest.raises(CassetteMiss):
        CassetteProvider(tmp_path, misses=tmp_path / "misses").complete(request("Pick!"))
    return tmp_path


def replayed(directory: Path, asked: ModelRequest) -> str:
    return CassetteProvider(directory, misses=directory / "misses").complete(asked).text


def test_list_shows_one_purpose_a_line(directory: Path) -> None:
    found = run("list", "--dir", str(directory))

    assert found.output.split() == [
        "intake-1",
        request("Pick.").key[:12],
        "100",
        "in",
        "50",
        "out",
        "claude-sonnet-5-5",
    ]


def test_list_as_json_is_one_object(directory: Path) -> None:
    assert json.loads(run("list", "--dir", str(directory), "--json").stdout) == {
        "outcome": "done",
        "recordings": [
            {
                "purpose": "intake-1",
                "key": request("Pick.").key,
                "model": "claude-sonnet-5-5",
                "stop_reason": "end_turn",
                "tokens": {"input": 100, "output": 50},
            }
        ],
    }


def test_rekey_shows_the_change_asks_and_rekeys(directory: Path) -> None:
    found = run("rekey", "--dir", str(directory), answer="y\n")

    assert found.exit_code == 0
    assert "-Pick.\n+Pick!\n" in found.stdout
    assert found.stdout.endswith("1 re-keyed, 0 left as they are, 0 refused.\n")
    assert replayed(directory, request("Pick!")) == finished('{"value":7}').text


def test_a_no_leaves_everything_as_it_is(directory: Path) -> None:
    found = run("rekey", "--dir", str(directory), answer="n\n")

    assert (found.exit_code, found.stdout.splitlines()[-1]) == (
        0,
        "0 re-keyed, 1 left as they are, 0 refused.",
    )
    assert replayed(directory, request("Pick.")) == '{"value":7}'


def test_json_without_yes_only_reports(directory: Path) -> None:
    found = run("rekey", "--dir", str(directory), "--json")

    report = json.loads(found.stdout)
    assert [entry["purpose"] for entry in report["open"]] == ["intake-1"]
    assert (report["outcome"], report["rekeyed"], report["refused"]) == ("done", [], [])
    assert "+Pick!" in found.stderr
    assert replayed(directory, request("Pick.")) == '{"value":7}'


def test_a_reply_that_no_longer_fits_is_refused_while_the_others_are_rekeyed(directory: Path) -> None:
    RecordingProvider(ScriptedModel('{"value": 8}'), directory).complete(request("Plan.", "planning-1"))
    with pytest.raises(CassetteMiss):
        replayed(directory, request("Plan!", "planning-1", wanted="items"))

    found = run("rekey", "--dir", str(directory), "--yes", "--json")

    report = json.loads(found.stdout)
    assert found.exit_code == 1
    assert (report["outcome"], report["rekeyed"]) == ("failed", ["intake-1"])
    assert [entry["purpose"] for entry in report["refused"]] == ["planning-1"]
    assert "'items' is a required property" in report["refused"][0]["reason"]


def test_nothing_to_rekey_is_no_failure(tmp_path: Path) -> None:
    assert run("rekey", "--dir", str(tmp_path), "--misses", str(tmp_path / "none")).stdout == (
        "0 re-keyed, 0 left as they are, 0 refused.\n"
    )


@pytest.mark.parametrize("arguments", [["--help"], ["list", "--help"], ["rekey", "--help"]])
def test_every_help_has_an_example(arguments: list[str]) -> None:
    assert "Example: cogworks cassette" in run(*arguments).output
