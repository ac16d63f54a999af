"""Nodes that run a script of a built-in pipeline: what it is told, and what its end means."""

import json
from typing import Any

from cogworks.codebase.scripts import ScriptRun
from cogworks.errors import NodeFailed
from cogworks.nodes.contract import Failed, NodeProcedure, NodeShell, NodeTask, Outcome, Succeeded
from cogworks.nodes.intake import issue
from cogworks.pipeline.graph import Node

MAX_KEPT_CHARS = 20_000
"""Of each of the two outputs, in the ledger."""


def procedure_of_script(node: Node) -> NodeProcedure:
    """What a deterministic node with `method = "script"` does."""

    def run(task: NodeTask, shell: NodeShell) -> Outcome:
        done = ran(node, task, shell)
        if done.exit_code is None:
            return Failed(reason=f"{node.id}: its script was killed at the time limit", category="timed_out")
        passed = done.exit_code == 0
        told = decided(node, done) if passed and done.stdout.strip() else {}
        output = {
            "passed": passed,
            "exit_code": done.exit_code,
            "stdout": done.stdout[:MAX_KEPT_CHARS],
            "stderr": done.stderr[:MAX_KEPT_CHARS],
            **told,
        }
        return Succeeded(output=output, summary=f"script {node.call or node.id} ended with {done.exit_code}")

    return run


def ran(node: Node, task: NodeTask, shell: NodeShell) -> ScriptRun:
    """The node's script, told the issue and the declared inputs as one JSON object on its standard input."""
    name = node.call or node.id
    shell.say(f"{node.id}: running script {name}")
    told = {"item": issue(task.item), "inputs": {slot: task.inputs.get(slot) for slot in node.inputs}}
    return shell.script(name, json.dumps(told, sort_keys=True))


def decided(node: Node, done: ScriptRun) -> dict[str, Any]:
    """The JSON object that a script printed.

    Raises: NodeFailed when it printed something else.
    """
    try:
        told = json.loads(done.stdout)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise NodeFailed(
            f"{node.id}: script {node.call or node.id!r} (exit code {done.exit_code}) printed no JSON object; its "
            f"standard error ends with: {done.stderr[-500:].strip() or 'nothing'}"
        )
    return told
