"""A check of the gate that comes after the first six links to the log of a run that it would have stopped."""

import ast
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from cogworks.codegen.prompt import CATEGORY as JUDGED
from cogworks.codegen.test_writing import ODD
from cogworks.codegen.testgate import GateCode
from cogworks.cycle.eventlog import LogDamaged, line_of, read_events, segment_names
from cogworks.cycle.events import Committed, Event, Selected
from cogworks.cycle.monitor import verify_seriality
from cogworks.cycle.replay import verify
from cogworks.cycle.results import Action
from cogworks.nodes.code_generation import run
from tests.codegen.test_test_writing import CUSTOM, implemented, suite, written
from tests.cycle.scripted import rechained, recorded
from tests.nodes.examples import FILES, ports, task

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SIX = frozenset(
    [
        "TEST_PATH_ESCAPE",
        "TEST_FILE_MISSING",
        "TEST_HASH_CHANGED",
        "TEST_SYNTAX",
        "TEST_EMPTY",
        "TEST_NOT_RED",
    ]
)
"""The checks that the hand-off began with; every further one has to be shown to be needed."""
QUESTIONS = frozenset({JUDGED, ODD})
"""What a writer is asked once and may answer as it likes; no check of the gate, for none of them alone ends a visit."""
CODE = re.compile(r"TEST_[A-Z]+(?:_[A-Z]+)*")
LINK = re.compile(r"\[run ([0-9a-f]{12})\]\((evidence/[\w.@-]+)/\)")
"""The first twelve digits of the last hash of the log, and its folder below `docs`."""


def codes_in(text: str) -> set[str]:
    """What a module calls a reason why tests are not handed over, in the list of the gate or beside it."""
    found = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    return {value for value in found if isinstance(value, str) and CODE.fullmatch(value)}


def codes() -> set[str]:
    folders = tuple(ROOT / "cogworks" / each for each in ("cycle", "codegen", "nodes"))
    return set().union(
        *(codes_in(path.read_text("utf-8")) for each in folders for path in each.rglob("*.py"))
    )


def without_evidence(codes: Iterable[str], page: str, docs: Path) -> dict[str, str]:
    """Check -> what its row lacks, of those beyond the six."""
    rows = dict(re.findall(r"^\| `(TEST_\w+)` \| (.+) \|$", page, re.MULTILINE))
    found = {code: _lack(rows.get(code, ""), docs) for code in sorted({*codes} - SIX)}
    return {code: problem for code, problem in found.items() if problem}


def _lack(row: str, docs: Path) -> str:
    link = LINK.search(row)
    if link is None:
        return "no link to a log below docs/evidence"
    folder = docs / link[2]
    names = segment_names(path.name for path in folder.glob("*")) if folder.is_dir() else []
    if not names:
        return "no log in that folder"
    try:
        events = read_events("".join((folder / name).read_text("utf-8") for name in names))
    except LogDamaged as error:
        return str(error)
    return _unfit(events, link[1])


def _unfit(events: Sequence[Event], name: str) -> str:
    if not events or not events[-1].hash.startswith(name):
        return f"the log is not run {name}"
    if verify_seriality(events) or verify(events).divergence is not None:
        return "the log does not decide itself again"
    if not any(
        isinstance(event.body, Committed) and event.body.action is Action.WRITE_TESTS for event in events
    ):
        return "no tests were written in that run"
    return ""


def page(events: Sequence[Event], folder: str = "evidence/mocks", *, code: str = "TEST_MOCKS_ITSELF") -> str:
    return f"| `{code}` | mock something else, see [run {events[-1].hash[:12]}]({folder}/) |\n"


def keep(docs: Path, events: Sequence[Event], folder: str = "evidence/mocks") -> None:
    (docs / folder).mkdir(parents=True)
    (docs / folder / "events-1.ndjson").write_text("".join(f"{line_of(event)}\n" for event in events))


@pytest.fixture(scope="module")
def visit() -> tuple[Event, ...]:
    """The log of a coding visit for which tests were written first."""
    place = ports(written(), implemented(), files=FILES, run_tests=suite)
    run(task("code_generation", sub_item="A"), place)
    assert CUSTOM in place.copy.tree
    return read_events(place.kept["events-1.ndjson"])


def test_every_check_is_in_the_list_and_has_its_row() -> None:
    text = (DOCS / "decision-cycle.md").read_text("utf-8")
    rows = re.findall(r"^\| `(TEST_\w+)` \|", text, re.MULTILINE)

    assert codes() - QUESTIONS == {code.value for code in GateCode} == {*rows}
    assert {*rows} >= SIX


def test_a_check_beside_the_list_is_seen() -> None:
    assert codes_in('Trial(category="TEST_MOCKS_ITSELF", problems=())') == {"TEST_MOCKS_ITSELF"}


def test_no_check_is_without_the_run_that_it_would_have_stopped() -> None:
    text = (DOCS / "decision-cycle.md").read_text("utf-8")

    assert without_evidence(codes() - QUESTIONS, text, DOCS) == {}


def test_a_further_check_links_to_the_log_of_a_run_that_wrote_tests(
    tmp_path: Path, visit: tuple[Event, ...]
) -> None:
    keep(tmp_path, visit)

    assert without_evidence(["TEST_MOCKS_ITSELF"], page(visit), tmp_path) == {}
    assert without_evidence(["TEST_EMPTY"], "", tmp_path) == {}


@pytest.mark.parametrize(
    "row",
    [
        "",
        "| `TEST_MOCKS_ITSELF` | mock something else |",
        "| `TEST_MOCKS_ITSELF` | see [a run](https://h/o/r/blob/0a1b/visits/0007-code@57/events-1.ndjson) |",
        "| `TEST_MOCKS_ITSELF` | see [run 0123456789ab](../evidence/mocks/) |",
    ],
    ids=["no row", "no link", "the address of a page", "elsewhere"],
)
def test_a_further_check_without_a_log_in_the_repository_is_refused(tmp_path: Path, row: str) -> None:
    told = without_evidence(["TEST_MOCKS_ITSELF"], row, tmp_path)

    assert told == {"TEST_MOCKS_ITSELF": "no link to a log below docs/evidence"}


def test_a_log_that_was_made_up_is_refused(tmp_path: Path, visit: tuple[Event, ...]) -> None:
    def told(name: str, events: Sequence[Event], shown: Sequence[Event] | None = None) -> str:
        keep(tmp_path, events, f"evidence/{name}")
        row = page(shown or events, f"evidence/{name}")
        return without_evidence(["TEST_MOCKS_ITSELF"], row, tmp_path)["TEST_MOCKS_ITSELF"]

    selected = next(n for n, event in enumerate(visit) if isinstance(event.body, Selected))
    better = visit[selected].body.model_copy(update={"score": 1})
    edited = [*visit[:selected], visit[selected].model_copy(update={"body": better}), *visit[selected + 1 :]]
    (tmp_path / "evidence" / "empty").mkdir(parents=True)

    assert told("other", visit, recorded()) == f"the log is not run {recorded()[-1].hash[:12]}"
    assert "line 4 of the event log" in told("cut", [*visit[:3], *visit[4:]])
    assert told("edited", rechained(edited)) == "the log does not decide itself again"
    assert told("unwritten", recorded()) == "no tests were written in that run"
    for folder in ("evidence/empty", "evidence/none"):
        assert without_evidence(["TEST_MOCKS_ITSELF"], page(visit, folder), tmp_path) == {
            "TEST_MOCKS_ITSELF": "no log in that folder"
        }
