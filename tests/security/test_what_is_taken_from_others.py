"""Somebody puts other code where ours is taken from: an index, an image, an action, a cache."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.limits import ENDS_WITHIN_S

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEMPLATES = sorted((ROOT / "docs" / "examples" / "workflows").glob("*.yml"))
DIGEST = re.compile(r"@sha256:[0-9a-f]{64}(?: |$)")


def lines(name: str) -> list[str]:
    return (ROOT / name).read_text("utf-8").splitlines()


def test_images_are_named_by_what_they_hold() -> None:
    images = [line for line in lines("Dockerfile") if line.startswith("FROM ")]

    assert images
    assert [line for line in images if not DIGEST.search(line)] == []
    assert len({line.split()[1] for line in images}) == 1


@pytest.mark.parametrize("path", [ROOT / "action.yml", *WORKFLOWS, *TEMPLATES], ids=lambda path: path.name)
def test_actions_are_named_by_their_commit(path: Path) -> None:
    used = re.findall(r"^[\s-]*uses: *(\S+)", path.read_text("utf-8"), re.MULTILINE)

    assert [each for each in used if not re.search(r"@[0-9a-f]{40}$", each)] == []


def test_every_package_of_the_lock_has_its_hashes() -> None:
    text = (ROOT / "requirements.lock").read_text("utf-8")
    packages = re.split(r"\n(?=[A-Za-z0-9])", text.partition("\n\n")[2] or text)
    pinned = [each for each in packages if re.match(r"[A-Za-z0-9._-]+==", each)]

    assert pinned
    assert [each.split("==")[0] for each in pinned if "--hash=sha256:" not in each] == []


@pytest.mark.parametrize("name", ["Dockerfile", "scripts/action_install.py"])
def test_only_wheels_whose_hashes_are_known_are_installed(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")

    assert "--require-hashes" in text
    assert "--only-binary" in text


def test_no_step_of_the_action_that_installs_has_a_secret() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    *before, last = action["runs"]["steps"]

    assert [
        step for step in before if "inputs.github-token" in str(step) or "inputs.llm-api-key" in str(step)
    ] == []
    assert "COGWORKS_GITHUB_TOKEN" in last["env"]
    assert "install" not in last["run"]


def test_the_bill_of_materials_names_everything_of_the_lock_and_who_needs_it() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "sbom")],
        capture_output=True,
        text=True,
        check=True,
        timeout=ENDS_WITHIN_S,
    )
    bill = json.loads(done.stdout)
    pinned = set(
        re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", "\n".join(lines("requirements.lock")), re.MULTILINE)
    )

    assert {(each["name"], each["version"]) for each in bill["components"]} == pinned
    assert all(any(p["name"] == "cogworks:sha256" for p in each["properties"]) for each in bill["components"])
    needs = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    reached, waiting = set(), [bill["metadata"]["component"]["bom-ref"]]
    while waiting:
        ref = waiting.pop()
        reached.add(ref)
        waiting += [each for each in needs[ref] if each not in reached]
    assert reached == needs.keys()
