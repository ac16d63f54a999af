"""Whether a machine and a repository are fit for work, judged from facts."""

import pytest

from cogworks.domain_services.opening import BUNDLED_PATTERNS
from cogworks.errors import ConfigurationError, PermissionRefused, UsageError
from cogworks.forge.diagnosis import Check
from cogworks.forge.snapshot import Contents
from cogworks.readiness import (
    LEAST_FREE_BYTES,
    LITTLE_FREE_BYTES,
    DiskSpace,
    Served,
    Trial,
    disk_check,
    examined,
    index_check,
    languages_check,
    refuse_unfit,
)

PYTHON = Served(name="python", patterns=BUNDLED_PATTERNS)
WEB = Contents(
    languages={"TypeScript": 900, "JavaScript": 80, "CSS": 700, "StepPorts": 20},
    root_names=("README.md", "package.json", "src", "tsconfig.json"),
)


def test_a_repository_in_a_language_that_no_service_knows_is_refused_with_the_files_seen_and_the_setting() -> (
    None
):
    check = languages_check(WEB, [PYTHON])

    assert check.status == "failed"
    assert check.found == (
        "it is written in TypeScript (92 %), JavaScript (8 %) (seen: package.json, tsconfig.json), which no domain "
        "service here knows (python)."
    )
    assert "`.cogworks/services.toml`" in check.remedy
    assert "docs/extension-api.md" in check.remedy


def test_a_language_with_hardly_a_file_has_a_share_all_the_same() -> None:
    check = languages_check(Contents(languages={"Python": 9_990, "JavaScript": 10}), [PYTHON])

    assert check.found.startswith("Python (100 %), JavaScript (below 1 %); ")


def test_a_service_for_one_of_several_languages_is_enough_to_go_on_and_the_others_are_named() -> None:
    both = Contents(languages={"Python": 600, "Go": 400}, root_names=("go.mod", "pyproject.toml"))

    check = languages_check(both, [PYTHON])

    assert check.status == "warning"
    assert "no service knows Go (seen: go.mod)" in check.found


@pytest.mark.parametrize(
    ("languages", "services"),
    [
        ({}, [PYTHON]),
        ({"StepPorts": 10, "HTML": 90}, [PYTHON]),
        ({"Python": 10, "StepPorts": 90}, [PYTHON]),
        ({"TypeScript": 10}, [PYTHON, Served(name="web", patterns=("src/**/*.ts",))]),
        ({"TypeScript": 10}, [Served(name="web", patterns=None)]),
    ],
    ids=["not-counted-yet", "nothing-to-know", "known", "by-its-patterns", "only-its-handshake-says"],
)
def test_a_repository_that_may_be_served_is_fit(languages: dict[str, int], services: list[Served]) -> None:
    assert languages_check(Contents(languages=languages), services).status == "ok"


@pytest.mark.parametrize(
    ("room", "status", "words"),
    [
        (
            DiskSpace(folder="/w", problem="Read-only file system"),
            "failed",
            "/w cannot be written: Read-only file",
        ),
        (DiskSpace(folder="/w", free_bytes=LEAST_FREE_BYTES - 1), "failed", "/w is full: 100 MiB free"),
        (DiskSpace(folder="/w", free_bytes=LITTLE_FREE_BYTES - 1), "warning", "1,024 MiB free"),
        (DiskSpace(folder="/w", free_bytes=LITTLE_FREE_BYTES), "ok", "/w, 1,024 MiB free"),
    ],
    ids=["read-only", "full", "nearly-full", "enough"],
)
def test_a_work_directory_that_takes_nothing_is_a_failure(room: DiskSpace, status: str, words: str) -> None:
    check = disk_check(room)

    assert (check.status, words in check.found) == (status, True), check


def test_an_index_that_cannot_be_asked_is_a_failure() -> None:
    assert index_check((), "https://index.example/simple/pytest/: refused").status == "failed"
    assert (
        index_check(("https://index.example/simple/",), "").found == "https://index.example/simple/ answers"
    )


def test_a_step_stops_at_the_first_trial_that_fails_and_doctor_tells_all_of_them() -> None:
    looked = []

    def told(status: str, *, of_repository: bool = False) -> Trial:
        def look() -> Check:
            looked.append(status)
            return Check.model_validate({"name": "x", "status": status, "found": "so", "remedy": "Mend it."})

        return Trial("x", look, of_repository)

    def refused() -> Check:
        raise PermissionRefused("no key")

    with pytest.raises(UsageError, match=r"x: so\. Mend it\."):
        refuse_unfit([told("ok"), told("warning"), told("failed"), told("ok")])
    with pytest.raises(ConfigurationError, match="so Mend it"):
        refuse_unfit([told("failed", of_repository=True)])
    with pytest.raises(PermissionRefused):
        refuse_unfit([Trial("key", refused)])
    found = examined([Trial("key", refused), told("failed")])

    assert looked == ["ok", "warning", "failed", "failed", "failed"]
    assert [(check.name, check.status) for check in found] == [("key", "failed"), ("x", "failed")]


def test_the_manifest_by_which_a_bundled_service_would_know_it_is_named_where_it_is_missing() -> None:
    bare = Contents(languages={"Go": 900, "Swift": 100}, root_names=("glob.go", "glob_test.go"))

    check = languages_check(bare, [PYTHON])

    assert check.status == "failed"
    assert "(Go: `go.mod`)" in check.remedy
    assert "Or add a service that knows it to `.cogworks/services.toml`" in check.remedy
    assert "go.mod" not in languages_check(WEB, [PYTHON]).remedy
