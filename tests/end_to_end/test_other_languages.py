"""Issues of repositories in other languages become pull requests on a real hub; their own toolchains run the tests."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cogworks.demo.facts import sample_files
from cogworks.domain_services.exploring import ExploreParams
from cogworks.domain_services.messages import Caller
from cogworks.domain_services.operations import INDEX
from cogworks.settings.config import read_environment
from cogworks.wiring.services import open_panel
from tests import registries
from tests.end_to_end.scene import Scene, open_scene
from tests.end_to_end.test_example_pipelines import FOLDER, PASSED, Stand, classified, output_of, text_of
from tests.model_server import ModelServer, replied
from tests.services.command.commanding import needs

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]  # seconds on a busy machine

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
GO_TEST = """package prices

import "testing"

func TestTotalLeavesOutWhatIsBelowZero(t *testing.T) {
	if got := Total(5, -3); got != 5 {
		t.Errorf("Total(5, -3) = %d", got)
	}
}
"""
JAVASCRIPT_TEST = """import assert from "node:assert/strict";
import { test } from "node:test";

import { total } from "../src/prices.js";

test("leaves out what is below zero", () => assert.equal(total(5, -3), 5));
"""
RUST_TEST = """use my_shop::prices::total;

#[test]
fn leaves_out_what_is_below_zero() {
    assert_eq!(total(&[5, -3]), 5);
}
"""


class Played(NamedTuple):
    """A sample, what its model answers and what follows."""

    sample: str
    code: str
    edit: tuple[str, str]
    test: str
    test_text: str
    name: str


GO = Played(
    "go",
    "prices/prices.go",
    ("\t\tsum += each\n", "\t\tif each > 0 {\n\t\t\tsum += each\n\t\t}\n"),
    "prices/negative_test.go",
    GO_TEST,
    "TestTotalLeavesOutWhatIsBelowZero",
)
JAVASCRIPT = Played(
    "javascript",
    "src/prices.js",
    ("sum + each", "sum + Math.max(each, 0)"),
    "test/negative.test.js",
    JAVASCRIPT_TEST,
    "leaves out what is below zero",
)
RUST = Played(
    "rust",
    "src/prices.rs",
    ("cents.iter().sum()", "cents.iter().filter(|each| **each > 0).sum()"),
    "tests/negative.rs",
    RUST_TEST,
    "leaves_out_what_is_below_zero",
)


class Place(NamedTuple):
    """A working copy."""

    path: Path


def lay_out(scene: Scene, sample: str) -> None:
    """The sample in place of the Python one."""
    for path in sample_files():
        if not path.startswith((".cogworks/", ".gitignore")):
            scene.write(path, None)
    folder = SAMPLES / sample
    for place in sorted(each for each in folder.rglob("*") if each.is_file()):
        scene.write(place.relative_to(folder).as_posix(), place.read_text("utf-8"))
    text = text_of("bugfix")
    for path in sorted([*FOLDER.glob("prompts/*"), *FOLDER.glob("schemas/*")]):
        if path.stem.removesuffix(".md") in text or path.stem.startswith("_"):
            scene.write(f".cogworks/{path.relative_to(FOLDER).as_posix()}", path.read_text("utf-8"))
    scene.write(".cogworks/pipeline.toml", text)


def replies_of(played: Played) -> tuple[dict[str, Any], ...]:
    before = (SAMPLES / played.sample / played.code).read_text("utf-8")
    after = before.replace(*played.edit)
    assert after != before
    task = {
        "key": "A",
        "title": "Leave out negative prices",
        "description": "What is below zero does not count (R1).",
        "files": [played.code, played.test],
        "interfaces": [],
        "test_specification": f"5 and -3 make 5, in {played.test}",
        "acceptance_criteria": ["5 and -3 make 5"],
        "depends_on": [],
    }
    specified = {"title": "Leave out negative prices", "markdown": "# Prices\n\n- **R1** 5 and -3 make 5.\n"}
    tests = {
        "test_path": played.test,
        "extra_paths": [],
        "files": [{"path": played.test, "action": "create", "content": played.test_text}],
        "notes": "",
        "missing_capability": "",
    }
    made = {
        "summary": "Leave out negative prices",
        "files": [{"path": played.code, "action": "modify", "content": after}],
        "notes": "",
        "test_dispute": {"test_id": "", "reason": ""},
        "missing_capability": "",
    }
    intake = {**classified(), "affected_modules": [played.code], "language": played.sample}
    return (intake, specified, {"sub_work_items": [task]}, tests, made, PASSED, PASSED, PASSED)


@pytest.mark.parametrize(
    "played",
    [
        pytest.param(GO, id="go", marks=needs("go")),
        pytest.param(JAVASCRIPT, id="javascript", marks=needs("node")),
        pytest.param(RUST, id="rust", marks=needs("cargo")),
    ],
)
def test_an_issue_becomes_a_pull_request_whose_tests_passed_there_with_nothing_configured(
    played: Played, tmp_path: Path
) -> None:
    with open_scene(tmp_path) as scene, ModelServer() as server:
        lay_out(scene, played.sample)
        scene.person.set_trigger()
        server.answers(*(replied(json.dumps(reply)) for reply in replies_of(played)))
        stand = Stand(scene, server)
        stand.play()

        assert stand.visited[-1] == "integration@A"
        assert [(branch, state) for branch, _, state in stand.pulls] == [("cogworks/1/swi-1", "OPEN")]
        handoff = output_of(scene, "0004-code_generation@2")["test_handoff"]
        assert handoff["test_ids"] == [f"{played.test}::{played.name}"]
        assert handoff["red"] == {"collected": 1, "failed": 1, "passed": 0, "missing": []}
        [pull] = scene.seen()["pullRequests"]["nodes"]
        assert "No test that passed before fails, is skipped or is gone." in pull["body"]


MANIFEST = """{
  "name": "my-shop",
  "version": "1.0.0",
  "type": "module",
  "scripts": { "test": "node --test" },
  "dependencies": { "ms": "2.1.3" }
}
"""
LOCK = """{
  "name": "my-shop",
  "version": "1.0.0",
  "lockfileVersion": 3,
  "requires": true,
  "packages": {
    "": { "name": "my-shop", "version": "1.0.0", "dependencies": { "ms": "2.1.3" } },
    "node_modules/ms": {
      "version": "2.1.3",
      "integrity": "sha512-6FlzubTLZG3J2a/NVCAleEhjzq5oxgHyaCU9yYXvcLsvoVaHJq/s5xXI6/XXP6tz7R9xAOtHnSO/tXtF3WRTlA==",
      "license": "MIT"
    }
  }
}
"""
USES_PACKAGE = """import assert from "node:assert/strict";
import { test } from "node:test";

import ms from "ms";

test("a day has its length", () => assert.equal(ms("1d"), 86400000));
"""


@needs("node", "npm")
def test_packages_of_a_lock_file_are_installed_by_its_own_tool_and_the_item_is_finished(
    tmp_path: Path,
) -> None:
    registries.need(registries.NPM)
    with open_scene(tmp_path) as scene, ModelServer() as server:
        lay_out(scene, "javascript")
        files = {"package.json": MANIFEST, "package-lock.json": LOCK, "test/day.test.js": USES_PACKAGE}
        for path, text in files.items():
            scene.write(path, text)
        scene.person.set_trigger()
        server.answers(*(replied(json.dumps(reply)) for reply in replies_of(JAVASCRIPT)))
        stand = Stand(scene, server)
        stand.play()

        assert stand.visited[-1] == "integration@A"
        [pull] = scene.seen()["pullRequests"]["nodes"]
        assert "No test that passed before fails, is skipped or is gone." in pull["body"]
        changed = scene.git("diff", "--name-only", "main", pull["headRefName"]).split()
        assert {JAVASCRIPT.code, JAVASCRIPT.test} <= set(changed)
        assert not [path for path in changed if path.startswith(("node_modules/", "package"))]


def test_the_index_of_a_repository_without_configuration_tells_its_symbols() -> None:
    place = SAMPLES / "go"
    names = tuple(each.name for each in place.iterdir())
    with open_panel({}, read_environment({}), caller=Caller(), warn=print, names=names) as panel:
        answers = panel.call(INDEX, Place(place), ExploreParams())

    assert isinstance(answers, tuple)
    [answer] = answers
    kinds = {(each.id, each.kind) for each in answer.result.symbols}
    assert ("prices.prices.Total", "function") in kinds
    assert not answer.result.unread
