"""What came of an evaluation: one result for each instance, their sums, and whether the criteria are met."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import ConfigDict, Field

from cogworks.llm.schemas import DIALECT
from cogworks.vocabulary import Value

PER_SOLVED = 5
"""One instance in so many has to be solved, where nothing else is asked for."""
CLOCK = "duration_s"
"""The only field that differs between two runs with the same recordings."""


class _ReportPart(Value):
    """A part of the report; what its fields mean is part of its schema."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Stage(_ReportPart):
    """Everything one kind of action took."""

    name: str
    """An action of the cycle in small letters; besides `prepare` and `judge`, which are the evaluation's own."""
    runs: int = 0
    duration_s: float = 0.0
    calls: int = 0
    """Paid calls of the model."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0


class Mu(_ReportPart):
    """How bad the tree is: 100 for each failing test or file that cannot be loaded, and the churn."""

    before: float
    after: float


class Transactions(_ReportPart):
    """The diffs that reached the tree."""

    tried: int = 0
    kept: int = 0
    codes: tuple[str, ...] = ()
    """How each of them ended, in their order."""
    refused: int = 0
    """Diffs that broke a rule and reached no tree."""


class Result(_ReportPart):
    """What came of one instance."""

    instance_id: str
    repo: str = ""
    outcome: Literal["solved", "not_solved", "error", "unbudgeted"]
    """`solved`: on a fresh checkout with the patch all failing tests pass and nothing else is worse. `error`: nobody can say.
    `unbudgeted`: what was left of the evaluation's budget was too little to begin it, or to bring it to an end."""
    reason: str = ""
    """Why it is not solved."""
    model: str = ""
    patch: str = ""
    """Empty when nothing was found."""
    repaired: tuple[str, ...] = ()
    """Tests that failed before and pass with the patch."""
    regressions: tuple[str, ...] = ()
    """Targeted tests (`PASS_TO_PASS`, else all) that passed before and do not with the patch."""
    changed_lines: int = 0
    files: tuple[str, ...] = ()
    transactions: Transactions = Transactions()
    mu: Mu | None = None
    """On the tests of the verdict; missing when they could not be run."""
    cycles: int = 0
    stages: tuple[Stage, ...] = ()
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    duration_s: float = 0.0
    artifacts: str = ""
    """Folder of the event log, the diffs and the proof, below the folder of the runs."""


class Criteria(_ReportPart):
    """What was asked for."""

    min_solved: int = Field(ge=0)
    max_regressions: int = 0
    max_cost_usd: float | None = None
    """Of all instances together; null: no limit but that of each."""


class Totals(_ReportPart):
    """Everything together."""

    instances: int
    solved: int
    not_solved: int
    errors: int
    unbudgeted: int
    success_rate: float
    regressions: int
    changed_lines: int
    files: int
    transactions: int
    kept: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    duration_s: float


class Report(_ReportPart):
    """The content of `report.json`."""

    schema_version: Literal["1"] = "1"
    cogworks_version: str
    criteria: Criteria
    problems: tuple[str, ...]
    """Criteria that are not met, and instances nobody can say anything about; none: the evaluation ends well."""
    totals: Totals
    stages: tuple[Stage, ...]
    """Of all instances, in the order in which they first came."""
    instances: tuple[Result, ...]
    """By id."""

    @property
    def is_met(self) -> bool:
        return not self.problems


def usual_min_solved(instances: int) -> int:
    """At least one in five."""
    return math.ceil(instances / PER_SOLVED)


def report_of(
    results: Sequence[Result],
    *,
    version: str,
    min_solved: int | None = None,
    max_cost_usd: float | None = None,
) -> Report:
    """The report of these results, in whatever order they came."""
    ordered = tuple(sorted(results, key=lambda result: result.instance_id))
    wanted = usual_min_solved(len(ordered)) if min_solved is None else min_solved
    totals = _totals(ordered)
    return Report(
        cogworks_version=version,
        criteria=Criteria(min_solved=wanted, max_cost_usd=max_cost_usd),
        problems=_problems(ordered, totals, wanted),
        totals=totals,
        stages=summed([stage for result in ordered for stage in result.stages]),
        instances=ordered,
    )


def summed(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """One stage for each name."""
    by_name: dict[str, Stage] = {}
    for stage in stages:
        by_name[stage.name] = _sum(by_name[stage.name], stage) if stage.name in by_name else stage
    return tuple(by_name.values())


def without_clock(report: Report) -> Report:
    """The report with every duration set to nothing: equal for two runs with the same recordings."""
    return Report.model_validate(_still(report.model_dump()))


def as_text(value: Value) -> str:
    """A value as the text of its file; bytes of a patch that are no UTF-8 survive as escapes."""
    return json.dumps(value.model_dump(mode="json"), indent=2) + "\n"


def predictions(results: Sequence[Result]) -> str:
    """One line for each instance in the form that the harness of SWE-bench reads."""
    lines = [
        {
            "instance_id": result.instance_id,
            "model_name_or_path": result.model or "none",
            "model_patch": result.patch,
        }
        for result in sorted(results, key=lambda result: result.instance_id)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def schema_text() -> str:
    """The file `schemas/evaluation/report.json`."""
    schema = {"$schema": DIALECT, **Report.model_json_schema(mode="serialization")}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _totals(results: Sequence[Result]) -> Totals:
    count = Counter(each.outcome for each in results)
    return Totals(
        instances=len(results),
        solved=count["solved"],
        not_solved=count["not_solved"],
        errors=count["error"],
        unbudgeted=count["unbudgeted"],
        success_rate=round(count["solved"] / len(results), 4) if results else 0.0,
        regressions=sum(len(each.regressions) for each in results),
        changed_lines=sum(each.changed_lines for each in results),
        files=sum(len(each.files) for each in results),
        transactions=sum(each.transactions.tried for each in results),
        kept=sum(each.transactions.kept for each in results),
        calls=sum(each.calls for each in results),
        input_tokens=sum(each.input_tokens for each in results),
        output_tokens=sum(each.output_tokens for each in results),
        cost_usd=_dollars(sum(each.cost_usd for each in results)),
        duration_s=round(sum(each.duration_s for each in results), 3),
    )


def _problems(results: Sequence[Result], totals: Totals, wanted: int) -> tuple[str, ...]:
    problems = []
    if totals.solved < wanted:
        problems.append(f"{totals.solved} of {totals.instances} solved, and at least {wanted} are required")
    problems += [
        f"{each.instance_id}: {test} passed before and does not with the patch"
        for each in results
        for test in each.regressions
    ]
    problems += [
        f"{each.instance_id}: {each.reason}" for each in results if each.outcome in ("error", "unbudgeted")
    ]
    return tuple(problems)


def _sum(one: Stage, other: Stage) -> Stage:
    return Stage(
        name=one.name,
        runs=one.runs + other.runs,
        duration_s=round(one.duration_s + other.duration_s, 3),
        calls=one.calls + other.calls,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cost_usd=_dollars(one.cost_usd + other.cost_usd),
    )


def _dollars(amount: float) -> float:
    """Sums of dollars that come out the same in every order."""
    return round(amount, 9)


def _still(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: 0.0 if key == CLOCK else _still(each) for key, each in value.items()}
    return [_still(each) for each in value] if isinstance(value, (list, tuple)) else value
