"""`cogworks service`: the bundled domain services, and the conformance suite for anybody's."""

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from cogworks.cli.tables import show_line
from cogworks.domain_services.languages import REPORTS
from cogworks.errors import UsageError

if TYPE_CHECKING:
    from cogworks.services.python.environments import Environments
    from cogworks.services.serving import HttpAddress


class ServiceGroup(click.Group):
    """Imports the conformance suite only when it is named: a service that starts has no use for what it needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), "conformance"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "conformance":
            from cogworks.cli.conformance import conformance

            return conformance
        return super().get_command(ctx, cmd_name)


@click.group("service", cls=ServiceGroup)
def service() -> None:
    """Run or examine a domain service, which knows a language.

    Example: cogworks service python --socket /run/user/1000/python.sock
    """


@service.command("python")
@click.option(
    "--socket",
    "socket_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to listen; only this user may connect.",
)
@click.option("--http", "http_address", metavar="HOST:PORT", help="Listen for HTTP; port 0 takes a free one.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Holds the bearer token that HTTP callers must send.",
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="PEM file with certificate and key: HTTPS.",
)
@click.option(
    "--environments",
    "environments_folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the environments of repositories are kept; default: below COGWORKS_WORK_DIR.",
)
@click.option(
    "--build-from-source",
    is_flag=True,
    help="Build packages that come only as source even where isolation is incomplete. This runs their code.",
)
@click.option(
    "--clones-from",
    multiple=True,
    metavar="URL",
    help="A server, or a folder on it, from which repositories may be cloned for callers on other machines.",
)
@click.option(
    "--clone-token-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Holds the token for --clones-from.",
)
@click.option("--until-stdin-closes", is_flag=True, help="End with the process that started this one.")
def python(
    socket_path: Path | None,
    http_address: str | None,
    token_file: Path | None,
    certificate: Path | None,
    environments_folder: Path | None,
    build_from_source: bool,
    clones_from: tuple[str, ...],
    clone_token_file: Path | None,
    until_stdin_closes: bool,
) -> None:
    """Check and test Python repositories, until SIGTERM.

    Give --certificate and --token-file to let it listen beyond this machine.

    Example: cogworks service python --socket /run/user/1000/python.sock
    """
    if socket_path is None and http_address is None:
        raise UsageError("where should the service listen? Give --socket PATH or --http HOST:PORT.")
    http = None if http_address is None else _http(http_address, token_file, certificate)
    clone_token = _clone_token(clones_from, clone_token_file)
    from cogworks.services.sandbox.probing import begun

    # The trial waits for programs most of the time, in which the rest is loaded.
    isolation = begun(os.environ.get("PATH", os.defpath))
    from cogworks.services.python.__main__ import run

    environments = _environments(environments_folder, build_from_source=build_from_source)
    try:
        run(
            socket_path,
            http=http,
            environments=environments,
            clones_from=clones_from,
            clone_token=clone_token,
            until_stdin_closes=until_stdin_closes,
            listening=lambda address: show_line(f"listening at {address}"),
            isolation=isolation,
        )
    except OSError as error:
        place = http_address if socket_path is None else str(socket_path)
        raise UsageError(
            f"cannot listen at {place!r}: {error}. Give a free port, or a path in a directory of yours that does not "
            "exist yet and has fewer than 100 characters."
        ) from error


@service.command("command")
@click.option(
    "--socket",
    "socket_path",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="Where to listen; only this user may connect.",
)
@click.option("--language", default="", help="Only this language, e.g. `go` [default: from the manifests].")
@click.option(
    "--root-language", default="", help="What the root is written in, as far as it is known without looking."
)
@click.option("--setup", multiple=True, metavar="LINE", help="Run once before the tests (repeatable).")
@click.option("--test", default="", metavar="LINE", help="Runs the whole suite; default: from the manifests.")
@click.option(
    "--test-one", default="", metavar="LINE", help="Runs one test: {test}, {file}, {folder} or {name}."
)
@click.option(
    "--lint", default="", metavar="LINE", help="Prints `file:line: message`; {files} for the files."
)
@click.option("--format", "formatter", default="", metavar="LINE", help="Rewrites {files} in place.")
@click.option("--report", type=click.Choice(REPORTS), help="What the tests write; default: exit-code.")
@click.option("--report-file", default="", metavar="PATTERN", help="Where; default: standard output.")
@click.option(
    "--environments",
    "kept",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep what compilers leave for work items here between runs [default: keep none].",
)
@click.option("--until-stdin-closes", is_flag=True, help="End with the process that started this one.")
def command(
    socket_path: Path,
    language: str,
    root_language: str,
    setup: tuple[str, ...],
    test: str,
    test_one: str,
    lint: str,
    formatter: str,
    report: str | None,
    report_file: str,
    kept: Path | None,
    until_stdin_closes: bool,
) -> None:
    """Check and test repositories in any language by commands, until SIGTERM.

    \b
    Example:
      cogworks service command --socket /run/user/1000/go.sock --test "go test -json ./..." --report go-json
    """
    from cogworks.domain_services.languages import LANGUAGES
    from cogworks.services.command.__main__ import run
    from cogworks.services.command.ground import Commands

    for option, value in (("--language", language), ("--root-language", root_language)):
        if value and value not in LANGUAGES:
            raise UsageError(f"{option} is {value!r}; known here: {', '.join(LANGUAGES)}")
    commands = Commands(
        language, setup, test, test_one, lint, formatter, report or "", report_file, root_language
    )
    try:
        run(
            socket_path,
            commands=commands,
            kept=kept,
            until_stdin_closes=until_stdin_closes,
            listening=lambda address: show_line(f"listening at {address}"),
        )
    except OSError as error:
        raise UsageError(
            f"cannot listen at {str(socket_path)!r}: {error}. Give a path in a directory of yours that does not exist yet "
            "and has fewer than 100 characters."
        ) from error


def _environments(folder: Path | None, *, build_from_source: bool) -> "Environments":
    from cogworks.services.python.environments import Environments
    from cogworks.settings.config import child_environment, environments_folder, read_environment

    return Environments(
        folder or environments_folder(read_environment()),
        settings=child_environment(),
        may_build=build_from_source,
        say=lambda text: show_line(text, err=True),
    )


def _http(address: str, token_file: Path | None, certificate: Path | None) -> "HttpAddress":
    from cogworks.domain_services.configuration import address_problem
    from cogworks.services.serving import HttpAddress

    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"--http is {address!r}; want HOST:PORT, e.g. 127.0.0.1:9100")
    token = _token("--token-file", token_file)
    scheme = "http" if certificate is None else "https"
    if reason := address_problem(f"{scheme}://{address}", has_token=bool(token)):
        raise UsageError(
            f"--http {address!r} {reason.split(';')[0]}; add --certificate and --token-file, or listen on 127.0.0.1"
        )
    return HttpAddress(host.strip("[]"), int(port), token, certificate)


def _clone_token(clones_from: tuple[str, ...], file: Path | None) -> str | None:
    places = [urlsplit(url) for url in clones_from]
    for url, place in zip(clones_from, places, strict=True):
        if place.scheme not in ("http", "https") or not place.netloc or place.username:
            raise UsageError(
                f"--clones-from is {url!r}; want the URL of a server or of a folder on it, without a user, e.g. "
                "https://github.com/octo-org/"
            )
    if file is not None and len({(place.scheme, place.netloc) for place in places}) != 1:
        raise UsageError("--clone-token-file goes to one server; name exactly that with --clones-from")
    return _token("--clone-token-file", file) or None


def _token(option: str, file: Path | None) -> str:
    token = file.read_text(encoding="utf-8").strip() if file else ""
    if file and not token:
        raise UsageError(f"{option} {str(file)!r} is empty; write the token on its first line")
    return token
