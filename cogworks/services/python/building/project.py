"""Whether a repository declares how it is built, and what decides what a build comes to."""

import hashlib
import json
import posixpath
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from cogworks.toml_text import tables_in
from cogworks.vocabulary import Value

_SETUPTOOLS = "setuptools.build_meta"
_VERSIONED = re.compile(r"scm|vcs|version|pbr|dunamai|hatch-cada|incremental")
"""In the name of a build requirement: it looks at commits and tags."""
_TELLS_VERSION = frozenset(
    {"__init__.py", "_version.py", "version.py", "__about__.py", "__version__.py", "setup.py"}
)
_NEVER_BUILT = (".md", ".rst", ".po", ".mo", ".png", ".svg", ".jpg", ".gif", ".pdf")


class Project(Value):
    """A project with a build step."""

    backend: str
    """As `build-backend` names it."""
    requires: tuple[str, ...] = ()
    """Build requirements."""
    backend_path: tuple[str, ...] = ()
    """Folders of the repository that the backend itself comes from."""

    @property
    def looks_at_history(self) -> bool:
        """Whether the version may come from commits and tags."""
        return any(_VERSIONED.search(_name_of(each)) for each in self.requires)


def project_of(files: Mapping[str, str]) -> Project | None:
    """The build step that these files declare; None: plain folders, which stay on the path as they are.

    A `[project]` table without `[build-system]` is taken for a list of dependencies alone: many a repository that nobody
    builds has one.

    Args:
        files: repository-relative path -> text, `pyproject.toml` and `setup.py` among them where they are there.
    """
    data = _table(files.get("pyproject.toml", ""))
    system = data.get("build-system")
    tools = data.get("tool") if isinstance(data.get("tool"), dict) else {}
    if _says(tools, "poetry", "package-mode", is_=False) or _says(tools, "uv", "package", is_=False):
        return None
    if isinstance(system, dict):
        backend = system.get("build-backend")
        return Project(
            backend=backend if isinstance(backend, str) else _SETUPTOOLS,
            requires=_texts(system.get("requires")),
            backend_path=_texts(system.get("backend-path")),
        )
    if "setup.py" in files:
        return Project(backend=_SETUPTOOLS, requires=("setuptools",))
    return None


def inputs_key(project: Project, blobs: Mapping[str, str], version: str) -> str:
    """A name for everything that decides what a build makes.

    Python sources have no part in it but those that may tell the version: they come from the copy under test.

    Args:
        blobs: every file of the commit: path -> name of its content.
        version: what git says of the commit's place among tags; empty where the project does not look at it.
    """
    inputs = {
        "form": 1,
        "project": [project.backend, *project.requires],
        "paths": sorted(path for path in blobs if not path.endswith(_NEVER_BUILT)),
        "contents": sorted((path, name) for path, name in blobs.items() if _decides(path, project)),
        "version": version,
    }
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:40]


def _decides(path: str, project: Project) -> bool:
    if any(path.startswith(f"{posixpath.normpath(folder)}/") for folder in project.backend_path):
        return True
    if path.endswith(_NEVER_BUILT) or path.startswith((".github/", "docs/", "tests/", "test/")):
        return False
    # A `setup.py` may import what lies beside it.
    return not path.endswith(".py") or "/" not in path or posixpath.basename(path) in _TELLS_VERSION


def _says(tools: Any, tool: str, key: str, *, is_: bool) -> bool:
    table = tools.get(tool)
    return isinstance(table, dict) and table.get(key) is is_


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _table(text: str) -> dict[str, Any]:
    try:
        return tables_in(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _name_of(requirement: str) -> str:
    try:
        return str(canonicalize_name(Requirement(requirement).name))
    except InvalidRequirement:
        return ""
