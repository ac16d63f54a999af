"""What a wheel holds, read as data: nothing in it is run, no link in it is followed, and no name in it leads out."""

import io
import posixpath
import stat
import zipfile
from collections.abc import Iterator, Mapping
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
