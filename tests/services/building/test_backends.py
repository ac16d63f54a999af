"""Small projects of each build backend, built for real: their tests run as they do where the project is installed."""

import shutil
from pathlib import Path

import pytest

from scripts.benchmarks.backends import C_EXTENSION, CYTHON, MATURIN, PROJECTS
from tests.services.building.test_building import Site, outcomes
from tests.services.pythons import HERE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not HERE.is_complete, reason="this machine gives no network namespaces"),
]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site.of_this_machine(tmp_path)


@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_is_installed_as_its_backend_does(name: str, site: Site) -> None:
    report = site.run(site.commit(PROJECTS[name], tag="v3.1"))

    assert (report.collection_errors, outcomes(report)) == ((), {"test_shop": "passed"})


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("files", [CYTHON, C_EXTENSION], ids=["Cython", "C"])
def test_what_a_compiler_makes_is_there(files: dict[str, str], site: Site) -> None:
    report = site.run(site.commit(files, tag="v3.1"))

    assert report.collection_errors == ()
    assert outcomes(report) == {"test_shop": "passed", "test_fast": "passed"}


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
def test_a_program_of_rust_is_built_and_built_anew_when_its_source_changes(site: Site) -> None:
    base = site.commit(MATURIN)

    before = site.run(base)
    (site.folder / "src/main.rs").write_text('fn main() { println!("lost"); }\n')
    after = site.run(base)

    assert (before.collection_errors, outcomes(before)) == ((), {"test_shop": "passed"})
    assert outcomes(after) == {"test_shop": "failed"}
