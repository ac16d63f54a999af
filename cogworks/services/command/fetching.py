"""Whether the packages that a manifest of Go or Rust names have to be fetched; pure rules from texts and folders."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cogworks.toml_text import tables_in

_LOCKED = re.compile(r'(?m)^source = "(?:registry|sparse)\+')
_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")
_GO_PROXY = "https://proxy.golang.org"
_UPPER = re.compile(r"[A-Z]")


def lacks_modules(sums: str, cache: Path | None) -> bool:
    """Whether a module whose sources `go.sum` names is not in a module cache.

    Args:
        sums: the text of `go.sum`.
        cache: that of whoever runs the service; None: there is none.
    """
    modules = list(_modules(sums))
    return bool(modules) and (cache is None or any(not (cache / each).is_file() for each in modules))


def own_cache(variables: Mapping[str, str], proxies: str) -> Mapping[str, str]:
    """The variables of a setup that asks a module cache first and fills one of its own, for that cache is read only.

    Args:
        variables: those of the toolchain.
        proxies: the value of `GOPROXY` on this machine; empty: everybody's.
    """
    cache = variables.get("GOMODCACHE")
    if cache is None:
        return variables
    others = {name: value for name, value in variables.items() if name != "GOMODCACHE"}
    # The cache is laid out as a proxy is, so that nothing is fetched twice.
    return {**others, "GOPROXY": f"file://{cache}/cache/download,{proxies or _GO_PROXY}"}


def names_crates(manifest: str) -> bool:
    """Whether a `Cargo.toml` names a crate of a registry."""
    try:
        told = tables_in(manifest)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return any(_is_of_registry(each) for table in _tables(told) for each in table.values())


def locks_crates(lock: str) -> bool:
    """Whether a `Cargo.lock` names a crate of a registry."""
    return bool(_LOCKED.search(lock))


def _modules(sums: str) -> Iterator[str]:
    """Where the archive of each module lies in a cache; upper case is written with a mark there."""
    for line in sums.splitlines():
        words = line.split()
        # Of most modules only `go.mod` is ever read.
        if len(words) == 3 and not words[1].endswith("/go.mod"):
            name, version = (_UPPER.sub(lambda found: f"!{found[0].lower()}", each) for each in words[:2])
            yield f"cache/download/{name}/@v/{version}.zip"


def _tables(told: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    targets = told.get("target")
    within = [*targets.values()] if isinstance(targets, dict) else []
    for place in (told, told.get("workspace"), *within):
        for name in _TABLES if isinstance(place, dict) else ():
            if isinstance(table := place.get(name), dict):
                yield table


def _is_of_registry(wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return not any(each in wanted for each in ("path", "git", "workspace"))
    return isinstance(wanted, str)
