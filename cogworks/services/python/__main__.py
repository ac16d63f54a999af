"""The process of the Python service: `cogworks service python --socket PATH`, `python -m cogworks.services.python`."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from cogworks.services.python.answering import PythonService
from cogworks.services.python.cloning import Clones
from cogworks.services.python.code.files import Shelf
from cogworks.services.python.code.gathering import gather
from cogworks.services.python.environments import Environments
from cogworks.services.python.machine import Machine
from cogworks.services.sandbox.isolation import Isolation
from cogworks.services.sandbox.probing import begun
from cogworks.services.sandbox.starting import LAUNCHERS
from cogworks.services.serving import HttpAddress, end_with_standard_input, serve
from cogworks.stopping import left_by_signal


def run(
    socket: Path | None,
    *,
    http: HttpAddress | None = None,
    environments: Environments | None = None,
    clones_from: Sequence[str] = (),
    clone_token: str | None = None,
    until_stdin_closes: bool,
    listening: Callable[[str], None] = lambda _: None,
    isolation: Callable[[], Isolation] | None = None,
) -> None:
    """Serve until SIGTERM, or until standard input closes; a test run that is under way ends with the process.

    Args:
        environments: of the repositories; None: tests run with the packages of this process.
        clones_from: the URLs below which repositories may be cloned, with `clone_token`.
        listening: called with each address as soon as callers are let in.
        isolation: the strongest of this machine, where somebody looks for it already.
    """
    # As an exception it passes through the `finally` that ends a running pytest.
    with left_by_signal():
        if until_stdin_closes:
            end_with_standard_input(LAUNCHERS.close)
        search_path = os.environ.get("PATH", os.defpath)
        ready_isolation = isolation or begun(search_path)
        with Clones(clones_from, token=clone_token, environment=os.environ) as clones:
            service = PythonService(
                Machine(
                    search_path, ready_isolation(), environments, facts_of=Shelf(gather).facts, clones=clones
                )
            )
            serve(service.answer, socket_path=socket, http=http, listening=listening)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m cogworks.services.python")
    parser.add_argument("--socket", type=Path, required=True, help="where to listen")
    parser.add_argument(
        "--until-stdin-closes", action="store_true", help="end with the process that started this one"
    )
    parser.add_argument("--environments", type=Path, help="where the environments of repositories are kept")
    arguments = parser.parse_args()
    folder = arguments.environments
    environments = None if folder is None else Environments(folder, settings=dict(os.environ), say=_say)
    run(arguments.socket, environments=environments, until_stdin_closes=arguments.until_stdin_closes)


if __name__ == "__main__":
    main()
