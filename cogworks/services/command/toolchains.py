"""Where the programs of a language really live, what a command must see to use them, and whether one is older than the repository asks for."""

import json
import os
import pwd
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store", "/gnu/store")
"""Every command sees these."""
_LOOKED_UP = ("/etc/maven", "/etc/gradle", "/etc/dotnet", "/etc/php", "/etc/ruby", "/var/lib/gems")
"""Settings of the machine, and the gems that Debian's Ruby installs for everybody."""
_PACKAGES = (
    (".m2/repository", "MAVEN_OPTS"),
    (".gradle/caches", "GRADLE_RO_DEP_CACHE"),
    ("go/pkg/mod", "GOMODCACHE"),
    (".cargo/registry", ""),
    (".nuget/packages", "NUGET_PACKAGES"),
)
"""Below a home, what earlier installs left, and the variable that says where; packages and nothing that grants anything."""
_PREFIXES = MappingProxyType({"MAVEN_OPTS": "-Dmaven.repo.local="})
_GET = MappingProxyType(
    {
        "node": "install Node.js (https://nodejs.org, `actions/setup-node`)",
        "pnpm": "install pnpm (`npm install --global pnpm`, `pnpm/action-setup`)",
        "yarn": "install Yarn (`npm install --global yarn`, `corepack enable`)",
        "bundle": "install Bundler (`gem install bundler`, `ruby/setup-ruby`)",
        "composer": "install Composer (https://getcomposer.org, `apt install composer`)",
        "npm": "install Node.js with npm (https://nodejs.org, `actions/setup-node`)",
        "go": "install Go (https://go.dev/dl, `actions/setup-go`, `apt install golang-go`)",
        "cargo": "install Rust (https://rustup.rs, `apt install cargo`)",
        "rustc": "install Rust (https://rustup.rs, `apt install rustc`)",
        "java": "install a JDK (`actions/setup-java`, `apt install default-jdk-headless`)",
        "mvn": "install Maven (`apt install maven`)",
        "gradle": "install Gradle, or commit its wrapper `gradlew`",
        "dotnet": "install the .NET SDK (https://dot.net, `actions/setup-dotnet`)",
        "ruby": "install Ruby (`ruby/setup-ruby`, `apt install ruby-full`)",
        "php": "install PHP (`shivammathur/setup-php`, `apt install php-cli`)",
        "make": "install make (`apt install make`)",
        "cmake": "install CMake (`apt install cmake`)",
        "ctest": "install CMake (`apt install cmake`)",
    }
)
_VERSIONS = MappingProxyType(
    {"go": "go version", "java": "java -version", "ruby": "ruby --version", "make": "make --version"}
)

_MOST_FOLDERS = 3
"""Between a program and the manifest of its package."""


class Toolchain(NamedTuple):
    """The programs of a recipe on this machine."""

    folders: tuple[str, ...] = ()
    """To put before PATH."""
    readable: tuple[Path, ...] = ()
    """What a command must see besides the system's programs."""
    missing: tuple[str, ...] = ()
    """Programs that are not here."""
    variables: Mapping[str, str] = MappingProxyType({})


def toolchain_of(programs: Sequence[str], search_path: str, *, home: Path | None = None) -> Toolchain:
    """Where these programs are.

    Args:
        home: whose packages are used; None: of the user this process runs as.
    """
    own = home or Path(pwd.getpwuid(os.getuid()).pw_dir)
    folders: dict[str, None] = {}
    readable: dict[Path, None] = {}
    missing = []
    for program in programs:
        program_path = shutil.which(program, path=search_path)
        if program_path is None:
            missing.append(program)
            continue
        place = _real(program, Path(program_path))
        if not _is_system(place):
            folders[str(place.parent)] = None
            readable[_installation(place, own)] = None
            link = Path(program_path).absolute().parent
            if place.name != program and not own.is_relative_to(link):
                # What npm installs is a link of another name: by its own nobody finds it at the end of the link.
                folders[str(link)] = None
                readable[link] = None
    settings = [Path(each) for each in _LOOKED_UP if Path(each).is_dir()]
    settings += sorted(Path("/etc").glob("java-*")) if "java" in programs else []
    packages, variables = _packages(own)
    kept = (*readable, *settings, *packages)
    return Toolchain(tuple(folders), kept, tuple(missing), MappingProxyType(variables))


def how_to_get(program: str, least: str = "") -> str:
    """What to do where a program is missing, or older than the version that is wanted at least."""
    advice = _GET.get(program, f"install `{program}`, so that it is on PATH")
    words = advice.partition(" (")[0]
    return advice.replace(words, f"{words} {least} or newer", 1) if least else advice


def version_line(program: str) -> str:
    """The command by which a program says its version."""
    return _VERSIONS.get(program, f"{program} --version")


def packaged_version(program: str, search_path: str) -> str:
    """The version of a program that npm installed, read from its package; empty where it has none.

    The program itself is not run: some read the folder they start in, and the one that Corepack puts there fetches another.
    """
    program_path = shutil.which(program, path=search_path)
    place = Path(program_path).resolve() if program_path else Path()
    for folder in place.parents[:_MOST_FOLDERS]:
        try:
            about = json.loads((folder / "package.json").read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(about, dict) and about.get("name") in (program, f"@{program}pkg/cli-dist"):
            return str(about.get("version", ""))
    return ""


def version_in(text: str) -> str:
    """The version among what a program says; empty where there is none."""
    match = re.search(r"\d{1,5}(?:\.\d{1,8}){1,3}\S{0,20}", text[:400])
    return match[0].strip("\"',;()") if match else ""


def _is_system(place: Path) -> bool:
    return any(place.is_relative_to(each) for each in _SYSTEM)


def _real(program: str, path: Path) -> Path:
    """The program itself, behind links and behind what rustup puts in its place."""
    place = path.resolve()
    if place.name != "rustup":
        return place
    home = Path(os.environ.get("RUSTUP_HOME") or path.parents[2] / ".rustup")
    toolchains = home / "toolchains"
    try:
        match = re.search(
            r'default_toolchain = "([\w.-]{1,80})"', (home / "settings.toml").read_text("utf-8")
        )
    except OSError:
        match = None
    names = sorted(toolchains.iterdir()) if toolchains.is_dir() else []
    chosen = [each for each in names if match and each.name.startswith(match[1])] or names
    return chosen[0].resolve() / "bin" / program if chosen else place


def _installation(place: Path, home: Path) -> Path:
    """The folder that a program came in; never a home, nor anything above one."""
    root = place.parents[1] if place.parent.name == "bin" else place.parent
    return place.parent if home.is_relative_to(root) or len(root.parts) < 3 else root


def _packages(home: Path) -> tuple[list[Path], dict[str, str]]:
    folders, variables = [], {}
    for name, variable in _PACKAGES:
        place = home / name
        if place.is_dir() and not place.is_symlink():
            folders.append(place)
            if variable:
                variables[variable] = f"{_PREFIXES.get(variable, '')}{place}"
    return folders, variables


ASKING = ("go.mod", "package.json")
"""The manifests that say how old a program may be."""

_GO = re.compile(r"(?m)^go\s+(\d{1,4}(?:\.\d{1,4}){1,2})")
_NODE = re.compile(r"^\s*(?:>=|\^|~)\s*v?(\d{1,4}(?:\.\d{1,4}){0,2})[^|]*$")


def too_old(manifests: Mapping[str, str], versions: Mapping[str, str]) -> tuple[str, ...]:
    """What to install, in words, for each program that is older than a manifest wants.

    Cargo says it itself.

    Args:
        manifests: name -> text; those that are read are `go.mod` and `package.json`.
        versions: what programs say of themselves.
    """
    needs = {"go": ("go.mod", _of_go(manifests)), "node": ("package.json", _of_node(manifests))}
    return tuple(
        f"{manifest} asks for {program} {least} or newer, and this machine has {versions[program]}: {how_to_get(program, least)}."
        for program, (manifest, least) in needs.items()
        if least and program in versions and _numbers(versions[program]) < _numbers(least)
    )


def cannot_read_pattern(errors: Collection[str], versions: Mapping[str, str]) -> tuple[str, ...]:
    """What to install, in words, where a pattern behind `--test` was taken for the name of a file.

    Args:
        errors: what could not be loaded, and why.
        versions: what programs say of themselves.
    """
    here = versions.get("node", "")
    if not here or _numbers(here) >= _READS_PATTERNS or not any(_UNREAD.search(each) for each in errors):
        return ()
    least = str(_READS_PATTERNS[0])
    return (
        f"Node.js reads patterns behind `--test` from {least} on, and this machine has {here}: {how_to_get('node', least)}.",
    )


_READS_PATTERNS = (21,)
_UNREAD = re.compile(r"Could not find '[^'\n]{0,400}[*?{\[][^'\n]{0,400}'")


def _of_go(manifests: Mapping[str, str]) -> str:
    match = _GO.search(manifests.get("go.mod", ""))
    return match[1] if match else ""


def _of_node(manifests: Mapping[str, str]) -> str:
    """The least version of a plain range; empty where it is none, or one of several."""
    try:
        engines = json.loads(manifests.get("package.json") or "{}").get("engines")
    except (ValueError, RecursionError, AttributeError):
        return ""
    match = _NODE.match(str(engines.get("node", ""))) if isinstance(engines, dict) else None
    return match[1] if match else ""


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(each) for each in match[0].split(".")) if match else ()
