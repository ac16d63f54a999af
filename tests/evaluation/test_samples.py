"""Are the bundled instances what they say: small libraries that work, with faults that their tests show?"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cogworks.errors import UsageError
from cogworks.evaluation.cases import Case, parse_cases, sample_cases, sample_recordings, sample_repositories
from cogworks.llm.cassette_files import parse_recording
from cogworks.repair.replies import PATCH_REPLIES
from cogworks.wiring.evaluation import write_samples
from tests.codebase.repositories import git
from tests.limits import ENDS_WITHIN_S


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_samples(tmp_path_factory.mktemp("samples") / "new")


def cases(folder: Path) -> list[Case]:
    return [
        case
        for path in sorted(folder.glob("*.json"))
        for case in parse_cases(path.read_text("utf-8"), source=path.name)
    ]


def outcomes(folder: Path) -> dict[str, str]:
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-rA", "--tb=no", "-p", "no:cacheprovider"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=ENDS_WITHIN_S
    )
    return {
        test: outcome for outcome, test in re.findall(r"^(PASSED|FAILED) (\S+)", done.stdout, re.MULTILINE)
    }


def test_there_are_at_least_six_instances_over_three_repositories(folder: Path) -> None:
    found = cases(folder)

    assert len(found) >= 6
    assert len({case.repo for case in found}) >= 3


def test_they_are_written_as_repositories_at_the_commit_of_the_instances(folder: Path) -> None:
    for case in cases(folder):
        head = git(folder / case.repo, "rev-parse", "HEAD")
        assert (case.instance.base_commit, git(folder / case.repo, "status", "--porcelain")) == (head, "")


@pytest.mark.slow
@pytest.mark.parametrize("repo", sorted(sample_repositories()))
def test_a_library_passes_its_own_tests_and_fails_exactly_those_of_its_instances(
    folder: Path, tmp_path: Path, repo: str
) -> None:
    git(tmp_path, "clone", "--quiet", str(folder / repo), "clone")
    before = outcomes(tmp_path / "clone")
    own = [case for case in cases(folder) if case.repo == repo]
    for case in own:
        (tmp_path / "test.patch").write_text(case.instance.test_patch)
        git(tmp_path / "clone", "apply", "-C0", "--unidiff-zero", str(tmp_path / "test.patch"))

    after = outcomes(tmp_path / "clone")

    assert set(before.values()) == {"PASSED"}
    assert {test for test, outcome in after.items() if outcome == "FAILED"} == {
        test for case in own for test in case.instance.failing_tests
    }


@pytest.mark.parametrize("name", [name for name in sample_recordings() if name.endswith(".toml")])
def test_every_recorded_reply_fits_the_type_of_its_question(name: str) -> None:
    recording = parse_recording(sample_recordings()[name], name)

    _, kind, _ = recording.purpose.split("-", 2)
    PATCH_REPLIES[{"diffs": "propose_diffs"}.get(kind, kind)].model_validate_json(recording.reply.text)


@pytest.mark.parametrize("name", [name for name in sample_recordings() if name.endswith(".prompt.md")])
def test_nothing_that_varies_between_runs_is_in_a_prompt(name: str) -> None:
    text = sample_recordings()[name]

    assert re.findall(r"/tmp/\S+|/home/\S+|\b[0-9a-f]{40}\b|\bin \d+\.\d+ ?s\b|0x[0-9a-f]{6,}", text) == []


def test_every_instance_has_recorded_replies() -> None:
    recorded = {name.partition("/")[0] for name in sample_recordings()}

    assert recorded == {name.removesuffix(".json") for name in sample_cases()}


def test_no_instance_holds_its_solution() -> None:
    assert [name for name, case in sample_cases().items() if "patch" in case] == []
    assert all(json.loads(case["FAIL_TO_PASS"]) for case in sample_cases().values())


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")

    with pytest.raises(UsageError, match="is not empty"):
        write_samples(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
