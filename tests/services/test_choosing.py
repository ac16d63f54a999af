"""With which Python the code of a repository is run: its own environment, or the service's where that does as well."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from cogworks.domain_services.answers import Answer
from cogworks.domain_services.checking import SimulateParams
from cogworks.domain_services.messages import Caller, ErrorCode, Repository, Request
from cogworks.domain_services.opening import BUNDLED, open_client
from cogworks.domain_services.operations import SIMULATE
from cogworks.domain_services.transport import ServiceFailed
from cogworks.services.python.choosing import interpreter_for
from cogworks.services.python.environments import Environments
from cogworks.services.python.machine import Machine
from cogworks.services.python.pythons import Interpreter, NotBuilt, bare, own, suffices
from cogworks.services.python.testrun import run_tests
from cogworks.services.python.wanted import Wanted
from cogworks.services.sandbox.isolation import NO_ISOLATION, Isolation
from cogworks.vocabulary import Severity
from tests.codebase.repositories import git
from tests.services.package_server import serving, wheel, with_pytest
from tests.services.pythons import HERE, WITH_UV, printed

WANTS = '[project]\nname = "shop"\ndependencies = ["shop-tools=={}"]\n'


class Copy:
    """A working copy that knows where its change started."""

    def __init__(self, path: Path, base: str | None = None) -> None:
        self.path = path
        self._base = base

    def base(self) -> str | None:
        return self._base


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    wheels = tmp_path_factory.mktemp("wheels")
    with_pytest(wheels)
    for version in ("1.0", "2.0"):
        wheel(wheels, "shop_tools", version, {"shop_tools.py": f"VERSION = {version}\n"})
    with serving(wheels) as server:
        yield server.address


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Environments that these tests share."""
    return tmp_path_factory.mktemp("environments")


@pytest.fixture
def machine(index: str, kept: Path) -> Machine:
    settings = {"PATH": WITH_UV, "PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": index}
    return Machine(WITH_UV, HERE, Environments(kept, settings=settings))


def asked(folder: Path, *, base: str | None = None, needs_walls: bool = False) -> Request:
    return Request(
        request_id="1",
        method="simulate",
        caller=Caller(needs_walls=needs_walls),
        repository=Repository(path=str(folder), base=base),
    )


def written(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder


def committed(folder: Path, files: Mapping[str, str]) -> str:
    """The commit that holds these files."""
    git(folder, "init", "--quiet")
    written(folder, files)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "More")
    return git(folder, "rev-parse", "HEAD")


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"pyproject.toml": "[project]\nname = 'a'\n"},
        {"requirements.txt": "pytest>=7\nnothing; python_version < '3'\n"},
    ],
    ids=["no-manifest", "no-dependencies", "only-pytest"],
)
def test_the_service_s_own_python_does_where_nothing_else_is_asked_for(
    files: dict[str, str], machine: Machine, tmp_path: Path
) -> None:
    found = interpreter_for(asked(written(tmp_path, files)), tmp_path, machine, limit_s=100)

    assert found == bare()


def test_without_environments_everything_runs_with_the_service_s_own_python(tmp_path: Path) -> None:
    written(tmp_path, {"pyproject.toml": WANTS.format("1.0")})

    assert interpreter_for(asked(tmp_path), tmp_path, Machine(WITH_UV, HERE), limit_s=100) == own()


@pytest.mark.slow
def test_what_a_change_made_of_the_manifest_counts_for_nothing(machine: Machine, tmp_path: Path) -> None:
    base = committed(tmp_path, {"pyproject.toml": WANTS.format("1.0")})
    committed(tmp_path, {"pyproject.toml": WANTS.format("2.0")})
    written(tmp_path, {"pyproject.toml": WANTS.format("3.0"), "requirements.txt": "nosuch\n"})

    at_base = interpreter_for(asked(tmp_path, base=base), tmp_path, machine, limit_s=100)
    at_head = interpreter_for(asked(tmp_path), tmp_path, machine, limit_s=100)

    version = "import shop_tools; print(shop_tools.VERSION)"
    assert [printed(each, version) for each in (at_base, at_head)] == ["1.0", "2.0"]


def test_a_repository_without_a_commit_asks_for_nothing(machine: Machine, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    written(tmp_path, {"pyproject.toml": WANTS.format("1.0")})

    assert interpreter_for(asked(tmp_path), tmp_path, machine, limit_s=100) == bare()


def test_links_directories_and_other_text_are_no_manifests(machine: Machine, tmp_path: Path) -> None:
    outside = written(tmp_path / "outside", {"requirements.txt": "nosuch\n"})
    folder = written(tmp_path / "repository", {"requirements/base.txt/a": "nosuch\n"})
    (folder / "requirements.txt").symlink_to(outside / "requirements.txt")
    (folder / "setup.cfg").write_bytes(b"\xff\xfe[options]\ninstall_requires = nosuch\n")

    before = interpreter_for(asked(folder), folder, machine, limit_s=100)
    committed(folder, {})
    after = interpreter_for(asked(folder), folder, machine, limit_s=100)

    assert before == after
    assert before.prefix == Path(sys.prefix)
    assert before.notes[0].startswith("setup.cfg cannot be read")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "base", "isolation", "code", "said"),
    [
        (WANTS.format("1.0"), "main", HERE, ErrorCode.INVALID_REQUEST, "want the full name of a commit"),
        (WANTS.format("1.0"), "0" * 40, HERE, ErrorCode.ARTIFACT_NOT_FOUND, "the manifest of the repository cannot be read"),
        (WANTS.format("1.0") + 'requires-python = "<3"\n', None, HERE, ErrorCode.TOOL_NOT_FOUND, "the repository wants Python <3"),
        (WANTS.format("1.0"), None, NO_ISOLATION, ErrorCode.TOOL_NOT_FOUND, "only in complete isolation"),
        (WANTS.format("9"), None, HERE, ErrorCode.TOOL_FAILED, "requirement(s) shop-tools==9 cannot be installed"),
    ],
    ids=["no-commit", "gone", "python", "isolation", "unavailable"],
)  # fmt: skip
def test_where_there_is_no_environment_the_answer_says_why(
    text: str,
    base: str | None,
    *,
    isolation: Isolation,
    code: ErrorCode,
    said: str,
    machine: Machine,
    tmp_path: Path,
) -> None:
    committed(tmp_path, {"pyproject.toml": text})
    request = asked(tmp_path, base=base, needs_walls=True)

    with pytest.raises(NotBuilt) as caught:
        interpreter_for(request, tmp_path, machine._replace(isolation=isolation), limit_s=100)

    assert caught.value.code is code
    assert said in str(caught.value)
    assert not caught.value.is_recoverable


@pytest.mark.parametrize(
    ("requirements", "expected"),
    [((), True), (("pytest",), True), (("PyTest>=8",), True), (("pytest>=99",), False), (("pytest[dev]",), False), (("click",), False)],
)  # fmt: skip
def test_our_own_python_has_pytest_and_promises_nothing_else(
    requirements: tuple[str, ...], expected: bool
) -> None:
    assert suffices(requirements) is expected


@pytest.mark.parametrize(
    ("interpreter", "outcome"), [(bare(), "passed"), (own(), "failed")], ids=["bare", "own"]
)
def test_plugins_beside_the_service_are_loaded_only_where_the_repository_may_count_on_them(
    interpreter: Interpreter, outcome: str, tmp_path: Path
) -> None:
    test = "def test_a(pytestconfig): assert pytestconfig.pluginmanager.list_plugin_distinfo() == []\n"
    written(tmp_path, {"test_a.py": test})

    report = run_tests(tmp_path, Wanted(interpreter=interpreter), isolation=HERE, search_path=WITH_UV)

    assert [case.outcome for case in report.cases] == [outcome]


TESTS = (
    "import os, sys, pytest\n"
    "from importlib.metadata import distributions\n"
    "import shop_tools\n"
    "def test_version(): assert shop_tools.VERSION == 1.0\n"
    "def test_nothing_of_the_service_is_there():\n"
    "    names = {each.name for each in distributions()}\n"
    "    assert names == {'pytest', 'pluggy', 'iniconfig', 'packaging', 'pygments', 'shop_tools'}\n"
    "def test_no_setting_of_the_index_is_there():\n"
    "    assert not [name for name in os.environ if name.startswith(('PIP_', 'UV_'))]\n"
    "def test_the_environment_cannot_be_changed():\n"
    "    with pytest.raises(OSError): open(os.path.join(sys.prefix, 'spoilt'), 'w')\n"
)


@pytest.mark.skipif(
    not HERE.is_complete, reason="without isolation of its own a test can write into the environment"
)
@pytest.mark.slow
def test_the_service_runs_tests_in_the_repository_s_environment(
    index: str, kept: Path, tmp_path: Path
) -> None:
    base = committed(
        tmp_path,
        {"pyproject.toml": WANTS.format("1.0"), "requirements.txt": "-e ./libs/x\n", "test_a.py": TESTS},
    )
    committed(tmp_path, {"pyproject.toml": WANTS.format("9")})
    service = BUNDLED.model_copy(update={"command": (*BUNDLED.command, "--environments", str(kept))})
    environment = {"PATH": WITH_UV, "PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": index}

    with open_client(service, environment=environment) as client:
        told = client.handshake().environments
        answer = client.call(SIMULATE, Copy(tmp_path, base), SimulateParams())
        with pytest.raises(
            ServiceFailed, match=r"requirement\(s\) shop-tools==9 cannot be installed"
        ) as caught:
            client.simulate(Copy(tmp_path))

    assert (
        told
        == f"made by uv (wheels; in complete isolation, also packages built from source) and kept in {kept}"
    )
    assert isinstance(answer, Answer)
    assert answer.result.collection_errors == ()
    assert [(case.id, case.outcome) for case in answer.result.cases] == [
        ("test_a.py::test_version", "passed"),
        ("test_a.py::test_nothing_of_the_service_is_there", "passed"),
        ("test_a.py::test_no_setting_of_the_index_is_there", "passed"),
        ("test_a.py::test_the_environment_cannot_be_changed", "passed"),
    ]
    assert [(each.artifact, each.severity, each.message) for each in answer.diagnostics[-1:]] == [
        (
            "requirements.txt",
            Severity.WARNING,
            "requirements.txt, line 1: '-e ./libs/x' is a project of its own or an address, and is not installed",
        )
    ]
    assert caught.value.code is ErrorCode.TOOL_FAILED
