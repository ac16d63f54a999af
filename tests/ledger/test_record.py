import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.ledger.record import (
    LedgerUnreadable,
    as_kept,
    change_for,
    kept,
    ledger_branch,
    output_as_kept,
    output_sha256,
    read_state,
    reply_files,
    state_text,
    visit_files,
)
from cogworks.pipeline.people import Inputs
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState, SubItem
from cogworks.vocabulary import IssueNumber, SubItemKey
from tests.pipeline.runs import finished, lease, new_run, visit

BRANCH = "cogworks/ledger/7"
texts = st.text(max_size=40)
states = st.builds(
    new_run,
    issue_digest=texts,
    kind=texts,
    is_safety_critical=st.booleans(),
    marks=st.dictionaries(texts, st.sampled_from(["taken", "not_taken", "dead"]), max_size=4),
    traversals=st.dictionaries(texts, st.integers(0, 20), max_size=3),
    identities=st.lists(st.integers(0, 2**53), max_size=3).map(tuple),
    inputs=st.builds(Inputs, last_comment_id=st.integers(0, 2**53), last_label_event_id=texts),
    sub_items=st.none()
    | st.lists(
        st.builds(SubItem, key=texts.map(SubItemKey), ordinal=st.integers(1, 99), title=texts), max_size=3
    ).map(tuple),
)


@given(states)
def test_a_state_is_read_back_as_it_was_written(state: RunState) -> None:
    text = state_text(state)

    assert read_state(text, branch=BRANCH) == state
    assert state_text(read_state(text, branch=BRANCH)) == text


TOKEN = "ghp_" + "a1" * 18


def test_a_state_with_a_token_is_the_one_that_will_be_read_back() -> None:
    state = new_run(kind=f"a\n{TOKEN}")

    assert as_kept(state) == new_run(kind="a\n***")
    assert as_kept(as_kept(state)) == as_kept(state)
    assert kept(state_text(state)) == state_text(as_kept(state))


def test_the_digest_of_an_output_is_that_of_the_file_that_people_compare_it_with() -> None:
    output = output_as_kept({"notes": f"see {TOKEN}"})

    assert output == {"notes": "see ***"}
    state = new_run()
    files = visit_files(state, visit(state, "spec"), output)
    [text] = [text for path, text in files.items() if path.endswith("/output.json")]
    assert kept(text) == text
    assert output_sha256(output) == hashlib.sha256(text.encode()).hexdigest()


def test_equal_states_have_one_text_with_a_field_a_line() -> None:
    one = new_run(marks={"b": "taken", "a": "dead"})
    other = new_run(marks={"a": "dead", "b": "taken"})

    assert state_text(one) == state_text(other)
    assert ' "schema_version": "1",\n' in state_text(one)
    assert state_text(one).endswith("}\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"schema_version": "2"}', "has schema version '2'; this cogworks reads '1'"),
        ("{}", "has schema version None"),
        ("[]", "has schema version None"),
        (
            '{"schema_version": "1", "issue": "many"}',
            "does not have the expected shape at: graph_hash, issue, issue_digest, pipeline,",
        ),
        (json.dumps({**json.loads(state_text(new_run())), "extra": 1}), "expected shape at: extra."),
    ],
    ids=["empty", "cut-off", "too-deep", "newer", "no-version", "a-list", "fields-missing", "field-unknown"],
)
def test_a_ledger_that_cannot_be_understood_is_refused_with_its_place_and_the_way_out(
    text: str, message: str
) -> None:
    with pytest.raises(LedgerUnreadable) as caught:
        read_state(text, branch=BRANCH)

    said = str(caught.value)
    assert said.startswith("`state.json` on branch `cogworks/ledger/7` ")
    assert message in said
    assert "nothing was written" in said
    assert caught.value.exit_code == 2


def test_a_change_carries_the_visit_and_ends_in_its_trailers() -> None:
    state = finished(new_run(), "spec", "plan")
    held = lease(state, "code@A", attempt=2)

    change = change_for(state, held, "succeeded", {"a.txt": "A\n"}, sequence=3, waits_for="merge 31@abc")

    assert change.headline == "cogworks: code@A succeeded [skip ci]"
    assert change.body.splitlines() == [
        f"Visit: {held.visit_key}",
        "Run: run-1",
        "Holder: ann:1",
        "Attempt: 2",
        "Sequence: 3",
        "",
        "Cogworks-Waits-For: merge 31@abc",
        "skip-checks: true",
    ]
    assert change.files == {"state.json": state_text(state), "a.txt": "A\n"}
    assert change.message == f"{change.headline}\n\n{change.body}"


def test_a_change_that_waits_for_nobody_says_nothing_of_it() -> None:
    held = lease(new_run(), "spec")

    assert "Waits-For" not in change_for(new_run(), held, "claim", {}, sequence=0).body


@pytest.mark.parametrize(("output", "there"), [({"a": 1}, True), ({}, True), (None, False)])
def test_a_finished_visit_leaves_its_record_and_what_it_produced(
    output: dict[str, Any] | None, there: bool
) -> None:
    state = finished(new_run(), "spec", "plan")
    done = visit(state, "code@A", spend=Spend(cost_usd=0.5))

    files = visit_files(state, done, output)

    assert json.loads(files["visits/0003-code@21/visit.json"]) == done.model_dump(mode="json")
    assert ("visits/0003-code@21/output.json" in files) is there


def test_replies_are_numbered_within_their_visit() -> None:
    assert reply_files("visits/0001-spec", 2, {"text": "ä"}, {}) == {
        "visits/0001-spec/reply-2.json": '{\n "text": "ä"\n}\n',
        "visits/0001-spec/manifest-2.json": "{}\n",
    }


def test_every_item_has_a_branch_of_its_own() -> None:
    assert ledger_branch(IssueNumber(42)) == "cogworks/ledger/42"
