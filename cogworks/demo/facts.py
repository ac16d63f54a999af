"""What never changes about the demonstration: the sample repository, its issue, and the names they go by."""

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

OWNER = "octo-org"
REPOSITORY = "hourglass"
FULL_NAME = f"{OWNER}/{REPOSITORY}"
AUTHOR = "octo-dev"
DEFAULT_BRANCH = "main"
ISSUE_NUMBER = 1
TRIGGER = "cogworks:run"
FEATURE = "feature"
"""The scenario that is played where none is named."""
ISSUE = "issue.md"
ACCEPTANCE_TEST = "acceptance_test.py"


class SampleIssue(NamedTuple):
    """The issue as its author wrote it."""

    title: str
    body: str


def sample_folder() -> Traversable:
    """The folder with the sample repository, its issue and the acceptance test."""
    return files("cogworks.demo") / "sample"


def cassette_folder() -> Traversable:
    """The folder with the recorded replies."""
    return files("cogworks.demo") / "cassettes"


def sample_issue(name: str = ISSUE) -> SampleIssue:
    """Title and body of the issue in that file of the sample; the body ends without a line feed."""
    title, _, body = (sample_folder() / name).read_text(encoding="utf-8").partition("\n")
    return SampleIssue(title=title.strip(), body=body.strip())


def sample_files(folder: str = "repository") -> Mapping[str, str]:
    """Every file of the sample repository, or below another folder of the sample: repository-relative POSIX path -> text, sorted."""
    return dict(sorted(_texts(sample_folder() / folder, "")))


def acceptance_test(name: str = ACCEPTANCE_TEST) -> str:
    """The test that fails before the work and passes after it; it is no part of the repository."""
    return (sample_folder() / name).read_text(encoding="utf-8")


def _texts(folder: Traversable, prefix: str) -> list[tuple[str, str]]:
    texts: list[tuple[str, str]] = []
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            texts += [] if entry.name in _LEFT_BEHIND else _texts(entry, f"{name}/")
        else:
            texts.append((name, entry.read_text(encoding="utf-8")))
    return texts


_LEFT_BEHIND = frozenset({"__pycache__", ".pytest_cache"})
"""What running the sample's tests in place leaves; no part of it."""
