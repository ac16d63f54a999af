"""The process of the Python service: `cogworks service python --socket PATH`, `python -m cogworks.services.python`."""

import argparse
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from cogworks.services.python.answering import PythonService
from cogworks.services.sandbox.probing import strongest
from cogworks.services.serving import HttpAddress, end_with_standard_input, serve


def run(
    socket: Path | None,
    *,
    http: HttpAddress | None = None,
    until_stdin_closes: bool,
    listening: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until SIGTERM, or until standard input closes; a test run that is under way ends with the process.

    Args:
        listening: is told each address as soon as callers are let in.
    """
    # As an exception it passes through the `finally` that ends a running pytest.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if until_stdin_closes:
        end_with_standard_input()
    search_path = os.environ.get("PATH", os.defpath)
    walls = strongest(search_path)
    service = PythonService(search_path=search_path, walls=walls)
    serve(
        service.answer,
        socket_path=socket,
        http=http,
        listening=listening,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m cogworks.services.python")
    parser.add_argument("--socket", type=Path, required=True, help="where to listen")
    parser.add_argument(
        "--until-stdin-closes", action="store_true", help="end with the process that started this one"
    )
    arguments = parser.parse_args()
    run(arguments.socket, until_stdin_closes=arguments.until_stdin_closes)


if __name__ == "__main__":
    main()
