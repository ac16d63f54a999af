"""A model's or a stranger's words are read where they are shown, and do nothing there."""

import importlib
import inspect
import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks import cli
from cogworks.cli.action import summary
from cogworks.cli.tables import Column, show_data, show_line, show_table
from cogworks.engine.consider import ReadItem, Wanted, consider
from cogworks.forge.effects import CommitFiles, FileText, OpenPullRequest, ReportCheck
from cogworks.forge.publication import PublicationContext, known_from
from cogworks.forge.surface import project
from cogworks.github.composing import operations
from cogworks.github.writer import reported
from cogworks.hub.actions.timeline import closing_numbers
from cogworks.leaving import in_commit_message, in_log_of_actions, in_markdown, in_title, on_terminal
from cogworks.ledger.record import LedgerUnreadable, read_state, state_text
from cogworks.nodes.contract import Failed
from cogworks.vocabulary import BranchName, CommitOid, NodeId, RunId, VisitKey
from tests.pipeline.runs import new_run
from tests.step_fakes import Runner
from tests.world import MAIN, World

CLOSING = ["Closes #3", "fixes: #3", "Resolved octo-org/adder#3", "FIX\t#3", "a\nclosed\n#3"]
BIDI = "\u202e\u2066\u200f"


@pytest.mark.parametrize("words", CLOSING)
@pytest.mark.parametrize("leaving", [in_markdown, in_title, in_commit_message])
def test_no_word_closes_an_issue(words: str, leaving: object) -> None:
    assert callable(leaving)
    assert closing_numbers(words) == (3,)
    assert closing_numbers(leaving(words)) == ()


@pytest.mark.parametrize("words", ["@octo-org/all look", "(@ann)", "`@ann", "a\n@ann"])
def test_nobody_is_called(words: str) -> None:
    assert "@ann" not in in_markdown(words) + in_title(words) + in_commit_message(words)
    assert "@octo" not in in_markdown(words)


@pytest.mark.parametrize("words", ["![x](https://eve.example/1.png)", '<IMG src="https://eve.example/1">'])
def test_no_image_is_loaded_from_elsewhere(words: str) -> None:
    shown = in_markdown(words)

    assert "![" not in shown
    assert "<img" not in shown.casefold()


@pytest.mark.parametrize(
    "words", ["Add [skip ci]", "[CI SKIP] Add", "[no ci]", "[skip actions]", "[actions skip]"]
)
def test_no_check_is_skipped_by_a_title_or_message(words: str) -> None:
    for shown in (in_title(words), in_commit_message(words)):
        assert not any(
            f"[{sign}]" in shown.casefold()
            for sign in ("skip ci", "ci skip", "no ci", "skip actions", "actions skip")
        )


@pytest.mark.parametrize("key", ["Cogworks-Visit", "Co-authored-by", "Signed-off-by", "skip-checks"])
def test_git_reads_no_trailer_in_the_words_of_a_model(tmp_path: Path, key: str) -> None:
    def trailers(text: str) -> str:
        command = ["git", "interpret-trailers", "--parse"]
        return subprocess.run(
            command, input=text, capture_output=True, text=True, check=True, cwd=tmp_path, timeout=60
        ).stdout

    words = f"Notes.\n\n{key}: true"

    assert key in trailers(f"Add it\n\n{words}\n")
    assert key not in trailers(f"Add it\n\n{in_commit_message(words)}\n")


def test_what_is_sent_for_a_title_and_a_commit_does_nothing() -> None:
    known = known_from(World().snapshot(), PublicationContext())
    words = f"Fixes #1 [skip ci] @ann {BIDI}\x1b[31m"
    branch = BranchName("cogworks/7/x")
    commit = CommitFiles(
        branch=branch,
        base=MAIN,
        files=(FileText(path="a", text="b"),),
        headline=words,
        visit_key=VisitKey("a" * 64),
    )
    pull = OpenPullRequest(slug="x", head=branch, base=MAIN, title=words, body="")

    sent = [
        operations(0, commit, known)[-1].input["message"]["headline"],
        operations(1, pull, known)[0].input["title"],
    ]

    for text in sent:
        assert closing_numbers(text) == ()
        assert not any(sign in text for sign in ("[skip ci]", "@ann", "\x1b", *BIDI))


@given(st.text(alphabet=st.sampled_from("\x1b[]31m;\x07\r\n\t\x9b\u202eab:#"), max_size=60))
def test_a_terminal_gets_no_control_characters_but_line_ends_and_tabs(text: str) -> None:
    shown = on_terminal(text)

    assert not any(letter in shown for letter in "\x1b\x07\r\x9b\u202e")
    assert on_terminal(shown) == shown


@given(st.text(alphabet=st.sampled_from("\x1b[m:#\n\r \u202eset-output"), max_size=60))
def test_no_line_of_the_actions_log_is_a_command(text: str) -> None:
    for line in in_log_of_actions(text).splitlines():
        assert not line.lstrip().startswith(("::", "##["))


def test_a_node_s_words_in_the_status_comment_call_nobody_and_hide_nothing() -> None:
    world = World()
    Runner(world).step()
    spoken = "Fixes #1 for @octo-org/team ![](https://evil.example/x.png) <!-- <img src=//evil.example>"
    visit = world.state.visits[0].model_copy(update={"summary": spoken, "caution": spoken})
    state = world.state.model_copy(update={"visits": (visit,)})
    found = consider(ReadItem(world.snapshot()), Wanted(), new_run_id=lambda: RunId("r"))

    shown = project(replace(found.standing, state=state), found.config).comment

    assert shown.count("Fixes") == 2
    for acting in ("Fixes #1", "@octo-org", "![", "<!--", "<img"):
        assert acting not in shown


def test_a_failed_node_s_reason_in_the_status_comment_hides_nothing() -> None:
    world = World()
    fails = Runner(world, nodes={NodeId("spec"): lambda *_: Failed(reason="<!-- @ann", category="escalated")})
    fails.step()

    [comment] = world.own_comments()

    assert "&lt;!-- @" in comment
    assert "@ann" not in comment


class Checks:
    """What would be made as check runs."""

    def __init__(self) -> None:
        self.made: list[ReportCheck] = []

    def report_check(self, check: ReportCheck) -> None:
        self.made.append(check)


def test_a_check_run_calls_nobody_and_loads_nothing() -> None:
    checks = Checks()
    check = ReportCheck(
        name="cogworks",
        head=CommitOid("a" * 40),
        conclusion="success",
        title="Passed\x1b[2J @ann",
        summary="![](https://evil.example/x.png) @ann <!--",
        visit_key=VisitKey("k"),
    )

    assert reported([check], checks) == ()

    [made] = checks.made
    assert "\x1b" not in made.title
    assert "@ann" not in made.title + made.summary
    assert "![" not in made.summary
    assert "<!--" not in made.summary


def test_a_step_summary_keeps_no_sign_that_nobody_sees() -> None:
    told = summary("https://github.com/o/r/issues/1", {"message": "fine\x1b[2J \u202eevil\u2066"})

    assert "fine evil" in told
    assert not {"\x1b", "\u202e", "\u2066"} & {*told}


def test_a_page_and_its_tables_do_nothing_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show_table([Column("Node"), Column("What")], [["code", "fine\x1b]0;owned\x07\x1b[2J\u202e"]])
    show_line("next: \x1b[1A\x1b[2Kdone\u202e")

    shown = capsys.readouterr().out

    assert "fine" in shown
    assert "next: done\n" in shown
    assert not {"\x1b", "\x07", "\u202e"} & {*shown}


def test_a_page_commands_no_runner_of_actions(capsys: pytest.CaptureFixture[str]) -> None:
    show_table([Column("What")], [["fine"], ["::set-output name=a::b"]])
    show_line("broken:\n::error::eve\n##[group]eve", err=True)

    out, err = capsys.readouterr()

    assert not [line for line in (out + err).splitlines() if line.strip().startswith(("::", "##["))]
    assert "set-output" in out


def test_data_is_printed_byte_for_byte_where_a_program_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    show_data("+\x1b[1m\n::x")

    assert capsys.readouterr().out == "+\x1b[1m\n::x"


def test_data_does_nothing_to_a_terminal() -> None:
    leader, follower = pty.openpty()
    code = "from cogworks.cli.tables import show_data; show_data('+\\x1b[2Jfine\\n')"
    subprocess.run([sys.executable, "-c", code], stdout=follower, check=True, timeout=60)
    os.close(follower)

    with os.fdopen(leader, "rb", buffering=0) as shown:
        assert shown.read(100) == b"+fine\r\n"


def test_a_sweep_repeats_no_command_out_of_a_ledger_that_it_cannot_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The name of a key stands in what is said of a state of another shape."""
    state = {**json.loads(state_text(new_run())), "marks": {"a\n::set-output name=matrix::eve": 7}}
    with pytest.raises(LedgerUnreadable) as told:
        read_state(json.dumps(state), branch="cogworks/ledger/7")

    show_line(f"https://github.com/o/r/issues/7 cannot be read: {told.value}", err=True)

    shown = capsys.readouterr().err
    assert "set-output" in shown
    assert "\n::set-output" not in shown


# These show what they print by the functions themselves.
PAGES = sorted(
    path.stem
    for path in Path(cli.__file__).parent.glob("*.py")
    if path.stem not in {"__init__", "action", "main", "progress", "tables"}
)


@pytest.mark.parametrize("page", PAGES)
def test_no_page_prints_words_but_by_the_function_for_terminals(page: str) -> None:
    source = inspect.getsource(importlib.import_module(f"cogworks.cli.{page}"))

    assert re.findall(r"click\.echo\((?!\s*json\.dumps)", source) == []


@pytest.mark.parametrize("leaving", [in_markdown, in_title, in_commit_message])
def test_no_token_leaves_with_a_models_words_and_every_other_word_does(leaving: object) -> None:
    assert callable(leaving)
    token = "ghp_" + "a1" * 18

    assert leaving(f"Use {token} for a basic Python-style call") == "Use *** for a basic Python-style call"
