"""Where a repair works: a clone of its own, the services and the model, and which tests fail there.

Loads what the first run of the tests needs. While they run the model is opened, and the caller may load the rest, which is in `wiring/fix`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cogworks.codebase.places import scratch_folder
from cogworks.codebase.treefacts import Checkout
from cogworks.domain_services.ahead import Starts
from cogworks.domain_services.announcing import Waiting
from cogworks.domain_services.messages import Caller
from cogworks.domain_services.panel import ServicePanel
from cogworks.domain_services.process import ServiceProcess
from cogworks.llm.provider import Provider
from cogworks.repair.consulting import Consulted
from cogworks.repair.instance import Instance
from cogworks.repair.testcommand import TestPace
from cogworks.repair.transact.gates import Limits as RepairLimits
from cogworks.repair.transact.steady import SteadyTests
from cogworks.settings.config import Environment, parse_config
from cogworks.sight.index import Index
from cogworks.sight.store import Store as SightStore
from cogworks.telling import During, in_silence
from cogworks.wiring.clone import Copy, clone_as_it_lies, clone_of, own_files
from cogworks.wiring.fix_order import Order
from cogworks.wiring.fix_targets import RunsTests, asked_once, with_failing
from cogworks.wiring.meanwhile import ChecksMeanwhile, Meanwhile
from cogworks.wiring.probes import Lent
from cogworks.wiring.services import open_panel

if TYPE_CHECKING:
    # Loaded while the tests run.
    from cogworks.wiring.fix_model import Asked, Unasked


@dataclass(frozen=True)
class Workplace:
    """A clone with everything that looks at it, and the task with its failing tests."""

    order: Order
    environment: Environment
    folder: Path
    """Temporary; the clone is below it."""
    copy: Copy
    files: Mapping[str, str]
    """Below `.cogworks`, as they are committed."""
    names: tuple[str, ...]
    """What lies at the root of the repository."""
    asked: "Asked | Unasked"
    panel: ServicePanel
    lent: Lent
    index: Callable[[], Index]
    consulted: SteadyTests
    instance: Instance
    """That of the order; with every test that fails where it names none."""


@contextmanager
def open_workplace(
    order: Order,
    environment: Environment,
    *,
    say: Callable[[str], None],
    provider: Provider | None = None,
    during: During = in_silence,
    starts: Starts = ServiceProcess,
) -> Iterator[Workplace]:
    """A clone below a temporary folder, removed with the block; the repository itself is only read.

    Args and raises: as `wiring.fix.open_repair`.
    """
    with scratch_folder("cogworks-fix-") as folder:
        cloned = clone_as_it_lies if order.with_uncommitted else clone_of
        copy = cloned(order.repository, order.instance, folder, say)
        files = own_files(copy.path)
        if (text := files.get("config.toml")) is not None:
            # Before anything of the repository runs.
            parse_config(text)
        names = tuple(each.name for each in copy.path.iterdir())
        lent = Lent()
        with ExitStack() as opened:
            opening: Meanwhile[Asked | Unasked] = Meanwhile(starts)
            panel = opened.enter_context(
                open_panel(
                    files,
                    environment,
                    caller=Caller(node="fix"),
                    warn=say,
                    waiting=Waiting(lent.left_s),
                    test_command=order.words,
                    names=names,
                    starts=opening,
                )
            )
            store, checkout = SightStore(folder / "sight.sqlite3"), Checkout(copy.path, copy.git)
            consulted = SteadyTests(
                Consulted(
                    copy,
                    panel,
                    suite=order.suite,
                    warn=say,
                    words=lambda: Index(checkout, store, say=say),
                    during=during,
                    pace=TestPace(order.options.gates.test_timeout_s, warn=say),
                )
            )
            opening.begin(
                lambda: _opened(opened, order, environment, files, provider=provider, during=during, say=say)
            )
            try:
                instance = _with_targets(
                    order,
                    ChecksMeanwhile(consulted, opening),
                    say,
                    uncommitted=copy.uncommitted,
                    unserved=lambda: _unserved(checkout, names, environment, files),
                )
            finally:
                # What it opens is closed with everything else, and not before it is open.
                asked = opening.result()
            yield Workplace(
                order=order,
                environment=environment,
                folder=folder,
                copy=copy,
                files=files,
                names=names,
                asked=asked,
                panel=panel,
                lent=lent,
                index=lambda: Index(checkout, store, say=say),
                consulted=consulted,
                instance=instance,
            )


def _is_own(repository: Path, name: str) -> bool:
    places = (repository, repository / "src")
    return any((place / each).exists() for place in places for each in (name, f"{name}.py"))


def _unserved(
    checkout: Checkout, names: Sequence[str], environment: Environment, files: Mapping[str, str]
) -> str:
    """Why no service knows the language of a checkout, and what to do; empty: one does."""
    from cogworks.wiring.readiness import languages_of_checkout  # noqa: PLC0415 - few repairs end here

    check = languages_of_checkout(checkout.files(), names, environment, files)
    return f"{check.found} {check.remedy}" if check.status == "failed" else ""


def _with_targets(
    order: Order,
    checks: RunsTests,
    say: Callable[[str], None],
    *,
    uncommitted: Sequence[str],
    unserved: Callable[[], str],
) -> Instance:
    """The task with its failing tests. Raises: as `with_failing`."""
    instance = order.instance
    if not instance.failing_tests:
        is_own = partial(_is_own, order.repository)
        return with_failing(instance, checks, say, is_own=is_own, uncommitted=uncommitted, unserved=unserved)
    if order.words:
        asked_once(checks, instance.failing_tests, RepairLimits().targeted_s)
    return instance


def _opened(
    opened: ExitStack,
    order: Order,
    environment: Environment,
    files: Mapping[str, str],
    *,
    provider: Provider | None,
    during: During,
    say: Callable[[str], None],
) -> "Asked | Unasked":
    """The model of the repair, until the stack is closed, or why there is none, which people read at once."""
    from cogworks.wiring.fix_model import Unasked, open_model  # noqa: PLC0415 - the tests need nothing of it

    asked = opened.enter_context(open_model(order, environment, files, provider, during))
    if isinstance(asked, Unasked):
        say(f"{asked.reason}\nOnly the steps that need no model run. Your files stay as they are.")
    return asked
