"""What cogworks is called where packages are installed, and what its lock file holds."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.limits import ENDS_WITHIN_S

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCK = ROOT / "requirements.lock"

BARE = r"(?<![\w./@:-])cogworks(?![\w./-])"
"""The name as an installer would look it up; not a path, a URL, or the beginning of a longer name."""
INSTALLER = re.compile(
    rf"""(?x)
    \b(?: pip3? | pipx | uv | uvx | uvx? \s+ tool | easy_install | conda | poetry | pdm )\s+
    (?:[-\w./=]+\s+)*? (?: install | add | download | wheel | run | tool \s+ run )\b [^\n|;&]*? {BARE}
    | \buvx\s+ {BARE}
    | {BARE} \s*(?: \[[\w,-]+\] | [=~<>!]= )
    | (?: metadata\.\w+ | version | distribution )\( ["']cogworks["'] \)
    """
)
NAMES_IT = [
    "pip install cogworks",
    'python -m pip install --quiet "cogworks==$VERSION"',
    "uv tool install cogworks",
    "pipx run cogworks process",
    "uvx cogworks",
    "cogworks[test]",
    'dependencies = ["cogworks>=0.2"]',
    'metadata.version("cogworks")',
]
NAMES_ANOTHER = [
    "pip install ./cogworks",
    "pip install cogworks-pipeline",
    'pipx install "git+https://github.com/OWNER/cogworks@COMMIT"',
    "pip install --no-index --no-deps ./cogworks",
    "-r cogworks/requirements.lock",
    "cogworks run https://github.com/octo-org/hello/issues/42",
    "import cogworks",
]


class Locked(NamedTuple):
    """One package of the lock file."""

    requirement: Requirement
    hashes: int

    @property
    def version(self) -> Version:
        (pinned,) = self.requirement.specifier
        assert pinned.operator == "=="
        return Version(pinned.version)


def locked() -> Iterator[tuple[str, Locked]]:
    text = re.sub(r"\\\n\s*", " ", LOCK.read_text("utf-8"))
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            words = line.split(" --hash=sha256:")
            requirement = Requirement(words[0].strip())
            yield canonicalize_name(requirement.name), Locked(requirement, len(words) - 1)


def asked_for() -> list[Requirement]:
    """What installing cogworks asks for, and what builds it."""
    return [
        Requirement(each)
        for each in (*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"])
    ]


@pytest.mark.parametrize("wanted", asked_for(), ids=str)
def test_the_lock_has_every_dependency_in_a_version_that_fits(wanted: Requirement) -> None:
    found = [each.version for name, each in locked() if name == canonicalize_name(wanted.name)]

    assert found, f"{wanted.name} is not in requirements.lock; run ./scripts/lock"
    assert all(version in wanted.specifier for version in found), (
        f"run ./scripts/lock: {found} is not {wanted}"
    )


def test_the_lock_has_what_extras_ask_for() -> None:
    extras = {extra for wanted in asked_for() for extra in wanted.extras}

    assert extras == {"crypto"}
    assert "cryptography" in dict(locked())


def test_every_package_of_the_lock_has_one_version_and_hashes_and_no_place_to_come_from() -> None:
    assert [name for name, each in locked() if not each.hashes or each.requirement.url] == []
    assert "://" not in LOCK.read_text("utf-8")
    assert "--index" not in LOCK.read_text("utf-8")


def test_the_distribution_has_a_name_of_its_own_and_the_command_keeps_its() -> None:
    assert PROJECT["project"]["name"] == "cogworks-pipeline"
    assert PROJECT["project"]["scripts"] == {"cogworks": "cogworks.cli.main:main"}
    assert set(PROJECT["project"]["urls"]) == {"Homepage", "Documentation", "Changelog", "Issues"}


def test_nothing_here_asks_an_installer_for_the_package_that_is_somebody_elses() -> None:
    command = [
        "git",
        "grep",
        "-I",
        "--fixed-strings",
        "cogworks",
        "--",
        ".",
        f":!{Path(__file__).relative_to(ROOT)}",
    ]
    lines = subprocess.run(
        command, cwd=ROOT, capture_output=True, check=True, text=True, timeout=ENDS_WITHIN_S
    ).stdout.splitlines()
    found = [line[:200] for line in lines if INSTALLER.search(line.partition(":")[2])]

    assert found == []


@pytest.mark.parametrize("text", NAMES_IT)
def test_asking_for_it_by_name_is_found(text: str) -> None:
    assert INSTALLER.search(text)


@pytest.mark.parametrize("text", NAMES_ANOTHER)
def test_a_path_a_url_and_a_longer_name_are_not_taken_for_it(text: str) -> None:
    assert INSTALLER.search(text) is None
