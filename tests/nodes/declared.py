"""Nodes as a repository declares them, and a shell whose model answers through the real gateway."""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import tomli_w

from cogworks.codebase.scripts import ScriptRun
from cogworks.llm.budget import Budget, shipped_prices
from cogworks.llm.conversation import Looks
from cogworks.llm.gateway import Gateway, ModelSettings
from cogworks.llm.prompts import shipped_prompts
from cogworks.llm.repository_files import prompts_in
from cogworks.pipeline.graph import Node, Pipeline
from cogworks.pipeline.parser import parse_pipelines
from cogworks.repair.probe.investigating import SandboxPool
from cogworks.sight.index import Index
from cogworks.sight.seen import Stretch
from cogworks.sight.store import Store
from tests.fakes import MemoryWorkspace, ScriptedModel, ScriptedService
from tests.nodes.examples import FILES, report
from tests.pipeline.graphs import document

NOTE = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
    "additionalProperties": False,
}
WRITTEN = {
    "type": "object",
    "properties": {
        "files": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
                "required": ["path", "content"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["files"],
    "additionalProperties": False,
}
PROMPT = (
    'Note it.\n--- user ---\n{% include "_issue.md.j2" %}\n{{ inputs.plan | as_json | untrusted("plan") }}\n'
)


def files(**changed: str) -> dict[str, str]:
    """What the repository has below `.cogworks`; `prompts__x` stands for `prompts/x.md.j2`."""
    found = {
        "prompts/note.md.j2": PROMPT,
        "schemas/note.json": json.dumps(NOTE),
        "schemas/written.json": json.dumps(WRITTEN),
    }
    for name, text in changed.items():
        folder, _, stem = name.partition("__")
        found[f"{folder}/{stem}{'.md.j2' if folder == 'prompts' else '.json'}"] = text
    return found


def pipeline_of(*nodes: Mapping[str, Any], built_in: bool = False) -> Pipeline:
    """Nodes in a row, behind one that puts out `plan`."""
    tables = [{"id": "planning", "type": "llm", "outputs": ["plan"]}, *nodes]
    edges = " ".join(f"{one['id']}>{other['id']}" for one, other in pairwise(tables))
    text = tomli_w.dumps(document(tables, edges))
    return parse_pipelines(text, source=".cogworks/pipeline.toml", built_in=built_in).choose()


def declared(built_in: bool = False, **keys: Any) -> Node:
    """One node as the file says it."""
    return pipeline_of({"id": "note", "type": "llm", **keys}, built_in=built_in).nodes[1]


@dataclass
class Desk:
    """What a node may use; obeys `cogworks.nodes.contract.NodePorts`."""

    model: Gateway
    provider: ScriptedModel
    service: ScriptedService = field(default_factory=lambda: ScriptedService(lambda _: report(["test_sum"])))
    copy: MemoryWorkspace = field(default_factory=lambda: MemoryWorkspace(FILES))
    said: list[str] = field(default_factory=list)
    script_run: ScriptRun = field(default_factory=lambda: ScriptRun(exit_code=0, stdout="", stderr=""))
    scripts: list[tuple[str, str]] = field(default_factory=list)

    def check(self) -> None:
        """Nobody wants it to stop."""

    def checkpoint(self) -> None:
        """There is no ledger."""

    def within(self, limit_s: float) -> AbstractContextManager[None]:
        return nullcontext()

    def now(self) -> float:
        return 0.0

    def keep(self, name: str, text: str) -> None:
        raise AssertionError(f"nothing is to be kept here, and {name!r} was")

    def sandbox_pool(self) -> AbstractContextManager[SandboxPool]:
        raise AssertionError("no probe is wanted here")

    def say_once(self, line: str) -> None:
        if line not in self.said:
            self.say(line)

    def say(self, line: str) -> None:
        self.said.append(line)

    def looks(self, hidden: frozenset[str] = frozenset()) -> Looks | None:
        return None

    def looked(self) -> Mapping[str, Sequence[Stretch]]:
        return {}

    def index(self) -> Index:
        return Index(self.copy, Store())

    def workspace(self) -> MemoryWorkspace:
        return self.copy

    def script(self, name: str, stdin: str) -> ScriptRun:
        self.scripts.append((name, stdin))
        return self.script_run


def desk(*answers: object, brought: Mapping[str, str] | None = None, **more: Any) -> Desk:
    """A desk whose model gives these answers, as JSON."""
    provider = ScriptedModel(*[json.dumps(answer) for answer in answers])
    gateway = Gateway(
        provider,
        shipped_prompts(prompts_in(files() if brought is None else brought)),
        ModelSettings(model="claude-sonnet-5-5"),
        prices=shipped_prices(),
        budget=Budget(),
    )
    return Desk(gateway, provider, **more)


def asked(at: Desk) -> Sequence[str]:
    """All that was said to the model before each of its answers."""
    return ["\n\n".join(message.text for message in request.messages) for request in at.provider.requests]
