"""Whether the base of an item has to be looked at again, and what is remembered of a look: rules only."""

import re
from collections.abc import Callable, Iterable, Sequence

from cogworks.engine.base_findings import DOCUMENT_ENDINGS, BaseFindings
from cogworks.engine.workability import asks_services, needs_services
from cogworks.pipeline.graph import Instance, Pipeline, PipelineConfiguration
from cogworks.pipeline.known_base import KnownBase
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import CommitOid


def is_due(
    state: RunState,
    instance: Instance,
    pipeline: Pipeline,
    pipelines: PipelineConfiguration,
    *,
    oid: CommitOid,
) -> bool:
    """Whether a visit that calls a model would be the first of its run to pay on this base.

    The first node may choose another pipeline: before it the base counts only where every pipeline asks a service.

    Args:
        oid: where the default branch stands.
    """
    is_first = instance.node == pipeline.start
    if not (needs_services(pipelines) if is_first else asks_services(pipeline)):
        return False
    ended = [*((each.node, each.spend) for each in state.folded), *((v.node, v.spend) for v in state.visits)]
    paid = [node for node, spend in ended if spend.model_calls]
    if state.base is None:
        # What the first node paid says nothing: its run may have had a choice, or be older than this check.
        return all(node == pipeline.start for node in paid)
    return not paid or state.base.oid != oid or bool(state.base.problem)


def still_holds(
    known: KnownBase | None,
    *,
    wanted: str,
    machine: str,
    changed_since: Callable[[CommitOid], Sequence[str] | None],
    specs: tuple[str, ...],
) -> bool:
    """Whether what the ledger keeps of a base is true of another, so that no service has to be asked about that one.

    Only where what tests run with follows from files of the base, which are among those that matter, and from the kind of machine. Which
    tools of other languages a machine has, only their service can tell.

    Args:
        wanted: `[tests] baseline`.
        machine: the kind of this machine; empty: nobody knows, or it has no complete isolation.
        changed_since: in which files the base differs from another; None: nobody knows.
        specs: the folders in which specifications may be written.
    """
    if known is None or known.problem or not machine:
        return False
    if not (known.environment_key and known.follows_from_files):
        return False
    if (known.machine, known.wanted) != (machine, wanted):
        return False
    changed = changed_since(known.oid)
    return changed is not None and not matters(changed, specs=specs, tests_documents=known.tests_documents)


def is_alike(known: KnownBase | None, found: BaseFindings) -> bool:
    """Whether a base passed before that differs at most in its files."""
    key = found.environment.key if found.environment else ""
    return (
        known is not None
        and not known.problem
        and (known.environment_key, known.wanted) == (key or None, found.wanted)
    )


def matters(paths: Iterable[str], *, specs: tuple[str, ...], tests_documents: bool) -> bool:
    """Whether a change of these files may change what comes of the suite: of anything but documents it may.

    Args:
        specs: the folders in which specifications may be written.
        tests_documents: whether tests stand in documents.
    """
    return any(
        not any(_is_specification(path, each) for each in specs)
        and (tests_documents or not path.lower().endswith(DOCUMENT_ENDINGS))
        for path in paths
    )


def _is_specification(path: str, folder: str) -> bool:
    # Whatever else lies there is the repository's own, and tests may read it.
    name = path.removeprefix(f"{folder}/")
    return name != path and re.fullmatch(r"\d+\.md", name) is not None


def known_base(found: BaseFindings, path: str, *, machine: str) -> KnownBase:
    """What a run remembers of a base on which work may begin.

    Args:
        path: the file of the ledger that holds the findings.
        machine: the kind of that on which its tests ran.
    """
    key = found.environment.key if found.environment else ""
    return KnownBase(
        oid=found.oid,
        environment_key=key,
        follows_from_files=bool(found.environment and found.environment.follows_from_files),
        machine=machine,
        wanted=found.wanted,
        line=found.line,
        path=path,
        tests_documents=found.tests_documents,
    )


def with_problem(state: RunState, problem: str) -> RunState:
    """The state that knows its base for broken; one on which nothing was begun stays without."""
    if state.base is None:
        return state
    return state.model_copy(update={"base": state.base.model_copy(update={"problem": problem})})
