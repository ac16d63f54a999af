import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cogworks.cli.main import main
from cogworks.evaluation.report import Report, Result, without_clock
from cogworks.llm.providers.cassette import Cassette
from cogworks.wiring.evaluation import write_samples
from tests.codebase.repositories import git
from tests.evaluation.golden import FOLDER
from tests.fixing import FILES, TARGET, make_shop
from tests.limits import LONG_RUN_ENDS_WITHIN_S, Started

WAIT_S = 1_200


def ended(*words: str | Path) -> int:
    """The exit code of `cogworks evaluate`."""
    with pytest.raises(SystemExit) as caught:
        main(["evaluate", *map(str, words)])
    assert isinstance(caught.value.code, int)
    return caught.value.code


@pytest.fixture(autouse=True)
def nobody_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (
        "COGWORKS_LLM_PROVIDER",
        "COGWORKS_LLM_API_KEY",
        "ANTHROPIC_API_KEY",
        "COGWORKS_CASSETTE_DIR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COGWORKS_WORK_DIR", str(tmp_path / "work"))


def make_instance(folder: Path, **more: Any) -> Path:
    """A folder with one instance of the shop."""
    folder.mkdir(exist_ok=True)
    told = {"instance_id": "shop-1", "repo": "shop", "failing_tests": [TARGET], **more}
    (folder / "shop-1.json").write_text(json.dumps(told))
    return folder


def golden(*names: str) -> list[Result]:
    report = Report.model_validate_json((FOLDER / "report.json").read_bytes())
    return [each for each in report.instances if each.instance_id in names]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "`--write-samples DIR` writes instances"),
        (
            ("--tasks", "tasks", "--out", "r.json", "--only", "x"),
            "no instance is called 'x'; there are shop-1",
        ),
        (("--tasks", "tasks", "--out", "r.json", "--test-cmd", "tox && true"), "is a line for a shell"),
        (("--tasks", "empty", "--out", "r.json"), "there is no instance"),
        (("--write-samples", "tasks"), "is not empty"),
    ],
    ids=["nothing", "unknown id", "a line for a shell", "no instance", "samples over mine"],
)
def test_what_cannot_be_done_ends_with_2_before_anything_is_done(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    make_instance(tmp_path / "tasks")
    (tmp_path / "empty").mkdir()

    code = ended(*words)

    assert (code, problem in capsys.readouterr().err) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "tasks"]


@pytest.mark.slow
def test_an_instance_nobody_can_judge_is_an_error_of_the_report_and_tried_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks, out = make_instance(tmp_path / "tasks", repo="octo/shop"), tmp_path / "report.json"
    words = ("--tasks", tasks, "--repos", tmp_path, "--out", out, "--min-solved", "0", "--json")

    codes = [ended(*words), ended(*words)]

    written = capsys.readouterr()
    assert codes == [1, 1]
    (told,) = json.loads(written.out.splitlines()[-1])["instances"]
    assert (told["outcome"], "octo__shop" in told["reason"]) == ("error", True)
    assert "name the folder of your clones with `--repos`" in told["reason"]
    assert written.err.count("1/1 shop-1: error") == 2


def test_without_a_key_the_evaluation_ends_at_once_with_4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = make_instance(tmp_path / "tasks")
    make_shop(tasks)

    code = ended("--tasks", tasks, "--out", tmp_path / "report.json", "--json")

    written = capsys.readouterr()
    assert (code, json.loads(written.out)["outcome"]) == (4, "permission_refused")
    assert "Set `COGWORKS_LLM_API_KEY` or `ANTHROPIC_API_KEY`" in written.err
    assert not (tmp_path / "report.json").exists()


@pytest.mark.slow
@pytest.mark.timeout(WAIT_S)
@pytest.mark.parametrize(
    ("options", "is_run"),
    [(("--run-environment-commands",), True), ((), False)],
    ids=["allowed", "not allowed"],
)
def test_the_environment_command_runs_where_the_operator_says_so(
    tmp_path: Path, options: tuple[str, ...], is_run: bool
) -> None:
    test = "from pathlib import Path\n\n\ndef test_total():\n    assert Path('made.txt').read_text() == 'made\\n'\n"
    tasks = make_instance(tmp_path / "tasks", environment_cmd="echo made > made.txt")
    make_shop(tasks, {**FILES, "tests/test_shop.py": test, ".gitignore": "made.txt\n"})
    (tasks / "cassettes" / "shop-1").mkdir(parents=True)
    out = tmp_path / "report.json"

    code = ended("--tasks", tasks, "--out", out, *options)

    (told,) = json.loads(out.read_text())["instances"]
    said = (tmp_path / "report.runs" / "shop-1" / "messages.txt").read_text()
    assert code == 1
    assert ("does not fail (passed); there is nothing to repair" in told["reason"]) == is_run
    assert ("`environment_cmd` was not run; `--run-environment-commands` allows it" in said) != is_run
    assert git(tasks / "shop", "status", "--porcelain", "--ignored") == ""


@pytest.mark.slow
@pytest.mark.timeout(WAIT_S)
def test_what_the_budget_of_the_evaluation_is_too_little_for_is_told_and_done_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks, out = write_samples(tmp_path / "samples"), tmp_path / "report.json"
    words = ("--tasks", tasks, "--out", out, "--only", "margins-1", "--only", "margins-2")

    code = ended(*words, "--max-cost", "0.01")

    written = capsys.readouterr()
    report = Report.model_validate_json(out.read_bytes())
    first, second = report.instances
    assert (code, report.totals.unbudgeted, report.totals.cost_usd) == (5, 2, 0)
    assert "broken off: it could use 0.01 USD of `--max-cost`" in first.reason
    assert "USD (`--max-cost`) are left" in second.reason
    assert (first.cycles > 0, second.cycles) == (True, 0)
    assert written.out.count("no budget") == 2

    code = ended(*words, "--max-cost", "5", "--json")

    again = json.loads(capsys.readouterr().out)
    assert (code, again["outcome"], again["totals"]["unbudgeted"]) == (0, "met", 0)
    assert [each["outcome"] for each in again["instances"]] == ["solved", "solved"]


class Resumed(NamedTuple):
    """An evaluation of two samples that was killed after the first, and begun again."""

    folder: Path
    said: str
    """By the second."""


@pytest.fixture(scope="module")
def resumed(tmp_path_factory: pytest.TempPathFactory) -> Resumed:
    folder = tmp_path_factory.mktemp("resumed")
    tasks, config = write_samples(folder / "samples"), folder / "options.toml"
    config.write_text('[codegen.logging]\nprompts = "full"\n')
    command = [sys.executable, "-m", "cogworks", "evaluate", "--tasks", str(tasks), "--config", str(config)]
    command += ["--only", "margins-1", "--only", "margins-2", "--artifacts", str(folder / "runs")]
    command += ["--out", str(folder / "report.json")]
    environment = {**os.environ, "COGWORKS_WORK_DIR": str(folder / "work")}
    first = Started(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment)
    assert first.stderr is not None
    line = first.stderr.readline()
    assert line.startswith("1/2 margins-1: solved"), line
    worker = wait_for_child(first.pid)
    os.kill(first.pid, signal.SIGKILL)
    first.wait(timeout=LONG_RUN_ENDS_WITHIN_S)
    first.stderr.close()
    wait_until_gone(worker)
    second = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=WAIT_S, env=environment
    )
    assert second.returncode == 0, second.stderr
    return Resumed(folder, second.stderr)


@pytest.mark.slow
@pytest.mark.timeout(2 * WAIT_S)
def test_who_kills_an_evaluation_loses_only_what_was_under_way(resumed: Resumed) -> None:
    report = Report.model_validate_json((resumed.folder / "report.json").read_bytes())

    assert resumed.said.splitlines()[0].startswith("1 of 2 instances were finished before")
    assert list(without_clock(report).instances) == golden("margins-1", "margins-2")


@pytest.mark.slow
@pytest.mark.timeout(2 * WAIT_S)
def test_prompts_and_answers_of_each_instance_are_kept_when_they_are_wanted(resumed: Resumed) -> None:
    for name in ("margins-1", "margins-2"):
        kept = [
            json.loads(line)
            for line in (resumed.folder / "runs" / name / "prompts.ndjson").read_text("utf-8").splitlines()
        ]
        recorded = Cassette(resumed.folder / "samples" / "cassettes" / name).recordings()
        assert {each["purpose"]: each["reply"] for each in kept} == {
            each.purpose: each.reply.text for each in recorded
        }
        assert all("## The windows" in each["messages"][0] for each in kept)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_who_ends_an_evaluation_is_told_how_to_go_on_and_no_process_is_left(tmp_path: Path) -> None:
    tasks = write_samples(tmp_path / "samples")
    command = [sys.executable, "-m", "cogworks", "evaluate", "--tasks", str(tasks), "--only", "margins-1"]
    command += ["--out", str(tmp_path / "report.json")]
    with Started(command, stderr=subprocess.PIPE, text=True) as process:
        worker = wait_for_child(process.pid)

        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=LONG_RUN_ENDS_WITHIN_S)

    assert (process.returncode, "0 of 1 instances are done. Run the same command again" in said) == (
        130,
        True,
    )
    wait_until_gone(worker)
    assert not (tmp_path / "report.json").exists()


def wait_for_child(parent: int) -> int:
    """The process id of the worker that is under way."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = status.read_text().rpartition(")")[2].split()
                words = status.with_name("cmdline").read_bytes()
            except OSError:
                continue
            if fields[1] == str(parent) and b"spawn_main" in words:
                return int(status.parent.name)
        time.sleep(0.05)
    raise AssertionError("no worker began")


def wait_until_gone(process: int) -> None:
    """A worker whose evaluation was killed ends by itself."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state == "Z":
            return
        time.sleep(0.05)
    raise AssertionError(f"process {process} is still there")
