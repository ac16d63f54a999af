from datetime import UTC, datetime

import pytest

from cogworks.forge.facts import Account, Branch, PullRequest, Review
from cogworks.forge.observe import facts_of, pull_facts
from cogworks.pipeline.facts import Facts, PullFacts
from cogworks.pipeline.people import IgnoredLabel
from cogworks.pipeline.state import issue_digest
from cogworks.settings.config import Config, parse_config
from cogworks.settings.sections import LabelConfig
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Login, VisitKey
from tests.pipeline.runs import at
from tests.step_fakes import after
from tests.world import ADDRESS, CONFIG, World

NOW = datetime(2026, 1, 2, tzinfo=UTC)
HEAD, OLDER = CommitOid("a" * 40), CommitOid("b" * 40)
ANN, BOB = (Account(login=Login(name), id=number) for number, name in enumerate(("ann", "bob"), start=1))
CONFIGURED = parse_config(CONFIG)


def review(
    author: Account | None, state: str = "approved", oid: CommitOid | None = HEAD, *, can_push: bool = True
) -> Review:
    return Review.model_validate({"author": author, "state": state, "oid": oid, "can_push": can_push})


def pull(*reviews: Review, state: str = "open", merged_by: Account | None = None) -> PullRequest:
    return PullRequest.model_validate(
        {
            "node_id": "P_31",
            "number": IssueNumber(31),
            "title": "Specification",
            "body": "Part of #7",
            "url": "https://github.com/octo-org/adder/pull/31",
            "head": BranchName("cogworks/7/spec"),
            "base": BranchName("main"),
            "head_oid": HEAD,
            "base_oid": OLDER,
            "state": state,
            "merged_by": merged_by,
            "reviews": reviews,
        }
    )


@pytest.mark.parametrize(
    ("reviews", "approver"),
    [
        ([], ""),
        ([review(ANN)], "ann"),
        ([review(ANN, can_push=False)], ""),
        ([review(ANN, oid=OLDER)], ""),
        ([review(ANN, oid=None)], ""),
        ([review(ANN, "commented")], ""),
        ([review(ANN), review(BOB, "changes_requested")], ""),
        ([review(ANN), review(BOB, "changes_requested", OLDER)], ""),
        ([review(ANN), review(BOB, "changes_requested", can_push=False)], "ann"),
        ([review(ANN), review(BOB, "dismissed")], "ann"),
        ([review(ANN), review(BOB)], "ann"),
        ([review(None)], ""),
    ],
    ids=[
        "nobody",
        "a-writer",
        "a-stranger",
        "an-older-head",
        "no-commit",
        "a-remark",
        "another-writer-wants-changes",
        "wanted-changes-of-an-older-head-still-stand",
        "a-stranger-wants-changes",
        "a-dismissed-review",
        "two-writers",
        "an-account-that-is-gone",
    ],
)
def test_approved_means_by_a_writer_at_this_head_while_no_writer_wants_changes(
    reviews: list[Review], approver: str
) -> None:
    assert pull_facts(pull(*reviews)).approved_by == approver


def test_a_merged_pull_request_says_by_whom() -> None:
    assert pull_facts(pull(state="merged", merged_by=BOB)) == PullFacts(
        number=IssueNumber(31),
        state="merged",
        head_oid=HEAD,
        url="https://github.com/octo-org/adder/pull/31",
        merged_by="bob",
    )


def labelled(*labels: str, config: Config = CONFIGURED) -> Facts:
    world = World(labels=list(labels))
    return facts_of(world.snapshot(), config, lease_ages_s={})


@pytest.mark.parametrize(
    ("label", "flag"),
    [
        ("cogworks:run", "is_triggered"),
        ("cogworks:hold", "is_held"),
        ("cogworks:cancel", "is_cancelled"),
        ("cogworks:safety-critical", "is_safety_critical"),
    ],
)
def test_every_input_label_is_one_fact(label: str, flag: str) -> None:
    flags = {"is_triggered", "is_held", "is_cancelled", "is_safety_critical"}
    # The world's own trigger label counts unless another one stands for it.
    config = (
        CONFIGURED.model_copy(update={"labels": LabelConfig(trigger="go")})
        if flag != "is_triggered"
        else CONFIGURED
    )

    found = labelled(label, config=config).model_dump()

    assert {name for name in flags if found[name]} == {flag}


@pytest.mark.parametrize(
    ("key", "flag"),
    [
        ("trigger", "is_triggered"),
        ("hold", "is_held"),
        ("cancel", "is_cancelled"),
        ("safety_critical", "is_safety_critical"),
    ],
)
def test_an_input_label_that_the_team_renamed_is_the_one_that_counts(key: str, flag: str) -> None:
    renamed = parse_config(f'{CONFIG}[labels]\n{key} = "ours"\n')

    assert getattr(labelled("ours", config=renamed), flag)
    assert not getattr(labelled(getattr(LabelConfig(), key), config=renamed), flag)


def test_a_label_set_by_somebody_who_may_not_counts_as_not_there_until_it_is_set_again() -> None:
    world = World()
    world.set_label("cogworks:hold", "e2")
    ignored = (IgnoredLabel(event_id="e2", label="cogworks:hold", by="eve"),)

    before = facts_of(world.snapshot(), CONFIGURED, lease_ages_s={}, ignored=ignored)
    world.set_label("cogworks:hold", "e3")
    after = facts_of(world.snapshot(), CONFIGURED, lease_ages_s={}, ignored=ignored)

    assert (before.is_triggered, before.is_held, before.ignored_labels) == (True, False, ignored)
    assert after.is_held


def test_a_branch_whose_newest_commit_is_not_ours_is_foreign_and_one_just_made_is_not() -> None:
    world = World()
    for slug, oid, message in [
        ("swi-1", "b" * 40, "Fix it myself"),
        ("swi-2", "c" * 40, "Done"),
        ("spec", "a" * 40, "The newest commit of main"),
    ]:
        world.branches[BranchName(f"cogworks/7/{slug}")] = Branch(oid=CommitOid(oid), message=message)

    known = after(1).state.model_copy(
        update={"pushed": {BranchName("cogworks/7/swi-2"): (CommitOid("c" * 40),)}}
    )

    found = facts_of(world.snapshot(), CONFIGURED, lease_ages_s={}, state=known)

    assert found.foreign_branches == ("cogworks/7/swi-1",)


def test_limits_come_from_the_configuration_and_wishes_from_the_operator() -> None:
    config = parse_config(CONFIG + "[budgets]\npipeline_max_cost_dollars = 2.5\npipeline_max_tokens = 100\n")
    ages = {VisitKey("k"): 3.0}

    found = facts_of(World().snapshot(), config, lease_ages_s=ages, take_over=True, wanted=at("plan"))

    assert found == Facts(
        issue_is_open=True,
        issue_url=ADDRESS.url,
        is_triggered=True,
        trigger="cogworks:run",
        issue_digest=issue_digest("add() subtracts", "It should add."),
        pulls={},
        lease_ages_s=ages,
        max_cost_usd=2.5,
        small_max_cost_usd=3.0,
        max_tokens=100,
        take_over=True,
        wanted=at("plan"),
        now=World().now,
        approval_hours=168,
    )
