import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.canonical import canonical_text
from cogworks.errors import ConfigurationError
from cogworks.llm.cassette_files import (
    Recording,
    file_stem,
    parse_recording,
    prompt_diff,
    prompt_text,
    recording_of,
    recording_text,
)
from cogworks.llm.provider import Message, ModelReply, ModelRequest, Usage

REQUEST = ModelRequest(
    model="claude-sonnet-5-5",
    system="Be brief.",
    messages=(Message(role="user", text="Write f."),),
    output_schema={"title": "Change", "type": "object"},
    max_output_tokens=100,
    purpose="code_generation-A-1",
)


def recorded(text: str) -> Recording:
    usage = Usage(input_tokens=1, output_tokens=2, cache_read_input_tokens=3)
    return recording_of(REQUEST, ModelReply(text=text, stop_reason="end_turn", usage=usage, model="m"))


def test_a_json_reply_is_a_toml_structure_whose_texts_read_as_they_are() -> None:
    reply = {"summary": "Add f", "files": [{"path": "f.py", "content": 'def f():\n    return "a\\n"\n'}]}

    text = recording_text(recorded(json.dumps(reply)))

    assert text == (
        f'key = "{REQUEST.key}"\n'
        'purpose = "code_generation-A-1"\n'
        'model = "m"\n'
        'stop_reason = "end_turn"\n'
        "\n"
        "[usage]\n"
        "input_tokens = 1\n"
        "output_tokens = 2\n"
        "cache_creation_input_tokens = 0\n"
        "cache_read_input_tokens = 3\n"
        "\n"
        "[reply]\n"
        'summary = "Add f"\n'
        "\n"
        "[[reply.files]]\n"
        "content = '''\n"
        "def f():\n"
        '    return "a\\n"\n'
        "'''\n"
        'path = "f.py"\n'
    )


def test_what_is_replayed_is_the_canonical_json_of_what_was_recorded() -> None:
    recording = recorded('{ "b": [1.0, 2, true], "a": "\\u00e9" }')

    found = parse_recording(recording_text(recording), "x.toml")

    assert found == recording
    assert found.reply.text == '{"a":"é","b":[1.0,2,true]}'


@pytest.mark.parametrize(
    ("text", "kept_as"),
    [
        ('{"a": null}', "text"),
        ("[1, 2]", "text"),
        ("I cannot do that.", "text"),
        ("", "text"),
        ("windows\r\nlines\r\n", "text"),
        ('{"a": NaN}', "text"),
        ('{"a": "crlf\\r\\n"}', "reply"),
        ('{"quotes": "a = \'\'\'\\n\'\'\'\\n", "end": "\\n\'"}', "reply"),
        ('{"": {"a.b": "\\u0000\\u001b\\"\\"\\""}}', "reply"),
        ('{"big": 123456789012345678901234567890, "tiny": 1e-300}', "reply"),
        ('{"empty": {}, "none": [], "mixed": [1, "a", {"b": [[]]}]}', "reply"),
    ],
    ids=[
        "null",
        "array",
        "prose",
        "empty",
        "crlf-prose",
        "nan",
        "crlf",
        "quotes",
        "controls",
        "numbers",
        "nested",
    ],
)
def test_what_toml_cannot_hold_as_a_structure_is_kept_as_text(text: str, kept_as: str) -> None:
    recording = recorded(text)

    written = recording_text(recording)

    assert kept_as in tomllib.loads(written)
    assert parse_recording(written, "x.toml") == recording


TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\r\n\"'\\ \t\0"), max_size=30)
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS, JSON_VALUES, max_size=4))
def test_every_json_reply_survives_the_file_exactly(value: dict[str, Any]) -> None:
    found = parse_recording(recording_text(recorded(json.dumps(value))), "x.toml")

    assert found.reply.text == canonical_text(value)


@given(TEXTS)
def test_every_other_reply_survives_the_file_exactly(text: str) -> None:
    recording = recorded(text)

    assert parse_recording(recording_text(recording), "x.toml") == recording


HEAD = 'key = "k"\npurpose = "p"\nmodel = "m"\nstop_reason = "end_turn"\n'


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("key = ", ("is not TOML: Invalid value (at end of document)",)),
        (
            'key = 3\npurpose = "p"\nmodel = "m"\nstop_reason = "end_turn"\nreply = {}\nextra = 1',
            (
                "key: Input should be a valid string",
                "usage: Field required",
                "extra: Extra inputs are not permitted",
            ),
        ),
        (f"{HEAD}usage = {{}}", ("wants exactly one of a table `[reply]` and a string `text`",)),
        (
            f"{HEAD}text = ''\nusage = {{}}\nreply = {{}}",
            ("wants exactly one of a table `[reply]` and a string `text`",),
        ),
        (
            f"{HEAD}usage = {{}}\nreply = {{due = 2026-01-01}}",
            (
                (
                    "`[reply]` holds what JSON cannot say: Object of type date is not JSON serializable; "
                    "put dates and times in quotes"
                ),
            ),
        ),
    ],
    ids=["no-toml", "fields", "neither", "both", "date"],
)
def test_a_malformed_recording_is_reported_with_every_problem(text: str, problems: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse_recording(text, "cassettes/x.toml")

    assert (refused.value.source, refused.value.problems) == ("cassettes/x.toml", problems)


def test_the_prompt_page_shows_everything_that_makes_the_key() -> None:
    page = prompt_text(REQUEST)

    assert page.splitlines()[:2] == ["model: claude-sonnet-5-5", "max_output_tokens: 100"]
    assert page.splitlines()[2].startswith("schema: Change sha256:")
    assert len(page.splitlines()[2]) == len("schema: Change sha256:") + 64
    assert page.split("\n", 3)[3] == "\n# system\n\nBe brief.\n\n# user\n\nWrite f.\n"


def test_a_diff_is_cut_and_says_how_much_is_missing() -> None:
    found = prompt_diff("\n".join("abcdefgh"), "\n".join("ijklmnop"), name="intake", max_lines=5)

    assert found.splitlines() == [
        "--- intake (recorded)",
        "+++ intake (asked now)",
        "@@ -1,8 +1,8 @@",
        "-a",
        "-b",
        "… 14 more lines of the diff",
    ]


def test_a_change_of_line_ends_is_visible() -> None:
    assert prompt_diff("a\n", "a\r\n", name="x").splitlines()[3:5] == ["-a", "+a\\r"]


@pytest.mark.parametrize(
    ("purpose", "stem"),
    [
        ("code_generation-A-1", "code_generation-A-1"),
        ("../../etc/passwd", "etc_passwd-"),
        (".hidden", "hidden-"),
        ("", "purpose-"),
        ("x" * 300, "x" * 100 + "-"),
    ],
    ids=["plain", "traversal", "hidden", "empty", "long"],
)
def test_a_file_is_named_for_its_purpose_and_stays_in_its_directory(purpose: str, stem: str) -> None:
    found = file_stem(purpose)

    assert found == stem or (found.startswith(stem) and len(found) == len(stem) + 8)
