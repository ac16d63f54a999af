"""`validate_deps`: what is imported is declared, and what is declared fits together."""

from pathlib import Path

import pytest

from tests.services.asking import ask, laid_out, lines

PYPROJECT = "[project]\nname = 'shop'\ndependencies = [{}]\n[dependency-groups]\ntest = ['pytest']\n"


def stands(response: object) -> dict[str, str]:
    return {each["name"]: each["status"] for each in response.result["dependencies"]}  # type: ignore[attr-defined]  # a Response


@pytest.mark.slow
def test_what_is_declared_and_used_is_satisfied_and_the_rest_is_named(tmp_path: Path) -> None:
    laid_out(
        tmp_path,
        {
            "pyproject.toml": PYPROJECT.format("'PyYAML>=6', 'httpx'"),
            "src/shop/__init__.py": "import yaml\nfrom shop import cart\nimport os\n",
            "src/shop/cart.py": "import requests\n\n\ndef f():\n    import requests.sessions\n",
            "tests/test_cart.py": "import pytest\nimport respx\n",
        },
    )

    response = ask("validate_deps", tmp_path)

    assert response.status == "failure"
    assert response.result["dependencies"] == [
        {
            "name": "httpx",
            "status": "unused",
            "requirement": "httpx",
            "artifacts": [],
            "message": "no file imports it; it may be a plugin or a program",
        },
        {
            "name": "pytest",
            "status": "satisfied",
            "requirement": "pytest",
            "artifacts": ["tests/test_cart.py"],
            "message": "declared and used; whether it can be had was not looked up",
        },
        {
            "name": "pyyaml",
            "status": "satisfied",
            "requirement": "PyYAML>=6",
            "artifacts": ["src/shop/__init__.py"],
            "message": "declared and used; whether it can be had was not looked up",
        },
        {
            "name": "requests",
            "status": "undeclared",
            "requirement": "",
            "artifacts": ["src/shop/cart.py"],
            "message": "imported as 'requests', and no manifest declares it; declare requests, or do without",
        },
        {
            "name": "respx",
            "status": "undeclared",
            "requirement": "",
            "artifacts": ["tests/test_cart.py"],
            "message": "imported as 'respx', and no manifest declares it; declare respx, or do without",
        },
    ]
    told = "imported as '{0}', and no manifest declares it; declare {0}, or do without"
    assert lines(response) == [
        f"src/shop/cart.py:1 blocking dependency_error {told.format('requests')}",
        f"src/shop/cart.py:5 blocking dependency_error {told.format('requests')}",
        f"tests/test_cart.py:2 warning dependency_error {told.format('respx')}",
    ]


def test_only_the_asked_files_and_the_proposal_are_judged(tmp_path: Path) -> None:
    laid_out(
        tmp_path,
        {"pyproject.toml": PYPROJECT.format("'httpx'"), "a.py": "import yaml\n", "b.py": "import requests\n"},
    )
    proposal = [{"name": "PyYAML", "requirement": "PyYAML>=6"}, {"name": "rich"}]

    response = ask("validate_deps", tmp_path, artifacts=["a.py", "notes.md"], declarations=proposal)

    assert response.status == "success"
    assert stands(response) == {"pyyaml": "satisfied", "rich": "not_checked"}


def test_a_question_about_no_python_file_looks_at_none(tmp_path: Path) -> None:
    laid_out(tmp_path, {"pyproject.toml": PYPROJECT.format(""), "a.py": "import requests\n"})

    response = ask("validate_deps", tmp_path, artifacts=["notes.md"])

    assert (response.status, stands(response), response.metadata.counts["artifacts"]) == ("success", {}, 0)


@pytest.mark.parametrize(
    ("manifest", "proposed", "reason"),
    [
        ("'httpx>=0.28'", "httpx<0.20", "httpx>=0.28 (pyproject.toml) and httpx<0.20 (the proposal)"),
        ("'httpx==1.*'", "httpx>=2", "httpx==1.* (pyproject.toml) and httpx>=2 (the proposal)"),
        ("'httpx>=0.28'", "httpx", None),
        ("\"httpx>=1; python_version < '3.11'\"", "httpx<1", None),
    ],
    ids=["apart", "wildcard", "free", "marker"],
)
def test_requirements_that_no_version_meets_are_at_odds(
    manifest: str, proposed: str, reason: str | None, tmp_path: Path
) -> None:
    laid_out(tmp_path, {"pyproject.toml": PYPROJECT.format(manifest), "a.py": "import httpx\n"})

    response = ask("validate_deps", tmp_path, declarations=[{"name": "httpx", "requirement": proposed}])

    expected = "satisfied" if reason is None else "conflict"
    assert stands(response)["httpx"] == expected
    told = [f"pyproject.toml:- blocking dependency_error no version satisfies {reason}"] if reason else []
    assert [line for line in lines(response) if "blocking" in line] == told


def test_a_proposal_that_is_no_requirement_blocks(tmp_path: Path) -> None:
    proposal = [{"name": "x", "requirement": "not a requirement"}]

    response = ask("validate_deps", tmp_path, declarations=proposal)

    assert response.status == "failure"
    assert lines(response)[0].startswith(
        ".:- blocking dependency_error proposed dependency x: 'not a requirement' is no requirement: "
    )


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "the repository has no manifest"),
        ({"setup.py": "setup(install_requires=read())\n"}, "setup.py may declare it: `install_requires`"),
        (
            {"requirements.txt": "obscure-thing\n"},
            "it may come with obscure-thing, of which nothing is known",
        ),
    ],
    ids=["none", "computed", "obscure"],
)
def test_where_there_is_doubt_nothing_blocks(files: dict[str, str], words: str, tmp_path: Path) -> None:
    laid_out(tmp_path, {**files, "a.py": "import strange_module\n"})

    response = ask("validate_deps", tmp_path)

    assert response.status == "success"
    assert stands(response)["strange-module"] == "not_checked"
    assert any(
        line.startswith("a.py:1 warning dependency_error") and words in line for line in lines(response)
    )


def test_a_well_known_module_is_beyond_doubt(tmp_path: Path) -> None:
    laid_out(tmp_path, {"requirements.txt": "obscure-thing\n", "a.py": "import yaml\n"})

    assert stands(ask("validate_deps", tmp_path)) == {"obscure-thing": "unused", "pyyaml": "undeclared"}


def test_optional_imports_do_not_block(tmp_path: Path) -> None:
    text = "try:\n    import yaml\nexcept ImportError:\n    yaml = None\n"
    laid_out(tmp_path, {"pyproject.toml": PYPROJECT.format(""), "a.py": text})

    response = ask("validate_deps", tmp_path)

    assert (response.status, stands(response)["pyyaml"]) == ("success", "undeclared")


def test_code_that_needs_what_only_developers_have_is_warned_of(tmp_path: Path) -> None:
    laid_out(tmp_path, {"pyproject.toml": PYPROJECT.format(""), "a.py": "import pytest\n"})

    assert lines(ask("validate_deps", tmp_path)) == [
        "a.py:1 warning dependency_error pytest is declared only for development (test), and this file imports it"
    ]


def test_strange_files_are_reported_and_stop_nothing(tmp_path: Path) -> None:
    root = laid_out(
        tmp_path / "repository",
        {
            "pyproject.toml": PYPROJECT.format(""),
            "bad.py": "def f(:\n",
            "nul.py": b"\0",
            "a.py": "import yaml\n",
            "folder.py/b.py": "import numpy\n",
            ".hidden/c.py": "import pandas\n",
            "env/pyvenv.cfg": "",
            "env/d.py": "import pandas\n",
        },
    )
    (tmp_path / "outside.py").write_text("import pandas\n")
    (root / "link.py").symlink_to(tmp_path / "outside.py")

    response = ask("validate_deps", root)

    assert [name for name, status in stands(response).items() if status == "undeclared"] == [
        "numpy",
        "pyyaml",
    ]
    assert [line.split(":")[0] for line in lines(response) if "its imports are not known" in line] == [
        "bad.py",
        "folder.py",
        "link.py",
        "nul.py",
    ]


def test_the_repository_s_own_modules_are_no_dependencies(tmp_path: Path) -> None:
    laid_out(
        tmp_path,
        {
            "pyproject.toml": PYPROJECT.format(""),
            "src/shop/__init__.py": "import yaml\n",
            "src/shop/yaml.py": "",
            "space/deep/a.py": "",
            "tests/helpers.py": "",
            "tests/test_a.py": "import helpers, shop, space.deep\n",
        },
    )

    response = ask("validate_deps", tmp_path)

    assert stands(response) == {"pytest": "not_checked", "pyyaml": "undeclared"}


def test_a_link_that_is_asked_about_is_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "link.py").symlink_to("/etc/passwd")

    assert lines(ask("validate_deps", tmp_path, artifacts=["link.py"])) == [
        "link.py:- blocking completeness there is no such file in the working copy"
    ]
