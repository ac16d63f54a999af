"""What the jobs of `.github/workflows` that run tests install before, and how they run them."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cogworks.services.python.recipe.commands import script_needs
from cogworks.services.python.recipe.handed_on import handed_on
from cogworks.services.python.recipe.result import Asked
from cogworks.services.python.recipe.texts import table

FOLDER = ".github/workflows/"
_MOST_CHARS = 200_000
_UV_RUN = re.compile(r"\buv run\b")
_TRUE = frozenset({"1", "true", "t", "yes", "y", "on"})
"""Values of variables by which uv is told to do something."""
_LIKELY = ("tests", "ci", "unit", "pytest", "python", "build", "main", "check")
_ELSEWHERE = frozenset(
    [
        "pyodide", "emscripten", "wasm", "wasi", "windows", "win", "macos", "mac", "osx", "android", "ios", "freebsd", "cygwin", "alpine", "musl", "qemu",
        "pypy", "gpu", "cuda", "nightly", "upstream", "bleeding", "dev", "slow", "doctest", "doctests", "benchmark", "benchmarks",
    ]
)  # fmt: skip
"""Words of jobs that run tests on another platform, with versions that are not out yet, or other tests than the usual ones."""


def workflows_asked(files: Mapping[str, str]) -> Asked | None:
    """What the likeliest job with a command that runs tests says; None: there is none."""
    jobs = [
        (_rank(path, name), path, name, asked)
        for path, text in sorted(files.items())
        if path.startswith(FOLDER)
        for name, asked in _jobs(text, files)
        if asked.runner
    ]
    if not jobs:
        return None
    _, path, name, asked = min(jobs, key=lambda each: each[:3])
    return asked.model_copy(
        update={
            "source": f"{path}, job {name!r}",
            "why": "this job installs what it names and runs the tests",
        }
    )


def _rank(path: str, job: str) -> tuple[int, int, int, int]:
    def words_of(name: str) -> list[str]:
        words = re.split(r"[-_. ]+", name.lower())
        return ["tests" if word in ("test", "runtests") else word for word in words]

    def likely(name: str) -> int:
        return next((at for at, each in enumerate(_LIKELY) if each in words_of(name)), len(_LIKELY))

    file = posixpath.splitext(posixpath.basename(path))[0]
    elsewhere = len(_ELSEWHERE.intersection(words_of(job) + words_of(file)))
    # More words say which tests: of another version, of a plugin.
    return elsewhere, likely(job), likely(file), len(words_of(job))


def _jobs(text: str, files: Mapping[str, str]) -> Iterator[tuple[str, Asked]]:
    data = _loaded(text)
    for name, job in table(data, "jobs").items():
        steps = job.get("steps") if isinstance(job, dict) else None
        if isinstance(steps, list):
            default = table(job, "defaults", "run").get("working-directory")
            outer = {**table(data, "env"), **table(job, "env")}
            yield str(name), _of_steps(steps, default, files, outer)


def _of_steps(
    steps: Sequence[Any], default: Any, files: Mapping[str, str], outer: Mapping[str, Any]
) -> Asked:
    needs = Asked()
    for step in steps:
        script = step.get("run") if isinstance(step, dict) else None
        if not isinstance(script, str):
            continue
        if str({**outer, **table(step, "env")}.get("UV_NO_SYNC", "")).lower() in _TRUE:
            script = _UV_RUN.sub("uv run --no-sync", script)
        folder = step.get("working-directory", default)
        asked = script_needs(script, folder=folder if isinstance(folder, str) else "")
        # What a job sets is about its machine; what a script of the project sets is about its tests.
        asked = handed_on(asked.model_copy(update={"variables": {}}), files)
        # A later step may install for something else than the tests.
        needs = needs.joined(asked)
        if needs.runner:
            break
    return needs


def _loaded(text: str) -> Any:
    """A document of YAML, or nothing: merged keys could make a small text very large."""
    if len(text) > _MOST_CHARS or "<<" in text:
        return {}
    import yaml  # noqa: PLC0415 - slow, and seldom needed

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are the safe one
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, AttributeError):
        return {}
