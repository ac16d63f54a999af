"""Where context packs come from, when a run decides about them, where it keeps that, and how later visits read it.

Packs are read before the issue is classified, so that a malformed one costs no token; they are chosen by the classification.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files as package_files
from typing import Any

from cogworks.errors import ConfigurationError
from cogworks.ledger.record import LedgerUnreadable, canonical, ledger_branch
from cogworks.nodes.contract import NodePorts
from cogworks.packs.choosing import FrozenPacks, ReadElsewhere, Subject, choose, conflicts
from cogworks.packs.declared import FILES, FOLDER, Exemplar, Pack, Unusable, read_pack
from cogworks.pipeline.checks import CLASSIFICATION
from cogworks.pipeline.elements import is_routing
from cogworks.pipeline.graph import Instance, Node
from cogworks.pipeline.state import RunState
from cogworks.settings.config import Config
from cogworks.vocabulary import CommitOid

ReadsFile = Callable[[str], str | None]


def packs_of(paths: Sequence[str], read: ReadsFile, shipped: Sequence[str]) -> tuple[Pack | Unusable, ...]:
    """Every pack that a repository has or has asked for.

    Args:
        paths: of the files below `FOLDER` on the default branch.
        read: the text of one of them; None where it is no text.
        shipped: names of packs that ship with cogworks; one of the repository of the same name goes before.

    Raises:
        ConfigurationError: what a pack requires cannot be read, or a pack has a file that is none of a pack's.
    """
    own: dict[str, dict[str, str]] = {}
    for path in sorted(paths):
        name, _, rest = path.removeprefix(f"{FOLDER}/").partition("/")
        if rest:
            own.setdefault(name, {})[rest] = _text(path, read) if rest in FILES else ""
    own_packs = [read_pack(name, files, source="repository") for name, files in own.items()]
    return (*own_packs, *(shipped_pack(name) for name in shipped if name not in own))


def _text(path: str, read: ReadsFile) -> str:
    text = read(path)
    if text is None:
        # As an empty file it would require nothing, and nobody would know.
        raise ConfigurationError(path, ["is no text in UTF-8; save it as UTF-8"])
    return text


def shipped_pack(name: str) -> Pack | Unusable:
    """A pack that ships with cogworks."""
    folder = package_files("cogworks.packs") / "shipped" / name
    files = {each.name: each.read_text(encoding="utf-8") for each in folder.iterdir() if each.name in FILES}
    return read_pack(name, files, source="cogworks")


PACKS_FILE = "packs.json"
MAX_KEPT_BYTES = 400_000
"""Of the packs of a repository together. GitHub shows a file whole up to 512 000 bytes; a claim that gets a part cannot go on."""

_MOST_NAMED = 5


class MalformedPacks(ConfigurationError):
    """Packs that people have to mend before anything of a run is paid for."""


def decides_on_packs(node: Node, at: Instance) -> bool:
    """Whether packs are chosen by what a visit finds."""
    return CLASSIFICATION in node.outputs and at.sub_item is None and not is_routing(at)


def shelf_of(
    node: Node, at: Instance, ports: NodePorts, config: Config, head: CommitOid
) -> tuple[Pack | Unusable, ...]:
    """What a visit may choose of: the packs of the default branch, and those of cogworks that the repository asks for.

    None where the visit does not decide on packs.

    Raises:
        MalformedPacks: what a pack requires cannot be read, or the ledger has no room for all of them.
    """
    if not decides_on_packs(node, at):
        return ()
    copy = ports.workspace()
    return usable_shelf(copy.files_at(head, FOLDER), lambda path: copy.read_at(head, path), config)


def usable_shelf(paths: Sequence[str], read: ReadsFile, config: Config) -> tuple[Pack | Unusable, ...]:
    """The packs of a tree, and those of cogworks that it asks for.

    Args:
        paths: of the files below the folder of packs.

    Raises:
        MalformedPacks: as `shelf_of`.
    """
    try:
        packs = packs_of(paths, read, config.context_packs.shipped)
    except ConfigurationError as error:
        raise MalformedPacks(error.source, error.problems) from error
    if problem := _too_large(packs):
        raise MalformedPacks(FOLDER, [problem])
    return packs


def _too_large(packs: Sequence[Pack | Unusable]) -> str:
    """Why the ledger could not keep them; empty where it can, whichever of them a run chooses."""
    sizes = {each.name: _kept_bytes(each) for each in packs}
    usable = sorted((each for each in packs if isinstance(each, Pack)), key=lambda each: each.name)
    total = sum(sizes.values()) + len("".join(conflicts(usable)).encode())
    if total <= MAX_KEPT_BYTES:
        return ""
    largest = sorted(sizes, key=lambda name: (-sizes[name], name))[:_MOST_NAMED]
    named = ", ".join(f"`{name}` ({sizes[name]:,} bytes)" for name in largest)
    return (
        f"the packs take {total:,} bytes as the ledger keeps them, and it has room for {MAX_KEPT_BYTES:,}; the largest are {named}. "
        "Shorten or remove some"
    )


def _kept_bytes(pack: Pack | Unusable) -> int:
    if isinstance(pack, Unusable):
        return len(canonical(pack.model_dump(mode="json")).encode())
    # Why a pack applies or not names its criteria once more.
    text = canonical([pack.model_dump(mode="json"), pack.trigger.model_dump(mode="json")])
    return len(text.encode())


def frozen_by(
    packs: Sequence[Pack | Unusable],
    classification: Mapping[str, Any],
    *,
    labels: Sequence[str],
    is_safety_critical: bool,
    commit: CommitOid,
    max_tokens: int,
    elsewhere: Mapping[Exemplar, ReadElsewhere],
) -> FrozenPacks:
    """What a classification makes of the packs that there are."""
    subject = Subject(
        component_tags=_words(classification.get("component_tags")),
        labels=tuple(labels),
        language=str(classification.get("language") or ""),
        is_safety_affecting=is_safety_critical or classification.get("safety_affecting") is True,
    )
    return choose(packs, subject, commit=commit, max_tokens=max_tokens, elsewhere=elsewhere)


def exemplars_of(frozen: FrozenPacks) -> tuple[Exemplar, ...]:
    """Which files of other repositories the packs that apply show."""
    return tuple(dict.fromkeys(each for pack in frozen.packs for each in pack.sources.exemplar))


def frozen_in(files: Mapping[str, str], state: RunState) -> FrozenPacks | None:
    """What the run decided about packs, out of what a claim brought back.

    Raises:
        LedgerUnreadable: the file that the state names is not there, or is none.
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


def _words(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, (list, tuple)) else ()
