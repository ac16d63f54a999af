"""Whether the service of commands says of each test what its own runner says: samples of this repository, and folders given.

    scripts/bench languages [PATH...]

The runner's own word is what it prints for people, read by a pattern each; the reports that the service reads have no part
in it. Packages that a lock file names are installed by its tool first, on this machine, so give folders you trust.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from cogworks.domain_services.messages import Request, TestReport
from cogworks.services.command.answering import CommandService
from cogworks.services.command.ground import Ground, Machine, ground_of
from cogworks.services.sandbox.probing import strongest

SAMPLES = Path(__file__).parents[2] / "tests" / "data" / "samples"
SAMPLE_NAMES = (
    "vitest", "jest", "mocha", "jasmine", "tape", "ava", "node-workspaces", "node-built", "go-packages", "go-command", "rust-library", "rust-workspace", "maven", "maven-modules", "gradle",
)  # fmt: skip
LIMIT_S = 600
_SYSTEM_PACKAGES = Path("/usr/share/maven-repo")
_MAVEN = {"MAVEN_OPTS": f"-Dmaven.repo.local={_SYSTEM_PACKAGES}"}


class Voice(NamedTuple):
    """How a runner tells people of its tests."""

    line: str
    """For `sh`; `{test}` is the command that the service found, without what asks for a report."""
    pattern: str
    """With the groups `name` and `how`; every match is a test."""
    files: str = ""
    """Where it stands; empty: on the console."""


_JASMINE = Path(__file__).with_name("jasmine_voice.cjs")
_ASKED = re.compile(
    r"(?: --json --outputFile=\S+| --reporter=json --outputFile=\S+| --reporter \S*mocha\.cjs| --reporter=tap"
    r"| --tap| --helper=\S+)$"
)
"""What a command of the service asks for besides."""
_GOOD = ("PASS", "ok", "✓", "PASSED", "passed", "✔", "")
_LEFT = ("SKIP", "ignored", "○", "↓", "SKIPPED", "✎", "skipped", "todo", "pending", "excluded", "-")
_XML = r'<testcase\b[^>]*?\bname="(?P<name>[^"]*)"[^>]*?(?:/>|>\s*(?:<(?P<how>skipped|failure|error))?)'
VOICES: Mapping[str, Voice] = {
    "go test": Voice("go test -v ./...", r"(?m)^\s*--- (?P<how>PASS|FAIL|SKIP): (?P<name>.+?) \("),
    "cargo test": Voice(
        "{test}", r"(?m)^test (?P<name>.+?)(?: - should panic)? \.\.\. (?P<how>ok|FAILED|ignored)"
    ),
    "node:test": Voice("NODE_OPTIONS='--test-reporter=junit --test-reporter-destination=stdout' {test}", _XML),
    "jest": Voice("{test} --verbose", r"(?m)^\s+(?P<how>[✓✕○✎]) (?:skipped |todo )?(?P<name>.+?)(?: \(\d+ m?s\))?$"),
    "vitest": Voice("{test} --reporter=tap-flat", r"(?m)^(?P<how>ok|not ok) \d+ - .* > (?P<name>.+?) # (?:time=\S+|(?P<left>SKIP|TODO).*)$"),
    "mocha": Voice("{test} --reporter spec", r"(?m)^\s{4,}(?P<how>[✓✔-]|\d+\)) (?P<name>.+?)(?: \(\d+m?s\))?$"),
    "jasmine": Voice(f"{{test}} --reporter={_JASMINE}", r"(?m)^spec (?P<how>passed|failed|pending|excluded): (?P<name>.*)$"),
    "ava": Voice("{test}", r"(?m)^\s+(?P<how>[✔✘-]) (?:\[\w+\]:? )?(?P<name>.+?)(?: \(\d+(?:\.\d+)?m?s\))?$"),
    # A heading with an assertion right below it; one that only holds others, or a comment, has none there.
    "tape": Voice("{test}", r"(?m)^# (?P<name>.+)\n(?=ok|not ok)(?:(?=(?:(?!# ).*\n)*?(?P<how>not ok)))?"),
    "maven": Voice("{test}", _XML, "**/surefire-reports/TEST-*.xml"),
    "gradle": Voice("{test}", _XML, "**/build/test-results/test/*.xml"),
}  # fmt: skip


class Compared(NamedTuple):
    """One repository."""

    name: str
    runner: str
    agree: int
    differ: tuple[str, ...]
    seconds: float
    problem: str = ""


def main(folders: list[str]) -> None:
    """Print a row for each, the samples first; exit with 1 where a test is told otherwise."""
    places = [*(SAMPLES / name for name in SAMPLE_NAMES), *map(Path, folders)]
    sys.stdout.write(
        "| repository | runner | tests that agree | told otherwise | seconds here |\n|---|---|---|---|---|\n"
    )
    found = []
    for place in places:
        result = _visited(place)
        found.append(result)
        told = result.problem or len(result.differ)
        sys.stdout.write(
            f"| {result.name} | {result.runner} | {result.agree} | {told} | {result.seconds:.1f} |\n"
        )
        sys.stdout.flush()
        for each in result.differ[:10]:
            sys.stderr.write(f"  {each}\n")
    if any(each.differ for each in found):
        sys.exit(1)


def _visited(place: Path) -> Compared:
    with TemporaryDirectory(prefix="cogworks-languages-", ignore_cleanup_errors=True) as name:
        copy = Path(name) / place.name
        shutil.copytree(place, copy, symlinks=True)
        if (copy / "package-lock.json").is_file() and not (copy / "node_modules").is_dir():
            _say("npm ci --ignore-scripts --no-audit --no-fund", copy, {})
        return _compared(place.name, copy)


def _compared(name: str, copy: Path) -> Compared:
    machine = Machine(os.environ.get("PATH", os.defpath), strongest(os.environ.get("PATH", os.defpath)))
    variables = _MAVEN if (copy / "pom.xml").is_file() and _SYSTEM_PACKAGES.is_dir() else {}
    asked: dict[str, object] = {
        "request_id": "1",
        "method": "simulate",
        "repository": {"path": str(copy), "settings": {"mode": "prepared", "variables": variables}},
        "params": {"timeout_s": LIMIT_S},
    }
    recipe = _ground(asked, copy, machine).recipe
    voice = VOICES.get(recipe.runner)
    if voice is None:
        return Compared(name, recipe.runner or "none", 0, (), 0.0, "its runner says nothing of single tests")
    started_s = time.monotonic()
    response = CommandService(machine).answer(json.dumps(asked).encode())
    seconds = time.monotonic() - started_s
    if response.error is not None:
        return Compared(name, recipe.runner, 0, (), seconds, response.error.message.splitlines()[0])
    here = _here(TestReport.model_validate(response.result))
    plain = _ASKED.sub("", recipe.test)
    own = _own(voice, _say(voice.line.replace("{test}", plain), copy, variables), copy)
    differ = [f"own {test}" for test in (own - here).elements()]
    differ += [f"here {test}" for test in (here - own).elements()]
    return Compared(
        name,
        recipe.runner,
        (own & here).total(),
        tuple(differ),
        seconds,
        "" if own else "its own run told of no test",
    )


def _ground(asked: dict[str, object], copy: Path, machine: Machine) -> Ground:
    return ground_of(Request.model_validate(asked), copy, machine)


def _say(line: str, copy: Path, variables: Mapping[str, str]) -> str:
    path = f"{copy}/node_modules/.bin:{os.environ.get('PATH', os.defpath)}"
    environment = {**os.environ, **variables, "PATH": path, "CI": "true"}
    done = subprocess.run(
        ["/bin/sh", "-c", line], cwd=copy, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False, timeout=LIMIT_S,
    )  # fmt: skip
    return _plain(done.stdout.decode(errors="replace"))


def _plain(said: str) -> str:
    """What a runner says without its colours, which it is not told to leave out: tests may look at that themselves."""
    return re.sub(r"\x1b\[[0-9;]{0,16}[A-Za-z]", "", said)


def _own(voice: Voice, said: str, copy: Path) -> Counter[str]:
    texts = [said]
    if voice.files:
        texts = [each.read_text("utf-8", errors="replace") for each in sorted(copy.glob(voice.files))]
    return Counter(
        f"{_last(found['name'])}: {_how(found)}"
        for text in texts
        for found in re.finditer(voice.pattern, text)
    )


def _how(found: re.Match[str]) -> str:
    word = found["how"] or ""
    is_left = word in _LEFT or bool(found.groupdict().get("left"))
    return "skipped" if is_left else "passed" if word in _GOOD else "failed"


def _here(report: TestReport) -> Counter[str]:
    endings = {"passed": "passed", "skipped": "skipped"}
    return Counter(
        f"{_last(case.id.partition('::')[2])}: {endings.get(case.outcome, 'failed')}" for case in report.cases
    )


def _last(name: str) -> str:
    """Of a name what every runner says: without its suites, its place and the number of a namesake."""
    documented = re.sub(r"^\S+\.rs - (.*?) ?\(line \d+\)(?: - compile.*)?$", r"doc \1", name)
    text = re.sub(r" #\d+$", "", documented.rpartition(" > ")[2])
    # Node's own report escapes what it has escaped already.
    # TAP puts a stroke before its own signs; and what has no name is told as `?` here.
    plain = re.sub(r"\\([\\#])", r"\1", unescape(unescape(text)))
    return " ".join(plain.split()).removesuffix("()") or "?"


if __name__ == "__main__":
    main(sys.argv[1:])
