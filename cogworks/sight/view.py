"""What a prompt shows of a repository: each file at the best of four levels that its rank earns, within one room."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from cogworks.sight.beside import shown_beside
from cogworks.sight.excerpts import best_names, excerpt
from cogworks.sight.folders import COMPLETE_TREE, Listing, listing_of
from cogworks.sight.index import Index
from cogworks.sight.kinds import FILLING, MANIFESTS, STANDARDS, Kind, is_rule, only_hands_on
from cogworks.sight.matching import Quoted, Sought, meant_in
from cogworks.sight.outlines import outline_text, sections_of
from cogworks.sight.question import About, named_in
from cogworks.sight.ranking import CERTAIN, SAMPLE, Ranked, rank
from cogworks.sight.stretches import imports_in, newest_changes, numbered_slices, tokens_of
from cogworks.sight.tests_near import tests_near
from cogworks.sight.users import uses_shown
from cogworks.sight.words import terms_of
from cogworks.vocabulary import Value

Level = Literal["whole", "slices", "outline", "named"]
DEFAULT_ROOM_TOKENS = 12_000
_NAMED_SHARE, _TREE_SHARE, _RULES_SHARE, _TESTS_SHARE = 0.08, 0.06, 0.08, 0.12
"""Of the room; of tests, what each file may take."""
_FEW_NAMED_SHARE = 0.02
"""Of the room, what names take where every file is listed anyway."""
_FIRST_SHARE, _MEANT_SHARE, _NEXT_SHARE = 0.5, 0.55, 0.4
"""Of the room left, what one file may take: the best one, one with a definition that the request names, and each other behind the best."""
_WIDER_SHARE = 0.6
"""Of the room that is left in the end, what the best file takes that is shown in parts, and so on."""
_DOCUMENT_SHARE = 0.15
"""Of the whole room, what a document may take that was not asked for."""
_SAMPLE_SHARE = 0.1
"""Of the whole room, what a file may take that only shows what a new one beside it looks like."""
_HANDED_ON_SHARE = 0.05
"""Of the whole room, what a file may take that only imports and exports: its lines that match are there, and each names a file."""
_BESIDE_SHARE = 0.15
"""Of the whole room, what files of other repositories may take together."""
_USES_SHARE = 0.06
"""Of the whole room, what lines take that use what a change touches."""
_LEAST_TOKENS, _SHORT_TOKENS = 150, 300
_LEAD_SHARE, _LEAD = 0.6, 0.55
"""What the best file may take where the next one scores at most so much of it, and the only one that is asked for."""
_CHANGED_SHARE = 0.8
"""What the file may take to whose changed lines a reviewer looks: changed functions come before what they call."""
_LEAST_SCORE = 0.35
"""Of the best score: what matches less is only named, however much room there is."""
_STANDARD_SHARE = 0.8
"""Of that, what a decision or a standard of the project needs: it is short, and most of its words are its own."""
_TOP_OF_CHANGES = 15
"""Lines of a change log that nobody asked for."""
_MAX_NAMED_AGAIN = 10
_MAX_USED = 6
"""Names of the best definitions whose users count as well."""
_SYNTAX = "class import export print const require true false null none return def function let var self this new continue break python"
"""Words of languages, not of what a request is about; within one file they would separate its parts by chance."""
_RULES_TERMS = "tests test run lint style format convention changelog commit document type check"
_SHORT_MANIFEST, _SHORT_MANIFEST_SHARE = 60, 0.12
"""Lines of a manifest that is shown whole, where it takes no more than so much of the whole room."""
_MANIFEST_TERMS = "dependencies requires engines scripts test pytest lint ruff eslint mypy"
"""What of a manifest, and of rules, matters to every change of code, whatever the request is about."""


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
    lists_all: bool = True
    """Whether `folders` has the path of every file that may be seen."""
    hidden_count: int = 0
    """Files that are not even named."""
    beside: tuple[Shown, ...] = ()
    """Files of other repositories, by their full names, the likeliest first; nobody changes them."""
    uses: str = ""
    """Of a change, lines elsewhere that use what it touches, each with its place."""

    @property
    def tokens(self) -> int:
        """Of everything that is shown."""
        files = sum(each.tokens for each in (*self.files, *self.named, *self.beside))
        return files + tokens_of(self.folders) + tokens_of(self.uses)


def first_view(index: Index, about: About, *, room_tokens: int = DEFAULT_ROOM_TOKENS) -> FirstView:
    """The view of a tree for one question; the same tree and question give the same view."""
    return _View(index, about, room_tokens).result()


class _View:
    def __init__(self, index: Index, about: About, room: int) -> None:
        self._index = index
        self._about = about
        self._room = room
        named = named_in(about)
        syntax = frozenset(terms_of(_SYNTAX))
        terms = {term: weight for term, weight in named.terms.items() if term not in syntax}
        quoted = Quoted(f"{about.title}\n{about.text}")
        self._sought = Sought(
            terms, named.symbols, named.stressed, about.touched, quoted=quoted, looked=about.looked
        )
        self._meant = meant_in(self._sought)

    def result(self) -> FirstView:
        ranked = rank(self._index, self._about)
        listing = self._listing()
        kept_for_names = round(self._room * (_FEW_NAMED_SHARE if self._lists_all else _NAMED_SHARE))
        left = self._room - tokens_of(listing.text) - kept_for_names
        certain = self._certain(ranked, round(self._room * _RULES_SHARE))
        certain += self._change_log(ranked)
        left -= sum(each.tokens for each in certain)
        beside = tuple(self._beside(round(self._room * _BESIDE_SHARE)))
        left -= sum(each.tokens for each in beside)
        room_of_uses = round(self._room * _USES_SHARE) if self._about.touched else 0
        left -= room_of_uses
        shown = {each.path: each for each in certain}
        near = self._tests(ranked)
        tests = {path: each for path, each in near.items() if each.score < CERTAIN}
        kept = min(left, round(self._room * _TESTS_SHARE * self._about.most_tests)) if near else 0
        left -= kept
        scores = sorted((each.score for each in ranked if each.score < CERTAIN), reverse=True)
        is_ahead = len(scores) > 1 and scores[1] <= _LEAD * scores[0]
        certain_count = sum(
            each.score >= CERTAIN and _may_fill(each) and SAMPLE not in each.reasons for each in ranked
        )
        is_ahead = certain_count == 1 or (is_ahead and not certain_count)
        share = _LEAD_SHARE if is_ahead else _FIRST_SHARE
        if self._about.touched and self._is_one_source(ranked):
            share = _CHANGED_SHARE
        least = _LEAST_SCORE * max(scores, default=0.0)
        for each in ranked:
            if left < _LEAST_TOKENS or each.score < _STANDARD_SHARE * least:
                break
            if each.score < least and not STANDARDS.intersection(each.reasons):
                continue
            if each.path in shown or each.path in tests or not _may_fill(each):
                continue
            own = max(share, _MEANT_SHARE) if self._has_what_is_meant(each) else share
            allowance = min(left, max(self._least(each), round(left * own)))
            # A test that was asked for has this besides what it has in its own right.
            of_tests = kept // len(near) if each.path in near else 0
            share = _NEXT_SHARE if each.score < CERTAIN else share
            level = self._best_level(each, min(allowance + of_tests, self._most(each)))
            if level is None:
                continue
            shown[each.path] = level
            kept -= min(of_tests, level.tokens)
            left -= max(0, level.tokens - of_tests)
        for level in self._shown_tests(tests, kept):
            shown[level.path] = level
            kept -= level.tokens
        left = self._widened([each for each in ranked if each.kind is Kind.SOURCE], shown, left + kept)
        left = self._widened(tuple(tests.values()), shown, left)
        named = self._named(ranked, shown, kept_for_names + min(left, kept_for_names))
        order = {each.path: place for place, each in enumerate(ranked)}
        files = sorted(shown.values(), key=lambda each: order[each.path])
        return FirstView(
            files=tuple(files),
            named=named,
            folders=listing.text,
            file_count=len(self._index.documents),
            lists_all=listing.is_complete,
            hidden_count=listing.hidden_count,
            beside=beside,
            uses=uses_shown(
                self._index, self._about, {each.path: each.lines for each in files}, room_of_uses
            ),
        )

    def _is_one_source(self, ranked: Sequence[Ranked]) -> bool:
        """Whether just one source file was asked for."""
        return sum(each.score >= CERTAIN and each.kind is Kind.SOURCE for each in ranked) == 1

    @property
    def _lists_all(self) -> bool:
        """Whether every file is listed, so that only the likeliest are worth naming again."""
        return len(self._index.documents) <= COMPLETE_TREE

    def _beside(self, room: int) -> Iterator[Shown]:
        for each in shown_beside(self._about.beside, self._sought, room):
            tokens = tokens_of(each.text)
            yield Shown(
                path=each.name,
                level=each.level,
                text=each.text,
                tokens=tokens,
                score=each.score,
                reasons=(each.why,),
            )

    def _listing(self) -> Listing:
        paths = [each.path for each in self._index.documents]
        return listing_of(paths, hidden=self._about.hidden, limit_tokens=round(self._room * _TREE_SHARE))

    def _widened(self, ranked: Sequence[Ranked], shown: dict[str, Shown], left: int) -> int:
        """Room that nothing else needs goes to what is shown in parts, the best first; gives what is left then."""
        for each in ranked:
            shown_now = shown.get(each.path)
            if left < _LEAST_TOKENS:
                break
            if shown_now is None or shown_now.level != "slices":
                continue
            wider = self._best_level(
                each, min(self._most(each), shown_now.tokens + round(_WIDER_SHARE * left))
            )
            if wider is not None and wider.tokens > shown_now.tokens:
                shown[each.path] = wider.model_copy(update={"reasons": shown_now.reasons})
                left -= wider.tokens - shown_now.tokens
        return left

    def _has_what_is_meant(self, each: Ranked) -> bool:
        """Whether the request names a definition of a file: the lines at fault are in it, or in what is around it."""
        card = self._index.cards([each.path]).get(each.path)
        return card is not None and any(own.name in self._meant for own in card.definitions)

    def _least(self, each: Ranked) -> int:
        """What a file may take however little is left for it: a short one is shown whole."""
        tokens = tokens_of(self._index.text(each.path)) if each.kind is Kind.SOURCE else 0
        return tokens if _LEAST_TOKENS < tokens <= _SHORT_TOKENS else _LEAST_TOKENS

    def _most(self, each: Ranked) -> int:
        """What a file may take however high it ranks."""
        if SAMPLE in each.reasons:
            return round(_SAMPLE_SHARE * self._room)
        if each.score >= CERTAIN:
            return self._room
        if each.kind is Kind.SOURCE and only_hands_on(self._index.text(each.path)):
            return round(_HANDED_ON_SHARE * self._room)
        is_free = each.kind not in (Kind.DOCUMENT, Kind.CONFIGURATION)
        return self._room if is_free else round(_DOCUMENT_SHARE * self._room)

    def _tests(self, ranked: Sequence[Ranked]) -> Mapping[str, Ranked]:
        """Those that a writer of tests has to see, the nearest first."""
        if not self._about.wants_tests:
            return {}
        return {each.path: each for each in tests_near(self._index, ranked, self._about.most_tests)}

    def _shown_tests(self, tests: Mapping[str, Ranked], room: int) -> Iterator[Shown]:
        for place, each in enumerate(tests.values()):
            shown = self._best_level(each, room // (len(tests) - place))
            if shown is not None:
                room -= shown.tokens
                yield shown.model_copy(update={"reasons": ("tests near", *shown.reasons)})

    def _named(self, ranked: Sequence[Ranked], shown: Mapping[str, Shown], room: int) -> tuple[Shown, ...]:
        named, folders = list[Shown](), set[str]()
        most = _MAX_NAMED_AGAIN if self._lists_all else len(ranked)
        for each in ranked:
            if each.path in shown or each.kind not in FILLING or not self._index.has_words(each.path):
                continue
            if len(named) == most:
                break
            folder, _, name = each.path.rpartition("/")
            cost = tokens_of(f"{name}, ") + (0 if folder in folders else tokens_of(f"{folder}/: \n"))
            if cost > room:
                break
            room -= cost
            folders.add(folder)
            named.append(
                Shown(path=each.path, level="named", tokens=cost, score=each.score, reasons=each.reasons)
            )
        return tuple(named)

    def _certain(self, ranked: Sequence[Ranked], room: int) -> list[Shown]:
        """The manifest and the rules for contributors, each cut where it is long."""
        by_path = {each.path: each for each in ranked}
        rules = [path for path in by_path if is_rule(path)][:3]
        # A judge of a change has what it does to the manifest in the diff.
        is_read_only = bool(self._about.touched)
        manifests = [] if is_read_only else [path for path in by_path if path.lower() in MANIFESTS][:1]
        sources = [
            *((path, "manifest", _MANIFEST_TERMS) for path in manifests),
            *((path, "rules for contributors", _RULES_TERMS) for path in rules),
        ]
        sources.sort(key=lambda each: (len(self._index.text(each[0])), each[0]))
        certain = []
        for place, (path, reason, terms) in enumerate(sources):
            sought = Sought(dict.fromkeys(terms_of(terms), 1.0))
            own = max(room // (len(sources) - place), self._short_manifest(path))
            each = self._best_level(by_path[path], own, sought)
            if each is not None:
                certain.append(each.model_copy(update={"reasons": (reason, *each.reasons)}))
                room -= each.tokens
        return certain

    def _change_log(self, ranked: Sequence[Ranked]) -> list[Shown]:
        """The top of the change log, unless it was asked for and has its room in its own right: it says whether entries are made now."""
        away = self._about.without | self._about.hidden
        logs = [each for each in ranked if each.kind is Kind.CHANGELOG and each.path not in away]
        if not self._about.wants_change_log or not logs or any(each.score >= CERTAIN for each in logs):
            return []
        log = min(logs, key=lambda each: (each.path.count("/"), len(each.path), each.path))
        lines = self._index.text(log.path).splitlines()
        last = min(newest_changes(lines), _TOP_OF_CHANGES)
        if not last:
            return []
        shown = _shown(log, "slices", numbered_slices(lines, [(1, last)]), ((1, last),))
        return [shown.model_copy(update={"reasons": ("change log", *shown.reasons)})]

    def _short_manifest(self, path: str) -> int:
        """What a manifest takes that is short enough to be shown whole: most lines of a part of it would be braces. Otherwise 0."""
        text = self._index.text(path)
        is_short = path.lower() in MANIFESTS and text.count("\n") <= _SHORT_MANIFEST
        tokens = tokens_of(text)
        return tokens if is_short and tokens <= _SHORT_MANIFEST_SHARE * self._room else 0

    def _best_level(self, each: Ranked, room: int, sought: Sought | None = None) -> Shown | None:
        """The whole file, or what of it matches.

        Args:
            sought: what to look for in it, where that is not what the request is about.
        """
        text = self._index.text(each.path)
        if not text.strip():
            return None
        lines = text.splitlines()
        card = self._index.cards([each.path]).get(each.path)
        definitions = card.definitions if card is not None else ()
        # Of a list of names, or of releases, the lines that match say more than the list.
        is_list = each.kind is Kind.CHANGELOG or only_hands_on(text)
        definitions = () if is_list else definitions or sections_of(each.path, lines)
        target = sought or self._sought
        if tokens_of(text) <= room:
            if sought is None:
                self._use(best_names(each.path, lines, definitions, target))
            text = numbered_slices(lines, [(1, len(lines))]) if self._about.touched else text
            return _shown(each, "whole", text, ((1, len(lines)),))
        cut = excerpt(
            each.path,
            lines,
            definitions,
            target,
            room,
            is_test=each.kind is Kind.TEST,
            top=_top(each, lines),
        )
        if cut is not None and cut.text:
            if sought is None:
                self._use(cut.names)
            return _shown(each, "slices", cut.text, cut.stretches)
        outline = outline_text(definitions, [0.0] * len(definitions), room)
        return _shown(each, "outline", outline, ()) if outline else None

    def _use(self, names: Sequence[str]) -> None:
        """Who uses these matters as well in the files that follow."""
        used = tuple(dict.fromkeys((*self._sought.used, *names)))[:_MAX_USED]
        self._sought = self._sought._replace(used=used)


def _shown(each: Ranked, level: Level, text: str, lines: tuple[tuple[int, int], ...]) -> Shown:
    return Shown(
        path=each.path,
        level=level,
        text=text,
        tokens=tokens_of(text),
        score=each.score,
        reasons=each.reasons,
        lines=lines,
    )


def _top(each: Ranked, lines: Sequence[str]) -> tuple[int, int] | None:
    """What near its beginning matters whatever matches: where a new entry goes, and what whoever changes code may use already."""
    if each.kind is Kind.CHANGELOG:
        return 1, newest_changes(lines)
    return imports_in(lines) if each.kind is Kind.SOURCE and each.score >= CERTAIN else None


def _may_fill(each: Ranked) -> bool:
    return each.kind in FILLING or "named" in each.reasons or each.score >= CERTAIN


def items_of(view: FirstView) -> Iterator[Shown]:
    """Every file of a view, without texts; for the manifest."""
    for each in (*view.files, *view.named, *view.beside):
        yield each.model_copy(update={"text": ""})
