"""Where probes work: real git and, in the slow tests, the real Python service; only the model is scripted."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from cogworks.codebase.changes import FileChange
from cogworks.codebase.git import Git
from cogworks.codebase.patchtree import PatchTree
from cogworks.codebase.remotes import Remote
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.codebase.worktree import WorkingCopies
from cogworks.codegen import diagnosing
from cogworks.domain_services.exploring import ExploreParams, TraceParams
from cogworks.domain_services.messages import Caller
from cogworks.domain_services.operations import INDEX, TRACE
from cogworks.domain_services.panel import ServicePanel
from cogworks.domain_services.transport import ServiceFailed
from cogworks.engine.ports import Session, SessionOrder
from cogworks.errors import BudgetReached, ConfigurationError
from cogworks.llm.gateway import Gateway
from cogworks.repair.options import Options, Search
from cogworks.repair.probe.investigating import ProbeLimits, Watching, investigate
from cogworks.repair.probe.probes import Scene
from cogworks.settings.config import Environment, parse_config, read_environment
from cogworks.vocabulary import BranchName, CommitOid, RunId
from cogworks.wiring.fix import open_repair
from cogworks.wiring.probes import Lent, ProbeSandboxPool, Site, laboratory_of, sandbox_pool_in
from cogworks.wiring.session import open_session
from tests.codebase.repositories import BOT, BareRepository, git
from tests.fakes import ScriptedModel
from tests.fixing import make_shop, place
from tests.limits import Started
from tests.nodes.examples import task
from tests.repair.examples import suspect
from tests.repair.exploring import FAILING
from tests.services.processes import running
from tests.wiring.test_fix import ENVIRONMENT, order

MARK = "diff --git a/shop/money.py b/shop/money.py\n--- a/shop/money.py\n+++ b/shop/money.py\n@@ -1,2 +1,3 @@\n+# seen\n def rounded(amount):\n     return int(amount)\n"


class Panels:
    """Opens panels without services, and knows who sits there."""

    def __init__(self) -> None:
        self.left: list[Callable[[], float | None]] = []
        self.closed = 0

    def __call__(self, left_s: Callable[[], float | None]) -> ServicePanel:
        self.left.append(left_s)
        panels = self

        class Panel(ServicePanel):
            def __exit__(self, *reason: object) -> None:
                panels.closed += 1

        return Panel((), warn=lambda _: None)


class Bench:
    """The shop with somebody's untracked file, and a laboratory for it."""

    def __init__(self, folder: Path) -> None:
        self.shop = make_shop(folder)
        (self.shop / "notes.txt").write_text("mine")
        runner = Git(environment=os.environ, home=folder)
        self.panels = Panels()
        head = CommitOid(git(self.shop, "rev-parse", "HEAD"))
        self.site = Site(self.shop, runner, base=head, folder=folder / "probes")
        self.tree = PatchTree(self.shop, runner, identity=BOT)
        self.sandbox_pool = ProbeSandboxPool(self.site, self.tree, self.panels)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def short_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For temporary files: the name of a socket has room for a hundred characters."""
    return tmp_path_factory.mktemp("t").resolve()


def test_what_is_changed_in_a_room_changes_nothing_of_the_worktree(bench: Bench) -> None:
    before = bench.sandbox_pool.digest(), git(bench.shop, "worktree", "list")

    with bench.sandbox_pool as sandbox_pool, sandbox_pool.sandbox(limit_s=60) as sandbox:
        assert sandbox.apply(MARK) is None
        assert (sandbox.text("shop/money.py") or "").startswith("# seen\n")
        assert [hit.path for hit in sandbox.grep("rounded", most=2)] == ["shop/cart.py", "shop/cart.py"]
        sandbox.reset()
        assert (sandbox.text("shop/money.py") or "").startswith("def rounded")
        assert sandbox.text("notes.txt") is None
        assert sandbox.ask(INDEX, ExploreParams()) == ()

    assert (bench.sandbox_pool.digest(), git(bench.shop, "worktree", "list")) == before


def test_who_wants_nothing_of_a_room_needs_no_worktree(bench: Bench) -> None:
    def worktrees() -> int:
        return len(git(bench.shop, "worktree", "list").splitlines())

    with bench.sandbox_pool as sandbox_pool:
        with sandbox_pool.sandbox(limit_s=60) as sandbox:
            assert worktrees() == 1
            assert sandbox.text("shop/money.py")
            assert sandbox.grep("rounded", most=1)
            assert worktrees() == 2
        assert worktrees() == 1


@pytest.mark.parametrize(
    "path", ["shop/cart.py", "notes.txt", "new.txt"], ids=["tracked", "untracked", "new"]
)
def test_any_change_of_the_worktree_changes_its_digest(bench: Bench, path: str) -> None:
    before = bench.sandbox_pool.digest()

    (bench.shop / path).write_text("changed\n")

    assert bench.sandbox_pool.digest() != before


def test_services_that_are_lent_serve_the_first_room_and_have_its_time_only_while_it_is_used(
    bench: Bench,
) -> None:
    lent = Lent()
    lent.panel = ServicePanel((), warn=lambda _: None)
    bench.sandbox_pool.lend(lent)

    with bench.sandbox_pool as sandbox_pool:
        assert lent.left_s() is None
        with sandbox_pool.sandbox(limit_s=60):
            assert 0 < (lent.left_s() or 0) <= 60
            with sandbox_pool.sandbox(limit_s=60):
                assert len(bench.panels.left) == 1
        assert lent.left_s() is None
        with sandbox_pool.sandbox(limit_s=30):
            assert 0 < (lent.left_s() or 0) <= 60
            sandbox_pool.cancel()
            assert lent.left_s() == pytest.approx(0.01)
    assert bench.panels.closed == 1


def test_as_many_services_are_opened_as_rooms_were_in_use_at_once(bench: Bench) -> None:
    with bench.sandbox_pool as sandbox_pool:
        for _ in range(3):
            with sandbox_pool.sandbox(limit_s=60):
                pass
        assert len(bench.panels.left) == 1
        with sandbox_pool.sandbox(limit_s=60), sandbox_pool.sandbox(limit_s=60):
            assert len(bench.panels.left) == 2
        assert bench.panels.closed == 0

    assert bench.panels.closed == 2


def test_services_are_told_what_is_left_and_nothing_is_once_all_is_cancelled(bench: Bench) -> None:
    with bench.sandbox_pool as sandbox_pool, sandbox_pool.sandbox(limit_s=600):
        (left_s,) = bench.panels.left
        assert 500 < (left_s() or 0) <= 600
        sandbox_pool.cancel()
        assert (left_s() or 1) < 0.1
        assert bench.panels.closed == 1


def test_no_probe_has_more_time_than_there_is_for_whoever_sent_it(tmp_path: Path) -> None:
    bench, left = Bench(tmp_path), iter([500.0, 5.0, 0.0])
    sandbox_pool = ProbeSandboxPool(bench.site, bench.tree, bench.panels, left_s=lambda: next(left))
    with sandbox_pool, sandbox_pool.sandbox(limit_s=60):
        (left_s,) = bench.panels.left
        times = [left_s() or 0.0 for _ in range(3)]

    assert 50 < times[0] <= 60
    assert times[1:] == [5.0, pytest.approx(0.01)]


def visit_of(work: Path, *, needs_walls: bool = False) -> tuple[SessionOrder, Environment]:
    order = SessionOrder(
        run_id=RunId("r"),
        task=task("code_generation", sub_item="A"),
        config=parse_config('[llm]\nmodel = "claude-sonnet-5-5"\n'),
        files={},
        budget_usd=5,
        budget_tokens=500_000,
        memory={},
        on_reply=lambda _: None,
        keep=lambda _name, _text: None,
        left_s=lambda: None,
        check=lambda: None,
        checkpoint=lambda: None,
        secure=lambda *_: None,
        needs_walls=lambda: needs_walls,
    )
    return order, read_environment({"COGWORKS_WORK_DIR": str(work)})


@contextmanager
def copy_in(folder: Path, work: Path) -> Iterator[WorkingCopy]:
    """A visit's working copy, with a commit of its own."""
    branch, base = BranchName("work"), BranchName("main")
    with WorkingCopies(work, identity=BOT, environment=os.environ) as copies:
        copy = copies.open(
            remote=Remote(str(folder / "remote.git"), None),
            run=RunId("r"),
            name="A",
            branch=branch,
            base=base,
        )
        copy.apply([FileChange(path="new.py", action="create", content="new = 1\n")])
        copy.commit("more")
        yield copy


def test_a_visit_probes_its_last_commit_and_leaves_no_worktree(tmp_path: Path) -> None:
    BareRepository(tmp_path).put("main", {"a.py": "a = 1\n"})
    work = tmp_path / "work"
    with copy_in(tmp_path, work) as copy:
        before = git(copy.path, "worktree", "list"), copy.tree_name()

        with sandbox_pool_in(copy, *visit_of(work), warn=print) as sandbox_pool:
            digest = sandbox_pool.digest()
            with sandbox_pool.sandbox(limit_s=60) as sandbox:
                assert (sandbox.text("a.py"), sandbox.text("new.py")) == ("a = 1\n", "new = 1\n")
                assert sandbox_pool.digest() == digest

        assert (git(copy.path, "worktree", "list"), copy.tree_name()) == before
        assert [path.name for path in (work / "probes").glob("*/*")] == ["locks"]


def test_a_probe_of_a_visit_runs_behind_the_walls_of_the_visit(tmp_path: Path) -> None:
    BareRepository(tmp_path).put("main", {"a.py": "a = 1\n"})
    work = tmp_path / "work"
    told: list[Caller] = []

    def noted(*_: object, caller: Caller, **__: object) -> ServicePanel:
        told.append(caller)
        return ServicePanel((), warn=print)

    with copy_in(tmp_path, work) as copy:
        for needs_walls in (True, False):
            visit = visit_of(work, needs_walls=needs_walls)
            with (
                sandbox_pool_in(copy, *visit, warn=print, open_services=noted) as sandbox_pool,
                sandbox_pool.sandbox(limit_s=60),
            ):
                pass

    assert [(each.node, each.work_item_id, each.needs_walls) for each in told] == [
        ("probe", 7, True), ("probe", 7, False),
    ]  # fmt: skip


def test_a_node_is_lent_rooms_of_its_own_working_copy_at_every_analysis(tmp_path: Path) -> None:
    BareRepository(tmp_path).put("main", {"a.py": "a = 1\n"})
    work = tmp_path / "work"
    order, _ = visit_of(work)
    offline = {"COGWORKS_LLM_PROVIDER": "cassette", "COGWORKS_CASSETTE_DIR": str(tmp_path)}
    environment = read_environment({"COGWORKS_WORK_DIR": str(work), **offline})
    with (
        copy_in(tmp_path, work) as copy,
        open_session(order, environment, lambda _order, _stack: copy, print) as session,
    ):
        for _ in range(2):
            # What was cancelled is of no use any more; the next analysis has another one.
            with session.ports.sandbox_pool() as sandbox_pool:
                with sandbox_pool.sandbox(limit_s=60) as sandbox:
                    assert sandbox.text("new.py") == "new = 1\n"
                sandbox_pool.cancel()


def test_a_node_asks_a_model_of_this_machine_without_a_price(tmp_path: Path) -> None:
    order, _ = visit_of(tmp_path)
    config = parse_config('[llm]\nmodel = "local-1"\nprovider = "openai"\n')
    here = read_environment({"COGWORKS_WORK_DIR": str(tmp_path), "OPENAI_BASE_URL": "http://localhost:1"})
    there = here.model_copy(update={"variables": {"OPENAI_API_KEY": "k"}})

    def session(environment: Environment) -> AbstractContextManager[Session]:
        return open_session(replace(order, config=config), environment, copy_of_nothing, print)

    with session(here) as opened:
        assert isinstance(opened.ports.model, Gateway)
        assert opened.ports.model.model == "local-1"
    with pytest.raises(ConfigurationError, match="'local-1' has no price"), session(there):
        pass


def copy_of_nothing(_order: SessionOrder, _stack: ExitStack) -> WorkingCopy:
    raise AssertionError("nobody needs a working copy here")


def test_an_interrupted_investigation_leaves_no_thread_and_no_worktree(bench: Bench) -> None:
    before = git(bench.shop, "worktree", "list")
    suspects = tuple(suspect(f"shop.cart.{name}", (4, 8), 0.5, artifact="shop/cart.py") for name in "abcd")

    def interrupted(line: str) -> None:
        if "probe-2" in line:
            raise KeyboardInterrupt

    scene = Scene(failing=FAILING, suspects=suspects)
    watching = Watching(lambda _kind, /, **_data: None, interrupted)
    with bench.sandbox_pool, pytest.raises(KeyboardInterrupt):
        investigate(scene, bench.sandbox_pool, ProbeLimits(), watching)

    assert git(bench.shop, "worktree", "list") == before
    assert not any(thread.name.startswith("probe") for thread in threading.enumerate())


RECALL = json.dumps(
    {"candidates": [{"hypothesis": "cents are cut off", "place": place("shop/money.py", 1, 2)}]}
)
EDIT = {
    "path": "shop/money.py",
    "search": "    return int(amount)\n",
    "replace": "    assert int(amount) == amount, 'cogworks_probe_cents'\n    return int(amount)\n",
}
PROBES = json.dumps(
    {
        "probes": [
            {
                "suspect": "shop.money.rounded",
                "purpose": "assert",
                "edits": [EDIT],
                "rationale": "fires where cents are lost",
            }
        ]
    }
)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_probes_of_every_kind_run_and_nothing_of_them_persists(
    tmp_path: Path, short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = make_shop(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(short_folder))
    before = git(shop, "rev-parse", "HEAD"), git(shop, "status", "--porcelain"), git(shop, "worktree", "list")
    # As after a plan that failed, when the suspects are asked everything.
    monkeypatch.setattr(diagnosing, "SPARING_ANALYSES", 0)
    # All that is wanted is known before the pattern is asked for.
    model = ScriptedModel(RECALL, PROBES, BudgetReached("enough"))
    options = Options(search=Search(max_probes=15, model_probes=2))
    progress: list[str] = []

    with open_repair(
        order(shop, options), ENVIRONMENT, say=print, provider=model, progress=progress.append
    ) as repair:
        with pytest.raises(BudgetReached):
            repair.run()
        artifacts, findings = repair.artifacts(), repair.notes.findings
        (folder,) = short_folder.glob("cogworks-fix-*")
        assert [path.name for path in (folder / "probes").iterdir()] == ["locks"]
        assert list((folder / "probes" / "locks").iterdir()) == []
        assert git(folder / "tree", "worktree", "list").count("\n") == 0
        assert git(folder / "tree", "status", "--porcelain") == ""

    assert findings is not None
    assert {report.kind for report in findings.reports} == {
        "ast",
        "grep",
        "trace",
        "coverage",
        "instrument",
        "assert",
        "reduce",
    }
    assert [report.error for report in findings.reports if report.error] == []
    # What only running code can tell.
    (trace,) = [
        report
        for report in findings.reports
        if (report.kind, report.suspect) == ("trace", "shop.money.rounded")
    ]
    assert trace.observations["arguments"] == {"amount": "-2.8"}
    assert trace.observations["origin"] == "returned -2"
    (fired,) = [report for report in findings.reports if report.observations.get("rationale")]
    assert (fired.recommendation, fired.observations["fired"]) == ("likely_cause", True)
    assert findings.before["shop.cart.total"] > findings.before["shop.money.rounded"]
    assert max(findings.beliefs, key=lambda name: findings.beliefs[name]) == "shop.money.rounded"
    board = json.loads(artifacts["blackboard.json"])
    assert {patch["purpose"] for patch in board["probe_patches"]} >= {"instrument", "assert"}
    assert artifacts["final_patch.txt"] == ""
    assert any("trace of shop.money.rounded: likely cause" in line for line in progress)
    assert (list(short_folder.glob("cogworks-*")), running(str(short_folder))) == ([], [])
    assert (
        git(shop, "rev-parse", "HEAD"),
        git(shop, "status", "--porcelain"),
        git(shop, "worktree", "list"),
    ) == before


def left_of(folder: Path) -> list[int]:
    """The processes that know a folder and have not ended by themselves; those in isolation notice the end of whoever started them."""
    until = time.monotonic() + 60
    while running(str(folder)) and time.monotonic() < until:
        time.sleep(0.1)
    return running(str(folder))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_probe_that_does_not_end_is_ended_with_all_its_processes(
    tmp_path: Path, short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(short_folder))
    shop = make_shop(tmp_path, {"test_a.py": "def test_a():\n    while True:\n        pass\n"})
    runner = Git(environment=os.environ, home=tmp_path)
    site = Site(shop, runner, base=CommitOid(git(shop, "rev-parse", "HEAD")), folder=tmp_path / "probes")
    tree = PatchTree(shop, runner, identity=BOT)
    before = git(shop, "worktree", "list")

    with laboratory_of(site, tree, {}, ENVIRONMENT, warn=print) as sandbox_pool:
        with sandbox_pool.sandbox(limit_s=60) as sandbox:
            assert sandbox.ask(INDEX, ExploreParams()) != ()
        with sandbox_pool.sandbox(limit_s=3) as sandbox, pytest.raises(ServiceFailed, match="stuck at trace"):
            sandbox.ask(TRACE, TraceParams(test="test_a.py::test_a", timeout_s=600))
        assert left_of(short_folder) == []

    assert git(shop, "worktree", "list") == before
    assert list(short_folder.iterdir()) == []


KILLED = """
import sys
from pathlib import Path
from tests.fakes import ScriptedModel
from tests.wiring.test_fix import ENVIRONMENT, order
from cogworks.wiring.fix import open_repair

with open_repair(order(Path(sys.argv[1])), ENVIRONMENT, say=print, provider=ScriptedModel(), progress=lambda line: print(line, flush=True)) as repair:
    repair.run()
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_a_killed_repair_leaves_is_gone_with_the_next(
    tmp_path: Path, short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, temporary = make_shop(tmp_path), short_folder
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(Path.cwd())}
    with Started(
        [sys.executable, "-c", KILLED, str(shop)], env=environment, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        while not child.stdout.readline().startswith("probe-"):
            assert child.poll() is None
        child.send_signal(signal.SIGKILL)
    # Services end when nobody holds their standard input any more.
    assert left_of(temporary) == []
    (left,) = temporary.glob("cogworks-fix-*")
    assert (left / "tree").is_dir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    with open_repair(order(shop), ENVIRONMENT, say=print, provider=ScriptedModel()):
        assert not left.exists()

    assert list(temporary.glob("cogworks-fix-*")) == []
    assert git(shop, "worktree", "list").count("\n") == 0


KILLED_VISIT = """
import sys, time
from pathlib import Path
from cogworks.domain_services.exploring import ExploreParams
from cogworks.domain_services.operations import INDEX
from cogworks.wiring.probes import sandbox_pool_in
from tests.wiring.test_probes import copy_in, visit_of

folder = Path(sys.argv[1])
work = folder / "work"
with copy_in(folder, work) as copy, sandbox_pool_in(copy, *visit_of(work), warn=print) as sandbox_pool:
    with sandbox_pool.sandbox(limit_s=600) as sandbox:
        sandbox.ask(INDEX, ExploreParams())
        print("probing", flush=True)
        time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_a_visit_killed_in_the_middle_of_a_probe_leaves_is_gone_with_its_heir(
    tmp_path: Path, short_folder: Path
) -> None:
    BareRepository(tmp_path).put("main", {"a.py": "a = 1\n"})
    work = tmp_path / "work"
    environment = {**os.environ, "TMPDIR": str(short_folder), "PYTHONPATH": str(Path.cwd())}
    with Started(
        [sys.executable, "-c", KILLED_VISIT, str(tmp_path)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "probing\n"
        child.send_signal(signal.SIGKILL)
    assert left_of(short_folder) == []
    left = [path for path in (work / "probes").glob("*/*") if path.name != "locks"]
    assert len(left) == 1

    with copy_in(tmp_path, work) as copy, sandbox_pool_in(copy, *visit_of(work), warn=print):
        assert [path for path in left if path.exists()] == []
        assert str(left[0]) not in git(copy.path, "worktree", "list")
