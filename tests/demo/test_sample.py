"""Is the sample a real library with a real issue, and is its test of acceptance honest?"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cogworks.demo.facts import acceptance_test, sample_files, sample_issue
from cogworks.settings.config import parse_config
from tests.limits import ENDS_WITHIN_S


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "hourglass"
    for path, text in sample_files().items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return folder


def run_pytest(folder: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=ENDS_WITHIN_S
    )
    return done.returncode, done.stdout


def test_the_suite_of_the_sample_passes_and_has_at_least_thirty_tests(checkout: Path) -> None:
    code, output = run_pytest(checkout)

    assert code == 0
    passed = re.search(r"(\d+) passed", output)
    assert passed is not None
    assert int(passed.group(1)) >= 30


@pytest.mark.slow
def test_the_acceptance_test_fails_before_the_work(checkout: Path) -> None:
    (checkout / "acceptance_test.py").write_text(acceptance_test(), encoding="utf-8")

    code, output = run_pytest(checkout, "acceptance_test.py")

    assert code == 1
    assert "test_durations_as_people_write_them[1.5h-expected0]" in output
    assert "has no attribute 'parse_iso'" in output


def test_the_acceptance_test_is_no_part_of_the_repository() -> None:
    assert [path for path in sample_files() if "acceptance" in path] == []


def test_the_sample_uses_nothing_but_the_standard_library() -> None:
    imports = {
        match
        for path, text in sample_files().items()
        if path.startswith("src/")
        for match in re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE)
    }

    assert imports - {"hourglass"} <= sys.stdlib_module_names


def test_the_configuration_of_the_sample_is_valid() -> None:
    config = parse_config(sample_files()[".cogworks/config.toml"])

    assert config.llm.model == "claude-sonnet-5-5"
    assert config.labels.trigger == "cogworks:run"


def test_the_issue_shows_a_wrong_result_and_asks_for_a_feature() -> None:
    issue = sample_issue()

    assert issue.title == "1.5h is parsed as 5 hours, and there is no way to read ISO 8601 durations"
    assert '>>> hourglass.parse("1.5h")' in issue.body
    assert "hourglass.parse_iso(text)" in issue.body


def test_the_transcript_of_the_issue_is_what_the_sample_does(checkout: Path) -> None:
    said = re.findall(r"^>>> (str\(hourglass.*?\)\))(?: +#.*)?\n('.*')$", sample_issue().body, re.MULTILINE)
    script = "import hourglass\n" + "".join(f"print(repr({expression}))\n" for expression, _ in said)

    done = subprocess.run(
        [sys.executable, "-B", "-c", script],
        cwd=checkout,
        env={"PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        check=True,
        timeout=ENDS_WITHIN_S,
    )

    assert len(said) == 5
    assert done.stdout.splitlines() == [result for _, result in said]
