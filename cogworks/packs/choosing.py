"""Which context packs apply to a piece of work? The same facts and packs give the same answer; no model is asked."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from cogworks.canonical import canonical_text
from cogworks.packs.declared import AnnotationArtefact, Artefact, Exemplar, Pack, Unusable
from cogworks.vocabulary import CommitOid, Value

MAX_EXEMPLAR_BYTES = 80_000
"""Of all files of other repositories together; a run keeps them whole."""


class Subject(Value):
    """What is known of the work when packs are chosen."""

    component_tags: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    language: str = ""
    is_safety_affecting: bool = False


class Considered(Value):
    """One pack that was looked at."""

    name: str
    source: str
    """`repository` or `cogworks`."""
    digest: str = ""
    """Of the whole pack; empty where it could not be read."""
    applies: bool
    why: str
    """What made it apply, or what kept it from that."""


class ReadElsewhere(Value):
    """What came of asking for a file of another repository."""

    blob: str = ""
    """The name that git gives to its content."""
    text: str = ""
    problem: str = ""
    """Why there is none; empty where there is."""


class FrozenExemplar(Value):
    """A file of another repository as it was when the run decided about its packs."""

    pack: str
    exemplar: Exemplar
    blob: str
    text: str


class FrozenPacks(Value):
    """What a run decided about packs: made once, kept in the ledger, and true until the run ends."""

    commit: CommitOid
    """The commit of the default branch whose packs were read."""
    considered: tuple[Considered, ...]
    packs: tuple[Pack, ...] = ()
    """Those that apply, whole: what is edited later acts on later runs."""
    exemplars: tuple[FrozenExemplar, ...] = ()
    """Of those that apply."""
    warnings: tuple[str, ...] = ()
    max_tokens: int
    """How much of their text a prompt has room for."""

    @property
    def is_empty(self) -> bool:
        """Whether there was no pack to look at."""
        return not self.considered


def choose(
    packs: Sequence[Pack | Unusable],
    subject: Subject,
    *,
    commit: CommitOid,
    max_tokens: int,
    elsewhere: Mapping[Exemplar, ReadElsewhere] = MappingProxyType({}),
) -> FrozenPacks:
    """The packs that apply, with the reason for each that was looked at.

    Args:
        elsewhere: the exemplars of those that apply, as they were read.
    """
    considered, applying = [], []
    for pack in sorted(packs, key=lambda each: each.name):
        if isinstance(pack, Unusable):
            considered.append(
                Considered(name=pack.name, source="repository", applies=False, why=f"left out: {pack.why}")
            )
            continue
        applies, why = verdict(pack, subject)
        considered.append(
            Considered(name=pack.name, source=pack.source, digest=pack.digest, applies=applies, why=why)
        )
        if applies:
            applying.append(pack)
    exemplars, left_out = _exemplars(applying, elsewhere)
    return FrozenPacks(
        commit=commit,
        considered=tuple(considered),
        packs=tuple(applying),
        exemplars=exemplars,
        warnings=(*conflicts(applying), *left_out),
        max_tokens=max_tokens,
    )


def _exemplars(
    packs: Sequence[Pack], elsewhere: Mapping[Exemplar, ReadElsewhere]
) -> tuple[tuple[FrozenExemplar, ...], tuple[str, ...]]:
    """Those that could be read and fit, and a warning about each of the others."""
    frozen: dict[str, FrozenExemplar] = {}
    left_out, room = [], MAX_EXEMPLAR_BYTES
    for pack in packs:
        for each in pack.sources.exemplar:
            if (read := elsewhere.get(each)) is None or each.place in frozen:
                continue
            size = len(canonical_text(read.text).encode())
            problem = read.problem or (
                f"it has {size:,} bytes, and {room:,} are left for files of other repositories"
                if size > room
                else ""
            )
            if problem:
                left_out.append(
                    f"context pack {pack.name!r}: its exemplar `{each.place}` is left out: {problem}"
                )
                continue
            room -= size
            frozen[each.place] = FrozenExemplar(pack=pack.name, exemplar=each, blob=read.blob, text=read.text)
    return tuple(frozen.values()), tuple(left_out)


def verdict(pack: Pack, subject: Subject) -> tuple[bool, str]:
    """Whether a pack applies, and the criteria that decided it: any of a list, and every list that is there."""
    trigger, met, unmet = pack.trigger, [], []
    criteria = (
        ("component tag", trigger.component_tags, subject.component_tags),
        ("label", trigger.labels, subject.labels),
        ("language", trigger.languages, (subject.language,) if subject.language else ()),
    )
    for what, wanted, present in criteria:
        if not wanted:
            continue
        known = {each.casefold() for each in present}
        hits = [each for each in wanted if each.casefold() in known]
        if hits:
            met.append(f"{what} {', '.join(hits)}")
        else:
            unmet.append(f"{what} is {', '.join(present) or 'none'}, wanted {' or '.join(wanted)}")
    if trigger.safety_affecting:
        (met if subject.is_safety_affecting else unmet).append(
            "affects safety" if subject.is_safety_affecting else "does not affect safety"
        )
    return (not unmet, "; ".join(unmet or met))


class Required(NamedTuple):
    """One artefact that a change has to hold."""

    pack: str
    artefact: Artefact


def required(packs: Sequence[Pack]) -> tuple[Required, ...]:
    """What all packs together require: of two that want the same words near the same code, the stricter one."""
    by_sameness: dict[object, Required] = {}
    for pack in packs:
        for artefact in pack.artefacts:
            key = _sameness(pack.name, artefact)
            other = by_sameness.get(key)
            if other is None or _window(artefact) < _window(other.artefact):
                by_sameness[key] = Required(pack.name, artefact)
    return tuple(by_sameness.values())


def conflicts(packs: Sequence[Pack]) -> tuple[str, ...]:
    """Where packs contradict each other; both are required all the same, and a person should know."""
    problems: list[str] = []
    by_code: dict[str, Required] = {}
    by_name: dict[str, Required] = {}
    for each in required(packs):
        if (named := by_name.setdefault(each.artefact.name, each)) is not each and named.pack != each.pack:
            problems.append(
                f"context packs {named.pack!r} and {each.pack!r} both require {each.artefact.name!r} and mean different things; "
                "both are required"
            )
        if not isinstance(each.artefact, AnnotationArtefact):
            continue
        first = by_code.setdefault(each.artefact.code_pattern, each)
        if first is not each and first.pack != each.pack and first.artefact.name != each.artefact.name:
            problems.append(
                f"context packs {first.pack!r} and {each.pack!r} want different words near `{each.artefact.code_pattern}`; "
                "both are required"
            )
    return tuple(problems)


def _sameness(pack: str, artefact: Artefact) -> object:
    if isinstance(artefact, AnnotationArtefact):
        return (artefact.code_pattern, artefact.annotation_pattern, artefact.file_pattern)
    rest = artefact.model_dump(exclude={"name"})
    return (artefact.type, repr(sorted(rest.items()))) if rest else (pack, artefact.name)


def _window(artefact: Artefact) -> int:
    return artefact.within_lines if isinstance(artefact, AnnotationArtefact) else 0
