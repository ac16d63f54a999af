"""Which versions a lock file says, as constraints."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from cogworks.services.python.recipe.texts import canonical, strings, table, toml

FILES = {
    "uv.lock": "uv lock",
    "poetry.lock": "poetry lock",
    "pdm.lock": "pdm lock",
    "pylock.toml": "the tool that wrote it",
}
"""In the order in which they are looked for, each with what makes it anew."""
_MOST = 5_000


class Locked(NamedTuple):
    """What was locked."""

    source: str = ""
    lines: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def locked_versions(files: Mapping[str, str], requirements: Iterable[str]) -> Locked:
    """Those of the first lock file that contradict none of the requirements.

    The manifest wins: a version that it excludes is left out with a note, so that a lock nobody renewed stops nothing.
    """
    for name, remedy in FILES.items():
        if name in files:
            data, problem = toml(files[name])
            if problem:
                return Locked(name, left_out=(f"{name} cannot be read ({problem}); run {remedy!r} anew",))
            return _agreeing(name, remedy, dict.fromkeys(_lines(data)), list(requirements))
    return Locked()


def _agreeing(name: str, remedy: str, lines: Iterable[str], requirements: list[str]) -> Locked:
    required: dict[str, list[Requirement]] = {}
    for text in requirements:
        requirement = Requirement(text)
        required.setdefault(canonical(requirement.name), []).append(requirement)
    kept, left_out = [], []
    pinned: dict[str, list[tuple[str, Requirement]]] = {}
    for line in lines:
        pinned.setdefault(canonical(Requirement(line).name), []).append((line, Requirement(line)))
    for distribution, pins in pinned.items():
        opposed = [
            each
            for each in required.get(distribution, ())
            if _counts(each) and not any(_fits(each, pin) for _, pin in pins)
        ]
        if opposed:
            versions = ", ".join(str(pin.specifier) for _, pin in pins)
            left_out.append(
                f"{name}: {distribution} {versions} contradicts {str(opposed[0])!r}, which counts; run {remedy!r} anew"
            )
        else:
            kept += [line for line, _ in pins]
    return Locked(name, tuple(sorted(kept)), tuple(left_out))


def _counts(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def _fits(requirement: Requirement, pin: Requirement) -> bool:
    version = next(iter(pin.specifier)).version
    return requirement.specifier.contains(version, prereleases=True)


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    packages = data.get("package", data.get("packages"))
    for package in (packages if isinstance(packages, list) else [])[:_MOST]:
        if isinstance(package, dict) and _is_of_index(package):
            line = _line(package)
            if line:
                yield line


def _is_of_index(package: Mapping[str, Any]) -> bool:
    """Not the project itself, nor what comes from an address or a path."""
    source = table(package, "source")
    if source and "registry" not in source and source.get("type") not in (None, "legacy"):
        return False
    if any(key in source for key in ("editable", "virtual", "directory", "git", "url", "path")):
        return False
    return not any(key in package for key in ("vcs", "directory", "archive", "path", "git", "url"))


def _line(package: Mapping[str, Any]) -> str:
    name, version = package.get("name"), package.get("version")
    if not isinstance(name, str) or not isinstance(version, str):
        return ""
    markers = strings(package.get("resolution-markers"))
    marker = package.get("marker")
    if not markers and isinstance(marker, str):
        markers = (marker,)
    try:
        joined = str(Marker(" or ".join(f"({each})" for each in markers))) if markers else ""
        # A version of this machine alone would be one that no index has.
        text = f"{name}=={Version(version).public}" + (
            f" ; {joined}" if joined and "extra" not in joined else ""
        )
        return str(Requirement(text))
    except (InvalidVersion, InvalidRequirement, InvalidMarker, RecursionError):
        return ""
