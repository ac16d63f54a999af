"""Context packs on a real hub: two that ship along change what a model is told, and one sends a change back without a question."""

import json
from pathlib import Path
from typing import Any

import pytest

from cogworks.hub.seeding import Settings, create_repository
from cogworks.hub.world import World
from tests.end_to_end import played
from tests.end_to_end.played import replies_of
from tests.end_to_end.scene import Scene, open_scene
from tests.end_to_end.test_example_pipelines import (
    FIXED,
    HOURS,
    PASSED,
    PLAN,
    SPECIFICATION,
    Stand,
    classified,
    code,
    standing,
    text_of,
)
from tests.end_to_end.test_other_languages import lay_out
from tests.model_server import ModelServer, replied
from tests.services.command.commanding import needs

# Seconds on a busy machine.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ASKED_FOR = '\n[context_packs]\nshipped = ["python-library", "rust-embedded-safety"]\n'
ANALYSIS = "# Panic path analysis\n\nNothing here can panic.\n\n## Stack Usage Analysis\n\nNo frame holds an array.\n"
DOCUMENT = "docs/safety/panic-path-analysis.md"
KNOWS = "The people of this project know the following about changes of this kind."


def ask_for_packs(scene: Scene) -> None:
    config = ".cogworks/config.toml"
    scene.write(config, f"{scene.file(config)}{ASKED_FOR}")


def systems(server: ModelServer) -> list[str]:
    """The system text of every question."""
    return [
        seen.body["system"] if isinstance(seen.body["system"], str) else seen.body["system"][0]["text"]
        for seen in server.seen
    ]


@needs("cargo")
def test_a_change_without_what_the_pack_for_firmware_requires_is_sent_back_without_a_token(
    tmp_path: Path,
) -> None:
    intake, specified, plan, tests, made, *_ = replies_of(played.RUST)
    intake = {**intake, "component_tags": ["driver"]}
    document = {"path": DOCUMENT, "action": "create", "content": ANALYSIS}
    again: dict[str, Any] = {**made, "files": [*made["files"], document]}
    with open_scene(tmp_path) as scene, ModelServer() as server:
        lay_out(scene, played.RUST)
        ask_for_packs(scene)
        scene.person.set_trigger()
        answers = (intake, specified, plan, tests, made, tests, again, PASSED, PASSED, PASSED)
        server.answers(*(replied(json.dumps(reply)) for reply in answers))
        stand = Stand(scene, server)
        stand.play()

        assert stand.visited[-4:] == ["review@A", "code_generation@A", "review@A", "integration@A"]
        visits = [visit for visit in scene.state()["visits"] if visit["node"] == "review"]
        assert [visit["spend"]["model_calls"] for visit in visits] == [0, 3]
        assert visits[0]["summary"] == "A: 2 blocking finding(s), 0 other(s)"
        told = systems(server)
        assert KNOWS not in told[0]
        assert all(KNOWS in each for each in told[1:])
        assert all("Panic path analysis" in each for each in told[1:])
        corrected = json.dumps(server.seen[6].body["messages"], ensure_ascii=False)
        assert "requires the artefact *Panic path analysis*, and it is missing" in corrected
        [pull] = scene.seen()["pullRequests"]["nodes"]
        assert "### Context packs" in pull["body"]
        assert (
            "- `rust-embedded-safety` (ships with cogworks): applies, component tag driver; language rust"
            in pull["body"]
        )
        assert (
            "- `python-library` (ships with cogworks): does not apply, language is rust, wanted python"
            in pull["body"]
        )
        assert scene.file(DOCUMENT, branch="cogworks/1/swi-1") == ANALYSIS


def test_the_pack_for_python_libraries_is_told_and_what_it_requires_was_there(tmp_path: Path) -> None:
    answers = (classified(), SPECIFICATION, PLAN, code(HOURS), PASSED, PASSED, PASSED)
    with standing(tmp_path, text_of("bugfix"), *answers) as stand:
        ask_for_packs(stand.scene)
        stand.play()

        told = systems(stand.server)
        assert [KNOWS in each for each in told] == [False, *[True] * 6]
        assert "A mutable default argument: all calls share it." in told[1]
        assert "*A test of the change* (python-library)" in told[3]
        [(branch, *_)] = stand.pulls
        assert stand.scene.file("src/hourglass/parsing.py", branch=branch) == FIXED


def test_a_repository_without_a_pack_that_applies_asks_what_it_asked_before(tmp_path: Path) -> None:
    answers = (classified(), SPECIFICATION, PLAN, code(HOURS), PASSED, PASSED, PASSED)
    asked: list[list[Any]] = []
    pack = ".cogworks/context-packs/firmware/"
    for name, files in (
        ("without", {}),
        (
            "with",
            {f"{pack}trigger.toml": '[trigger]\nlanguages = ["rust"]\n', f"{pack}anti-patterns.md": "No.\n"},
        ),
    ):
        with standing(tmp_path / name, text_of("bugfix"), *answers) as stand:
            for path, text in files.items():
                stand.scene.write(path, text)
            stand.play()
            asked.append([seen.body for seen in stand.server.seen])

    assert asked[0] == asked[1]


def test_what_the_packs_of_a_run_tell_is_shown_without_asking_anybody(tmp_path: Path) -> None:
    with open_scene(tmp_path / "scene") as scene:
        ask_for_packs(scene)
        scene.person.set_trigger()
        unchosen = scene.cogworks("context", "--json").told
        assert scene.cogworks("process").code == 0
        before = scene.everything()

        told = scene.cogworks("context", "--prompt", "--json").told
        page = scene.cogworks("context").out

        assert (unchosen["purpose"], unchosen["context_packs"]) == ("intake-1", None)
        assert told["purpose"] == "architecture-1"
        shown = told["context_packs"]
        assert shown["lines"] == [
            "`python-library` (ships with cogworks): applies, language python",
            (
                "`rust-embedded-safety` (ships with cogworks): does not apply, component tag is parsing, iso8601, formatting, "
                "wanted firmware or bootloader or driver or hal or interrupt or rtos or embedded; language is python, wanted rust"
            ),
        ]
        assert KNOWS in told["prompt"]
        assert 0 < shown["tokens"] < told["tokens"]
        assert f"Context packs, about {shown['tokens']} tokens of the system text:" in page
        assert all(f"  {line}" in page for line in shown["lines"])
        assert scene.everything() == before


EXAMPLE = "def read_decimal(text):\n    return float(text)  # as every reader of durations does\n"
DECISION = "# Quartz\n\nZeal is told apart.\n"
SOURCES = """
[[exemplar]]
repository = "octo-org/clocks"
path = "src/reading.py"
why = "how decimals are read"

[[exemplar]]
repository = "octo-org/clocks"
path = "src/absent.py"

[[exemplar]]
repository = "octo-org/closed"
path = "src/reading.py"

[[standard]]
path_pattern = "notes/*.md"
"""


def with_other_repositories(scene: Scene, tree: Path) -> None:
    (tree / "src").mkdir(parents=True)
    (tree / "src" / "reading.py").write_text(EXAMPLE)
    world = World(scene.hub)
    try:
        create_repository(world, "octo-org/clocks", tree=tree, settings=Settings(is_private=False))
        create_repository(world, "octo-org/closed", tree=tree)
    finally:
        world.close()


def users(server: ModelServer) -> list[str]:
    """The first thing that each question is asked."""
    return [json.dumps(seen.body["messages"][0], ensure_ascii=False) for seen in server.seen]


def test_files_of_another_repository_and_standards_are_shown_as_data_and_listed(tmp_path: Path) -> None:
    answers = (classified(), SPECIFICATION, PLAN, code(HOURS), PASSED, PASSED, PASSED)
    pack = ".cogworks/context-packs/decimals/"
    with standing(tmp_path, text_of("bugfix"), *answers) as stand:
        with_other_repositories(stand.scene, tmp_path / "clocks")
        stand.scene.write(f"{pack}trigger.toml", '[trigger]\nlanguages = ["python"]\n')
        stand.scene.write(f"{pack}sources.toml", SOURCES)
        stand.scene.write("notes/quartz.md", DECISION)
        stand.play()

        asked, told = users(stand.server), systems(stand.server)
        shown = [json.dumps(EXAMPLE)[1:-1] in each for each in asked]
        assert not shown[0]
        assert all(shown[1:4])
        assert not any("as every reader of durations does" in each for each in told)
        assert (
            "file of another repository octo-org/clocks:src/reading.py; shown because: how decimals are read"
            in asked[1]
        )
        assert "Zeal is told apart." in asked[1]
        [pull] = stand.scene.seen()["pullRequests"]["nodes"]
        assert "`decimals` shows `octo-org/clocks:src/reading.py` (blob <hash>) as an example" in pull["body"]
        absent = "is left out: it is not there, or the token may not see it"
        assert f"its exemplar `octo-org/clocks:src/absent.py` {absent}" in pull["body"]
        assert f"its exemplar `octo-org/closed:src/reading.py` {absent}" in pull["body"]
        kept = json.loads(stand.scene.git("show", "cogworks/ledger/1:visits/0001-intake/packs.json"))
        assert [each["text"] for each in kept["exemplars"]] == [EXAMPLE]
        ledger = "cogworks/ledger/1"
        manifests = [
            json.loads(stand.scene.git("show", f"{ledger}:{path}"))["shown"]
            for path in stand.scene.git("ls-tree", "-r", "--name-only", ledger).splitlines()
            if "code_generation@" in path and path.endswith("/manifest-1.json")
        ]
        entries = {each["path"]: each for each in manifests[0]}
        assert entries["octo-org/clocks:src/reading.py"]["level"] == "whole"
        assert "a standard of the context pack decimals" in entries["notes/quartz.md"]["reasons"]
