"""Long files and large repositories, on a real hub from the issue to the pull request."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cogworks.demo.facts import FULL_NAME
from tests.end_to_end.scene import HOST_ENVIRONMENT, Scene
from tests.end_to_end.test_example_pipelines import PASSED, classified, standing
from tests.limits import ENDS_WITHIN_S
from tests.model_server import ModelServer

# Seconds on a busy machine; usually a tenth of that.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

BRANCH = "cogworks/1/change"
ZONES = "src/hourglass/zones.py"
TESTS_OF_ZONES = "tests/test_zones.py"
WRONG_ZONE = 351
FOLDERS, FILES_EACH = 100, 100
RATE = "src/hourglass/rates/p042/m017.py"


def zone(number: int) -> str:
    """A function of seven lines; one of them adds where it should subtract."""
    sign = "+" if number == WRONG_ZONE else "-"
    return (
        f"def zone_{number:04}(minutes: int) -> int:\n"
        f'    """Minutes of zone {number} as minutes of UTC."""\n'
        "    if minutes < 0:\n"
        f'        raise ValueError("zone {number} begins at 0")\n'
        f"    return minutes {sign} {number}\n\n\n"
    )


def proof_of_zone(number: int) -> str:
    return f"def test_zone_{number:04}():\n    assert zones.zone_{number:04}(9000) == {9000 - number}\n\n\n"


def test_a_file_of_five_thousand_lines_and_its_tests_are_changed_by_edits(tmp_path: Path) -> None:
    numbers = [number for number in range(1, 1251) if number != WRONG_ZONE]
    code = "".join(map(zone, range(1, 1251)))
    tests = "from hourglass import zones\n\n\n" + "".join(map(proof_of_zone, numbers))
    assert min(code.count("\n"), tests.count("\n")) >= 4_999
    after = proof_of_zone(WRONG_ZONE - 1)
    wrote = edited(TESTS_OF_ZONES, after, after + proof_of_zone(WRONG_ZONE))
    fixed = edited(ZONES, f"return minutes + {WRONG_ZONE}", f"return minutes - {WRONG_ZONE}")
    replies = small_fix(ZONES, tests=wrote | {"test_path": TESTS_OF_ZONES}, code=fixed)
    with standing(tmp_path, "", *replies, tests_first=True) as stand:
        push(stand.scene, {ZONES: code, TESTS_OF_ZONES: tests})
        ask_for(
            stand.scene,
            f"zone_{WRONG_ZONE:04} goes the wrong way",
            f"`zone_{WRONG_ZONE:04}(400)` is 751, not 49.",
        )
        stand.play()

        assert stand.visited == ["intake", "code_generation", "review", "integration"]
        writer, coder = (prompt(stand.server, number) for number in (1, 2))
        assert f"return minutes + {WRONG_ZONE}" in writer
        assert f"return minutes + {WRONG_ZONE}" in coder
        assert all(len(each) < 120_000 for each in (writer, coder))
        assert numstat(stand.scene) == {ZONES: (1, 1), TESTS_OF_ZONES: (4, 0)}


def test_a_repository_of_ten_thousand_files_is_worked_on_in_the_one_that_matters(tmp_path: Path) -> None:
    files = {
        f"src/hourglass/rates/p{folder:03}/m{number:03}.py": rate(folder, number)
        for folder in range(FOLDERS)
        for number in range(FILES_EACH)
    }
    test = "tests/test_rate.py"
    text = (
        "from hourglass.rates.p042.m017 import rate_42_17\n\n\n"
        "def test_a_rate_counts_every_hour():\n    assert rate_42_17(3) == 3 * 59\n"
    )
    created = {
        "files": [{"path": test, "action": "create", "content": text}],
        "edits": [],
        "unified_diff": "",
    }
    fixed = edited(RATE, "(hours - 1) * 59", "hours * 59")
    replies = small_fix(RATE, tests=created | {"test_path": test}, code=fixed)
    with standing(tmp_path, "", *replies, tests_first=True) as stand:
        push(stand.scene, {**files, RATE: rate(42, 17).replace("hours * 59", "(hours - 1) * 59")})
        ask_for(stand.scene, "rate_42_17 leaves out an hour", "`rate_42_17(3)` is 118; 177 is right.")
        stand.play()

        assert stand.visited == ["intake", "code_generation", "review", "integration"]
        assert "(hours - 1) * 59" in prompt(stand.server, 1)
        assert all(len(prompt(stand.server, number)) < 120_000 for number in range(len(replies)))
        assert numstat(stand.scene) == {RATE: (1, 1), test: (5, 0)}


def rate(folder: int, number: int) -> str:
    return (
        f'"""Rates of place {number} in region {folder}."""\n\n\n'
        f"def rate_{folder}_{number}(hours: int) -> int:\n"
        f'    """What so many hours cost there."""\n    return hours * {folder + number}\n'
    )


def small_fix(path: str, *, tests: Mapping[str, Any], code: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """What the model answers on the way of a small bug."""
    wrote = {"extra_paths": [], "notes": "", "missing_capability": "", **tests}
    made = {
        "summary": "Count as the issue says",
        "notes": "",
        "test_dispute": {"test_id": "", "reason": ""},
        "missing_capability": "",
        **code,
    }
    return (
        {**classified(pipeline="small"), "affected_modules": [path], "says_what_is_right": ""},
        wrote,
        made,
        PASSED,
    )


def edited(path: str, search: str, replace: str) -> dict[str, Any]:
    """One edit, as it stands in an answer."""
    return {
        "files": [],
        "edits": [{"path": path, "search": search, "replace": replace}],
        "unified_diff": "",
    }


def push(scene: Scene, files: Mapping[str, str]) -> None:
    """Commit files to the default branch as the person, all at once."""
    clone = scene.stage.directory / "person"
    address = scene.stage.url.replace("://", f"://person:{scene.stage.person_token}@", 1)
    _git(scene.stage.directory, "clone", "--quiet", f"{address}/{FULL_NAME}.git", str(clone))
    for path, text in files.items():
        (clone / path).parent.mkdir(parents=True, exist_ok=True)
        (clone / path).write_text(text, "utf-8")
    _git(clone, "add", "--all")
    who = ("-c", "user.name=person", "-c", "user.email=person@example.org")
    _git(clone, *who, "commit", "--quiet", "--message", "Add files")
    _git(clone, "push", "--quiet", "origin", "HEAD")


def ask_for(scene: Scene, title: str, body: str) -> None:
    """What the issue says, and that the short way is taken; the trigger is set again, since it pins the text."""
    issue = scene.repository.get_issue(1)
    issue.remove_from_labels("cogworks:run")
    issue.edit(title=title, body=body)
    issue.add_to_labels("cogworks:lane:small")
    scene.person.set_trigger()


def prompt(server: ModelServer, number: int) -> str:
    """A whole request to the model; 0 is the first."""
    return json.dumps(server.seen[number].body, ensure_ascii=False)


def numstat(scene: Scene) -> dict[str, tuple[int, int]]:
    """Path -> lines that the work added and removed."""
    rows = (row.split("\t") for row in scene.git("diff", "--numstat", f"main...{BRANCH}").splitlines())
    return {path: (int(added), int(removed)) for added, removed, path in rows}


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, env=HOST_ENVIRONMENT, timeout=ENDS_WITHIN_S)
