import json
from typing import Any

import pytest

from cogworks.errors import ConfigurationError, UsageError
from cogworks.evaluation.cases import Case, chosen, in_order, parse_cases, places_of

SWE_BENCH = {
    "repo": "astropy/astropy",
    "instance_id": "astropy__astropy-12907",
    "base_commit": "d16bfe05a744909de4b27f5875fe0d4ed41ce607",
    "patch": "the solution",
    "test_patch": "",
    "problem_statement": "It is wrong.",
    "hints_text": "",
    "created_at": "2022-03-03T15:14:54Z",
    "version": "4.3",
    "FAIL_TO_PASS": '["tests/test_a.py::test_one"]',
    "PASS_TO_PASS": '["tests/test_a.py::test_two"]',
    "environment_setup_commit": "298ccb478e6bf092953bca67a3d29dc6c35f6752",
}


def written(**more: Any) -> str:
    return json.dumps({**SWE_BENCH, **more})


def case(name: str) -> Case:
    return parse_cases(written(instance_id=name), source=f"{name}.json")[0]


def test_an_instance_as_swe_bench_publishes_it_is_a_case() -> None:
    (found,) = parse_cases(written(), source="one.json")

    assert (found.id, found.repo) == ("astropy__astropy-12907", "astropy/astropy")
    assert found.instance.failing_tests == ("tests/test_a.py::test_one",)
    assert found.instance.pass_to_pass == ("tests/test_a.py::test_two",)
    assert "the solution" not in found.model_dump_json()


def test_an_object_a_list_and_lines_hold_the_same_instances() -> None:
    one, two = written(instance_id="one"), written(instance_id="two")

    listed = parse_cases(f"[{one}, {two}]", source="all.json")
    in_lines = parse_cases(f"{one}\n\n{two}\n", source="all.jsonl")

    assert [each.instance for each in listed] == [each.instance for each in in_lines]
    assert [each.source for each in listed] == ["all.json, entry 1", "all.json, entry 2"]
    assert [each.source for each in in_lines] == ["all.jsonl, line 1", "all.jsonl, line 3"]


def test_every_problem_of_every_instance_is_told_with_its_place() -> None:
    lines = [written(instance_id=""), written(repo="../elsewhere", environment_cmd=3), written(unheard="of")]

    with pytest.raises(ConfigurationError) as caught:
        parse_cases("\n".join(lines), source="all.jsonl")

    told = "\n".join(caught.value.problems)
    assert "line 1: wants an `instance_id`" in told
    assert "line 2: `environment_cmd` is 3, wanted a text" in told
    assert "line 2: `repo` is '../elsewhere'" in told
    assert "line 3: `unheard` is not a key of a task" in told


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"repo": ""}, "wants `repo`"),
        ({"repo": "/etc"}, "`repo` is '/etc'"),
        ({"repo": "a/../../b"}, "`repo` is 'a/../../b'"),
        ({"repo_archive": "../x.bundle"}, "`repo_archive` is '../x.bundle'"),
        ({"repo": 7}, "`repo` is 7"),
    ],
    ids=["none", "absolute", "climbing", "archive", "no text"],
)
def test_a_repository_is_named_below_the_folder_or_not_at_all(keys: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError, match=r"\A.* has 1 problem") as caught:
        parse_cases(written(**keys), source="one.json")

    assert problem in str(caught.value)


@pytest.mark.parametrize(
    "text", ["nothing", "[1]", "3", '{"a": '], ids=["word", "number in list", "number", "cut"]
)
def test_what_is_no_instance_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError):
        parse_cases(text, source="one.json")


def test_cases_come_by_their_id_whatever_the_order_of_the_files() -> None:
    assert [each.id for each in in_order([case("b"), case("c"), case("a")])] == ["a", "b", "c"]


def test_an_id_is_taken_once_and_some_instance_is_there() -> None:
    with pytest.raises(UsageError, match=r"'a' is in a\.json and in a\.json"):
        in_order([case("a"), case("a")])
    with pytest.raises(UsageError, match="there is no instance"):
        in_order([])


def test_one_instance_can_be_chosen_and_an_unknown_one_is_told_with_the_others() -> None:
    cases = [case("a"), case("b")]

    assert [each.id for each in chosen(cases, ["b"])] == ["b"]
    assert [each.id for each in chosen(cases, [])] == ["a", "b"]
    with pytest.raises(UsageError, match="no instance is called 'x'; there are a, b"):
        chosen(cases, ["x"])


def test_clones_are_found_under_the_names_people_give_them() -> None:
    (found,) = parse_cases(written(), source="one.json")

    places = places_of(found)

    assert places[0] == "astropy__astropy"
    assert {"astropy/astropy", "astropy", "astropy.git", "astropy__astropy.bundle"} < set(places)
