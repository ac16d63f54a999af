"""Issues of repositories in other languages become pull requests on a real hub; their own toolchains run the tests."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from cogworks.demo.facts import sample_files
from cogworks.domain_services.exploring import ExploreParams
from cogworks.domain_services.messages import Caller
from cogworks.domain_services.operations import INDEX
from cogworks.settings.config import read_environment
from cogworks.wiring.services import open_panel
from tests import registries
from tests.end_to_end import played
from tests.end_to_end.played import SAMPLES, Played, replies_of, replies_with_tests_in_code
from tests.end_to_end.scene import Scene, open_scene
from tests.end_to_end.test_example_pipelines import FOLDER, Stand, output_of, text_of
from tests.model_server import ModelServer, replied
from tests.services.command.commanding import needs, needs_files

# Seconds on a busy machine; a virtual machine of Java takes ten to begin.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


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


class Place(NamedTuple):
    """A working copy."""

    path: Path


def lay_out(scene: Scene, item: Played) -> None:
    """The sample in place of the Python one."""
    for path in sample_files():
        if not path.startswith((".cogworks/", ".gitignore")):
            scene.write(path, None)
    folder = SAMPLES / item.sample
    for place in sorted(each for each in folder.rglob("*") if each.is_file()):
        scene.write(place.relative_to(folder).as_posix(), place.read_text("utf-8"))
    text = text_of("bugfix")
    for place in sorted([*FOLDER.glob("prompts/*"), *FOLDER.glob("schemas/*")]):
        if place.stem.removesuffix(".md") in text or place.stem.startswith("_"):
            scene.write(f".cogworks/{place.relative_to(FOLDER).as_posix()}", place.read_text("utf-8"))
    scene.write(".cogworks/pipeline.toml", text)
    if item.configuration:
        scene.write(
            ".cogworks/config.toml", f"{item.configuration}{scene.file('.cogworks/config.toml') or ''}"
        )


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(played.GO, id="go", marks=needs("go")),
        pytest.param(played.GO_PACKAGES, id="go-packages", marks=needs("go")),
        pytest.param(played.GO_COMMAND, id="go-command", marks=needs("go")),
        pytest.param(played.JAVASCRIPT, id="javascript", marks=needs("node")),
        pytest.param(played.WORKSPACES, id="node-workspaces", marks=needs("node")),
        pytest.param(played.BUILT, id="node-built", marks=needs("node", "npm")),
        pytest.param(played.VITEST, id="typescript-vitest", marks=needs("node", "npm")),
        pytest.param(played.JEST, id="jest", marks=needs("node", "npm")),
        pytest.param(played.MOCHA, id="mocha", marks=needs("node", "npm")),
        pytest.param(played.JASMINE, id="jasmine", marks=needs("node", "npm")),
        pytest.param(played.TAPE, id="tape", marks=needs("node", "npm")),
        pytest.param(played.RUST, id="rust", marks=needs("cargo")),
        pytest.param(played.RUST_LIBRARY, id="rust-library", marks=needs("cargo")),
        pytest.param(played.RUST_WORKSPACE, id="rust-workspace", marks=needs("cargo")),
        pytest.param(played.MAVEN, id="maven", marks=[needs("mvn", "java"), needs_files(*played.JUNIT_5)]),
        pytest.param(
            played.MODULES,
            id="maven-modules",
            marks=[needs("mvn", "java"), needs_files(*played.MODULES_JUNIT_4)],
        ),
        pytest.param(
            played.GRADLE, id="gradle", marks=[needs("gradle", "java"), needs_files(*played.JUNIT_4)]
        ),
    ],
)
def test_an_issue_becomes_a_pull_request_whose_tests_passed_there(item: Played, tmp_path: Path) -> None:
    if (SAMPLES / item.sample / "package-lock.json").is_file():
        registries.need(registries.NPM)
    with open_scene(tmp_path) as scene, ModelServer() as server:
        lay_out(scene, item)
        scene.person.set_trigger()
        server.answers(*(replied(json.dumps(reply)) for reply in replies_of(item)))
        stand = Stand(scene, server)
        stand.play()

        assert stand.visited[-1] == "integration@A"
        assert [(branch, state) for branch, _, state in stand.pulls] == [("cogworks/1/swi-1", "OPEN")]
        output = output_of(scene, "0004-code_generation@2")
        handoff, proof, count = output["test_handoff"], output["proof"], len(item.names)
        assert sorted(handoff["test_ids"]) == item.ids
        assert handoff["red"] == {
            "collected": count,
            "failed": count,
            "passed": 0,
            "missing": [],
            "failing_before": [],
        }
        assert proof["is_proven"]
        became = {each["id"]: (each["base"], each["head"], each["verdict"]) for each in proof["tests"]}
        assert became == dict.fromkeys(item.ids, ("failed", "passed", "fail_to_pass"))
        assert proof["counts"]["fail_to_pass"] == count
        assert proof["counts"]["pass_to_pass"] > 0
        [pull] = scene.seen()["pullRequests"]["nodes"]
        assert "No test that passed before fails, is skipped or is gone." in pull["body"]


@needs("cargo")
@pytest.mark.parametrize(
    ("item", "without"),
    [
        pytest.param(played.RUST_INLINE, "failed", id="wrong"),
        pytest.param(played.RUST_INLINE_NEW, "error", id="still-to-be-written"),
    ],
)
def test_tests_in_the_file_of_the_code_are_written_with_it_and_fail_without_it(
    item: Played, without: str, tmp_path: Path
) -> None:
    with open_scene(tmp_path) as scene, ModelServer() as server:
        lay_out(scene, item)
        scene.person.set_trigger()
        server.answers(*(replied(json.dumps(reply)) for reply in replies_with_tests_in_code(item)))
        stand = Stand(scene, server)
        stand.play()

        assert stand.visited[-1] == "integration@A"
        output = output_of(scene, "0004-code_generation@2")
        assert "test_handoff" not in output
        assert output["test_files"] == ["src/prices.rs"]
        became = {
            each["id"]: (each["base"], each["head"], each["verdict"]) for each in output["proof"]["tests"]
        }
        assert became == dict.fromkeys(item.ids, (without, "passed", "fail_to_pass"))
        assert output["proof"]["is_proven"]
        [pull] = scene.seen()["pullRequests"]["nodes"]
        assert "No test that passed before fails, is skipped or is gone." in pull["body"]
        assert "were not run without the change" not in pull["body"]


@needs("node", "npm")
def test_packages_of_a_lock_file_are_installed_by_its_own_tool_and_the_item_is_finished(
    tmp_path: Path,
) -> None:
    registries.need(registries.NPM)
    with open_scene(tmp_path) as scene, ModelServer() as server:
        lay_out(scene, played.JAVASCRIPT)
        files = {"package.json": MANIFEST, "package-lock.json": LOCK, "test/day.test.js": USES_PACKAGE}
        for path, text in files.items():
            scene.write(path, text)
        scene.person.set_trigger()
        server.answers(*(replied(json.dumps(reply)) for reply in replies_of(played.JAVASCRIPT)))
        stand = Stand(scene, server)
        stand.play()

        assert stand.visited[-1] == "integration@A"
        [pull] = scene.seen()["pullRequests"]["nodes"]
        assert "No test that passed before fails, is skipped or is gone." in pull["body"]
        changed = scene.git("diff", "--name-only", "main", pull["headRefName"]).split()
        assert {played.JAVASCRIPT.code, played.JAVASCRIPT.test} <= set(changed)
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
