"""What a wheel holds, read as data, and where its modules lie in the repository."""

import io
import posixpath
import stat
import zipfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

MAX_FILES = 50_000
MAX_BYTES = 2 * 1024**3
_PURE = ("purelib", "platlib")


class UnusableWheel(Exception):
    """The text says what is wrong with it."""


class Wheel(NamedTuple):
    """The files of a wheel."""

    metadata: Mapping[str, bytes]
    """Below the folder of site packages: those of `.dist-info`."""
    modules: Mapping[str, bytes]
    """The same for all others that go there."""
    scripts: Mapping[str, bytes]
    """Name of a program -> its text."""


def read_wheel(data: bytes, *, max_bytes: int = MAX_BYTES) -> Wheel:
    """The regular files of a wheel.

    Raises:
        UnusableWheel: it is no archive, too large, or a name in it leads elsewhere.
    """
    metadata: dict[str, bytes] = {}
    modules: dict[str, bytes] = {}
    scripts: dict[str, bytes] = {}
    for path, content in _files(data, max_bytes):
        top, _, rest = path.partition("/")
        if top.endswith(".dist-info"):
            metadata[path] = content
        elif not top.endswith(".data"):
            modules[path] = content
        elif rest.startswith("scripts/"):
            scripts[rest.removeprefix("scripts/")] = content
        elif rest.partition("/")[0] in _PURE and rest.partition("/")[2]:
            modules[rest.partition("/")[2]] = content
    if not metadata:
        raise UnusableWheel("the build made a wheel without metadata")
    return Wheel(metadata, modules, scripts)


def _files(data: bytes, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    left = max_bytes
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_FILES:
                raise UnusableWheel(
                    f"the build made a wheel of {len(entries)} files; at most {MAX_FILES} are taken"
                )
            for entry in entries:
                if entry.is_dir():
                    continue
                if not _is_sane(entry):
                    raise UnusableWheel(
                        f"the build made a wheel with the name {entry.filename!r}, which no file may have"
                    )
                with archive.open(entry) as file:
                    # What an archive says of its sizes is not believed.
                    content = file.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise UnusableWheel(f"the build made a wheel of more than {max_bytes} bytes")
                yield entry.filename, content
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError) as error:
        raise UnusableWheel(f"the build made no wheel that can be read: {error}") from error
    except zipfile.LargeZipFile as error:
        raise UnusableWheel(f"the build made too large a wheel: {error}") from error


def _is_sane(entry: zipfile.ZipInfo) -> bool:
    mode = entry.external_attr >> 16
    name = entry.filename
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return False
    return (
        bool(name)
        and not name.startswith("/")
        and "\\" not in name
        and "\0" not in name
        and posixpath.normpath(name) == name
        and ".." not in name.split("/")
    )


_SRC = "src"


class Placed(NamedTuple):
    """What a build adds to the files of a repository."""

    sources: tuple[str, ...]
    """Folders of the repository that modules are imported from, those with most files first; empty text: its root."""
    made: Mapping[str, bytes]
    """Repository-relative path -> content of what the build made there."""
    unplaced: tuple[str, ...]
    """Modules of the wheel whose sources lie below no folder of that name."""


def placed(modules: Mapping[str, bytes], files: Collection[str]) -> Placed:
    """Find the folders below which the repository has the files of the wheel, top-level name by top-level name.

    Args:
        modules: of the wheel: path below site packages -> content.
        files: of the repository, as paths from its root.
    """
    by_name: dict[str, list[str]] = {}
    for path in files:
        by_name.setdefault(posixpath.basename(path), []).append(path)
    votes: dict[str, Counter[str]] = {}
    for path in modules:
        top = path.partition("/")[0]
        ending = f"/{path}"
        for source in by_name.get(posixpath.basename(path), ()):
            if source == path or source.endswith(ending):
                votes.setdefault(top, Counter())[source[: -len(path)].rstrip("/")] += 1
    folders = {top: _best(counted) for top, counted in votes.items()}
    made: dict[str, bytes] = {}
    unplaced: set[str] = set()
    for path, content in modules.items():
        top = path.partition("/")[0]
        if top in folders:
            place = posixpath.join(folders[top], path)
            if place not in files:
                made[place] = content
        elif _is_whole_without_sources(top, modules):
            # A module that only the build makes, an extension above all, lies beside the others.
            made[posixpath.join(_home(folders, files), path)] = content
        else:
            unplaced.add(top)
    weights = Counter(
        folders[path.partition("/")[0]] for path in modules if path.partition("/")[0] in folders
    )
    if not weights and made:
        weights[_home(folders, files)] += 1
    sources = tuple(folder for folder, _ in sorted(weights.items(), key=lambda each: (-each[1], each[0])))
    return Placed(sources, made, tuple(sorted(unplaced)))


def _best(counted: Counter[str]) -> str:
    """Most files, then the shortest path: a copy of a package among examples is no home of it."""
    return min(counted, key=lambda folder: (-counted[folder], folder.count("/"), len(folder), folder))


def _is_whole_without_sources(top: str, modules: Mapping[str, bytes]) -> bool:
    """Whether nothing of a top-level name is Python that somebody could have written elsewhere in the repository."""
    own = [path for path in modules if path.partition("/")[0] == top]
    return not any(path.endswith(".py") for path in own) or len(own) == 1


def _home(folders: Mapping[str, str], files: Collection[str]) -> str:
    if folders:
        return Counter(folders.values()).most_common(1)[0][0]
    return _SRC if any(path.startswith(f"{_SRC}/") for path in files) else ""
