"""The sample issue becomes pull requests on a real hub; dying at any moment changes nothing about the result."""

import itertools
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import cogworks.demo
from cogworks.demo.facts import DEFAULT_BRANCH, FULL_NAME
from cogworks.demo.showing import Verdict, judge
from cogworks.ledger.record import read_state
from cogworks.llm.budget import shipped_prices
from cogworks.llm.gateway import ReplyRecord
from cogworks.llm.provider import Usage
from cogworks.llm.providers.cassette import Cassette
from cogworks.pipeline.parser import built_in_pipelines, parse_pipelines
from tests.end_to_end.killing import Moment, killed_step
from tests.end_to_end.scene import Ended, Scene, copy_of, open_scene
from tests.pipeline.runs import pull
from tests.replaying import Committed, replayed

pytestmark = [
    pytest.mark.slow,  # `./scripts/demo` plays the same item
    pytest.mark.timeout(300),  # seconds on a busy machine; usually a tenth of that
]

MAX_STEPS = 40
DEFAULT_EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "pipelines" / "default.toml"
LEDGER = "cogworks/ledger/1"
CASSETTES = Path(cogworks.demo.__file__).parent / "cassettes"


@dataclass(frozen=True)
class WholeItem:
    """An item that was worked on from its beginning to its end, and what it looked like on the way."""

    runs: tuple[Ended, ...]
    seen: dict[str, Any]
    visits: list[tuple[str, str | None, int, str, str]]
    verdict: Verdict
    idle: tuple[Ended, Ended]
    untouched: bool
    """Whether the two idle calls changed nothing on the hub."""
    commits: tuple[str, ...]
    ledger: tuple[Committed, ...]
    """Oldest first, without the root."""
    ledger_files: dict[str, str]
    """Every output in the newest tree: path -> text."""
    replies: tuple[ReplyRecord, ...]
    """Every paid reply that the newest tree keeps."""
    at_first: Path
    """A copy of the scene before the first step."""
    replayed: Ended
    checked: Ended
    decisions: list[dict[str, Any]]


@pytest.fixture(scope="module")
def item(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeItem]:
    home = tmp_path_factory.mktemp("whole-item")
    with open_scene(home / "scene") as scene:
        scene.person.set_trigger()
        at_first = copy_of(home / "scene", home / "at-first")
        runs = [scene.cogworks("run", "--json")]
        before = scene.everything()
        idle = (scene.cogworks("process", "--json"), scene.cogworks("process", "--detailed-exitcode"))
        untouched = scene.everything() == before
        while runs[-1].told["outcome"] == "waiting":
            scene.pass_gates(runs[-1].told)
            runs.append(scene.cogworks("run", "--json"))
        yield WholeItem(
            runs=tuple(runs),
            seen=scene.seen(),
            visits=scene.visits(),
            verdict=_verdict(scene),
            idle=idle,
            untouched=untouched,
            commits=tuple(scene.git("log", "--format=%s", "cogworks/ledger/1").splitlines()),
            ledger=tuple(_ledger(scene)),
            ledger_files={
                path: scene.git("show", f"{LEDGER}:{path}")
                for path in scene.git("ls-tree", "-r", "--name-only", LEDGER).splitlines()
                if path.endswith("/output.json")
            },
            replies=tuple(
                ReplyRecord.model_validate_json(scene.git("show", f"{LEDGER}:{path}"))
                for path in scene.git("ls-tree", "-r", "--name-only", LEDGER).splitlines()
                if "/reply-" in path
            ),
            at_first=at_first,
            replayed=scene.cogworks("replay", "--json"),
            checked=scene.cogworks("fsck", "--json"),
            decisions=_decisions(scene),
        )


def _decisions(scene: Scene) -> list[dict[str, Any]]:
    """Every event of every coding visit, without what may differ from run to run."""
    visits = scene.cogworks("log", "--events", "--json").told["visits"]
    return [
        {name: value for name, value in event.items() if name != "wall"}
        for visit in visits
        for event in visit["events"]
    ]


def _ledger(scene: Scene) -> Iterator[Committed]:
    told = scene.git("log", "--reverse", "--format=%H%x00%ct%x00%B%x1e", LEDGER)
    for entry in told.split("\x1e")[1:-1]:
        oid, date, message = entry.strip().split("\x00")
        state = read_state(scene.git("show", f"{oid}:state.json"), branch=LEDGER)
        yield Committed(message, datetime.fromtimestamp(int(date), UTC), state)


def _verdict(scene: Scene) -> Verdict:
    with tempfile.TemporaryDirectory() as directory:
        return judge(
            f"{scene.stage.url}/{FULL_NAME}.git",
            scene.stage.person_token,
            base=DEFAULT_BRANCH,
            head=scene.person.pull_requests()[-1].head,
            directory=Path(directory),
            search_path=scene.environment()["PATH"],
        )


def test_the_sample_issue_becomes_pull_requests_whose_last_head_does_what_was_asked(item: WholeItem) -> None:
    ends = [
        (run.code, run.told["outcome"], [w["node"] for w in run.told["waiting_for"]]) for run in item.runs
    ]

    assert ends == [(0, "waiting", ["architecture"]), (0, "waiting", ["interface_design"]), (0, "done", [])]
    assert item.verdict.is_good


def test_the_ledger_tells_the_provider_s_usage_to_the_token_cache_included(item: WholeItem) -> None:
    recorded = {each.key: each.reply.usage for each in Cassette(CASSETTES).recordings()}
    told = [record.reply.usage for record in item.replies]
    spent = item.ledger[-1].state.spent

    assert [recorded[record.request_key] for record in item.replies] == told
    total = sum(told, Usage())
    assert total.cache_creation_input_tokens > 0
    assert total.cache_read_input_tokens > 0
    assert (spent.input_tokens, spent.output_tokens, spent.model_calls) == (
        total.total_input,
        total.output_tokens,
        len(told),
    )
    price = shipped_prices().price_of("claude-sonnet-5-5")
    assert Decimal(str(spent.cost_usd)) == price.cost_of(total)


def test_it_is_played_by_the_default_pipeline_of_the_examples(item: WholeItem) -> None:
    example = DEFAULT_EXAMPLE.read_text("utf-8")
    pipeline = parse_pipelines(example, source=DEFAULT_EXAMPLE.name).pipelines["default"]

    assert {entry.state.graph_hash for entry in item.ledger} == {pipeline.graph_hash}


def test_each_node_is_visited_in_order_and_review_sends_one_sub_work_item_back(item: WholeItem) -> None:
    assert [(node, sub_item, ordinal, status) for node, sub_item, ordinal, status, _ in item.visits] == [
        ("intake", None, 1, "succeeded"),
        ("architecture", None, 1, "succeeded"),
        ("interface_design", None, 1, "succeeded"),
        ("planning", None, 1, "succeeded"),
        ("code_generation", "A", 1, "succeeded"),
        ("review", "A", 1, "succeeded"),
        ("integration", "A", 1, "succeeded"),
        ("code_generation", "B", 1, "succeeded"),
        ("review", "B", 1, "succeeded"),
        ("code_generation", "B", 2, "succeeded"),
        ("review", "B", 2, "succeeded"),
        ("integration", "B", 1, "succeeded"),
    ]


def test_the_issue_has_one_status_comment_its_labels_and_its_sub_issues(item: WholeItem) -> None:
    issue, first, second = item.seen["issues"]["nodes"]

    assert [comment["author"]["login"] for comment in issue["comments"]["nodes"]] == ["cogworks-runner"]
    comment = issue["comments"]["nodes"][0]["body"]
    assert "### cogworks · done" in comment
    assert "```mermaid\nflowchart TD" in comment
    labels = sorted(label["name"] for label in issue["labels"]["nodes"])
    assert (labels[0].split(":")[:2], labels[1:]) == (["cogworks", "kind"], ["cogworks:run"])
    assert issue["subIssues"]["nodes"] == [{"number": first["number"]}, {"number": second["number"]}]
    assert [sub["parent"] for sub in (first, second)] == [{"number": issue["number"]}] * 2
    assert (first["blockedBy"]["nodes"], second["blockedBy"]["nodes"]) == ([], [{"number": first["number"]}])
    assert [sub["comments"]["nodes"] for sub in (first, second)] == [[], []]
    assert [sub["labels"]["nodes"] for sub in (first, second)] == [[{"name": "cogworks:sub-work-item"}]] * 2


def test_what_the_review_leaves_for_people_stands_at_its_lines(item: WholeItem) -> None:
    reviews = [pull["reviews"]["nodes"] for pull in item.seen["pullRequests"]["nodes"]]

    assert [[review["state"] for review in each] for each in reviews] == [
        ["APPROVED"],
        [],
        ["COMMENTED"],
        ["COMMENTED"],
    ]
    assert [
        (remark["path"], remark["line"])
        for (review,) in reviews[2:]
        for remark in review["comments"]["nodes"]
    ] == [
        ("src/hourglass/parsing.py", 14),
        ("src/hourglass/scanning.py", 30),
        ("src/hourglass/iso8601.py", 16),
    ]


def test_every_result_is_a_pull_request_that_names_the_issue(item: WholeItem) -> None:
    pulls = item.seen["pullRequests"]["nodes"]
    _, first, second = item.seen["issues"]["nodes"]

    assert [(p["headRefName"], p["baseRefName"], p["state"]) for p in pulls] == [
        ("cogworks/1/spec", "main", "CLOSED"),
        ("cogworks/1/interfaces", "main", "MERGED"),
        ("cogworks/1/swi-1", "main", "OPEN"),
        ("cogworks/1/swi-2", "cogworks/1/swi-1", "OPEN"),
    ]
    assert all(re.search(r"(Part of|Closes) #1\b", p["body"]) for p in pulls)
    assert ["Closes #1<!--" in p["body"] for p in pulls] == [False, False, False, True]
    assert [
        f"Closes #{sub['number']}." in p["body"] for sub, p in zip((first, second), pulls[2:], strict=True)
    ] == [
        True,
        True,
    ]
    assert set(item.seen["trees"]) == {"main", *(p["headRefName"] for p in pulls)}


def test_the_ledger_tells_of_every_claim_and_every_end(item: WholeItem) -> None:
    told = [
        subject.removeprefix("cogworks: ").removesuffix(" [skip ci]") for subject in reversed(item.commits)
    ]
    ends = [f"{node}@{sub}" if sub else node for node, sub, *_ in item.visits]

    assert [line for line in told if line.endswith(" claim")] == [f"{name} claim" for name in ends]
    assert [line for line in told if line.endswith(" succeeded")] == [f"{name} succeeded" for name in ends]


def test_a_step_tells_exactly_what_it_promises(item: WholeItem) -> None:
    idle = item.idle[0].told

    assert list(idle) == [
        "outcome",
        "node",
        "visit_key",
        "waiting_for",
        "codes",
        "requests",
        "tokens",
        "cost_usd",
        "duration_s",
        "urls",
        "message",
    ]
    assert (idle["outcome"], idle["node"], idle["visit_key"]) == ("waiting", None, None)
    assert [set(wait) for wait in idle["waiting_for"]] == [
        {"kind", "node", "sub_item", "number", "url", "who", "ask", "paste", "code"}
    ]
    assert (idle["tokens"], idle["cost_usd"]) == ({"input": 0, "output": 0}, 0.0)
    assert set(idle["urls"]) == {"issue", "status_comment", "spec"}
    assert item.runs[-1].told["steps"] > 1


def idle_wait(run: Any) -> str:
    return str(run.told["waiting_for"][0]["ask"])


def test_an_item_that_waits_costs_one_request_and_no_write(item: WholeItem) -> None:
    first, second = item.idle

    assert first.told["requests"] == {"graphql": 1, "rest": 0, "git": 0}
    assert item.untouched
    asked, url = idle_wait(first), first.told["waiting_for"][0]["url"]
    assert (second.code, second.out) == (10, f"waiting: {asked}: {url} (anyone with write permission)\n")


def test_the_coding_visits_are_decided_again_from_the_ledger_alone(item: WholeItem) -> None:
    told = item.replayed.told

    assert item.replayed.code == 0
    assert [visit["outcome"] for visit in told["visits"]] == ["identical"] * 3
    assert [visit["visit"] for visit in told["visits"]] == [5, 8, 10]
    # The ledger's tip, and the files of the visits.
    assert told["requests"] == {"graphql": 2, "rest": 0, "git": 0}
    assert {event["event"] for event in item.decisions} >= {
        "LOG_HEADER",
        "PROPOSAL",
        "CGW_COMMIT",
        "CYCLE_END",
    }


def test_an_item_that_was_worked_on_to_its_end_is_sound(item: WholeItem) -> None:
    assert (item.checked.code, item.checked.told["findings"]) == (0, [])


def test_the_ledger_alone_replays_every_decision_of_the_run(item: WholeItem) -> None:
    state = item.ledger[-1].state
    # Whenever something was claimed, the person had merged what was waited for.
    merged = [
        pull(known.number, "merged" if known.slug in ("spec", "interfaces") else "open", merged_by="ann")
        for known in state.pull_requests
    ]

    assert state.status == "done"
    assert (
        replayed(
            item.ledger,
            built_in_pipelines().choose(),
            pulls={each.number: each for each in merged},
            read=item.ledger_files.__getitem__,
        )
        == []
    )


def test_a_runner_that_dies_in_every_step_leaves_no_trace(item: WholeItem, tmp_path: Path) -> None:
    moments = itertools.cycle(
        (
            Moment("after", 2),
            Moment("line", 2),
            Moment("after", 4),
            Moment("before", 3),
            Moment("after", 3),
            Moment("before", 5),
            Moment("line", 3),
        )
    )
    with open_scene(copy_of(item.at_first, tmp_path / "scene")) as scene:
        deaths = 0
        for _ in range(MAX_STEPS):
            deaths += killed_step(scene, next(moments))
            report = scene.cogworks("process", "--take-over", "--json")
            assert report.code == 0, report
            scene.pass_gates(report.told)
            if report.told["outcome"] == "done":
                break

        assert deaths >= len(item.visits) // 2
        assert scene.visits() == item.visits
        assert scene.seen() == item.seen
        assert _decisions(scene) == item.decisions
