"""What may happen while the tests run for the first time, in a thread, and how it ends them where it fails."""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from types import MappingProxyType
from typing import Generic, TypeVar

from cogworks.domain_services.ahead import Starts
from cogworks.domain_services.messages import TestReport
from cogworks.domain_services.process import ServiceProcess
from cogworks.wiring.fix_targets import RunsTests

Result = TypeVar("Result")


class Meanwhile(Generic[Result]):
    """Something that is done in a thread. Obeys `Starts`: the services that are started by it end where that fails.

    So nobody waits for tests that would be in vain: their runner gets the reason instead of their report.
    """

    def __init__(self, starts: Starts) -> None:
        self._starts = starts
        self._mutex = threading.Lock()
        self._started: list[ServiceProcess] = []
        self._future: Future[Result] = Future()

    def __call__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        start_s: float,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> ServiceProcess:
        """As `Starts`. Raises what went wrong meanwhile: nothing is started any more."""
        with self._mutex:
            if self._future.done():
                self._future.result()
            process = self._starts(command, environment=environment, start_s=start_s, variables=variables)
            self._started.append(process)
            return process

    def begin(self, work: Callable[[], Result]) -> None:
        """Do it from now on, once."""
        threading.Thread(target=self._do, args=(work,), daemon=True).start()

    def result(self) -> Result:
        """The result of the work, when it has ended. Raises what the work raises."""
        return self._future.result()

    def _do(self, work: Callable[[], Result]) -> None:
        try:
            self._future.set_result(work())
        except BaseException as error:  # the caller that waits for it has to know
            with self._mutex:
                self._future.set_exception(error)
                for each in self._started:
                    each.end_politely()


class ChecksMeanwhile(Generic[Result]):
    """Whose runs of tests end no sooner than what is done meanwhile; obeys `RunsTests`."""

    def __init__(self, checks: RunsTests, meanwhile: Meanwhile[Result]) -> None:
        self._checks = checks
        self._meanwhile = meanwhile

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport:
        try:
            return self._checks.run(tests, timeout_s=timeout_s)
        finally:
            # Where it failed, that is why the tests came to no end.
            self._meanwhile.result()
