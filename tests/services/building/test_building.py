"""A project is built in isolation, once for what decides it, and its tests run against the copy with what the build made."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.domain_services.messages import Caller, Repository, RepositorySettings, Request, TestReport
from cogworks.services.python.choosing import interpreter_for
from cogworks.services.python.environments import Environments
from cogworks.services.python.machine import Machine
from cogworks.services.python.pythons import Interpreter, NotBuilt
from cogworks.services.python.simulating import simulate
from cogworks.services.python.testrun import run_tests
from cogworks.services.python.wanted import Wanted
from cogworks.wiring.services import repository_settings
from tests.codebase.repositories import git
from tests.services.asking import laid_out
from tests.services.package_server import serving, wheel, with_pytest
from tests.services.pythons import HERE, WITH_UV, WITHOUT_UV

pytestmark = pytest.mark.skipif(not HERE.is_complete, reason="this machine gives no network namespaces")

BACKEND = """
import os
import pathlib
import subprocess
import zipfile

VERSION = "VERSION = {!r}\\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    told = subprocess.run(["git", "describe", "--tags"], capture_output=True, text=True).stdout.strip()
    version = told.lstrip("v").split("-")[0] or "0"
    name = f"shop-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as archive:
        for place in sorted(pathlib.Path("src").rglob("*.py")):
            archive.write(place, place.relative_to("src").as_posix())
        archive.writestr("shop/_version.py", VERSION.format(version))
        about = f"shop-{version}.dist-info"
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\\nName: shop\\nVersion: {version}\\nRequires-Dist: till\\n")
        archive.writestr(f"{about}/entry_points.txt", "[console_scripts]\\nsell = shop.cart:main\\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(f"{about}/RECORD", "")
    print("built once")
    return name
"""
FILES = {
    "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["tools"]\n\n'
    '[project]\nname = "shop"\ndynamic = ["version", "dependencies"]\n',
    "tools/backend.py": BACKEND,
    ".gitignore": "src/shop/_version.py\n",
    "src/shop/__init__.py": "from shop._version import VERSION\n",
    "src/shop/cart.py": "import till\n\n\ndef total(prices):\n    return sum(prices)\n\n\ndef main():\n    print(till.NAME)\n",
    "src/shop/gone.py": "def rest():\n    return 1\n",
    "tests/test_shop.py": "import subprocess\nfrom importlib.metadata import version\n\nimport shop\nfrom shop.cart import total\n\n\n"
    "def test_total():\n    assert total([1, 2]) == 3\n\n\n"
    "def test_the_version_is_told_everywhere():\n    assert shop.VERSION == version('shop') == '1.2'\n\n\n"
    "def test_the_program_is_on_the_path():\n"
    "    assert subprocess.run(['sell'], capture_output=True, text=True).stdout == 'till\\n'\n",
    "tests/test_gone.py": "from shop.gone import rest\n\n\ndef test_rest():\n    assert rest() == 1\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    wheels = tmp_path_factory.mktemp("wheels")
    with_pytest(wheels)
    wheel(wheels, "till", "1.0", {"till.py": "NAME = 'till'\n"})
    with serving(wheels) as server:
        yield server.address


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Environments that these tests share."""
    return tmp_path_factory.mktemp("environments")


class Site:
    """A repository, and the service that runs its tests."""

    def __init__(self, folder: Path, index: str, kept: Path, *, search_path: str = WITH_UV) -> None:
        self.said: list[str] = []
        settings = {"PATH": search_path, "PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": index}
        environments = Environments(kept, settings=settings, say=self.said.append)
        self.machine = Machine(search_path, HERE, environments)
        self.folder = folder

    @classmethod
    def of_this_machine(cls, folder: Path, *, search_path: str = WITH_UV) -> "Site":
        """With the packages of the index that this machine is configured for."""
        names = ("PIP_", "SSL_", "HTTP", "PATH")
        settings = {name: value for name, value in os.environ.items() if name.startswith(names)}
        site = cls(folder / "shop", "", folder / "kept", search_path=search_path)
        environments = Environments(folder / "kept", settings=settings, say=site.said.append)
        site.machine = site.machine._replace(environments=environments)
        return site

    def commit(self, files: dict[str, str], *, tag: str = "") -> str:
        if not (self.folder / ".git").exists():
            self.folder.mkdir(exist_ok=True)
            git(self.folder, "init", "--quiet")
        laid_out(self.folder, files)
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "--message", "a change")
        if tag:
            git(self.folder, "tag", tag)
        return git(self.folder, "rev-parse", "HEAD")

    def interpreter(self, base: str, *, limit_s: float = 200.0, **settings: object) -> Interpreter:
        repository = Repository(
            path=str(self.folder), base=base, settings=RepositorySettings.model_validate(settings)
        )
        request = Request(request_id="1", method="simulate", caller=Caller(), repository=repository)
        return interpreter_for(request, self.folder, self.machine, limit_s=limit_s)

    def run(self, base: str, **settings: object) -> TestReport:
        wanted = Wanted(interpreter=self.interpreter(base, limit_s=200.0, **settings), timeout_s=200.0)
        return run_tests(self.folder, wanted, isolation=HERE, search_path=self.machine.search_path)

    @property
    def times_built(self) -> int:
        return sum(line.startswith("building") for line in self.said)


@pytest.fixture
def site(tmp_path: Path, index: str, kept: Path) -> Site:
    return Site(tmp_path / "shop", index, kept)


def outcomes(report: TestReport) -> dict[str, str]:
    return {case.id.rpartition("::")[2]: case.outcome for case in report.cases}


@pytest.mark.slow
def test_a_version_file_that_the_backend_makes_and_git_ignores_is_there_in_every_run(site: Site) -> None:
    base = site.commit(FILES, tag="v1.2")

    first, second = site.run(base), site.run(base)

    assert first.collection_errors == ()
    assert (
        outcomes(first)
        == outcomes(second)
        == {
            "test_rest": "passed",
            "test_total": "passed",
            "test_the_version_is_told_everywhere": "passed",
            "test_the_program_is_on_the_path": "passed",
        }
    )
    assert site.times_built == 1
    # Nothing of it is in the repository.
    assert git(site.folder, "status", "--porcelain", "--ignored") == ""


def test_what_is_tested_is_the_copy_and_never_what_was_built(site: Site) -> None:
    base = site.commit(FILES, tag="v1.2")
    (site.folder / "src/shop/gone.py").unlink()
    (site.folder / "src/shop/cart.py").write_text("import till\n\n\ndef total(prices):\n    return 0\n")

    report = site.run(base)

    assert [error.split(":")[0] for error in report.collection_errors] == ["tests/test_gone.py"]
    assert outcomes(report)["test_total"] == "failed"
    assert site.times_built <= 1


@pytest.mark.slow
def test_the_service_answers_for_such_a_project_and_sees_what_a_change_deletes(site: Site) -> None:
    base = site.commit(FILES, tag="v1.2")
    request = Request(
        request_id="1",
        method="simulate",
        caller=Caller(),
        repository=Repository(path=str(site.folder), base=base),
        params={"timeout_s": 200.0},
    )

    before = simulate(request, site.folder, site.machine)
    (site.folder / "src/shop/gone.py").unlink()
    after = simulate(request, site.folder, site.machine)

    assert (before.status, TestReport.model_validate(before.result).passed) == ("success", True)
    (error,) = TestReport.model_validate(after.result).collection_errors
    assert "No module named 'shop.gone'" in error


def test_a_change_of_sources_builds_nothing_anew_and_one_of_the_manifest_does(site: Site) -> None:
    base = site.commit(FILES, tag="v1.2")
    first = site.interpreter(base)
    later = site.commit({"src/shop/cart.py": "import till\n\n\ndef total(prices):\n    return sum(prices)\n"})
    second = site.interpreter(later)
    manifest = site.commit({"pyproject.toml": FILES["pyproject.toml"] + '[tool.shop]\nis = "new"\n'})
    third = site.interpreter(manifest)

    assert first.layers == second.layers
    assert third.layers != first.layers


def test_a_repository_may_do_without_the_build(site: Site) -> None:
    base = site.commit(FILES, tag="v1.2")

    report = site.run(base, install="never", packages=("till",))

    assert site.times_built == 0
    assert any("shop._version" in error for error in report.collection_errors)


def test_what_is_configured_reaches_the_build(site: Site) -> None:
    base = site.commit(FILES, tag="v1.2")
    files = {"config.toml": '[environment]\ninstall = "never"\npackages = ["till"]\n'}

    interpreter = site.interpreter(base, **repository_settings(files).model_dump())

    assert (interpreter.layers, site.times_built) == ((), 0)


def test_the_configured_python_is_the_one_or_none(site: Site) -> None:
    base = site.commit(FILES, tag="v1.2")
    settings = repository_settings({"config.toml": '[environment]\npython = "3.99"\n'})

    with pytest.raises(NotBuilt, match=r"the repository wants Python 3\.99, and this machine has"):
        site.interpreter(base, **settings.model_dump())


@pytest.mark.slow
def test_pip_builds_where_there_is_no_uv(tmp_path: Path, index: str) -> None:
    site = Site(tmp_path / "shop", index, tmp_path / "kept", search_path=WITHOUT_UV)

    assert set(outcomes(site.run(site.commit(FILES, tag="v1.2"))).values()) == {"passed"}


def test_a_build_sees_neither_this_machine_nor_a_network(tmp_path: Path, index: str, kept: Path) -> None:
    decoy = tmp_path / "decoy"
    decoy.write_text("secret")
    nosy = f"""
import pathlib, socket

def tried(what):
    try:
        what()
    except OSError as error:
        return type(error).__name__
    return "reached"

TRIED = tried(lambda: pathlib.Path({str(decoy)!r}).read_text()), tried(lambda: socket.create_connection(("192.0.2.1", 80), 2))
VERSION = f"TRIED = {{TRIED!r}}\\nVERSION = {{{{!r}}}}\\n"
"""
    site = Site(tmp_path / "shop", index, kept)
    base = site.commit({**FILES, "tools/backend.py": BACKEND + nosy}, tag="v1.2")

    (layer,) = site.interpreter(base).layers

    told = (layer / "src/shop/_version.py").read_text()
    assert "FileNotFoundError" in told
    assert "reached" not in told


@pytest.mark.parametrize(
    ("backend", "reason"),
    [
        ("raise SystemExit('shop.toml is missing')", "shop.toml is missing"),
        pytest.param(
            "import subprocess\nsubprocess.run(['gcc-that-is-not-there'])",
            "gcc-that-is-not-there",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "print('fatal error: Python.h: No such file or directory')\nraise SystemExit(1)",
            "apt-get install python3-dev",
            marks=pytest.mark.slow,
        ),
        (BACKEND.replace('"shop/_version.py"', '"../escaped.py"'), "which no file may have"),
    ],
    ids=["its own words", "a program", "a header", "a name that leads out"],
)
def test_a_build_that_fails_says_why_and_what_to_do(site: Site, backend: str, reason: str) -> None:
    base = site.commit({**FILES, "tools/backend.py": backend}, tag="v1.2")

    with pytest.raises(NotBuilt) as failed:
        site.interpreter(base)

    assert reason in str(failed.value)
    assert 'install = "never"' in str(failed.value)
    assert (
        not list(site.machine.environments.folder.rglob("escaped.py")) if site.machine.environments else False
    )


@pytest.mark.slow
def test_a_build_that_hangs_ends_at_its_limit(site: Site) -> None:
    base = site.commit({**FILES, "tools/backend.py": "import time\ntime.sleep(600)\n"}, tag="v1.2")

    with pytest.raises(NotBuilt, match="building the project took longer than"):
        site.interpreter(base, limit_s=3.0)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["", "; os._exit(1)"], ids=["goes on", "fails"])
@pytest.mark.parametrize("replaced", ["bin/python", "bin"])
def test_a_package_that_puts_a_link_in_place_of_python_makes_no_environment(
    replaced: str, ending: str, tmp_path: Path, index: str
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "python").write_text("canary")
    target = secret if replaced == "bin" else secret / "python"
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    with_pytest(wheels)
    # Python reads such a file whenever it starts, so that the package acts while it is being installed.
    attack = f"import os, sys; place = os.path.join(sys.prefix, {replaced!r}); "
    attack += f"os.path.islink(os.path.dirname(place)) or (os.rename(place, place + '.old'), os.symlink({str(target)!r}, place)){ending}"
    wheel(wheels, "evil", "1.0", {"evil.pth": f"{attack}\n"})
    with serving(wheels) as server:
        site = Site(tmp_path / "shop", server.address, tmp_path / "kept")
        base = site.commit({"pyproject.toml": ASKS_FOR_EVIL})
        with pytest.raises(NotBuilt, match="a package replaced the Python of its environment"):
            site.interpreter(base)

    assert list((tmp_path / "kept").rglob("python*")) == []


def test_nothing_below_an_environment_is_looked_up_by_a_path_that_packages_could_have_replaced(
    tmp_path: Path,
) -> None:
    place, elsewhere = tmp_path / "environment", tmp_path / "programs"

    found = Interpreter(place / "bin" / "python", place, "", (place / "bin", elsewhere))

    assert [path for path in found.readable if path.is_relative_to(tmp_path)] == [place, elsewhere]


ASKS_FOR_EVIL = '[project]\nname = "shop"\nversion = "1"\ndependencies = ["evil"]\n'

REAL = {
    "hatch-vcs": (
        '[build-system]\nrequires = ["hatchling", "hatch-vcs"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "shop"\ndynamic = ["version"]\n[tool.hatch.version]\nsource = "vcs"\n'
        '[tool.hatch.build.hooks.vcs]\nversion-file = "src/shop/_version.py"\n'
    ),
    "setuptools-scm": (
        '[build-system]\nrequires = ["setuptools>=77", "setuptools-scm>=8"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "shop"\ndynamic = ["version"]\n[tool.setuptools_scm]\nversion_file = "src/shop/_version.py"\n'
    ),
    "pdm": (
        '[build-system]\nrequires = ["pdm-backend"]\nbuild-backend = "pdm.backend"\n'
        '[project]\nname = "shop"\ndynamic = ["version"]\nrequires-python = ">=3.9"\n'
        '[tool.pdm.version]\nsource = "scm"\nwrite_to = "shop/_version.py"\nwrite_template = "version = \'{}\'\\n"\n'
    ),
}
REAL_FILES = {
    ".gitignore": "_version.py\n",
    "src/shop/__init__.py": "from shop._version import version\n",
    "tests/test_shop.py": "from importlib.metadata import version\n\nimport shop\n\n\n"
    "def test_version():\n    assert shop.version == version('shop') == '3.1'\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("backend", sorted(REAL))
def test_real_backends_tell_the_version_by_the_tags(backend: str, tmp_path: Path) -> None:
    site = Site.of_this_machine(tmp_path)
    base = site.commit({**REAL_FILES, "pyproject.toml": REAL[backend]}, tag="v3.1")

    report = site.run(base)

    assert (report.collection_errors, outcomes(report)) == ((), {"test_version": "passed"})


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_compiled_module_is_there_and_built_anew_when_its_source_changes(tmp_path: Path) -> None:
    source = (
        '#include <Python.h>\nstatic struct PyModuleDef m = {PyModuleDef_HEAD_INIT, "fast", 0, -1, 0};\n'
        "PyMODINIT_FUNC PyInit_fast(void) { PyObject *o = PyModule_Create(&m);"
        ' PyModule_AddIntConstant(o, "LEVEL", %d); return o; }\n'
    )
    files = {
        "setup.py": "from setuptools import Extension, setup\n\nsetup(name='shop', version='1', packages=['shop'],"
        " ext_modules=[Extension('shop.fast', ['shop/fast.c'])])\n",
        "shop/__init__.py": "",
        "shop/fast.c": source % 7,
        "test_fast.py": "from shop import fast\n\n\ndef test_level():\n    assert fast.LEVEL == 7\n",
    }
    site = Site.of_this_machine(tmp_path)

    first = site.run(site.commit(files))
    base = site.commit({"README.md": "A shop\n"})
    (site.folder / "shop/fast.c").write_text(source % 8)
    changed = site.run(base)
    (site.folder / "shop/fast.c").write_text(source % 7)
    back = site.run(base)

    assert outcomes(first) == outcomes(back) == {"test_level": "passed"}
    assert outcomes(changed) == {"test_level": "failed"}
    assert (
        subprocess.run(
            ["git", "status", "--porcelain"], cwd=site.folder, capture_output=True, check=True, timeout=60
        ).stdout
        == b""
    )


def version_of(interpreter: Interpreter) -> str:
    """What the build took for the version."""
    (layer,) = interpreter.layers
    return (layer / "src/shop/_version.py").read_text().strip()


@pytest.mark.slow
def test_a_clone_that_borrows_its_objects_tells_the_version(site: Site, tmp_path: Path) -> None:
    base = site.commit({**FILES, "README.md": "Borrowed\n", "setup.cfg": "# borrowed\n"}, tag="v1.4")
    for place, other in (("first", "shop"), ("second", "first")):
        git(tmp_path, "clone", "--quiet", "--shared", str(tmp_path / other), str(tmp_path / place))
    site.folder = tmp_path / "second"

    assert version_of(site.interpreter(base)) == "VERSION = '1.4'"


@pytest.mark.parametrize(
    ("tag", "version"),
    [pytest.param("v1.5", "1.5", id="a tag", marks=pytest.mark.slow), pytest.param("", "0", id="no tag")],
)
def test_a_clone_without_its_history_is_built(site: Site, tmp_path: Path, tag: str, version: str) -> None:
    site.commit({**FILES, "setup.cfg": f"# {tag}\n"}, tag="v1.0")
    base = site.commit({"README.md": "Shallow\n"}, tag=tag)
    url = site.folder.as_uri()
    git(tmp_path, "clone", "--quiet", "--depth=1", url, str(tmp_path / "shallow"))
    site.folder = tmp_path / "shallow"

    assert version_of(site.interpreter(base)) == f"VERSION = '{version}'"
