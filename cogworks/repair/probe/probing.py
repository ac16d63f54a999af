"""Runs one probe in a throw-away worktree: what it asks, what it changes there, and what it saw."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cogworks.codebase.diffmodel import Diff, render
from cogworks.codebase.diffplacing import between
from cogworks.domain_services.exploring import (
    VALUE_CHARS,
    CallGraphParams,
    CoverageParams,
    ExploreParams,
    Instrumented,
    InstrumentParams,
    Lines,
    Trace,
    TraceParams,
)
from cogworks.domain_services.operations import (
    CALL_GRAPH,
    COVERAGE,
    INDEX,
    INSTRUMENT,
    SIGNATURES,
    TRACE,
    Operation,
)
from cogworks.errors import CogworksError
from cogworks.repair.probe.probes import (
    MAX_LISTED,
    Params,
    Probe,
    ProbeKind,
    ProbePatch,
    Purpose,
    Result,
    Sandbox,
    Scene,
    Seen,
)
from cogworks.repair.probe.readings import (
    coverage_seen,
    essence,
    events_within,
    has_fired,
    kinds_in,
    structure_seen,
    trace_seen,
    violations,
    words_of,
)
from cogworks.repair.probe.schedule import AskedOnce
from cogworks.repair.transact.diffrules import fingerprint

_PASSING = 2
"""Passing tests a failing one is compared with."""
_MARGIN_S = 5.0
"""A service that ends a run at its limit can still say what it saw."""


def seen_by(probe: Probe, scene: Scene, sandbox: Sandbox, shared: AskedOnce) -> Seen:
    """What a probe saw. The result says what failed on the way; a failure is no finding.

    Args:
        shared: what other probes of the same investigation asked of the unchanged files.
    """
    work = _Work(probe, scene, sandbox, shared)
    try:
        return work.patched(probe.patch) if probe.patch else _KINDS[probe.kind](work)
    except CogworksError as error:
        return Seen(error=str(error))
    except OSError as error:
        return Seen(error=f"the worktree of the probe: {error}")


class _Work:
    """One probe at work."""

    def __init__(self, probe: Probe, scene: Scene, sandbox: Sandbox, shared: AskedOnce) -> None:
        self._probe = probe
        self._suspect = probe.suspect
        self._symbol = probe.suspect.symbol
        self._scene = scene
        self._sandbox = sandbox
        self._shared = shared
        self._left = probe.operations
        self._is_changed = False

    def trace(self) -> Seen:
        """One trace serves all suspects; one that broke off before this one ran is taken again for it alone."""
        if not self._scene.target:
            return Seen(error="no failing test came to run")
        traces = self._recorded_trace() or self._known(
            TRACE, self._trace_params(artifacts=self._scene.artifacts, lines=self._all_lines())
        )
        seen = [self._read(trace) for trace in traces]
        best = next((each for each in seen if each.observations.get("executed")), seen[0] if seen else None)
        if best is None:
            return _not_offered(TRACE.method)
        if traces[0].truncated and not best.observations.get("executed"):
            alone = self._known(
                TRACE, self._trace_params(artifacts=(self._symbol.artifact,), lines=self._suspect.own)
            )
            return self._read(alone[0]) if alone else best
        return best

    def coverage(self) -> Seen:
        tests = self._scene.tests
        if not tests:
            return Seen(error="no failing test came to run")
        params = CoverageParams(tests=tests, timeout_s=self._time_s(), artifacts=self._scene.artifacts)
        answers = self._known(COVERAGE, params)
        return coverage_seen(answers[0], self._suspect, tests) if answers else _not_offered(COVERAGE.method)

    def structure(self) -> Seen:
        name, text = self._symbol.id, self._sandbox.text(self._symbol.artifact) or ""
        graphs = self._known(CALL_GRAPH, CallGraphParams(seeds=(name,), hops=1))
        files = ExploreParams(artifacts=self._scene.artifacts)
        indexes, signatures = self._known(INDEX, files), self._known(SIGNATURES, files)
        if not (graphs or indexes or signatures):
            return _not_offered(f"{CALL_GRAPH.method}, {INDEX.method} or {SIGNATURES.method}")
        return structure_seen(
            self._suspect,
            next((each for each in graphs if each.nodes), None),
            indexes,
            signatures,
            text,
        )

    def grep(self) -> Seen:
        """Where the suspect's name stands elsewhere, and which words of the failure stand in it."""
        word = self._symbol.id.rpartition(".")[2].partition("#")[0]
        own = self._suspect.symbol
        hits = [
            f"{hit.path}:{hit.line}"
            for hit in self._sandbox.grep(word, most=4 * MAX_LISTED)
            if not (hit.path == own.artifact and own.lines[0] <= hit.line <= own.lines[1])
        ]
        rows = (self._sandbox.text(own.artifact) or "").split("\n")[own.lines[0] - 1 : own.lines[1]]
        shared = sorted(words_of("\n".join(rows)) & words_of(self._scene.failure))
        return Seen(
            observations={
                "word": word,
                "elsewhere": hits[:MAX_LISTED],
                "words_of_failure": shared[:MAX_LISTED],
            }
        )

    def instrument(self) -> Seen:
        """Which kinds of values the suspect is given by the failing test, and by some that pass."""
        instrumented = self._built(
            InstrumentParams(artifact=self._symbol.artifact, line=self._line(), mode="note")
        )
        patch = self._put("instrument", instrumented, "keep the kinds of the values that come in")
        failing, passing = self._failing_and_passing(instrumented)
        given, usual = kinds_in([failing]), kinds_in(passing)
        violated = violations(given, usual)
        return Seen(
            recommendation="possible" if violated else "unknown",
            observations={
                "given": {name: list(kinds) for name, kinds in given.items()},
                "given_where_tests_pass": {name: list(kinds) for name, kinds in usual.items()},
            },
            patch=patch,
            violated=violated,
        )

    def check(self) -> Seen:
        """Whether what holds wherever tests pass is broken where one fails."""
        allowed = self._probe.allowed
        params = InstrumentParams(
            artifact=self._symbol.artifact, line=self._line(), mode="check", allowed=allowed
        )
        instrumented = self._built(params)
        patch = self._put("assert", instrumented, "what comes in is of a kind that passing tests give")
        failing, passing = self._failing_and_passing(instrumented)
        fired, always = has_fired(failing), [trace.case.id for trace in passing if has_fired(trace)]
        return Seen(
            # What comes in is somebody else's doing as often as not.
            recommendation="possible" if fired and not always else "unknown",
            observations={
                "allowed": {name: list(kinds) for name, kinds in allowed.items()},
                "fired": fired,
                "fired_in_passing_tests": always,
            },
            patch=patch,
        )

    def reduce(self) -> Seen:
        """Whether the suspect still runs when the failing test is cut down to what it needs to fail alike."""
        test, line = self._test_line()
        instrumented = self._built(InstrumentParams(artifact=test, line=line, mode="shorten"))
        wanted = essence(self._scene.failure)
        without: tuple[Lines, ...] = ()
        last: Trace | None = None
        patch: ProbePatch | None = None
        for statement in reversed(instrumented.statements):
            if self._left < 1:
                break
            shorter = tuple(sorted((*without, statement)))
            built = self._offer(InstrumentParams(artifact=test, line=line, mode="shorten", without=shorter))
            if built is None or built.content is None:
                continue
            tried = self._put("reduce", built, "a shorter test that fails alike", path=test)
            trace = self._traced(self._scene.target, (self._symbol.artifact,), self._suspect.own)
            if trace.case.outcome != "passed" and essence(trace.case.message) == wanted:
                without, last, patch = shorter, trace, tried
        if last is None:
            return Seen(observations={"statements": len(instrumented.statements), "left_out": 0})
        runs = any(event.artifact == self._symbol.artifact for event in last.events)
        return Seen(
            recommendation="possible" if runs else "unlikely",
            observations={
                "statements": len(instrumented.statements),
                "left_out": [list(each) for each in without],
                "executed": runs,
            },
            patch=patch,
        )

    def patched(self, patch: ProbePatch) -> Seen:
        """What a change that somebody proposed shows."""
        if problem := self._sandbox.apply(patch.diff):
            return Seen(error=f"the probe's change does not apply: {problem}", patch=patch)
        trace = self._traced(self._scene.target, self._scene.artifacts, ())
        seen = self._read(trace)
        match patch.purpose:
            case "assert":
                fired = has_fired(trace)
                return Seen(
                    recommendation="likely_cause" if fired else "unlikely",
                    observations={"rationale": patch.rationale, "fired": fired},
                    patch=patch,
                )
            case "instrument":
                noted = {name: list(values) for name, values in kinds_in([trace]).items()}
                return Seen(observations={"rationale": patch.rationale, "noted": noted}, patch=patch)
            case "reduce":
                alike = trace.case.outcome != "passed" and essence(trace.case.message) == essence(
                    self._scene.failure
                )
                runs = bool(seen.observations["executed"])
                return Seen(
                    recommendation="unknown" if not alike else "possible" if runs else "unlikely",
                    observations={"rationale": patch.rationale, "fails_alike": alike, "executed": runs},
                    patch=patch,
                )

    def _read(self, trace: Trace) -> Seen:
        seen = trace_seen(trace, self._suspect, self._scene.suspects, self._scene.failure)
        if seen.recommendation == "unlikely" and (others := self._scene.others):
            # Whoever reads it must not take it for the last word: it may be another test's fault.
            return seen.model_copy(
                update={"observations": {**seen.observations, "failing_tests_not_followed": len(others)}}
            )
        return seen

    def _failing_and_passing(self, instrumented: Instrumented) -> tuple[Trace, list[Trace]]:
        """The changed tree under the failing test and under some that pass without the change."""
        lines = (instrumented.lines,) if instrumented.lines else ()
        files = (self._symbol.artifact,)
        failing = self._traced(self._scene.target, files, lines)
        others = self._scene.passing(self._symbol.artifact, most=_PASSING)
        return failing, [self._traced(test, files, lines) for test in others]

    def _built(self, params: InstrumentParams) -> Instrumented:
        instrumented = self._offer(params)
        if instrumented is None:
            raise CogworksError(f"no service offers {INSTRUMENT.method}")
        if instrumented.content is None and params.mode != "shorten":
            raise CogworksError(instrumented.reason)
        if not instrumented.statements:
            raise CogworksError(instrumented.reason or "there are no statements")
        return instrumented

    def _offer(self, params: InstrumentParams) -> Instrumented | None:
        answers = self._known(INSTRUMENT, params)
        return next((each for each in answers if each.content is not None), next(iter(answers), None))

    def _put(self, purpose: Purpose, instrumented: Instrumented, why: str, *, path: str = "") -> ProbePatch:
        """Change the worktree as a service says."""
        path = path or self._symbol.artifact
        diff = Diff(files=(between(path, self._room_text(path), instrumented.content or ""),))
        text = render(diff)
        self._is_changed = True
        if problem := self._sandbox.apply(text):
            raise CogworksError(f"the probe's change does not apply: {problem}")
        return ProbePatch(
            id=fingerprint(diff),
            suspect=self._symbol.id,
            diff=text,
            purpose=purpose,
            loc_changed=sum(file.added + file.removed for file in diff.files),
            rationale=why,
        )

    def _room_text(self, path: str) -> str:
        """A file as it was checked out, whatever this probe made of it since."""
        self._clean()
        text = self._sandbox.text(path)
        if text is None:
            raise CogworksError(f"{path} cannot be read")
        return text

    def _clean(self) -> None:
        if self._is_changed:
            self._sandbox.reset()
            self._is_changed = False

    def _traced(self, test: str, artifacts: Sequence[str], lines: Sequence[Lines]) -> Trace:
        """The changed tree under one test."""
        if not test:
            raise CogworksError("no failing test came to run")
        params = self._trace_params(artifacts=artifacts, lines=lines, test=test)
        traces = self._ask(TRACE, params)
        if not traces:
            raise CogworksError(f"no service offers {TRACE.method}")
        return max(traces, key=lambda trace: len(trace.events))

    def _trace_params(
        self, *, artifacts: Sequence[str], lines: Sequence[Lines], test: str = ""
    ) -> TraceParams:
        return TraceParams(
            test=test or self._scene.target,
            artifacts=tuple(artifacts),
            lines=tuple(lines),
            max_value_chars=VALUE_CHARS,
            timeout_s=self._time_s(),
        )

    def _recorded_trace(self) -> Sequence[Trace]:
        """The same from the run that measured coverage, where it noted the steps."""
        steps = self._scene.steps
        if steps is None or steps.truncated or steps.test != self._scene.target:
            return ()
        self._left -= 1
        case = next(each for each in self._scene.failing.cases if each.id == steps.test)
        events = events_within(steps.events, self._scene.artifacts, self._all_lines())
        return (Trace(case=case, events=events),)

    def _all_lines(self) -> tuple[Lines, ...]:
        """Of every suspect; a file of one may have lines of another among them, which are passed over."""
        return tuple(sorted({stretch for each in self._scene.suspects for stretch in each.own}))

    def _line(self) -> int:
        """Of its head: a definition inside it may end with it, but does not begin with it."""
        return self._symbol.lines[0]

    def _test_line(self) -> tuple[str, int]:
        path = self._scene.target.split("::")[0]
        name = self._scene.target.rpartition("::")[2].partition("[")[0]
        for index in self._known(INDEX, ExploreParams(artifacts=(path,))):
            for symbol in index.symbols:
                if symbol.id.rpartition(".")[2] == name and symbol.kind in ("function", "method"):
                    return path, symbol.lines[0]
        raise CogworksError(
            f"{self._scene.target or 'no failing test'} is no definition that could be shortened"
        )

    def _time_s(self) -> float:
        return max(1.0, self._scene.timeout_s - _MARGIN_S)

    def _known(self, operation: Operation[Params, Result], params: Params) -> Sequence[Result]:
        """Of the files as they were checked out; however many probes ask, one answer."""
        self._clean()
        question = (operation.method, params.model_dump_json())
        answers: Sequence[Result] = self._shared.answer(
            question, lambda: self._sandbox.ask(operation, params)
        )
        self._left -= 1
        return answers

    def _ask(self, operation: Operation[Params, Result], params: Params) -> Sequence[Result]:
        self._left -= 1
        return self._sandbox.ask(operation, params)


def _not_offered(method: str) -> Seen:
    return Seen(error=f"no service offers {method}")


_KINDS: Mapping[ProbeKind, Callable[[_Work], Seen]] = {
    "trace": _Work.trace,
    "coverage": _Work.coverage,
    "ast": _Work.structure,
    "grep": _Work.grep,
    "instrument": _Work.instrument,
    "assert": _Work.check,
    "reduce": _Work.reduce,
}
NEEDS: Mapping[ProbeKind, Sequence[Operation[Any, Any]]] = {
    "trace": (TRACE,),
    "coverage": (COVERAGE,),
    "ast": (),
    "grep": (),
    "instrument": (INSTRUMENT, TRACE),
    "assert": (INSTRUMENT, TRACE),
    "reduce": (INSTRUMENT, TRACE),
}
"""What a service has to offer for it; `ast` gets by with any of several operations, and says itself that there is none."""
