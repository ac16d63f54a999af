"""The wheel, installed where nothing of the checkout can be seen."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.limits import LONG_RUN_ENDS_WITHIN_S

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = """
import json
from importlib import metadata
import cogworks
from cogworks.evaluation.cases import sample_cases, sample_recordings, sample_repositories
from cogworks.llm.budget import shipped_prices
from cogworks.llm.prompts import shipped_prompts, shipped_schemas
files = [str(file) for file in metadata.files("cogworks-pipeline") or ()]
print(json.dumps({
    "place": cogworks.__file__,
    "prompts": sorted(shipped_prompts().stems),
    "schemas": sorted(shipped_schemas()),
    "report": any(file.endswith("cogworks/schemas/evaluation/report.json") for file in files),
    "samples": [len(sample_repositories()), len(sample_cases()), len(sample_recordings()) > 20],
    "is_priced": shipped_prices().price_of("claude-sonnet-5-5").input > 0,
    "licence": [metadata.metadata("cogworks-pipeline")["License-Expression"], any(file.endswith("licenses/LICENSE") for file in files)],
}))
"""


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=kept,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG_RUN_ENDS_WITHIN_S,
    )


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a clean environment with the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("packaging")
    built = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("cogworks_pipeline-*.whl")
    venv.create(folder / "clean", with_pip=False)
    python = folder / "clean" / "bin" / "python"
    installed = run(
        *(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", wheel), cwd=folder
    )
    assert installed.returncode == 0, installed.stderr
    return python.parent


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_wheel_brings_prompts_schemas_prices_samples_and_its_licence(
    programs: Path, tmp_path: Path
) -> None:
    done = run(programs / "python", "-c", QUESTIONS, cwd=tmp_path)

    told = json.loads(done.stdout)
    assert Path(told.pop("place")).is_relative_to(programs.parent)
    stems = sorted(path.name.removesuffix(".md.j2") for path in (ROOT / "prompts").glob("[!_]*.md.j2"))
    assert told == {
        "prompts": stems,
        "schemas": stems,
        "report": True,
        "samples": [3, 6, True],
        "is_priced": True,
        "licence": ["Apache-2.0", True],
    }


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("command", ["fix", "evaluate"])
def test_the_installed_command_says_how_it_is_used(programs: Path, tmp_path: Path, command: str) -> None:
    done = run(programs / "cogworks", command, "--help", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert f"Usage: cogworks {command}" in done.stdout
    assert f"\n    cogworks {command} --" in done.stdout


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_installed_command_writes_the_samples(programs: Path, tmp_path: Path) -> None:
    done = run(programs / "cogworks", "evaluate", "--write-samples", "samples", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "samples").glob("*.json"))) == 6
