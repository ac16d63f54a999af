"""What domain services say of the worktree that is being repaired, in the words of localisation and of transactions."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Generic, Protocol, TypeVar, runtime_checkable

from cogworks.codebase.reading import read_text
from cogworks.codebase.sandboxes import shadow_of
from cogworks.domain_services.answers import Answer, NotOffered
from cogworks.domain_services.exploring import (
    VALUE_CHARS,
    Beside,
    BesideParams,
    CallGraph,
    CallGraphParams,
    Coverage,
    CoverageParams,
    ExploreParams,
    Signatures,
    SymbolIndex,
)
from cogworks.domain_services.messages import Diagnostic, Message, TestReport
from cogworks.domain_services.operations import (
    BESIDE,
    CALL_GRAPH,
    COVERAGE,
    INDEX,
    PREPARE,
    SIGNATURES,
    Operation,
)
from cogworks.domain_services.parts import beside
from cogworks.domain_services.transport import ServiceFailed
from cogworks.repair.localise.symbols import mistakes_of
from cogworks.repair.testcommand import TestPace
from cogworks.repair.violations import Reading
from cogworks.sight.index import Index
from cogworks.telling import During, in_silence

_SYNTAX = "syntax_error"
Params = TypeVar("Params", bound=Message)
Result = TypeVar("Result", bound=Message)
Looked = TypeVar("Looked")


class HasPath(Protocol):
    """A tree on this machine."""

    @property
    def path(self) -> Path: ...


@runtime_checkable
class StandsAt(Protocol):
    """A tree that knows of which commit its files are, but for those that somebody changed in it."""

    def stands_at(self) -> str: ...


class Explores(Protocol):
    """Domain services as far as they know code; `cogworks.domain_services.panel.ServicePanel`."""

    def call(
        self, operation: Operation[Params, Result], workspace: HasPath, params: Params
    ) -> tuple[Answer[Result], ...] | NotOffered: ...


class Services(Explores, Protocol):
    """The domain services of a repository; `cogworks.domain_services.panel.ServicePanel`.

    Raises: ServiceFailed or TryAgainLater when a primary service cannot be used.
    """

    def validate(self, workspace: HasPath, paths: Sequence[str]) -> Sequence[Diagnostic]: ...
    def simulate(
        self,
        workspace: HasPath,
        tests: Sequence[str] = (),
        *,
        timeout_s: float | None = None,
        test_timeout_s: float | None = None,
    ) -> TestReport: ...
    def simulate_groups(
        self,
        workspace: HasPath,
        groups: Sequence[Sequence[str]],
        *,
        timeout_s: float,
        test_timeout_s: float | None = None,
    ) -> TestReport | None: ...


class Exploration:
    """One worktree and the services that know its code; obeys `localising.Explorer`."""

    def __init__(
        self,
        tree: HasPath,
        services: Explores,
        *,
        suite: Sequence[str] = (),
        warn: Callable[[str], None] = lambda _: None,
        words: Callable[[], Index] | None = None,
        during: During = in_silence,
        pace: TestPace | None = None,
    ) -> None:
        """Args:
        suite: files and folders whose tests are the whole suite; none: what the runner finds.
        warn: called for each signal that is left out because a service failed at it.
        words: reads what all files of the worktree say; None: nobody does.
        during: called around everything that runs tests.
        pace: how long one test may take; None: derived from those that pass.
        """
        self._pace = pace or TestPace(warn=warn)
        self._words = words
        self._during = during
        self._tree = tree
        self._explores = services
        self._suite = tuple(suite)
        self._warn = warn

    def text(self, path: str) -> str | None:
        """A file as it lies there; None when there is none that is text."""
        return read_text(self._tree.path, path)

    def coverage(self, *, timeout_s: float, steps_of: str = "") -> Coverage | None:
        """Which lines each test of the suite executes.

        Args:
            steps_of: a test whose steps are returned as well, where that costs nothing.
        """
        params = CoverageParams(
            tests=self._suite,
            timeout_s=timeout_s,
            test_timeout_s=self._pace.limit_s,
            steps_of=steps_of,
            max_value_chars=VALUE_CHARS,
        )
        with self._during("running the suite with coverage", timeout_s):
            results = self._explored(COVERAGE, params)
        if not results:
            return None
        return Coverage(
            report=beside([each.report for each in results]),
            tests=tuple(test for each in results for test in each.tests),
            steps=next((each.steps for each in results if each.steps), None),
        )

    def call_graph(self, seeds: Sequence[str], *, hops: int, most: int) -> CallGraph | None:
        """What is called, inherited and tested around the seeds; of several services the first that knows any of them."""
        graphs = self._explored(CALL_GRAPH, CallGraphParams(seeds=tuple(seeds), hops=hops, max_nodes=most))
        return next((each for each in graphs if each.nodes), graphs[0] if graphs else None)

    def index(self, artifacts: Sequence[str]) -> SymbolIndex | None:
        """The definitions in these files, and the calls."""
        indexes = self._explored(INDEX, ExploreParams(artifacts=tuple(artifacts)))
        if not indexes:
            return None
        return SymbolIndex(
            symbols=tuple(symbol for each in indexes for symbol in each.symbols),
            calls=tuple(call for each in indexes for call in each.calls),
            unread=tuple(unread for each in indexes for unread in each.unread),
        )

    def words(self) -> Index | None:
        """What all files of the worktree say; None where nobody reads them all."""
        return self._words() if self._words else None

    def _explored(self, operation: Operation[Params, Result], params: Params) -> Sequence[Result]:
        """Localisation does without what cannot be had; a rule would not."""
        try:
            return _results(self._explores.call(operation, self._tree, params))
        except ServiceFailed as error:
            self._warn(f"{operation.method} was left out: {error}")
            return ()


class _Known(Generic[Looked]):
    """What a look at some texts returned, the files around them being those of one commit."""

    def __init__(self, at: Callable[[], str]) -> None:
        self._at = at
        self._commit = ""
        self._results: dict[frozenset[tuple[str, str]], Looked] = {}

    def forget(self) -> None:
        self._results = {}

    def of(self, texts: Mapping[str, str]) -> Looked | None:
        """The result for these; None where nobody looked."""
        if (commit := self._at()) != self._commit:
            self._commit = commit
            self.forget()
        return self._results.get(frozenset(texts.items()))

    def looked_at(self, texts: Mapping[str, str], look: Callable[[], Looked]) -> Looked:
        """The same, after a look where nobody has looked."""
        known = self.of(texts)
        if known is None:
            known = self._results[frozenset(texts.items())] = look()
        return known


class Consulted(Exploration):
    """The same, and what the services say of a change in it; obeys `transaction.Checks` as well."""

    def __init__(
        self,
        tree: HasPath,
        services: Services,
        *,
        suite: Sequence[str] = (),
        warn: Callable[[str], None] = lambda _: None,
        words: Callable[[], Index] | None = None,
        during: During = in_silence,
        pace: TestPace | None = None,
    ) -> None:
        """As `Exploration`; where the tree `StandsAt` a commit, what static checks find in the same texts there is asked once."""
        super().__init__(tree, services, suite=suite, warn=warn, words=words, during=during, pace=pace)
        self._has_run = False
        self._services = services
        self._is_placed = isinstance(tree, StandsAt)
        stands_at = tree.stands_at if isinstance(tree, StandsAt) else lambda: ""
        self._known: _Known[Sequence[Diagnostic]] = _Known(stands_at)
        self._signed: _Known[Signatures] = _Known(stands_at)

    def static(self, paths: Sequence[str]) -> Sequence[Diagnostic]:
        if not paths:
            return ()
        texts = {path: text for path in paths if (text := self.text(path)) is not None}
        diagnostics = self._known.of(texts) if self._is_placed and len(texts) == len(paths) else None
        if diagnostics is None:
            diagnostics = self._services.validate(self._tree, paths)
        return (*diagnostics, *_mistakes(texts))

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport:
        what = f"running {len(tests)} test(s)" if tests else "running the suite"
        limit_s = timeout_s
        if not self._has_run:
            # Services make the environment when they first need it, and that has a limit of its own.
            what, limit_s = f"making the environment, then {what}", PREPARE.limit_s + timeout_s
        with self._during(what, limit_s):
            report = self._services.simulate(
                self._tree,
                tuple(tests) or self._suite,
                timeout_s=timeout_s,
                test_timeout_s=self._pace.limit_s,
            )
        self._has_run = True
        self._pace.learn(report, is_whole=not tests)
        return report

    def run_groups(self, groups: Sequence[Sequence[str]], *, timeout_s: float) -> TestReport | None:
        with self._during(f"running {sum(map(len, groups))} test(s)", timeout_s):
            report = self._services.simulate_groups(
                self._tree, groups, timeout_s=timeout_s, test_timeout_s=self._pace.limit_s
            )
        if report is not None:
            self._pace.learn(report, is_whole=False)
        return report

    def beside(self, params: BesideParams) -> Beside | None:
        """What inputs beside those of the tests lead to, and which mistakes tests notice; None where no service knows."""
        limited = params.model_copy(update={"test_timeout_s": self._pace.limit_s})
        with self._during("trying inputs beside those of the tests", params.timeout_s):
            results = self._explored(BESIDE, limited)
        if not results:
            return None
        for note in dict.fromkeys(note for each in results for note in each.notes):
            self._warn(f"{BESIDE.method}: {note}")
        compared = [each.against for each in results if each.against is not None]
        return Beside(
            calls=tuple(call for each in results for call in each.calls),
            against=tuple(chain.from_iterable(compared)) if compared else None,
            mutants=tuple(mutant for each in results for mutant in each.mutants),
            report=TestReport(cases=tuple(case for each in results for case in each.report.cases)),
            again=all(each.again for each in results),
            notes=tuple(note for each in results for note in each.notes),
        )

    def read(self, images: Mapping[str, str | None]) -> Reading:
        """What the language says of these files as they lie there and with these texts (None: deleted)."""
        there = {path: text for path in images if (text := self.text(path)) is not None}
        left = {path: text for path, text in images.items() if text is not None}
        with shadow_of(self._tree.path, images) as after:
            diagnostics = (*self._validated(after, images, left), *_mistakes(left)) if left else ()
            return Reading(
                before=self._signatures(self._tree, there),
                after=self._signatures(after, left, is_known=len(left) == len(images)),
                syntax=_beyond(diagnostics, _mistakes(there), is_syntax=True),
                lint=_beyond(diagnostics, self._diagnostics_of(there), is_syntax=False),
            )

    def _validated(
        self, after: HasPath, images: Mapping[str, str | None], left: Mapping[str, str]
    ) -> Sequence[Diagnostic]:
        if not self._is_placed or len(left) < len(images):
            # Where a file goes, what is found in others may be about that.
            return self._services.validate(after, [*left])
        return self._known.looked_at(left, lambda: self._services.validate(after, [*left]))

    def _diagnostics_of(self, texts: Mapping[str, str]) -> Sequence[Diagnostic]:
        """The findings in these files as they lie there; asked once for each state of them."""
        if not texts:
            return ()
        return self._known.looked_at(texts, lambda: self._services.validate(self._tree, [*texts]))

    def _signatures(self, tree: HasPath, texts: Mapping[str, str], *, is_known: bool = True) -> Signatures:
        if not texts:
            return Signatures(signatures=())
        if not (self._is_placed and is_known):
            return self._signed_in(tree, [*texts])
        return self._signed.looked_at(texts, lambda: self._signed_in(tree, [*texts]))

    def _signed_in(self, tree: HasPath, paths: Sequence[str]) -> Signatures:
        answers = _results(self._services.call(SIGNATURES, tree, ExploreParams(artifacts=tuple(paths))))
        return Signatures(signatures=tuple(each for answer in answers for each in answer.signatures))


def _results(answers: tuple[Answer[Result], ...] | NotOffered) -> Sequence[Result]:
    return () if isinstance(answers, NotOffered) else [answer.result for answer in answers]


def _mistakes(texts: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """What the grammars here cannot read, whether or not a service knows the language."""
    return tuple(mistake for path, text in texts.items() for mistake in mistakes_of(path, _bytes(text)))


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _beyond(
    diagnostics: Sequence[Diagnostic], before: Sequence[Diagnostic], *, is_syntax: bool
) -> tuple[Diagnostic, ...]:
    """The findings of one kind that are not those from before, wherever they stand in their file."""
    known = {(each.artifact, each.category, each.message) for each in before}
    return tuple(
        each
        for each in diagnostics
        if (each.category == _SYNTAX) is is_syntax
        and (each.artifact, each.category, each.message) not in known
    )
