"""Whether a program of this machine is older than the repository asks for; pure rules from texts."""

import json
import re
from collections.abc import Mapping

from cogworks.services.command.toolchains import how_to_get

ASKING = ("go.mod", "package.json")
"""The manifests that say how old a program may be."""

_GO = re.compile(r"(?m)^go\s+(\d{1,4}(?:\.\d{1,4}){1,2})")
_NODE = re.compile(r"^\s*(?:>=|\^|~)\s*v?(\d{1,4}(?:\.\d{1,4}){0,2})[^|]*$")


def too_old(manifests: Mapping[str, str], versions: Mapping[str, str]) -> tuple[str, ...]:
    """What to install, in words, for each program that is older than a manifest wants.

    Cargo says it itself.

    Args:
        manifests: name -> text; those that are read are `go.mod` and `package.json`.
        versions: what programs say of themselves.
    """
    wanted = {"go": ("go.mod", _of_go(manifests)), "node": ("package.json", _of_node(manifests))}
    return tuple(
        f"{manifest} asks for {program} {least} or newer, and this machine has {versions[program]}: {how_to_get(program, least)}."
        for program, (manifest, least) in wanted.items()
        if least and program in versions and _numbers(versions[program]) < _numbers(least)
    )


def _of_go(manifests: Mapping[str, str]) -> str:
    found = _GO.search(manifests.get("go.mod", ""))
    return found[1] if found else ""


def _of_node(manifests: Mapping[str, str]) -> str:
    """The least version of a plain range; empty where it is none, or one of several."""
    try:
        engines = json.loads(manifests.get("package.json") or "{}").get("engines")
    except (ValueError, RecursionError, AttributeError):
        return ""
    found = _NODE.match(str(engines.get("node", ""))) if isinstance(engines, dict) else None
    return found[1] if found else ""


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(each) for each in found[0].split(".")) if found else ()
