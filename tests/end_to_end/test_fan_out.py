"""Three nodes that are ready at once, and three runners: they truly work at the same time, and one ledger tells of it."""

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import tomli_w

import cogworks
from tests.end_to_end.scene import Ended, Scene, open_scene
from tests.forking import Cogworks
from tests.limits import ENDS_WITHIN_S
from tests.model_server import Answer, ModelServer, Seen, replied

pytestmark = [pytest.mark.timeout(300), pytest.mark.slow]

PACKAGE = Path(cogworks.__file__).parent
CASSETTES = PACKAGE / "demo" / "cassettes"
DEFAULT_PIPELINE = PACKAGE / "pipeline" / "default_pipeline.toml"
PATIENCE_S = 90.0
SUBJECT = re.compile(r"cogworks: (?P<node>\S+) (?P<verb>\S+) \[skip ci\]")
KEYS = ("A", "B", "C")


def recorded(purpose: str) -> dict[str, Any]:
    cassette = tomllib.loads((CASSETTES / f"{purpose}.toml").read_text("utf-8"))
    answer: dict[str, Any] = cassette["reply"]["answer"]
    return answer


def planned() -> dict[str, Any]:
    """Three sub-work-items, none of which waits for another."""
    first, second = recorded("planning-1")["sub_work_items"]
    third = {**second, "interfaces": [], "title": "Tell what the numbers mean"}
    items = zip(KEYS, (first, second, third), strict=True)
    return {"sub_work_items": [{**item, "key": key, "depends_on": []} for key, item in items]}


CODE = {
    "summary": "Add a number",
    "files": [
        {"action": "create", "path": "src/hourglass/extra.py", "content": "NUMBER = 3\n"},
        {
            "action": "create",
            "path": "tests/test_extra.py",
            "content": "from hourglass.extra import NUMBER\n\n\ndef test_it():\n    assert NUMBER == 3\n",
        },
    ],
    "tests": ["tests/test_extra.py"],
    "beyond_plan": [
        {"path": "src/hourglass/extra.py", "reason": "The number has no place in the other files."}
    ],
}


def pipeline_file() -> str:
    """The default pipeline up to code generation, without gates, several sub-work-items at the same time."""
    content = tomllib.loads(DEFAULT_PIPELINE.read_text("utf-8"))
    pipeline = content["pipelines"]["default"]
    pipeline["settings"]["parallel_sub_items"] = True
    pipeline["nodes"] = [node for node in pipeline["nodes"] if node["id"] not in ("review", "integration")]
    kept = {node["id"] for node in pipeline["nodes"]}
    pipeline["edges"] = [edge for edge in pipeline["edges"] if {edge["source"], edge["target"]} <= kept]
    for node in pipeline["nodes"]:
        node["gate"] = "auto-proceed"
        node["inputs"] = [slot for slot in node.get("inputs", ()) if slot != "review"]
    return tomli_w.dumps(content)


@dataclass(frozen=True)
class FannedOut:
    """What three concurrent steps came to."""

    steps: tuple[Ended, ...]
    state: dict[str, Any]
    log: tuple[tuple[int, str, str], ...]
    """Every ledger commit, oldest first: when, by the hub's clock, which node, which verb."""
    branches: dict[str, str]
    fsck: Ended


@pytest.fixture(scope="module")
def fanned_out(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FannedOut]:
    meeting = Barrier(len(KEYS))

    def when_all_ask(_: Seen) -> Answer:
        # Whoever asks waits until all three wait: it passes only if their work overlaps.
        meeting.wait(PATIENCE_S)
        return replied(json.dumps(CODE))

    with ModelServer() as model, open_scene(tmp_path_factory.mktemp("fan-out") / "scene") as scene:
        model.answers(
            *(
                replied(json.dumps(recorded(f"{node}-1")))
                for node in ("intake", "architecture", "interface_design")
            ),
            replied(json.dumps(planned())),
            *[when_all_ask] * len(KEYS),
        )
        speaks = {
            "COGWORKS_LLM_PROVIDER": "anthropic",
            "COGWORKS_LLM_API_KEY": "a-key-of-these-tests",
            "COGWORKS_LLM_BASE_URL": model.url,
        }
        scene.write(".cogworks/pipeline.toml", pipeline_file())
        scene.let_tests_come_with_the_code()
        scene.person.set_trigger()
        for _ in range(4):
            ended = scene.cogworks("process", "--json", **speaks)
            assert ended.told["outcome"] == "succeeded", ended.out
        runners = [start(scene, f"machine-{key}", speaks) for key in KEYS]
        steps = [finish(runner) for runner in runners]
        yield FannedOut(
            steps=tuple(steps),
            state=scene.state(),
            log=tuple(log_of(scene)),
            branches=scene.refs(),
            fsck=scene.cogworks("fsck", "--json"),
        )


def start(scene: Scene, machine: str, speaks: dict[str, str]) -> Cogworks:
    environment = scene.environment(**speaks, COGWORKS_WORK_DIR=str(scene.stage.directory / machine))
    return Cogworks(
        ["process", scene.issue_url, "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(runner: Cogworks) -> Ended:
    out, err = runner.communicate(timeout=200)
    return Ended(runner.wait(timeout=ENDS_WITHIN_S), out, err)


def log_of(scene: Scene) -> Iterator[tuple[int, str, str]]:
    told = scene.git("log", "--reverse", "--format=%ct %s", "cogworks/ledger/1")
    for line in told.splitlines():
        at, _, subject = line.partition(" ")
        if found := SUBJECT.fullmatch(subject):
            yield int(at), found["node"], found["verb"]


def test_three_runners_each_do_one_of_three_ready_nodes(fanned_out: FannedOut) -> None:
    ends = sorted(fanned_out.steps, key=lambda step: str(step.told["node"]))

    assert [(step.code, step.told["node"]) for step in ends] == [
        (0, f"code_generation@{key}") for key in KEYS
    ], (fanned_out.steps, fanned_out.log)
    assert sorted(step.told["outcome"] for step in ends) == ["done", "succeeded", "succeeded"]


def test_their_visits_overlap_in_the_ledgers_timings(fanned_out: FannedOut) -> None:
    times = {(node, verb): at for at, node, verb in fanned_out.log if node.startswith("code_generation@")}
    order = [(node, verb) for _, node, verb in fanned_out.log if verb in ("claim", "succeeded")][-6:]
    began = [times[f"code_generation@{key}", "claim"] for key in KEYS]
    ended = [times[f"code_generation@{key}", "succeeded"] for key in KEYS]
    durations = [v["duration_s"] for v in fanned_out.state["visits"] if v["node"] == "code_generation"]

    assert [verb for _, verb in order] == ["claim"] * 3 + ["succeeded"] * 3
    assert max(began) <= min(ended), "every visit began before any of them ended"
    # Seconds are as fine as commits tell; one of them is lost at either end.
    assert max(ended) - max(began) <= max(durations) + 2
    assert max(ended) - max(began) < sum(durations)


def test_they_leave_one_consistent_ledger_and_a_branch_each(fanned_out: FannedOut) -> None:
    visits = fanned_out.state["visits"]

    assert fanned_out.state["status"] == "done"
    assert (fanned_out.state["leases"], fanned_out.state["given_back"]) == ([], [])
    assert len({visit["visit_key"] for visit in visits}) == len(visits) == 7
    assert {visit["status"] for visit in visits} == {"succeeded"}
    assert sorted(visit["index"] for visit in visits) == list(range(1, 8))
    assert [name for name in fanned_out.branches if "swi" in name] == [
        f"cogworks/1/swi-{at}" for at in (1, 2, 3)
    ]
    assert fanned_out.fsck.code == 0, fanned_out.fsck
