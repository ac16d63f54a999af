"""One small program, repaired by the command `cogworks fix` with a model on loopback, and by hand with the same diffs."""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from scripts.benchmarks.smallbugs.programs import FILE, TESTS, Program
from tests.model_server import Answer, ModelServer, Seen, replied

AT_ONCE = 3
LIMIT_S = 600.0
_GIT = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com")
_ASKED = (("which diffs make this change?", "diffs"), ("which changes repair it?", "plan"))


class Played(NamedTuple):
    """What became of a program."""

    name: str
    kind: str
    end: str
    """`fixed`: the fix was kept; `wrong`: something else was; `nothing`."""
    tried: int
    is_untouched: bool
    took_s: float
    by_hand_s: float
    processor_s: float
    by_hand_processor_s: float
    said: str
    """The last line."""
    warnings: tuple[str, ...] = ()
    """Of the proof."""

    @property
    def ratio(self) -> float:
        return self.took_s / self.by_hand_s

    @property
    def processor_ratio(self) -> float:
        """The same in processor time, which other work on the machine hardly changes."""
        return self.processor_s / self.by_hand_processor_s


class Spent(NamedTuple):
    """What a block took: seconds, and seconds of processor of the processes that it waited for."""

    wall_s: float
    processor_s: float


class Model:
    """Answers each question from what is known: the place of the bug, and the diffs in their order, again and again."""

    def __init__(self, program: Program, diffs: Sequence[str]) -> None:
        self._program = program
        self._diffs = diffs
        self._next = 0

    def __call__(self, seen: Seen) -> Answer:
        text = json.dumps(seen.body.get("system", "")) + json.dumps(seen.body["messages"])
        asked = max(
            (text.rfind(words), kind) for words, kind in (*_ASKED, ("what is wrong, and where?", "pattern"))
        )
        answers = {"diffs": self._edits, "plan": self._plan, "pattern": self._pattern}
        return replied(json.dumps(answers[asked[1]]()))

    @property
    def _place(self) -> Mapping[str, object]:
        first = self._program.line
        return {"path": FILE, "first_line": first, "last_line": first + self._program.lines - 1}

    def _pattern(self) -> Mapping[str, object]:
        return {
            "summary": "What stands here is wrong.",
            "primary": self._place,
            "alternatives": [],
            "invariants": [],
            "confidence": 0.8,
            "assumptions_to_check": [],
        }

    def _plan(self) -> Mapping[str, object]:
        repair = {
            "id": "repair",
            "intent": "Repair it.",
            "places": [self._place],
            "allow_api": [],
            "test": "",
            "after": [],
        }
        return {"landmarks": [repair]}

    def _chunk(self) -> Sequence[str]:
        first = self._next
        self._next = 0 if first + AT_ONCE >= len(self._diffs) else first + AT_ONCE
        return self._diffs[first : first + AT_ONCE]

    def _edits(self) -> Mapping[str, object]:
        return {
            "diffs": [
                {
                    "edits": [{"path": FILE, "search": self._program.bug, "replace": each}],
                    "unified_diff": "",
                    "rationale": "A way.",
                }
                for each in self._chunk()
            ]
        }


def played(program: Program, diffs: Sequence[str]) -> Played:
    """What the command makes of these diffs in this order."""
    with TemporaryDirectory(prefix="cogworks-bench-") as name, _server(program, diffs) as url:
        folder = _laid_out(program, Path(name, "repository"))
        before = state_of(folder)
        began = _now()
        done = _fix(folder, url, Path(name))
        took = _since(began)
        told = json.loads(done.stdout)
        warnings = _warnings(Path(name, "runs"))
        is_untouched = state_of(folder) == before
        final = _with_patch(folder, told.get("patch") or "")
        hand = by_hand(program, diffs, Path(name, "hand"))
    ends = {program.with_change(program.fix): "fixed", program.code: "nothing"}
    return Played(
        name=program.name,
        kind=program.kind,
        end=ends.get(final, "wrong"),
        tried=len(told.get("transactions", ())),
        is_untouched=is_untouched,
        took_s=took.wall_s,
        by_hand_s=hand.wall_s,
        processor_s=took.processor_s,
        by_hand_processor_s=hand.processor_s,
        said=str(told.get("message", "")),
        warnings=warnings,
    )


def by_hand(program: Program, diffs: Sequence[str], folder: Path) -> Spent:
    """What the plain loop takes: the tests, then each diff and the tests again until they pass."""
    _laid_out(program, folder)
    began = _now()
    for text in (program.bug, *diffs):
        (folder / FILE).write_text(program.with_change(text), encoding="utf-8")
        if _passes(folder):
            break
    return _since(began)


def _now() -> Spent:
    spent = os.times()
    return Spent(time.monotonic(), spent.children_user + spent.children_system)


def _since(began: Spent) -> Spent:
    now = _now()
    return Spent(now.wall_s - began.wall_s, now.processor_s - began.processor_s)


def state_of(folder: Path) -> str:
    """Other where any file of a repository is, its own records included."""
    digest = hashlib.sha256()
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder)}\0{content}\n".encode())
    return digest.hexdigest()


@contextmanager
def _server(program: Program, diffs: Sequence[str]) -> Iterator[str]:
    with ModelServer() as server:
        model = Model(program, diffs)
        server.answers(*[model] * 60)
        yield server.url


def _laid_out(program: Program, folder: Path) -> Path:
    folder.mkdir()
    (folder / FILE).write_text(program.code, encoding="utf-8")
    (folder / TESTS).write_text(program.tests, encoding="utf-8")
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "a program")):
        subprocess.run([*_GIT, *words], cwd=folder, check=True)  # our own words
    return folder


def _fix(folder: Path, url: str, around: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "COGWORKS_LLM_PROVIDER": "anthropic",
        "COGWORKS_LLM_MODEL": "claude-sonnet-5-5",
        "COGWORKS_LLM_API_KEY": "none",
        "COGWORKS_LLM_BASE_URL": url,
    }
    return subprocess.run(  # our own words
        [sys.executable, "-m", "cogworks", "fix", "--repo", folder, "--json", "--artifacts", around / "runs"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )


def _warnings(runs: Path) -> tuple[str, ...]:
    proofs = [json.loads(place.read_text(encoding="utf-8")) for place in runs.glob("*/proof.json")]
    return tuple(warning for proof in proofs for warning in proof.get("warnings", ()))


def _with_patch(folder: Path, patch: str) -> str:
    """The program with the patch; not valid any more where it does not apply."""
    if patch:
        subprocess.run([*_GIT, "apply"], cwd=folder, input=patch, text=True, check=True)  # our own words
    return (folder / FILE).read_text(encoding="utf-8")


def _passes(folder: Path) -> bool:
    words = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return (
        subprocess.run(words, cwd=folder, env=environment, capture_output=True, check=False).returncode == 0
    )  # our own words
