"""One list of permissions, wherever it is written."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "docs" / "examples" / "workflows").glob("*.yml"))
STEP = {"contents": "write", "issues": "write", "pull-requests": "write"}
MATRIX = dict.fromkeys(STEP, "read")
OPTIONAL = {"checks": "read", "statuses": "read", "actions": "read"}


def jobs() -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{template.stem}/{name}", job)
        for template in TEMPLATES
        for name, job in yaml.safe_load(template.read_text("utf-8"))["jobs"].items()
    ]


def test_the_comment_of_the_action_has_it() -> None:
    lines = re.findall(
        r"^#   ([a-z-]+): (read|write) +# (.+)$", (ROOT / "action.yml").read_text("utf-8"), re.MULTILINE
    )

    assert {name: level for name, level, why in lines if not why.startswith("optional: ")} == STEP
    assert {name: level for name, level, why in lines if why.startswith("optional: ")} == OPTIONAL


def test_the_table_of_the_documentation_has_it() -> None:
    page = (ROOT / "docs" / "polling.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| `(\w+)`(, optional)? \| (?:`(\w+)` )?\|", page, re.MULTILINE)

    assert {name: level for name, level, optional, _ in rows if not optional} == STEP
    assert {name: level for name, level, optional, _ in rows if optional} == OPTIONAL
    assert {name: level for name, _, _, level in rows if level} == MATRIX


def test_the_readme_has_it() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")

    assert dict(re.findall(r"`([a-z-]+): (read|write)`", readme)) == STEP


@pytest.mark.parametrize(("name", "job"), jobs(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_job_of_a_template_has_it_where_it_uses_the_action_and_else_one_of_its_own(
    name: str, job: dict[str, Any]
) -> None:
    used = [step for step in job["steps"] if "uses" in step]

    if not used:
        assert (job["permissions"], "secrets." in str(job)) == ({"actions": "write"}, False)
    elif used[0]["with"].get("mode") == "matrix":
        assert (job["permissions"], "secrets." in str(job)) == (MATRIX, False)
    else:
        assert job["permissions"] == STEP


def test_a_template_gives_nothing_to_jobs_that_do_not_ask() -> None:
    assert [yaml.safe_load(path.read_text("utf-8"))["permissions"] for path in TEMPLATES] == [{}, {}]


def test_the_inputs_and_outputs_of_the_documentation_are_those_of_the_action() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    page = (ROOT / "docs" / "polling.md").read_text("utf-8").partition("## The Action")[2]
    inputs, outputs = page.partition("| input |")[2].split("| output |")
    rows = re.compile(r"^\| (`[^|]+`) \|", re.MULTILINE)

    for told, wanted in ((inputs, "inputs"), (outputs.partition("\n\n")[0], "outputs")):
        named = [name for row in rows.findall(told) for name in re.findall(r"`([a-z-]+)`", row)]
        assert sorted(named) == sorted(action[wanted])
