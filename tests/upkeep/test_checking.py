"""Damage of every kind: views and links are repaired, damage of the ledger is reported and never silently changed."""

import copy
import json
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cogworks.forge.bases import part_of
from cogworks.upkeep.checking import check
from cogworks.vocabulary import IssueNumber
from tests.exhaustive import examples
from tests.step_fakes import Runner, until_done
from tests.upkeep.item_in_memory import check_shell
from tests.world import ISSUE, World

Damage = Callable[[World], None]


@cache
def _finished() -> World:
    world = World()
    until_done(world)
    return world


@cache
def _half_way() -> World:
    world = World()
    for _ in range(5):
        report = Runner(world).step()
        for wait in report.waiting_for:
            world.merge(wait.number or IssueNumber(0))
    return world


def fresh(*, is_finished: bool) -> World:
    return copy.deepcopy(_finished() if is_finished else _half_way())


def rewrite(change: Callable[[dict[str, Any]], None]) -> Damage:
    def damage(world: World) -> None:
        state = json.loads(world.files["state.json"])
        change(state)
        world.files["state.json"] = json.dumps(state)

    return damage


def without(word: str) -> Damage:
    """Every file whose name has the word is gone."""

    def damage(world: World) -> None:
        world.files = {path: text for path, text in world.files.items() if word not in path}

    return damage


def edit_comment(world: World) -> None:
    world.comments = [c.model_copy(update={"body": "Nothing to see"}) for c in world.comments]


def cut_marker(world: World) -> None:
    world.comments = [c.model_copy(update={"body": c.body.partition("\n")[2]}) for c in world.comments]


def cut_out(world: World) -> None:
    world.commits = [commit for commit in world.commits if " succeeded " not in commit.message]


def lease(**changed: object) -> Damage:
    """A lease on the last visit, which nobody claimed again."""

    def damage(state: dict[str, Any]) -> None:
        kept = ("visit_key", "index", "node", "sub_item", "ordinal", "attempt")
        held = {name: state["visits"][-1][name] for name in kept}
        held |= {"holder": "somebody", "graph_hash": state["graph_hash"], "input_digest": "", **changed}
        state["leases"].append(held)

    return rewrite(damage)


def twice(damage: Damage) -> Damage:
    def both(world: World) -> None:
        damage(world)
        damage(world)

    return both


def set_back(world: World) -> None:
    early = world.commits[0].committed_date - timedelta(days=1)
    world.commits[-1] = world.commits[-1].model_copy(update={"committed_date": early})


def let_all_close(world: World) -> None:
    words = part_of(ISSUE, closes=True)
    world.pulls = [pull.model_copy(update={"body": words}) for pull in world.pulls]


def no_labels(world: World) -> None:
    world.labels.clear()
    world.labels.append("cogworks:run")


VIEWS: dict[str, Damage] = {
    "no labels": no_labels,
    "a false label": lambda world: world.labels.append("cogworks:node:nonsense"),
    "a false kind": lambda world: world.labels.append("cogworks:kind:nonsense"),
    "a comment edited": edit_comment,
    "a marker cut off": cut_marker,
    "the comment deleted": lambda world: world.comments.clear(),
    "links gone": lambda world: world.links.clear(),
    "every pull request closes the issue": let_all_close,
}

LEDGER: dict[str, tuple[Damage, str]] = {
    "a visit key": (rewrite(lambda s: s["visits"][0].update(visit_key="0" * 64)), "visit_key"),
    "an index twice": (rewrite(lambda s: s["visits"][1].update(index=1)), "index"),
    "a mark of no edge": (rewrite(lambda s: s["marks"].update(nowhere="taken")), "marks"),
    "a count of no edge": (rewrite(lambda s: s["traversals"].update(nowhere=1)), "traversals"),
    "a node of no graph": (rewrite(lambda s: s["visits"][0].update(node="nonsense")), "graph"),
    "a sub-item of no plan": (rewrite(lambda s: s["visits"][-1].update(sub_item="Z")), "plan"),
    "a plan in no order": (rewrite(lambda s: s["sub_items"][0].update(depends_on=["B"])), "plan"),
    "an ordinal twice": (rewrite(lambda s: s["sub_items"][1].update(ordinal=1)), "plan"),
    "two pull requests of one slug": (
        rewrite(lambda s: s["pull_requests"].append(s["pull_requests"][0])),
        "pull_requests",
    ),
    "an attempt of nought": (rewrite(lambda s: s["visits"][0].update(attempt=0)), "visit"),
    "two leases of one node": (twice(lease()), "lease"),
    "a lease of nobody": (lease(holder=""), "lease"),
    "a lease for ever": (lease(ttl_s=0), "lease"),
    "a lease of too many attempts": (lease(attempt=9), "lease"),
    "a negative reservation": (lease(reserved_usd=-1.0), "lease"),
    "a lease nobody claimed": (lease(visit_key="1" * 64), "history"),
    "a commit of yesterday": (set_back, "line"),
    "an audit that is none": (
        lambda world: world.files.update({"visits/0001-intake/tools-1.ndjson": "{}\n"}),
        "tools",
    ),
    "another issue": (rewrite(lambda s: s.update(issue=8)), "identity"),
    "another run": (rewrite(lambda s: s.update(run_id="run-2")), "run"),
    "money gone": (rewrite(lambda s: s["visits"][0]["spend"].update(cost_usd=0.0)), "spend"),
    "a visit nobody made": (
        rewrite(lambda s: s["visits"].append({**s["visits"][0], "index": 99, "visit_key": "0" * 64})),
        "history",
    ),
    "no JSON": (lambda world: world.files.update({"state.json": "{"}), "state"),
    "no visit.json": (without("visit.json"), "visit_file"),
    "no output.json": (without("output.json"), "output"),
    "no manifest": (without("manifest-1"), "manifest"),
    "no reply": (without("reply-1"), "manifest"),
    "another manifest": (
        lambda world: world.files.update({p: "{}" for p in world.files if "manifest-1" in p}),
        "manifest",
    ),
    "a folder too many": (lambda world: world.files.update({"visits/0099-x/visit.json": "{}"}), "folder"),
    "commits cut out": (cut_out, "history"),
    "a foreign commit": (
        lambda world: world.commits.append(world.commits[-1].model_copy(update={"message": "Tidy up"})),
        "foreign",
    ),
    "a commit repeated": (lambda world: world.commits.append(world.commits[-1]), "line"),
}


@pytest.mark.parametrize("is_finished", [True, False], ids=["finished", "half-way"])
def test_an_item_that_only_cogworks_touched_is_clean(is_finished: bool) -> None:
    world = fresh(is_finished=is_finished)
    writes = len(world.writes)

    checked = check(check_shell(world), repair=True)

    assert (checked.findings, checked.repaired, checked.notes) == ((), (), ())
    assert len(world.writes) == writes


def test_every_moment_of_a_run_is_clean_once_its_views_are_up_to_date() -> None:
    world = World()
    Runner(world).step()
    while world.state.status != "done":
        assert check(check_shell(world), repair=False).findings == ()
        for wait in Runner(world).step().waiting_for:
            world.merge(wait.number or IssueNumber(0))
            # What a person did is not shown yet: that is a view, and nothing else.
            assert {f.kind for f in check(check_shell(world), repair=False).findings} <= {"view"}
            Runner(world).step()


@settings(max_examples=examples(40))
@given(names=st.lists(st.sampled_from(sorted(VIEWS)), min_size=1, max_size=4), is_finished=st.booleans())
def test_damaged_views_and_links_are_repaired(names: list[str], is_finished: bool) -> None:
    world = fresh(is_finished=is_finished)
    before = json.loads(world.files["state.json"])
    for name in names:
        VIEWS[name](world)

    found = check(check_shell(world), repair=False)
    repaired = check(check_shell(world), repair=True)
    again = check(check_shell(world), repair=True)

    assert {finding.kind for finding in found.findings} <= {"view", "link"}
    assert repaired.findings == ()
    assert len(repaired.repaired) == len(found.findings)
    assert (again.findings, again.repaired) == ((), ())
    after = json.loads(world.files["state.json"])
    assert {**after, "status_comment": None} == {**before, "status_comment": None}
    assert len(world.comments) == 1
    assert until_done(world)[-1].outcome == "done"


@settings(max_examples=examples(60))
@given(
    names=st.lists(st.sampled_from(sorted(LEDGER)), min_size=1, max_size=3, unique=True),
    views=st.lists(st.sampled_from(sorted(VIEWS)), max_size=2),
)
@example(names=["no manifest", "no reply"], views=[])
def test_damage_of_the_ledger_is_reported_and_never_changed(names: list[str], views: list[str]) -> None:
    world = fresh(is_finished=True)
    # Text that is no JSON cannot be damaged further.
    for name in sorted(names, key=lambda name: name == "no JSON"):
        LEDGER[name][0](world)
    for view in views:
        VIEWS[view](world)
    files, commits = dict(world.files), list(world.commits)

    checked = check(check_shell(world), repair=True)

    assert any(finding.kind == "ledger" for finding in checked.findings)
    assert (world.files, world.commits) == (files, commits)


@pytest.mark.parametrize("name", sorted(LEDGER))
def test_each_damage_is_found_by_its_rule(name: str) -> None:
    world = fresh(is_finished=True)
    damage, rule = LEDGER[name]
    damage(world)

    checked = check(check_shell(world), repair=False)

    assert rule in {finding.rule for finding in checked.findings}
    assert all(finding.remedy and finding.object for finding in checked.findings)


def test_a_comment_is_not_posted_again_while_a_node_runs() -> None:
    world = fresh(is_finished=False)
    seen: list[tuple[str, ...]] = []

    def while_it_runs(what: str) -> None:
        if what.startswith("publish") and not seen:
            world.comments.clear()
            seen.append(check(check_shell(world), repair=True).notes)

    Runner(world, name="other", turn=while_it_runs).step()

    assert "not posted again while a node runs (other on" in seen[0][0]
    assert world.comments == []


def test_a_changed_pipeline_is_told_and_the_rest_is_still_checked() -> None:
    world = fresh(is_finished=True)
    assert world.pipeline is not None
    document = copy.deepcopy(dict(world.pipeline))
    for pipeline in document["pipelines"].values():
        pipeline["nodes"][0]["gate"] = "auto-proceed"
    world.pipeline = document
    world.links.clear()

    checked = check(check_shell(world), repair=False)

    assert [finding.rule for finding in checked.findings] == ["graph_hash", "dependency"]


def test_a_malformed_configuration_is_a_finding() -> None:
    world = fresh(is_finished=True)
    world.config = "[nonsense]\n"

    checked = check(check_shell(world), repair=True)

    assert [finding.kind for finding in checked.findings] == ["configuration"]
    assert "were not checked" in checked.notes[0]


def test_what_nobody_can_repair_is_told() -> None:
    world = fresh(is_finished=True)
    key = "f" * 64
    stray = world.comments[0]
    body = stray.body.replace(world.state.visits[0].visit_key, key)
    world.comments.append(stray.model_copy(update={"node_id": "C_x", "database_id": 9000, "body": body}))
    world.comments.append(stray.model_copy(update={"node_id": "C_y", "database_id": 9001}))
    world.sub_issues.pop()

    checked = check(check_shell(world), repair=True)

    assert sorted(finding.rule for finding in checked.findings) == ["duplicate", "marker", "sub_issue"]
    assert all(finding.kind == "stray" for finding in checked.findings)
