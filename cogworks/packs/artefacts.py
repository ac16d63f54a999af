"""Does a change hold what its context packs require? Files, headings and words near code; nobody is asked."""

import re
from collections.abc import Iterator, Mapping, Sequence

from cogworks.packs.choosing import FrozenPacks, Required, required
from cogworks.packs.declared import AnnotationArtefact, FileArtefact, SectionArtefact
from cogworks.packs.patterns import fits, regex
from cogworks.vocabulary import Value

_HEADING = re.compile(r" {0,3}#{1,6}\s(?P<rest>.*)")
"""No more than that: what else blanks and marks mean would be tried in every way that a line of nothing else allows."""
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
MAX_LINE_CHARS = 2_000
"""Of a line that is compared with a pattern."""


class Changed(Value):
    """One file as a change leaves it."""

    path: str
    text: str
    added: frozenset[int]
    """The lines that the change wrote, from 1."""


class Missing(Value):
    """What a change does not hold although a pack requires it."""

    pack: str
    artefact: str
    place: str
    """A file, or the pattern of the file that is missing."""
    line: int = 0
    explanation: str


def missing(
    frozen: FrozenPacks, changed: Sequence[Changed], others: Mapping[str, str]
) -> tuple[Missing, ...]:
    """What is not there of all that the packs of a run require.

    Args:
        others: the other files of the repository: path -> text, for what may have been there before.
    """
    return tuple(lacking for each in required(frozen.packs) for lacking in _missing(each, changed, others))


def patterns_required(frozen: FrozenPacks | None) -> tuple[str, ...]:
    """Of the files that the packs of a run want written or changed: a change of code may write them, planned or not."""
    required_patterns: list[str] = []
    for each in required(frozen.packs) if frozen is not None else ():
        match each.artefact:
            case FileArtefact(path_pattern=patterns):
                required_patterns += patterns
            case SectionArtefact(file_pattern=patterns):
                required_patterns += patterns
            case _:
                pass
    return tuple(dict.fromkeys(required_patterns))


def patterns_besides(frozen: FrozenPacks) -> tuple[str, ...]:
    """Of which files outside a change the texts are needed to judge it."""
    needed_patterns: list[str] = []
    for each in required(frozen.packs):
        match each.artefact:
            case FileArtefact(where="repository", path_pattern=patterns):
                needed_patterns += patterns
            case SectionArtefact(where="repository", file_pattern=patterns):
                needed_patterns += patterns
            case _:
                pass
    return tuple(dict.fromkeys(needed_patterns))


def _missing(each: Required, changed: Sequence[Changed], others: Mapping[str, str]) -> Iterator[Missing]:
    texts = {file.path: file.text for file in changed}
    artefact = each.artefact
    match artefact:
        case FileArtefact():
            there = {**others, **texts} if artefact.where == "repository" else texts
            if not any(fits(path, artefact.path_pattern) for path in there):
                yield _absent(each, artefact.path_pattern, "no file of the change fits")
        case SectionArtefact():
            there = {**others, **texts} if artefact.where == "repository" else texts
            pattern = regex(artefact.heading_pattern)
            files = [text for path, text in there.items() if fits(path, artefact.file_pattern)]
            if not any(pattern.is_in(title) for text in files for title in headings(text)):
                yield _absent(
                    each,
                    artefact.file_pattern,
                    f"no heading that fits `{artefact.heading_pattern}` in a file that fits",
                )
        case AnnotationArtefact():
            for file in changed:
                if not artefact.file_pattern or fits(file.path, artefact.file_pattern):
                    yield from _unannotated(each.pack, artefact, file)


def _absent(each: Required, patterns: Sequence[str], what: str) -> Missing:
    named = " or ".join(f"`{pattern}`" for pattern in patterns)
    return Missing(
        pack=each.pack,
        artefact=each.artefact.name,
        place=patterns[0],
        explanation=f"The context pack `{each.pack}` requires the artefact *{each.artefact.name}*, and it is missing: {what} {named}.",
    )


def _unannotated(pack: str, artefact: AnnotationArtefact, file: Changed) -> Iterator[Missing]:
    code, words = regex(artefact.code_pattern), regex(artefact.annotation_pattern)
    lines = list(_lines(file.text))
    for number, line in enumerate(lines, 1):
        if number not in file.added or not code.is_in(line):
            continue
        near = lines[max(0, number - 1 - artefact.within_lines) : number + artefact.within_lines]
        if not any(words.is_in(each) for each in near):
            yield Missing(
                pack=pack,
                artefact=artefact.name,
                place=file.path,
                line=number,
                explanation=f"The context pack `{pack}` requires the artefact *{artefact.name}*: `{artefact.annotation_pattern}` has to "
                f"stand within {artefact.within_lines} line(s) of this code.",
            )


def headings(markdown: str) -> Iterator[str]:
    """The headings of a document, those in fences left out; underlined ones count too."""
    is_fenced, before = False, ""
    for line in _lines(markdown):
        if _FENCE.match(line):
            is_fenced = not is_fenced
        elif not is_fenced:
            if match := _HEADING.match(line):
                yield match["rest"].rstrip().rstrip("#").strip()
            elif before.strip() and line.strip() and not line.strip().strip("=-"):
                yield before.strip()
        before = line


def _lines(text: str) -> Iterator[str]:
    """Numbered as git numbers them: other characters that Python ends a line at stand inside of one."""
    return (line.removesuffix("\r")[:MAX_LINE_CHARS] for line in text.split("\n"))
