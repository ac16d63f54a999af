"""`docs/evaluate.md` is followed to the letter: its commands in their order, without a network and without a key."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cogworks.evaluation.report import Report
from tests.codebase.repositories import git
from tests.evaluation.golden import FOLDER, golden_texts
from tests.limits import LONG_RUN_ENDS_WITHIN_S

PAGE = Path(__file__).parents[1] / "docs" / "evaluate.md"
SVG = "{http://www.w3.org/2000/svg}"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(3_000)]


def commands() -> str:
    blocks = re.findall(r"^( *)```sh\n(.*?)^\1```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return "\n".join(textwrap.dedent(text) for _, text in blocks)


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the page was followed."""
    folder = tmp_path_factory.mktemp("page")
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder / "home"),
        "COGWORKS_WORK_DIR": str(folder / "work"),
        # Whoever asked a model would have to get past this.
        "https_proxy": "http://127.0.0.1:9",
    }
    (folder / "home").mkdir()
    done = subprocess.run(
        ["sh", "-eux"],
        input=commands(),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG_RUN_ENDS_WITHIN_S,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    (folder / "said.txt").write_text(done.stdout, encoding="utf-8")
    return folder


def report(folder: Path) -> Report:
    return Report.model_validate_json((folder / "report.json").read_bytes())


def test_the_page_has_the_commands_it_is_about() -> None:
    found = commands().splitlines()

    assert [line.split(" --")[0] for line in found if line.startswith("cogworks")] == [
        "cogworks evaluate",
        "cogworks evaluate",
        "cogworks fix",
    ]


@pytest.mark.parametrize("name", ["report.json", "table.txt"])
def test_what_comes_of_the_samples_is_what_is_on_record(followed: Path, name: str) -> None:
    found = golden_texts(report(followed))[name]

    assert found == (FOLDER / name).read_text("utf-8"), "run scripts/record-samples, and look at what changed"


def test_most_instances_are_solved_and_one_is_honestly_not(followed: Path) -> None:
    found = report(followed)

    assert {each.instance_id for each in found.instances if each.outcome != "solved"} == {"slots-2"}
    (failed,) = [each for each in found.instances if each.outcome == "not_solved"]
    assert failed.reason.startswith("0 diffs tried, 0 failed, 16 refused")
    assert (found.totals.regressions, found.is_met) == (0, True)
    assert all(each.duration_s > 0 for each in found.instances)


def test_every_solved_patch_makes_the_tests_of_its_instance_pass_outside_of_cogworks(
    followed: Path, tmp_path: Path
) -> None:
    lines = (followed / "predictions.jsonl").read_text("utf-8").splitlines()
    patches = {told["instance_id"]: told["model_patch"] for told in map(json.loads, lines)}

    for name, patch in patches.items():
        instance = json.loads((followed / "samples" / f"{name}.json").read_text("utf-8"))
        git(tmp_path, "clone", "--quiet", str(followed / "samples" / instance["repo"]), name)
        (tmp_path / "both.patch").write_text(instance["test_patch"] + patch)
        git(tmp_path / name, "apply", str(tmp_path / "both.patch"))
        targets = json.loads(instance["FAIL_TO_PASS"]) + json.loads(instance["PASS_TO_PASS"])
        command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *targets]
        done = subprocess.run(
            command,
            cwd=tmp_path / name,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONG_RUN_ENDS_WITHIN_S,
        )
        assert (done.returncode == 0) == bool(patch), f"{name}\n{done.stdout}"
    assert sorted(name for name, patch in patches.items() if not patch) == ["slots-2"]


def test_the_picture_shows_every_instance(followed: Path) -> None:
    root = ElementTree.fromstring((followed / "report.svg").read_text("utf-8"))

    texts = {text.text for text in root.iter(f"{SVG}text")}
    assert {each.instance_id for each in report(followed).instances} < texts


def test_one_repair_leaves_its_proof_and_its_logs(followed: Path) -> None:
    said = (followed / "said.txt").read_text("utf-8")

    assert "**Proven**: 1 test(s) failed before and pass now" in said
    assert (followed / "patch.diff").read_text() == next(
        each.patch for each in report(followed).instances if each.instance_id == "margins-2"
    )


def test_diffs_and_what_the_gates_found_are_kept_for_each_instance(followed: Path) -> None:
    folder = followed / "report.runs" / "slots-1"

    tried = json.loads((folder / "transactions.json").read_text("utf-8"))
    assert [each["result"]["code"] for each in tried] == ["gate_regression", "kept"]
    assert "test_the_same_appointment_twice_is_refused" in " ".join(tried[0]["result"]["reasons"])
    diffs = json.loads((folder / "candidates.json").read_text("utf-8"))["diffs"]
    assert sorted("slots/interval.py" in each["diff"] for each in diffs) == [True, True]
    events = [json.loads(line) for line in (folder / "events.ndjson").read_text("utf-8").splitlines()]
    gates = [event["data"] for event in events if event["kind"] == "txn.gate"]
    assert {gate["gate"] for gate in gates} >= {"static", "landmark", "regression"}
