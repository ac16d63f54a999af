from dataclasses import replace
from datetime import UTC, datetime

import pytest
from markdown_it import MarkdownIt

from cogworks.forge.bodies import MAX_BODY_CHARS, STATUS_TOPIC, marked, text_below_marker
from cogworks.forge.effects import EditComment, SetLabels
from cogworks.forge.facts import Comment
from cogworks.forge.surface import (
    Surface,
    comment_difference,
    differences,
    is_status_lost,
    problem_comment,
    project,
)
from cogworks.ledger.record import state_text
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.parser import built_in_pipelines
from cogworks.pipeline.people import CommentRef
from cogworks.pipeline.position import Standing
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState, SubItem, first_visit_key
from cogworks.pipeline.transitions import settle
from cogworks.settings.config import parse_config
from cogworks.vocabulary import NodeId, SubItemKey
from tests.pipeline.graphs import pipeline
from tests.pipeline.runs import GRAPH, MERGED_SPEC, URL, facts, finished, lease, new_run, pull, visit
from tests.world import ANN, BOT, CONFIG, World

CONFIGURED = parse_config(CONFIG)
STATUS = CommentRef(node_id="C_1", database_id=1)
SHIPPED = ("spec", "plan", "code@A", "review@A", "ship@A")
PULLS = (MERGED_SPEC, pull(41), pull(42))


def surface(state: RunState, known: Facts) -> Surface:
    return project(Standing(state, known, GRAPH), CONFIGURED)


def with_status(state: RunState) -> RunState:
    return state.model_copy(update={"status_comment": STATUS})


def world_showing(state: RunState, body: str | None, *labels: str) -> World:
    """An issue with these labels and this status comment, whose ledger knows the state."""
    world = World(labels=["cogworks:run", "bug", *labels])
    world.empty_ledger()
    world.files["state.json"] = state_text(state)
    if body is not None:
        shown = marked(body, visit_key=first_visit_key(state), topic=STATUS_TOPIC, revision=state.revision)
        world.comments.append(comment(1, shown))
    return world


def comment(number: int, body: str) -> Comment:
    return Comment(
        node_id=f"C_{number}",
        database_id=number,
        author=BOT,
        body=body,
        created_at=datetime(2026, 1, 2, tzinfo=UTC),
        edited=False,
        viewer_did_author=True,
    )


def test_the_same_state_and_facts_give_the_same_surface_also_when_the_state_was_read_back() -> None:
    state = finished(new_run(marks={"z": "taken", "a": "dead"}), *SHIPPED)
    reread = RunState.model_validate_json(state_text(state))

    assert surface(state, facts(*PULLS)) == surface(reread, facts(*PULLS))


def items(count: int) -> tuple[SubItem, ...]:
    return tuple(SubItem(key=SubItemKey(f"K{at}"), ordinal=at, title="k") for at in range(1, count + 1))


def test_a_picture_with_more_than_github_draws_has_one_box_for_all_sub_work_items() -> None:
    drawn = {
        count: surface(new_run(sub_items=items(count)), facts()).comment.count("subgraph")
        for count in (100, 200)
    }

    assert drawn == {100: 100, 200: 1}


def test_a_graph_that_github_does_not_draw_is_told_of_instead() -> None:
    fan = " ".join(f"n{at}" for at in range(501))
    wide = pipeline(f"&a {fan}", " ".join(f"a>{to}" for to in fan.split()))

    comment = project(Standing(new_run(wide), facts(), wide), CONFIGURED).comment

    assert "```mermaid" not in comment
    assert f"`cogworks graph {URL} --format dot` prints it" in comment


def test_leases_do_not_change_the_comment_but_for_the_picture() -> None:
    state = finished(new_run(identities=(1,)), "spec", "plan")
    leased = state.with_lease(lease(state, "code@A"), identity=1)

    before, during = (surface(each, facts(*PULLS)) for each in (state, leased))

    assert before.labels == during.labels
    assert before.comment.split("State digest")[1] == during.comment.split("State digest")[1]


def test_a_run_that_waits_says_who_has_to_do_what() -> None:
    shown = surface(finished(new_run(), "spec"), facts(pull(31)))

    assert shown.labels == {"cogworks:node:spec", "cogworks:awaiting-review"}
    assert shown.comment.startswith(
        "### cogworks · waiting for a person\n\n"
        "- **Waiting:** merge or approve pull request #31, or close it to reject it. "
        "Who: anyone with write permission. Or comment: `/cogworks approve spec aaaaaaaaaaaa`\n"
    )


def test_a_run_at_work_says_what_comes_next() -> None:
    state = finished(new_run(kind="bug_fix"), "spec")

    shown = surface(state, facts(MERGED_SPEC))

    assert shown.labels == {"cogworks:node:plan", "cogworks:kind:bug_fix"}
    assert shown.comment.startswith("### cogworks · next: plan\n")


def test_a_held_run_says_so_and_asks_nobody_for_a_review() -> None:
    shown = surface(finished(new_run(), "spec"), facts(MERGED_SPEC, is_held=True))

    assert shown.labels == {"cogworks:node:plan"}
    assert shown.comment.startswith(
        "### cogworks · stopped by a label\n\n- **Waiting:** remove the hold label when the item may go on. "
        "Who: a maintainer.\n"
    )


def test_a_visit_that_was_stopped_in_its_midst_says_why_until_it_is_claimed_again() -> None:
    state = finished(new_run(), "spec", "plan")
    held = state.with_lease(lease(state, "code@A"), identity=1)
    stopped = held.released(
        held.leases[0], Spend(), why="the label 'cogworks:hold' was set while the node ran"
    )
    again = stopped.with_lease(lease(stopped, "code@A"), identity=1)

    line = "- code@A was interrupted: the label 'cogworks:hold' was set while the node ran."
    shown = [line in surface(each, facts(MERGED_SPEC)).comment for each in (held, stopped, again)]
    assert shown == [False, True, False]


def test_a_failed_run_says_why_and_how_to_retry() -> None:
    state = finished(new_run(), "spec")
    state = settle(state, GRAPH, visit(state, "plan", status="failed", summary="too\nhard"), {})

    shown = surface(state, facts(MERGED_SPEC))

    assert shown.labels == {"cogworks:node:failed"}
    assert "### cogworks · stopped: a node failed\n" in shown.comment
    assert (
        "- **plan:** too\n  hard\n- Remove the label `cogworks:run` and set it again to retry what failed.\n"
    ) in shown.comment
    assert "| ❌ | Plan | too hard | 1 | $0.1000 |  |" in shown.comment


def test_questions_in_a_reason_are_a_list_of_their_own() -> None:
    asked = (
        "#7 leaves open what has to be known first:\n- Which text?\n- Which version?\n\nAnswer in the body."
    )
    state = settle(new_run(), GRAPH, visit(new_run(), "spec", status="failed", summary=asked), {})

    tokens = MarkdownIt("commonmark").parse(surface(state, facts()).comment)

    paragraphs = [(token.level, token.content) for token in tokens if token.type == "inline"]
    outer = next(level for level, text in paragraphs if text.startswith("**spec:**"))
    nested = [text for level, text in paragraphs if level > outer]
    assert nested == ["Which text?", "Which version?"]
    assert (outer, "Answer in the body.") in paragraphs


def test_what_a_result_leaves_open_is_said_before_everything_else() -> None:
    state = finished(new_run(), *SHIPPED[:3])
    caution = "Not proven for `tests/x.py`, which could not be loaded: `no y`."
    visits = [v.model_copy(update={"caution": caution} if v.node == "code" else {}) for v in state.visits]
    open_question = state.model_copy(update={"visits": tuple(visits)})
    discarded = state.model_copy(
        update={"visits": tuple(v.model_copy(update={"is_discarded": True}) for v in visits)}
    )

    shown = surface(open_question, facts(MERGED_SPEC)).comment

    assert shown.splitlines()[2] == f"> **code@A:** {caution}"
    assert shown.count(caution) == 1
    assert caution not in surface(discarded, facts(MERGED_SPEC)).comment


def test_a_rejected_run_says_to_reopen_and_offers_no_retry_that_would_do_nothing() -> None:
    shown = surface(finished(new_run(), "spec"), facts(pull(31, "closed")))

    assert shown.labels == {"cogworks:node:failed"}
    assert "- **spec:** pull request #31 was closed unmerged; reopen it to go on\n" in shown.comment
    assert "set it again" not in shown.comment


def test_a_finished_run_keeps_only_its_kind() -> None:
    state = finished(new_run(kind="feature"), *SHIPPED, "code@B", "review@B", "ship@B")
    done = state.model_copy(update={"status": "done"})

    shown = surface(done, facts(*PULLS))

    assert shown.labels == {"cogworks:kind:feature"}
    assert shown.comment.startswith("### cogworks · done: every sub-work-item has a reviewed pull request\n")


def test_the_table_tells_results_visits_costs_and_links_of_every_node() -> None:
    state = finished(new_run(), *SHIPPED[:3])
    state = settle(state, GRAPH, visit(state, "review@A"), {"review": {"passed": False}})
    state = finished(state, "code@A", "review@A", "ship@A")

    lines = surface(state, facts(*PULLS)).comment.splitlines()

    assert "| ✅ | Spec | spec is done | 1 | $0.1000 | #31 |" in lines
    assert "| ✅ | Code of #21 | code@A is done | 2 | $0.2000 | #41 |" in lines
    assert "| ✅ | Review of #21 | review@A is done | 2 | $0.2000 |  |" in lines
    assert "**Cost so far:** $0.7000 of $10.00 · 105 of 500,000 tokens · 7 model calls" in lines


def test_what_dead_runners_had_reserved_is_told_apart_in_the_cost() -> None:
    state = new_run()
    dead = lease(state, "spec")
    state = state.with_lease(dead, identity=1).with_lease(dead, identity=2)

    assert (
        "**Cost so far:** $0.5000 ($0.5000 reserved, not confirmed) of $10.00"
        in surface(state, facts()).comment
    )


def test_a_summary_cannot_break_the_table() -> None:
    state = settle(new_run(), GRAPH, visit(new_run(), "spec", summary="a | b\nc " + "x" * 300), {})

    [row] = [line for line in surface(state, facts()).comment.splitlines() if line.startswith("| ✅")]

    assert row.startswith("| ✅ | Spec | a \\| b c xxx")
    assert row.count(" | ") == 5
    assert len(row) < 260


def test_nothing_is_written_where_github_shows_the_surface() -> None:
    state = with_status(finished(new_run(), "spec"))
    wanted = surface(state, facts(pull(31)))
    world = world_showing(state, wanted.comment.replace("\n", "\r\n").rstrip(), *wanted.labels)

    assert differences(wanted, world.snapshot(), state, CONFIGURED) == ()


def test_labels_that_differ_are_repaired_and_those_of_people_are_never_touched() -> None:
    state = finished(new_run(), "spec")
    wanted = surface(state, facts(pull(31)))
    world = world_showing(
        state, None, "cogworks:node:plan", "cogworks:kind:old", "cogworks:hold", "cogworks:urgent"
    )

    assert differences(wanted, world.snapshot(), state, CONFIGURED) == (
        SetLabels(
            number=state.issue,
            add=("cogworks:awaiting-review", "cogworks:node:spec"),
            remove=("cogworks:kind:old", "cogworks:node:plan"),
        ),
    )


def test_a_label_that_the_team_renamed_is_the_one_that_is_set() -> None:
    config = parse_config(CONFIG + '[labels]\nawaiting_review = "please look"\n')
    state = finished(new_run(), "spec")
    wanted = project(Standing(state, facts(pull(31)), GRAPH), config)
    world = world_showing(state, None, "cogworks:awaiting-review", "cogworks:node:spec")

    assert differences(wanted, world.snapshot(), state, config) == (
        SetLabels(number=state.issue, add=("please look",)),
    )


def test_a_status_comment_that_differs_is_edited_in_place() -> None:
    state = with_status(finished(new_run(), "spec"))
    world = world_showing(state, "somebody wrote over it")

    [edit] = comment_difference("as it should be\n", world.snapshot(), state)

    assert edit == EditComment(
        comment_id="C_1",
        body=marked("as it should be\n", visit_key=state.visits[0].visit_key, topic=STATUS_TOPIC, revision=1),
    )


def test_a_run_without_a_status_comment_has_nothing_to_edit() -> None:
    state = finished(new_run(), "spec")

    assert comment_difference("text", world_showing(state, None).snapshot(), state) == ()


def test_a_status_comment_that_was_deleted_is_not_edited() -> None:
    state = with_status(finished(new_run(), "spec"))

    assert comment_difference("text", world_showing(state, None).snapshot(), state) == ()


def test_a_comment_that_none_of_us_wrote_is_lost_whatever_the_ledger_says() -> None:
    state = with_status(finished(new_run(), "spec"))
    world = world_showing(state, "my own words")
    person = world.comments[0].model_copy(update={"author": ANN, "viewer_did_author": False})
    world.comments[0] = person

    assert comment_difference("text", world.snapshot(), state) == ()
    assert is_status_lost(world.snapshot(), state)
    assert not is_status_lost(world.snapshot(), state.model_copy(update={"identities": (ANN.id,)}))


@pytest.mark.parametrize("is_escaped", [False, True], ids=["plain", "escaped"])
def test_an_id_in_the_ledger_that_no_comment_of_the_issue_has_is_lost(is_escaped: bool) -> None:
    state = with_status(finished(new_run(), "spec"))
    world = world_showing(state, None)
    if is_escaped:
        world.files["state.json"] = world.files["state.json"].replace('"C_1"', '"\\u0043_1"')

    assert comment_difference("text", world.snapshot(), state) == ()
    assert is_status_lost(world.snapshot(), state)


def test_an_older_comment_that_was_sought_in_vain_is_lost() -> None:
    state = with_status(finished(new_run(), "spec"))
    snapshot = world_showing(state, None).snapshot()
    sought = {"has_all_comments": False, "sought_comments": ("C_1",)}
    issue = snapshot.issue.model_copy(update=sought)

    assert is_status_lost(snapshot.model_copy(update={"issue": issue}), state)


def test_a_status_comment_older_than_the_read_reaches_is_edited() -> None:
    state = with_status(finished(new_run(), "spec"))
    snapshot = world_showing(state, None).snapshot()
    issue = snapshot.issue.model_copy(update={"has_all_comments": False})

    assert len(comment_difference("text", snapshot.model_copy(update={"issue": issue}), state)) == 1


def test_a_status_comment_posted_since_the_read_is_edited() -> None:
    before = finished(new_run(), "spec")

    assert len(comment_difference("text", world_showing(before, None).snapshot(), with_status(before))) == 1


@pytest.mark.parametrize("count", [3, 400])
def test_a_comment_always_fits(count: int) -> None:
    items = tuple(SubItem(key=SubItemKey(f"K{n}"), ordinal=n, title="t" * 200) for n in range(1, count + 1))
    state = with_status(finished(new_run(), "spec", "plan").model_copy(update={"sub_items": items}))
    for item in items:
        state = state.recorded(visit(state, f"code@{item.key}", summary="s" * 1000))
    wanted = surface(state, facts(MERGED_SPEC))

    [edit] = comment_difference(wanted.comment, world_showing(state, None).snapshot(), _new(state))

    assert isinstance(edit, EditComment)
    assert len(text_below_marker(edit.body)) <= MAX_BODY_CHARS


def _new(state: RunState) -> RunState:
    """The state with a status comment that the snapshot cannot have."""
    return state.model_copy(update={"status_comment": CommentRef(node_id="C_9", database_id=9)})


def test_a_problem_is_told_in_full_with_what_happens_next() -> None:
    said = problem_comment("`labels.trigger` is empty")

    assert "```text\n`labels.trigger` is empty\n```" in said
    assert "The next step goes on by itself" in said


def test_the_first_visit_signs_the_status_comment_even_while_it_is_given_back() -> None:
    state = new_run()
    first = lease(state, "spec")
    leased = state.with_lease(first, identity=1)

    assert first_visit_key(leased) == first.visit_key
    assert first_visit_key(leased.released(first, Spend())) == first.visit_key
    assert first_visit_key(finished(new_run(), "spec", "plan")) == first.visit_key


def test_the_shift_work_boundary_of_the_items_class_is_shown() -> None:
    graph = replace(GRAPH, shift_work={"standard": NodeId("plan")})
    state = new_run(graph)

    shown = project(Standing(state, facts(), graph), CONFIGURED).comment

    assert "**Shift-work boundary:** standard: people look at results up to Plan; after it" in shown
    assert "Plan (human gate)" in shown.replace("#40;", "(").replace("#41;", ")")
    assert "Shift-work" not in surface(new_run(), facts()).comment


def test_a_budget_that_is_nearly_used_up_and_has_no_room_for_a_round_is_told() -> None:
    small = built_in_pipelines().pipelines["small"]
    state = new_run(small)
    for name, cost_usd in (("intake", 0.5), ("code_generation", 1.0)):
        state = state.recorded(visit(state, name, spend=Spend(cost_usd=cost_usd)))
    known = facts(lane="small")

    told = project(Standing(state, known, small), parse_config(CONFIG, source="config.toml")).comment
    ended = project(
        Standing(state.model_copy(update={"status": "cancelled"}), known, small),
        parse_config(CONFIG, source="config.toml"),
    ).comment

    assert (
        "**Budget** ($2.00): at least 75 % of it is spent; another round may cost as much as the dearest so far, $1.00, and $0.50 is left; "
        "raise `budgets.small_max_cost_dollars` in `.cogworks/config.toml`, or a rework may stop half-way."
    ) in told
    assert "**Budget**" not in ended
