import pytest

from cogworks.domain_services.messages import Diagnostic
from cogworks.forge.effects import CommitFiles, FileText, OpenPullRequest
from cogworks.llm.prompts import delimited
from cogworks.nodes.contract import Failed, Outcome, Succeeded
from cogworks.nodes.registry import procedure_for
from cogworks.nodes.task import Conventions, NodeTask
from cogworks.pipeline.graph import Node
from cogworks.vocabulary import BranchName, Severity
from tests.fakes import MemoryWorkspace, ScriptedService
from tests.nodes.declared import PROMPT, Desk, asked, declared, desk, files
from tests.nodes.examples import FILES, KEY, report, task
from tests.packs.declared import frozen, pack

NOTE = declared(prompt="note", schema="note", inputs=["plan"])
WRITER = declared(prompt="note", schema="written", inputs=["plan"], slug="note", produces_code=True)
DOCUMENT = {"path": "docs/note.md", "content": "# Note\n"}


def run(node: Node, at: Desk, given: NodeTask | None = None) -> Outcome:
    procedure = procedure_for(node, files(), {})
    assert procedure is not None
    return procedure(given or task("note", inputs={"plan": {"steps": ["one"]}}), at)


def test_the_answer_that_fits_the_repositorys_schema_is_the_output() -> None:
    at = desk({"summary": "All is said."})

    outcome = run(NOTE, at)

    assert outcome == Succeeded(output={"summary": "All is said."}, summary="All is said.")
    assert [request.purpose for request in at.provider.requests] == ["note-1"]


def test_issue_and_inputs_stand_between_delimiters() -> None:
    at = desk({"summary": "x"})

    run(NOTE, at)

    [question] = asked(at)
    assert delimited('{\n  "steps": [\n    "one"\n  ]\n}', "plan") in question
    assert delimited("add() subtracts", "title of the issue") in question


def test_what_a_prompt_of_the_repository_shows_is_handed_on_for_the_record() -> None:
    showing = files(prompts__note=f'{PROMPT}{{% include "_repository.md.j2" %}}\n')
    plain, looking = desk({"summary": "x"}), desk({"summary": "x"}, brought=showing)

    run(NOTE, plain)
    procedure = procedure_for(NOTE, showing, {})
    assert procedure is not None
    procedure(task("note", inputs={"plan": {"steps": ["one"]}}), looking)

    assert plain.provider.requests[0].shown == ()
    [first, *_] = looking.provider.requests[0].shown
    assert (first["path"], first["level"]) == ("src/adder/adding.py", "whole")
    assert FILES["src/adder/adding.py"] in asked(looking)[0]


def test_an_answer_that_does_not_fit_goes_back_with_its_problems() -> None:
    at = desk({"summery": "x"}, {"summary": "right"})

    assert run(NOTE, at) == Succeeded(output={"summary": "right"}, summary="right")
    assert "'summary' is a required property" in at.provider.requests[1].messages[-1].text


def test_files_become_a_commit_and_a_pull_request_on_the_nodes_branch() -> None:
    outcome = run(WRITER, desk({"files": [DOCUMENT]}))

    assert isinstance(outcome, Succeeded)
    assert outcome.effects == (
        CommitFiles(
            branch=BranchName("cogworks/7/spec"),
            base=BranchName("main"),
            files=(FileText(path="docs/note.md", text="# Note\n"),),
            headline="Note for #7",
            visit_key=KEY,
        ),
        OpenPullRequest(
            slug="note",
            head=BranchName("cogworks/7/spec"),
            base=BranchName("main"),
            title="Note for #7",
            body="Part of #7.\n\n### Files\n\n- `docs/note.md`",
        ),
    )


def test_the_pull_request_lists_the_packs_that_were_looked_at() -> None:
    given = task("note", inputs={"plan": {"steps": ["one"]}}, packs=frozen(pack("careful")))

    outcome = run(WRITER, desk({"files": [DOCUMENT]}), given)

    assert isinstance(outcome, Succeeded)
    [opened] = [each for each in outcome.effects if isinstance(each, OpenPullRequest)]
    assert "### Context packs\n\n- `careful` (of this repository): applies, language python" in opened.body
    assert "Read at cccccccccccc" in opened.body


def test_without_a_slug_nothing_is_published() -> None:
    node = declared(prompt="note", schema="written", inputs=["plan"], produces_code=True)

    assert run(node, desk({"files": [DOCUMENT]})) == Succeeded(
        output={"files": [DOCUMENT]}, summary="answered with files"
    )


def test_what_the_service_finds_goes_back_and_leaves_no_trace() -> None:
    bad = {"path": "docs/note.md", "content": "bad"}
    found = Diagnostic(
        artifact="docs/note.md", line=3, severity=Severity.BLOCKING, category="syntax_error", message="no"
    )
    copy = MemoryWorkspace(FILES)
    service = ScriptedService(
        lambda _: report(), lambda place, _: [found] if place.read("docs/note.md") == "bad" else []
    )
    node = WRITER.model_copy(update={"validation": "domain-service"})
    at = desk({"files": [bad]}, {"files": [DOCUMENT]}, service=service, copy=copy)

    outcome = run(node, at)

    assert isinstance(outcome, Succeeded)
    assert outcome.output == {"files": [DOCUMENT]}
    assert "docs/note.md:3: no" in asked(at)[1]
    assert copy.tree == FILES


def test_a_path_outside_the_repository_is_refused_until_the_retries_are_used_up() -> None:
    outside = {"files": [{"path": "../x", "content": ""}]}

    given = task("note", inputs={"plan": {}}, conventions=Conventions(max_answers=2))
    outcome = run(WRITER, desk(outside, outside), given)

    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith("note: none of 2 answers of the model was usable.")


def test_a_protected_path_ends_the_node_for_a_person() -> None:
    outcome = run(WRITER, desk({"files": [{"path": ".cogworks/config.toml", "content": ""}]}))

    assert isinstance(outcome, Failed)
    assert outcome.category == "refused_change"


@pytest.mark.parametrize("gone", ["prompts/note.md.j2", "schemas/note.json"])
def test_a_file_that_went_away_is_named(gone: str) -> None:
    left = {path: text for path, text in files().items() if path != gone}

    with pytest.raises(Exception, match=f"`.cogworks/{gone}` is gone"):
        procedure_for(NOTE, left, {})
