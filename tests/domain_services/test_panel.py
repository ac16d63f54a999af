"""Several services as one: who is asked, and what a missing one means."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from cogworks.domain_services.answers import NotOffered
from cogworks.domain_services.checking import Artifacts, Nothing, PrepareParams
from cogworks.domain_services.client import ProcessService
from cogworks.domain_services.exploring import ExploreParams
from cogworks.domain_services.limits import Limits
from cogworks.domain_services.operations import ALL, INDEX, NORMALISE, PREPARE
from cogworks.domain_services.panel import Member, ServicePanel
from cogworks.domain_services.transport import ServiceFailed

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
    assert (whole.commands, whole.versions) == (("try a.txt",), {"try": "1"})
    assert [case.outcome for case in one.cases] == ["failed"]


def test_every_service_is_asked_about_a_folder_of_tests(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    with panel(tmp_path, ("only-text", "primary"), ("only-pictures", "primary")) as both:
        report = both.panel.simulate(both.copy, ["tests"])

    assert [case.outcome for case in report.cases] == ["passed", "passed"]


def test_a_test_that_a_service_reported_of_the_root_is_run_by_no_other(tmp_path: Path) -> None:
    with panel(tmp_path, ("only-text", "primary"), ("rootless", "primary")) as both:
        both.panel.simulate(both.copy)
        again = both.panel.simulate(both.copy, [".::npm run check"])

    assert [case.id for case in again.cases] == [".::npm run check"]
    assert both.asked("only-text") == ["handshake", "simulate"]
    assert both.asked("rootless") == ["handshake", "simulate", "simulate"]


def test_groups_are_for_one_service_that_announces_them_and_knows_all_files(tmp_path: Path) -> None:
    groups = [["a.txt::fails"], ["b.txt"]]
    with panel(tmp_path, ("ungrouped", "primary")) as one:
        report = one.panel.simulate_groups(one.copy, groups, timeout_s=5)
    with panel(tmp_path, ("only-text", "primary")) as unable:
        none = unable.panel.simulate_groups(unable.copy, groups, timeout_s=5)
    with panel(tmp_path, ("ungrouped", "primary"), ("only-pictures", "secondary")) as two:
        shared = two.panel.simulate_groups(two.copy, groups, timeout_s=5)

    assert report is not None
    assert [case.id for case in report.cases] == ["a.txt::fails", "a.txt::works"]
    assert (none, shared) == (None, None)


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


def test_what_the_tests_met_of_their_walls_is_told_of_every_service(tmp_path: Path) -> None:
    with panel(tmp_path, ("only-text", "primary"), ("no-walls", "primary")) as both:
        report = both.panel.simulate(both.copy)

    assert (report.blocked, report.unprotected) == (("t: tried to read /key",), ("reach the network",))


OPTIONAL = [
    each for each in ALL if each.method not in ("handshake", "validate", "simulate") and each.is_missed
]


def test_an_environment_that_comes_about_by_itself_is_not_missed(tmp_path: Path) -> None:
    with panel(tmp_path, ("no-simulate", "primary")) as one:
        assert isinstance(one.panel.call(PREPARE, one.copy, PrepareParams()), NotOffered)

    assert one.panel.warnings == ()


def test_every_optional_operation_that_nobody_offers_is_named_once(tmp_path: Path) -> None:
    with panel(tmp_path, ("no-simulate", "primary")) as one:
        for operation in OPTIONAL * 2:
            # Nobody is asked, so the parameters do not matter.
            assert isinstance(one.panel.call(operation, one.copy, Nothing()), NotOffered)

    assert one.panel.warnings == tuple(
        f"nobody tells {operation.purpose}: service 'no-simulate' does not offer {operation.method!r}"
        for operation in OPTIONAL
    )
    assert one.asked("no-simulate") == ["handshake"]


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


def test_interfaces_that_no_service_can_list_are_done_without_by_name(tmp_path: Path) -> None:
    with panel(tmp_path, ("only-text", "primary")) as one:
        missing = one.panel.interfaces(one.copy, ["a.txt"])

    assert missing == NotOffered(
        service="only-text", method="extract_interfaces", offered=("normalise", "simulate", "validate")
    )


def test_files_are_formatted_by_the_services_whose_business_they_are(tmp_path: Path) -> None:
    with panel(tmp_path, ("only-text", "primary"), ("only-pictures", "primary")) as both:
        texts = both.panel.normalised(both.copy, ["rough.txt", "a.txt", "rough.png", "rough.md"])

    assert texts == {"rough.txt": "formatted\n", "rough.png": "formatted\n"}


def test_files_that_are_nobody_s_business_are_not_asked_about(tmp_path: Path) -> None:
    with panel(tmp_path, ("only-text", "primary")) as one:
        assert one.panel.normalised(one.copy, ["notes.md"]) == {}

    assert one.asked("only-text") == ["handshake"]


def test_rules_that_no_service_offers_are_left_out_with_one_warning(tmp_path: Path) -> None:
    with panel(tmp_path, ("only-text", "primary")) as one:
        assert one.panel.review(one.copy, ["a.txt"]) == ()
        assert one.panel.review(one.copy, ["a.txt"]) == ()

    assert len(one.told) == 1
    assert one.told[0] == (
        "nobody tells what rules of security and style find in files: service 'only-text' does not offer 'review_rules'"
    )
    assert one.panel.warnings == tuple(one.told)


def test_what_rules_find_comes_from_every_service_that_has_some(tmp_path: Path) -> None:
    with panel(tmp_path, ("with-rules", "primary"), ("only-pictures", "secondary")) as both:
        found = both.panel.review(both.copy, ["broken.txt"])

    assert [each.message for each in found] == ["m"]
    assert both.told == []
