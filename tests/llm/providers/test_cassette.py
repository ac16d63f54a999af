from pathlib import Path

import pytest

from cogworks.errors import ConfigurationError
from cogworks.llm.provider import Message, ModelRequest
from cogworks.llm.providers.cassette import (
    Cassette,
    CassetteMiss,
    CassetteProvider,
    Misses,
    RecordingProvider,
    proposed_rekeyings,
    rekey,
)
from tests.fakes import ScriptedModel, finished

SCHEMA: dict[str, object] = {
    "title": "Number",
    "type": "object",
    "properties": {"value": {"type": "integer"}},
    "required": ["value"],
}


def request(text: str, purpose: str = "intake-1", schema: dict[str, object] = SCHEMA) -> ModelRequest:
    return ModelRequest(
        model="claude-sonnet-5-5",
        system="Be brief.",
        messages=(Message(role="user", text=text),),
        output_schema=schema,
        max_output_tokens=100,
        purpose=purpose,
    )


def record(directory: Path, asked: ModelRequest, text: str) -> None:
    RecordingProvider(ScriptedModel(text), directory).complete(asked)


def player(directory: Path) -> CassetteProvider:
    return CassetteProvider(directory, misses=directory / "misses")


def test_the_recorder_gives_what_a_replay_will_give(tmp_path: Path) -> None:
    recorder = RecordingProvider(ScriptedModel('{ "value": 7 }'), tmp_path)

    said = recorder.complete(request("Pick."))

    assert said == finished('{"value":7}')
    assert player(tmp_path).complete(request("Pick.")) == said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["intake-1.prompt.md", "intake-1.toml"]


def test_recording_a_purpose_again_replaces_its_reply(tmp_path: Path) -> None:
    record(tmp_path, request("Pick."), '{"value": 7}')
    record(tmp_path, request("Pick another."), '{"value": 8}')

    assert [each.reply.text for each in Cassette(tmp_path).recordings()] == ['{"value":8}']


def test_a_reply_is_found_by_its_key_whatever_it_was_asked_for(tmp_path: Path) -> None:
    record(tmp_path, request("Pick.", "one"), '{"value": 1}')
    record(tmp_path, request("Pick.", "two"), '{"value": 2}')

    found = [player(tmp_path).complete(request("Pick.", purpose)).text for purpose in ("one", "two", "three")]

    assert found == ['{"value":1}', '{"value":2}', '{"value":1}']


def test_of_several_folders_the_first_that_has_the_reply_answers(tmp_path: Path) -> None:
    own, shared = tmp_path / "own", tmp_path / "shared"
    record(own, request("Pick."), '{"value": 7}')
    record(shared, request("Pick."), '{"value": 8}')
    record(shared, request("Pick another."), '{"value": 9}')
    provider = CassetteProvider(own, shared, misses=tmp_path / "misses")

    answers = [provider.complete(request(text)).text for text in ("Pick.", "Pick another.")]

    assert answers == ['{"value":7}', '{"value":9}']
    with pytest.raises(CassetteMiss, match=r"own/intake-1\.toml answers another prompt"):
        provider.complete(request("Pick a third."))


def test_a_changed_prompt_is_an_error_that_shows_the_change_and_the_command(tmp_path: Path) -> None:
    record(tmp_path, request("Pick a number."), '{"value": 7}')

    with pytest.raises(CassetteMiss) as missed:
        player(tmp_path).complete(request("Pick a small number."))

    key = request("Pick a small number.").key[:16]
    assert str(missed.value) == (
        f"cassette: no reply is recorded for this request of 'intake-1' (key {key}…); "
        f"{tmp_path}/intake-1.toml answers another prompt:\n"
        "--- intake-1 (recorded)\n"
        "+++ intake-1 (asked now)\n"
        "@@ -8,5 +8,5 @@\n"
        " \n"
        " # user\n"
        " \n"
        "-Pick a number.\n"
        "+Pick a small number.\n"
        " \n"
        f"The request is kept in {tmp_path}/misses/intake-1.request.json. "
        "If the change is deliberate and the recorded reply still answers it, run:\n"
        f"  cogworks cassette rekey --dir {tmp_path} --misses {tmp_path}/misses"
    )
    assert missed.value.exit_code == 2
    assert Misses(tmp_path / "misses").requests() == (request("Pick a small number."),)


def test_a_purpose_that_was_never_recorded_is_an_error_that_names_its_neighbours(tmp_path: Path) -> None:
    record(tmp_path, request("Pick."), '{"value": 7}')

    with pytest.raises(
        CassetteMiss, match=r"nothing is recorded .* \(recorded are e\.g\. 'intake-1'\)"
    ) as missed:
        player(tmp_path).complete(request("Else.", "intake-2"))

    assert missed.value.purpose == "intake-2"


def test_a_change_that_no_page_shows_is_said_to_be_one(tmp_path: Path) -> None:
    record(tmp_path, request("Pick."), '{"value": 7}')
    recording = tmp_path / "intake-1.toml"
    recording.write_text(recording.read_text().replace(request("Pick.").key, "0" * 64))

    with pytest.raises(CassetteMiss, match="both prompts read the same"):
        player(tmp_path).complete(request("Pick."))


def test_a_missing_directory_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is no directory; record into it first"):
        player(tmp_path / "absent").complete(request("Pick."))


def test_a_malformed_recording_is_named(tmp_path: Path) -> None:
    (tmp_path / "intake-1.toml").write_bytes(b"\xff")

    with pytest.raises(
        ConfigurationError, match=r"intake-1\.toml has 1 problem\(s\):\n  - is not UTF-8 text"
    ):
        player(tmp_path).complete(request("Pick."))


def test_a_file_that_is_no_request_is_no_miss(tmp_path: Path) -> None:
    (tmp_path / "x.request.json").write_text("{}")

    with pytest.raises(ConfigurationError, match="is no kept request"):
        Misses(tmp_path).requests()


def test_rekeying_lets_the_old_reply_answer_the_new_prompt(tmp_path: Path) -> None:
    record(tmp_path, request("Pick."), '{"value": 7}')
    with pytest.raises(CassetteMiss):
        player(tmp_path).complete(request("Pick!"))
    cassette, misses = Cassette(tmp_path), Misses(tmp_path / "misses")

    (proposal,) = proposed_rekeyings(cassette, misses)
    rekey(cassette, misses, proposal)

    assert (proposal.refusal, "-Pick.\n+Pick!" in proposal.diff) == (None, True)
    assert player(tmp_path).complete(request("Pick!")) == finished('{"value":7}')
    assert cassette.recorded_prompt("intake-1").endswith("Pick!\n")
    assert proposed_rekeyings(cassette, misses) == ()


def test_rekeying_is_refused_when_the_reply_no_longer_fits_the_schema(tmp_path: Path) -> None:
    record(tmp_path, request("Pick."), '{"value": 7}')
    stricter = {**SCHEMA, "required": ["value", "why"]}
    with pytest.raises(CassetteMiss):
        player(tmp_path).complete(request("Pick.", schema=stricter))
    cassette, misses = Cassette(tmp_path), Misses(tmp_path / "misses")

    (proposal,) = proposed_rekeyings(cassette, misses)

    assert proposal.refusal == (
        f"the schema changed so that the reply in {tmp_path}/intake-1.toml no longer fits:\n"
        "  - $: 'why' is a required property\nEdit the reply or record it again."
    )
    with pytest.raises(ValueError, match="cannot be rekeyed"):
        rekey(cassette, misses, proposal)
    assert cassette.recordings()[0].key == request("Pick.").key


def test_a_reply_that_was_no_json_on_purpose_can_be_rekeyed(tmp_path: Path) -> None:
    record(tmp_path, request("Pick."), "no JSON")
    misses = Misses(tmp_path / "misses")
    misses.keep(request("Pick!"))

    (proposal,) = proposed_rekeyings(Cassette(tmp_path), misses)

    assert proposal.refusal is None


def test_a_miss_that_was_recorded_since_is_forgotten(tmp_path: Path) -> None:
    misses = Misses(tmp_path / "misses")
    misses.keep(request("Pick."))
    record(tmp_path, request("Pick."), '{"value": 7}')

    assert proposed_rekeyings(Cassette(tmp_path), misses) == ()
    assert misses.requests() == ()


def test_a_miss_of_a_purpose_without_a_recording_cannot_be_rekeyed(tmp_path: Path) -> None:
    misses = Misses(tmp_path / "misses")
    misses.keep(request("Pick."))

    (proposal,) = proposed_rekeyings(Cassette(tmp_path), misses)

    assert (
        proposal.refusal == f"nothing is recorded for purpose 'intake-1' in {tmp_path}; record a reply for it"
    )


def test_a_miss_that_cannot_be_kept_is_still_told(tmp_path: Path) -> None:
    record(tmp_path, request("Pick."), '{"value": 7}')
    (tmp_path / "misses").write_text("a file where a directory is wanted")

    with pytest.raises(CassetteMiss, match=r"(?s)-Pick\..*The request could not be kept: .*File exists"):
        player(tmp_path).complete(request("Pick!"))
