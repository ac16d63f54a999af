"""A file named on the command line is read, or refused with its name and the reason."""

from pathlib import Path

import pytest

from cogworks.cli.given_files import options_in, text_of
from cogworks.errors import ConfigurationError, UsageError
from cogworks.repair.options import Options


def test_a_text_comes_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes("{\r\n} ä".encode())

    assert text_of(tmp_path / "a.json") == "{\n} ä"


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_what_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(UsageError, match=r"a\.json cannot be read: "):
        text_of(path)


def test_without_a_file_the_defaults_hold() -> None:
    assert options_in(None) == Options()


def test_the_suffix_says_in_which_form_options_are_written(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("[search]\nmax_steps = 2\n")
    (tmp_path / "a.yaml").write_text("search: {max_steps: 2}\n")

    assert options_in(tmp_path / "a.toml") == options_in(tmp_path / "a.yaml")
    assert options_in(tmp_path / "a.toml").search.max_steps == 2


def test_malformed_options_are_refused_under_the_name_of_their_file(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("[search]\nmax_step = 2\n")

    with pytest.raises(ConfigurationError, match=r"(?s)a\.toml.*max_step"):
        options_in(tmp_path / "a.toml")
