"""`scripts/bench transact`: transactions against a plain loop of `git apply`, the whole suite and `git reset`, on the same candidates."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Literal, NamedTuple

import click

from cogworks.codebase.diffmodel import Diff, render
from cogworks.codebase.diffplacing import between
from cogworks.codebase.git import Git
from cogworks.codebase.patchtree import PatchTree
from cogworks.domain_services.messages import Caller, TestCase, TestReport
from cogworks.repair.consulting import Consulted
from cogworks.repair.localise.localising import localise
from cogworks.repair.transact.gates import Selection
from cogworks.repair.transact.measure import measured, refusal
from cogworks.repair.transact.outcomes import Terms
from cogworks.repair.transact.transaction import TransactionPorts, transact
from cogworks.repair.violations import Span, Step
from cogworks.settings.config import child_environment, read_environment
from cogworks.vocabulary import CommitOid, RunId
from cogworks.wiring.committer import COMMITTER
from cogworks.wiring.services import open_panel

TARGET_RATIO = 3.0
TESTS = 500
TEST_MS = 20
"""What each test takes: as much as a test that opens a file or two, and much less than one with a database."""
_PER_FILE = 20
_FAULTY = "shop/part0.py"
_TARGET = "tests/test_part0.py::test_row0"
_LIMIT_S = 1_800.0
Way = Literal["transactions", "plain"]


class Tree(NamedTuple):
    """A folder, as far as a service needs one."""

    path: Path


class Candidate(NamedTuple):
    """One diff."""

    kind: str
    diff: str


@dataclass(frozen=True)
class Cost:
    """One way through all candidates."""

    way: Way
    verdicts: tuple[bool, ...]
    """For each candidate whether it was kept."""
    wall_s: float
    cpu_s: float
    """Of all processes together."""
    memory_mb: float
    """Of the largest process."""

    @property
    def per_minute(self) -> float:
        return 60 * len(self.verdicts) / self.wall_s


def suite_files(tests: int, test_ms: int) -> dict[str, str]:
    """A package and so many tests of it, one of which fails."""
    files = {"shop/__init__.py": "", ".gitignore": "__pycache__/\n"}
    for number in range(max(1, tests // _PER_FILE)):
        own = min(tests, _PER_FILE)
        rows = "\n\n".join(_function(row, faulty=number == row == 0) for row in range(own))
        files[f"shop/part{number}.py"] = f"{rows}\n"
        head = f"import time\n\nfrom shop import part{number}\n"
        files[f"tests/test_part{number}.py"] = head + "".join(
            f"\n\ndef test_row{row}():\n    end = time.process_time() + {test_ms / 1000}\n"
            f"    while time.process_time() < end:\n        pass\n    assert part{number}.row{row}(3) == {3 + row}\n"
            for row in range(own)
        )
    return files


def _function(row: int, *, faulty: bool) -> str:
    sign = "-" if faulty else "+"
    return f"def row{row}(count):\n    total = count\n    total {sign}= {row + faulty}\n    return total{' - 1' * faulty}\n"


def candidates(source: str) -> tuple[Candidate, ...]:
    """What a careless model may propose for the fault, the true repair last."""
    wrong = [
        ("wrong", "    total -= 1\n    return total - 1\n", f"    total -= {n}\n    return total - {n}\n")
        for n in range(2, 10)
    ]
    breaks = [("regression", f"    total += {row}\n", f"    total += {row + 1}\n") for row in range(11, 17)]
    broken = [("syntax error", "    total -= 1\n", f"    total -= 1 {mark}\n") for mark in ("(", "]", "if")]
    good = ("    total -= 1\n    return total - 1\n", "    return total\n")
    found = [
        Candidate(kind, _diff(source, source.replace(old, new, 1))) for kind, old, new in (*wrong, *broken)
    ]
    found += [
        Candidate(kind, _diff(source, source.replace(*good, 1).replace(old, new, 1)))
        for kind, old, new in breaks
    ]
    found += [
        Candidate("misfit", _diff(source, source.replace(*good, 1)).replace("def row0", f"def row0{number}"))
        for number in range(4)
    ]
    return (*found, Candidate("repair", _diff(source, source.replace(*good, 1))))


def _diff(before: str, after: str) -> str:
    return render(Diff(files=(between(_FAULTY, before, after),)))


def measure(tests: int = TESTS, test_ms: int = TEST_MS) -> tuple[Cost, Cost]:
    """Both ways on the same repository, each in a process of its own, so that each has its own peak of memory."""
    plain, ours = (_measured(way, tests, test_ms) for way in ("plain", "transactions"))
    return ours, plain


def _measured(way: Way, tests: int, test_ms: int) -> Cost:
    command = [
        sys.executable,
        "-m",
        __spec__.name,
        "--tests",
        str(tests),
        "--test-ms",
        str(test_ms),
        "--only",
        way,
    ]
    started_s = time.monotonic()
    with TemporaryFile("w+") as told:
        process = subprocess.Popen(command, stdout=told)
        # `wait` would not tell what the process and those below it have used.
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - started_s
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"the way {way!r} ended with {process.returncode}")
        told.seek(0)
        verdicts = tuple(json.load(told))
    return Cost(
        way=way,
        verdicts=verdicts,
        wall_s=round(wall_s, 1),
        cpu_s=round(used.ru_utime + used.ru_stime, 1),
        memory_mb=round(used.ru_maxrss / 1024, 1),
    )


def tried(way: Way, tests: int, test_ms: int) -> tuple[bool, ...]:
    """The verdicts of one way, in this process."""
    files = suite_files(tests, test_ms)
    with TemporaryDirectory(prefix="cogworks-bench-") as name:
        folder = Path(name).resolve()
        tree = _repository(folder / "tree", files)
        offered = candidates(files[_FAULTY])
        if way == "plain":
            return _plainly(tree, offered)
        return _in_transactions(tree, offered, folder, files[_FAULTY])


def _repository(tree: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text, encoding="utf-8")
    _git(tree, "init", "--quiet")
    _git(tree, "add", "--all")
    _git(tree, "commit", "--quiet", "--message", "a shop")
    return tree


def _git(tree: Path, *arguments: str, stdin: str = "") -> bool:
    who = ("-c", f"user.name={COMMITTER.name}", "-c", f"user.email={COMMITTER.email}")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=tree, input=stdin.encode(), capture_output=True, check=False
    )
    return done.returncode == 0


def _plainly(tree: Path, offered: Sequence[Candidate]) -> tuple[bool, ...]:
    """Apply, run everything, keep or reset; judged by the same rule of sets."""
    before = measured(whole_suite(tree))
    verdicts = []
    for candidate in offered:
        is_kept = False
        if _git(tree, "apply", "--index", "-", stdin=candidate.diff):
            is_kept = refusal(before, measured(whole_suite(tree)), must_pass=[_TARGET]) is None
        if is_kept:
            _git(tree, "commit", "--quiet", "--message", "kept")
        else:
            _git(tree, "reset", "--quiet", "--hard")
        verdicts.append(is_kept)
    return tuple(verdicts)


def whole_suite(tree: Path) -> TestReport:
    """How every test of a folder comes out with plain pytest."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "--tb=no", "-p", "no:cacheprovider"],
        cwd=tree,
        env={
            **os.environ,
            "PYTHONPATH": str(tree),
            # As in the service: plugins that happen to be installed beside it are none of this suite, and what was compiled of
            # one candidate would be run for the next, if that has as many bytes and came within the same second.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    words = {"PASSED": "passed", "FAILED": "failed"}
    told = (
        line.split(" ")[:2]
        for line in done.stdout.splitlines()
        if line.startswith(("PASSED", "FAILED", "ERROR"))
    )
    cases, errors = [], []
    for word, name in told:
        if word in words:
            cases.append(TestCase.model_validate({"id": name, "outcome": words[word]}))
        else:
            errors.append(name)
    return TestReport(cases=tuple(cases), collection_errors=tuple(errors))


def _in_transactions(tree: Path, offered: Sequence[Candidate], folder: Path, source: str) -> tuple[bool, ...]:
    git = Git(environment=child_environment(), home=folder)
    environment = read_environment({"COGWORKS_WORK_DIR": str(folder / "work"), "HOME": str(folder)})
    with open_panel({}, environment, caller=Caller(node="fix"), warn=lambda _: None) as panel:
        work = PatchTree(tree, git, identity=COMMITTER)
        checks = Consulted(Tree(tree), panel)
        failing = TestReport(cases=(TestCase(id=_TARGET, outcome="failed", message=f"{_FAULTY}:3: in row0"),))
        found = localise(failing, checks)
        terms = Terms(
            run=RunId("bench"),
            sub_item="bench",
            step=Step(id="repair", files=(_FAULTY,), spans=(Span(_FAULTY, 1, source.count("\n")),)),
            selection=Selection(
                targeted=(_TARGET,), regression=(found.covering or {}).get(_FAULTY, ()), is_last=True
            ),
            base=CommitOid(git.run("rev-parse", "HEAD", cwd=tree).strip()),
        )
        ports = TransactionPorts(tree=work, checks=checks)
        return tuple(
            # Before it ends, a repair runs the whole suite once more.
            transact(candidate.diff, terms, ports).is_kept and checks.run((), timeout_s=_LIMIT_S).passed
            for candidate in offered
        )


def table(costs: Sequence[Cost]) -> str:
    """The figures as a Markdown table."""
    rows = [
        f"| {cost.way} | {len(cost.verdicts)} | {sum(cost.verdicts)} | {cost.wall_s:.0f} s | {cost.cpu_s:.0f} s | "
        f"{cost.per_minute:.1f} | {cost.memory_mb:.0f} MB |"
        for cost in costs
    ]
    head = "| way | candidates | kept | time | processor | per minute | largest process |"
    return "\n".join([head, "|---|---|---|---|---|---|---|", *rows])


@click.command()
@click.option("--tests", type=click.IntRange(20), default=TESTS, show_default=True)
@click.option(
    "--test-ms", type=click.IntRange(0), default=TEST_MS, show_default=True, help="What each test takes."
)
@click.option("--only", type=click.Choice(["transactions", "plain"]), help="Print the verdicts of one way.")
@click.option("--json", "as_json", is_flag=True)
def main(tests: int, test_ms: int, only: Way | None, as_json: bool) -> None:
    """Print what both ways cost; exit with 1 when they judge differently, or the ratio is missed."""
    if only is not None:
        click.echo(json.dumps(tried(only, tests, test_ms)))
        return
    ours, plain = measure(tests, test_ms)
    ratio = plain.cpu_s / ours.cpu_s
    click.echo(json.dumps([asdict(ours), asdict(plain)]) if as_json else table((ours, plain)))
    if not as_json:
        click.echo(
            f"\nTransactions take {1 / ratio:.2f} of the processor time of the plain loop; that is {ratio:.1f} times as many, and "
            f"{ours.per_minute / plain.per_minute:.1f} times as many by the clock."
        )
    if ours.verdicts != plain.verdicts or ratio < TARGET_RATIO:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
