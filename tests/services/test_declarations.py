"""What the manifests of a repository declare, and what of them cannot be read."""

from pathlib import Path

import pytest

from cogworks.services.python.declarations import read_declarations
from tests.services.asking import laid_out


def declared(root: Path) -> list[str]:
    return [
        f"{each.name} {each.requirement} {each.place} {each.group}".strip()
        for each in read_declarations(root).declared
    ]


def unread(root: Path) -> list[str]:
    return [f"{each.artifact}: {each.reason}" for each in read_declarations(root).unread]


def test_a_repository_without_manifest_declares_nothing(tmp_path: Path) -> None:
    declarations = read_declarations(tmp_path)

    assert (declarations.places, declarations.declared, declarations.unread) == ((), (), ())


def test_pyproject_declares_dependencies_extras_groups_and_build_requirements(tmp_path: Path) -> None:
    text = """
[build-system]
requires = ["hatchling>=1"]
[project]
dependencies = ["Foo_Bar>=1; python_version > '3'", "baz[extra]"]
[project.optional-dependencies]
db = ["sqlalchemy"]
[dependency-groups]
test = ["pytest", { include-group = "lint" }]
lint = ["ruff"]
"""
    laid_out(tmp_path, {"pyproject.toml": text})

    assert declared(tmp_path) == [
        "foo-bar Foo_Bar>=1; python_version > '3' pyproject.toml",
        "baz baz[extra] pyproject.toml",
        "sqlalchemy sqlalchemy pyproject.toml db",
        "pytest pytest pyproject.toml test",
        "ruff ruff pyproject.toml lint",
        "hatchling hatchling>=1 pyproject.toml build",
    ]
    assert unread(tmp_path) == []


def test_poetry_s_own_tables_declare_names(tmp_path: Path) -> None:
    text = """
[tool.poetry.dependencies]
python = "^3.11"
httpx = "^0.28"
[tool.poetry.dev-dependencies]
black = "*"
[tool.poetry.group.docs.dependencies]
sphinx = { version = "*", optional = true }
"""
    laid_out(tmp_path, {"pyproject.toml": text})

    assert declared(tmp_path) == [
        "httpx httpx pyproject.toml",
        "black black pyproject.toml dev",
        "sphinx sphinx pyproject.toml docs",
    ]


def test_setup_cfg_and_a_plain_setup_py_are_read(tmp_path: Path) -> None:
    cfg = "[options]\ninstall_requires =\n    foo\n    # not this\n    bar>=2\n[options.extras_require]\ntest = pytest\n"
    py = "from setuptools import setup\nsetup(install_requires=['baz'], extras_require={'db': ['qux']})\n"
    laid_out(tmp_path, {"setup.cfg": cfg, "setup.py": py})

    assert declared(tmp_path) == [
        "foo foo setup.cfg",
        "bar bar>=2 setup.cfg",
        "pytest pytest setup.cfg test",
        "baz baz setup.py",
        "qux qux setup.py db",
    ]


def test_requirements_files_include_one_another_within_the_repository(tmp_path: Path) -> None:
    laid_out(
        tmp_path,
        {
            "requirements.txt": "# all\nfoo==1 --hash=sha256:00\n-r more/base.txt\n-c limits.txt\n-e .\n",
            "more/base.txt": "bar \\\n  >=2\nbaz @ https://example.org/baz.whl\n-r ../requirements.txt\n",
            "requirements-dev.txt": "pytest  # for tests\n",
            "notes.txt": "not this\n",
        },
    )

    assert declared(tmp_path) == [
        "pytest pytest requirements-dev.txt dev",
        "foo foo==1 requirements.txt",
        "bar bar    >=2 more/base.txt",
        "baz baz @ https://example.org/baz.whl more/base.txt",
    ]
    assert unread(tmp_path) == []


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"pyproject.toml": "[project\n"}, "pyproject.toml: it cannot be read: "),
        ({"pyproject.toml": b"\xff"}, "pyproject.toml: it cannot be read: "),
        ({"pyproject.toml": "[project]\ndependencies = 7\n"}, "pyproject.toml: 7 is no list of requirements"),
        ({"pyproject.toml": "[project]\ndependencies = ['foo bar']\n"}, "'foo bar' is no requirement: "),
        ({"pyproject.toml": "[project]\ndynamic = ['dependencies']\n"}, "put together when it is built"),
        ({"setup.py": "setup(install_requires=read())\n"}, "`install_requires` is computed"),
        ({"setup.py": "def f(:\n"}, "setup.py: it cannot be read: "),
        ({"setup.cfg": "no section\n"}, "setup.cfg: it cannot be read: "),
        ({"requirements.txt": "-r ../outside.txt\n"}, "../outside.txt: it is included and no regular file"),
        ({"requirements.txt": "-e git+https://example.org/x\n"}, "names no distribution"),
        ({"Pipfile": ""}, "Pipfile: this service does not read such manifests"),
    ],
    ids=[
        "toml", "bytes", "number", "requirement", "dynamic", "computed", "syntax", "cfg", "outside", "editable", "pipfile",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(files: dict[str, str | bytes], words: str, tmp_path: Path) -> None:
    root = laid_out(tmp_path / "repository", files)
    (tmp_path / "outside.txt").write_text("secret\n")

    (told,) = unread(root)

    assert words in told


def test_a_link_is_no_manifest(tmp_path: Path) -> None:
    root = laid_out(tmp_path / "repository", {"a.py": ""})
    (tmp_path / "outside.toml").write_text("[project]\ndependencies = ['foo']\n")
    (root / "pyproject.toml").symlink_to(tmp_path / "outside.toml")

    assert (declared(root), unread(root)) == (
        [],
        ["pyproject.toml: it is no regular file of the repository"],
    )


def test_setup_py_is_never_run(tmp_path: Path) -> None:
    laid_out(tmp_path, {"setup.py": "raise SystemExit\nsetup(install_requires=['foo'])\n"})

    assert declared(tmp_path) == ["foo foo setup.py"]
