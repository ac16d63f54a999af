"""`cogworks doctor PATH`: a checkout is looked at without token, hub, key or issue."""

import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cogworks.cli.main import cli
from cogworks.codegen.suite import refusal_of
from cogworks.domain_services.messages import TestReport
from cogworks.errors import CogworksError, Interrupted
from tests.checkup import preparing_service
from tests.limits import ENDS_WITHIN_S, Started
from tests.services.asking import laid_out
from tests.services.command.commanding import needs
from tests.wiring.test_checkup_progress import interrupted

PASSES = {
    "shop.py": "TAX = 2\n",
    "test_shop.py": "from shop import TAX\n\ndef test_tax():\n    assert TAX == 2\n",
}
ANYBODY = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str | None]:
    """Nothing to reach GitHub, a model or an index with."""
    names = ("COGWORKS_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COGWORKS_LLM_API_KEY", "ANTHROPIC_API_KEY")
    return {**dict.fromkeys(names), "COGWORKS_WORK_DIR": str(tmp_path / "work"), "PIP_NO_INDEX": "1"}


def git(folder: Path, *arguments: str) -> None:
    with Started(["git", *ANYBODY, *arguments], cwd=folder) as process:
        assert process.wait(ENDS_WITHIN_S) == 0


def checkout(folder: Path, files: Mapping[str, str]) -> Path:
    """A git repository with these files committed."""
    laid_out(folder, files)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


def services(behaviour: str) -> dict[str, str]:
    command = json.dumps([sys.executable, preparing_service.__file__, behaviour])
    return {
        ".cogworks/services.toml": f'[[services]]\nname = "scripted"\ncommand = {command}\nattempts = 1\n'
    }


def doctor(environment: Mapping[str, str | None], *arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["doctor", *map(str, arguments)], env=environment, standalone_mode=False)


def told(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.relative_to(folder).as_posix(): (
            path.lstat().st_mtime_ns,
            b"" if path.is_dir() else path.read_bytes(),
        )
        for path in sorted(folder.rglob("*"))
    }


def test_everything_that_was_found_is_shown_and_the_guesses_can_be_pasted(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    folder = checkout(tmp_path / "repo", services("good"))

    result = doctor(environment, folder)

    assert result.return_value == 0, result.stderr
    for words in (
        "scripted 1.0 with two packages",
        "made now; making it took 4.2 s, 3 MiB",
        "extra 'dev' (tox.ini [testenv] extras: its tests need it)",
        "Python 3.12 (by default)",
        "runner: try",
        "1 passed, 1 failed, 1 skipped, 0 not loaded in",
        "failing now    tests/a.txt::fails\nthey say       no (once)\n",
        "refused        a.txt::works: tried to reach the network",
        "requirements/docs.txt was left out.",
        "in a pull request that nobody merges, and new tests beside those of tests/",
        "(1 of them; 1 failing already, known and never blamed on it",
        "Ready: a work item can start here.",
        'for .cogworks/config.toml:\n\n[environment]\nextras = ["dev"]\n',
    ):
        assert words in result.stdout


def test_a_program_is_told_the_same(tmp_path: Path, environment: dict[str, str | None]) -> None:
    folder = checkout(tmp_path / "repo", services("reused"))

    found = told(doctor(environment, folder, "--json"))

    assert found["outcome"] == "succeeded"
    assert found["services"][0]["prepared"]["is_reused"] is True
    assert {key: found["tests"][key] for key in ("passed", "failed", "skipped", "not_loaded", "failing")} == {
        "passed": 1,
        "failed": 1,
        "skipped": 1,
        "not_loaded": 0,
        "failing": ["tests/a.txt::fails"],
    }
    assert found["configuration"] == '[environment]\nextras = ["dev"]\n'
    assert len(found["would"]) == 4


def test_an_environment_that_cannot_be_made_is_told_in_the_service_s_words_and_nothing_is_run(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    folder = checkout(tmp_path / "repo", services("cannot"))

    result = doctor(environment, folder, "--json")

    assert result.return_value == 1
    found = told(result)
    assert "names 'dev', which is no extra. Correct it." in found["to_do"][0]["what"]
    assert found["tests"] is None
    assert found["would"][0].startswith("stop before its first model call")


def test_a_checkout_counts_as_it_lies_there_and_nothing_is_written_into_it(
    tmp_path: Path, environment: dict[str, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    folder = checkout(
        tmp_path / "repo", {**PASSES, "gone.py": "raise SystemExit\n", "test_gone.py": "import gone\n"}
    )
    laid_out(folder, {"shop.py": "TAX = 3\n", "test_new.py": "def test_new():\n    pass\n"})
    (folder / "test_gone.py").unlink()
    before = snapshot(folder)

    found = told(doctor(environment, folder, "--json"))

    assert (found["tests"]["failing"], found["tests"]["passed"]) == (["test_shop.py::test_tax"], 1)
    assert found["uncommitted"] == 3
    assert snapshot(folder) == before
    assert list(temporary.iterdir()) == []
    left = {path.name for path in (tmp_path / "work").iterdir()} if (tmp_path / "work").exists() else set()
    assert left <= {"environments"}


def test_what_git_ignores_hides_nothing_that_a_work_item_would_miss(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    files = {".gitignore": "_version.py\n", "test_it.py": "import _version\n\ndef test_it():\n    pass\n"}
    folder = checkout(tmp_path / "repo", files)
    laid_out(folder, {"_version.py": "version = '1'\n"})

    result = doctor(environment, folder, "--json")

    assert result.return_value == 1
    assert [each["place"] for each in told(result)["tests"]["unloaded"]] == ["test_it.py"]


CONFIGURED = '[llm]\nmodel = "m"\n'


def test_configuration_that_git_ignores_is_told_until_it_is_committed_by_force(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    folder = checkout(tmp_path / "shop", {**PASSES, ".gitignore": "*.pyc\n.*\n"})
    laid_out(folder, {".cogworks/config.toml": CONFIGURED})
    hidden = told(doctor(environment, folder, "--json"))["notes"]
    git(folder, "add", "--force", ".cogworks")
    git(folder, "commit", "--quiet", "--message", "configured")

    seen = told(doctor(environment, folder, "--json"))["notes"]

    (note,) = [each for each in hidden if "git ignore" in each]
    assert note.startswith(
        ".gitignore:2 `.*` makes git ignore `.cogworks/config.toml`, so neither a work item nor this check sees it. "
        "Commit it with `git add -f .cogworks`."
    )
    assert any("no model is named yet" in each for each in hidden)
    assert [each for each in seen if "git ignore" in each or "no model" in each] == []


def test_a_submodule_is_named_for_its_files_are_not_there(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    folder = checkout(tmp_path / "shop", PASSES)
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{'a' * 40},spec/shared")
    git(folder, "commit", "--quiet", "--message", "shared")
    laid_out(folder, {"spec/shared/data.json": "{}"})
    notes = told(doctor(environment, folder, "--json"))["notes"]

    (note,) = [each for each in notes if "submodule" in each]
    assert note.startswith(
        "`spec/shared` is a submodule, the files of another repository: neither a work item "
    )


def test_a_broken_suite_is_told_in_the_words_of_an_item_s_own_check(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    folder = checkout(tmp_path / "repo", {"test_it.py": "import nowhere_to_be_found\n"})

    result = doctor(environment, folder)

    assert result.return_value == 1
    what = "`test_it.py` cannot be loaded: `ModuleNotFoundError: No module named 'nowhere_to_be_found'`"
    refused = refusal_of(TestReport(cases=(), collection_errors=("test_it.py: x",)), wanted="require")
    assert refused is not None
    assert what in result.stdout
    assert "Tests that cannot be loaded guard nothing" in result.stdout
    assert refused.reason.splitlines()[-1] in result.stdout


@pytest.mark.slow
def test_a_suite_that_hangs_is_ended_at_the_configured_limit(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    files = {
        "test_it.py": "import time\n\ndef test_it():\n    time.sleep(900)\n",
        ".cogworks/config.toml": "[tests]\ntimeout_s = 2\n",
    }

    result = doctor(environment, checkout(tmp_path / "repo", files), "--json")

    assert result.return_value == 1
    assert "did not finish in time" in told(result)["to_do"][0]["what"]
    assert "running the suite (at most 2 s)" in result.stderr


@pytest.mark.parametrize(
    "is_git",
    [
        pytest.param(True, id="without-a-commit", marks=pytest.mark.slow),
        pytest.param(False, id="without-git"),
    ],
)
def test_an_empty_folder_has_no_tests_and_is_told_what_to_say(
    is_git: bool, tmp_path: Path, environment: dict[str, str | None]
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    if is_git:
        git(folder, "init", "--quiet")
    before = snapshot(folder)

    result = doctor(environment, folder, "--json")

    assert result.return_value == 1
    assert '`baseline = "none"`' in told(result)["to_do"][0]["what"]
    assert snapshot(folder) == before


def test_a_repository_that_says_it_has_no_tests_may_go_on(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    files = {"shop.py": "TAX = 2\n", ".cogworks/config.toml": '[tests]\nbaseline = "none"\n'}

    result = doctor(environment, checkout(tmp_path / "repo", files))

    assert result.return_value == 0
    assert 'not run, because `[tests] baseline = "none"` is configured' in result.stdout


def test_a_plain_folder_without_git_is_looked_at_as_a_whole(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    folder = laid_out(tmp_path / "plain", PASSES)
    before = snapshot(folder)

    result = doctor(environment, folder)

    assert result.return_value == 0
    assert "a folder that git does not know" in result.stdout
    assert snapshot(folder) == before


SCRIPTS = {
    "package.json": '{"type": "module", "scripts": {"test": "node --test"}}',
    "src/shop.js": "export const tax = 2;\n",
    "test/shop.test.js": 'import { test } from "node:test";\ntest("works", () => {});\n',
}
MODULE = {
    "go.mod": "module example.org/shop\n\ngo 1.19\n",
    "shop.go": "package shop\n",
    "shop_test.go": 'package shop\n\nimport "testing"\n\nfunc TestWorks(t *testing.T) {}\n',
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "runner"),
    [
        pytest.param(SCRIPTS, "node:test", id="javascript", marks=needs("node")),
        pytest.param(MODULE, "go test", id="go", marks=needs("go")),
    ],
)
def test_a_checkout_in_another_language_is_asked_of_the_service_of_commands(
    files: dict[str, str], runner: str, tmp_path: Path, environment: dict[str, str | None]
) -> None:
    result = doctor(environment, checkout(tmp_path / "repo", files), "--json")

    found = told(result)
    assert result.return_value == 0, found
    [service] = found["services"]
    assert (service["service"], service["prepared"]["runner"]) == ("command", runner)
    assert (found["tests"]["passed"], found["tests"]["failed"]) == (1, 0)


@pytest.mark.slow
@needs("node")
def test_commands_that_were_guessed_are_told_with_the_file_that_they_belong_into(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    folder = checkout(tmp_path / "repo", SCRIPTS)
    result = doctor(environment, folder)

    assert "What was guessed, for .cogworks/services.toml:\n\n[[services]]\n" in result.stdout
    block = result.stdout.partition("services.toml:\n\n")[2]
    (folder / ".cogworks").mkdir(exist_ok=True)
    (folder / ".cogworks" / "services.toml").write_text(block)
    again = doctor(environment, folder)
    assert again.return_value == 0, again.stderr
    assert "runner: node:test" in again.stdout
    assert "What was guessed" not in again.stdout


def test_a_folder_inside_a_checkout_stands_for_the_checkout(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    folder = checkout(tmp_path / "repo", {**PASSES, "docs/index.md": "x\n"})

    assert told(doctor(environment, folder / "docs", "--json"))["tests"]["passed"] == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files to somebody else")
def test_root_may_look_at_somebody_else_s_checkout(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    folder = checkout(tmp_path / "repo", PASSES)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, 12345, 12345)

    assert doctor(environment, folder).return_value == 0


def test_a_language_that_no_service_knows_has_to_be_seen_to(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    folder = checkout(tmp_path / "repo", {"main.zig": "x\n", "lib.ex": "x\n"})

    result = doctor(environment, folder, "--json")

    assert result.return_value == 1
    assert "Elixir" in told(result)["to_do"][0]["what"]


def test_a_broken_configuration_keeps_nobody_from_hearing_of_the_rest(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    folder = checkout(tmp_path / "repo", {**PASSES, ".cogworks/config.toml": "[budgets]\nmoney = 3\n"})

    result = doctor(environment, folder, "--json")

    assert result.return_value == 1
    assert "budgets.money" in told(result)["to_do"][0]["what"]
    assert told(result)["tests"]["passed"] == 1


@pytest.mark.parametrize("place", ["nowhere", "file"])
def test_what_is_no_folder_is_a_mistake_of_the_caller(
    place: str, tmp_path: Path, environment: dict[str, str | None]
) -> None:
    (tmp_path / "file").write_text("")

    result = doctor(environment, tmp_path / place)

    assert isinstance(result.exception, CogworksError)
    assert result.exception.exit_code == 2
    assert "is no folder. Give a checkout, or the URL of a repository" in str(result.exception)


def test_projects_in_sub_folders_only_are_proposed_as_services(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    files = {**PASSES, "packages/api/pyproject.toml": "", "packages/web/pyproject.toml": ""}

    result = doctor(environment, laid_out(tmp_path / "repo", files))

    assert '[[services]]\nname = "api"\nkind = "python"\nroot = "packages/api"\n' in result.stdout
    assert '[[services]]\nname = "web"\nkind = "python"\nroot = "packages/web"\n' in result.stdout


@pytest.mark.slow
def test_the_services_of_several_roots_are_told_apart_and_run_together(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    table = '[[services]]\nname = "{0}"\nkind = "python"\nroot = "packages/{0}"\n'
    files = {
        "packages/api/test_a.py": "def test_a():\n    pass\n",
        "packages/web/test_b.py": "def test_b():\n    pass\n",
        ".cogworks/services.toml": table.format("api") + table.format("web"),
    }

    found = told(doctor(environment, checkout(tmp_path / "repo", files), "--json"))

    assert [(each["service"], each["root"]) for each in found["services"]] == [
        ("api", "packages/api"),
        ("web", "packages/web"),
    ]
    assert found["tests"]["passed"] == 2
    assert found["services_toml"] == ""


@pytest.mark.slow
def test_where_the_environment_of_one_root_cannot_be_made_the_others_are_told_and_run_all_the_same(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    table = '[[services]]\nname = "{0}"\nkind = "python"\nroot = "packages/{0}"\n'
    wants = 'environment = { python = "3.99" }\n'
    files = {
        "packages/api/pyproject.toml": '[project]\nname = "api"\nversion = "1"\n',
        "packages/api/test_a.py": "def test_a():\n    pass\n",
        "packages/web/test_b.py": "def test_b():\n    pass\n",
        ".cogworks/services.toml": f"{table.format('api')}{wants}\n{table.format('web')}",
    }

    result = doctor(environment, checkout(tmp_path / "repo", files), "--json")

    assert result.return_value == 1
    found = told(result)
    api, web = found["services"]
    assert "3.99" in api["problem"]
    assert (web["problem"], web["root"]) == ("", "packages/web")
    assert web["prepared"] is not None
    assert found["tests"]["passed"] == 1
    assert [thing["what"].startswith("packages/api: ") for thing in found["to_do"]] == [True]


@pytest.mark.slow
def test_a_suite_that_takes_too_long_is_run_in_parts_and_its_slowest_files_are_named(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    sleeps = "import time\n\ndef test_it():\n    time.sleep(8)\n"
    files = {f"test_{n}.py": sleeps for n in range(3)}
    files[".cogworks/config.toml"] = "[tests]\ntimeout_s = 20\n"

    result = doctor(environment, checkout(tmp_path / "repo", files))

    assert result.return_value == 0, result.stdout
    assert " parts\n" in result.stdout
    assert "slowest        test_" in result.stdout
    assert re.search(
        r"running what is left of the suite, 1 file\(s\) after \d+ s and 2 test\(s\)", result.stderr
    )
    assert "A work item here would run this suite in " in result.stdout


def test_the_context_packs_of_a_checkout_are_told_and_those_that_would_stop_a_run_are_to_do(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    packs = ".cogworks/context-packs"
    pack = {
        f"{packs}/careful/trigger.toml": '[trigger]\nlanguages = ["python"]\n',
        f"{packs}/careful/anti-patterns.md": "Never guess.\n",
    }
    folder = checkout(tmp_path / "repo", {**services("good"), **pack})

    well, page = told(doctor(environment, folder, "--json")), doctor(environment, folder).stdout
    (folder / packs / "careful" / "required-artefacts.toml").write_bytes(b"\xff")
    broken, said = told(doctor(environment, folder, "--json")), doctor(environment, folder).stdout

    line = "`careful` (of this repository) applies where the language is python; tells 1 document(s), about 4 tokens; requires nothing"
    assert (well["outcome"], well["context_packs"]["found"], well["to_do"]) == ("succeeded", line, [])
    assert f"context packs  {line}" in page
    assert broken["outcome"] == "failed"
    assert [each["what"] for each in broken["to_do"]] == [broken["context_packs"]["found"]]
    assert "required-artefacts.toml" in broken["to_do"][0]["what"]
    assert "is no text in UTF-8; save it as UTF-8" in broken["to_do"][0]["what"]
    assert "would          A work item here would stop before its first model call" in said


OPTED_IN = {".cogworks/config.toml": '[llm]\nmodel = "m"\n[paths]\nspecs = "docs/specs/"\n'}


def test_a_folder_for_specifications_is_said(tmp_path: Path, environment: dict[str, str | None]) -> None:
    folder = checkout(tmp_path / "shop", {**PASSES, **OPTED_IN})

    assert "would write its specification below docs/specs/" in doctor(environment, folder).stdout


def test_a_folder_for_specifications_that_git_ignores_is_to_do(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    folder = checkout(tmp_path / "shop", {**PASSES, **OPTED_IN, ".gitignore": "/docs/\n"})

    [problem] = told(doctor(environment, folder, "--json"))["to_do"]

    assert "below docs/specs/, because git ignores it (.gitignore:1 `/docs/`)" in problem["what"]


@pytest.mark.slow
def test_an_ignored_folder_is_no_problem_where_another_one_serves(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    folder = checkout(tmp_path / "shop", {**PASSES, ".gitignore": "/docs/\n"})

    assert told(doctor(environment, folder, "--json"))["to_do"] == []


def test_help_has_examples() -> None:
    assert "cogworks doctor ." in CliRunner().invoke(cli, ["doctor", "--help"]).stdout


def test_a_suite_that_is_interrupted_leaves_what_was_seen_before_it(
    tmp_path: Path, environment: dict[str, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = laid_out(tmp_path / "repo", services("good"))
    monkeypatch.setattr("cogworks.cli.progress.ticking", lambda _: interrupted)

    shown, as_json = doctor(environment, folder), doctor(environment, folder, "--json")

    assert "environment" in shown.stdout
    assert "the suite was interrupted after" in shown.stdout
    assert isinstance(shown.exception, Interrupted)
    assert isinstance(as_json.exception, Interrupted)
    assert as_json.stdout == ""
