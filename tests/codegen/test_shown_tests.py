"""Of a long file of tests the coder is shown what is new; a short or new one is shown whole."""

from typing import Any

import pytest

from cogworks.codegen.prompt import MAX_SHOWN_TOKENS, HandedOver, implementation_opening, shown_tests
from cogworks.domain_services.messages import TestReport
from cogworks.llm.prompts import shipped_prompts
from cogworks.sight.stretches import tokens_of
from tests.fakes import FakePorts, MemoryWorkspace, ScriptedAnswers, ScriptedService
from tests.nodes.examples import planned, task

LONG = 'import pytest\n\nLIMIT = 3\n\n\n@pytest.fixture\ndef shop():\n    return {"price": 1}\n' + "".join(
    f"\n\ndef test_step_{number}(shop):\n    assert shop['price'] + {number} == {number + 1}\n"
    for number in range(400)
)
NEW_TEST = "\n\ndef test_rounds_half_up(shop):\n    assert round(shop['price'] + 0.5) == 2\n"
SHORT = "def test_sum():\n    assert 1 + 1 == 2\n"
PLACES = LONG.index("\n\ndef test_step_200(")
CHANGED = LONG[:PLACES] + NEW_TEST + LONG[PLACES:]


def world(before: dict[str, str], after: dict[str, str]) -> FakePorts:
    before = {"src/shop.py": "PRICE = 1\n", **before}
    copy = MemoryWorkspace({**before, **after}, base=before)
    return FakePorts(
        model=ScriptedAnswers(), service=ScriptedService(lambda _: TestReport(cases=())), copy=copy
    )


def shown(ports: FakePorts, *paths: str) -> HandedOver:
    files = tuple(shown_tests(ports, ports.copy, paths, base="main"))
    return HandedOver(test_path=paths[0], files=files)


def test_of_a_long_file_that_was_there_the_new_tests_and_its_head_are_shown() -> None:
    ports = world({"tests/test_shop.py": LONG}, {"tests/test_shop.py": CHANGED})

    found = shown(ports, "tests/test_shop.py").files[0]

    line = CHANGED.splitlines().index("def test_rounds_half_up(shop):") + 1
    assert f"{line}| def test_rounds_half_up(shop):" in found.text
    assert "    assert round(shop['price'] + 0.5) == 2" in found.text
    assert "import pytest" in found.text
    assert "are not shown" in found.text
    assert tokens_of(found.text) <= MAX_SHOWN_TOKENS < tokens_of(CHANGED)
    assert "def test_step_7" not in found.text
    assert found.is_cut


def test_a_short_file_and_a_new_one_are_shown_whole() -> None:
    ports = world(
        {"tests/test_sum.py": "def test_sum(): ...\n"},
        {"tests/test_sum.py": SHORT, "tests/test_new.py": CHANGED},
    )

    short, new = shown(ports, "tests/test_sum.py", "tests/test_new.py").files

    assert (short.text, short.is_cut) == (SHORT, False)
    assert (new.text, new.is_cut) == (CHANGED, False)


def test_a_file_that_is_gone_is_left_out() -> None:
    ports = world({"tests/test_sum.py": SHORT}, {})

    assert [each.path for each in shown(ports, "tests/test_sum.py", "tests/test_gone.py").files] == [
        "tests/test_sum.py"
    ]


def test_the_coder_is_told_that_a_file_is_shown_in_parts_and_how_to_see_the_rest() -> None:
    ports = world({"tests/test_shop.py": LONG, "tests/test_sum.py": SHORT}, {"tests/test_shop.py": CHANGED})
    the_task = task("code_generation", sub_item="a")

    def said(path: str) -> str:
        variables = implementation_opening(the_task, ports, planned(), shown(ports, path)).variables
        return shipped_prompts().render("implementation", variables).user

    words = "these are the parts with what is new, as far as there is room. A look shows the rest."
    assert words in said("tests/test_shop.py")
    assert words not in said("tests/test_sum.py")


@pytest.mark.parametrize("key", ["A", "#7"])
def test_an_item_is_shown_as_it_is_written(key: str) -> None:
    item: dict[str, Any] = {
        "key": key,
        "title": "Quotes",
        "description": r'`"\a"` is `a`.',
        "files": ["src/http.py"],
        "interfaces": [],
        "test_specification": "None fails.",
        "acceptance_criteria": [] if key == "#7" else [r'r"\"" is kept'],
        "depends_on": [],
    }

    said = shipped_prompts().render_part("_sub_item", {"sub_item": item, "item": {"body": "Other."}})
    lines = said.split('of="sub-work-item">\n')[1].split("\n</data-")[0]

    criteria = "" if key == "#7" else '\nAcceptance criteria:\n- r"\\"" is kept\n'
    title = "#7" if key == "#7" else "A: Quotes"
    assert lines == f'{title}\n\n`"\\a"` is `a`.\n{criteria}\nTests:\n- None fails.\n\nFiles:\n- src/http.py'
