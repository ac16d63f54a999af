"""Whether a repository declares how it is built, and when a build has to be made anew."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.services.python.building.project import Project, inputs_key, project_of

SYSTEM = '[build-system]\nrequires = ["hatchling", "hatch-vcs>=0.4"]\nbuild-backend = "hatchling.build"\n'


def test_the_declared_backend_and_what_it_needs_are_read() -> None:
    found = project_of({"pyproject.toml": SYSTEM})

    assert found == Project(backend="hatchling.build", requires=("hatchling", "hatch-vcs>=0.4"))


@pytest.mark.parametrize(
    ("files", "backend"),
    [
        ({"setup.py": "from setuptools import setup\nsetup()\n"}, "setuptools.build_meta"),
        ({"pyproject.toml": '[build-system]\nrequires = ["setuptools"]\n'}, "setuptools.build_meta"),
        ({"pyproject.toml": "[tool.black]\n", "setup.py": "setup()\n"}, "setuptools.build_meta"),
    ],
    ids=["setup.py alone", "no backend named", "settings of a tool beside setup.py"],
)
def test_without_a_named_backend_setuptools_builds(files: dict[str, str], backend: str) -> None:
    found = project_of(files)

    assert found is not None
    assert found.backend == backend


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[project]\nname = 'scripts'\ndependencies = []\n",
        "[tool.pytest.ini_options]\n",
        f"{SYSTEM}[tool.poetry]\npackage-mode = false\n",
        f"{SYSTEM}[tool.uv]\npackage = false\n",
        "not [ toml",
    ],
    ids=["nothing", "dependencies alone", "settings alone", "poetry says no", "uv says no", "broken"],
)
def test_what_declares_no_build_is_not_built(text: str) -> None:
    assert project_of({"pyproject.toml": text}) is None


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    project_of({"pyproject.toml": text})


@pytest.mark.parametrize(
    ("requirement", "looks"),
    [
        ("hatch-vcs", True),
        ("setuptools_scm[toml]>=8", True),
        ("versioneer", True),
        ("setuptools", False),
        ("not !", False),
    ],
)
def test_a_version_from_history_is_known_by_what_builds_it(requirement: str, looks: bool) -> None:
    assert Project(backend="b", requires=(requirement,)).looks_at_history is looks


BLOBS = {
    "pyproject.toml": "1", "src/shop/__init__.py": "2", "src/shop/cart.py": "3", "src/shop/fast.c": "4", "README.md": "5",
    "tests/test_cart.py": "6", "docs/conf.toml": "7", "build_helper.py": "8", "tools/backend.py": "9",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "is_new"),
    [
        ({"pyproject.toml": "x"}, True),
        ({"src/shop/__init__.py": "x"}, True),
        ({"src/shop/fast.c": "x"}, True),
        ({"src/shop/more.py": "8"}, True),
        ({"build_helper.py": "x"}, True),
        ({"tools/backend.py": "x"}, True),
        ({"src/shop/cart.py": "x"}, False),
        ({"README.md": "x"}, False),
        ({"tests/test_cart.py": "x"}, False),
        ({"docs/conf.toml": "x"}, False),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_build_is_made_anew_when_what_decides_it_changes_and_not_for_sources(
    change: dict[str, str], is_new: bool
) -> None:
    project = Project(backend="b", backend_path=("tools",))

    before, after = (inputs_key(project, blobs, "v1") for blobs in (BLOBS, {**BLOBS, **change}))

    assert (before != after) is is_new
    assert inputs_key(project, BLOBS, "v2") != before
