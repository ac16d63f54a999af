"""What a change proves: every test before and after it, and what would take from the weight of that."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from cogworks.domain_services.messages import TestReport
from cogworks.leaving import in_code, in_markdown
from cogworks.repair.transact.measure import is_of, with_hidden_tests
from cogworks.repair.transact.renamed import as_called_in
from cogworks.repair.unloaded import Unloaded, unloaded_in_words
from cogworks.repair.weakening import Weakened
from cogworks.vocabulary import CommitOid, Value

Outcome = Literal["passed", "failed", "error", "skipped", "absent"]
Verdict = Literal[
    "fail_to_pass",
    "pass_to_pass",
    "new_and_passes",
    "still_fails",
    "broken",
    "deleted",
    "skipped_now",
    "skipped_before",
    "flaky",
]
Guard = Literal["suite", "empty", "off"]
"""What a change was guarded by: the tests that passed before it, of which there may be none; `off`: they were not run."""
AGAINST: frozenset[Verdict] = frozenset({"broken", "deleted", "skipped_now"})
"""Verdicts that no change may bring."""
_SHOWN = 50
MAX_SUMMARISED = 500
_CARRIED_ON = {
    "base",
    "head",
    "commands",
    "versions",
    "weakened",
    "uncollected",
    "unloaded",
    "guard",
    "restated",
    "warnings",
}
_LISTED: tuple[Verdict, ...] = (
    "fail_to_pass",
    "new_and_passes",
    "flaky",
    "still_fails",
    "broken",
    "deleted",
    "skipped_now",
)
"""What a table lists, in its order; the others are as they were and pass, or never ran."""
_NEVER_LEFT_OUT: tuple[Verdict, ...] = ("broken", "deleted", "skipped_now", "flaky")
"""What a short table keeps before anything else: nobody may think that there is none."""


class Tree(Value):
    """One side of the comparison."""

    commit: CommitOid
    tree: str
    """Hash of its files."""


class ProvenTest(Value):
    """One test on both sides."""

    id: str
    base: Outcome
    head: Outcome
    reruns: tuple[Outcome, ...] = ()
    """Its further runs on the head."""
    verdict: Verdict


class Proof(Value):
    """The content of `proof.json`."""

    schema_version: Literal["1"] = "1"
    base: Tree
    head: Tree
    commands: tuple[str, ...]
    """How the tests were run, in the order of the runs."""
    versions: Mapping[str, str] = {}
    """Tool -> version."""
    tests: tuple[ProvenTest, ...]
    weakened: tuple[Weakened, ...] = ()
    uncollected: tuple[str, ...] = ()
    """Collection errors of the head that are new."""
    unloaded: tuple[Unloaded, ...] = ()
    """What could not be loaded on one side or on both; of its tests nothing is proven."""
    guard: Guard = "suite"
    restated: tuple[str, ...] = ()
    """Tests, and cases of parametrized ones, that passed or failed before and are stated in another way now, by their old ids."""
    unstable: tuple[str, ...] = ()
    """Tests whose names change from run to run on the same files, as they were called first; `tests` has them by number."""
    warnings: tuple[str, ...] = ()
    """What makes the change doubtful although every test speaks for it, a sentence each."""

    def having(self, *verdicts: Verdict) -> tuple[str, ...]:
        """The tests with one of these verdicts, in their order."""
        return tuple(test.id for test in self.tests if test.verdict in verdicts)

    @property
    def is_proven(self) -> bool:
        """A test fails before and passes after, nothing speaks against the change, and every test could speak."""
        silent = self.guard == "off" or any(each.after for each in self.unloaded)
        return bool(self.having("fail_to_pass")) and not (
            silent or self.having(*AGAINST) or self.weakened or self.uncollected
        )


class Summary(Value):
    """A proof as it is shown and carried on: how many tests there are of each verdict, and those that changed."""

    base: Tree
    head: Tree
    commands: tuple[str, ...] = ()
    versions: Mapping[str, str] = {}
    counts: Mapping[Verdict, int]
    tests: tuple[ProvenTest, ...]
    """Those that changed or fail, and at most `MAX_SUMMARISED`: first what may not be left out."""
    weakened: tuple[Weakened, ...] = ()
    uncollected: tuple[str, ...] = ()
    unloaded: tuple[Unloaded, ...] = ()
    guard: Guard = "suite"
    restated: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    is_proven: bool


class Runs(NamedTuple):
    """What was run."""

    base: TestReport
    head: TestReport
    reruns: Sequence[TestReport] = ()
    """Further runs on the head, of some tests."""
    touched: Collection[str] = ()
    """Files that differ between the two."""


def proven_tests(runs: Runs) -> tuple[ProvenTest, ...]:
    """Every test of both sides, sorted by id."""
    now = as_called_in(runs.base, runs.head, but=runs.touched)
    base, head = _outcomes(with_hidden_tests(runs.base, now)), _outcomes(now)
    names = {case.id: known.id for case, known in zip(runs.head.cases, now.cases, strict=True)}
    again = [{names.get(test, test): each for test, each in _outcomes(run).items()} for run in runs.reruns]
    tests: list[ProvenTest] = []
    # A file that was skipped as a whole and is not any more has tests of its own now.
    opened = {test for test in base.keys() - head.keys() if any(is_of(each, test) for each in head)}
    for test in sorted((base.keys() | head.keys()) - opened):
        before, after = base.get(test, "absent"), head.get(test, "absent")
        more = tuple(outcomes[test] for outcomes in again if test in outcomes)
        verdict = _verdict(before, after, more)
        tests.append(ProvenTest(id=test, base=before, head=after, reruns=more, verdict=verdict))
    return tuple(tests)


def summarised(proof: Proof) -> Summary:
    """The proof without the tests that are as they were and pass."""
    listed = sorted((test for test in proof.tests if test.verdict in _LISTED), key=_importance)
    return Summary(
        **proof.model_dump(include=_CARRIED_ON),
        counts=Counter(test.verdict for test in proof.tests),
        tests=tuple(listed[:MAX_SUMMARISED]),
        is_proven=proof.is_proven,
    )


def caution(summary: Summary) -> str:
    """What the proof leaves open, to be said before everything else; empty when it is about the whole suite."""
    sentences = []
    if summary.guard == "off":
        sentences.append(
            'Not proven against the tests that were there before: `[tests] baseline = "none"` has only those run that '
            "were handed over."
        )
    if unloaded := unloaded_in_words(summary.unloaded):
        sentences.append(unloaded)
    if summary.guard == "empty":
        sentences.append("No test guarded this change: none passed before it.")
    sentences += summary.warnings
    return " ".join(sentences)


def promise(summary: Summary) -> str:
    """What the proof shows about the tests that were there before, and no more than it shows."""
    counts = summary.counts
    if summary.guard != "suite":
        return ""
    if against := sum(counts.get(verdict, 0) for verdict in AGAINST):
        return f"{against} test(s) speak against this change; see the table."
    which = "that could be run and passed" if summary.unloaded else "that passed"
    besides = ""
    if count := len(summary.restated):
        besides = (
            f" {count} test(s) or case(s) of tests from before are stated in another way now, as the new tests have it; "
            "see the table."
        )
    if unsteady := counts.get("flaky", 0):
        return (
            f"No test {which} before fails in every run, is skipped or is gone; {unsteady} passed in one run "
            f"and failed in another.{besides}"
        )
    return f"No test {which} before fails, is skipped or is gone.{besides}"


def markdown(summary: Summary, *, rows: int = _SHOWN, whole: str = "") -> str:
    """The proof for people: what it leaves open, a sentence, a table of what changed, and what it rests on.

    Args:
        rows: of the table at most; what speaks against the change is never left out for what speaks for it.
        whole: where every test is listed, in words that end a sentence.
    """
    first, (listed, shown) = caution(summary), table(summary, rows)
    lines = [*([first, ""] if first else []), _sentence(summary), *(["", *listed] if listed else [])]
    if more := unlisted(summary, shown):
        lines += ["", f"Not listed: {more}.{f' All of them are in {whole}.' if whole else ''}", ""]
    lines += objections(summary, rows)
    return re.sub(r"\n{3,}", "\n\n", "\n".join([*lines, "", _ground(summary), "", BELIEVED])) + "\n"


def table(summary: Summary, rows: int) -> tuple[list[str], tuple[ProvenTest, ...]]:
    """The lines of a table of the tests that changed, none where there are none, and which of them it shows."""
    shown = sorted(summary.tests, key=_importance)[:rows]
    shown.sort(key=lambda test: (_LISTED.index(test.verdict), test.id))
    if not shown:
        return [], ()
    lines = ["| test | before | after | verdict |", "|---|---|---|---|"]
    lines += [
        f"| {_cell(test.id)} | {test.base} | {', '.join((test.head, *test.reruns))} | {_word(test.verdict)} |"
        for test in shown
    ]
    return lines, tuple(shown)


def unlisted(summary: Summary, shown: Sequence[ProvenTest]) -> str:
    """How many tests of which verdict changed and are not among those shown; empty: all of them are."""
    left_out = Counter(summary.counts)
    left_out.subtract(test.verdict for test in shown)
    return ", ".join(f"{left_out[verdict]} {_word(verdict)}" for verdict in _LISTED if left_out[verdict] > 0)


def objections(summary: Summary, rows: int) -> list[str]:
    """What takes from the weight of the proof, a line each."""
    lines = _restated(summary.restated, rows)
    lines += [f"- weakened in {_cell(each.path)}: {_cell(each.line[:120])}" for each in summary.weakened]
    return lines + [
        f"- could not be collected: {_cell(error.splitlines()[0][:200])}" for error in summary.uncollected
    ]


def verdict_word(summary: Summary) -> str:
    """What the proof comes to, in a word or two."""
    against = sum(summary.counts.get(verdict, 0) for verdict in AGAINST)
    is_worse = against or summary.weakened or summary.uncollected
    is_partial = summary.guard == "off" or summary.unloaded
    nothing = "Nothing that was run is worse" if is_partial else "Nothing is worse"
    proven = "Proven, with a warning" if summary.warnings else "Proven"
    return proven if summary.is_proven else "Not proven" if is_worse else nothing


def run_in_words(summary: Summary) -> str:
    """How the tests were run and on what, as a sentence."""
    tools, commands = _tools(summary), ", then ".join(_cell(command) for command in summary.commands)
    return (
        f"Run{f' with {commands}' if commands else ''}{f' ({tools})' if tools else ''} on the trees "
        f"{summary.base.tree[:12]} and {summary.head.tree[:12]}."
    )


def _restated(tests: Sequence[str], rows: int) -> list[str]:
    lines = [f"- stated in another way now: {_cell(test)}" for test in tests[:rows]]
    return [*lines, f"- and {len(tests) - rows} more of these"] if len(tests) > rows else lines


def _importance(test: ProvenTest) -> tuple[int, str]:
    order = dict.fromkeys((*_NEVER_LEFT_OUT, *_LISTED))
    return list(order).index(test.verdict), test.id


def _word(verdict: Verdict) -> str:
    return verdict.replace("_", " ")


def _sentence(summary: Summary) -> str:
    counts = summary.counts
    against = sum(counts.get(verdict, 0) for verdict in AGAINST)
    old = counts.get("still_fails", 0)
    return (
        f"**{verdict_word(summary)}**: {counts.get('fail_to_pass', 0)} test(s) failed before and pass now, "
        f"{counts.get('pass_to_pass', 0)} passed before and still do, {against} speak against the change."
        f"{f' {old} failed before and still do.' if old else ''}"
    )


BELIEVED = (
    "Code under test runs in the process that says what became of the tests, so a change can make them lie; "
    "only whoever reads it knows that it does not."
)
"""What no proof excludes."""


def _ground(summary: Summary) -> str:
    tools, commands = _tools(summary), "; ".join(_cell(command) for command in summary.commands)
    ran = f"; {commands}" if commands else ""
    return f"Tree {summary.base.tree[:12]} → {summary.head.tree[:12]}{ran}{f' ({tools})' if tools else ''}."


def _tools(summary: Summary) -> str:
    versions = ", ".join(f"{tool} {version}" for tool, version in sorted(summary.versions.items()))
    return " ".join(in_markdown(versions).split())


def _outcomes(report: TestReport) -> dict[str, Outcome]:
    return {case.id: case.outcome for case in report.cases}


def _verdict(base: Outcome, head: Outcome, reruns: Sequence[Outcome]) -> Verdict:
    bad = ("failed", "error")
    if {head in bad, *(each in bad for each in reruns)} == {True, False}:
        return "flaky"
    match head:
        case "absent":
            return "deleted"
        case "skipped":
            return "skipped_now" if base not in ("skipped", "absent") else "skipped_before"
        case "passed":
            return _VERDICT_OF_PASS[base]
        case _:
            return "still_fails" if base in bad else "broken"


_VERDICT_OF_PASS: Mapping[Outcome, Verdict] = {
    "passed": "pass_to_pass",
    "failed": "fail_to_pass",
    "error": "fail_to_pass",
    "skipped": "new_and_passes",
    "absent": "new_and_passes",
}


def _cell(text: str) -> str:
    """Text of the repository inside a table: as code, without what would end the cell."""
    return in_code(text.replace("|", "\\|"))
