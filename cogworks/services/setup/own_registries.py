"""Which package registries this machine is configured for, beyond the public ones: read from files and variables of whoever runs it."""

import json
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


class _Source(NamedTuple):
    url: str
    """Empty: it only says what stands in its place."""
    text: str
    """The table of cargo's configuration that says so."""


class Own(NamedTuple):
    """What the machine's own configuration says."""

    urls: tuple[str, ...] = ()
    """Of registries; without credentials."""
    variables: tuple[tuple[str, str], ...] = ()
    """By which the tools inside find the same; without credentials."""
    cargo: str = ""
    """The configuration by which cargo does, for it has no variable for that; without credentials."""


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
    crates = (each.url for each in cargo if each.url)
    urls = (*(_plain(each) for each in indexes), *(_plain(url) for _, url in npm), *proxies, *crates)
    told = {"npm_config_registry": _plain(default), "GOPROXY": ",".join(proxies)}
    variables = tuple((name, value) for name, value in told.items() if value)
    return Own(tuple(dict.fromkeys(urls)), variables, "".join(each.text for each in cargo))


def _of_npm(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        if url := settings.get(name):
            yield "registry", url


def _of_cargo(folder: Path) -> Iterator[_Source]:
    try:
        told = tables_in(_text(folder / "config.toml") or _text(folder / "config"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    for table, key in (("source", "registry"), ("registries", "index")):
        tables: Any = told.get(table)
        known = {name: url for name, each in _tables(tables) if (url := _plain(str(each.get(key, ""))))}
        for name, each in _tables(tables):
            # What a folder stands for is not handed on, so nothing may be replaced with it.
            wanted = str(each.get("replace-with"))
            values = {key: known.get(name, ""), "replace-with": wanted if wanted in known else ""}
            if any(values.values()):
                yield _source(f"{table}.{_quoted(name)}", values)


def _tables(value: Any) -> list[tuple[str, dict[str, Any]]]:
    found = value.items() if isinstance(value, dict) else ()
    return [(name, each) for name, each in found if isinstance(each, dict)]


def _source(table: str, values: Mapping[str, str]) -> _Source:
    lines = (f"{name} = {_quoted(value)}\n" for name, value in values.items() if value)
    return _Source(next(iter(values.values())), f"[{table}]\n{''.join(lines)}")


def _quoted(text: str) -> str:
    """As TOML writes it."""
    return json.dumps(text, ensure_ascii=False)


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
