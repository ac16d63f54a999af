"""Is a text of others an order to the model? The same text gives the same answer, in time proportional to its length."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from cogworks.injection.folding import decoded_parts, folded, is_obscured, lines_alike, rewritten, skeleton
from cogworks.injection.reading import Reading, spellings
from cogworks.injection.signatures import Signature, SignatureFile, bundled
from cogworks.injection.weighing import Weighed, Weights, weigh
from cogworks.injection.weighing import bundled as learned

MAX_CHARS = 400_000
"""What is beyond is not read, and `Scan.is_whole` says so; an issue of GitHub has 65,536 at most."""
STATISTICAL = "statistical"
"""The signature of a finding of the statistical layer."""
MAX_DEPTH = 3
"""How often an encoding is taken off another one."""
_MAX_FOUND = 12
"""Places of one signature in one reading of a text."""
_NEAR_LINES = 8
"""Signatures that stand so close belong to one attempt."""
# Who hides an order means it; who quotes one, or tells of it, mostly does not (docs/injections.md).
_HIDDEN, _ENCODED, _OBSCURED = 1.5, 1.5, 1.4
_MENTIONED, _REPORTED, _TOLD = 0.12, 0.3, 0.3


@dataclass(frozen=True)
class Finding:
    """One signature at one place of a text."""

    signature: str
    kind: str
    version: str
    """Of the signatures, or of the weights of the statistical layer."""
    why: str
    line: int
    """From 1."""
    weight: float
    """After what is known of the place."""
    how: str = ""
    """How it was hidden: an encoding, `hidden from readers`, `unseen characters`, `other letters`; empty: not at all."""
    said: str = ""
    """The words that were found, as they read without any disguise."""


@dataclass(frozen=True)
class Scan:
    """What was found in a text, in the order of its lines."""

    findings: tuple[Finding, ...] = ()
    score: float = 0.0
    """The greatest sum of weights of signatures that stand close together."""
    is_whole: bool = True
    """All of the text was read."""
    is_injection: bool = False
    """The score reaches the threshold: somebody gives orders to the model."""
    is_suspect: bool = False
    """It does, or comes close: whoever reads the text is told."""

    @property
    def is_statistical(self) -> bool:
        """Whether the signatures alone do not suffice for what is said of the text."""
        return any(each.signature == STATISTICAL for each in self.findings)


class _Match(NamedTuple):
    signature: Signature
    line: int
    weight: float
    how: str
    said: str


def scan(text: str) -> Scan:
    """What a text orders a model to do. Never raises."""
    return _scanned(text[:MAX_CHARS], len(text) <= MAX_CHARS)


def orders_in_name(name: str) -> tuple[str, ...]:
    """The kinds of orders that a name gives, by signatures alone: what statistics learned are sentences."""
    return tuple(each.kind for each in scan(name).findings if each.signature != STATISTICAL)


# The texts of an item are read when it is considered, and once more for each prompt that shows them.
@lru_cache(maxsize=256)
def _scanned(text: str, is_whole: bool) -> Scan:
    file = bundled()
    # JSON may carry unpaired surrogates, and nothing below could encode them.
    plain = lines_alike(text.encode("utf-8", "replace").decode())
    matches = list(_all_matches(plain, file))
    best = _best(matches)
    score = max((_sum_near(each, best) for each in best), default=0.0)
    findings = tuple(_finding(each, file) for each in best) if score >= file.mark_at else ()
    # Signatures say more exactly what was found, so that the other layer is asked where they do not suffice.
    if score < file.hold_at and (other := _learned(weigh(plain), learned(), file)) is not None:
        findings = tuple(sorted((*findings, other), key=lambda each: each.line))
        score = max(score, other.weight)
    is_suspect = score >= file.mark_at
    return Scan(
        findings=findings,
        score=round(score, 3),
        is_whole=is_whole,
        is_injection=score >= file.hold_at,
        is_suspect=is_suspect,
    )


def _finding(each: _Match, file: SignatureFile) -> Finding:
    return Finding(
        signature=each.signature.id, kind=each.signature.kind, version=file.version, why=each.signature.why, line=each.line + 1,
        weight=round(each.weight, 3), how=each.how, said=each.said,
    )  # fmt: skip


def _learned(weighed: Weighed | None, weights: Weights, file: SignatureFile) -> Finding | None:
    """What the statistical layer says, on the scale of the signatures; None where it says nothing."""
    if weighed is None or weighed.score < weights.mark_at:
        return None
    if weighed.score >= weights.hold_at:
        weight = file.hold_at + min(1.0, (weighed.score - weights.hold_at) / 10)
    else:
        way = (weighed.score - weights.mark_at) / (weights.hold_at - weights.mark_at)
        weight = file.mark_at + way * (file.hold_at - file.mark_at)
    return Finding(
        # Rounded down: what is only marked must not look as if it were held.
        signature=STATISTICAL, kind=weighed.kind, version=weights.version, line=weighed.line + 1, weight=int(weight * 1000) / 1000,
        why="the words read like an order to the model", how=weighed.how, said=weighed.said[:300],
    )  # fmt: skip


def _all_matches(text: str, file: SignatureFile) -> Iterator[_Match]:
    plain = Reading(folded(text))
    lines = text.split("\n")
    seen: set[str] = set()
    for each in _matches(plain, file, talk=_talk(plain, file)):
        seen.add(each.signature.id)
        is_odd = each.line < len(lines) and is_obscured(lines[each.line])
        factor = _OBSCURED if is_odd and not each.how else 1.0
        yield each._replace(
            weight=each.weight * factor, how=each.how or ("unseen characters" if is_odd else "")
        )
    yield from _disguised(text, plain, file, seen, depth=0)


def _disguised(
    text: str, plain: Reading, file: SignatureFile, seen: set[str], depth: int
) -> Iterator[_Match]:
    """What shows only once a disguise is off; what the text says openly is not told twice."""
    talk = _talk(plain, file)
    if (latinised := skeleton(plain.text)) != plain.text:
        latin = Reading(latinised)
        # Who talks about injections may say so openly around a disguise, or only within it.
        is_meant = talk | _talk(latin, file)
        yield from _again(_matches(latin, file, talk=is_meant), seen, "other letters", _OBSCURED)
    for name, spelt in spellings(plain.text):
        yield from _again(_matches(Reading(spelt), file, talk=talk), seen, name, _OBSCURED)
    for whole in rewritten(text):
        reading = Reading(folded(whole.text))
        is_meant = talk | _talk(reading, file)
        yield from _again(_matches(reading, file, talk=is_meant), seen, whole.encoding, _ENCODED)
    if depth >= MAX_DEPTH:
        return
    around = Reading(text)
    for part in decoded_parts(text):
        inner = Reading(folded(part.text))
        is_meant = talk | _talk(inner, file)
        within = [
            *_matches(inner, file, talk=is_meant),
            *_disguised(part.text, inner, file, set(), depth + 1),
        ]
        factor = _MENTIONED if _is_mention(around, (part.start, part.start), talk) else _ENCODED
        line = around.line_of(part.start)
        yield from _again((each._replace(line=line) for each in within), seen, part.encoding, factor)


def _again(matches: Iterable[_Match], seen: set[str], how: str, factor: float) -> Iterator[_Match]:
    for each in matches:
        if each.signature.id not in seen:
            yield each._replace(weight=each.weight * factor, how=how)


class _Talk(NamedTuple):
    """Whether people talk about injections here, in words of their own."""

    around_words: bool
    """Outside of quotation marks, code included."""
    around_code: bool
    """Outside of code and citations as well."""

    def __or__(self, other: object) -> "_Talk":
        return (
            _Talk(*(a or b for a, b in zip(self, other, strict=True))) if isinstance(other, _Talk) else self
        )


def _talk(reading: Reading, file: SignatureFile) -> _Talk:
    words = reading.said.without(reading.text)
    is_around_words = _has_topic(words, file)
    code = Reading(words).shown.without(words) if is_around_words else ""
    return _Talk(is_around_words, is_around_words and _has_topic(code, file))


def _has_topic(text: str, file: SignatureFile) -> bool:
    return file.topics.search(text.encode("utf-8", "replace")) is not None


def _matches(reading: Reading, file: SignatureFile, *, talk: _Talk) -> Iterator[_Match]:
    raw = reading.text.encode("utf-8", "replace")
    is_ascii = len(raw) == len(reading.text)
    harmless = [match.span() for match in file.harmless.finditer(reading.words)]
    for signature in file.signatures:
        searched = raw if signature.is_of_lines else reading.words
        count = 0
        for match in signature.pattern.finditer(searched):
            start, end = match.span()
            if not signature.is_of_lines and _is_within(harmless, start, end):
                continue
            # So that the time stays in proportion where a text repeats one order thousands of times.
            count += 1
            if count > _MAX_FOUND:
                break
            if signature.is_of_lines:
                # In ASCII a byte is a character; else what stands before is decoded for every match.
                place = start if is_ascii else len(raw[:start].decode("utf-8", "ignore"))
                near: tuple[str, ...] = ()
            else:
                # The blank before the first word belongs to the match.
                start += reading.words[start : start + 1] == b" "
                place = reading.place_of(start)
                near = reading.before(start, 8)
            end = place + len(match.group(0).decode("utf-8", "ignore").strip()) - 1
            weight, how = _weighed(signature, reading, (place, end), near, talk=talk, file=file)
            said = match.group(0).decode("utf-8", "replace").strip()
            yield _Match(signature, reading.line_of(place), weight, how, said[:300])


def _weighed(
    signature: Signature, reading: Reading, span: tuple[int, int], near: Sequence[str], *, talk: _Talk, file: SignatureFile
) -> tuple[float, str]:  # fmt: skip
    if _is_mention(reading, span, talk):
        return signature.weight * _MENTIONED, ""
    is_hidden = reading.hidden.holds(span[0])
    factor = _HIDDEN if is_hidden else 1.0
    if talk.around_words and any(word in file.reports for word in near):
        factor *= _REPORTED
    elif signature.is_order and _is_told(near[-6:], file):
        factor *= _TOLD
    return signature.weight * factor, "hidden from readers" if is_hidden else ""


def _is_within(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether one of the spans, which are in their order and apart, holds all of this one."""
    at = bisect_right(spans, start, key=itemgetter(0)) - 1
    return at >= 0 and end <= spans[at][1]


def _is_mention(reading: Reading, span: tuple[int, int], talk: _Talk) -> bool:
    """Whether somebody who talks about injections quotes one."""
    if talk.around_words and any(reading.said.holds(place) for place in span):
        return True
    return talk.around_code and any(reading.shown.holds(place) for place in span)


def _is_told(near: Sequence[str], file: SignatureFile) -> bool:
    """Whether the words before an order make it a tale of somebody else."""
    return not file.subjects.isdisjoint(near) and file.spoken_to.isdisjoint(near)


def _best(matches: Sequence[_Match]) -> list[_Match]:
    """One finding for each signature and line, the heaviest."""
    kept: dict[tuple[str, int], _Match] = {}
    for each in matches:
        key = (each.signature.id, each.line)
        if key not in kept or kept[key].weight < each.weight:
            kept[key] = each
    return sorted(kept.values(), key=lambda each: (each.line, -each.weight, each.signature.id))


def _sum_near(middle: _Match, matches: Sequence[_Match]) -> float:
    """The weights of the different signatures around one place."""
    heaviest: dict[str, float] = {}
    for each in matches:
        if abs(each.line - middle.line) <= _NEAR_LINES:
            name = each.signature.id
            # Once for each signature: repeating an order makes it no surer that it is one.
            heaviest[name] = max(heaviest.get(name, 0.0), each.weight)
    return sum(heaviest.values())
