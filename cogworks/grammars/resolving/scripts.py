"""JavaScript and TypeScript: relative paths, index files, `paths` of tsconfig.json, packages of the same repository."""

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cogworks.grammars.facts import Imported
from cogworks.grammars.resolving.tree import Resolve, Tree, beside, nearest

_ENDINGS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_WRITTEN = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""What a path with this ending may have been before it was compiled."""
_NOTES = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r",(\s*[}\]])")
_MAX_HOPS = 4


def resolving(tree: Tree) -> Resolve:
    """How imports of scripts are resolved in this repository."""
    configs = tuple(
        each for each in tree.listed if posixpath.basename(each) in ("tsconfig.json", "jsconfig.json")
    )
    ways = {each: _paths(tree, each) for each in configs}
    packages = dict(_packages(tree))

    def resolve(asking: str, imported: Imported) -> tuple[str, ...]:
        if imported.module.startswith("."):
            return _file(tree.paths, beside(asking, imported.module))
        config = nearest(asking, configs)
        for path in _mapped(ways[config], imported.module) if config else ():
            if files := _file(tree.paths, path):
                return files
        return _of_package(tree.paths, packages, imported.module)

    return resolve


def _file(paths: frozenset[str], path: str) -> tuple[str, ...]:
    stem, ending = posixpath.splitext(path)
    candidates = [path, *(f"{stem}{each}" for each in _WRITTEN.get(ending, ()))]
    candidates += [f"{path}{each}" for each in _ENDINGS]
    candidates += [posixpath.normpath(f"{path}/index{each}") for each in _ENDINGS]
    return next(((each,) for each in candidates if each in paths), ())


def _paths(tree: Tree, config: str) -> Sequence[tuple[str, str]]:
    """(pattern, path) pairs of one configuration, or of one that it extends."""
    at: str | None = config
    for _ in range(_MAX_HOPS):
        settings = _object(tree.text(at)) if at else {}
        options = settings.get("compilerOptions")
        if at and isinstance(options, dict) and ("paths" in options or "baseUrl" in options):
            return tuple(_pairs(at, options))
        base = settings.get("extends")
        at = beside(at, base) if at and isinstance(base, str) and base.startswith(".") else None
    return ()


def _pairs(config: str, options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    base = options.get("baseUrl")
    root = beside(config, base) if isinstance(base, str) else posixpath.dirname(config)
    paths = options.get("paths")
    for pattern, targets in paths.items() if isinstance(paths, dict) else ():
        for target in targets if isinstance(targets, list) else ():
            if isinstance(target, str):
                yield pattern, posixpath.normpath(posixpath.join(root, target))
    if isinstance(base, str):
        yield "*", posixpath.normpath(posixpath.join(root, "*"))


def _mapped(ways: Sequence[tuple[str, str]], module: str) -> Iterator[str]:
    for pattern, path in ways:
        head, star, tail = pattern.partition("*")
        if (
            star
            and module.startswith(head)
            and module.endswith(tail)
            and len(module) >= len(head) + len(tail)
        ):
            yield path.replace("*", module[len(head) : len(module) - len(tail)], 1)
        elif module == pattern:
            yield path


def _packages(tree: Tree) -> Iterator[tuple[str, tuple[str, Mapping[str, Any]]]]:
    for path in tree.listed:
        if posixpath.basename(path) == "package.json":
            settings = _object(tree.text(path))
            if isinstance(name := settings.get("name"), str):
                yield name, (path, settings)


def _of_package(
    paths: frozenset[str], packages: Mapping[str, tuple[str, Mapping[str, Any]]], module: str
) -> tuple[str, ...]:
    name = "/".join(module.split("/")[: 2 if module.startswith("@") else 1])
    if name not in packages:
        return ()
    manifest, settings = packages[name]
    below = f".{module[len(name) :]}"
    for written in (*_entries(settings, below), *(("./src/index", "./index") if below == "." else (below,))):
        path = beside(manifest, written)
        # What is built lies beside what it is built from.
        sources = (path, path.replace("dist/", "src/", 1), path.replace("lib/", "src/", 1))
        for each in sources:
            if files := _file(paths, each):
                return files
    return ()


def _entries(settings: Mapping[str, Any], below: str) -> Iterator[str]:
    exports = settings.get("exports")
    chosen = (
        exports.get(below)
        if isinstance(exports, dict) and any(key.startswith(".") for key in exports)
        else exports
    )
    yield from _texts(chosen if below == "." or chosen is not exports else None)
    if below == ".":
        yield from (
            settings[key]
            for key in ("source", "module", "main", "types")
            if isinstance(settings.get(key), str)
        )


def _texts(value: Any) -> Iterator[str]:
    """The paths in an entry of `exports`, whatever its conditions."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting += reversed(each.values())


def _object(text: str | None) -> Mapping[str, Any]:
    """JSON as tools of this world read it, with comments and last commas; nothing where it is none."""
    if text is None:
        return {}
    plain = _LAST_COMMA.sub(r"\1", _NOTES.sub(lambda match: match[1] or "", text))
    try:
        value = json.loads(plain)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
