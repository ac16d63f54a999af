"""Several services as the one a node asks: who is asked about what, and what follows when one is missing."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from cogworks.domain_services.answers import Answer, NotOffered
from cogworks.domain_services.checking import (
    Artifacts,
    InterfaceMap,
    Parts,
    ReviewRulesParams,
    ValidateDepsParams,
)
from cogworks.domain_services.client import ServiceClient
from cogworks.domain_services.messages import (
    Diagnostic,
    ErrorCode,
    Handshake,
    Message,
    TestReport,
)
from cogworks.domain_services.operations import (
    EXTRACT_INTERFACES,
    NORMALISE,
    REVIEW_RULES,
    VALIDATE_DEPS,
    Operation,
)
from cogworks.domain_services.origins import HasPath
from cogworks.domain_services.parts import beside, in_pages
from cogworks.domain_services.roots import inner_roots, lies_in, own_params, own_result, own_results
from cogworks.domain_services.transport import ServiceFailed
from cogworks.errors import TryAgainLater

Params = TypeVar("Params", bound=Message)
Result = TypeVar("Result", bound=Message)
Answered = TypeVar("Answered")


@dataclass(frozen=True)
class Member:
    """One service of the panel."""

    client: ServiceClient
    is_primary: bool = True
    artifacts: tuple[str, ...] = ()
    """Patterns of the files it is asked about; none: as its handshake says."""
    root: str = ""
    """The folder that it is for; empty: the whole repository."""
    inner: tuple[str, ...] = ()
    """Folders below it that others of its kind are for."""

    def holds(self, path: str) -> bool:
        """Whether a path lies in its folder, and in none that another of its kind is for."""
        return lies_in(path, self.root) and not any(lies_in(path, each) for each in self.inner)

    def covers(self, path: str) -> bool:
        """Whether a file is its business."""
        if not self.holds(path):
            return False
        patterns = self.artifacts or self.client.handshake().artifact_patterns
        return not patterns or any(
            fnmatchcase(path, pattern) or fnmatchcase(path.rsplit("/", 1)[-1], pattern)
            for pattern in patterns
        )


class ServicePanel:
    """All services of a repository for the length of a `with` block; obeys the Protocol `DomainService`.

    A primary service that cannot be used stops the step by its ServiceFailed or TryAgainLater, which name service
    and operation. What a secondary one would have said is left out, and a warning says so.
    """

    def __init__(self, members: Sequence[Member], *, warn: Callable[[str], None]) -> None:
        """Args:
        members: in the order in which they are asked, one after another.
        warn: gets each check that is left out, at once.
        """
        self._members = tuple(members)
        self._warn = warn
        self._absent: set[str] = set()
        self._test_files: dict[str, set[str]] = {}
        """Service -> files that it reported tests of and that are nobody's business by their names: a text may hold tests."""
        self._warnings: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with ExitStack() as stack:
            for member in self._members:
                stack.callback(member.client.close)

    def only(self, names: Collection[str]) -> Self:
        """Some of the services as a panel of their own; they are let go with this one."""
        return type(self)([each for each in self._members if each.client.name in names], warn=self._warn)

    def validate(self, workspace: HasPath, paths: Sequence[str]) -> Sequence[Diagnostic]:
        """What the services find in these files; files that are no service's business are passed over."""
        diagnostics: list[Diagnostic] = []
        for member in self._members_for("validate"):
            diagnostics += self._of(member, "validate", lambda each: _validated(each, workspace, paths)) or ()
        return tuple(diagnostics)

    def simulate(
        self,
        workspace: HasPath,
        tests: Sequence[str] = (),
        *,
        timeout_s: float | None = None,
        test_timeout_s: float | None = None,
    ) -> TestReport:
        """Run the given test files or ids (none: the whole suite) in every service that runs tests, each for `timeout_s`."""

        def run(member: Member, own: Sequence[str]) -> TestReport:
            return member.client.simulate(workspace, own, timeout_s=timeout_s, test_timeout_s=test_timeout_s)

        return self._simulated(tests, run, workspace)

    def simulate_part(self, workspace: HasPath, tests: Sequence[str], parts: Parts) -> TestReport:
        """As `simulate`, in one request to each service: what there was no time for is named in `left`."""
        return self._simulated(
            tests, lambda each, own: each.client.simulate_part(workspace, own, parts), workspace
        )

    def _simulated(
        self, tests: Sequence[str], run: Callable[[Member, Sequence[str]], TestReport], workspace: HasPath
    ) -> TestReport:
        members, reports = self._members_for("simulate"), list[TestReport]()
        for member in members:
            known = self._test_files.setdefault(member.client.name, set())
            foreign = set().union(*self._test_files.values()) - known
            own = [each for each in tests if "::" not in each or each.split("::", 1)[0] not in foreign]
            if tests and not own:
                continue
            answer = partial(_simulated, workspace=workspace, tests=own, run=run, known=known)
            if report := self._of(member, "simulate", answer):
                files = {case.id.split("::", 1)[0] for case in report.cases}
                known.update(path for path in files if not any(each.covers(path) for each in members))
                reports.append(report)
        return beside(reports)

    def simulate_groups(
        self,
        workspace: HasPath,
        groups: Sequence[Sequence[str]],
        *,
        timeout_s: float,
        test_timeout_s: float | None = None,
    ) -> TestReport | None:
        """As `simulate`, one group after another until a test fails; None where not just one service can do that for all."""
        members = self._members_for("simulate")
        if len(members) != 1 or not members[0].is_primary:
            return None
        (member,) = members
        known = self._test_files.get(member.client.name, ())
        if not all(_runs(member, workspace, test, known) for group in groups for test in group):
            return None
        return self._of(
            member,
            "simulate",
            lambda each: each.client.simulate_groups(
                workspace, groups, timeout_s=timeout_s, test_timeout_s=test_timeout_s
            ),
        )

    def interfaces(self, workspace: HasPath, paths: Sequence[str]) -> InterfaceMap | NotOffered:
        """What these files offer, by all services that offer the method; NotOffered when none does."""
        method = EXTRACT_INTERFACES.method
        offering = self._offering(method)
        maps = [
            part
            for member in offering
            if (part := self._of(member, method, lambda each: _offered(each, workspace, paths)))
        ]
        if not offering:
            return self._not_offered(method)
        is_whole = all(each.status == "complete" for each in maps)
        return InterfaceMap(
            status="complete" if is_whole else "incomplete",
            interfaces=tuple(interface for each in maps for interface in each.interfaces),
            unread=tuple(unread for each in maps for unread in each.unread),
        )

    def normalised(self, workspace: HasPath, paths: Sequence[str]) -> Mapping[str, str]:
        """The new texts of those files that are not in the project's formatting; nothing is written."""
        answers = self._about(NORMALISE, workspace, paths, lambda each: Artifacts(artifacts=each))
        files = [file for answer in answers for file in answer.result.files]
        return {file.artifact: file.content for file in files if file.content is not None}

    def review(self, workspace: HasPath, paths: Sequence[str]) -> Sequence[Diagnostic]:
        """What rules of security and of likely bugs find in these files."""
        params = partial(ReviewRulesParams, changed=tuple(paths))
        answers = self._about(REVIEW_RULES, workspace, paths, lambda each: params(artifacts=each))
        return tuple(diagnostic for answer in answers for diagnostic in answer.diagnostics)

    def dependencies(self, workspace: HasPath, paths: Sequence[str]) -> Sequence[Diagnostic]:
        """What is wrong with the dependencies that these files use."""
        answers = self._about(VALIDATE_DEPS, workspace, paths, lambda own: ValidateDepsParams(artifacts=own))
        return tuple(each for answer in answers for each in answer.diagnostics)

    def call(
        self, operation: Operation[Params, Result], workspace: HasPath, params: Params
    ) -> tuple[Answer[Result], ...] | NotOffered:
        """What all services that offer it answer, several times one that is asked in pages; NotOffered, with a warning if missed."""
        answers: list[Answer[Result]] = []
        offering = self._offering(operation.method)
        for member in offering:
            ask = partial(_called, operation=operation, workspace=workspace, params=params)
            answers += self._of(member, operation.method, ask) or ()
        if answers:
            return tuple(answers)
        missing = self._not_offered(operation.method)
        if not offering and operation.is_missed:
            self._leave_out(f"nobody tells {operation.purpose}: {missing.in_short}")
        return missing

    def offers(self, operation: Operation[Params, Result]) -> bool:
        """Whether a service that can be used offers an operation. Raises as `call` where a primary one cannot be used."""
        return bool(self._offering(operation.method))

    @property
    def warnings(self) -> Sequence[str]:
        """What was left out so far, for the pull request; each once."""
        return self._warnings

    def _about(
        self,
        operation: Operation[Params, Result],
        workspace: HasPath,
        paths: Sequence[str],
        params: Callable[[tuple[str, ...]], Params],
    ) -> list[Answer[Result]]:
        """What the services say of their files in an operation that nobody has to offer; that none does is reported."""
        offering = self._offering(operation.method)
        if not offering:
            self._leave_out(
                f"nobody tells {operation.purpose}: {self._not_offered(operation.method).in_short}"
            )
        answers: list[Answer[Result]] = []
        for member in offering:
            answer = self._of(
                member, operation.method, lambda each: _answered(each, operation, workspace, paths, params)
            )
            if isinstance(answer, Answer):
                answers.append(answer)
        return answers

    def _members_for(self, method: str) -> list[Member]:
        """Who offers a method without which nothing can be judged; at least one primary service must."""
        offering = self._offering(method)
        if not any(member.is_primary for member in offering):
            missing = self._not_offered(method)
            raise ServiceFailed(
                str(missing), service=missing.service, method=method, code=ErrorCode.UNSUPPORTED_METHOD
            )
        return offering

    def _not_offered(self, method: str) -> NotOffered:
        present = [member.client for member in self._members if member.client.name not in self._absent]
        offered = {each for client in present for each in client.handshake().capabilities}
        names = ", ".join(client.name for client in present)
        return NotOffered(service=names, method=method, offered=tuple(sorted(offered)))

    def _offering(self, method: str) -> list[Member]:
        handshakes = [(member, self._handshake(member, method)) for member in self._members]
        present = [(member, handshake) for member, handshake in handshakes if handshake]
        _refuse_ambiguity(present)
        return [
            replace(member, inner=_inner_roots(member, handshake, present))
            for member, handshake in present
            if method in handshake.capabilities
        ]

    def _handshake(self, member: Member, method: str) -> Handshake | None:
        if member.client.name in self._absent:
            return None
        handshake = self._of(member, method, lambda each: each.client.handshake())
        if handshake is None:
            self._absent.add(member.client.name)
        return handshake

    def _of(self, member: Member, method: str, ask: Callable[[Member], Answered | None]) -> Answered | None:
        """What a member answers; None when it is secondary and cannot be used."""
        try:
            return ask(member)
        except (ServiceFailed, TryAgainLater) as error:
            if member.is_primary:
                raise
            self._leave_out(f"{method} of service {member.client.name!r} was left out: {error}")
            return None

    def _leave_out(self, text: str) -> None:
        if text not in self._warnings:
            self._warnings = (*self._warnings, text)
            self._warn(text)


def _validated(member: Member, workspace: HasPath, paths: Sequence[str]) -> Sequence[Diagnostic]:
    covered = [path for path in paths if member.covers(path)]
    return member.client.validate(workspace, covered) if covered else ()


def _simulated(
    member: Member,
    workspace: HasPath,
    tests: Sequence[str],
    run: Callable[[Member, Sequence[str]], TestReport],
    known: Collection[str],
) -> TestReport | None:
    """Without any test the member runs its whole suite. What is `known` is its business, whatever its patterns say."""
    covered = [own for test in tests if (own := _own_part(member, workspace, test, known)) is not None]
    if tests and not covered:
        return None
    return own_results(run(member, covered), member.holds)


def _own_part(member: Member, workspace: HasPath, test: str, known: Collection[str]) -> str | None:
    """The test where it is a member's business; of a folder around the member's the member's folder; else None."""
    path = test.split("::", 1)[0].rstrip("/")
    if member.root != path and lies_in(member.root, path):
        return member.root
    return test if _runs(member, workspace, test, known) else None


def _runs(member: Member, workspace: HasPath, test: str, known: Collection[str]) -> bool:
    """Whether a test is a member's business: its id begins with the path of its file, and in a folder anybody's may lie."""
    path = test.split("::", 1)[0]
    return member.covers(path) or (member.holds(path) and (path in known or (workspace.path / path).is_dir()))


def _offered(member: Member, workspace: HasPath, paths: Sequence[str]) -> InterfaceMap | None:
    """None for a service whose files are not among these."""
    covered = [path for path in paths if member.covers(path)]
    part = member.client.interfaces(workspace, covered) if covered else None
    return None if isinstance(part, NotOffered) else part


def _answered(
    member: Member,
    operation: Operation[Params, Result],
    workspace: HasPath,
    paths: Sequence[str],
    params: Callable[[tuple[str, ...]], Params],
) -> Answer[Result] | NotOffered | None:
    covered = tuple(path for path in paths if member.covers(path))
    return member.client.call(operation, workspace, params(covered)) if covered else None


def _called(
    member: Member, operation: Operation[Params, Result], workspace: HasPath, params: Params
) -> list[Answer[Result]]:
    """None where all that is asked about lies in folders of others."""
    own = own_params(params, member.holds)
    if own is None:
        return []
    pages = in_pages(own, workspace.path) if operation.is_paged else (own,)
    answers = (member.client.call(operation, workspace, each) for each in pages)
    return [
        replace(each, result=own_result(each.result, member.holds)) if member.inner else each
        for each in answers
        if isinstance(each, Answer)
    ]


def _inner_roots(
    member: Member, handshake: Handshake, present: Sequence[tuple[Member, Handshake]]
) -> tuple[str, ...]:
    """The folders of others that know the same kind of files: there they are asked instead."""
    kinds = set(handshake.artifact_types)
    alike = (
        other.root
        for other, theirs in present
        if theirs.domain == handshake.domain and kinds & set(theirs.artifact_types)
    )
    return inner_roots(member.root, alike)


def _refuse_ambiguity(present: Sequence[tuple[Member, Handshake]]) -> None:
    """Two services for the same kind of file in the same domain: nobody could say which one is right."""
    seen: dict[tuple[str, str, str], str] = {}
    for member, handshake in present:
        for kind in handshake.artifact_types:
            other = seen.setdefault((handshake.domain, kind, member.root), member.client.name)
            if other != member.client.name:
                raise ServiceFailed(
                    f"services {other!r} and {member.client.name!r} both answer for {kind!r} in domain "
                    f"{handshake.domain!r}; remove one of them from `.cogworks/services.toml`, or give each a `root` of its own.",
                    service=member.client.name,
                    method="handshake",
                )
