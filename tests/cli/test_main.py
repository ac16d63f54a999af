import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cogworks import __version__, errors
from cogworks.cli import main
from cogworks.errors import CogworksError, ConfigurationError, TryAgainLater
from tests.limits import ENDS_WITHIN_S

BAD_URLS = [[name, "no-url"] for name in ("process", "run", "status", "explain", "log", "cost", "fsck")] + [
    ["process", "no-url", "--json"],
    ["process", "no-url", "--dry-run"],
    ["replay", "ftp://no-url"],
]
ISSUE = "https://github.com/octo-org/hello/issues/42"
SETTINGS_NEED = ("annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection")
STARTING = """
import json, sys
before = {name.partition(".")[0] for name in sys.modules}
from cogworks.cli.main import main
told = {}
for words in json.loads(sys.argv[1]):
    try:
        main(words)
    except SystemExit as ended:
        # None stands for what shall never be loaded.
        loaded = {name.partition(".")[0] for name, module in sys.modules.items() if module is not None}
        found = loaded - before - sys.stdlib_module_names
        found = {name for name in found if not name.startswith("_sysconfigdata")}
        told[" ".join(words)] = [ended.code, sorted(found - {"cogworks", "click"})]
print(json.dumps(told), file=sys.stderr)
"""


class Ending(Exception):
    """A defect, as far as the command line is concerned."""


def _main(monkeypatch: pytest.MonkeyPatch, raised: BaseException | int, *words: str) -> int:
    """The exit code of a command that ends like this."""

    @click.command("made")
    @click.option("--json", "as_json", is_flag=True)
    def made(as_json: bool) -> int:
        if isinstance(raised, BaseException):
            raise raised
        return raised

    monkeypatch.setattr(main.LazyGroup, "get_command", lambda *_: made)
    with pytest.raises(SystemExit) as ended:
        main.main(["made", *words])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def _every_error() -> Iterator[CogworksError]:
    yield ConfigurationError("pipeline.toml", ["one", "two"])
    yield TryAgainLater("later", retry_after_s=3.0)
    for name in (
        "UsageError",
        "SafetyHalt",
        "PermissionRefused",
        "BudgetReached",
        "NodeFailed",
        "InvalidReply",
    ):
        yield getattr(errors, name)("because")
    yield errors.ApprovalNeeded("because", tool="APPLY_PATCH", call_hash="0123456789ab", shown="{}")
    yield errors.LostRace("because")
    yield errors.Interrupted("because")


def _commands(group: click.Command, *words: str) -> Iterator[tuple[str, ...]]:
    yield words
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            found = group.get_command(context, name)
            assert found is not None
            yield from _commands(found, *words, name)


def _started(*lines: list[str]) -> dict[str, tuple[int, list[str]]]:
    """Exit code of each command line, one after the other in a fresh process, and the libraries loaded by then."""
    command = [sys.executable, "-c", STARTING, json.dumps(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=ENDS_WITHIN_S)
    told = json.loads(done.stderr.splitlines()[-1])
    return {line: (code, libraries) for line, (code, libraries) in told.items()}


def test_help_of_every_command_loads_no_library_but_click() -> None:
    lines = [["--version"], *([*words, "--help"] for words in _commands(main.cli))]

    assert _started(*lines) == {" ".join(line): (0, []) for line in lines}


def test_a_url_that_names_no_issue_is_refused_before_any_library_but_click_is_loaded() -> None:
    assert _started(*BAD_URLS) == {" ".join(line): (2, []) for line in BAD_URLS}


def test_without_a_token_no_library_is_loaded_but_what_reads_the_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("COGWORKS_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COGWORKS_GITHUB_APP_ID"):
        monkeypatch.delenv(name, raising=False)
    # Nobody is logged in with `gh` where there is none.
    monkeypatch.setenv("PATH", str(tmp_path))
    lines = [[name, ISSUE] for name in ("process", "run", "status", "explain", "log", "cost", "fsck", "gc")]
    lines.append(["poll", "octo-org/hello"])

    assert {(code, *libraries) for code, libraries in _started(*lines).values()} == {(4, *SETTINGS_NEED)}


def test_the_table_of_commands_says_of_each_what_it_says_of_itself() -> None:
    own = {}
    for name in main.COMMANDS:
        found = main.cli.get_command(click.Context(main.cli), name)
        assert found is not None
        own[name] = (found.get_short_help_str(10_000), found.hidden)

    assert {name: (text, name in main.HIDDEN) for name, text in main.COMMANDS.items()} == own


def test_the_help_lists_every_command_but_the_hidden_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main.main(["--help"])

    listed = capsys.readouterr().out.partition("Commands:\n")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in listed.splitlines()] == [
        name for name in main.COMMANDS if name not in main.HIDDEN
    ]


def test_a_mistyped_command_is_told_the_one_that_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(["statsu", "https://github.com/octo-org/hello/issues/42"])

    assert ended.value.code == 2
    assert "No such command 'statsu'. Did you mean 'status'?" in capsys.readouterr().err


@pytest.mark.parametrize("words", list(_commands(main.cli)), ids=" ".join)
def test_every_command_has_help_with_an_example(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main([*words, "--help"])

    told = capsys.readouterr().out
    assert ended.value.code == 0
    assert "Example" in told
    assert f"cogworks {' '.join(words)}".rstrip() in told


@pytest.mark.parametrize("error", list(_every_error()), ids=lambda error: type(error).__name__)
def test_a_deliberate_failure_is_its_own_text_and_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: CogworksError
) -> None:
    code = _main(monkeypatch, error)

    assert (code, *capsys.readouterr()) == (error.exit_code, "", f"cogworks: {error}\n")


@pytest.mark.parametrize("error", list(_every_error()), ids=lambda error: type(error).__name__)
def test_with_json_a_deliberate_failure_is_one_object(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: CogworksError
) -> None:
    code = _main(monkeypatch, error, "--json")

    told = json.loads(capsys.readouterr().out)
    assert (code, told["outcome"], told["message"]) == (error.exit_code, error.outcome, str(error))
    if isinstance(error, ConfigurationError):
        assert (told["file"], told["problems"]) == ("pipeline.toml", ["one", "two"])


def test_exit_codes_say_what_kind_of_end_it_was() -> None:
    assert {type(error).__name__: error.exit_code for error in _every_error()} == {
        "ConfigurationError": 2,
        "TryAgainLater": 75,
        "UsageError": 2,
        "SafetyHalt": 3,
        "PermissionRefused": 4,
        "BudgetReached": 5,
        "ApprovalNeeded": 0,
        "NodeFailed": 1,
        "InvalidReply": 1,
        "LostRace": 0,
        "Interrupted": 130,
    }


def test_what_a_command_returns_is_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _main(monkeypatch, 12) == 12


def test_an_unexpected_failure_shows_where_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = _main(monkeypatch, Ending("the sky fell"), "--json")

    out, err = capsys.readouterr()
    assert code == 1
    assert json.loads(out)["outcome"] == "failed"
    assert "Traceback" in err
    assert (
        "cogworks: unexpected failure: Ending: the sky fell. This is a defect of cogworks "
        f"{__version__}; a work item stays resumable: run the same command again. Please report the lines above."
    ) in err


@pytest.mark.parametrize(
    "interruption", [KeyboardInterrupt(), click.exceptions.Abort()], ids=["ctrl-c", "abort"]
)
def test_an_interruption_is_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], interruption: BaseException
) -> None:
    code = _main(monkeypatch, interruption, "--json")

    out, err = capsys.readouterr()
    assert (code, json.loads(out)["outcome"]) == (130, "interrupted")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "words",
    [["dance"], ["process"], ["process", "--json", "--colour", "x"], ["graph", "--file", "x", "check"]],
    ids=["command", "argument", "option", "combination"],
)
def test_a_wrong_command_line_is_2_and_shows_the_usage(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(words)

    out, err = capsys.readouterr()
    assert ended.value.code == 2
    assert "Usage: cogworks" in err
    assert [json.loads(line)["outcome"] for line in out.splitlines()] == ["usage_error"] * ("--json" in words)


def test_a_problem_of_a_file_is_reported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "pipeline.toml"
    broken.write_text("[[[")

    with pytest.raises(SystemExit) as ended:
        main.main(["graph", "check", str(broken), "--json"])

    out, err = capsys.readouterr()
    told = json.loads(out)
    assert (ended.value.code, told["outcome"], told["file"]) == (2, "configuration_error", str(broken))
    assert err == f"cogworks: {told['message']}\n"


COLLECTING = """
import gc
from cogworks.cli.main import main
try:
    main(["--version"])
except SystemExit:
    before = gc.get_stats()[0]["collections"]
    import cogworks.wiring.fix
    print(gc.get_stats()[0]["collections"] - before)
"""


def test_what_a_command_loads_is_not_looked_through_again_and_again() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COLLECTING], capture_output=True, text=True, check=True, timeout=ENDS_WITHIN_S
    )

    assert int(done.stdout.splitlines()[-1]) <= 1


ENDING = """
import atexit, gc
atexit.register(lambda: print("kept from it:", gc.get_freeze_count()))
from cogworks.cli.main import main
main(["--version"])
"""


def test_the_end_of_a_command_does_not_look_for_what_the_system_takes_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, text=True, check=True, timeout=ENDS_WITHIN_S
    )

    assert int(done.stdout.rpartition("kept from it: ")[2]) > 1000
