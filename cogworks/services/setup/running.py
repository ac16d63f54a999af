"""Runs a repository's setup once, in isolation with a door to package registries, and keeps what it made as a layer."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from cogworks.codebase.failures import GitFailed
from cogworks.domain_services.messages import ErrorCode
from cogworks.removal import temporary_folder
from cogworks.services.python.building.checkout import Checkout, lay_out
from cogworks.services.python.index_gateway import Gateway, index_door
from cogworks.services.python.installing import configured_indexes
from cogworks.services.python.keeping import measured
from cogworks.services.python.package_index import Indexes
from cogworks.services.python.pythons import NotBuilt
from cogworks.services.python.pythons import own as own_python
from cogworks.services.sandbox.inside.order import Limits
from cogworks.services.sandbox.isolation import Isolation
from cogworks.services.sandbox.running import Confined, Ended, run
from cogworks.services.setup.complaints import Attempt, not_set_up
from cogworks.services.setup.connecting import Remembered, Way, proxies_of, resolved
from cogworks.services.setup.door import OPENER, Door, through
from cogworks.services.setup.forwarding import Traffic, proxy_door
from cogworks.services.setup.harvest import harvested, notes_of, seen_in
from cogworks.services.setup.layers import FILES, GEMS, HOME, lay_over, own_programs
from cogworks.services.setup.registries import (
    PUBLIC,
    VARIABLE,
    Malformed,
    Own,
    Registries,
    named_by,
    own_registries,
    read_hosts,
)
from cogworks.services.setup.setups import Command, Setup, commands_of, script_text
from cogworks.services.setup.unreached import without_downloads

# V8 and the JVM reserve far more address space than they ever use; what counts is memory.
_LIMITS = Limits(
    address_bytes=512 * 1024**3, disk_bytes=4 * 1024**3, file_bytes=2 * 1024**3, disk_entries=400_000
)
_CPU_FACTOR = 4
_INDEX = "https://pypi.org/simple/"
_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
_CERTIFICATE_VARIABLES = (
    "SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "CARGO_HTTP_CAINFO",
    "GIT_SSL_CAINFO", "npm_config_cafile",
)  # fmt: skip


class Ground(NamedTuple):
    """What a setup works on."""

    checkout: Checkout
    layers: Sequence[Path] = ()
    """Folders whose files lie in the copy before it begins, where the copy has none of that name."""


class Means(NamedTuple):
    """What the machine lends to a setup."""

    isolation: Isolation
    search_path: str
    settings: Mapping[str, str]
    """Environment of this process, as far as it says where packages come from; none of it reaches a setup as it is."""
    user_home: Path
    readable: Sequence[Path] = ()
    writable: Sequence[Path] = ()
    """What of its own it may change besides its copy and its home."""
    programs: Sequence[Path] = ()
    """Folders to put before PATH."""
    variables: Mapping[str, str] = MappingProxyType({})
    limits: Limits = _LIMITS
    hints: Callable[[str], tuple[str, ...]] = lambda _: ()
    """Asked where a line fails, with what it printed: what to do, in words, by what the repository asks for."""


class _Room(NamedTuple):
    """The directories of one setup; all of them end with it."""

    copy: Path
    home: Path
    temporary: Path
    lists: Path
    """What it gets in files; it may only read them."""
    outside: Path
    """Out of its reach."""


def set_up(setup: Setup, ground: Ground, means: Means, place: Path, *, limit_s: float) -> Mapping[str, Any]:
    """Run a setup, lay out what it made in a folder that does not exist yet, and return the notes about it.

    Raises:
        NotBuilt: it did not finish, and the text says why and what to do.
    """
    started_s = time.monotonic()
    with _room() as room:
        readable = _laid_out(ground, room, means)
        before = seen_in(room.copy)
        notes = [*setup.notes, *_run_all(setup, ground, means, room, readable, limit_s=limit_s)]
        place.mkdir(parents=True)
        harvest = harvested(room.copy, place / FILES, before)
        harvested(room.home, place / HOME, {})
    return {"notes": [*notes, *notes_of(harvest)], **measured(place, time.monotonic() - started_s)}


def registries_of(settings: Mapping[str, str], own: Own) -> Registries:
    """Every host that a setup may reach on this machine.

    Raises:
        NotBuilt: the operator named what is no host.
    """
    try:
        return Registries((*PUBLIC, *named_by(own.urls), *read_hosts(settings.get(VARIABLE, ""))))
    except Malformed as error:
        raise NotBuilt(str(error), ErrorCode.INVALID_REQUEST) from error


@contextmanager
def _room() -> Iterator[_Room]:
    with temporary_folder("cogworks-setup-") as folder:
        room = _Room(*(folder / each for each in ("copy", "home", "tmp", "lists", "outside")))
        for each in room[1:]:
            each.mkdir()
        yield room


def _laid_out(ground: Ground, room: _Room, means: Means) -> tuple[Path, ...]:
    try:
        readable = lay_out(ground.checkout, room.copy, search_path=means.search_path)
    except GitFailed as error:
        raise NotBuilt(f"the repository cannot be checked out for its setup: {error}") from error
    lay_over(ground.layers, room.copy / ground.checkout.root)
    return readable


def _run_all(
    setup: Setup, ground: Ground, means: Means, room: _Room, readable: Sequence[Path], *, limit_s: float
) -> list[str]:
    """Run every command, and return the notes about a setup that finished."""
    deadline = time.monotonic() + limit_s
    script = room.lists / "setup.sh"
    script.write_text(script_text(setup), encoding="utf-8", newline="")
    script.chmod(0o755)
    indexes = _indexes(means)
    own = own_registries(means.settings, means.user_home, indexes.urls)
    if own.cargo:
        (room.home / ".cargo").mkdir()
        (room.home / ".cargo/config.toml").write_text(own.cargo, encoding="utf-8")
    registries = registries_of(means.settings, own)
    traffic = Traffic(Way(registries, Remembered(resolved), proxies_of(means.settings)))
    notes: list[str] = []
    with ExitStack() as stack:
        gateway = stack.enter_context(closing(Gateway(indexes)))
        doors = [stack.enter_context(each) for each in (proxy_door(traffic), index_door(gateway))]
        environment = _environment(room, means, own, doors) | dict(setup.variables)
        own_places = (*own_python().readable, room.lists, OPENER, *map(Path, indexes.find_links))
        readable = (*readable, *means.readable, *own_places)
        if indexes.find_links:
            environment |= {"PIP_FIND_LINKS": " ".join(indexes.find_links)}
        for command in commands_of(setup, str(script)):
            left_s = max(deadline - time.monotonic(), 1.0)
            # An earlier command may have installed another Node.js, whose headers are others.
            without = without_downloads(registries, environment["PATH"])
            confined = _confined(command, ground, means, room, readable)._replace(
                command=through(doors, command.words), environment=without | environment, timeout_s=left_s
            )
            ended = _run(confined, means, room, doors)
            if ended.code != 0:
                problems = (*traffic.problems, *dict.fromkeys(gateway.problems))
                words = _readable_words(ended, room)
                attempt = Attempt(setup, command, words, limit_s, traffic.refused, problems)
                raise not_set_up(
                    attempt._replace(is_hopeless=traffic.is_hopeless, hints=means.hints(words.output))
                )
            notes += [f"`{command.shown}`: {each}" for each in ended.blocked]
    # One that goes on without what it asked for may have made half of what it should.
    return [*notes, *(f"the setup asked for {each}" for each in traffic.refused)]


def _indexes(means: Means) -> Indexes:
    """Those of Python: as pip is configured, else where everybody finds them."""
    try:
        return configured_indexes(means.settings)
    except NotBuilt:
        # A setup of another language has no use for pip.
        return Indexes(urls=(_INDEX,))


def _run(confined: Confined, means: Means, room: _Room, doors: Sequence[Door]) -> Ended:
    scratch = Path(tempfile.mkdtemp(dir=room.outside))
    return run(confined, means.isolation, scratch=scratch, kept=[door.theirs for door in doors])


def _confined(
    command: Command, ground: Ground, means: Means, room: _Room, readable: Sequence[Path]
) -> Confined:
    return Confined(
        command=command.words,
        directory=room.copy / ground.checkout.root,
        environment={},
        readable=readable,
        writable=(room.copy, room.home, room.temporary, *means.writable),
        timeout_s=1.0,
        limits=means.limits._replace(cpu_s=means.limits.cpu_s * _CPU_FACTOR),
        # Without a network of its own it has to be let into ours to reach even a door; a filter would stop that.
        has_network=means.isolation.engine == "none",
    )


def _environment(room: _Room, means: Means, own: Own, doors: Sequence[Door]) -> dict[str, str]:
    proxy, index = (door.address for door in doors)
    names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
    local = "localhost,127.0.0.1,::1"
    return {
        "PATH": os.pathsep.join([*map(str, means.programs), *own_programs(room.home), means.search_path]),
        "HOME": str(room.home),
        "TMPDIR": str(room.temporary),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "CI": "true",
        "NO_COLOR": "1",
        **_QUIET,
        # Downloads are no part of what is kept.
        "npm_config_cache": str(room.temporary / "npm"),
        "YARN_CACHE_FOLDER": str(room.temporary / "yarn"),
        "XDG_CACHE_HOME": str(room.temporary / "cache"),
        "BUNDLE_USER_CACHE": str(room.temporary / "bundle"),
        # Browsers are what tests start, in the folders where these look without a variable.
        "PLAYWRIGHT_BROWSERS_PATH": str(room.home / ".cache/ms-playwright"),
        "CYPRESS_CACHE_FOLDER": str(room.home / ".cache/Cypress"),
        # Where the system has its own nothing may be written, whichever user runs this; those are found all the same.
        "GEM_HOME": str(room.home / GEMS),
        **dict.fromkeys(names, proxy),
        # From 2 on Yarn hears of no proxy by the names that all others know.
        "YARN_HTTP_PROXY": proxy,
        "YARN_HTTPS_PROXY": proxy,
        "NO_PROXY": local,
        "no_proxy": local,
        "PIP_INDEX_URL": f"{index}/simple/",
        "UV_DEFAULT_INDEX": f"{index}/simple/",
        "UV_INDEX_URL": f"{index}/simple/",
        **_certificates(means),
        **dict(own.variables),
        **means.variables,
    }


_QUIET = {
    "BUNDLE_SILENCE_ROOT_WARNING": "true",
    "DEBIAN_FRONTEND": "noninteractive",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    # The clone belongs to the user who runs the service, the setup to the user in isolation.
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
    "GOFLAGS": "-modcacherw",
    "GOTOOLCHAIN": "local",
    "GOTELEMETRY": "off",
    "CARGO_TERM_COLOR": "never",
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_NO_CACHE_DIR": "1",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_PROGRESS_BAR": "off",
    "PIP_ROOT_USER_ACTION": "ignore",
    "UV_NO_CACHE": "1",
    "UV_PYTHON_DOWNLOADS": "never",
    "YARN_ENABLE_TELEMETRY": "0",
    "npm_config_audit": "false",
    "npm_config_fund": "false",
    "npm_config_update_notifier": "false",
    "npm_config_progress": "false",
}


def _certificates(means: Means) -> dict[str, str]:
    """Where tools that bring certificates of their own find those that this machine trusts."""
    file = next(
        (each for each in (means.settings.get("SSL_CERT_FILE", ""), _CERTIFICATES) if Path(each).is_file()),
        "",
    )
    return dict.fromkeys(_CERTIFICATE_VARIABLES, file) if file else {}


def _readable_words(ended: Ended, room: _Room) -> Ended:
    """The end without the names of directories that differ from run to run."""
    text = ended.output
    for place, name in (
        (room.copy, ""),
        (room.home, "~/"),
        (room.temporary, "<tmp>/"),
        (room.lists, "<cogworks>/"),
    ):
        text = text.replace(f"{place}/", name).replace(str(place), name.rstrip("/") or ".")
    return ended._replace(output=text)
