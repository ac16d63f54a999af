import base64
import json
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from cogworks.errors import CogworksError, PermissionRefused, TryAgainLater
from cogworks.github.ledger_store import LedgerStore
from cogworks.ledger.record import Change, LedgerCommit, StaleTip, Tip, kept
from cogworks.unexpected import UnexpectedAnswer
from cogworks.vocabulary import CommitOid, IssueNumber
from tests.ledger.scripted import NOW, Answer, Problem, ScriptedClient

OLD = CommitOid("1" * 40)
NEW = CommitOid("2" * 40)
ROOT = CommitOid("9" * 40)
CHANGE = Change(
    headline="cogworks: spec claim [skip ci]", body="Visit: x\nSequence: 1", files={"state.json": "{ä}"}
)
STALE = Problem("STALE_DATA", 'Expected branch to point to "1111" but it did not.')


def store(*answers: Answer | CogworksError) -> tuple[LedgerStore, ScriptedClient]:
    client = ScriptedClient(list(answers))
    return LedgerStore(client, repository="octo-org/adder", repository_id="R_1", issue=IssueNumber(7)), client


def commit(message: str = CHANGE.message, **more: Any) -> dict[str, Any]:
    issue = {"state": "OPEN", "labels": {"nodes": [{"name": "cogworks:run"}]}}
    return {
        "oid": NEW,
        "message": message,
        "committedDate": "2026-01-02T03:04:00Z",
        "repository": {"issue": issue},
        **more,
    }


def moved(**more: Any) -> Answer:
    return Answer({"lease": {"commit": commit(**more)}})


def refused(*problems: Problem) -> Answer:
    return Answer({"lease": None}, problems)


def at_tip(message: str, **more: Any) -> Answer:
    return Answer({"repository": {"ledger": {"target": commit(message, **more)}}})


TOKEN = "ghp_" + "a1" * 18
MOVED = LedgerCommit(oid=NEW, echoed={}, issue_is_open=True, labels=frozenset({"cogworks:run"}))


def written_by(client: ScriptedClient) -> tuple[dict[str, str], dict[str, str]]:
    """The message and the files of the one commit that was asked for."""
    [(_, variables)] = client.asked
    told = variables["commit"]
    files = told["fileChanges"]["additions"]
    return told["message"], {each["path"]: base64.b64decode(each["contents"]).decode() for each in files}


@pytest.mark.parametrize("is_first", [True, False], ids=["create", "append"])
def test_no_token_is_written_in_a_file_or_a_message(is_first: bool) -> None:
    text = json.dumps(
        {"notes": f"a\n{TOKEN}", "quoted": json.dumps(f"\t{TOKEN}"), "own": "our-own-token-5f1c"}
    )
    leaking = Change(headline=f"h {TOKEN}", body=f"b\n{TOKEN}", files={"state.json": text})
    hidden = leaking.message.replace(TOKEN, "***")
    client = ScriptedClient([moved(message=hidden)])
    ledger = LedgerStore(
        client,
        repository="octo-org/adder",
        repository_id="R_1",
        issue=IssueNumber(7),
        hide=partial(kept, secrets=["our-own-token-5f1c"]),
    )

    moved_to = ledger.create(ROOT, leaking) if is_first else ledger.append(OLD, leaking)

    message, files = written_by(client)
    assert moved_to == MOVED
    assert message == {"headline": "h ***", "body": "b\n***"}
    assert json.loads(files["state.json"]) == {"notes": "a\n***", "quoted": '"\\t***"', "own": "***"}


def test_a_commit_without_the_secret_that_it_should_have_had_is_known_again_after_a_lost_answer() -> None:
    leaking = CHANGE.model_copy(update={"body": f"b {TOKEN}"})
    ledger, _ = store(TryAgainLater("lost"), at_tip(leaking.message.replace(TOKEN, "***")))

    assert ledger.append(OLD, leaking) == MOVED


def test_an_append_names_the_tip_it_builds_on_and_carries_its_files() -> None:
    ledger, client = store(moved())

    assert ledger.append(OLD, CHANGE) == MOVED

    [(document, variables)] = client.asked
    assert client.operations == ["Append"]
    assert "$p0" not in document
    assert variables == {
        "issue": 7,
        "commit": {
            "branch": {"repositoryNameWithOwner": "octo-org/adder", "branchName": "cogworks/ledger/7"},
            "expectedHeadOid": OLD,
            "message": {"headline": CHANGE.headline, "body": CHANGE.body},
            "fileChanges": {
                "additions": [{"path": "state.json", "contents": base64.b64encode("{ä}".encode()).decode()}]
            },
        },
    }


def test_files_and_folders_that_were_asked_back_come_with_the_answer() -> None:
    folder = {"entries": [{"name": "reply-1.json", "object": {"text": "r", "isTruncated": False}}]}
    ledger, client = store(
        moved(
            e0={"path": "a/output.json", "object": {"text": "o", "isTruncated": False}},
            e1={"path": "b", "object": folder},
            e2=None,
        )
    )

    done = ledger.append(OLD, CHANGE, echoes=["a/output.json", "b", "c"])

    assert done.echoed == {"a/output.json": "o", "b/reply-1.json": "r"}
    assert {name: client.asked[0][1][name] for name in ("p0", "p1", "p2")} == {
        "p0": "a/output.json",
        "p1": "b",
        "p2": "c",
    }


def test_a_file_that_github_cut_off_counts_as_missing() -> None:
    cut = {"path": "a", "object": {"text": "half", "isTruncated": True}}
    binary = {"path": "b", "object": {"text": None, "isTruncated": False}}
    ledger, _ = store(moved(e0=cut, e1=binary))

    assert ledger.append(OLD, CHANGE, echoes=["a", "b"]).echoed == {}


def test_a_closed_issue_is_told_by_the_answer() -> None:
    ledger, _ = store(moved(repository={"issue": {"state": "CLOSED", "labels": {"nodes": []}}}))

    assert ledger.append(OLD, CHANGE) == MOVED.model_copy(
        update={"issue_is_open": False, "labels": frozenset()}
    )


def test_a_first_claim_makes_branch_and_commit_from_the_root() -> None:
    ledger, client = store(moved())

    ledger.create(ROOT, CHANGE)

    assert client.operations == ["FirstClaim"]
    variables = client.asked[0][1]
    assert variables["ref"] == {"repositoryId": "R_1", "name": "refs/heads/cogworks/ledger/7", "oid": ROOT}
    assert variables["commit"]["expectedHeadOid"] == ROOT


def test_a_first_claim_whose_commit_passed_has_won_whoever_made_the_branch() -> None:
    exists = Problem("UNPROCESSABLE", "A ref named refs/heads/cogworks/ledger/7 already exists", ("ref",))
    ledger, _ = store(Answer({"ref": None, "lease": {"commit": commit()}}, [exists]))

    assert ledger.create(ROOT, CHANGE) == MOVED


@pytest.mark.parametrize(
    "problems",
    [[STALE], [Problem("UNPROCESSABLE", "A ref named refs/heads/x already exists"), STALE]],
    ids=["moved", "made-by-another-first-claim"],
)
def test_a_stale_head_is_refused_with_the_head_it_was_built_on(problems: list[Problem]) -> None:
    ledger, client = store(refused(*problems))

    with pytest.raises(StaleTip, match=r"branch 'cogworks/ledger/7' is no longer at 111111111111"):
        ledger.append(OLD, CHANGE)
    assert len(client.asked) == 1


def test_a_lost_answer_whose_commit_is_the_tip_is_a_success() -> None:
    ledger, client = store(
        TryAgainLater("no answer"), at_tip(CHANGE.message + "\n", e0={"object": {"text": "o"}})
    )

    assert ledger.append(OLD, CHANGE, echoes=["a"]) == MOVED.model_copy(update={"echoed": {"a": "o"}})
    assert client.operations == ["Append", "ReadBack"]
    assert client.asked[1][1] == {
        "owner": "octo-org",
        "name": "adder",
        "ledger": "refs/heads/cogworks/ledger/7",
        "issue": 7,
        "p0": "a",
    }


@pytest.mark.parametrize(
    "tip",
    [
        at_tip("cogworks: spec claim [skip ci]\n\nVisit: x\nSequence: 0"),
        Answer({"repository": {"ledger": None}}),
        Answer({"repository": None}, [Problem("NOT_FOUND", "gone")]),
    ],
    ids=["another-commit", "no-branch", "no-repository"],
)
def test_a_lost_answer_whose_commit_is_not_the_tip_stays_unknown(tip: Answer) -> None:
    ledger, _ = store(TryAgainLater("no answer"), tip)

    with pytest.raises(TryAgainLater, match="no answer"):
        ledger.append(OLD, CHANGE)


@pytest.mark.parametrize(
    "broken",
    [
        Problem("INTERNAL", "boom"),
        Problem("", "Something went wrong while executing your query. This may be a timeout."),
    ],
)
def test_a_breakdown_of_github_is_an_unknown_outcome_and_looked_up(broken: Problem) -> None:
    done, _ = store(refused(broken), at_tip(CHANGE.message))
    undone, client = store(refused(broken), at_tip("another"))

    assert done.append(OLD, CHANGE) == MOVED
    with pytest.raises(TryAgainLater, match="GitHub failed to write to branch 'cogworks/ledger/7'"):
        undone.append(OLD, CHANGE)
    assert client.operations == ["Append", "ReadBack"]


@pytest.mark.parametrize(
    ("problem", "kind", "hint"),
    [
        (
            Problem("FORBIDDEN", "Resource not accessible by integration"),
            PermissionRefused,
            "contents: write",
        ),
        (
            Problem("", "Resource not accessible by personal access token"),
            PermissionRefused,
            "contents: write",
        ),
        (
            Problem("UNPROCESSABLE", "Repository rule violations found: creations being restricted"),
            PermissionRefused,
            "Exempt `cogworks/ledger/*` from that ruleset",
        ),
        (Problem("UNPROCESSABLE", "Something else"), CogworksError, "report it if it stays"),
    ],
    ids=["integration", "personal-token", "ruleset", "unknown"],
)
def test_a_refusal_says_what_github_said_and_what_to_do(
    problem: Problem, kind: type[CogworksError], hint: str
) -> None:
    ledger, client = store(refused(problem))

    with pytest.raises(kind) as caught:
        ledger.append(OLD, CHANGE)

    assert type(caught.value) is kind
    assert problem.message in str(caught.value)
    assert hint in str(caught.value)
    assert len(client.asked) == 1


def test_an_answer_without_commit_and_without_reason_may_be_tried_again() -> None:
    ledger, _ = store(refused(), at_tip("another"))

    with pytest.raises(TryAgainLater, match="GitHub returned no commit"):
        ledger.append(OLD, CHANGE)


ODD: list[dict[str, Any]] = [
    {"lease": "yes"},
    {"lease": {"commit": 7}},
    {"lease": {"commit": {}}},
    {"lease": {"commit": {"oid": NEW, "repository": {"issue": {"labels": {"nodes": [None]}}}}}},
    {"lease": {"commit": {"oid": NEW, "repository": [1]}}},
    {"lease": {"commit": {"oid": NEW, "e0": {"object": {"entries": 3}}}}},
]


@pytest.mark.parametrize("data", ODD, ids=["text", "number", "empty", "no-label", "list", "no-entries"])
def test_a_write_whose_answer_has_an_odd_shape_is_looked_up_before_it_is_called_unknown(
    data: dict[str, Any],
) -> None:
    done, _ = store(Answer(data), at_tip(CHANGE.message))
    undone, client = store(Answer(data), at_tip("another"))

    assert done.append(OLD, CHANGE, echoes=["a"]) == MOVED
    with pytest.raises(TryAgainLater, match=r"unknown whether it was written|returned no commit"):
        undone.append(OLD, CHANGE, echoes=["a"])
    assert client.operations == ["Append", "ReadBack"]


@pytest.mark.parametrize(
    "data",
    [
        {"repository": 3},
        {"repository": {"ledger": "x"}},
        {"repository": {"ledger": {"target": {"oid": OLD, "history": None}}}},
        {
            "repository": {
                "ledger": {
                    "target": {"oid": OLD, "history": {"nodes": [{"message": "m", "committedDate": "soon"}]}}
                }
            }
        },
    ],
    ids=["number", "text", "no-history", "no-date"],
)
def test_a_tip_of_an_odd_shape_is_an_error_of_ours(data: dict[str, Any]) -> None:
    ledger, _ = store(Answer(data))

    with pytest.raises(UnexpectedAnswer, match=r"unexpected answer at repository\.ledger"):
        ledger.tip()


def test_a_read_back_of_an_odd_shape_is_an_error_of_ours() -> None:
    ledger, _ = store(TryAgainLater("no answer"), Answer({"repository": {"ledger": {"target": 5}}}))

    with pytest.raises(UnexpectedAnswer):
        ledger.append(OLD, CHANGE)


def test_the_tip_is_read_with_its_state_and_history() -> None:
    target = {
        "oid": OLD,
        "file": {"object": {"text": "{}", "isTruncated": False}},
        "history": {"nodes": [{"oid": OLD, "message": "m", "committedDate": "2026-01-02T03:03:00Z"}]},
    }
    ledger, client = store(Answer({"repository": {"ledger": {"target": target}}}))

    assert ledger.tip() == Tip(
        oid=OLD, state_text="{}", history=(("m", datetime(2026, 1, 2, 3, 3, tzinfo=UTC)),), server_date=NOW
    )
    assert client.operations == ["LedgerTip"]


def test_a_branch_that_does_not_exist_has_no_tip() -> None:
    ledger, _ = store(Answer({"repository": {"ledger": None}}))

    assert ledger.tip() is None


def test_a_tip_that_may_not_be_read_is_refused() -> None:
    ledger, _ = store(Answer({"repository": None}, [Problem("FORBIDDEN", "no")]))

    with pytest.raises(PermissionRefused, match="GitHub refused to read branch"):
        ledger.tip()
