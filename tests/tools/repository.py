"""A git repository that declares tools of its own and a policy for them."""

import json
import sys
from pathlib import Path
from typing import Any

import tomli_w

from tests.codebase.repositories import git

COUNT = """
import json, sys
told = json.load(sys.stdin)
text = open(told["input"]["path"]).read()
print(json.dumps({"words": len(text.split())}))
"""
DEPLOY = """
import json, sys
told = json.load(sys.stdin)
open("deployed.txt", "a").write(told["input"]["to"] + "\\n")
print(json.dumps({"to": told["input"]["to"], "scope": told["scope"]}))
"""
COUNTING = {
    "name": "count_words",
    "profiles": ["local"],
    "description": "Counts the words of a file.",
    "command": [sys.executable, "-S", "-I", "scripts/count.py"],
    "capabilities": ["count"],
    "effects": "read",
    "idempotent": True,
    "timeout_s": 20.0,
    "input_schema": {
        "type": "object",
        "properties": {"path": {"type": "string", "format": "path"}},
        "required": ["path"],
        "additionalProperties": False,
    },
    "output_schema": {"type": "object", "properties": {"words": {"type": "integer"}}, "required": ["words"]},
    "scope_schema": {
        "type": "object",
        "properties": {"allowed_paths": {"type": "array", "items": {"type": "string"}}},
        "additionalProperties": False,
    },
}
DEPLOYING = {
    **COUNTING,
    "name": "deploy",
    "description": "Puts it where people see it.",
    "command": [sys.executable, "-S", "-I", "scripts/deploy.py"],
    "capabilities": ["deploy"],
    "effects": "external",
    "idempotent": False,
    "input_schema": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
    "output_schema": {"type": "object"},
}
POLICY: dict[str, Any] = {
    "profile": "local",
    "effects": ["read", "external"],
    "tools": {"count_words": {"scope": {"allowed_paths": ["docs/*"]}}, "deploy": {}},
}


def declare(folder: Path, **tools: dict[str, Any]) -> None:
    """Write the declarations of tools, each into the file of its key's name."""
    place = folder / ".cogworks/tools"
    place.mkdir(parents=True, exist_ok=True)
    for name, tool in tools.items():
        (place / f"{name}.toml").write_text(tomli_w.dumps(tool))


def repository(folder: Path) -> Path:
    """Commit two tools, their scripts, a policy and a text of five words."""
    declare(folder, count=COUNTING, deploy=DEPLOYING)
    files = {
        ".cogworks/policies/local.toml": tomli_w.dumps(POLICY),
        "scripts/count.py": COUNT,
        "scripts/deploy.py": DEPLOY,
        "docs/a.md": "five words and no more",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "tools")
    return folder


def input_of(**given: Any) -> str:
    """The option `--input`."""
    return json.dumps(given)
