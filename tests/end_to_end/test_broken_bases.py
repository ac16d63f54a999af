"""Bases on which no change could be judged, on a real hub: each ends before any model call, with the remedy."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from cogworks.demo.facts import sample_files
from cogworks.demo.person import TRIGGER
from tests.end_to_end.scene import Ended, Scene, open_scene
from tests.end_to_end.test_baseline import comment_of
from tests.end_to_end.test_example_pipelines import classified
from tests.model_server import ModelServer, replied
from tests.services.package_server import repacked, serving, with_pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),  # seconds on a busy machine; usually a tenth of that
]

CONFIG = ".cogworks/config.toml"
PROJECT = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n'
"""A plain folder: nothing of it is built."""
INIT = "src/hourglass/__init__.py"
UNITS = "tests/test_units.py"
_TESTS = tuple(path for path in sample_files() if path.startswith("tests/"))


class Broken(NamedTuple):
    """What is wrong with a base, what is said of it, and what mends it."""

    files: Mapping[str, str | None]
    said: tuple[str, ...]
    mended: Mapping[str, str | None]
    config: str = ""
    mended_config: str = ""
    packages: tuple[str, ...] = ()
    """Which an index of this test has to have; none: nothing is installed."""


def before(path: str, line: str) -> str:
    """A file of the sample with a line before everything."""
    return f"{line}\n{sample_files()[path]}"


BASES = {
    "generated_file": Broken(
        files={".gitignore": "_version.py\n", INIT: before(INIT, "from hourglass._version import version")},
        said=(
            "cannot be loaded: `ModuleNotFoundError: No module named 'hourglass._version'`",
            f"(at `{INIT}:1`)",
            "`hourglass._version`",
            "base branch",
        ),
        mended={".gitignore": "", "src/hourglass/_version.py": 'version = "1.0"\n'},
    ),
    "missing_package": Broken(
        files={UNITS: before(UNITS, "import named_nowhere")},
        said=(
            f"`{UNITS}` cannot be loaded: `ModuleNotFoundError: No module named 'named_nowhere'` (at `{UNITS}:1`)",
            "the package that brings `named_nowhere`",
        ),
        mended={UNITS: sample_files()[UNITS]},
    ),
    "missing_system_library": Broken(
        files={
            UNITS: before(
                UNITS,
                'raise ImportError("libfoo.so.1: cannot open shared object file: No such file or directory")',
            )
        },
        said=(
            f"`{UNITS}` cannot be loaded: `ImportError: libfoo.so.1: cannot open shared object file",
            "`apt-file search libfoo.so.1`",
        ),
        mended={UNITS: sample_files()[UNITS]},
    ),
    "import_error": Broken(
        files={UNITS: before(UNITS, "from hourglass import not_there")},
        said=(
            f"`{UNITS}` cannot be loaded: `ImportError: cannot import name 'not_there' from 'hourglass'",
            f"(at `{UNITS}:1`)",
            "Mend it on the base branch.",
        ),
        mended={UNITS: sample_files()[UNITS]},
    ),
    "syntax_error": Broken(
        files={UNITS: before(UNITS, "def test_half(:")},
        said=(
            f"`{UNITS}` cannot be loaded: `SyntaxError: invalid syntax` (at `{UNITS}:1`)",
            "Mend it on the base branch.",
        ),
        mended={UNITS: sample_files()[UNITS]},
    ),
    "conftest_syntax_error": Broken(
        files={"tests/conftest.py": "def broken(:\n"},
        said=(
            "`tests` cannot be loaded: `SyntaxError: invalid syntax` (at `tests/conftest.py:1`)",
            "Mend it on the base branch.",
        ),
        mended={"tests/conftest.py": None},
    ),
    "no_tests": Broken(
        files=dict.fromkeys(_TESTS),
        said=(
            "baseline: No test was found",
            '`baseline = "none"`',
            'command: `command = "…"` under `[tests]`',
        ),
        mended={},
        mended_config='[tests]\nbaseline = "none"\n',
    ),
    "suite_that_hangs": Broken(
        files={UNITS: before(UNITS, "import time\n\n\ndef test_hangs():\n    time.sleep(3600)\n\n")},
        said=(
            "baseline: the test suite did not finish in time before anything was changed",
            f"`{UNITS}` did not come to its end within",
            "raise `timeout_s` under `[tests]` in `.cogworks/config.toml`",
        ),
        config="[tests]\ntimeout_s = 15\n",
        mended={UNITS: sample_files()[UNITS]},
        mended_config="[tests]\ntimeout_s = 120\n",
    ),
    "failing_setup": Broken(
        files={},
        config='[environment]\nsetup = ["true", "echo no models here >&2; exit 3"]\n',
        said=(
            "the setup `echo no models here >&2; exit 3` (2 of 2 in `.cogworks/config.toml`) ended with 3. Its last words:",
            "no models here",
            'say `environment = "prepared"`',
        ),
        mended={},
        mended_config='[environment]\nsetup = ["echo made > made.txt"]\n',
        packages=("pip",),
    ),
}


@contextmanager
def item(directory: Path, broken: Broken) -> Iterator[tuple[Scene, ModelServer, str]]:
    """The sample item on a broken base, and its configuration without `[tests]`."""
    with open_scene(directory) as scene, ModelServer() as server:
        usual = scene.file(CONFIG) or ""
        scene.write("pyproject.toml", PROJECT)
        write(scene, {**broken.files, CONFIG: f"{usual}\n{broken.config}"})
        scene.person.set_trigger()
        yield scene, server, usual


def write(scene: Scene, files: Mapping[str, str | None]) -> None:
    for path, text in files.items():
        if scene.file(path) != text:
            scene.write(path, text)


@contextmanager
def index_of(broken: Broken, folder: Path) -> Iterator[dict[str, str]]:
    """Variables that say where the packages are which making the environment takes."""
    if not broken.packages:
        yield {}
        return
    folder.mkdir()
    with_pytest(folder)
    for name in broken.packages:
        repacked(folder, name)
    with serving(folder) as index:
        yield {"PIP_INDEX_URL": index.address}


def step(scene: Scene, server: ModelServer, **environment: str) -> Ended:
    return scene.cogworks(
        "process",
        COGWORKS_LLM_PROVIDER="anthropic",
        COGWORKS_LLM_API_KEY="a-key-of-these-tests",
        COGWORKS_LLM_BASE_URL=server.url,
        **environment,
    )


@pytest.mark.parametrize("name", BASES)
def test_a_broken_base_ends_the_item_before_any_model_call_with_its_remedy(tmp_path: Path, name: str) -> None:
    broken = BASES[name]
    with (
        index_of(broken, tmp_path / "packages") as environment,
        item(tmp_path, broken) as (scene, server, usual),
    ):
        ended = step(scene, server, **environment)

        assert ended.code == 1, ended.err
        assert server.seen == []
        state = scene.state()
        [visit] = state["visits"]
        assert (visit["node"], visit["status"]) == ("intake", "failed")
        assert visit["spend"]["input_tokens"] == visit["spend"]["output_tokens"] == 0
        assert state["base"] is None
        for said in broken.said:
            assert said in visit["summary"]
            assert said in ended.out + ended.err
        assert "remove the trigger label and set it again" in visit["summary"]
        assert visit["summary"].splitlines()[0] in comment_of(scene)
        kept = json.loads(scene.git("show", "cogworks/ledger/1:visits/0001-intake/baseline.json"))
        assert kept["problem"] == visit["summary"]

        write(scene, {**broken.mended, CONFIG: f"{usual}\n{broken.mended_config}"})
        scene.repository.get_issue(1).remove_from_labels(TRIGGER)
        scene.person.set_trigger()
        server.answers(replied(json.dumps(classified())))
        mended = step(scene, server, **environment)

        assert mended.code == 0, mended.err
        assert len(server.seen) == 1
        state = scene.state()
        assert [each["status"] for each in state["visits"]] == ["failed", "succeeded"]
        assert state["base"]["path"] == "visits/0002-intake/baseline.json"
        assert state["run_number"] == 1
        line = state["base"]["line"]
        assert f"  baseline: {line}" in mended.err
        assert f"  baseline: {line}" in scene.cogworks("status").out
        assert scene.cogworks("status", "--json").told["baseline"]["line"] == line
        assert line in scene.cogworks("explain").out
