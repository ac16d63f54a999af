"""`cogworks tools` and `policy check` on a repository with tools of its own."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cogworks.cli.main import cli
from cogworks.errors import ConfigurationError, UsageError
from cogworks.tools.handoff import Handoff
from cogworks.tools.records import AuditDamaged, read_records
from tests.codebase.repositories import git
from tests.tools.repository import COUNTING, declare, input_of, repository
from tests.tools.tooling import artifact

COUNT = ("count", "--input", input_of(path="docs/a.md"))
DEPLOY = ("deploy", "--input", input_of(to="staging"))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return repository(folder)


def called(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], standalone_mode=False)


def run(*words: object) -> Result:
    return called("tools", "run", *words)


def told(result: Result) -> Any:
    assert result.exception is None
    return json.loads(result.stdout)


def refused(result: Result) -> str:
    assert isinstance(result.exception, UsageError)
    return str(result.exception)


def test_tools_are_listed_with_what_their_policy_says(here: Path) -> None:
    declare(here, wrong={"name": "wrong"}, unlisted={**COUNTING, "name": "unlisted"})

    result = called("tools", "list")

    assert result.stdout.splitlines() == [
        "local/count_words (read, allowed): Counts the words of a file.",
        "local/deploy (external, needs approval): Puts it where people see it.",
        "local/unlisted (read, denied: tool_not_allowed): Counts the words of a file.",
    ]
    assert ".cogworks/tools/wrong.toml was left out" in result.stderr


def test_where_no_tool_is_declared_the_list_says_what_to_write(tmp_path: Path) -> None:
    empty = called("tools", "list", "--directory", tmp_path)
    declare(tmp_path, wrong={"name": "wrong"})
    wrong = called("tools", "list", "--directory", tmp_path)

    assert empty.stdout == (
        f"no tool: there is no file in {tmp_path}/.cogworks/tools. Write .cogworks/tools/<name>.toml and allow the tool "
        "in .cogworks/policies/<profile>.toml. docs/tools.md begins with an example.\n"
    )
    assert wrong.stdout == (
        f"no tool: none of the 1 files in {tmp_path}/.cogworks/tools declares one. "
        "Fix the problem listed for each file.\n"
    )
    assert ".cogworks/tools/wrong.toml was left out" in wrong.stderr
    assert told(called("tools", "list", "--directory", tmp_path, "--json"))["tools"] == []


def test_what_is_exported_is_what_is_printed(here: Path, tmp_path: Path) -> None:
    for number, words in enumerate(
        (("list", "--profile", "local"), ("plan", *COUNT), ("run", *COUNT, "--seed", "s"))
    ):
        file = tmp_path / f"{number}.json"

        result = called("tools", *words, "--json", "--output", file)

        assert file.read_text() == result.stdout
        assert told(result)["outcome"] in ("ok", "planned", "succeeded")


def test_the_tools_of_one_profile_are_listed(here: Path) -> None:
    assert [
        tool["name"] for tool in told(called("tools", "list", "--profile", "local", "--json"))["tools"]
    ] == [
        "count_words",
        "deploy",
    ]
    assert "no tool of" in refused(called("tools", "list", "--profile", "other"))


def test_a_plan_runs_nothing_and_says_why_not_the_others(here: Path) -> None:
    result = called("tools", "plan", *COUNT)

    assert result.stdout.splitlines() == [
        "1:count_words (local): serves count",
        "    count_words: score 1.00",
        "    deploy: score 1.00; nobody gives its input to",
    ]


def test_without_a_plan_the_reason_is_told_and_the_end_is_1(here: Path) -> None:
    result = called("tools", "plan", "fly")

    assert result.return_value == 1
    assert (
        "no plan: no usable tool of profile 'local' serves 'fly'; near it are count, deploy." in result.stdout
    )
    assert called("tools", "plan", "count", "--profile", "nobody").stdout.startswith(
        "no plan: there is no policy for profile"
    )


def test_a_run_prints_what_came_of_it(here: Path) -> None:
    result = run(*COUNT)

    assert result.return_value == 0
    assert result.stdout.splitlines() == ["1:count_words: success", '    1:count_words -> {"words": 5}']


def test_no_secret_that_a_tool_says_is_printed(
    here: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "correct-horse-battery")
    (here / "scripts/count.py").write_text(
        'import json; print(json.dumps({"words": 1, "said": "correct-horse-battery", "password": "x"}))'
    )

    for options in ((), ("--json",)):
        result = run(*COUNT, *options, "--audit", tmp_path / f"audit{len(options)}")

        assert "correct-horse-battery" not in result.stdout + (tmp_path / f"audit{len(options)}").read_text()
        assert '"password": "***", "said": "***"' in result.stdout


def test_a_failed_or_refused_run_ends_with_1_and_its_code(here: Path) -> None:
    missing = run("count", "--input", input_of(path="docs/b.md"))
    outside = run("count", "--input", input_of(path="scripts/count.py"), "--json")

    assert (missing.return_value, outside.return_value) == (1, 1)
    assert "exit_code: ended with 1: " in missing.stdout
    assert (told(outside)["code"], told(outside)["steps"][0]["status"]) == ("scope_violation", "denied")


def test_a_budget_ends_with_5(here: Path) -> None:
    policy = here / ".cogworks/policies/local.toml"
    policy.write_text(f"max_cost = 0.5\n{policy.read_text()}")

    assert run(*COUNT).return_value == 5
    policy.write_text(policy.read_text().replace("0.5", "5"))
    assert run(*COUNT, "--max-cost", "0.9").return_value == 5
    assert run(*COUNT, "--max-cost", "1").return_value == 0


def test_a_call_that_needs_a_person_waits_and_runs_when_it_is_approved(here: Path) -> None:
    waiting = run(*DEPLOY)

    assert waiting.return_value == 0
    assert not (here / "deployed.txt").exists()
    line = waiting.stdout.splitlines()[-1]
    assert line.startswith("to approve it, run the same command with: --approve ")
    approved = run(*DEPLOY, "--approve", line.rpartition(" ")[2], "--json")
    assert (approved.return_value, told(approved)["outputs"]) == (
        0,
        {"1:deploy": {"to": "staging", "scope": {}}},
    )
    assert (here / "deployed.txt").read_text() == "staging\n"


def test_an_approval_holds_for_one_input_and_one_tree(here: Path) -> None:
    name = told(run(*DEPLOY, "--json"))["waiting_for"]["hash"]

    other = run("deploy", "--input", input_of(to="production"), "--approve", name, "--json")
    (here / "docs/a.md").write_text("changed")
    changed = run(*DEPLOY, "--approve", name, "--json")

    assert [told(each)["outcome"] for each in (other, changed)] == ["waiting", "waiting"]
    git(here, "checkout", "--quiet", "docs/a.md")
    assert told(run(*DEPLOY, "--approve", name, "--reject", name, "--json"))["code"] == "rejected"
    assert not (here / "deployed.txt").exists()


def test_an_approval_needs_a_tree_to_hold_for(tmp_path: Path, here: Path) -> None:
    (here / ".git").rename(tmp_path / "git")

    assert "is no git repository with a commit" in refused(run(*DEPLOY))


def test_an_audit_is_written_checked_and_replayed_without_calling_a_tool(here: Path, tmp_path: Path) -> None:
    audit = tmp_path / "audit.ndjson"
    run(*COUNT, "--audit", audit)
    (here / "scripts/count.py").write_text("raise SystemExit('a replay called me')")

    result = called("tools", "replay", audit)

    records = read_records(audit.read_text())
    assert result.return_value == 0
    assert result.stdout == f"{audit}: identical ({len(records)} records)\n"


def test_a_replay_names_the_first_line_that_comes_out_otherwise(here: Path, tmp_path: Path) -> None:
    audit = tmp_path / "audit.ndjson"
    run(*COUNT, "--audit", audit)
    declare(here, count={**COUNTING, "cost": 3.0})

    result = called("tools", "replay", audit, "--json")

    assert result.return_value == 1
    assert told(result)["line"] == 2
    audit.write_text(audit.read_text().replace("score 1.00", "score 9.00", 1))
    assert isinstance(called("tools", "replay", audit).exception, AuditDamaged)


def test_an_audit_stays_out_of_the_tree_and_is_never_written_over(here: Path, tmp_path: Path) -> None:
    for option in ("--audit", "--output"):
        assert f"`{option} {here}/file` is inside the repository" in refused(run(*COUNT, option, "file"))
    assert not (here / "file").exists()
    (tmp_path / "audit.ndjson").write_text("")
    assert "an audit is a new file" in refused(run(*COUNT, "--audit", tmp_path / "audit.ndjson"))


def test_work_that_was_handed_over_is_looked_at_again_and_taken_up(here: Path, tmp_path: Path) -> None:
    text = here / "docs/a.md"
    work = Handoff(
        from_role="writer",
        to_role="local",
        goal="count",
        artifacts=(artifact("text", "docs/a.md", text.read_bytes()),),
    )
    file = tmp_path / "handoff.json"
    file.write_text(work.model_dump_json())

    fine = run(*COUNT, "--handoff", file, "--json")
    text.write_text("tampered")
    tampered = run(*COUNT, "--handoff", file, "--json")
    file.write_text('{"goal": 7}')

    assert (told(fine)["outcome"], told(tampered)["code"]) == ("succeeded", "artifact_changed")
    assert "is no hand-off" in refused(run(*COUNT, "--handoff", file))


def test_a_handed_over_path_leads_to_nothing_outside(here: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"x")
    for path in (str(secret), "../secret"):
        work = Handoff(from_role="w", to_role="local", goal="g", artifacts=(artifact("a", path, b"x"),))
        (tmp_path / "handoff.json").write_text(work.model_dump_json())

        assert (
            told(run(*COUNT, "--handoff", tmp_path / "handoff.json", "--json"))["code"] == "artifact_missing"
        )


@pytest.mark.parametrize("option", ["--input", "--metadata"])
def test_an_option_that_is_no_object_is_refused(here: Path, option: str) -> None:
    assert f"`{option}` is '[1]'. Write a JSON object" in refused(run("count", option, "[1]"))


def test_a_policy_that_is_fine_is_told_in_a_line(here: Path) -> None:
    result = called("policy", "check")

    assert result.return_value == 0
    assert result.stdout.splitlines()[-1] == (
        "local: count_words, deploy (read, external; at most 50 steps, cost 100; a person before external)"
    )


def test_every_problem_of_every_policy_is_told_and_nothing_runs(here: Path) -> None:
    (here / ".cogworks/policies/coding.toml").write_text('profile = "coding"\n[tools.DEPLOY]\n')
    (here / ".cogworks/policies/b.toml").write_text('profile = "c"\n')

    result = called("policy", "check", here, "--json")

    assert result.return_value == 2
    assert [problem["file"] for problem in told(result)["problems"]] == [
        ".cogworks/policies/b.toml",
        ".cogworks/policies/coding.toml",
    ]
    assert "`tools.DEPLOY` is no tool of the built-in policy" in called("policy", "check", here).stderr
    assert isinstance(run(*COUNT).exception, ConfigurationError)
