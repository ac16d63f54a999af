"""One folder of a repository as if it were the whole: a request comes in with its paths, and the answer goes out with those of the repository."""

import posixpath
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cogworks.codebase.changes import path_problem
from cogworks.domain_services.messages import EVERYTHING, ErrorCode, Repository, Request, Response
from cogworks.services.python.responses import refused

_FRAME = re.compile(r"^(?P<path>(?:\.\./)*[\w.-][\w./ -]{0,400}\.pyi?)(?=:\d+: )", re.MULTILINE)
"""How pytest names a place of the repository in what it prints."""
_PATH_KEYS = frozenset(
    {"artifact", "artifacts", "test", "tests", "groups", "collection_errors", "blocked", "left"}
)
"""Keys of results whose texts begin with a path."""


def whole_of(folder: Path, root: str) -> Path:
    """The repository whose folder `root` this is."""
    return folder.parents[root.count("/")] if root else folder


def answered_in_root(request: Request, folder: Path, answer: Callable[[Request, Path], Response]) -> Response:
    """What `answer` says of the folder that `repository.root` names, in the paths of the repository.

    It is handed a request whose paths begin in that folder.
    """
    root = request.repository.root if request.repository else ""
    if not root:
        return answer(request, folder)
    if (problem := _problem(folder, root)) is not None:
        text = f"repository.root {root!r}: {problem}; correct `root` in `.cogworks/services.toml`"
        return refused(request.request_id, ErrorCode.ARTIFACT_NOT_FOUND, text)
    try:
        params = _narrowed(request.params, root)
    except _Elsewhere as error:
        text = f"{str(error)!r} lies outside of {root!r}, which this service is for"
        return refused(request.request_id, ErrorCode.INVALID_REQUEST, text)
    repository = _with_own_requirements(request.repository, root) if request.repository else None
    narrowed = request.model_copy(update={"params": params, "repository": repository})
    return _widened(answer(narrowed, folder / root), root)


def _with_own_requirements(repository: Repository, root: str) -> Repository:
    """The repository with requirements files named from the folder on; those elsewhere are named by the way up."""
    if not repository.settings.requirements:
        return repository
    paths = tuple(posixpath.relpath(path, root) for path in repository.settings.requirements)
    settings = repository.settings.model_copy(update={"requirements": paths})
    return repository.model_copy(update={"settings": settings})


class _Elsewhere(Exception):
    """The path lies in no folder that is looked at."""


def _problem(folder: Path, root: str) -> str | None:
    if (problem := path_problem(root)) is not None:
        return problem
    place = folder
    for part in root.split("/"):
        place /= part
        try:
            mode = place.lstat().st_mode
        except OSError:
            return "there is no such folder"
        if not stat.S_ISDIR(mode):
            return "that is no folder, or a link"
    return None


def _narrowed(params: Mapping[str, Any], root: str) -> dict[str, Any]:
    """The parameters with paths that begin in the folder.

    Raises:
        _Elsewhere: a file or test that is asked about is not in it.
    """
    narrowed = dict(params)
    for key in ("artifacts", "tests", "groups", "artifact", "test"):
        if key in narrowed:
            narrowed[key] = _inside(narrowed[key], root)
    if narrowed.get("steps_of"):
        narrowed["steps_of"] = _inside(narrowed["steps_of"], root)
    if root in _texts(params.get("tests")):
        # The folder itself is its whole suite.
        narrowed["tests"] = []
    if "changed" in narrowed:
        narrowed["changed"] = [
            _inside(path, root) for path in _texts(narrowed["changed"]) if _is_inside(path, root)
        ]
    for key in ("lines", "mistakes_in"):
        if isinstance(stretches := narrowed.get(key), dict):
            narrowed[key] = {
                _inside(path, root): each for path, each in stretches.items() if _is_inside(path, root)
            }
    if isinstance(against := narrowed.get("against"), dict):
        # Its files are those of the whole repository.
        narrowed["against"] = _narrowed(against, root)
    if "seeds" in narrowed:
        # Names of symbols stand among them.
        narrowed["seeds"] = [
            _inside(seed, root) if _is_inside(seed, root) else seed for seed in _texts(narrowed["seeds"])
        ]
    return narrowed


def _is_inside(path: str, root: str) -> bool:
    return path == root or path.startswith((f"{root}/", f"{root}::"))


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _inside(path: Any, root: str) -> Any:
    """Of a list each; anything else but a text is left to the code that knows the form of the parameters."""
    if isinstance(path, list):
        return [_inside(each, root) for each in path]
    if not isinstance(path, str):
        return path
    if not _is_inside(path, root):
        raise _Elsewhere(path)
    return path[len(root) + 1 :] if path != root else path


def _widened(response: Response, root: str) -> Response:
    diagnostics = tuple(
        each.model_copy(
            update={
                "artifact": _outside(each.artifact, root),
                "message": _message(each.message, each.artifact, root),
            }
        )
        for each in response.diagnostics
    )
    return response.model_copy(update={"result": _result(response.result, root), "diagnostics": diagnostics})


def _result(original: Mapping[str, Any], root: str) -> dict[str, Any]:
    result: dict[str, Any] = {key: _value(key, value, root) for key, value in original.items()}
    if isinstance(modules := result.get("modules"), dict):
        result["modules"] = {name: _outside(path, root) for name, path in modules.items()}
    if isinstance(commands := result.get("commands"), list):
        result["commands"] = [f"cd {root} && {command}" for command in commands]
    return result


def _value(key: str, value: Any, root: str) -> Any:
    if isinstance(value, dict):
        return _of_lines(value, root) if key in ("lines", "seconds") else _result(value, root)
    if isinstance(value, list) and key == "cases":
        return [_case(each, root) for each in value]
    if isinstance(value, list) and key == "choices":
        return [{**each, "source": f"{root}/{each['source']}" if each["source"] else ""} for each in value]
    if isinstance(value, list):
        return [_value(key, each, root) for each in value]
    if isinstance(value, str) and key in _PATH_KEYS:
        return _placed(key, value, root)
    return value


def _case(case: Any, root: str) -> Any:
    return {**case, "id": _outside(case["id"], root), "message": _frames(case.get("message", ""), root)}


def _placed(key: str, value: str, root: str) -> str:
    """Of a collection error only the place at its beginning; of an attempt only where a test made it."""
    if key == "blocked" and "::" not in value.split(": ", 1)[0]:
        return value
    if key not in ("collection_errors", "blocked"):
        return _outside(value, root)
    place, separator, text = value.partition(": ")
    # Without one the error is that of the whole run, and names no place.
    return f"{_outside(place, root)}{separator}{_frames(text, root)}" if separator else value


def _of_lines(by_path: Mapping[str, Any], root: str) -> dict[str, Any]:
    return {_outside(path, root): stretches for path, stretches in by_path.items()}


def _frames(text: str, root: str) -> str:
    return _FRAME.sub(lambda match: _outside(match["path"], root), text)


def _message(text: str, artifact: str, root: str) -> str:
    begins = artifact not in ("", EVERYTHING) and text.startswith((f"{artifact}::", f"{artifact}:"))
    return _outside(text, root) if begins else text


def _outside(path: str, root: str) -> str:
    """A path of the folder as one of the repository; what is no path of either stays."""
    if path in ("", EVERYTHING):
        return root
    if path.startswith(("/", "<")):
        return path
    if path.startswith("../"):
        return posixpath.normpath(f"{root}/{path}")
    return f"{root}/{path}"
