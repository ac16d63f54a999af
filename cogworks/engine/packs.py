"""When a run decides about its context packs, where it keeps that, and how later visits read it.

Packs are read before the issue is classified, so that a malformed one costs no token; they are chosen by the classification.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from cogworks.ledger.record import LedgerUnreadable, canonical, ledger_branch
from cogworks.nodes.contract import NodePorts
from cogworks.packs.choosing import FrozenPacks, Subject, choose
from cogworks.packs.declared import FOLDER, Pack, Unusable
from cogworks.packs.shelf import packs_of
from cogworks.pipeline.checks import CLASSIFICATION
from cogworks.pipeline.graph import Instance, Node
from cogworks.pipeline.places import is_routing
from cogworks.pipeline.state import RunState
from cogworks.settings.config import Config
from cogworks.vocabulary import CommitOid

PACKS_FILE = "packs.json"


def decides_on_packs(node: Node, at: Instance) -> bool:
    """Whether packs are chosen by what a visit finds."""
    return CLASSIFICATION in node.outputs and at.sub_item is None and not is_routing(at)


def shelf_of(ports: NodePorts, config: Config, head: CommitOid) -> tuple[Pack | Unusable, ...]:
    """The packs of the default branch, and those of cogworks that the repository asks for.

    Raises:
        ConfigurationError: what a pack requires cannot be read.
    """
    copy = ports.workspace()
    paths = copy.files_at(head, FOLDER)
    return packs_of(paths, lambda path: copy.read_at(head, path), config.context_packs.shipped)


def frozen_by(
    packs: Sequence[Pack | Unusable],
    classification: Mapping[str, Any],
    *,
    labels: Sequence[str],
    is_safety_critical: bool,
    commit: CommitOid,
    max_tokens: int,
) -> FrozenPacks:
    """What a classification makes of the packs that there are."""
    subject = Subject(
        component_tags=_words(classification.get("component_tags")),
        labels=tuple(labels),
        language=str(classification.get("language") or ""),
        is_safety_affecting=is_safety_critical or classification.get("safety_affecting") is True,
    )
    return choose(packs, subject, commit=commit, max_tokens=max_tokens)


def frozen_in(files: Mapping[str, str], state: RunState) -> FrozenPacks | None:
    """What the run decided about packs, out of what a claim brought back.

    Raises:
        LedgerUnreadable: the file that the state tells of is not there, or is none.
    """
    if not state.packs_at:
        return None
    try:
        return FrozenPacks.model_validate_json(files[state.packs_at])
    except (KeyError, ValueError):
        raise LedgerUnreadable(
            f"`{state.packs_at}` on branch `{ledger_branch(state.issue)}`, which holds the context packs of this run, is gone or was "
            "changed. Restore it with `git revert` on that branch; nothing was published."
        ) from None


def packs_text(frozen: FrozenPacks) -> str:
    """As the ledger keeps it."""
    return canonical(frozen.model_dump(mode="json"))


def _words(given: object) -> tuple[str, ...]:
    return tuple(str(each) for each in given) if isinstance(given, (list, tuple)) else ()
