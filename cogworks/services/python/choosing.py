"""Chooses the Python for one request: the repository's own environment, or the service's where that does as well."""

import time
from pathlib import Path

from cogworks.codebase.failures import GitFailed
from cogworks.domain_services.messages import ErrorCode, RepositorySettings, Request
from cogworks.services.python.building.checkout import checkout_of
from cogworks.services.python.building.project import project_of
from cogworks.services.python.interpreters import Interpreter, NotBuilt, bare, own, python_problem, suffices
from cogworks.services.python.machine import Machine
from cogworks.services.python.manifest import read_manifest
from cogworks.services.python.manifest_files import base_problem, files_of
from cogworks.services.python.roots import whole_of
from cogworks.services.sandbox.walls import refusal


def interpreter_for(request: Request, folder: Path, machine: Machine, *, limit_s: float) -> Interpreter:
    """With which Python code of the repository in `folder` is run for this request.

    What has to be installed is read from the manifest of `repository.base`, never from what a change made of it.

    Args:
        limit_s: how long making an environment may take.

    Raises:
        NotBuilt: there is none, and the text says why.
    """
    base, root = (request.repository.base, request.repository.root) if request.repository else (None, "")
    if (problem := base_problem(base)) is not None:
        raise NotBuilt(problem, ErrorCode.INVALID_REQUEST)
    if machine.environments is None:
        return own()
    try:
        files = files_of(folder, base, search_path=machine.search_path, root=root)
    except GitFailed as error:
        raise NotBuilt(
            f"the manifest of the repository cannot be read: {error}", ErrorCode.ARTIFACT_NOT_FOUND
        ) from error
    manifest = read_manifest(files)
    settings = request.repository.settings if request.repository else RepositorySettings()
    project = None if settings.install == "never" else project_of(files)
    if project is None and suffices(manifest.requirements):
        return bare(manifest.left_out)
    if (problem := python_problem(manifest.requires_python)) is not None:
        raise NotBuilt(problem, ErrorCode.TOOL_NOT_FOUND)
    if request.caller.needs_walls and (reason := refusal(machine.walls)) is not None:
        raise NotBuilt(reason, ErrorCode.TOOL_NOT_FOUND)
    deadline = time.monotonic() + limit_s
    found = machine.environments.interpreter(
        manifest, walls=machine.walls, search_path=machine.search_path, limit_s=limit_s
    )
    if project is None:
        return found
    try:
        checkout = checkout_of(whole_of(folder, root), base, search_path=machine.search_path, root=root)
    except GitFailed as error:
        raise NotBuilt(f"the project cannot be checked out to be built: {error}") from error
    return machine.environments.with_project(
        found,
        project,
        checkout,
        walls=machine.walls,
        search_path=machine.search_path,
        limit_s=max(deadline - time.monotonic(), 1.0),
    )
