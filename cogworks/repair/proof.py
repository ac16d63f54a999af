"""What a change proves: every test before and after it, and what would take from the weight of that."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from cogworks.codebase.changes import matching
from cogworks.codebase.diffmodel import Diff
from cogworks.domain_services.messages import TestReport
from cogworks.repair.violations import TestRules
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
AGAINST: frozenset[Verdict] = frozenset({"broken", "deleted", "skipped_now"})
"""Verdicts that no change may bring."""
_ASSERTION = re.compile(r"^\s*(?:assert\b|self\.assert\w+\(|expect\(|with pytest\.raises|assert\w*!?\()")
_SHOWN = 50


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


class Weakened(NamedTuple):
    """A line of a test that the change took away or that makes a test say less."""

    path: str
    line: str


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
    """Collection errors of the head."""

    def having(self, *verdicts: Verdict) -> tuple[str, ...]:
        """The tests with one of these verdicts, in their order."""
        return tuple(test.id for test in self.tests if test.verdict in verdicts)

    @property
    def is_proven(self) -> bool:
        """A test fails before and passes after, and nothing speaks against the change."""
        return bool(self.having("fail_to_pass")) and not (
            self.having(*AGAINST) or self.weakened or self.uncollected
        )


class Runs(NamedTuple):
    """What was run."""

    base: TestReport
    head: TestReport
    reruns: Sequence[TestReport] = ()
    """Further runs on the head, of some tests."""


def proven_tests(runs: Runs) -> tuple[ProvenTest, ...]:
    """Every test of both sides, sorted by id."""
    base, head = _outcomes(runs.base), _outcomes(runs.head)
    again = [_outcomes(report) for report in runs.reruns]
    tests: list[ProvenTest] = []
    for test in sorted(base.keys() | head.keys()):
        before, after = base.get(test, "absent"), head.get(test, "absent")
        more = tuple(outcomes[test] for outcomes in again if test in outcomes)
        verdict = _verdict(before, after, more)
        tests.append(ProvenTest(id=test, base=before, head=after, reruns=more, verdict=verdict))
    return tuple(tests)


def weakened_lines(diff: Diff, rules: TestRules) -> tuple[Weakened, ...]:
    """Assertions that the diff takes out of test files, and lines it adds that make a test say less."""
    found: list[Weakened] = []
    for file in diff.files:
        lines = [line for hunk in file.hunks for line in hunk.lines if line.sign != " "]
        added = {line.text.strip() for line in lines if line.sign == "+"}
        if matching(file.old_path, rules.files) is not None:
            found += [
                Weakened(file.old_path, line.text.strip())
                for line in lines
                if line.sign == "-" and _ASSERTION.match(line.text) and line.text.strip() not in added
            ]
        found += [
            Weakened(file.path, line.text.strip())
            for line in lines
            if line.sign == "+" and any(re.search(pattern, line.text) for pattern in rules.weakening)
        ]
    return tuple(found)


def markdown(proof: Proof) -> str:
    """The proof for people: a sentence, a table of what changed, and what it rests on."""
    lines = [_sentence(proof), "", "| test | before | after | verdict |", "|---|---|---|---|"]
    changed = [test for test in proof.tests if test.verdict != "pass_to_pass"]
    lines += [
        f"| {_cell(test.id)} | {test.base} | {', '.join((test.head, *test.reruns))} | {test.verdict.replace('_', ' ')} |"
        for test in changed[:_SHOWN]
    ]
    if len(changed) > _SHOWN:
        lines.append(f"| and {len(changed) - _SHOWN} more | | | |")
    lines += [f"- weakened in {_cell(each.path)}: {_cell(each.line[:120])}" for each in proof.weakened]
    lines += [
        f"- could not be collected: {_cell(error.splitlines()[0][:200])}" for error in proof.uncollected
    ]
    tools = ", ".join(f"{tool} {version}" for tool, version in sorted(proof.versions.items()))
    commands = "; ".join(_cell(command) for command in proof.commands)
    lines += [
        "",
        f"Tree {proof.base.tree[:12]} → {proof.head.tree[:12]}; {commands}{f' ({tools})' if tools else ''}.",
    ]
    return "\n".join(lines) + "\n"


def _sentence(proof: Proof) -> str:
    fixed, kept = len(proof.having("fail_to_pass")), len(proof.having("pass_to_pass"))
    return (
        f"**{'Proven' if proof.is_proven else 'Not proven'}**: {fixed} test(s) failed before and pass now, "
        f"{kept} passed before and still do, {len(proof.having(*AGAINST))} speak against the change."
    )


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
    """Text of the repository inside a table: as code, on one line, without what would end the cell."""
    plain = " ".join(text.replace("`", "'").replace("|", "\\|").split())
    return f"`{plain}`"
