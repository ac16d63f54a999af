from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from cogworks.codebase.diffmodel import Diff, render
from cogworks.codebase.diffplacing import between
from cogworks.codebase.patchtree import TreeView
from cogworks.domain_services.messages import Diagnostic, TestReport
from cogworks.repair.landmarks import FailurePattern, RepairTarget, Span
from cogworks.repair.localise.slices import Slice
from cogworks.repair.planning import Caps, Situation
from cogworks.repair.proposing import ModelProposer, Request, judged, step_of, windows_of
from cogworks.repair.replies import DiffReply, DiffsReply
from cogworks.repair.transact.transaction import TransactionPorts
from cogworks.repair.violations import Reading
from cogworks.sight.seen import Seen
from cogworks.vocabulary import Severity
from tests.fixing import diffs
from tests.repair.benches import FILES, FactChecks, make_worktree, on_disk, patch_tree
from tests.repair.scripted_model import Answers

SPAN = Span(artifact="a.txt", lines=(1, 2))
LANDMARK = RepairTarget(
    id="fix-a",
    intent="Mend a.",
    target_spans=(SPAN,),
    constraints=("allow_api:shop.a",),
    landmark_test="a.txt::a",
)
PATTERN = FailurePattern(summary="a is bad", primary_location=SPAN, invariants=("b stays",), confidence=0.5)


def request(most: int = 3) -> Request:
    seen = Seen(FILES.get)
    return Request(
        landmark=LANDMARK,
        pattern=PATTERN,
        situation=Situation(
            failing=TestReport(cases=()),
            suspects=(),
            slices=(),
            targets=("a.txt::a",),
            reasons=("breaks b.txt",),
        ),
        windows=windows_of(LANDMARK, FILES, seen, padding=1),
        step=step_of(LANDMARK, Caps(changed_lines=4, files=1), seen),
        most=most,
        purpose="fix-diffs-1",
    )


def replies(text: str) -> tuple[DiffReply, ...]:
    return DiffsReply.model_validate_json(text).diffs


@pytest.fixture
def ports(tmp_path: Path) -> TransactionPorts:
    tree = make_worktree(tmp_path)
    return TransactionPorts(patch_tree(tree), FactChecks(tree))


def test_the_request_shows_windows_with_numbers_the_allow_list_the_caps_and_earlier_reasons() -> None:
    model = Answers(diffs({"a.txt": ("a = bad", "a = good")}))

    found = ModelProposer(model).propose(request())

    assert len(found) == 1
    shown = model.asked[0][2]
    for text in (
        "1 a = bad",
        "3 c = good",
        "a.txt::a",
        "At most 4 changed lines in at most 1 file",
        "breaks b.txt",
    ):
        assert text in shown
    assert "shop.a" in shown
    assert "4 d = bad" not in shown


def test_edits_and_unified_diffs_become_the_same_form_of_git(ports: TransactionPorts) -> None:
    wanted = render(
        Diff(files=(between("a.txt", FILES["a.txt"], FILES["a.txt"].replace("a = bad", "a = good")),))
    )
    text = f"```diff\n{wanted.replace('@@ -1,4 +1,4 @@', '@@ -9 +9 @@')}```"

    by_edit = judged(replies(diffs({"a.txt": ("a = bad", "a = good")})), request(), ports)
    by_diff = judged(replies(diffs(text)), request(), ports)

    assert [each.diff for each in by_edit.kept] == [each.diff for each in by_diff.kept] == [wanted]


def test_several_diffs_about_the_same_files_are_judged_against_one_look_at_the_tree(
    ports: TransactionPorts, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[frozenset[str]] = []
    view_of = ports.tree.view_of

    def noted(paths: Sequence[str]) -> TreeView:
        asked.append(frozenset(paths))
        return view_of(paths)

    monkeypatch.setattr(ports.tree, "view_of", noted)
    answer = [{"a.txt": ("a = bad", f"a = {word}")} for word in ("good", "better", "best")]

    found = judged(replies(diffs(*answer)), request(), ports)

    assert len(found.kept) == 3
    assert len(asked) == len(set(asked))


def test_the_nearer_and_smaller_diff_goes_first_and_what_is_beyond_k_is_cut_off(
    ports: TransactionPorts,
) -> None:
    far = {"a.txt": ("b = good\nc = good", "b = right\nc = right")}
    near = {"a.txt": ("a = bad", "a = good")}

    found = judged(replies(diffs(far, near, {"a.txt": ("a = bad", "a = better")})), request(most=2), ports)

    assert ["a = good" in each.diff for each in found.kept] == [True, False]
    assert found.refused == ()


@pytest.mark.parametrize("is_edit", [False, True])
def test_a_diff_that_is_too_large_is_refused_before_anybody_reads_it(
    ports: TransactionPorts, monkeypatch: pytest.MonkeyPatch, is_edit: bool
) -> None:
    huge = "+x\n" * 100_000
    answer = diffs({"a.txt": ("a = bad", huge)} if is_edit else f"--- a/a.txt\n+++ b/a.txt\n@@\n{huge}")

    def read(*_: object) -> None:
        pytest.fail("it was read")

    monkeypatch.setattr("cogworks.repair.proposing.recounted", read)
    monkeypatch.setattr("cogworks.repair.proposing.normalised_diff", read)
    monkeypatch.setattr("cogworks.repair.proposing.normalised_replacements", read)
    found = judged(replies(answer), request(), ports)

    assert found.kept == ()
    (reason,) = found.refused
    assert reason.startswith("diff 1: size: has 300")
    assert reason.endswith("at most 200000 are allowed")


def test_every_reason_of_every_refused_diff_is_told_and_nothing_is_written(
    ports: TransactionPorts, tmp_path: Path
) -> None:
    before = on_disk(tmp_path / "tree")
    bad = [
        diffs({"b.txt": ("line 1\n", "line one\n")}, {"a.txt": ("= good", "= bad")}, "no diff at all"),
        diffs({"../evil.txt": ("", "evil\n")}),
        diffs({"a.txt": ("d = bad", "d = good")}),
    ]

    found = [judged(replies(text), request(), ports) for text in bad]

    assert [each.kept for each in found] == [(), (), ()]
    told = " ".join(reason for each in found for reason in each.refused)
    for text in ("allowlist", "stands 2 times", "path", "range"):
        assert text in told
    assert on_disk(tmp_path / "tree") == before


def test_the_same_diff_twice_and_one_that_was_tried_are_refused(ports: TransactionPorts) -> None:
    once = {"a.txt": ("a = bad", "a = good")}

    first = judged(replies(diffs(once, once)), request(), ports)
    again = judged(replies(diffs(once)), request(), ports, tried={first.kept[0].id})

    assert first.refused == ("diff 2: is the same as an earlier one",)
    assert again.kept == ()
    assert "repeat" in again.refused[0]


def test_edits_together_with_a_diff_are_refused(ports: TransactionPorts) -> None:
    both = replies(diffs({"a.txt": ("a = bad", "a = good")}))[0].model_copy(update={"unified_diff": "x"})

    assert judged([both], request(), ports).refused == (
        "diff 1: has edits and a unified diff; give one of them",
    )


class Careless(FactChecks):
    """A linter that does not like one word."""

    def read(self, images: Mapping[str, str | None]) -> Reading:
        found = [path for path, text in images.items() if "careless" in (text or "")]
        return Reading(
            lint=tuple(
                Diagnostic(
                    artifact=path, line=1, severity=Severity.WARNING, category="style", message="careless"
                )
                for path in found
            )
        )


def test_what_a_linter_would_mind_goes_after_what_it_would_not(tmp_path: Path) -> None:
    tree = make_worktree(tmp_path)
    said = diffs({"a.txt": ("a = bad", "a = careless")}, {"a.txt": ("a = bad", "a = good")})

    found = judged(replies(said), request(), TransactionPorts(patch_tree(tree), Careless(tree)))

    assert ["careless" in each.diff for each in found.kept] == [False, True]
    assert found.kept[0].score - found.kept[1].score == pytest.approx(0.15)


def test_what_is_like_a_rejected_diff_goes_after_what_is_new(ports: TransactionPorts) -> None:
    like, new = {"a.txt": ("a = bad", "a = good")}, {"a.txt": ("b = good", "b = better")}
    first = judged(replies(diffs(like)), request(), ports).kept[0]

    found = judged(replies(diffs(like, new)), request(), ports, rejected=[first.diff])

    assert ["a = good" in each.diff for each in found.kept] == [False, True]


def test_a_diff_that_breaks_a_rule_says_nothing_about_its_like_and_takes_no_place(
    ports: TransactionPorts,
) -> None:
    small = {"a.txt": ("a = bad", "a = good")}
    large = {"a.txt": ("a = bad\nb = good\nc = good\nd = bad", "a = good\nb = good\nc = great\nd = great")}
    alone = judged(replies(diffs(small)), request(), ports)

    found = judged(replies(diffs(large, small)), request(most=1), ports)

    assert len(found.refused) > 0
    assert found.kept == alone.kept


def test_equally_promising_diffs_keep_the_order_of_the_answer(ports: TransactionPorts) -> None:
    words = ("good", "right", "fine", "sound")
    said = [{"a.txt": ("a = bad", f"a = {word}")} for word in words]

    for order in (said[:3], said[2::-1], said[1:]):
        found = judged(replies(diffs(*order)), request(), ports)
        assert [each.diff.split("+a = ")[1].split()[0] for each in found.kept] == [
            each["a.txt"][1].removeprefix("a = ") for each in order
        ]


def test_a_diff_that_holds_the_data_of_the_tests_is_sent_back_once_and_then_tried_last(
    ports: TransactionPorts,
) -> None:
    test = Slice(artifact="t.py", lines=(1, 1), text="assert slug('Hello') == 'hello-hello'\n")
    asked = request()
    asked = asked.model_copy(update={"situation": asked.situation.model_copy(update={"tests": (test,)})})
    table, plain = {"a.txt": ("a = bad", "a = 'hello-hello'")}, {"a.txt": ("c = good", "c = fine")}

    first = judged(replies(diffs(table, plain)), asked, ports)
    again = judged(replies(diffs(table, plain)), asked.model_copy(update={"doubted": first.doubted}), ports)

    assert ["c = fine" in each.diff for each in first.kept] == [True]
    assert len(first.doubted) == 1
    assert first.refused[0].startswith("diff 1: holds values of the failing tests; repair the cause")
    assert ["c = fine" in each.diff for each in again.kept] == [True, False]
    assert again.refused == ()
