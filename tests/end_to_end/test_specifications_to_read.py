"""People approve a specification that nobody merges, unless files of them are wanted; a real hub, and a model that is told its answers."""

from pathlib import Path

import pytest
from github.ContentFile import ContentFile

from tests.end_to_end.scene import Scene
from tests.end_to_end.test_example_pipelines import (
    HOURS,
    IMPLEMENTED,
    NO_INTERFACES,
    PASSED,
    PLAN,
    SPECIFIED,
    Stand,
    classified,
    standing,
    written,
)
from tests.end_to_end.test_remedies import DISPUTED, STANDS_BY, UNDECIDED, trigger_again

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
]  # seconds on a busy machine; usually a tenth of that

REPLIES = (
    classified(complexity="medium"),
    SPECIFIED,
    NO_INTERFACES,
    PLAN,
    written(HOURS),
    IMPLEMENTED,
    *[PASSED] * 3,
)
PATH = "docs/specs/1.md"
EDITED = "# Read decimals\n\n- **R1** `1.5h` is 90 minutes, and `,5h` is refused.\n"


def want_files(scene: Scene) -> None:
    there = scene.file(".cogworks/config.toml")
    scene.write(".cogworks/config.toml", f'{there}\n[paths]\nspecs = "docs/specs"\n')


def states(scene: Scene) -> list[tuple[str, str, str]]:
    return [
        (pull["headRefName"], pull["baseRefName"], pull["state"])
        for pull in scene.seen()["pullRequests"]["nodes"]
    ]


@pytest.mark.parametrize("way", ["review", "command"])
def test_an_approved_specification_is_closed_unmerged_and_told_where_the_item_ends(
    tmp_path: Path, way: str
) -> None:
    with standing(tmp_path, "", *REPLIES, tests_first=True) as stand:
        scene = stand.scene
        first = scene.cogworks("run", "--json", **stand.model)
        [wait] = first.told["waiting_for"]
        assert (wait["kind"], wait["ask"]) == (
            "review",
            "approve pull request #2, which is then closed unmerged, or close it to reject it",
        )
        pull = stand.repository.get_pull(2)
        assert "It is here to be read, in `docs/specs/1.md`, and is not merged" in pull.body
        edited(stand)
        [wait] = scene.cogworks("run", "--json", **stand.model).told["waiting_for"]
        if way == "review":
            stand.repository.get_pull(2).create_review(event="APPROVE")
        else:
            stand.repository.get_issue(1).create_comment(wait["paste"])
        ended = scene.cogworks("run", "--json", **stand.model)

        assert (ended.code, ended.told["outcome"]) == (0, "done"), ended.err
        assert states(scene) == [("cogworks/1/spec", "main", "CLOSED"), ("cogworks/1/swi-1", "main", "OPEN")]
        for branch in ("main", "cogworks/1/swi-1"):
            assert PATH not in scene.git("ls-tree", "-r", "--name-only", branch)
        # What people approved is what those who come later read.
        assert all("`,5h` is refused" in str(seen.body) for seen in stand.server.seen[2:])
        body = scene.seen()["pullRequests"]["nodes"][1]["body"]
        assert "Follows the specification in #2." in body
        assert "<details><summary>The specification</summary>\n\n# Read decimals" in body
        assert "`,5h` is refused" in body

        scene.person.merge(int(ended.told.get("number") or 4))
        scene.cogworks("run", "--json", **stand.model)
        assert stand.repository.get_issue(1).state == "closed"
        assert scene.cogworks("fsck").code == 0


def test_one_that_is_closed_before_anybody_approves_it_is_rejected(tmp_path: Path) -> None:
    with standing(tmp_path, "", *REPLIES[:2], tests_first=True) as stand:
        stand.scene.cogworks("run", "--json", **stand.model)
        stand.repository.get_pull(2).edit(state="closed")

        ended = stand.scene.cogworks("run", "--json", **stand.model)

        assert "pull request #2 was closed unmerged" in str(ended.told)


def test_who_merges_it_all_the_same_opens_the_gate(tmp_path: Path) -> None:
    with standing(tmp_path, "", *REPLIES, tests_first=True) as stand:
        stand.scene.cogworks("run", "--json", **stand.model)
        stand.scene.person.merge(2)

        stand.play()

        assert states(stand.scene)[0] == ("cogworks/1/spec", "main", "MERGED")
        assert stand.passed_by_a_person == []


def test_where_a_folder_is_named_the_specification_becomes_a_file_there(tmp_path: Path) -> None:
    with standing(tmp_path, "", *REPLIES, tests_first=True) as stand:
        want_files(stand.scene)

        stand.play()

        assert stand.passed_by_a_person == ["merge architecture"]
        assert states(stand.scene)[0] == ("cogworks/1/spec", "main", "MERGED")
        assert "Read decimals" in (stand.scene.file(PATH) or "")
        assert "<summary>The specification</summary>" not in stand.repository.get_pull(4).body


DESIGNS = "You design interfaces"
SETTLED = {**SPECIFIED, "public_names": []}
PLANNED = REPLIES[3:]


def edited(stand: Stand) -> None:
    there = stand.repository.get_contents(PATH, ref="cogworks/1/spec")
    assert isinstance(there, ContentFile)
    stand.repository.update_file(PATH, "Say what is refused", EDITED, there.sha, branch="cogworks/1/spec")


@pytest.mark.parametrize("way", ["approved", "merged though it is only shown", "a file of the repository"])
def test_where_no_public_name_changes_the_plan_follows_the_approved_specification_and_no_model_is_asked(
    tmp_path: Path, way: str
) -> None:
    with standing(tmp_path, "", REPLIES[0], SETTLED, *PLANNED, tests_first=True) as stand:
        if way == "a file of the repository":
            want_files(stand.scene)
        stand.scene.cogworks("run", "--json", **stand.model)
        shown = stand.repository.get_pull(2).body
        if way != "approved":
            stand.scene.person.merge(2)

        stand.play()

        assert "None, so no interfaces are designed, unless somebody edits the file or asks for" in shown
        assert stand.visited[1:4] == ["architecture", "interface_design", "planning"]
        assert [branch for branch, *_ in stand.pulls] == ["cogworks/1/spec", "cogworks/1/swi-1"]
        assert "no public interface changes: The specification says that no public name changes." in (
            stand.repository.get_issue(1).get_comments()[0].body
        )
        assert [seen for seen in stand.server.seen if DESIGNS in str(seen.body)] == []


def test_a_specification_that_people_edited_is_read_before_anybody_says_that_there_is_nothing_to_design(
    tmp_path: Path,
) -> None:
    with standing(tmp_path, "", REPLIES[0], SETTLED, NO_INTERFACES, *PLANNED, tests_first=True) as stand:
        stand.scene.cogworks("run", "--json", **stand.model)
        edited(stand)

        stand.play()

        assert DESIGNS in str(stand.server.seen[2].body)
        assert "`,5h` is refused" in str(stand.server.seen[2].body)


def test_who_rejects_that_nothing_is_designed_has_a_model_asked(tmp_path: Path) -> None:
    # Where safety is at stake a person passes that, too.
    with standing(tmp_path, "", REPLIES[0], SETTLED, NO_INTERFACES, tests_first=True) as stand:
        stand.repository.get_issue(1).add_to_labels("cogworks:safety-critical")
        stand.scene.cogworks("run", "--json", **stand.model)
        stand.repository.get_pull(2).create_review(event="APPROVE")
        [wait] = stand.scene.cogworks("run", "--json", **stand.model).told["waiting_for"]
        assert (wait["node"], len(stand.server.seen)) == ("interface_design", 2)

        say = stand.repository.get_issue(1).create_comment
        say("/cogworks reject interface_design Declare what a number is.")
        stand.scene.cogworks("run", "--json", **stand.model)
        say("/cogworks retry")
        stand.scene.cogworks("run", "--json", **stand.model)

        assert "Declare what a number is." in str(stand.server.seen[2].body)


def narrowed(stand: Stand) -> None:
    """The person does what the message says: reopens the pull request, changes its file, approves it."""
    pull = stand.repository.get_pull(2)
    pull.edit(state="open")
    there = stand.repository.get_contents(PATH, ref="cogworks/1/spec")
    assert not isinstance(there, list)
    stand.repository.update_file(PATH, "Narrow it", EDITED, there.sha, branch="cogworks/1/spec")
    stand.repository.get_pull(2).create_review(event="APPROVE")


def test_one_that_was_approved_is_narrowed_in_its_pull_request_and_planned_anew(tmp_path: Path) -> None:
    [item] = PLAN["sub_work_items"]
    many = {"sub_work_items": [{**item, "key": f"A{number}"} for number in range(11)]}
    replies = (*REPLIES[:3], many, *REPLIES[3:])
    with standing(tmp_path, "", *replies, tests_first=True) as stand:
        stand.scene.cogworks("run", "--json", **stand.model)
        stand.repository.get_pull(2).create_review(event="APPROVE")
        failed = stand.scene.cogworks("run", **stand.model)
        assert "reopen #2, change its file, approve it again" in failed.err
        narrowed(stand)
        trigger_again(stand)

        stand.play()

        assert states(stand.scene)[0] == ("cogworks/1/spec", "main", "CLOSED")
        assert "`,5h` is refused" in str(stand.server.seen[4].body)


def test_one_that_is_changed_after_the_plan_is_what_tests_and_code_are_asked_for(tmp_path: Path) -> None:
    disputed = (*REPLIES[:5], DISPUTED, STANDS_BY, UNDECIDED)
    with standing(tmp_path, "", *disputed, *REPLIES[4:], tests_first=True) as stand:
        stand.scene.cogworks("run", "--json", **stand.model)
        stand.repository.get_pull(2).create_review(event="APPROVE")
        [wait] = stand.scene.cogworks("run", "--json", **stand.model).told["waiting_for"]
        reject = wait["paste"].replace("approve", "reject").rpartition(" ")[0]
        narrowed(stand)
        stand.repository.get_issue(1).create_comment(f"{reject} commas are refused")
        stand.scene.cogworks("run", "--json", **stand.model)
        trigger_again(stand)

        stand.play()

        assert all("`,5h` is refused" in str(seen.body) for seen in stand.server.seen[8:10])
