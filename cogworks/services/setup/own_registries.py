"""Which package registries this machine is configured for, beyond the public ones: read from files and variables of whoever runs it."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cogworks.services.python.package_index import without_credentials
from cogworks.toml_text import tables_in

_NPM = re.compile(r"(?m)^[ \t]*((?:@[\w.~-]{1,100}:)?registry)[ \t]*=[ \t]*[\"']?([^\s\"']{1,500})")
_GO = re.compile(r"(?m)^GOPROXY=(\S{1,2000})$")
_MOST_BYTES = 1024**2


class Own(NamedTuple):
    """What the machine's own configuration says."""

    urls: tuple[str, ...] = ()
    """Of registries; without credentials."""
    variables: tuple[tuple[str, str], ...] = ()
    """By which the tools inside find the same; without credentials."""


def own_registries(settings: Mapping[str, str], home: Path, indexes: Iterable[str] = ()) -> Own:
    """What npm, cargo and go are configured for, and the indexes of Python that pip is.

    Args:
        settings: environment of this process.
        home: of the user it runs as; never a folder of a repository.
        indexes: URLs of package indexes; may hold credentials.
    """
    npm = [*_of_npm(settings), *_NPM.findall(_text(home / ".npmrc"))]
    default = next((url for name, url in npm if name == "registry"), "")
    go = settings.get("GOPROXY") or next(iter(_GO.findall(_text(home / ".config/go/env"))), "")
    proxies = [_plain(each) for each in re.split(r"[,|]", go) if "://" in each]
    cargo = tuple(_of_cargo(Path(settings.get("CARGO_HOME") or home / ".cargo")))
    urls = (*(_plain(each) for each in indexes), *(_plain(url) for _, url in npm), *proxies, *cargo)
    told = {"npm_config_registry": _plain(default), "GOPROXY": ",".join(proxies)}
    return Own(tuple(dict.fromkeys(urls)), tuple((name, value) for name, value in told.items() if value))


def _of_npm(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        if url := settings.get(name):
            yield "registry", url


def _of_cargo(folder: Path) -> Iterator[str]:
    try:
        told = tables_in(_text(folder / "config.toml") or _text(folder / "config"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    for table, key in (("source", "registry"), ("registries", "index")):
        tables: Any = told.get(table)
        for each in tables.values() if isinstance(tables, dict) else ():
            if isinstance(each, dict) and isinstance(each.get(key), str):
                yield _plain(each[key])


def _plain(url: str) -> str:
    try:
        return without_credentials(url)
    except ValueError:
        return ""


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode(errors="replace")
    except OSError:
        return ""
