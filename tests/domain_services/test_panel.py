"""Several services as one: who is asked, and what a missing one means."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from cogworks.domain_services.answers import NotOffered
from cogworks.domain_services.checking import Artifacts
from cogworks.domain_services.client import ProcessService
from cogworks.domain_services.exploring import ExploreParams
from cogworks.domain_services.failures import ServiceFailed
from cogworks.domain_services.limits import Limits
from cogworks.domain_services.operations import INDEX, NORMALISE
from cogworks.domain_services.panel import Member, ServicePanel

SCRIPT = Path(__file__).parent / "broken" / "service.py"


class Copy:
    def __init__(self, path: Path) -> None:
        self.path = path


class Round:
    """A panel of scripted services, what they were asked, and the warnings."""

    def __init__(self, folder: Path, members: Sequence[tuple[str, str]]) -> None:
        self.folder = folder
        self.copy = Copy(folder)
        self.told: list[str] = []
        self.panel = ServicePanel([self.member(*each) for each in members], warn=self.told.append)

    def member(self, behaviour: str, role: str) -> Member:
        (self.folder / behaviour).touch()
        command = [sys.executable, "-S", "-E", str(SCRIPT), behaviour, str(self.folder / behaviour)]
        client = ProcessService(
            command,
            name=behaviour,
            environment=os.environ,
            limits=Limits(attempts=2, methods={"validate": 0.3}),
            sleep=lambda _: None,
        )
        return Member(client=client, is_primary=role == "primary")

    def asked(self, behaviour: str) -> list[str]:
        return (self.folder / behaviour).read_text().split()


@contextmanager
def panel(folder: Path, *members: tuple[str, str]) -> Iterator[Round]:
    round_ = Round(folder, members)
    with round_.panel:
        yield round_


def test_each_service_is_asked_about_its_own_files(tmp_path: Path) -> None:
    with panel(tmp_path, ("only-text", "primary"), ("only-pictures", "secondary")) as both:
        found = both.panel.validate(both.copy, ["src/broken.txt", "broken.txt"])

    assert [diagnostic.message for diagnostic in found] == ["m"]
    assert both.asked("only-text") == ["handshake", "validate"]
    assert both.asked("only-pictures") == ["handshake"]


def test_tests_run_wherever_tests_are_run_and_are_one_report(tmp_path: Path) -> None:
    with panel(tmp_path, ("only-text", "primary"), ("only-pictures", "primary")) as both:
        whole = both.panel.simulate(both.copy)
        one = both.panel.simulate(both.copy, ["a.txt::fails"])

    assert [case.outcome for case in whole.cases] == ["passed", "passed"]
    assert [case.outcome for case in one.cases] == ["failed"]


@pytest.mark.parametrize("behaviour", ["crash", "hang", "not-starting", "wrong-version"])
def test_a_secondary_service_that_cannot_be_used_is_left_out_with_a_warning(
    behaviour: str, tmp_path: Path
) -> None:
    with panel(tmp_path, ("only-pictures", "primary"), (behaviour, "secondary")) as both:
        assert both.panel.validate(both.copy, ["a.txt"]) == ()

    assert len(both.told) == 1
    assert both.told[0].startswith(f"validate of service {behaviour!r} was left out: service {behaviour!r} ")
    assert both.panel.warnings == tuple(both.told)


def test_a_secondary_service_without_a_handshake_is_not_tried_again(tmp_path: Path) -> None:
    with panel(tmp_path, ("only-text", "primary"), ("not-starting", "secondary")) as both:
        both.panel.validate(both.copy, ["a.txt"])
        both.panel.simulate(both.copy)

    assert len(both.told) == 1


def test_a_primary_service_that_cannot_be_used_stops_the_step(tmp_path: Path) -> None:
    with (
        panel(tmp_path, ("crash", "primary"), ("only-pictures", "secondary")) as both,
        pytest.raises(ServiceFailed, match="service 'crash' failed at validate 2 times"),
    ):
        both.panel.validate(both.copy, ["a.txt"])


def test_a_required_operation_that_no_primary_service_offers_stops_the_step(tmp_path: Path) -> None:
    with (
        panel(tmp_path, ("no-simulate", "primary")) as one,
        pytest.raises(ServiceFailed, match="'no-simulate' does not offer 'simulate', only validate"),
    ):
        one.panel.simulate(one.copy)


def test_two_services_for_the_same_files_in_one_domain_are_ambiguous(tmp_path: Path) -> None:
    words = "services 'good' and 'only-text' both answer for 'text' in domain 'test'"
    with (
        panel(tmp_path, ("good", "primary"), ("only-text", "secondary")) as both,
        pytest.raises(ServiceFailed, match=words),
    ):
        both.panel.validate(both.copy, ["a.txt"])


def test_an_optional_operation_is_answered_or_missing_by_name(tmp_path: Path) -> None:
    with panel(tmp_path, ("only-text", "primary")) as one:
        answers = one.panel.call(NORMALISE, one.copy, Artifacts(artifacts=("a.txt",)))
        missing = one.panel.call(INDEX, one.copy, ExploreParams())

    assert not isinstance(answers, NotOffered)
    assert [(answer.service, answer.result.files[0].changed) for answer in answers] == [("only-text", False)]
    assert missing == NotOffered(
        service="only-text", method="index", offered=("normalise", "simulate", "validate")
    )
    assert "does not offer 'index', only normalise, simulate, validate" in str(missing)
