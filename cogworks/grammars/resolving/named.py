"""Languages whose imports name packages, modules or headers: by go.mod, by folders, by what files say they are part of."""

import json
import posixpath
import re
from collections.abc import Iterator, Sequence

from cogworks.grammars.facts import Imported
from cogworks.grammars.resolving.tree import Resolve, Tree, beside, by_folder, nearest

_GO_MODULE = re.compile(r"^[ \t]*module[ \t]+\"?([^\s\"]+)", re.MULTILINE)
_MOST = 200
"""No import is taken to mean more files than these."""


def go(tree: Tree) -> Resolve:
    """A package is the folder behind the module path of go.mod, without its tests."""
    folders = by_folder(each for each in tree.paths if each.endswith(".go") and not each.endswith("_test.go"))
    modules = _go_modules(tree)

    def resolve(_: str, imported: Imported) -> tuple[str, ...]:
        for name in sorted(modules, key=len, reverse=True):
            if imported.module == name or imported.module.startswith(f"{name}/"):
                below = imported.module[len(name) :].strip("/")
                return folders.get(posixpath.join(modules[name], below).strip("/"), ())
        return ()

    return resolve


def go_package(tree: Tree, path: str) -> str:
    """The import path of the package that a file is part of, as `go test` reports it."""
    folder = posixpath.dirname(path)
    around = [
        (root, name)
        for name, root in _go_modules(tree).items()
        if not root or f"{folder}/".startswith(f"{root}/")
    ]
    if not around:
        return folder or "."
    root, name = max(around, key=lambda each: len(each[0]))
    return posixpath.join(name, folder[len(root) :].strip("/")).rstrip("/")


def _go_modules(tree: Tree) -> dict[str, str]:
    """Module path -> folder."""
    return {
        name[1]: posixpath.dirname(path)
        for path in tree.listed
        if posixpath.basename(path) == "go.mod" and (name := _GO_MODULE.search(tree.text(path) or ""))
    }


def dotted(tree: Tree) -> Resolve:
    """Java: `a.b.C` is the file `C.java` in a folder that ends with `a/b`, `a.b.*` all files there."""
    by_tail: dict[str, list[str]] = {}
    for path in sorted(tree.paths):
        by_tail.setdefault(posixpath.splitext(posixpath.basename(path))[0], []).append(path)
    packages: dict[str, list[str]] = {}
    for path in sorted(tree.paths):
        packages.setdefault(tree.packages(path), []).append(path)

    def resolve(_: str, imported: Imported) -> tuple[str, ...]:
        if imported.name == "*" and imported.module in packages:
            return tuple(packages[imported.module][:_MOST])
        parts = [*imported.module.split("."), *([imported.name] if imported.name not in (None, "*") else [])]
        # `import static a.b.C.name` and inner classes name more than the file.
        for size in range(len(parts), 0, -1):
            package = ".".join(parts[: size - 1])
            fitting = [
                each for each in by_tail.get(str(parts[size - 1]), ()) if tree.packages(each) == package
            ]
            if fitting:
                return tuple(fitting[:1])
        return ()

    return resolve


def spaces(tree: Tree) -> Resolve:
    """C#: `using A.B` may mean every file of that namespace."""
    packages: dict[str, list[str]] = {}
    for path in sorted(tree.paths):
        packages.setdefault(tree.packages(path), []).append(path)
    packages.pop("", None)
    return lambda asking, imported: tuple(
        each for each in packages.get(imported.module, ())[:_MOST] if each != asking
    )


def headers(tree: Tree) -> Resolve:
    """C and C++: beside the asking file, from the top, from an `include` or `src` folder, else the only file whose path ends so."""
    by_name: dict[str, list[str]] = {}
    for path in sorted(tree.paths):
        by_name.setdefault(posixpath.basename(path), []).append(path)

    def resolve(asking: str, imported: Imported) -> tuple[str, ...]:
        written = posixpath.normpath(imported.module)
        for each in (beside(asking, written), written, f"include/{written}", f"src/{written}"):
            if each in tree.paths:
                return (each,)
        named = by_name.get(posixpath.basename(written), ())
        fitting = [each for each in named if each.endswith(f"/{written}")]
        return tuple(fitting) if len(fitting) == 1 else ()

    return resolve


def ruby(tree: Tree) -> Resolve:
    """`require_relative` from the file, `require` from a `lib` folder."""
    roots = ("lib/", "app/", "spec/", "test/", "")

    def resolve(asking: str, imported: Imported) -> tuple[str, ...]:
        written = imported.module.removesuffix(".rb") + ".rb"
        if imported.name == "relative":
            return tuple(each for each in (beside(asking, written),) if each in tree.paths)
        return next(((f"{root}{written}",) for root in roots if f"{root}{written}" in tree.paths), ())

    return resolve


def php(tree: Tree) -> Resolve:
    """Classes by PSR-4 of composer.json; `require` from the file."""
    prefixes = sorted(_psr4(tree), key=lambda each: len(each[0]), reverse=True)

    def resolve(asking: str, imported: Imported) -> tuple[str, ...]:
        if imported.module.endswith(".php"):
            path = beside(asking, imported.module.lstrip("/"))
            return (path,) if path in tree.paths else ()
        whole = imported.module.strip("\\")
        for prefix, folder in prefixes:
            if whole.startswith(prefix):
                path = posixpath.normpath(
                    posixpath.join(folder, whole[len(prefix) :].replace("\\", "/") + ".php")
                )
                if path in tree.paths:
                    return (path,)
        return ()

    return resolve


def _psr4(tree: Tree) -> Iterator[tuple[str, str]]:
    for path in tree.listed:
        if posixpath.basename(path) != "composer.json":
            continue
        try:
            settings = json.loads(tree.text(path) or "")
        except (ValueError, RecursionError):
            continue
        for section in ("autoload", "autoload-dev"):
            rules = settings.get(section, {}) if isinstance(settings, dict) else {}
            named = rules.get("psr-4", {}) if isinstance(rules, dict) else {}
            for prefix, folders in named.items() if isinstance(named, dict) else ():
                for folder in folders if isinstance(folders, list) else [folders]:
                    if isinstance(folder, str):
                        yield prefix, beside(path, folder)


def rust(tree: Tree) -> Resolve:
    """`mod name;` beside the file; `crate::`, `self::` and `super::` by the folders; other crates of the workspace by name."""
    crates = {
        _crate(tree, each): posixpath.dirname(each) for each in tree.listed if each.endswith("Cargo.toml")
    }
    manifests = tuple(each for each in tree.listed if each.endswith("Cargo.toml"))

    def resolve(asking: str, imported: Imported) -> tuple[str, ...]:
        first, *rest = [
            *imported.module.split("::"),
            *([imported.name] if imported.name not in (None, "*") else []),
        ]
        manifest = nearest(asking, manifests)
        own = posixpath.join(posixpath.dirname(manifest), "src") if manifest else _source_root(asking)
        if first == "crate":
            return _module(tree, own, rest)
        if first in ("self", "super"):
            folder = _module_folder(asking)
            while rest and first == "super":
                folder = posixpath.dirname(folder)
                if rest[0] != "super":
                    break
                first, *rest = rest
            return _module(tree, folder, rest)
        if first in crates and crates[first] is not None:
            return _module(tree, posixpath.join(crates[first], "src").lstrip("/"), rest)
        below = _module(tree, _module_folder(asking), [first, *rest])
        return below if below != (asking,) else ()

    return resolve


def rust_path(tree: Tree, path: str) -> tuple[str, ...]:
    """The modules that a file is inside of, as libtest prints them before the name of a test."""
    manifest = nearest(path, [each for each in tree.listed if each.endswith("Cargo.toml")])
    below = path[len(posixpath.dirname(manifest)) :].strip("/") if manifest else path
    folder, *parts = below.removesuffix(".rs").split("/")
    if folder == "src":
        return tuple(parts[:-1] if parts and parts[-1] in ("lib", "main", "mod") else parts)
    # Every file right in `tests` is a program of its own.
    return tuple(each for each in parts[1:] if each not in ("main", "mod"))


def _crate(tree: Tree, manifest: str) -> str:
    named = re.search(r'^\s*name\s*=\s*"([^"]+)"', tree.text(manifest) or "", re.MULTILINE)
    return named[1].replace("-", "_") if named else ""


def _source_root(asking: str) -> str:
    head, has_source, _ = f"/{asking}".rpartition("/src/")
    return f"{head}/src".lstrip("/") if has_source else posixpath.dirname(asking)


def _module_folder(asking: str) -> str:
    """The folder in which the modules of a file lie."""
    folder, name = posixpath.split(asking)
    return (
        folder
        if name in ("mod.rs", "lib.rs", "main.rs")
        else posixpath.join(folder, name.removesuffix(".rs"))
    )


def _module(tree: Tree, folder: str, parts: Sequence[str | None]) -> tuple[str, ...]:
    """The deepest file of a path of modules; what is left of it are names inside."""
    for size in range(len(parts), 0, -1):
        stem = posixpath.join(folder, *(str(each) for each in parts[:size]))
        for path in (f"{stem}.rs", f"{stem}/mod.rs"):
            if path in tree.paths:
                return (path,)
    for path in (f"{folder}.rs", f"{folder}/mod.rs", f"{folder}/lib.rs", f"{folder}/main.rs"):
        if path in tree.paths:
            return (path,)
    return ()
