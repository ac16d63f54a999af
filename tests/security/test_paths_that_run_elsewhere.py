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
)


@pytest.mark.parametrize("path", ATTACKS)
def test_a_file_that_others_run_is_never_written(path: str) -> None:
    change = FileChange(path=path, action="create", content="x")

    assert protected_by(path) is not None
    assert "protected" in (refusal([change], ()) or "")


@pytest.mark.parametrize(
    "path",
    [
        "src/action.py",
        "docs/github.md",
        "tests/data/site.py",
        "src/paths.py",
        ".github/ISSUE_TEMPLATE/bug.yml",
    ],
)
def test_a_file_with_a_name_like_that_is_written(path: str) -> None:
    assert refusal([FileChange(path=path, action="create", content="x")], ()) is None
