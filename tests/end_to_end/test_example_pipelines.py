"""Every example pipeline, on a real hub from the issue to the end: a model server answers, the sample's own tests run."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from github.Repository import Repository

from cogworks.cli.graph import graph
from cogworks.demo.facts import sample_files
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.parser import built_in_pipelines, parse_pipelines
from tests.demo.rehearsal import CHARS_PER_TOKEN
from tests.end_to_end.scene import Scene, open_scene
from tests.model_server import ModelServer, Seen, replied

pytestmark = pytest.mark.timeout(300)  # seconds on a busy machine; usually a tenth of that

FOLDER = Path(__file__).parents[2] / "docs" / "examples" / "pipelines"
EXAMPLES = ("bugfix", "default", "documentation-only", "hotfix", "parallel-docs-code", "small")
MAX_RUNS = 10
MOST_TURNS, MOST_UNCACHED = 6, 40_000
"""Of a small bug in the sample repository where nothing goes wrong."""

PARSING = "src/hourglass/parsing.py"
FIXED = (
    sample_files()[PARSING].replace(r"(\d+)\s*", r"(\d+(?:\.\d+)?)\s*").replace("int(match", "float(match")
)
HOURS = """from datetime import timedelta

from hourglass import parse


def test_hours_may_have_decimals():
    assert parse("1.5h") == timedelta(minutes=90)
"""
DAYS = """

def test_days_may_have_decimals():
    assert parse("0.25 days") == timedelta(hours=6)
"""
SPECIFICATION = {"title": "Read decimals", "markdown": "# Read decimals\n\n- **R1** `1.5h` is 90 minutes.\n"}
PLAN: dict[str, Any] = {
    "sub_work_items": [
        {
            "key": "A",
            "title": "Read decimals",
            "description": "Let a number have decimals (R1).",
            "files": [PARSING, "tests/test_decimals.py"],
            "interfaces": [],
            "test_specification": "1.5h in tests/test_decimals.py",
            "acceptance_criteria": ["`1.5h` is 90 minutes"],
            "depends_on": [],
        }
    ]
}
PASSED = {"passed": True, "criteria": [{"name": "correctness", "passed": True}], "findings": []}
BLOCKED = {
    "passed": False,
    "criteria": [{"name": "tests", "passed": False}],
    "findings": [
        {
            "file": "tests/custom/test_decimals.py",
            "line": 6,
            "severity": "blocking",
            "criterion": "tests",
            "explanation": "Only hours are tested; test days as the issue has them.",
        }
    ],
}
NUMBERS = "# Numbers\n\n`1.5h` is an hour and a half.\n"
DOCUMENTATION = {
    "title": "Tell of decimals",
    "summary": "Numbers may have decimals after a point.",
    "comment": "The documentation now says which numbers are read.",
    "files": [{"path": "docs/numbers.md", "content": NUMBERS}],
}
FOLLOW_UP = {
    "issues": [
        {"title": "Refuse text that is not understood", "body": "`1h banana` is read as 1h.", "labels": []}
    ]
}
AUDIT = {"summary": "Safe: numbers are bounded by the pattern.", "findings": []}
YES = {"answer": "yes", "reason": "`parse` reads text out of job files."}


def classified(*, complexity: str = "low", pipeline: str = "default") -> dict[str, Any]:
    return {
        "type": "bug_fix",
        "affected_modules": [PARSING],
        "component_tags": [],
        "language": "python",
        "estimated_scope": {"files": 2, "interfaces": 0, "complexity": complexity},
        "safety_affecting": False,
        "pipeline": pipeline,
        "rationale": "A wrong result.",
        "says_what_is_right": "I'd expect `1.5h` to be an hour and a half.",
        "questions": [],
    }


def code(text: str) -> dict[str, Any]:
    """The fix with its tests in one answer."""
    return {
        "summary": "Read decimals",
        "files": [
            {"path": PARSING, "action": "modify", "content": FIXED},
            {
                "path": "tests/test_decimals.py",
                "action": "create",
                "content": text,
            },
        ],
        "tests": ["tests/test_decimals.py"],
        "notes": "",
        "missing_capability": "",
    }


CUSTOM = "tests/custom/test_decimals.py"
"""Not where the plan has the tests."""


def written(text: str, *, is_there: bool = False) -> dict[str, Any]:
    """What the writer of tests answers."""
    return {
        "test_path": CUSTOM,
        "extra_paths": [],
        "files": [{"path": CUSTOM, "action": "modify" if is_there else "create", "content": text}],
        "notes": "",
        "missing_capability": "",
    }


IMPLEMENTED = {
    "summary": "Read decimals",
    "files": [{"path": PARSING, "action": "modify", "content": FIXED}],
    "notes": "",
    "test_dispute": {"test_id": "", "reason": ""},
    "missing_capability": "",
}


def pipeline_of(name: str) -> Pipeline:
    text = (FOLDER / f"{name}.toml").read_text("utf-8")
    return parse_pipelines(text, source=name).pipelines[name]


@dataclass
class Stand:
    """A hub where an example is the repository's own pipeline, and a model that was told what to answer."""

    scene: Scene
    server: ModelServer
    passed_by_a_person: list[str] = field(default_factory=list)
    """The gates, in the order in which they were come to."""

    @property
    def model(self) -> dict[str, str]:
        """What makes a process ask the server."""
        return {
            "COGWORKS_LLM_PROVIDER": "anthropic",
            "COGWORKS_LLM_API_KEY": "a-key-of-these-tests",
            "COGWORKS_LLM_BASE_URL": self.server.url,
        }

    @property
    def repository(self) -> Repository:
        """As its person may change it."""
        return self.scene.repository

    def play(self) -> None:
        """Work on the item until it is done; a person merges or pastes whatever is waited for."""
        for _ in range(MAX_RUNS):
            ended = self.scene.cogworks("run", "--json", **self.model)
            assert ended.code == 0, ended.err
            if ended.told["outcome"] == "done":
                return
            for wait in ended.told["waiting_for"]:
                self._pass(wait)
        pytest.fail(f"not done after {MAX_RUNS} runs; gates passed: {self.passed_by_a_person}")

    def _pass(self, wait: Mapping[str, Any]) -> None:
        at = f"{wait['node']}@{wait['sub_item']}" if wait.get("sub_item") else wait["node"]
        self.passed_by_a_person.append(f"{wait['kind']} {at}")
        if wait["kind"] == "merge":
            self.scene.person.merge(int(wait["number"]))
        else:
            self.scene.repository.get_issue(1).create_comment(wait["paste"])

    @property
    def visited(self) -> list[str]:
        """Every visit in order; all must have succeeded."""
        visits = self.scene.visits()
        assert {status for *_, status, _ in visits} == {"succeeded"}
        assert (self.scene.state()["status"], self.scene.cogworks("fsck").code) == ("done", 0)
        return [f"{node}@{sub_item}" if sub_item else node for node, sub_item, *_ in visits]

    @property
    def pulls(self) -> list[tuple[str, str, str]]:
        """Branch, title and state of every pull request."""
        found = self.scene.seen()["pullRequests"]["nodes"]
        return [(pull["headRefName"], pull["title"], pull["state"]) for pull in found]

    @property
    def issues(self) -> list[str]:
        return [issue["title"] for issue in self.scene.seen()["issues"]["nodes"]][1:]


@contextmanager
def standing(
    directory: Path, text: str, *replies: Mapping[str, Any], tests_first: bool = False
) -> Iterator[Stand]:
    with open_scene(directory) as scene, ModelServer() as server:
        for path in sorted([*FOLDER.glob("prompts/*"), *FOLDER.glob("schemas/*")]):
            if path.stem.removesuffix(".md") in text or path.stem.startswith("_"):
                scene.write(f".cogworks/{path.relative_to(FOLDER).as_posix()}", path.read_text("utf-8"))
        scene.write(".cogworks/pipeline.toml", text or None)
        if not tests_first:
            scene.let_tests_come_with_the_code()
        scene.person.set_trigger()
        server.answers(*(replied(json.dumps(reply)) for reply in replies))
        yield Stand(scene, server)
        assert len(server.seen) == len(replies)


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.toml").read_text("utf-8")


def test_there_are_six_examples() -> None:
    assert tuple(sorted(path.stem for path in FOLDER.glob("*.toml"))) == EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_checked_without_a_warning(name: str) -> None:
    checked = CliRunner().invoke(graph, ["check", str(FOLDER / f"{name}.toml")], catch_exceptions=False)

    assert (checked.exit_code, checked.stderr) == (0, "")


@pytest.mark.parametrize("name", ["default", "small"])
def test_an_example_is_the_pipeline_that_is_built_in_under_its_name(name: str) -> None:
    built_in = built_in_pipelines().pipelines[name]
    example = pipeline_of(name)

    assert (example.graph_hash, example) == (built_in.graph_hash, built_in)


@pytest.mark.slow
def test_a_bug_is_fixed_in_two_rounds_and_nobody_is_asked(tmp_path: Path) -> None:
    replies = (classified(), SPECIFICATION, PLAN, written(HOURS), IMPLEMENTED, BLOCKED, PASSED, PASSED)
    # The review misses a test and nothing else, so only the writer of the tests is asked again.
    again = (written(HOURS + DAYS, is_there=True), PASSED, PASSED, PASSED)
    with standing(tmp_path, text_of("bugfix"), *replies, *again, tests_first=True) as stand:
        stand.play()

        assert stand.visited == [
            "intake",
            "specify",
            "planning",
            "code_generation@A",
            "review@A",
            "code_generation@A",
            "review@A",
            "integration@A",
        ]
        assert stand.passed_by_a_person == []
        assert stand.pulls == [("cogworks/1/swi-1", "Read decimals", "OPEN")]
        assert stand.issues == ["Read decimals"]
        assert stand.scene.file(CUSTOM, branch="cogworks/1/swi-1") == HOURS + DAYS
        first, second = (
            output_of(stand.scene, name)["test_handoff"]
            for name in ("0004-code_generation@2", "0006-code_generation@2")
        )
        assert (first["test_path"], first["source"]) == (CUSTOM, "reported")
        assert first["red"] == {"collected": 1, "failed": 1, "passed": 0, "missing": [], "failing_before": []}
        assert first["test_ids"] == [f"{CUSTOM}::test_hours_may_have_decimals"]
        assert second["test_ids"] == [*first["test_ids"], f"{CUSTOM}::test_days_may_have_decimals"]
        assert (second["sub_work_item"], second["attempt"]) == (2, 1)
        subjects = stand.scene.git("log", "--format=%s", "main..cogworks/1/swi-1").splitlines()
        subject = "Add tests: Read decimals"
        assert subjects == [subject, "Read decimals", subject]
        [pull] = stand.scene.seen()["pullRequests"]["nodes"]
        assert pull["body"].startswith(
            "Closes #2. Closes #1<!-- the last part -->.\n\nRead decimals.\n\n"
            "<details><summary>What was asked for</summary>\n\nLet a number have decimals (R1)."
        )


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["small", "auto"])
def test_a_small_bug_is_fixed_in_four_turns_and_one_pull_request_that_closes_the_issue(
    tmp_path: Path, lane: str
) -> None:
    replies = (classified(), written(HOURS), IMPLEMENTED, PASSED)
    # The built-in pipeline of that name, chosen as people choose it.
    with standing(tmp_path, "", *replies, tests_first=True) as stand:
        stand.scene.repository.get_issue(1).add_to_labels(f"cogworks:lane:{lane}")
        stand.play()

        assert stand.scene.state()["pipeline"] == "small"

        assert stand.visited == ["intake", "code_generation", "review", "integration"]
        assert len(stand.server.seen) == 4 <= MOST_TURNS
        tokens = tokens_of(stand.server.seen)
        assert sum(tokens) <= MOST_UNCACHED, tokens
        assert (stand.passed_by_a_person, stand.issues) == ([], [])
        assert stand.pulls == [("cogworks/1/change", "Read decimals", "OPEN")]
        [pull] = stand.scene.seen()["pullRequests"]["nodes"]
        assert pull["baseRefName"] == "main"
        assert pull["body"].startswith("Closes #1<!-- the last part -->.\n\nRead decimals.")
        assert stand.scene.file(PARSING, branch="cogworks/1/change") == FIXED
        assert "No specification and no plan were written for this issue" in json.dumps(
            stand.server.seen[1].body
        )
        stand.scene.person.merge(1 + 1)
        stand.scene.cogworks("run", "--json", **stand.model)
        assert stand.scene.repository.get_issue(1).state == "closed"


WIDER = FIXED.replace("def parse(text: str)", 'def parse(text: str, mark: str = ".")')
WIDE = {
    **IMPLEMENTED,
    "files": [{"path": PARSING, "action": "modify", "content": WIDER}],
    "notes": "It needs a mark.",
}
SPECIFIED = {
    "title": "Read decimals",
    "markdown": SPECIFICATION["markdown"],
    "affected_modules": [{"name": PARSING, "new": False}],
    "public_names": ["hourglass.parse"],
    "requirements": [{"id": "R1", "text": "`1.5h` is 90 minutes.", "section": "Read decimals"}],
}
CONTRACTS = "src/hourglass/contracts.py"
DESIGNED = {
    "files": [
        {"path": CONTRACTS, "action": "create", "content": 'class Mark(str):\n    """A decimal mark."""\n'}
    ],
    "interfaces": [{"name": "Mark", "path": CONTRACTS, "purpose": "The decimal mark."}],
}
DIVIDED = {"sub_work_items": [{**PLAN["sub_work_items"][0], "interfaces": ["Mark"]}]}


@pytest.mark.slow
def test_work_that_changes_a_signature_moves_up_and_goes_the_whole_way_with_what_it_learnt(
    tmp_path: Path,
) -> None:
    short = (classified(), written(HOURS), WIDE)
    whole = (SPECIFIED, DESIGNED, DIVIDED, written(HOURS), WIDE, PASSED, PASSED, PASSED)
    with standing(tmp_path, "", *short, *whole, tests_first=True) as stand:
        stand.scene.repository.get_issue(1).add_to_labels("cogworks:lane:small")
        stand.play()

        state = stand.scene.state()
        why = (
            "the change alters public interfaces, which `small` leaves as they are: `hourglass.parsing.parse`"
        )
        assert (state["pipeline"], state["moved_up"]) == ("default", {"why": why, "after": 2})
        assert stand.visited == [
            "intake",
            "code_generation",
            "architecture",
            "interface_design",
            "planning",
            "code_generation@A",
            "review@A",
            "integration@A",
        ]
        # Nothing of the short way was published, and nobody was asked what Intake knew already.
        assert [branch for branch, *_ in stand.pulls] == [
            "cogworks/1/spec",
            "cogworks/1/interfaces",
            "cogworks/1/swi-1",
        ]
        assert "cogworks/1/change" not in stand.scene.git("branch", "--list", "--all")
        architecture, *_, coder = (json.dumps(stand.server.seen[at].body) for at in (3, 7))
        assert "was taken for a small bug at first" in architecture
        assert all(said in architecture for said in ("It needs a mark.", "+def parse(text: str, mark"))
        assert "was taken for a small bug at first" not in coder
        assert f"**Lane:** `default`, moved up from `small`: {why}." in comments(stand.scene)


NO_INTERFACES = {"files": [], "interfaces": [], "notes": "Only what `parse` reads changes."}


@pytest.mark.slow
def test_where_no_interface_changes_people_pass_the_specification_alone(tmp_path: Path) -> None:
    # Not so simple that the rule would choose the short way.
    replies = (classified(complexity="medium"), SPECIFIED, NO_INTERFACES, PLAN, written(HOURS), IMPLEMENTED)
    with standing(tmp_path, "", *replies, PASSED, PASSED, PASSED, tests_first=True) as stand:
        stand.play()

        assert stand.passed_by_a_person == ["review architecture"]
        assert [branch for branch, *_ in stand.pulls] == ["cogworks/1/spec", "cogworks/1/swi-1"]
        assert stand.visited == [
            "intake",
            "architecture",
            "interface_design",
            "planning",
            "code_generation@A",
            "review@A",
            "integration@A",
        ]
        assert "no public interface changes: Only what `parse` reads changes." in comments(stand.scene)
        assert CONTRACTS not in stand.scene.git("ls-tree", "-r", "--name-only", "main")


@pytest.mark.slow
def test_findings_of_a_review_of_the_whole_issue_reach_whoever_wrote_it(tmp_path: Path) -> None:
    first = (classified(), written(HOURS), IMPLEMENTED, BLOCKED)
    again = (written(HOURS + DAYS, is_there=True), PASSED)
    with standing(tmp_path, text_of("small"), *first, *again, tests_first=True) as stand:
        stand.play()

        visited = ["intake", "code_generation", "review", "code_generation", "review", "integration"]
        assert stand.visited == visited
        assert "test days as the issue has them" in json.dumps(stand.server.seen[4].body)
        assert stand.scene.file(CUSTOM, branch="cogworks/1/change") == HOURS + DAYS


@pytest.mark.slow
def test_documentation_is_written_checked_and_accepted_by_a_person(tmp_path: Path) -> None:
    with standing(tmp_path, text_of("documentation-only"), classified(), DOCUMENTATION) as stand:
        stand.play()

        assert stand.visited == ["intake", "document", "check", "accept", "tell"]
        assert output_of(stand.scene, "0003-check")["passed"] is True
        assert stand.passed_by_a_person == ["merge accept"]
        assert stand.pulls == [("cogworks/1/docs", "Tell of decimals", "MERGED")]
        assert stand.issues == []
        assert stand.scene.file("docs/numbers.md") == NUMBERS
        assert comments(stand.scene).count(str(DOCUMENTATION["comment"])) == 1


@pytest.mark.slow
def test_of_three_pipelines_in_one_file_intake_chooses_the_hotfix(tmp_path: Path) -> None:
    together = 'default = "bugfix"\n\n' + "\n".join(map(text_of, ("bugfix", "hotfix", "documentation-only")))
    chosen = classified(pipeline="hotfix")
    with standing(tmp_path, together, chosen, SPECIFICATION, PLAN, code(HOURS), FOLLOW_UP) as stand:
        stand.play()

        asked = json.dumps(stand.server.seen[0].body)
        assert all(f"- `{name}`: " in asked for name in ("bugfix", "hotfix", "documentation-only"))
        state = stand.scene.state()
        assert (state["pipeline"], state["graph_hash"]) == ("hotfix", pipeline_of("hotfix").graph_hash)
        assert stand.visited == [
            "intake",
            "specify",
            "planning",
            "code_generation@A",
            "simulate@A",
            "publish@A",
            "follow_ups",
        ]
        assert stand.passed_by_a_person == ["merge publish@A"]
        assert stand.pulls == [("cogworks/1/swi-1", "Hotfix for #1", "MERGED")]
        assert stand.scene.file(PARSING) == FIXED
        suite = output_of(stand.scene, "0005-simulate@2")  # 2 is the sub-issue
        assert (suite["passed"], suite["failures"], suite["tests"]["failed"]) == (True, [], 0)
        assert suite["tests"]["passed"] > 1
        follow_up = stand.scene.seen()["issues"]["nodes"][-1]
        assert (follow_up["title"], follow_up["labels"]["nodes"]) == (
            "Refuse text that is not understood",
            [{"name": "follow-up"}],
        )
        assert follow_up["body"].endswith("Follow-up of #1.")


@pytest.mark.slow
def test_code_and_documentation_go_side_by_side_and_a_model_calls_for_the_audit(tmp_path: Path) -> None:
    replies = (
        classified(complexity="medium"),
        DOCUMENTATION,
        SPECIFICATION,
        PLAN,
        code(HOURS),
        PASSED,
        PASSED,
        PASSED,
        YES,
        AUDIT,
    )
    with standing(tmp_path, text_of("parallel-docs-code"), *replies) as stand:
        stand.play()

        assert stand.visited == [
            "intake",
            "document",
            "specify",
            "planning",
            "code_generation@A",
            "review@A",
            "review-routing@A",
            "security_audit@A",
            "integration@A",
            "tell",
        ]
        assert stand.passed_by_a_person == ["merge document", "approval specify", "approval security_audit@A"]
        assert stand.pulls == [
            ("cogworks/1/docs", "Tell of decimals", "MERGED"),
            ("cogworks/1/swi-1", "Read decimals", "OPEN"),
        ]
        assert stand.scene.state()["marks"]["security_audit_to_integration@A"] == "taken"
        # 3 is the sub-issue: 1 is the issue and 2 the pull request of the documentation.
        back, audit, onward = decided(stand.scene, "0007-review-routing@3")
        assert [(edge["edge_id"], edge["result"], edge["evaluator"]["kind"]) for edge in (back, onward)] == [
            ("review_to_code_generation", False, "Deterministic"),
            ("review_to_integration", True, "Deterministic"),
        ]
        assert (audit["edge_id"], audit["result"]) == ("review_to_security_audit", True)
        assert audit["evaluator"] == {"kind": "Composite", "model_id": "claude-sonnet-5-5"}
        assert audit["input_snapshot"] == {
            "classification.safety_affecting": False,
            "review.passed": True,
        }
        assert [(told["answer"], told["why"], told["fallback"]) for told in audit["answers"]] == [
            (True, YES["reason"], "")
        ]
        assert comments(stand.scene).count(str(DOCUMENTATION["comment"])) == 1


def tokens_of(seen: Sequence[Seen]) -> list[int]:
    """Of each request, estimated from its length as if nobody cached anything."""
    return [len(json.dumps(each.body, ensure_ascii=False)) // CHARS_PER_TOKEN for each in seen]


def comments(scene: Scene) -> str:
    issue = scene.seen()["issues"]["nodes"][0]
    return "\n".join(comment["body"] for comment in issue["comments"]["nodes"])


def output_of(scene: Scene, visit: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(scene.git("show", f"cogworks/ledger/1:visits/{visit}/output.json"))
    return found


def decided(scene: Scene, visit: str) -> list[dict[str, Any]]:
    """Every edge that was looked at, as the ledger has it."""
    kept: list[dict[str, Any]] = json.loads(scene.git("show", f"cogworks/ledger/1:visits/{visit}/edges.json"))
    return kept
