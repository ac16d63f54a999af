"""The task file of `cogworks fix`: what fails and shall pass, by the names of SWE-bench or by our own."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from cogworks.errors import ConfigurationError
from cogworks.vocabulary import Value

_TARGETS = ("failing_tests", "FAIL_TO_PASS")
_TEXTS = ("instance_id", "test_patch", "base_commit", "repo", "problem_statement", "test_cmd", "version")
_LISTS = (*_TARGETS, "PASS_TO_PASS")
_IGNORED = ("patch", "hints_text", "created_at", "environment_setup_commit", "difficulty")
"""Of SWE-bench; the reference solution among them. They are read by nobody."""
_KNOWN = (*_TEXTS, *_LISTS, "targeted_expr", "metadata", *_IGNORED)


class Instance(Value):
    """One repair to make."""

    instance_id: str = Field(min_length=1, max_length=200)
    failing_tests: tuple[str, ...]
    """Exact ids; fail before and pass after. None: whatever fails before, which a task file may not ask for."""
    pass_to_pass: tuple[str, ...] = ()
    """Exact ids that go on passing; none: whatever passes."""
    test_patch: str = ""
    """Unified diff that brings the failing tests; no part of the repair."""
    base_commit: str = ""
    """Where the repair starts; empty: the last commit."""
    test_cmd: str = ""
    metadata: Mapping[str, Any] = {}


def parse_instance(text: str, *, source: str) -> Instance:
    """Read a task file.

    Raises:
        ConfigurationError: every problem at once.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(source, [f"is not JSON: {error}"]) from None
    if not isinstance(data, dict):
        raise ConfigurationError(source, [f"is {type(data).__name__}, wanted an object"])
    problems = [
        f"`{key}` is not a key of a task; known are {', '.join(_KNOWN)}" for key in data if key not in _KNOWN
    ]
    texts = {key: _text(data, key, problems) for key in _TEXTS}
    lists = {key: _list(data, key, problems) for key in _LISTS}
    if data.get("targeted_expr"):
        problems.append("`targeted_expr` selects tests by parts of their names; name them in `failing_tests`")
    named = [key for key in _TARGETS if lists[key]]
    if len(named) != 1:
        problems.append("wants the failing tests, by exact id, in one of `failing_tests` and `FAIL_TO_PASS`")
    if not texts["instance_id"] or len(texts["instance_id"]) > 200:
        problems.append("wants an `instance_id` of 1 to 200 characters")
    if not isinstance(data.get("metadata", {}), dict):
        problems.append("`metadata` is no object")
    if problems:
        raise ConfigurationError(source, problems)
    return Instance(
        instance_id=texts["instance_id"],
        failing_tests=lists[named[0]],
        pass_to_pass=lists["PASS_TO_PASS"],
        test_patch=texts["test_patch"],
        base_commit=texts["base_commit"],
        test_cmd=texts["test_cmd"],
        metadata=data.get("metadata", {}),
    )


def _text(data: Mapping[str, Any], key: str, problems: list[str]) -> str:
    value = data.get(key, "")
    if isinstance(value, str):
        return value
    problems.append(f"`{key}` is {value!r}, wanted a text")
    return ""


def _list(data: Mapping[str, Any], key: str, problems: list[str]) -> tuple[str, ...]:
    """A list of test ids; SWE-bench writes it as JSON inside a text."""
    value = data.get(key, [])
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    if isinstance(value, list) and all(isinstance(each, str) and each.strip() for each in value):
        return tuple(dict.fromkeys(value))
    problems.append(f"`{key}` is no list of test ids")
    return ()
