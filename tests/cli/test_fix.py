import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from cogworks.cli.main import main
from cogworks.llm.providers.cassette import RecordingProvider
from cogworks.repair.instance import Instance, parse_instance
from cogworks.repair.options import Options
from cogworks.settings.config import read_environment
from cogworks.tools.records import is_closed, read_records
from cogworks.wiring.fix import open_repair
from cogworks.wiring.fix_order import Order
from tests.codebase.repositories import git
from tests.fakes import ScriptedModel
from tests.fixing import FILES, GOOD, TARGET, TESTS, diffs, landmark, make_shop, make_task, pattern, plan
from tests.limits import LONG_RUN_ENDS_WITHIN_S

ROOT = Path(__file__).parents[2]


def ended(*words: str | Path) -> int:
    """The exit code of `cogworks fix`."""
    with pytest.raises(SystemExit) as caught:
        main(["fix", *map(str, words)])
    assert isinstance(caught.value.code, int)
    return caught.value.code


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COGWORKS_LLM_PROVIDER", "cassette")
    monkeypatch.setenv("COGWORKS_CASSETTE_DIR", str(tmp_path / "cassette"))
    (tmp_path / "cassette").mkdir()
    return make_shop(tmp_path)


def recorded(shop: Path, task: Path, cassette: Path, replies: Sequence[str]) -> None:
    """Repair once with a scripted model and record what it was asked."""
    instance = parse_instance(task.read_text(), source=task.name)
    order = Order(shop, instance, Options(), command="python -m pytest -q")
    model = RecordingProvider(ScriptedModel(*replies), cassette)
    with open_repair(order, read_environment(os.environ), say=print, provider=model) as repair:
        repair.run()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_recorded_repair_is_played_again_by_the_command(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = make_task(tmp_path, instance_id="../../hostile/..")
    recorded(shop, task, tmp_path / "cassette", [pattern(), plan(landmark()), diffs(GOOD)])
    out, artifacts = tmp_path / "patch.diff", tmp_path / "artifacts"
    capsys.readouterr()

    code = ended("--repo", shop, "--task", task, "--out", out, "--artifacts", artifacts, "--json")

    told = json.loads(capsys.readouterr().out)
    assert (code, told["outcome"], told["repaired"]) == (0, "fixed", [TARGET])
    assert told["tokens"] == {"input": 300, "output": 150}
    assert told["patch"] == out.read_text()
    (folder,) = artifacts.iterdir()
    assert told["artifacts"] == str(folder)
    assert (folder / "final_patch.txt").read_text() == out.read_text()
    assert (folder / "proof.md").read_text().startswith("**Proven**")
    audit = read_records((folder / "tools-1.ndjson").read_text())
    assert [record.tool for record in audit if record.event == "step_started"] == [
        "RUN_TESTS", "ANALYZE_FAILURE", "GENERATE_PATCH", "APPLY_PATCH", "RUN_TESTS", "VALIDATE", "FINALIZE",
    ]  # fmt: skip
    assert is_closed(audit)
    replay = [sys.executable, "-m", "cogworks", "replay", str(folder)]
    # In a process of its own: it closes sockets for good.
    assert subprocess.run(replay, cwd=tmp_path, check=False, timeout=LONG_RUN_ENDS_WITHIN_S).returncode == 0
    git(shop, "apply", "--check", str(out))
    assert git(shop, "status", "--porcelain") == ""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_repair_beside_tests_that_never_ran_says_so_first(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "tests" / "test_other.py").write_text("import not_installed\n")
    git(shop, "add", "--all")
    git(shop, "commit", "--quiet", "--message", "a test that cannot be loaded")
    task = make_task(tmp_path)
    recorded(shop, task, tmp_path / "cassette", [pattern(), plan(landmark()), diffs(GOOD)])
    capsys.readouterr()

    code = ended("--repo", shop, "--task", task, "--artifacts", tmp_path / "artifacts")

    first = (
        "Not proven for `tests/test_other.py`, which could not be loaded: `ModuleNotFoundError: No module named "
        "'not_installed'`."
    )
    assert code == 0
    assert f"fixed: {first} 1 test(s) repaired" in capsys.readouterr().err
    (folder,) = (tmp_path / "artifacts").iterdir()
    assert (
        (folder / "proof.md")
        .read_text()
        .startswith(f"{first}\n\n**Nothing that was run is worse**: 1 test(s) failed")
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_else_still_fails_is_named_in_the_last_line(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "tests" / "test_other.py").write_text("def test_later():\n    assert False\n")
    git(shop, "add", "--all")
    git(shop, "commit", "--quiet", "--message", "a test that fails")
    task = make_task(tmp_path)
    recorded(shop, task, tmp_path / "cassette", [pattern(), plan(landmark()), diffs(GOOD)])
    capsys.readouterr()

    code = ended("--repo", shop, "--task", task, "--out", tmp_path / "patch.diff")

    assert code == 0
    assert capsys.readouterr().err.splitlines()[-1] == (
        "fixed: 1 test(s) repaired; 1 other test(s) still fail: tests/test_other.py::test_later"
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_is_not_repaired_ends_with_1_and_its_reason(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = make_task(tmp_path, failing_tests=["tests/test_shop.py::test_count"])

    code = ended("--repo", shop, "--task", task)

    written = capsys.readouterr()
    assert (code, written.out) == (1, "")
    assert "not fixed: halt: tests/test_shop.py::test_count does not fail (passed)" in written.err


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_tests_that_cannot_be_imported_come_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COGWORKS_LLM_PROVIDER", "cassette")
    monkeypatch.setenv("COGWORKS_CASSETTE_DIR", str(tmp_path))
    shop = make_shop(tmp_path, {**FILES, "tests/test_shop.py": "import not_installed\n" + TESTS})

    code = ended("--repo", shop, "--task", make_task(tmp_path))

    said = capsys.readouterr().err
    assert code != 0
    assert said.count("hint: tests could not be loaded: no module named not_installed.") == 1


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_budget_that_is_reached_ends_with_5_and_keeps_the_log(tmp_path: Path, shop: Path) -> None:
    config = shop / ".cogworks" / "config.toml"
    config.write_text(FILES[".cogworks/config.toml"] + "[budgets]\npipeline_max_tokens = 10\n")
    git(shop, "commit", "--quiet", "--all", "--message", "poor")

    code = ended("--repo", shop, "--task", make_task(tmp_path), "--artifacts", tmp_path / "artifacts")

    assert code == 5
    assert (tmp_path / "artifacts" / "shop-1" / "final_patch.txt").read_text() == ""
    told = [
        json.loads(line)
        for line in (tmp_path / "artifacts" / "shop-1" / "events.ndjson").read_text().splitlines()
    ]
    assert [each["kind"] for each in told][-2:] == ["combine.start", "action.broken"]
    assert is_closed(read_records((tmp_path / "artifacts" / "shop-1" / "tools-1.ndjson").read_text()))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_mistyped_test_ends_with_2_and_the_nearest_names(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shop)

    code = ended("--test", TARGET, "--test", "tests/test_shop.py::test_totl")

    said = capsys.readouterr().err
    assert code == 2
    assert "tests/test_shop.py::test_totl is none of the" in said
    assert f"did you mean {TARGET}" in said


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_test_alone_is_task_enough(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = ended("--repo", shop, "--test", TARGET, "--no-model", "--json")

    told = json.loads(capsys.readouterr().out)
    assert (code, told["outcome"], told["instance_id"]) == (1, "not_fixed", "fix")
    assert told["suspects"]


def test_tests_are_named_in_one_way(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("--test", "a", "--task", __file__) == 2
    assert "not with both" in capsys.readouterr().err


MORE_TESTS = """\
from shop.cart import total


def test_two():
    assert total([1, 1]) == 2
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_without_a_word_every_failing_test_of_the_checkout_is_repaired_uncommitted_ones_too(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "tests" / "test_more.py").write_text(MORE_TESTS)
    before = (
        git(shop, "rev-parse", "HEAD"),
        git(shop, "count-objects", "-v"),
        git(shop, "status", "--porcelain"),
    )
    instance = Instance(instance_id="fix", failing_tests=())
    order = Order(shop, instance, Options(), command="python -m pytest -q", with_uncommitted=True)
    model = RecordingProvider(ScriptedModel(pattern(), plan(landmark()), diffs(GOOD)), tmp_path / "cassette")
    with open_repair(order, read_environment(os.environ), say=print, provider=model) as repair:
        repair.run()
    capsys.readouterr()
    monkeypatch.chdir(shop)

    code = ended("--json")

    written = capsys.readouterr()
    told = json.loads(written.out)
    assert (code, told["outcome"]) == (0, "fixed")
    assert sorted(told["repaired"]) == ["tests/test_more.py::test_two", TARGET]
    assert (
        "2 of 4 test(s) to repair: tests/test_more.py::test_two, tests/test_shop.py::test_total"
        in written.err
    )
    assert "1 uncommitted path(s) count as they lie there" in written.err
    assert "test_more" not in told["patch"]
    assert (
        git(shop, "rev-parse", "HEAD"),
        git(shop, "count-objects", "-v"),
        git(shop, "status", "--porcelain"),
    ) == before
    (tmp_path / "final.diff").write_text(told["patch"])
    git(shop, "apply", "--check", str(tmp_path / "final.diff"))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_where_nothing_fails_nothing_is_done_and_the_code_is_0(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "tests" / "test_shop.py").write_text(TESTS.replace("2.8", "-2"))
    monkeypatch.chdir(shop)

    code = ended("--json")

    told = json.loads(capsys.readouterr().out)
    assert (code, told["outcome"], told["patch"]) == (0, "nothing_fails", None)
    assert "3 test(s) ran and none fails" in told["message"]


@pytest.mark.parametrize("text", ["COGWORKS_LLM_API_KEY", "COGWORKS_LLM_MODEL", "[budgets]", "--test tests/"])
def test_the_help_says_where_key_model_and_budget_come_from(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("--help") == 0
    assert text in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--test-cmd", "tox && true"), "is a line for a shell"),
        (("--test-cmd", "pytest --maxfail 1"), "write `--maxfail=1`"),
        (("--config", "bad.yaml"), "`serch` is not a key the patch loop knows"),
    ],
    ids=["a line for a shell", "an option whose value may be a file", "configuration"],
)
def test_what_cannot_be_kept_ends_with_2_before_anything_is_done(
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    problem: str,
) -> None:
    folder = shop.parent
    monkeypatch.chdir(folder)
    (folder / "bad.yaml").write_text("serch: {}\n")

    code = ended("--repo", shop, "--task", make_task(folder), *words)

    assert code == 2
    assert problem in capsys.readouterr().err


@pytest.mark.slow
# The long test itself would be ended after 300 seconds.
@pytest.mark.timeout(250)
def test_a_model_that_cannot_be_opened_ends_the_tests_that_run_meanwhile(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "tests" / "test_long.py").write_text("import time\n\n\ndef test_long():\n    time.sleep(3600)\n")
    monkeypatch.setenv("COGWORKS_LLM_PROVIDER", "nobody")
    monkeypatch.setenv("COGWORKS_LLM_MODEL", "claude-sonnet-5-5")

    code = ended("--repo", shop, "--json")

    told = json.loads(capsys.readouterr().out)
    assert code == 2
    assert told["message"].startswith("`COGWORKS_LLM_PROVIDER` is 'nobody'; known providers are")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_without_a_key_the_remedy_is_told_the_places_are_ranked_and_the_code_is_4(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("COGWORKS_LLM_PROVIDER", "COGWORKS_LLM_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    code = ended("--repo", shop, "--task", make_task(tmp_path), "--artifacts", tmp_path / "a", "--json")

    written = capsys.readouterr()
    assert (code, json.loads(written.out)["outcome"]) == (4, "permission_refused")
    assert "Set `COGWORKS_LLM_API_KEY` or `ANTHROPIC_API_KEY`" in written.err
    assert "shop/cart.py:4-8 shop.cart.total (" in written.err
    assert "suspects" in json.loads((tmp_path / "a" / "shop-1" / "candidates.json").read_text())


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_model_is_asked_when_none_is_wanted(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = ended("--repo", shop, "--task", make_task(tmp_path), "--no-model", "--json")

    written = capsys.readouterr()
    told = json.loads(written.out)
    assert (code, told["outcome"], told["patch"]) == (1, "not_fixed", None)
    assert "no model was asked for a change: offline mode: no model will be called." in told["message"]
    # The two places that are wrong.
    assert {each["path"] for each in told["suspects"][:2]} == {"shop/cart.py", "shop/money.py"}
    assert (told["cost_usd"], told["tokens"]) == (0, {"input": 0, "output": 0})
    assert list((tmp_path / "cassette").iterdir()) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_configuration_says_where_artifacts_go_and_whether_events_are_shown(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fix.toml").write_text('[codegen.logging]\ndir = "runs"\nstream = true\n')
    words = ("--repo", shop, "--task", make_task(tmp_path), "--no-model")

    ended(*words, "--config", "fix.toml")
    with_both = capsys.readouterr().err

    lines = [line for line in with_both.splitlines() if line.startswith("{")]
    assert (tmp_path / "runs" / "shop-1" / "events.ndjson").read_text().splitlines() == lines
    ended(*words)
    assert not any(line.startswith("{") for line in capsys.readouterr().err.splitlines())
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["shop-1"]


def test_every_hint_of_the_documentation_is_said_by_the_program() -> None:
    text = (ROOT / "docs" / "patch-loop.md").read_text()
    table = text.split("### When it does not work")[1].split("\n## ")[0]
    hints = [
        hint for row in table.splitlines()[4:] if row for hint in re.findall("`([^`]+)`", row.split("|")[1])
    ]
    sources = "".join(path.read_text() for path in (ROOT / "cogworks").rglob("*.py"))

    assert len(hints) >= 8
    for part in (part.strip() for hint in hints for part in hint.split("…")):
        assert part in sources, part
