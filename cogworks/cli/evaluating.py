"""The instances of an evaluation in processes of their own: none is done twice, and none outlives the command."""

import fcntl
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

from cogworks import __version__
from cogworks.canonical import digest
from cogworks.errors import MachineUnfit, PermissionRefused, UsageError
from cogworks.evaluation.cases import Purse
from cogworks.evaluation.report import Result, as_text
from cogworks.llm.budget import dollars
from cogworks.services.python.preparing import prepared
from cogworks.settings.config import child_environment, read_environment
from cogworks.stopping import ended_by_signal
from cogworks.unfit import writing
from cogworks.vocabulary import Value
from cogworks.wiring.evaluation import Assignment, work_at

_RESULT = "result.json"
_END_S = 20.0


class Kept(Value):
    """The content of `result.json`: the result of an instance, and under which terms."""

    terms: str
    refused: bool = False
    """Whether nobody was asked, because the model's provider wants a key."""
    result: Result


class _Worker(NamedTuple):
    process: BaseProcess
    alive: Connection
    """Our end of a pipe; when it closes, the worker knows that we are gone."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """A folder of runs for this evaluation alone.

    Raises:
        UsageError: another evaluation is at work there.
        MachineUnfit: it cannot be written.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("a")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(
                f"another evaluation is at work in {folder}; wait for its end, or name another folder with `--artifacts`."
            ) from None
        yield


def earlier(assignment: Assignment) -> Result | None:
    """What an earlier evaluation made of the same instance under the same terms; None: it has to be done."""
    kept = _kept(assignment)
    # Where nobody could say anything, the next time may be better.
    if kept is None or kept.terms != terms_of(assignment) or kept.result.outcome in ("error", "unbudgeted"):
        return None
    return kept.result


def evaluated(orders: Sequence[Assignment], *, jobs: int, purse: Purse) -> Iterator[Result]:
    """The results as they come, from so many processes at a time; all of them end with this iterator.

    Args:
        purse: what they may cost together. Once nothing is left of it, the others are reported as not begun.

    Raises:
        PermissionRefused: the model's provider wants a key; the instances after that are not begun.
        MachineUnfit: nor are they where this machine lacks what they need.
    """
    waiting, working = list(orders), dict[object, tuple[_Worker, Assignment]]()
    try:
        while waiting or working:
            while waiting and len(working) < jobs:
                share_usd = purse.share_usd(min(len(waiting), jobs - len(working)))
                if share_usd is not None and share_usd <= 0:
                    break
                assignment = waiting.pop(0).model_copy(update={"max_cost_usd": share_usd})
                purse = purse.lending(share_usd)
                worker = _begin(assignment)
                working[worker.process.sentinel] = (worker, assignment)
            if not working:
                yield from (_not_begun(assignment, purse) for assignment in waiting)
                return
            for ended in wait([worker.process.sentinel for worker, _ in working.values()]):
                worker, assignment = working.pop(ended)
                result = _result(worker, assignment)
                purse = purse.paying(
                    result.cost_usd,
                    share_usd=assignment.max_cost_usd,
                    sufficed=result.outcome != "unbudgeted",
                )
                yield result
    finally:
        for worker, _ in working.values():
            worker.process.terminate()
        for worker, _ in working.values():
            worker.process.join(_END_S)
            worker.process.kill()


def _not_begun(assignment: Assignment, purse: Purse) -> Result:
    limit, left = (dollars(each or Decimal(0)) for each in (purse.limit_usd, purse.left_usd))
    reason = f"not begun: only {left} of {limit} USD (`--max-cost`) are left"
    return Result(
        instance_id=assignment.case.id, repo=assignment.case.repo, outcome="unbudgeted", reason=reason
    )


def _begin(assignment: Assignment) -> _Worker:
    (assignment.artifacts / _RESULT).unlink(missing_ok=True)
    # A new interpreter: what one instance does to its process is no business of the others.
    context = multiprocessing.get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(assignment, theirs), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _result(worker: _Worker, assignment: Assignment) -> Result:
    worker.process.join()
    worker.alive.close()
    kept = _kept(assignment)
    if kept is None:
        code = worker.process.exitcode
        if code == MachineUnfit.exit_code:
            raise MachineUnfit(
                f"{assignment.case.id} was not judged, because this machine lacks what the line above names."
            )
        reason = f"its process exited with {code} and left no result"
        return Result(
            instance_id=assignment.case.id, repo=assignment.case.repo, outcome="error", reason=reason
        )
    if kept.refused:
        raise PermissionRefused(kept.result.reason)
    return kept.result


def _work(assignment: Assignment, alive: Connection) -> None:
    """One instance, in a process of its own."""
    # Ctrl-C reaches every process of the terminal; who began this one decides, and says so by SIGTERM.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with ended_by_signal():
            threading.Thread(target=_end_with, args=(alive,), daemon=True).start()
            keep(assignment, _worked(assignment))
    except KeyboardInterrupt:
        os._exit(130)
    except MachineUnfit as error:
        # There may be no room for a result that says so.
        os.write(2, f"cogworks: {error}\n".encode())
        os._exit(error.exit_code)


def _worked(assignment: Assignment) -> Kept:
    terms = terms_of(assignment)
    prepare = partial(prepared, search_path=child_environment().get("PATH", os.defpath))
    try:
        result = work_at(assignment, read_environment(), prepare=prepare)
    except PermissionRefused as error:
        refusal = Result(instance_id=assignment.case.id, outcome="error", reason=str(error))
        return Kept(terms=terms, refused=True, result=refusal)
    return Kept(terms=terms, result=result)


def _kept(assignment: Assignment) -> Kept | None:
    try:
        return Kept.model_validate(json.loads((assignment.artifacts / _RESULT).read_bytes()))
    except (OSError, ValueError):
        return None


def keep(assignment: Assignment, kept: Kept) -> None:
    """Write the result of an instance, whole or not at all."""
    unfinished = assignment.artifacts / f"{_RESULT}.unfinished"
    with writing(assignment.artifacts):
        assignment.artifacts.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(as_text(kept), encoding="utf-8")
        unfinished.replace(assignment.artifacts / _RESULT)


def _end_with(alive: Connection) -> None:
    """Ends this process when the one that began it is gone, however that ended."""
    wait([alive])
    os.kill(os.getpid(), signal.SIGTERM)


def terms_of(assignment: Assignment) -> str:
    """What a result depends on, places and the repository's commits aside."""
    elsewhere = {"tasks": Path(), "artifacts": Path(), "repositories": None}
    # What would have come with more money is no other question: what was broken off for it is done anew.
    apart = assignment.model_copy(update={**elsewhere, "max_cost_usd": None})
    return digest(apart) + f" {__version__}"
