"""Paths in an input stay inside the repository and inside the scope; deny wins."""

from typing import Any

import pytest

from cogworks.tools.schemas import scope_problems

SCHEMA: dict[str, Any] = {
    "properties": {
        "path": {"type": "string", "format": "path"},
        "paths": {"type": "array", "items": {"type": "string", "format": "path"}},
        "text": {"type": "string"},
    }
}
SCOPE = {"allowed_paths": ["src/*"], "denied_paths": ["src/private/*"]}


@pytest.mark.parametrize("path", ["src/a.py", "src/deep/b.py"])
def test_a_path_in_the_scope_is_fine(path: str) -> None:
    assert scope_problems({"path": path, "paths": [path]}, SCHEMA, SCOPE) == ()


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("docs/a.md", "the path is not among the scope's `allowed_paths`"),
        ("src/private/key", "the path is among the scope's `denied_paths`"),
        ("/etc/passwd", "stay in it"),
        ("src/../../x", "stay in it"),
        ("src/./private/key", "stay in it"),
        ("src//private/key", "stay in it"),
        ("src\\..\\x", "stay in it"),
        ("", "stay in it"),
        (".git/config", "leads into .git"),
        ("src/sub/.GIT/hooks/x", "leads into .git"),
    ],
)
def test_a_path_outside_is_told_with_its_key(path: str, reason: str) -> None:
    (alone,) = scope_problems({"path": path}, SCHEMA, SCOPE)
    (listed,) = scope_problems({"paths": ["src/a.py", path]}, SCHEMA, SCOPE)

    assert alone.startswith("$.path: ")
    assert listed.startswith("$.paths[1]: ")
    assert reason in alone


def test_without_a_scope_a_path_still_stays_in_the_repository() -> None:
    assert scope_problems({"path": "anything"}, SCHEMA, {}) == ()
    assert len(scope_problems({"path": "../anything"}, SCHEMA, {})) == 1


def test_a_text_is_no_path_and_a_wrong_type_is_for_the_schema_to_refuse() -> None:
    assert scope_problems({"text": "/etc/passwd", "path": 7, "paths": [7]}, SCHEMA, SCOPE) == ()
