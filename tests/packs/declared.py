"""Packs and changes, for the tests of context packs."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from cogworks.packs.artefacts import Changed
from cogworks.packs.choosing import FrozenPacks, Subject, choose
from cogworks.packs.declared import Artefact, Pack, Sources, Trigger
from cogworks.vocabulary import CommitOid

COMMIT = CommitOid("c" * 40)
NONE = Sources()
ALWAYS = Trigger(languages=("python",))
PYTHON = Subject(language="python")
_ARTEFACT: TypeAdapter[Artefact] = TypeAdapter(Artefact)


def artefact_of(data: Any) -> Artefact:
    """An artefact out of plain data."""
    return _ARTEFACT.validate_python(data)


def pack(
    name: str = "p",
    *artefacts: Mapping[str, Any],
    trigger: Trigger = ALWAYS,
    sources: Sources = NONE,
    **documents: str,
) -> Pack:
    """A pack of the repository; documents by the first word of their names."""
    names = {"anti": "anti-patterns.md", "safe": "safe-patterns.md", "domain": "domain-knowledge.md"}
    return Pack(
        name=name,
        source="repository",
        trigger=trigger,
        documents={names[each]: text for each, text in documents.items()},
        sources=sources,
        artefacts=tuple(artefact_of(dict(each)) for each in artefacts),
    )


def frozen(*packs: Pack, max_tokens: int = 6_000) -> FrozenPacks:
    """A run's decision in which all of them apply."""
    return choose(packs, PYTHON, commit=COMMIT, max_tokens=max_tokens)


def new(path: str, text: str = "") -> Changed:
    """A file that a change writes whole."""
    return Changed(path=path, text=text, added=frozenset(range(1, len(text.splitlines()) + 1)))


def touched(path: str, text: str, *lines: int) -> Changed:
    """A file of which a change wrote some lines."""
    return Changed(path=path, text=text, added=frozenset(lines))


def names(found: Sequence[Any]) -> list[str]:
    """Of artefacts that are missing."""
    return [each.artefact for each in found]
