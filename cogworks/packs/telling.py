"""What a model and people read of context packs."""

from collections.abc import Iterator

from cogworks.packs.choosing import FrozenPacks, Required, required
from cogworks.packs.declared import (
    DOCUMENTS,
    AnnotationArtefact,
    FileArtefact,
    Pack,
    SectionArtefact,
    Trigger,
    Unusable,
)

_CHARS_PER_TOKEN = 4
_OPENING = """\
The people of this project know the following about changes of this kind. It stands below the rules above and above everything that is said further
down: follow it. Where two of these texts contradict each other, the stricter one holds."""


def knowledge(frozen: FrozenPacks | None) -> str:
    """The part of a system text that the packs of a run make up; empty where none applies."""
    if frozen is None or not frozen.packs:
        return ""
    shown, left_out = _documents(frozen)
    parts = [_OPENING, *shown]
    if left_out:
        parts.append(f"Left out for want of room: {', '.join(left_out)}.")
    if requirements := required(frozen.packs):
        listed = "\n".join(f"- {wanted_of(each)}" for each in requirements)
        parts.append(
            f"# What every change has to hold\n\nA change that lacks one of these is sent back unread:\n\n{listed}"
        )
    return "\n\n".join(parts)


def _documents(frozen: FrozenPacks) -> tuple[list[str], list[str]]:
    """The documents there is room for, whole ones only, and the names of the others; warnings before background."""
    room = frozen.max_tokens * _CHARS_PER_TOKEN
    texts, left_out = [], []
    for name in DOCUMENTS:
        for pack in frozen.packs:
            if (text := pack.documents.get(name, "").strip()) == "":
                continue
            text_shown = f"# {pack.name}: {name.removesuffix('.md').replace('-', ' ')}\n\n{text}"
            if len(text_shown) <= room:
                texts.append(text_shown)
                room -= len(text_shown)
            else:
                left_out.append(f"{pack.name}/{name}")
    return texts, left_out


def wanted_of(each: Required) -> str:
    """One artefact in words."""
    artefact = each.artefact
    match artefact:
        case FileArtefact():
            files = " or ".join(f"`{pattern}`" for pattern in artefact.path_pattern)
            where = "in the change" if artefact.where == "change" else "in the repository"
            return f"*{artefact.name}* ({each.pack}): a file that fits {files}, {where}."
        case SectionArtefact():
            files = " or ".join(f"`{pattern}`" for pattern in artefact.file_pattern)
            return f"*{artefact.name}* ({each.pack}): a heading that fits `{artefact.heading_pattern}` in a file that fits {files}."
        case AnnotationArtefact():
            return (
                f"*{artefact.name}* ({each.pack}): within {artefact.within_lines} line(s) of code that fits `{artefact.code_pattern}`, a line "
                f"that fits `{artefact.annotation_pattern}`."
            )


def for_people(frozen: FrozenPacks) -> tuple[str, ...]:
    """One line for each pack that was looked at, and for each contradiction between them."""
    lines = [
        f"`{each.name}` ({_source(each.source)}): {'applies' if each.applies else 'does not apply'}, {each.why}"
        for each in frozen.considered
    ]
    shown = [
        f"`{each.pack}` shows `{each.exemplar.place}` (blob {each.blob[:12]}) as an example"
        for each in frozen.exemplars
    ]
    return (*lines, *shown, *frozen.warnings)


def on_the_shelf(pack: Pack | Unusable) -> str:
    """One line about a pack before any issue is there: when it would apply, and what it would bring along."""
    if isinstance(pack, Unusable):
        return f"`{pack.name}` is left out: {pack.why}"
    chars = sum(len(text) for text in pack.documents.values())
    size = f"tells {len(pack.documents)} document(s), about {-(-chars // _CHARS_PER_TOKEN)} tokens"
    names = ", ".join(each.name for each in pack.artefacts)
    wants = f"requires {names}" if names else "requires nothing"
    return f"`{pack.name}` ({_source(pack.source)}) applies where {' and '.join(_criteria(pack.trigger))}; {size}; {wants}{_beside(pack)}"


def _beside(pack: Pack) -> str:
    shown = [each.place for each in pack.sources.exemplar]
    judged = [pattern for each in pack.sources.standard for pattern in each.path_pattern]
    return (f"; shows {', '.join(shown)}" if shown else "") + (
        f"; is judged by {', '.join(judged)}" if judged else ""
    )


def _criteria(trigger: Trigger) -> Iterator[str]:
    criteria = (
        ("the language is", trigger.languages),
        ("a component tag is", trigger.component_tags),
        ("a label is", trigger.labels),
    )
    yield from (f"{what} {' or '.join(wanted)}" for what, wanted in criteria if wanted)
    if trigger.safety_affecting:
        yield "safety is affected"


def _source(source: str) -> str:
    return "of this repository" if source == "repository" else "ships with cogworks"
