"""What may follow what in the log of a run, and what is wrong with one."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from cogworks.codegen.dossier import Record

_ANALYSES = frozenset(
    {"combine.start", "investigations.start", "planner.synthesize.start", "probes.proposed", "subgraph.built"}
)
_TRIES = frozenset({"txn.retry", "txn.start"})
FINISH = "controller.finish"
BROKEN = "action.broken"
FOLLOWS: Mapping[str, frozenset[str]] = {
    "controller.start": frozenset({"vcs.checkpoint", FINISH}),
    "vcs.checkpoint": frozenset({"vcs.checkpoint", "replan", "branch.chosen", "step.begin", FINISH})
    | _ANALYSES
    | _TRIES,
    "replan": _ANALYSES | {"savepoint.restored", "branch.chosen"},
    "savepoint.restored": frozenset({"vcs.checkpoint"}),
    "subgraph.built": frozenset({"candidates.recalled"}),
    "candidates.recalled": _ANALYSES | {"replan", FINISH},
    "probes.proposed": frozenset({"investigations.start"}),
    "investigations.start": frozenset({"probe.start", "investigations.done"}),
    "probe.start": frozenset({"probe.start", "probe.done"}),
    "probe.done": frozenset({"probe.start", "probe.done", "investigations.done"}),
    "investigations.done": frozenset({"candidates.probed"}),
    "candidates.probed": frozenset({"combine.start", "planner.synthesize.start"}),
    "combine.start": frozenset({"combine.done"}),
    "combine.done": frozenset({"planner.synthesize.start"}),
    "planner.synthesize.start": frozenset({"planner.synthesize.done"}),
    "planner.synthesize.done": frozenset({"planner.landmarks.start", "branch.chosen"}),
    "planner.landmarks.start": frozenset({"planner.landmarks.done"}),
    "planner.landmarks.done": frozenset({"branch.chosen"}),
    "branch.chosen": frozenset({"step.begin", "replan", FINISH}),
    "step.begin": frozenset({"step.test_cmd"}),
    "step.test_cmd": frozenset({"proposer.start"}),
    "proposer.retry": frozenset({"proposer.start"}),
    "proposer.start": frozenset({"proposer.done"}),
    "proposer.done": frozenset({"judge.done", "rerank.done", "proposer.retry", "replan", FINISH}),
    "judge.done": frozenset({"rerank.done"}),
    "rerank.done": _TRIES | {"vcs.checkpoint", FINISH},
    "budget.reached": frozenset({"proposer.retry", "replan", FINISH}),
    "txn.retry": frozenset({"txn.start"}),
    "txn.start": frozenset({"txn.checkpoint", "txn.result"}),
    "txn.checkpoint": frozenset({"txn.measured", "txn.rollback"}),
    "txn.measured": frozenset({"txn.validated", "txn.judged", "txn.rollback"}),
    "txn.validated": frozenset({"txn.applied", "txn.rollback"}),
    "txn.applied": frozenset({"file.write"}),
    "file.write": frozenset({"file.write", "txn.compared", "txn.rollback"}),
    "txn.compared": frozenset({"txn.gate", "txn.rollback"}),
    "txn.gate": frozenset({"txn.gate", "txn.measured", "txn.rollback"}),
    "txn.judged": frozenset({"txn.commit", "txn.rollback"}),
    "txn.commit": frozenset({"txn.result"}),
    "txn.rollback": frozenset({"txn.result"}),
    "txn.result": _TRIES
    | {"branch.settled", "budget.reached", "vcs.checkpoint", "proposer.retry", "replan", FINISH},
    "branch.settled": frozenset({"vcs.checkpoint"}),
    BROKEN: _ANALYSES | _TRIES | {"vcs.checkpoint", "replan", "step.begin", "proposer.retry", FINISH},
    FINISH: frozenset(),
}
"""Kind -> the kinds that may come next. Anything but an end may be followed by `action.broken`."""
NAMED = frozenset(
    [
        "controller.start",
        "controller.finish",
        "vcs.checkpoint",
        "candidates.recalled",
        "candidates.probed",
        "investigations.start",
        "investigations.done",
        "combine.start",
        "combine.done",
        "planner.landmarks.start",
        "planner.landmarks.done",
        "planner.synthesize.start",
        "planner.synthesize.done",
        "step.begin",
        "step.test_cmd",
        "proposer.start",
        "proposer.done",
        "proposer.retry",
        "txn.start",
        "txn.result",
        "txn.retry",
        "file.write",
    ]
)
"""The kinds that every full run tells, with a retry of each sort."""


def problems(log: Sequence[Record]) -> list[str]:
    """What is wrong with a log from its beginning; one that breaks off before its end may be right so far."""
    if not log or log[0].kind != "controller.start":
        return ["it does not begin with controller.start"]
    reader = _Reader()
    found = []
    for number, (before, record) in enumerate(pairwise(log), 1):
        if record.ts < before.ts:
            found.append(f"{number}: {record.kind} is older than what stands before it")
        is_broken = record.kind == BROKEN and before.kind not in (FINISH, BROKEN)
        if record.kind not in FOLLOWS.get(before.kind, frozenset()) and not is_broken:
            found.append(f"{number}: {record.kind} after {before.kind}")
        found += [f"{number}: {problem}" for problem in reader.read(record)]
    return found


class _Reader:
    """What a log has told so far, as far as later records depend on it."""

    def __init__(self) -> None:
        self._begun: set[str] = set()
        self._probing: set[str] = set()
        self._written: set[str] = set()
        """By the transaction at hand."""
        self._checkpoint: Mapping[str, object] = {}
        self._step = ""
        self._has_asked = self._has_failed = self._has_committed = self._is_kept = False
        self._is_again = False

    def read(self, record: Record) -> list[str]:
        told = record.data
        if record.kind.startswith("probe."):
            return self._probed(record)
        if record.kind == "file.write":
            again = told["path"] in self._written
            self._written.add(told["path"])
            return [f"{told['path']} is written twice"] if again else []
        if record.kind == "investigations.done" and self._probing:
            return [f"{sorted(self._probing)} never ended"]
        if record.kind.startswith(("step.", "proposer.")):
            return self._asked(record)
        if record.kind.startswith("txn."):
            return self._tried(record)
        if record.kind == "vcs.checkpoint":
            same, self._checkpoint, self._is_kept = told == self._checkpoint, told, False
            return ["the same checkpoint twice"] if same else []
        if self._is_kept and record.kind != "branch.settled":
            return ["a change was kept, and no checkpoint follows"]
        return []

    def _probed(self, record: Record) -> list[str]:
        name = record.data["id"]
        if record.kind == "probe.start":
            is_new = name not in self._begun
            self._begun.add(name)
            self._probing.add(name)
            return [] if is_new else [f"{name} is begun twice"]
        is_running = name in self._probing
        self._probing.discard(name)
        return [] if is_running else [f"{name} ends and was not begun"]

    def _asked(self, record: Record) -> list[str]:
        name = record.data.get("landmark", self._step)
        if record.kind == "step.begin":
            self._step, self._has_asked, self._has_failed = name, False, False
        elif name != self._step:
            return [f"{name} was not begun with"]
        elif record.kind == "proposer.retry" and not self._has_asked:
            return ["nothing was proposed before"]
        elif record.kind == "proposer.done":
            self._has_asked = True
        return []

    def _tried(self, record: Record) -> list[str]:
        if record.kind == "txn.retry":
            self._is_again = True
            return [] if self._has_failed else ["nothing was tried before"]
        if record.kind == "txn.start":
            is_again, self._is_again, self._has_committed = self._is_again, False, False
            self._written.clear()
            if is_again != self._has_failed:
                return ["tried again, and it is not said so"]
            if record.data["landmark"] != self._step:
                return [f"{record.data['landmark']} was not begun with"]
        elif record.kind == "txn.commit":
            self._has_committed = True
        elif record.kind == "txn.result":
            self._is_kept = record.data["code"] == "kept"
            self._has_failed |= not self._is_kept
            if self._is_kept != self._has_committed:
                return [f"ended as {record.data['code']}"]
        return []
