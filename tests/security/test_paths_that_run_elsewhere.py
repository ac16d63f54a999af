"""A model writes a file that others run or obey: a CI system, git, an editor, every Python that starts there."""

import pytest

from cogworks.codebase.changes import FileChange, protected_by, refusal

ATTACKS = (
    *(
        ".github/actions/setup/action.yml",
        ".github/dependabot.yml",
        "renovate.json5",
        "action.yml",
        "tools/lint/action.yaml",
    ),
    *(".gitlab-ci.yml", ".circleci/config.yml", "azure-pipelines.yml", "Jenkinsfile", ".travis.yml"),
    *(".devcontainer/devcontainer.json", ".devcontainer.json", ".vscode/tasks.json"),
    *(".gitmodules", ".gitattributes", "docs/.gitattributes", ".husky/pre-commit", ".githooks/pre-push"),
    *(".pre-commit-config.yaml", "sitecustomize.py", "src/sitecustomize.py", "usercustomize.py"),
    *(
        "src/a.pth",
        "SITECUSTOMIZE.PY",
        "site\u200bcustomize.py",
        "./x/./sitecustomize.py",
        ".git\u00adattributes",
    ),
    # What some file systems, or whoever reads the change, take for the same name.
    *(
        "sitecustomize.py.",
        "sitecustomize.py ",
        "sitecustomize.py::$DATA",
        ".github./workflows /ci.yml",
        ".github:$I30:$INDEX_ALLOCATION/workflows/ci.yml",
        ".gitattributes\ufe0f",
        ".github\uff0fworkflows\uff0fci.yml",
        ".GITHUB/w\u034forkflows/ci.yml",
    ),
)


@pytest.mark.parametrize("path", ATTACKS)
def test_a_file_that_others_run_is_never_written(path: str) -> None:
    change = FileChange(path=path, action="create", content="x")

    assert protected_by(path) is not None
    assert "protected" in (refusal([change], ()) or "")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.py", "A.py"),
        ("a.py", "a\u200b.py"),
        ("a.py", "a.py."),
        ("a.py", "a.py ::$DATA"),
        ("\u00e9.py", "e\u0301.py"),
    ],
)
def test_two_spellings_of_one_file_are_never_two_files(one: str, other: str) -> None:
    change = FileChange(path=other, action="create", content="x")
    both = [FileChange(path=one, action="create", content="y"), change]

    assert "is named 2 times" in (refusal(both, ()) or "")
    assert refusal([change], (one,)) is not None


@pytest.mark.parametrize(
    "path",
    [
        "docs/12:30.md",
        "src/action.py",
        "docs/github.md",
        "tests/data/site.py",
        "src/paths.py",
        ".github/ISSUE_TEMPLATE/bug.yml",
    ],
)
def test_a_file_with_a_name_like_that_is_written(path: str) -> None:
    assert refusal([FileChange(path=path, action="create", content="x")], ()) is None
