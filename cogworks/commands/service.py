"""`cogworks service`: the bundled domain services, each a process that answers on a Unix socket."""

from pathlib import Path

import click


@click.group("service")
def service() -> None:
    """Domain services: the processes that know a programming language.

    Example: cogworks service python --socket /run/user/1000/python.sock
    """


@service.command("python")
@click.option(
    "--socket",
    "socket_path",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="Where to listen; only this user may connect.",
)
@click.option("--until-stdin-closes", is_flag=True, help="End with the process that started this one.")
def python(socket_path: Path, until_stdin_closes: bool) -> None:
    """Check and test Python repositories, until it is ended by SIGTERM.

    Example: cogworks service python --socket /run/user/1000/python.sock
    """
    from cogworks.errors import UsageError
    from cogworks.services.python.__main__ import run

    try:
        run(socket_path, until_stdin_closes=until_stdin_closes)
    except OSError as error:
        raise UsageError(
            f"cannot listen at {str(socket_path)!r}: {error}. "
            "Give a path in a directory of yours that does not exist yet and has fewer than 100 characters."
        ) from error
