"""What each prompt wants back from the model, as types.

Every model has a JSON Schema in `schemas/` under the stem of its prompt. Nothing in a reply may be null: what does not
apply is empty, so that a reply can be kept as a readable file.
"""

from typing import Literal

from pydantic import Field

from cogworks.llm.schemas import Part
from cogworks.repair.replies import Edit
from cogworks.vocabulary import Severity


class Scope(Part):
    """How large the work is expected to be."""

    files: int = Field(ge=0)
    """Files that will be created or modified, tests included."""
    interfaces: int = Field(ge=0)
    """Public functions, classes or commands that appear or go, or get another signature; not those that only do something else."""
    complexity: Literal["low", "medium", "high"]


# What the prompt of Intake says of a field is not said again in its schema.
class Classification(Part):
    """What kind of work an issue asks for."""

    type: Literal[
        "new_feature", "bug_fix", "refactor", "configuration_change", "documentation", "dependency_update"
    ]
    affected_modules: tuple[str, ...]
    """Paths of existing files or directories, as they are listed."""
    component_tags: tuple[str, ...] = ()
    language: str = Field(min_length=1)
    """The main programming language of the affected modules, lower case."""
    estimated_scope: Scope
    safety_affecting: bool
    pipeline: str = "default"
    rationale: str = Field(min_length=1)
    """Why it was classified so, in two to four sentences for the people who watch the issue."""
    questions: tuple[str, ...] = ()
    says_what_is_right: str = ""
    is_wrong_about: str = ""
    orders: tuple[str, ...] = ()
    duplicate_of: int = Field(default=0, ge=0)
    """Number of the other issue that asks for the very same; 0 when none of those shown does."""
    already_fixed_by: int = Field(default=0, ge=0)
    """Number of the merged pull request, or of the issue closed as completed, that has done what this one asks for; 0 when none has."""
    known_because: str = ""
    """Why it is the same, or done already, in one or two sentences; empty when both numbers are 0."""


# What the prompt of Architecture says of a field is not said again in its schema.
class AffectedModule(Part):
    """A module that the specification touches."""

    name: str = Field(min_length=1)
    """Repository-relative path or dotted module name."""
    new: bool


class DependencyChange(Part):
    """A dependency that appears or goes."""

    source: str
    target: str
    change: Literal["add", "remove"]
    reason: str


class Requirement(Part):
    """One testable statement of the specification."""

    id: str = Field(pattern=r"^R[0-9]{1,3}$")
    text: str = Field(min_length=1)
    section: str


class Specification(Part):
    """A specification: Markdown for people, and its parts as data."""

    title: str = Field(min_length=1, max_length=80)
    markdown: str = Field(min_length=1)
    affected_modules: tuple[AffectedModule, ...] = Field(min_length=1)
    # Without a default: where it is empty no interfaces are designed, so nobody may leave it out by oversight.
    public_names: tuple[str, ...]
    dependency_changes: tuple[DependencyChange, ...] = ()
    required_adrs: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = Field(min_length=1)


class ProposedFile(Part):
    """A whole file as the model wants it."""

    path: str = Field(min_length=1)
    """Repository-relative POSIX path."""
    action: Literal["create", "modify", "delete"]
    content: str
    """The complete new text; empty only for a deletion."""


class ChangedFiles(Part):
    """What an answer does to files, in whichever form is shortest for each."""

    files: tuple[ProposedFile, ...]
    """Whole files; a file that is changed by `edits` or `unified_diff` is not among them."""
    edits: tuple[Edit, ...] = ()
    """Texts of files that give way to others; empty when there are none."""
    unified_diff: str = ""
    """A diff as git writes it; empty when there is none."""


class TriedFiles(ChangedFiles):
    """An answer of somebody who could try edits before it."""

    tried: int = Field(default=0, ge=0)
    """Number of the `try` that the answer goes on from; 0: none."""


class InterfaceName(Part):
    """One public name that later work has to implement."""

    name: str = Field(min_length=1)
    path: str = Field(min_length=1)
    """The created or changed file that declares it."""
    purpose: str


class Interfaces(ChangedFiles):
    """The declarations of the interfaces, valid in the target language."""

    interfaces: tuple[InterfaceName, ...]
    """Empty when the work adds and changes no public name; then there are no files either, and `notes` says why."""
    notes: str = ""
    missing_capability: str = ""
    """What the work needs that the specification does not allow; empty when nothing is missing."""


class PlannedItem(Part):
    """One sub-work-item: a logical change that is reviewed as one pull request."""

    key: str = Field(pattern=r"^[A-Z][A-Z0-9]{0,3}$")
    title: str = Field(min_length=1, max_length=80)
    description: str = Field(min_length=1)
    files: tuple[str, ...] = Field(min_length=1)
    """Paths it creates or modifies, tests included."""
    interfaces: tuple[str, ...] = ()
    test_specification: str = Field(min_length=1)
    acceptance_criteria: tuple[str, ...] = Field(min_length=1)
    depends_on: tuple[str, ...] = ()


class WholeItem(PlannedItem):
    """A work item that no plan divides, as its one part."""

    key: str = Field(pattern=r"^#[0-9]+$")
    """The issue as people write it."""
    acceptance_criteria: tuple[str, ...] = ()
    """What the issue says is right is in the description."""


class Plan(Part):
    """The sub-work-items of a work item."""

    sub_work_items: tuple[PlannedItem, ...]


class WrittenTests(TriedFiles):
    """The tests of one sub-work-item, written before its code."""

    test_path: str
    """Path of the file with the tests: created or changed, or there already. Empty only when the plan names exactly one
    test file and it is that one."""
    extra_paths: tuple[str, ...] = ()
    """Paths of all further files that belong to the tests: more test files, data."""
    notes: str = ""
    """What whoever writes the code should know and the tests do not say."""
    confirmed: str = ""
    """Why tests that were asked about are right as they are; empty when they are changed, or nobody asked."""
    missing_capability: str = ""
    """What the tests need that specification and interfaces do not allow; empty when nothing is missing."""


class DecidedDispute(Part):
    """Who is right about a handed-over test: whoever wrote it, or whoever has to make it pass."""

    verdict: Literal["test_stands", "test_is_wrong", "undecided"]
    """`undecided`: specification and interfaces allow both; a person decides."""
    sentence: str
    """The sentence of specification, approved interfaces or acceptance criteria that decides it; empty when none does."""
    reason: str = Field(min_length=1)
    """Why, for both of them."""


class TestVerdict(Part):
    """Whether one test asserts what is wanted of it."""

    __test__ = False
    file: str = Field(min_length=1)
    """Path of the test file, as shown."""
    test: str = Field(min_length=1)
    """Name of the test."""
    demand: str
    """The sentence of specification, approved interfaces or acceptance criteria that it is about, in its own words; empty
    when none of them asks for what the test asserts."""
    holds: bool
    """True when an implementation that breaks the demand fails the test, and one that keeps it can pass."""
    explanation: str
    """What the test asserts instead, and what it has to assert; empty when it holds."""


class JudgedTests(Part):
    """Whether the tests of one sub-work-item assert what is wanted."""

    verdicts: tuple[TestVerdict, ...] = Field(min_length=1)
    """One for every test that is shown."""
    untested: tuple[str, ...] = ()
    """Acceptance criteria that no test asserts, each in its own words; none when all are covered."""


class DisputedTest(Part):
    """A handed-over test that its reader holds to be wrong."""

    test_id: str
    """Empty when no test is disputed."""
    reason: str
    """Which sentence of specification or interfaces it contradicts."""


class BeyondPlan(Part):
    """A file that is changed although the sub-work-item does not list it."""

    path: str = Field(min_length=1)
    reason: str = Field(min_length=1)
    """Why the item cannot be done without, in one sentence."""


class Implementation(TriedFiles):
    """The code that makes handed-over tests pass."""

    summary: str = Field(min_length=1, max_length=72)
    """What the change does, imperative, as the subject of its commit."""
    notes: str = ""
    """What a reviewer should know and the code does not say."""
    test_dispute: DisputedTest = DisputedTest(test_id="", reason="")
    """The handed-over test that cannot be right; goes back to whoever wrote it."""
    beyond_plan: tuple[BeyondPlan, ...] = ()
    """Files that are changed although the plan does not list them; empty when there are none."""
    missing_capability: str = ""
    """What the work needs that specification and interfaces do not allow; empty when nothing is missing."""


class CodeChange(TriedFiles):
    """Code and tests for one sub-work-item."""

    summary: str = Field(min_length=1, max_length=72)
    """What the change does, imperative, as the subject of its commit."""
    tests: tuple[str, ...]
    """Paths of the test files, among those that are created or changed, that prove the change."""
    notes: str = ""
    """What a reviewer should know and the code does not say."""
    beyond_plan: tuple[BeyondPlan, ...] = ()
    """Files that are changed although the plan does not list them; empty when there are none."""
    missing_capability: str = ""
    """What the work needs that specification and interfaces do not allow; empty when nothing is missing."""


class ResolvedConflicts(ChangedFiles):
    """What stands where git could not merge two branches."""

    notes: str = ""
    """What a reviewer should know about a choice that was not obvious."""
    missing_capability: str = ""
    """What people have to choose between; empty when both sides can hold."""


class Criterion(Part):
    """One aspect that a review pass judges."""

    name: str = Field(min_length=1)
    passed: bool


# What the prompt of a review says of a finding is not said again in its schema.
class Suggestion(Part):
    """An exact fix."""

    first_line: int = Field(default=0, ge=0)
    last_line: int = Field(default=0, ge=0)
    replacement: str = ""


class Finding(Part):
    """One remark about one place in the change."""

    file: str = Field(min_length=1)
    line: int = Field(ge=0)
    severity: Severity
    criterion: str = Field(min_length=1)
    explanation: str = Field(min_length=1)
    suggestion: Suggestion = Suggestion()


class ReviewPass(Part):
    """The verdict of one review pass."""

    passed: bool
    """False exactly when a finding is blocking."""
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    findings: tuple[Finding, ...] = ()


class DividedPart(Part):
    """One of the issues into which another one is divided."""

    key: str = Field(pattern=r"^[A-Z][A-Z0-9]{0,3}$")
    title: str
    body: str
    """Markdown that stands alone."""
    done_when: tuple[str, ...]
    """What can be checked when it is done, each in one sentence."""
    depends_on: tuple[str, ...] = ()
    """Keys of the parts whose code this one needs."""
    covers: tuple[int, ...]
    """Numbers of the statements of the issue that it does something about."""


class Division(Part):
    """How an issue that is too large for one work item is divided into several."""

    parts: tuple[DividedPart, ...]
    background: tuple[int, ...] = ()
    """Numbers of the statements of the issue that ask for nothing."""
    indivisible: str = ""
    """Why the issue cannot be divided; empty when it can."""
    rationale: str
    """Why it is divided so, in two or three sentences."""


class ConditionReply(Part):
    """The answer to one question on which the way of a run depends."""

    answer: Literal["yes", "no", "unclear"]
    """`unclear` when the material does not settle the question."""
    reason: str = Field(min_length=1, max_length=600)
    """What in the material settles it, or what is missing, in one or two sentences."""
