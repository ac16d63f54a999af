"""Bases on which no change could be judged, on a real hub: each ends before any model call, with the remedy."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from cogworks.demo.facts import TRIGGER, sample_files
from cogworks.repair.unloaded import debian_package
from tests.end_to_end.scene import Ended, Scene, open_scene
from tests.end_to_end.test_baseline import comment_of
from tests.end_to_end.test_example_pipelines import classified
from tests.limits import ENDS_WITHIN_S, LONG_RUN_ENDS_WITHIN_S
from tests.model_server import ModelServer, replied
from tests.services.package_server import repacked, serving, wheel, with_pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),  # seconds on a busy machine; usually a tenth of that
]

CONFIG = ".cogworks/config.toml"
PROJECT = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n'
"""A plain folder: nothing of it is built."""
INIT = "src/hourglass/__init__.py"
UNITS = "tests/test_units.py"
LIBRARY = "libhourglass.so.1"
_TESTS = tuple(path for path in sample_files() if path.startswith("tests/"))


class Broken(NamedTuple):
    """What is wrong with a base, what is said of it, and what mends it."""

    files: Mapping[str, str | None]
    said: tuple[str, ...]
    mended: Mapping[str, str | None]
    config: str = ""
    mended_config: str = ""
    packages: tuple[str, ...] = ()
    """Which an index of this test has to have."""
    wheels: tuple[str, ...] = ()
    """Modules that packages of their own bring, on the same index; with neither of both nothing is installed."""
    follows: str = ""
    """A key of `[environment]` whose line in the message is written into the configuration as it is told there."""
    library: str = ""
    """What the machine gets that mends it."""


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
            '`packages = ["named-nowhere"]`',
        ),
        mended={},
        follows="packages",
        wheels=("named_nowhere",),
    ),
    "missing_system_library": Broken(
        files={
            UNITS: before(UNITS, f'import ctypes\n\nctypes.CDLL("{LIBRARY}")'),
        },
        said=(
            f"`{UNITS}` cannot be loaded: `OSError: {LIBRARY}: cannot open shared object file",
            "on the machine that runs cogworks",
            f"`apt-get install {debian_package(LIBRARY)}`",
            f"apt-file search {LIBRARY}`",
        ),
        mended={},
        library=LIBRARY,
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
    "missing_service": Broken(
        files={
            "tests/conftest.py": (
                "import socket\n\nimport pytest\n\n\n@pytest.fixture(autouse=True)\ndef database():\n"
                "    socket.create_connection(('localhost', 5432)).close()\n"
            )
        },
        said=(
            "tests passes before any change, so nothing can show whether a change makes anything worse",
            "wanted PostgreSQL at localhost:5432",
            '`baseline = "allow-failing"`',
        ),
        mended={"tests/conftest.py": None},
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
    if not (broken.packages or broken.wheels):
        yield {}
        return
    folder.mkdir()
    with_pytest(folder)
    for name in broken.packages:
        repacked(folder, name)
    for name in broken.wheels:
        wheel(folder, name, "1.0", {f"{name}.py": ""})
    with serving(folder) as index:
        yield {"PIP_INDEX_URL": index.address}


def step(
    scene: Scene, server: ModelServer, environment: Mapping[str, str], library: Path | None = None
) -> Ended:
    """A step on this machine, or on one that has a library besides."""
    told = {
        "COGWORKS_LLM_PROVIDER": "anthropic",
        "COGWORKS_LLM_API_KEY": "a-key-of-these-tests",
        "COGWORKS_LLM_BASE_URL": server.url,
        **environment,
    }
    if library is None:
        return scene.cogworks("process", **told)
    command = [*_having(library), sys.executable, "-m", "cogworks", "process", scene.issue_url]
    done = subprocess.run(
        command,
        env=scene.environment(**told),
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG_RUN_ENDS_WITHIN_S,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def _having(library: Path) -> list[str]:
    """Begins a command that finds the files of a folder among the system's libraries, and changes nothing for any other."""
    laid = f"mount -t overlay none -o lowerdir={shlex.quote(str(library))}:/usr/lib /usr/lib"
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f'{laid} && exec "$@"', "sh"]


def _installed(name: str, folder: Path) -> Path:
    """A folder with a library of that name, which is another one of this machine."""
    folder.mkdir()
    loaded = [
        line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "libm." in line
    ]
    shutil.copy(loaded[0], folder / name)
    probe = subprocess.run(
        [*_having(folder), "true"], capture_output=True, text=True, check=False, timeout=ENDS_WITHIN_S
    )
    if probe.returncode:
        pytest.skip(f"no folder can be laid over another here: {probe.stderr.strip()}")
    return folder


@pytest.mark.parametrize("name", BASES)
def test_a_broken_base_ends_the_item_before_any_model_call_with_its_remedy(tmp_path: Path, name: str) -> None:
    broken = BASES[name]
    with (
        index_of(broken, tmp_path / "packages") as environment,
        item(tmp_path, broken) as (scene, server, usual),
    ):
        ended = step(scene, server, environment)

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

        config = broken.mended_config
        if broken.follows:
            (line,) = set(re.findall(rf"`({broken.follows} = [^`]+)`", visit["summary"]))
            config = f"[environment]\n{line}\n"
        library = _installed(broken.library, tmp_path / "library") if broken.library else None
        write(scene, {**broken.mended, CONFIG: f"{usual}\n{config}"})
        scene.repository.get_issue(1).remove_from_labels(TRIGGER)
        scene.person.set_trigger()
        server.answers(replied(json.dumps(classified())))
        mended = step(scene, server, environment, library)

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
