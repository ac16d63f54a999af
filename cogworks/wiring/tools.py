"""The composition root of `cogworks tools` and `policy`: a directory in, its tools and policies out.

Runs the scripts that ship with cogworks.
"""

import sys
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file
from importlib.resources import files as package_files
from pathlib import Path

from cogworks.codebase.disktree import tree_name
from cogworks.codebase.failures import GitFailed
from cogworks.codebase.git import Git
from cogworks.codebase.scripts import ScriptRun, run_script
from cogworks.codegen.governed import POLICY
from cogworks.errors import ConfigurationError, NodeFailed, UsageError
from cogworks.settings.config import child_environment
from cogworks.tools.approvals import Approvals
from cogworks.tools.calling import Retries
from cogworks.tools.controller import Controller, ControllerPorts
from cogworks.tools.local import TOOL_FOLDER, Loaded, load
from cogworks.tools.policy import POLICY_FOLDER, Enforcer, Policy, parse_policy
from cogworks.tools.records import Identity, Record, Redactor, Trail, redactor_of
from cogworks.tools.registry import ToolRegistry

BUILT_IN: Mapping[str, Policy] = {POLICY.profile: POLICY}
"""A repository's policy of the same name only tightens these."""


@dataclass(frozen=True)
class Workshop:
    """The tools and policies of one directory."""

    directory: Path
    registry: ToolRegistry
    loaded: Loaded
    enforcer: Enforcer


@dataclass(frozen=True)
class Checked:
    """What a check of policy files came to."""

    policies: tuple[Policy, ...]
    problems: tuple[ConfigurationError, ...] = ()


def open_workshop(directory: Path) -> Workshop:
    """Read what a directory declares; a wrong tool is left out and reported, a wrong policy is an error.

    Raises:
        ConfigurationError: a policy is malformed or would loosen a built-in one.
        UsageError: a file cannot be read.
    """
    checked = check_policies(directory)
    if checked.problems:
        raise checked.problems[0]
    registry = ToolRegistry()
    loaded = load(_files(directory, TOOL_FOLDER), registry, _runner(directory))
    return Workshop(directory, registry, loaded, Enforcer(checked.policies))


def check_policies(directory: Path) -> Checked:
    """Every policy of a directory, and the built-in ones that it says nothing about.

    Raises:
        UsageError: a file cannot be read.
    """
    policies = dict(BUILT_IN)
    problems: list[ConfigurationError] = []
    for path, text in _files(directory, POLICY_FOLDER).items():
        name = path.rpartition("/")[2].removesuffix(".toml")
        try:
            policies[name] = parse_policy(text, source=path, built_in=BUILT_IN.get(name))
        except ConfigurationError as error:
            problems.append(error)
    return Checked(tuple(policies[name] for name in sorted(policies)), tuple(problems))


def open_redactor() -> Redactor:
    """Hides the secrets of this process's environment, and what looks like one."""
    return redactor_of(child_environment())


def open_controller(
    workshop: Workshop,
    *,
    seed: str,
    approved: Iterable[str] = (),
    rejected: Iterable[str] = (),
    keep: Callable[[Record], None],
) -> Controller:
    """A controller for one run over a directory's tools.

    Args:
        seed: of the pauses between attempts; also the run's id, made up when it is empty.
        approved: hashes of calls that a person agrees to.
        keep: takes each record before the work that it records goes on.
    """
    run_id = seed or str(uuid.uuid4())
    ports = ControllerPorts(
        registry=workshop.registry,
        enforcer=workshop.enforcer,
        approvals=Approvals(
            tree=lambda: tree_of(workshop.directory),
            approved=frozenset(approved),
            rejected=frozenset(rejected),
        ),
        retries=Retries(seed=run_id),
        sleep=time.sleep,
    )
    trail = Trail(
        Identity(run_id=run_id, node="tools", trace_id=run_id),
        now=time.time,
        redactor=open_redactor(),
        keep=keep,
    )
    return Controller(ports, trail)


def _files(directory: Path, folder: str) -> dict[str, str]:
    files = {}
    for path in sorted((directory / folder).glob("*.toml")):
        try:
            files[f"{folder}/{path.name}"] = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read: {error}") from error
    return files


def _runner(directory: Path) -> Callable[[Sequence[str], str, float], ScriptRun]:
    def run(command: Sequence[str], stdin: str, limit_s: float) -> ScriptRun:
        environment = child_environment()
        return run_script(command, stdin=stdin, environment=environment, limit_s=limit_s, folder=directory)

    return run


def tree_of(directory: Path) -> str:
    """The name of the files of a checkout, for which an approval holds."""
    try:
        git = Git(environment=child_environment(), home=directory).looking(directory)
        return tree_name(git, directory)
    except GitFailed as error:
        raise UsageError(
            f"{directory} is no git repository with a commit; an approval holds for a tree, so commit the files first.\n{error}"
        ) from error


def shipped_script(name: str, stdin: str, *, left_s: Callable[[], float | None]) -> ScriptRun:
    """Run a script of the package's `pipeline/scripts/` with this Python.

    Raises:
        NodeFailed: there is no such script.
    """
    folder = package_files("cogworks.pipeline").joinpath("scripts")
    script = folder.joinpath(f"{name}.py")
    if not script.is_file():
        raise NodeFailed(f"this version ships no script {name!r}; correct `call` in the built-in pipeline.")
    with as_file(script) as path:
        command = (sys.executable, "-I", str(path))
        return run_script(command, stdin=stdin, environment=child_environment(), limit_s=left_s())
