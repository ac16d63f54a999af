"""What a prompt shows of a repository: each file at the best of four levels that its rank earns, within one room."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal

from cogworks.sight.cards import Card, Outlined
from cogworks.sight.index import Index
from cogworks.sight.kinds import FILLING
from cogworks.sight.question import About, named_in
from cogworks.sight.ranking import Ranked, rank
from cogworks.sight.stretches import merged, numbered_slices, shortened
from cogworks.sight.words import terms_of
from cogworks.vocabulary import Value

Level = Literal["whole", "slices", "outline", "named"]
DEFAULT_ROOM_TOKENS = 12_000
BYTES_PER_TOKEN = 3
"""As estimates of cost count: rather too many than too few."""
_NAMED_SHARE, _TREE_SHARE, _RULES_SHARE = 0.14, 0.06, 0.1
_FIRST_SHARE, _NEXT_SHARE = 0.34, 0.3
"""Of the room left, what one file may take: the best one, and each behind it."""
_LEAST_TOKENS = 150
_LEAD_SHARE, _LEAD = 0.6, 0.55
"""What the best file may take where the next one scores at most so much of it."""
_LEAST_SCORE = 0.35
"""Of the best score: what matches less is only named, however much room there is."""
_CERTAIN = 100.0
"""Scores from here on are of files that were asked for."""
_MAX_BODY_LINES = 400
_RARE = 4.0
"""What a name counts beside a term: as much as one that a fiftieth of the definitions hold."""
_COMPLETE_TREE = 120
"""So many files of a repository are all listed."""
_MAX_NAMED_AGAIN = 10
_RULES = ("contributing", "agents", "claude", "copilot-instructions")
_MANIFESTS = (
    "pyproject.toml",
    "package.json",
    "cargo.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "setup.cfg",
    "composer.json",
)
_MAX_SLICES = 12
_GAP_TOKENS = 30
"""Of the lines that say what is left out."""
_TOUCHED_SCORE = 1_000.0
"""Before everything that only matches; the smallest definition around a touched line first."""


class Shown(Value):
    """One file of a view."""

    path: str
    level: Level
    text: str = ""
    tokens: int
    score: float
    reasons: tuple[str, ...] = ()
    lines: tuple[tuple[int, int], ...] = ()
    """The stretches of lines that are shown, from 1, both ends included."""


class FirstView(Value):
    """What a prompt shows before anybody has looked further."""

    files: tuple[Shown, ...]
    """Those with text, the most important first."""
    named: tuple[Shown, ...]
    """Those that are only named, the most important first."""
    folders: str
    """The folders with the counts of their files; all files in a small repository."""
    file_count: int

    @property
    def tokens(self) -> int:
        """Of everything that is shown."""
        return sum(each.tokens for each in (*self.files, *self.named)) + tokens_of(self.folders)


def tokens_of(text: str) -> int:
    """Tokens that a text takes, as estimates count them."""
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)


def first_view(index: Index, about: About, *, room_tokens: int = DEFAULT_ROOM_TOKENS) -> FirstView:
    """The view of a tree for one question; the same tree and question give the same view."""
    return _View(index, about, room_tokens).result()


class _View:
    def __init__(self, index: Index, about: About, room: int) -> None:
        self._index = index
        self._about = about
        self._room = room
        self._terms = named_in(about).terms
        self._symbols = named_in(about).symbols

    def result(self) -> FirstView:
        ranked = rank(self._index, self._about)
        folders = folders_of([each.path for each in ranked], limit_tokens=round(self._room * _TREE_SHARE))
        left = self._room - tokens_of(folders) - round(self._room * _NAMED_SHARE)
        certain = self._certain(ranked, round(self._room * _RULES_SHARE))
        left -= sum(each.tokens for each in certain)
        shown = {each.path: each for each in certain}
        scores = sorted((each.score for each in ranked if each.score < _CERTAIN), reverse=True)
        is_ahead = len(scores) > 1 and scores[1] <= _LEAD * scores[0]
        share = _LEAD_SHARE if is_ahead else _FIRST_SHARE
        least = _LEAST_SCORE * max(scores, default=0.0)
        for each in ranked:
            if left < _LEAST_TOKENS or each.score < least:
                break
            if each.path in shown or (
                each.kind not in FILLING and "named" not in each.reasons and each.score < 100
            ):
                continue
            allowance = max(_LEAST_TOKENS, round(left * share))
            share = _NEXT_SHARE if each.score < _CERTAIN else share
            found = self._best_level(each, min(left, allowance))
            if found is None:
                continue
            shown[each.path] = found
            left -= found.tokens
        named = self._named(ranked, shown, left + round(self._room * _NAMED_SHARE))
        order = {each.path: place for place, each in enumerate(ranked)}
        files = sorted(shown.values(), key=lambda each: order[each.path])
        return FirstView(
            files=tuple(files), named=named, folders=folders, file_count=len(self._index.documents)
        )

    def _named(self, ranked: Sequence[Ranked], shown: Mapping[str, Shown], room: int) -> tuple[Shown, ...]:
        found: list[Shown] = []
        # Where every file is listed, only the likeliest are worth naming again.
        most = _MAX_NAMED_AGAIN if len(ranked) <= _COMPLETE_TREE else len(ranked)
        for each in ranked:
            if each.path in shown or each.kind not in FILLING:
                continue
            if len(found) == most:
                break
            cost = tokens_of(each.path) + 1
            if cost > room:
                break
            room -= cost
            found.append(
                Shown(path=each.path, level="named", tokens=cost, score=each.score, reasons=each.reasons)
            )
        return tuple(found)

    def _certain(self, ranked: Sequence[Ranked], room: int) -> list[Shown]:
        """The manifest and the rules for contributors, each cut where it is long."""
        by_path = {each.path: each for each in ranked}
        rules = [path for path in by_path if _is_rule(path)][:3]
        manifests = [path for path in by_path if path.lower() in _MANIFESTS][:1]
        found = []
        for path, reason in [
            *((path, "manifest") for path in manifests),
            *((path, "rules for contributors") for path in rules),
        ]:
            share = room // (len(rules) + len(manifests))
            text = self._index.text(path)
            if text.strip():
                found.append(_cut(by_path[path], text, share, reason))
        return found

    def _best_level(self, each: Ranked, room: int) -> Shown | None:
        text = self._index.text(each.path)
        if not text.strip():
            return None
        whole = tokens_of(text)
        if whole <= room:
            lines = text.splitlines()
            count = len(lines)
            if self._about.touched:
                text = numbered_slices(lines, [(1, count)])
            return Shown(
                path=each.path,
                level="whole",
                text=text,
                tokens=whole,
                score=each.score,
                reasons=each.reasons,
                lines=((1, count),),
            )
        card = self._index.cards([each.path]).get(each.path)
        if card is not None and card.definitions:
            return self._slices(each, text, card, room) or self._outline(each, card, room)
        return _cut(each, text, room) if room >= _LEAST_TOKENS else None

    def _slices(self, each: Ranked, text: str, card: Card, room: int) -> Shown | None:
        lines = text.splitlines()
        wanted = self._matching(each.path, card, lines)
        chosen: list[tuple[int, int]] = []
        shown = None
        for number, place in enumerate(wanted[:_MAX_SLICES]):
            stretch = _with_headers(card.definitions, place)
            attempt = merged([*chosen, *stretch])
            body = numbered_slices(lines, attempt)
            if tokens_of(body) > room and number == 0:
                # What the request is most about is shown in part rather than not at all.
                attempt = _cut_to(stretch, lines, room)
                body = numbered_slices(lines, attempt)
            if tokens_of(body) > room:
                continue
            chosen = attempt
            shown = body
        if shown is None:
            return None
        rest = self._outline_text(card, room - tokens_of(shown) - 20, without=chosen)
        body = f"{shown}\n\n{rest}" if rest else shown
        return Shown(
            path=each.path,
            level="slices",
            text=body,
            tokens=tokens_of(body),
            score=each.score,
            reasons=each.reasons,
            lines=tuple(chosen),
        )

    def _matching(self, path: str, card: Card, lines: Sequence[str]) -> list[int]:
        """Places of the definitions that the request is most about; inner ones before those around them."""
        bodies = [
            Counter(terms_of("\n".join(lines[each.first - 1 : min(each.last, each.first + _MAX_BODY_LINES)])))
            for each in card.definitions
        ]
        rarity = self._rarity(bodies)
        scored = []
        for place, each in enumerate(card.definitions):
            body, head = bodies[place], {*terms_of(f"{each.name} {each.documentation}")}
            size = 1 + (each.last - each.first) / 60
            said = sum(
                weight * (min(body[term], 4) / 4 + (term in head))
                for term, weight in rarity.items()
                if term in body
            )
            score = 3.0 * self._symbols.get(each.name, 0.0) * _RARE + said / size**0.5
            if any(each.first <= line <= each.last for line in self._about.touched.get(path, ())):
                score += _TOUCHED_SCORE / size
            if score > 0:
                scored.append((-score, place))
        return [place for _, place in sorted(scored)]

    def _rarity(self, bodies: Sequence[Mapping[str, int]]) -> Mapping[str, float]:
        """How much each term of the request says in one file: what half of its definitions hold says little."""
        often = {term: sum(term in body for body in bodies) for term in self._terms}
        return {
            term: weight * math.log(1 + len(bodies) / often[term])
            for term, weight in self._terms.items()
            if often[term]
        }

    def _outline(self, each: Ranked, card: Card, room: int) -> Shown | None:
        body = self._outline_text(card, room)
        if not body:
            return None
        return Shown(
            path=each.path,
            level="outline",
            text=body,
            tokens=tokens_of(body),
            score=each.score,
            reasons=each.reasons,
        )

    def _outline_text(self, card: Card, room: int, *, without: Sequence[tuple[int, int]] = ()) -> str:
        """The definitions of a file, most telling first chosen, in the order of the file."""
        chosen: list[int] = []
        for place in sorted(
            range(len(card.definitions)), key=lambda place: (_depth(card.definitions, place), place)
        ):
            each = card.definitions[place]
            if (
                any(first <= each.line <= last for first, last in without)
                or _depth(card.definitions, place) > 1
            ):
                continue
            cost = tokens_of(_outline_line(card.definitions, place)) + 1
            if cost > room:
                break
            room -= cost
            chosen.append(place)
        lines = [_outline_line(card.definitions, place) for place in sorted(chosen)]
        return "\n".join(lines)


def folders_of(paths: Sequence[str], *, limit_tokens: int) -> str:
    """The folders with the counts of their files, as deep as there is room; every file of a small repository."""
    if len(paths) <= _COMPLETE_TREE and tokens_of("\n".join(sorted(paths))) <= 4 * limit_tokens:
        return "\n".join(sorted(paths))
    for depth in (4, 3, 2, 1):
        counts: Counter[str] = Counter()
        for path in paths:
            folder = PurePosixPath(path).parts[:-1][:depth]
            counts["/".join(folder) + "/" if folder else "./"] += 1
        text = "\n".join(f"{folder} {count}" for folder, count in sorted(counts.items()))
        if tokens_of(text) <= limit_tokens:
            return text
    return f"./ {len(paths)}"


def _is_rule(path: str) -> bool:
    place = PurePosixPath(path)
    is_near = len(place.parts) == 1 or (
        len(place.parts) == 2 and place.parts[0].lower() in (".github", "docs")
    )
    return is_near and place.stem.lower() in _RULES and place.suffix.lower() in (".md", ".rst", ".txt", "")


def _cut(each: Ranked, text: str, room: int, *reasons: str) -> Shown:
    """The beginning of a file, as many whole lines as there is room for."""
    lines = text.splitlines()
    taken: list[str] = []
    for line in lines:
        room -= tokens_of(line) + 1
        if room < 0:
            break
        taken.append(shortened(line))
    is_whole = len(taken) == len(lines)
    body = (
        "\n".join(taken)
        if is_whole
        else "\n".join([*taken, f"… lines {len(taken) + 1} to {len(lines)} are not shown"])
    )
    return Shown(
        path=each.path,
        level="whole" if is_whole else "slices",
        text=body,
        tokens=tokens_of(body),
        score=each.score,
        reasons=(*reasons, *each.reasons),
        lines=((1, len(taken)),) if taken else (),
    )


def _with_headers(definitions: Sequence[Outlined], place: int) -> list[tuple[int, int]]:
    """A definition and the headers of those around it."""
    own = definitions[place]
    stretches = [(own.first, own.last)]
    while own.parent >= 0:
        own = definitions[own.parent]
        stretches.append((own.first, own.line))
    return stretches


def _cut_to(stretches: Sequence[tuple[int, int]], lines: Sequence[str], room: int) -> list[tuple[int, int]]:
    """A definition, the first of the stretches, as far as there is room, below the headers of those around it."""
    (first, last), *headers = stretches
    left = room - tokens_of(numbered_slices(lines, headers)) - _GAP_TOKENS
    end = first - 1
    while end < last and (left := left - tokens_of(f"      {shortened(lines[end])}\n")) >= 0:
        end += 1
    return merged([*headers, (first, end)]) if end >= first else merged(headers)


def _depth(definitions: Sequence[Outlined], place: int) -> int:
    depth = 0
    while definitions[place].parent >= 0:
        place = definitions[place].parent
        depth += 1
    return depth


def _outline_line(definitions: Sequence[Outlined], place: int) -> str:
    each = definitions[place]
    said = f"  # {each.documentation[:100]}" if each.documentation else ""
    return f"{each.line:>5}: {'  ' * _depth(definitions, place)}{(each.signature or each.name)[:160]}{said}"


def items_of(view: FirstView) -> Iterator[Shown]:
    """Every file of a view, without texts; for the manifest."""
    for each in (*view.files, *view.named):
        yield each.model_copy(update={"text": ""})
