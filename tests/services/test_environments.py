"""Environments of repositories: made once, in isolation, from a real index, by the real pip and the real uv."""

import os
import socket
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.domain_services.messages import ErrorCode
from cogworks.services.python.environments import Environments
from cogworks.services.python.keeping import SOURCES
from cogworks.services.python.pythons import Interpreter, NotBuilt
from cogworks.services.python.recipe.result import Recipe
from cogworks.services.sandbox.isolation import NO_ISOLATION, Isolation
from tests.limits import ENDS_WITHIN_S, Started
from tests.services.package_server import PackageServer, serving, wheel
from tests.services.pythons import HERE, WITH_UV, WITHOUT_UV, printed

INSTALLERS = pytest.mark.parametrize(
    "search_path",
    [pytest.param(WITHOUT_UV, marks=pytest.mark.slow, id="pip"), pytest.param(WITH_UV, id="uv")],
)
PASSWORD = "s3cret-of-the-index"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    wheel(folder, "shop_tools", "1.0", {"shop_tools.py": "VERSION = 1\n"})
    wheel(folder, "shop_tools", "2.0", {"shop_tools.py": "VERSION = 2\n"})
    wheel(folder, "till", "1.0", {"till.py": "import shop_tools\n"}, requires=("shop-tools<2",))
    wheel(folder, "pytest", "8.99", {"pytest.py": ""})
    return folder


@pytest.fixture
def index(wheels: Path) -> Iterator[PackageServer]:
    with serving(wheels, credentials=f"me:{PASSWORD}") as server:
        yield server


class Made:
    """Environments of one directory, and what was said while they were made."""

    def __init__(
        self, folder: Path, index: str, *, may_build: bool = False, settings: dict[str, str] | None = None
    ) -> None:
        self.said: list[str] = []
        configured = {
            "PATH": WITHOUT_UV,
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": index,
            **(settings or {}),
        }
        self._environments = Environments(
            folder, settings=configured, may_build=may_build, say=self.said.append
        )

    def of(
        self,
        *requirements: str,
        search_path: str = WITH_UV,
        isolation: Isolation = HERE,
        limit_s: float = 100.0,
        locked: tuple[str, ...] = (),
        wished: tuple[str, ...] = (),
    ) -> Interpreter:
        recipe = Recipe(requirements=(*requirements, *wished), locked=locked, wished=wished)
        return self._environments.interpreter(
            recipe, isolation=isolation, search_path=search_path, limit_s=limit_s
        )

    @property
    def times_made(self) -> int:
        return sum(line.startswith("making") for line in self.said)


@INSTALLERS
def test_an_environment_has_what_the_manifest_asks_for_and_is_kept(
    search_path: str, index: PackageServer, tmp_path: Path
) -> None:
    made = Made(tmp_path, index.address)

    first = made.of("till", search_path=search_path)
    index.status = 500
    again = Made(tmp_path, index.address).of("till", search_path=search_path)

    assert printed(first, "import shop_tools, pytest; print(shop_tools.VERSION)") == "1"
    assert again == first
    assert made.times_made == 1
    assert first.prefix.is_relative_to(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("others", "instead"), [(WITHOUT_UV, "pip"), (WITH_UV, "another uv")], ids=["pip", "uv"]
)
def test_a_version_manager_s_stand_in_for_uv_that_does_not_run_is_passed_over_and_named(
    others: str, instead: str, index: PackageServer, tmp_path: Path
) -> None:
    shim = tmp_path / "shims" / "uv"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\necho 'mise: no version is set for uv' >&2\nexit 1\n")
    shim.chmod(0o755)
    made = Made(tmp_path / "kept", index.address)

    found = made.of("till", search_path=f"{shim.parent}{os.pathsep}{others}")

    said = f"{shim} cannot be used (it ends with 1: mise: no version is set for uv), so {instead} is used."
    assert printed(found, "import shop_tools; print(shop_tools.VERSION)") == "1"
    assert found.notes[0].startswith(said)
    assert made.said[0] == found.notes[0]


@pytest.mark.slow
@INSTALLERS
@pytest.mark.parametrize(
    ("locked", "told"),
    [
        pytest.param(
            ("till==1.0", "shop-tools==1.5"), "shop-tools==1.5", marks=pytest.mark.slow, id="not-there"
        ),
        pytest.param(("shop-tools==1.5", "pytest==8.98"), "pytest==8.98", marks=pytest.mark.slow, id="two"),
        pytest.param(("till==1.0", "shop-tools==2.0"), "shop-tools==2.0", id="excluded"),
        pytest.param(("shop-tools==1.0",), "", id="kept"),
    ],
)
def test_a_locked_version_that_cannot_be_had_gives_way_and_is_named(
    locked: tuple[str, ...], told: str, search_path: str, index: PackageServer, tmp_path: Path
) -> None:
    made = Made(tmp_path, index.address)

    found = made.of("till", search_path=search_path, locked=locked)
    again = made.of("till", search_path=search_path, locked=locked)

    assert printed(found, "import shop_tools; print(shop_tools.VERSION)") == "1"
    assert told in " ".join(found.notes)
    assert bool(found.notes) == bool(told)
    assert again.notes == found.notes


@pytest.mark.slow
def test_a_python_that_obeys_no_variable_of_python_finds_the_sources_as_well(
    index: PackageServer, tmp_path: Path
) -> None:
    found = Made(tmp_path / "kept", index.address).of("till")
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "cart.py").write_text("PRICE = 3\n")

    done = subprocess.run(
        [found.python, "-I", "-W", "error", "-c", "import cart; print(cart.PRICE)"],
        env={SOURCES: f"{tmp_path / 'sources'}{os.pathsep}{tmp_path / 'gone'}"},
        capture_output=True,
        check=True,
        text=True,
        timeout=ENDS_WITHIN_S,
    )

    assert done.stdout == "3\n"


@pytest.mark.slow
def test_what_is_only_wished_is_left_out_where_it_cannot_be_had(index: PackageServer, tmp_path: Path) -> None:
    made = Made(tmp_path, index.address)

    found = made.of("till", wished=("nowhere-to-be-had>=3",))

    assert printed(found, "import shop_tools; print(shop_tools.VERSION)") == "1"
    assert "not to be had: nowhere-to-be-had>=3; trying without" in made.said


@pytest.mark.slow
@INSTALLERS
def test_the_index_s_credentials_are_used_and_stay_outside(
    search_path: str, index: PackageServer, tmp_path: Path
) -> None:
    Made(tmp_path, index.address).of("till", search_path=search_path)

    assert {credentials for _, credentials in index.requests} == {f"me:{PASSWORD}"}
    kept = [place.read_bytes() for place in tmp_path.rglob("*") if place.is_file() and not place.is_symlink()]
    assert kept
    assert not any(PASSWORD.encode() in content for content in kept)


@INSTALLERS
def test_what_cannot_be_had_is_named_with_a_remedy_and_leaves_nothing(
    search_path: str, index: PackageServer, tmp_path: Path
) -> None:
    with pytest.raises(NotBuilt) as caught:
        Made(tmp_path, index.address).of("till", "nosuch>=3", search_path=search_path)

    assert str(caught.value).startswith("requirement(s) nosuch>=3 cannot be installed: ")
    assert "Correct the manifest on the base branch." in str(caught.value)
    assert (caught.value.code, caught.value.is_recoverable) == (ErrorCode.TOOL_FAILED, False)
    assert not list(tmp_path.glob("*/made-*"))


@pytest.mark.slow
@INSTALLERS
def test_requirements_that_exclude_each_other_are_both_named(
    search_path: str, index: PackageServer, tmp_path: Path
) -> None:
    with pytest.raises(NotBuilt, match=r"^requirement\(s\) shop-tools==2.0, till cannot be installed"):
        Made(tmp_path, index.address).of("shop-tools==2.0", "till", search_path=search_path)


@INSTALLERS
def test_an_index_that_is_down_may_be_up_later(
    search_path: str, index: PackageServer, tmp_path: Path
) -> None:
    index.status = 503

    with pytest.raises(NotBuilt) as caught:
        Made(tmp_path, index.address).of("till", search_path=search_path)

    assert caught.value.is_recoverable
    assert "the package index could not be used: http://127.0.0.1:" in str(caught.value)
    assert "it answers 503" in str(caught.value)
    assert PASSWORD not in str(caught.value)


def test_an_index_that_refuses_the_credentials_is_named(wheels: Path, tmp_path: Path) -> None:
    with serving(wheels, credentials="me:other") as server:
        address = server.address.replace("other", PASSWORD)
        with pytest.raises(NotBuilt, match="it answers 401"):
            Made(tmp_path, address).of("till")


def test_an_index_may_be_a_directory(tmp_path: Path) -> None:
    page = tmp_path / "index" / "shop-tools"
    page.mkdir(parents=True)
    file = wheel(page, "shop_tools", "3.0", {"shop_tools.py": "VERSION = 3\n"})
    (page / "index.html").write_text(f'<a href="{file.name}">{file.name}</a>')
    links = tmp_path / "links"
    links.mkdir()
    wheel(links, "pytest", "8.99", {"pytest.py": ""})
    settings = {"PIP_FIND_LINKS": str(links)}

    made = Made(tmp_path / "environments", (tmp_path / "index").as_uri(), settings=settings)

    assert printed(made.of("shop-tools"), "import shop_tools; print(shop_tools.VERSION)") == "3"


@pytest.mark.slow
def test_what_was_not_made_to_its_end_is_made_again(index: PackageServer, tmp_path: Path) -> None:
    first = Made(tmp_path, index.address).of("shop-tools")
    place = first.prefix.parent.parent
    (place / "ready.json").unlink()
    (first.prefix / "half").touch()
    again = Made(tmp_path, index.address)

    second = again.of("shop-tools")

    assert again.times_made == 1
    assert second.prefix != first.prefix
    assert not first.prefix.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "mark",
    [
        pytest.param("[]", id="shape", marks=pytest.mark.slow),
        pytest.param('{"environment": "gone"}', id="gone"),
    ],
)
def test_a_broken_mark_is_no_mark(mark: str, index: PackageServer, tmp_path: Path) -> None:
    first = Made(tmp_path, index.address).of("shop-tools==1.0")
    (first.prefix.parent.parent / "ready.json").write_text(mark)
    again = Made(tmp_path, index.address)

    again.of("shop-tools==1.0")

    assert again.times_made == 1


@pytest.mark.slow
def test_two_services_make_it_once(index: PackageServer, tmp_path: Path) -> None:
    both = [Made(tmp_path, index.address) for _ in range(2)]
    found: list[Interpreter] = []
    threads = [
        threading.Thread(target=lambda each=each: found.append(each.of("shop-tools"))) for each in both
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=ENDS_WITHIN_S)

    assert found[0] == found[1]
    assert sum(each.times_made for each in both) == 1


@pytest.mark.slow
def test_a_service_that_takes_too_long_is_named(index: PackageServer, tmp_path: Path) -> None:
    made = Made(tmp_path, index.address)
    place = made.of("shop-tools").prefix.parent.parent
    (place / "ready.json").unlink()
    starter = (
        "import sys; from pathlib import Path; from cogworks.codebase.places import Places; "
        "p = Path(sys.argv[1]); print(Places(p.parent).hold(p), flush=True); sys.stdin.read()"
    )
    with Started[bytes](
        [sys.executable, "-c", starter, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"True\n"

        with pytest.raises(NotBuilt, match="another service has been making the environment") as caught:
            made.of("shop-tools", limit_s=0.5)

        other.communicate(timeout=ENDS_WITHIN_S)
    assert caught.value.is_recoverable


@pytest.mark.slow
def test_an_installation_over_its_time_is_ended(index: PackageServer, tmp_path: Path) -> None:
    with index.silent(), pytest.raises(NotBuilt) as caught:
        Made(tmp_path, index.address).of("shop-tools", limit_s=0.01)

    assert caught.value.code is ErrorCode.TIMEOUT


@pytest.mark.slow
def test_what_nobody_used_for_a_month_goes(index: PackageServer, tmp_path: Path) -> None:
    made = Made(tmp_path, index.address)
    unused, used = (made.of(f"shop-tools=={version}") for version in ("1.0", "2.0"))
    for each, age_s in ((unused, 31 * 86_400), (used, 29 * 86_400)):
        ready = each.prefix.parent.parent / "ready.json"
        os.utime(ready, (ready.stat().st_mtime - age_s,) * 2)

    made.of("till")

    assert not unused.prefix.exists()
    assert used.prefix.exists()


BACKEND = """
import socket, zipfile
def build_wheel(directory, settings=None, metadata=None):
    def can(attempt):
        try:
            attempt()
        except OSError:
            return False
        return True
    tried = [can(lambda: open(DECOY).close()), can(lambda: socket.create_connection(ADDRESS, 2).close())]
    name = "nosy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{directory}/{name}", "w") as archive:
        archive.writestr("nosy.py", f"TRIED = {tried}")
        archive.writestr("nosy-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: nosy\\nVersion: 1.0\\n")
        archive.writestr("nosy-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr("nosy-1.0.dist-info/RECORD", "")
    return name
"""


def source(folder: Path, backend: str) -> None:
    """A package that comes only as source, and brings the program that builds it."""
    root = folder / "nosy-1.0"
    root.mkdir()
    (root / "backend.py").write_text(backend)
    (root / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: nosy\nVersion: 1.0\n")
    (root / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    with tarfile.open(folder / "nosy-1.0.tar.gz", "w:gz") as archive:
        archive.add(root, "nosy-1.0")


@pytest.mark.slow
@INSTALLERS
@pytest.mark.skipif(not HERE.is_complete, reason="this machine gives no network namespaces")
def test_what_is_built_from_source_reaches_the_index_and_nothing_else(
    search_path: str, tmp_path: Path
) -> None:
    links, decoy = tmp_path / "links", tmp_path / "decoy"
    links.mkdir()
    decoy.touch()
    wheel(links, "pytest", "8.99", {"pytest.py": ""})
    with socket.create_server(("127.0.0.1", 0)) as listener:
        places = f"DECOY, ADDRESS = {str(decoy)!r}, {listener.getsockname()!r}\n"
        source(links, places + BACKEND)
        settings = {"PIP_FIND_LINKS": str(links)}
        index = (tmp_path / "empty").as_uri()
        with pytest.raises(
            NotBuilt, match="is built in complete isolation, which this machine does not have"
        ):
            Made(tmp_path / "wheels", index, settings=settings).of(
                "nosy", search_path=search_path, isolation=NO_ISOLATION
            )

        made = Made(tmp_path / "built", index, settings=settings)
        nosy = made.of("nosy", search_path=search_path)

    assert printed(nosy, "import nosy; print(nosy.TRIED)") == "[False, False]"


@pytest.mark.slow
@INSTALLERS
@pytest.mark.skipif(not HERE.is_complete, reason="this machine gives no network namespaces")
def test_a_package_that_cannot_be_compiled_is_told_with_what_the_machine_lacks(
    search_path: str, tmp_path: Path
) -> None:
    links = tmp_path / "links"
    links.mkdir()
    wheel(links, "pytest", "8.99", {"pytest.py": ""})
    source(links, "raise SystemExit('fatal error: libpq-fe.h: No such file or directory')\n")
    made = Made(tmp_path / "kept", (tmp_path / "empty").as_uri(), settings={"PIP_FIND_LINKS": str(links)})

    with pytest.raises(NotBuilt, match="apt-get install libpq-dev") as failed:
        made.of("nosy", search_path=search_path)

    assert "nosy" in str(failed.value)


@pytest.mark.parametrize(
    "isolation", [NO_ISOLATION, HERE._replace(engine="none", program="")], ids=["no-walls", "kernel-only"]
)
def test_without_a_network_of_its_own_the_installer_gets_ours_and_that_is_said(
    isolation: Isolation, index: PackageServer, tmp_path: Path
) -> None:
    made = Made(tmp_path, index.address).of("shop-tools", isolation=isolation)

    assert printed(made, "import shop_tools; print(shop_tools.VERSION)") == "2"
    assert made.unprotected == ("reach the network while packages are installed",)


def test_whoever_asks_is_told_what_makes_environments_and_where(tmp_path: Path) -> None:
    environments = Environments(tmp_path, settings={})

    assert (
        environments.described(WITHOUT_UV)
        == f"made by pip (wheels; in complete isolation, also packages built from source) and kept in {tmp_path}"
    )
    assert (
        environments.described(WITH_UV)
        == f"made by uv (wheels; in complete isolation, also packages built from source) and kept in {tmp_path}"
    )
