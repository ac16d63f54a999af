"""Do the recorded replies answer the prompts of today, and does their work solve the sample issue?"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from cogworks.demo.facts import acceptance_test, cassette_folder
from cogworks.llm.cassette_files import Recording
from cogworks.llm.providers.cassette import Cassette, CassetteProvider
from cogworks.nodes.registry import REPLIES
from tests.codebase.repositories import git
from tests.demo.rehearsal import Done, Rehearsal
from tests.limits import ENDS_WITHIN_S

# Seconds on a busy machine; usually a tenth of that.
pytestmark = pytest.mark.timeout(600)

FOLDER = Path(str(cassette_folder()))
RECORDINGS = Cassette(FOLDER).recordings()
PAGE = Path(__file__).parents[2] / "docs" / "pipelines.md"
ALL = [
    (folder.name, recording)
    for folder in (FOLDER, *sorted({path.parent for path in FOLDER.glob("*/*-1.toml")}))
    for recording in Cassette(folder).recordings()
]
"""Those of every scenario, with the name of their folder."""


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    folder = tmp_path_factory.mktemp("rehearsal")
    with Rehearsal(folder, CassetteProvider(FOLDER, misses=folder / "misses")) as played:
        played.run()
        yield played


def named(done: list[Done]) -> list[str]:
    return [f"{each.node}{f'-{each.sub_item}' if each.sub_item else ''}-{each.ordinal}" for each in done]


@pytest.mark.parametrize(
    "recording", [each for _, each in ALL], ids=[f"{name}-{each.purpose}" for name, each in ALL]
)
def test_every_reply_fits_its_type(recording: Recording) -> None:
    stem = recording.purpose.split("-", 1)[0]
    # The passes of a review have one form.
    stem = "review" if stem.startswith("review_") else stem

    REPLIES[stem].model_validate(json.loads(recording.reply.text)["answer"])


def cost_as_told(recordings: Iterable[Recording], row: str) -> int:
    """Tokens that are not cached, where turns and tokens are those of the first such row of the page; its groups are the cells."""
    usages = [recording.reply.usage for recording in recordings]
    uncached = sum(each.input_tokens + each.cache_creation_input_tokens for each in usages)
    cached = sum(each.cache_read_input_tokens for each in usages)
    found = re.search(row, PAGE.read_text("utf-8"), re.MULTILINE)
    assert found is not None
    turns, *told = (int(cell.replace(" ", "")) for cell in found.groups())

    assert turns == len(usages)
    # A word more in a prompt makes no other page.
    assert told == [pytest.approx(uncached, rel=0.05), pytest.approx(cached, rel=0.05)]
    return uncached


def test_the_whole_way_costs_what_the_page_of_pipelines_says() -> None:
    row = r"^\| `default` \| a feature .*? \| (\d+) \| ([\d ]+) \(at most that\) \| ([\d ]+) \|"

    assert cost_as_told(RECORDINGS, row) <= 100_000


def test_a_division_costs_what_the_page_of_pipelines_says() -> None:
    row = r"^\| `large` \| an issue in four .*? \| (\d+) \| ([\d ]+) \| ([\d ]+) \|"

    assert cost_as_told(Cassette(FOLDER / "large").recordings(), row) > 0


def test_every_reply_can_be_read_in_its_file() -> None:
    as_text = [
        path.name for path in FOLDER.rglob("*.toml") if "reply" not in tomllib.loads(path.read_text("utf-8"))
    ]

    assert as_text == []


@pytest.mark.slow
def test_the_sample_is_solved_with_one_retry_and_one_rework(rehearsal: Rehearsal) -> None:
    assert named(rehearsal.done) == [
        "intake-1",
        "architecture-1",
        "interface_design-1",
        "planning-1",
        "code_generation-A-1",
        "review-A-1",
        "integration-A-1",
        "code_generation-B-1",
        "review-B-1",
        "code_generation-B-2",
        "review-B-2",
        "integration-B-1",
    ]
    attempts = [each.outcome.output["attempts"] for each in rehearsal.done if each.node == "code_generation"]
    assert attempts == [2, 1, 1]
    verdicts = [each.outcome.output["passed"] for each in rehearsal.done if each.node == "review"]
    assert verdicts == [True, False, True]
    handed = [
        each.outcome.output["test_handoff"] for each in rehearsal.done if each.node == "code_generation"
    ]
    assert [(handoff["test_path"], handoff["source"], handoff["attempt"]) for handoff in handed] == [
        ("tests/test_scanning.py", "reported", 1),
        ("tests/test_iso8601.py", "reported", 1),
        ("tests/test_iso8601.py", "reported", 1),
    ]


@pytest.mark.slow
def test_the_acceptance_test_passes_on_the_last_branch(rehearsal: Rehearsal, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--branch", "cogworks/1/swi-2", str(rehearsal.repository), "result")
    (tmp_path / "result" / "acceptance_test.py").write_text(acceptance_test(), encoding="utf-8")

    for arguments in (["acceptance_test.py"], []):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
            cwd=tmp_path / "result",
            capture_output=True,
            text=True,
            check=False,
            timeout=ENDS_WITHIN_S,
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_no_recording_is_left_over(rehearsal: Rehearsal) -> None:
    visits = [each.node for each in rehearsal.done]
    # Integration asks nobody, review asks three times, every coding visit asks for tests first; one attempt fails.
    asked = len(visits) - visits.count("integration") + 2 * visits.count("review")
    asked += visits.count("code_generation") + 1

    assert len(RECORDINGS) == asked == 20


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.prompt.md")), ids=lambda page: page.name)
def test_nothing_that_varies_between_runs_is_in_a_prompt(page: Path) -> None:
    text = page.read_text("utf-8")

    assert re.findall(r"/tmp/\S+|/home/\S+|\b[0-9a-f]{40}\b|\bin \d+\.\d+ ?s\b|0x[0-9a-f]{6,}", text) == []
    assert re.findall(r"\b20\d\d-\d\d-\d\d\b", text) == []
    assert set(re.findall(r"(?<![\w#])#(\d+)\b", text)) <= {"1"}
