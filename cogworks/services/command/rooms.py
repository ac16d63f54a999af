"""Runs the commands of a root on a copy of its repository, in isolation, and keeps what they wrote and printed."""

import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.confined import read_file
from cogworks.folders import copy_folder, walk
from cogworks.own_folders import own_folder
from cogworks.services.command.compiled import Keeping, folder_of_room, make_young
from cogworks.services.command.fetching import by_hand
from cogworks.services.command.ground import Ground, Machine, text_at
from cogworks.services.command.provision import Provision
from cogworks.services.command.recipe import REPORT, Recipe
from cogworks.services.command.refused_node import refused_node
from cogworks.services.command.reports.cases import MAX_REPORT_BYTES
from cogworks.services.command.toolchains import ASKING, too_old, version_in, version_line
from cogworks.services.laid_out import left_out
from cogworks.services.sandbox.inside.order import Limits
from cogworks.services.sandbox.running import Confined, Ended, run
from cogworks.services.setup.layers import GEMS, lay_home, lay_over, own_programs
from cogworks.services.setup.setups import Setup

INSIDE = Path(__file__).with_name("inside")
_SAID = ("stdout", "stderr")
_SCRIPT = 'eval "$COGWORKS_ASK"; exec /bin/sh -c "$1" >> "$COGWORKS_SAID/stdout" 2>> "$COGWORKS_SAID/stderr"'
_MOST_REPORTS = 5_000
_CPU_FACTOR = 4
# V8 and the JVM reserve far more address space than they ever use; what counts is memory.
_LIMITS = Limits(address_bytes=512 * 1024**3, disk_bytes=8 * 1024**3, disk_entries=400_000)
_VERSIONS_S = 60.0
"""How long programs may take to say their versions."""


class LineResult(NamedTuple):
    """How one line ended."""

    ended: Ended
    output: str
    """Of standard output."""
    complaint: str
    """Of standard error."""
    report: bytes | None
    """What it wrote where `COGWORKS_REPORT` points; None: nothing."""

    @property
    def text(self) -> str:
        """Everything it printed."""
        return f"{self.output}\n{self.complaint}"


class Room:
    """A copy of a repository and what its commands may write; nothing of it is left afterwards."""

    def __init__(
        self, folder: Path, ground: Ground, provision: Provision, kept: Path, *, lays_over: bool
    ) -> None:
        self.copy = folder / "copy"
        self.ground = ground
        self._provision = provision
        self._kept = kept
        self._home, self._temporary, self._said, self._outside = (
            folder / name for name in ("home", "tmp", "said", "outside")
        )
        apart = folder / "apart" if lays_over else None
        for place in (self._home, self._temporary, self._said, self._outside):
            place.mkdir()
        copy_folder(ground.folder, self.copy, left_out=left_out())
        self._overlays = lay_over(provision.layers, self.copy, apart=apart)
        if provision.home is not None:
            self._overlays += lay_home(provision.home, self._home, apart=apart)

    @property
    def place(self) -> Path:
        """Where commands start."""
        return self.copy / self.ground.root

    @property
    def report_path(self) -> Path:
        """Where `COGWORKS_REPORT` points."""
        return self._said / "report"

    def run(
        self, line: str, machine: Machine, *, timeout_s: float, environment: Mapping[str, str] | None = None
    ) -> LineResult:
        """Run one line to its end or to that of its time.

        Raises:
            NotStarted: the isolation could not be built.
        """
        for name in (*_SAID, "report"):
            (self._said / name).unlink(missing_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=self._outside))
        seconds = max(timeout_s, 0.1)
        confined = Confined(
            command=["/bin/sh", "-c", _SCRIPT, "sh", line],
            directory=self.place,
            environment={**self._environment(machine), **(environment or {})},
            readable=(*self.ground.toolchain.readable, INSIDE),
            writable=(self.copy, self._home, self._temporary, self._said, self._kept),
            timeout_s=seconds,
            limits=_LIMITS._replace(cpu_s=int(seconds * _CPU_FACTOR) + 1),
            overlays=self._overlays,
        )
        ended = run(confined, machine.isolation, scratch=scratch)
        output, complaint = (self._read(name) for name in _SAID)
        return LineResult(
            ended, output.decode(errors="replace"), complaint.decode(errors="replace"), self._report()
        )

    def versions(self) -> dict[str, str]:
        """What the programs of the recipe said of themselves in the last run."""
        version_by_program = {
            program: version_in(self._read(program).decode(errors="replace")) for program in self._asked()
        }
        return {program: version for program, version in version_by_program.items() if version}

    def configured(self, name: str) -> str:
        """What the repository or the toolchain has in a variable; empty: nothing."""
        return self._configured().get(name, "")

    def reports(self, pattern: str) -> Iterator[bytes]:
        """The files below the root that fit, newest runs' alone: a copy begins without any that the repository ignores."""
        count = 0
        for folder, names, files in walk(self.place):
            names[:] = sorted(name for name in names if name not in ("node_modules", ".git"))
            for name in sorted(files):
                path = (Path(folder) / name).relative_to(self.place).as_posix()
                if count < _MOST_REPORTS and (
                    fnmatchcase(path, pattern) or fnmatchcase(f"/{path}", f"/{pattern}".replace("/**/", "/*"))
                ):
                    count += 1
                    with suppress(OSError):
                        file = read_file(self.copy, self.ground.outward(path))
                        if file is not None:
                            yield file.data[:MAX_REPORT_BYTES]

    def without_places(self, text: str) -> str:
        """A text without the names of directories that differ from run to run."""
        for place, name in (
            (self.place, ""),
            (self.copy, ""),
            (self._temporary, "<tmp>/"),
            (self._home, "<home>/"),
        ):
            text = (
                text.replace(f"file://{place}/", name)
                .replace(f"{place}/", name)
                .replace(str(place), name or ".")
            )
        return text

    def _report(self) -> bytes | None:
        file = read_file(self._said, "report")
        return None if file is None else file.data[:MAX_REPORT_BYTES]

    def _read(self, name: str) -> bytes:
        file = read_file(self._said, name)
        return b"" if file is None else file.data[:MAX_REPORT_BYTES]

    def _asked(self) -> Sequence[str]:
        # Maven and the like take a second each to say theirs.
        return [
            each for each in self.ground.recipe.programs if each not in ("mvn", "gradle", "dotnet", "ctest")
        ]

    def _has(self, path: str) -> bool:
        """Whether there is such a file at the root, of the repository or of a setup."""
        places = (self.place, *(layer / self.ground.root for layer in self._provision.layers))
        return any((place / path).is_file() for place in places)

    def _is_in_home(self, path: str) -> bool:
        """Whether a setup left such a folder in its home: what it fetched stands before what the user has, for it is whole."""
        home = self._provision.home
        return home is not None and (home / path).is_dir() and not (home / path).is_symlink()

    def _environment(self, machine: Machine) -> dict[str, str]:
        ask = [f'{version_line(each)} > "$COGWORKS_SAID/{each}" 2>&1' for each in self._asked()]
        own = (str(self.place / each) for each in ("node_modules/.bin", "vendor/bin"))
        folders = [*own, *own_programs(self._home), *self.ground.toolchain.folders, machine.search_path]
        return {
            "PATH": os.pathsep.join(folders),
            "HOME": str(self._home),
            "TMPDIR": str(self._temporary),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "CI": "true",
            "GIT_CONFIG_NOSYSTEM": "1",
            "COGWORKS_ASK": "; ".join(ask),
            "COGWORKS_SAID": str(self._said),
            "COGWORKS_REPORT": str(self._said / "report"),
            "COGWORKS_INSIDE": str(INSIDE),
            **_OFFLINE,
            # With packages of its own in `vendor` Go reads nothing else.
            **({} if self._has("vendor/modules.txt") else {"GOFLAGS": "-mod=mod"}),
            **_kept_below(self._kept, self._home, has_crates=self._is_in_home(".cargo")),
            **_for_java(self._configured()),
        }

    def _configured(self) -> dict[str, str]:
        """What the toolchain says, then the repository."""
        places = {"GOMODCACHE": "go/pkg/mod", "GEM_HOME": GEMS}
        fetched = {name: str(self._home / each) for name, each in places.items() if self._is_in_home(each)}
        return {**self.ground.toolchain.variables, **fetched, **dict(self._provision.variables)}


_OFFLINE = {
    "GOPROXY": "off",
    "GOTOOLCHAIN": "local",
    "GONOSUMDB": "*",
    "GOTELEMETRY": "off",
    "CARGO_NET_OFFLINE": "true",
    "CARGO_TERM_COLOR": "never",
    "RUST_BACKTRACE": "0",
    "YARN_ENABLE_NETWORK": "0",
    "npm_config_offline": "true",
    "npm_config_update_notifier": "false",
    "npm_config_fund": "false",
    "npm_config_audit": "false",
    "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
    "DOTNET_NOLOGO": "1",
}


def _kept_below(folder: Path, home: Path, *, has_crates: bool) -> dict[str, str]:
    return {
        "GOCACHE": str(folder / "go-build"),
        # Where a setup fetched crates, cargo finds them in its home.
        "CARGO_HOME": str(home / ".cargo" if has_crates else folder / "cargo"),
        "CARGO_TARGET_DIR": str(folder / "target"),
        "npm_config_cache": str(folder / "npm"),
        # Java takes the home of the user's entry, whatever HOME says.
        "GRADLE_USER_HOME": str(folder / "gradle"),
    }


def _for_java(variables: Mapping[str, str]) -> Mapping[str, str]:
    options = {
        # Maven ends before it has been worth compiling it well, which takes half of the time of processors.
        "MAVEN_OPTS": "-XX:TieredStopAtLevel=1",
        # Gradle would only say so of tests that passed before with the same files, and not run them.
        "GRADLE_OPTS": "-Dorg.gradle.caching=false",
    }
    return {
        **variables,
        **{name: f"{own} {variables.get(name, '')}".strip() for name, own in options.items()},
    }


@contextmanager
def open_room(
    ground: Ground, provision: Provision, machine: Machine, *, kept: Keeping | None = None
) -> Iterator[Room]:
    """A room for the length of a `with` block.

    Args:
        kept: where compiled files are read and left; None: they are gone with the room.
    """
    with folder_of_room(kept) as folder:
        compiled = own_folder(kept.folder if kept else folder / "kept")
        room = Room(folder, ground, provision, compiled, lays_over=machine.isolation.lays_over)
        if kept is not None and ground.recipe.language == "rust":
            make_young(room.copy)
        yield room


def seconds_left(deadline_s: float) -> float:
    """What is left until a moment of the monotonic clock."""
    return deadline_s - time.monotonic()


_RUBYS_SUM = re.compile(r"^\d{1,9} (?:runs|tests), \d{1,9} assertions, \d{1,9} failures,", re.MULTILINE)
"""What Minitest and test-unit end with; without it a failure says that nothing ran."""


def ran_unreported(recipe: Recipe, results: Sequence[LineResult]) -> bool:
    """Whether tests of Ruby ran and none is reported: Minitest from 6 on loads no reporter by itself, test-unit none at all."""
    if recipe.language != "ruby" or not results or any(result.report is not None for result in results):
        return False
    return all(result.ended.code == 0 or _RUBYS_SUM.search(result.text) for result in results)


def reporter(recipe: Recipe, room: Room, environment: Mapping[str, str]) -> dict[str, str]:
    """The variable by which a reporter of ours is found, beside what stands in it already."""
    if recipe.runner.startswith("minitest"):
        return _beside("RUBYLIB", str(INSIDE / "ruby"), os.pathsep, room, environment)
    if is_listened_to(recipe):
        return _beside("NODE_OPTIONS", f"--require {INSIDE / 'tape.cjs'}", " ", room, environment)
    if recipe.runner == "uvu":
        return _beside("NODE_OPTIONS", f"--require {INSIDE / 'uvu.cjs'}", " ", room, environment)
    if recipe.report != "node-test" or recipe.runner in ("jasmine", "rspec"):
        return {}
    # Through a variable, for a script of the repository starts node.
    options = f"--test-reporter={INSIDE / 'report.mjs'} --test-reporter-destination={room.report_path}"
    return _beside("NODE_OPTIONS", options, " ", room, environment)


def is_listened_to(recipe: Recipe) -> bool:
    """Whether TAP may come from tape, which says of no test in which file it stands."""
    is_of_node = recipe.language == "typescript" and recipe.report == "tap" and REPORT not in recipe.test
    return is_of_node and recipe.runner in ("tape", "script", "command")


def _beside(name: str, own: str, between: str, room: Room, environment: Mapping[str, str]) -> dict[str, str]:
    there = environment.get(name) or room.configured(name)
    return {name: f"{own}{between}{there}" if there else own}


def hints_about(ground: Ground, machine: Machine, setup: Setup, printed: str) -> tuple[str, ...]:
    """What to do about a setup that fails: newer programs, or packages in another way."""
    if refused := refused_node(printed, setup.lines):
        return (refused,)
    with open_room(ground, Provision(), machine) as room:
        room.run(":", machine, timeout_s=_VERSIONS_S)
        old = too_old({name: text_at(ground.place, name) for name in ASKING}, room.versions())
    return (*old, *by_hand(ground.recipe, setup.lines))
