"""Tools that a repository declares: commands in processes of their own, told and answering in JSON."""

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from cogworks.codebase.scripts import MAX_OUTPUT_BYTES, ScriptRun, run_script
from cogworks.errors import CogworksError
from cogworks.tools.local import Loaded, load
from cogworks.tools.plans import Goal
from cogworks.tools.registry import Call, Handler, ToolFailed, ToolRegistry
from tests.cycle.test_executor import is_running
from tests.tools.repository import COUNTING
from tests.tools.tooling import World, allowing

CALL = Call(profile="local", step="1", config={}, scope={"x": 1}, metadata={"who": "me"}, timeout_s=20.0)


def runner(folder: Path) -> Any:
    def run(command: Sequence[str], stdin: str, limit_s: float) -> ScriptRun:
        environment = {**os.environ, "SECRET_TOKEN": "hunter2"}
        return run_script(command, stdin=stdin, environment=environment, limit_s=limit_s, folder=folder)

    return run


def never(command: Sequence[str], stdin: str, limit_s: float) -> ScriptRun:
    raise CogworksError(f"{command[0]} cannot be started")


def loaded(registry: ToolRegistry, *tools: dict[str, Any], run: Any = never) -> Loaded:
    files = {f".cogworks/tools/{number}.toml": tomli_w.dumps(tool) for number, tool in enumerate(tools)}
    return load(files, registry, run)


def handler(folder: Path, script: str) -> Handler:
    """The handler of a tool whose command is this Python."""
    registry = ToolRegistry()
    command = [sys.executable, "-S", "-I", "-c", script]
    assert loaded(registry, {**COUNTING, "command": command}, run=runner(folder)).refused == ()
    return registry.sandbox("local").resolve("local", "count_words").handler


def failure(folder: Path, script: str, call: Call = CALL) -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        handler(folder, script)({}, call)
    return failed.value


def test_a_declaration_is_registered_with_everything_it_says() -> None:
    registry = ToolRegistry()

    more = {"capabilities": ["count"], "latency": 3.0, "requires_approval": True}
    output = {"type": "object", "required": ["words"]}

    told = loaded(
        registry, {**COUNTING, "profiles": ["local", "other"], "cost": 2.0, "output_schema": output, **more}
    )

    assert [tool.name for tool in told.tools] == ["count_words"]
    assert registry.profiles == ("local", "other")
    tool = registry.sandbox("other").resolve("other", "count_words")
    assert (tool.cost, tool.effects, tool.idempotent, tool.timeout_s) == (2.0, "read", True, 20.0)
    assert (tool.input_schema, tool.scope_schema) == (COUNTING["input_schema"], COUNTING["scope_schema"])
    assert (tool.description, tool.output_schema) == (COUNTING["description"], output)
    assert (tool.capabilities, tool.latency, tool.requires_approval) == (("count",), 3.0, True)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"scope_schema": None}, "`scope_schema` is missing"),
        ({"effects": None}, "`effects` is missing"),
        ({"description": ""}, "`description` is ''"),
        ({"command": []}, "`command` is []"),
        ({"effects": "rea"}, "`effects` is 'rea'"),
        ({"timout_s": 3}, "`timout_s` is not a key cogworks knows; did you mean `timeout_s`?"),
        ({"profiles": ["../x"]}, "`profiles` holds '../x'"),
        ({"input_schema": {"type": "objekt"}}, "not a schema"),
        ({"cost": float("nan")}, "`cost` is nan"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_wrong_file_is_left_out_with_its_reason_and_the_others_count(
    changes: dict[str, Any], reason: str
) -> None:
    wrong = {name: value for name, value in {**COUNTING, **changes}.items() if value is not None}
    registry = ToolRegistry()

    told = loaded(registry, wrong, {**COUNTING, "name": "fine"})

    assert [tool.name for tool in told.tools] == ["fine"]
    assert [tool.name for tool in registry.sandbox("local")] == ["fine"]
    (refused,) = told.refused
    assert refused.file == ".cogworks/tools/0.toml"
    assert reason in refused.reason


def test_a_name_that_is_taken_is_left_out() -> None:
    told = loaded(ToolRegistry(), COUNTING, COUNTING)

    assert (len(told.tools), len(told.refused)) == (1, 1)
    assert "tool 'count_words' is already registered for profile 'local'" in told.refused[0].reason


def test_a_command_is_told_input_scope_and_metadata_in_the_repository(tmp_path: Path) -> None:
    script = "import json, os, sys; print(json.dumps({'told': json.load(sys.stdin), 'in': os.getcwd()}))"

    output = handler(tmp_path, script)({"path": "é"}, CALL)

    told = {"input": {"path": "é"}, "scope": {"x": 1}, "metadata": {"who": "me"}}
    assert output == {"told": told, "in": str(tmp_path)}


def test_no_secret_of_the_environment_reaches_a_command(tmp_path: Path) -> None:
    output = handler(tmp_path, "import json, os; print(json.dumps({'names': sorted(os.environ)}))")({}, CALL)

    assert "PATH" in output["names"]
    assert not any("TOKEN" in name for name in output["names"])


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        ("import sys; sys.exit('no such file')", "exit_code", "ended with 1: no such file"),
        ("import sys; sys.exit(75)", "unavailable", "ended with 75: it said nothing"),
        ("print('hello')", "output_validation_failed", "its standard output is not one JSON value"),
        ("print('[1]')", "output_validation_failed", "its standard output is not a JSON object"),
        (f"print('{{\"x\": \"' + 'x' * {2 * MAX_OUTPUT_BYTES} + '\"}}')", "output_validation_failed", "not one JSON value"),
    ],
    ids=["failed", "later", "no-json", "no-object", "endless"],
)  # fmt: skip
def test_how_a_command_can_fail(tmp_path: Path, script: str, code: str, message: str) -> None:
    failed = failure(tmp_path, script)

    assert failed.code == code
    assert message in str(failed)


def test_a_command_past_its_time_is_killed_with_its_children(tmp_path: Path) -> None:
    script = (
        "import subprocess, time\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "open('child', 'w').write(str(child.pid))\n"
        "time.sleep(60)"
    )

    failed = failure(tmp_path, script, Call(**{**vars(CALL), "timeout_s": 1.5}))

    assert (failed.code, str(failed)) == ("timeout", "killed after 1.5 s, with everything it had started")
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not is_running(child):
            break
        time.sleep(0.05)
    assert not is_running(child)


def test_a_command_that_cannot_be_started_is_a_failed_step(tmp_path: Path) -> None:
    registry = ToolRegistry()
    loaded(registry, {**COUNTING, "command": ["/no/such"]}, run=runner(tmp_path))
    world = World(registry, [allowing("count_words")])

    result = world.controller.run(Goal(text="count", inputs={"path": "a.md"}), "local")

    assert (result.success, result.code) == (False, "cannot_start")
    assert "/no/such" in result.message


def test_a_command_that_may_work_later_is_tried_again(tmp_path: Path) -> None:
    script = (
        "import json, os, sys\n"
        "tries = len(os.listdir('.'))\n"
        "open(str(tries), 'w').close()\n"
        "sys.exit(75) if tries < 1 else print(json.dumps({'words': tries}))"
    )
    registry = ToolRegistry()
    loaded(
        registry, {**COUNTING, "command": [sys.executable, "-S", "-I", "-c", script]}, run=runner(tmp_path)
    )
    world = World(registry, [allowing("count_words")])

    result = world.controller.run(Goal(text="count", inputs={"path": "a.md"}), "local")

    assert (result.success, result.steps[0].attempts, json.dumps(result.output)) == (True, 2, '{"words": 1}')
