"""Whoever judges a change sees what else relies on it."""

from collections.abc import Mapping

import pytest

from cogworks.sight.question import About
from cogworks.sight.users import Use, changed_definitions, uses_elsewhere, uses_shown
from cogworks.sight.view import first_view
from tests.sight.trees import SHOP, index_of

PRICING = "src/shop/pricing.py"
BODY = 8
"""The line of `rounded` in the code that a change touches."""


def uses_in(files: Mapping[str, str], **options: object) -> list[tuple[str, int]]:
    uses = uses_elsewhere(index_of(files), {PRICING: (BODY,)}, {PRICING: ((1, 99),)}, **options)  # type: ignore[arg-type]  # The options of one call.
    return [(use.path, use.line) for use in uses]


def test_lines_that_use_what_a_change_touches_are_named_with_their_text() -> None:
    assert uses_elsewhere(index_of(SHOP), {PRICING: (BODY,)}, {PRICING: ((1, 99),)}) == (
        Use("rounded", "src/shop/cart.py", 10, "return rounded(sum(self.rows))"),
        Use("rounded", "tests/test_pricing.py", 5, "assert rounded(0.125) == 0.12"),
    )


def test_code_comes_before_tests_and_no_file_fills_the_list() -> None:
    many = "from shop.pricing import rounded\n" + "rounded(1)\n" * 9
    files = {**SHOP, "tests/test_all.py": many, "src/shop/tax.py": many}

    assert uses_in(files) == [
        ("src/shop/cart.py", 10),
        ("src/shop/tax.py", 2),
        ("src/shop/tax.py", 3),
        ("tests/test_all.py", 2),
        ("tests/test_all.py", 3),
        ("tests/test_pricing.py", 5),
    ]


def test_a_line_of_each_file_comes_before_a_second_one_and_the_rest_is_counted() -> None:
    uses = "from shop.pricing import rounded\n" + "rounded(1)\n" * 3
    files = {
        PRICING: SHOP[PRICING] + "\n\ndef net(price):\n    return rounded(price)\n",
        **{f"src/shop/a{n}.py": uses for n in range(6)},
    }
    index = index_of(files)

    found = uses_elsewhere(index, {PRICING: (BODY,)}, {PRICING: ((1, 9),)})
    text = uses_shown(index, About(touched={PRICING: (BODY,)}), {PRICING: ((1, 9),)}, 1_000)

    assert [use.path for use in found] == sorted(
        {*(use.path for use in found)}, key=lambda path: (path != PRICING, path)
    )
    assert (found[0].path, len(found), found[-1].others) == (PRICING, 6, 13)
    assert text.endswith("\n  and 13 more lines")


def test_documents_imports_longer_names_and_the_definition_itself_are_no_uses() -> None:
    other = "import { rounded } from 'x';\nexport { rounded };\nfunction rounded() {\n  return rounded(1)\n}\nrounded_up(1);\n$rounded(2);\nimport {\n  rounded,\n} from 'y';\n"
    names = "__all__ = [\n    'rounded',\n]\n"
    files = {
        PRICING: SHOP[PRICING],
        "README.md": "Use `rounded(1)`.\n",
        "src/shop/page.js": other,
        "src/shop/__init__.py": names,
    }

    assert uses_in(files) == []


def test_comments_and_variables_of_the_same_name_are_no_uses() -> None:
    other = "# rounded as ever\nrounded = 1\nrounded: int = 2\nconst rounded = 3\n// rounded\nif rounded == 1: ...\n"

    assert uses_in({PRICING: SHOP[PRICING], "src/shop/page.py": other}) == [("src/shop/page.py", 6)]


def test_a_method_is_used_where_it_is_asked_for_or_called() -> None:
    shop = "class Shop:\n    def process(self, order):\n        return order\n"
    others = "process = Popen(args)\nprint(process)\nshop.process(1)\nrun(shop.process)\nprocess(2)\nprocess->wait\n"
    index = index_of(
        {"src/shop.py": shop, "src/page.py": others[: others.index("process(2)")], "src/more.py": others}
    )

    uses = uses_elsewhere(index, {"src/shop.py": (3,)}, {"src/shop.py": ((1, 99),)})

    assert [(use.path, use.line) for use in uses] == [
        ("src/more.py", 3),
        ("src/more.py", 4),
        ("src/page.py", 3),
        ("src/page.py", 4),
    ]


def test_lines_that_the_reader_sees_and_files_shown_elsewhere_are_left_out() -> None:
    files = {**SHOP, PRICING: SHOP[PRICING] + "\n\ndef net(price):\n    return rounded(price)\n"}

    def uses(last: int, *but: str) -> list[tuple[str, int]]:
        found = uses_elsewhere(index_of(files), {PRICING: (BODY,)}, {PRICING: ((1, last),)}, but=but)
        return [(use.path, use.line) for use in found]

    assert uses(8, "src/shop/cart.py") == [(PRICING, 12), ("tests/test_pricing.py", 5)]
    assert uses(12, "src/shop/cart.py", "tests/test_pricing.py") == []


def test_what_is_used_everywhere_is_not_listed() -> None:
    files = {**SHOP, **{f"src/shop/part_{number}.py": "rounded(1)\n" for number in range(60)}}

    assert uses_in(files) == []


@pytest.mark.parametrize(
    ("touched", "names"), [((8,), ("rounded",)), ((3, 7, 8), ("rounded", "CENTS")), ((1, 2), ())]
)
def test_the_smallest_definitions_around_touched_lines_are_those_of_the_change(
    touched: tuple[int, ...], names: tuple[str, ...]
) -> None:
    card = index_of(SHOP).cards([PRICING])[PRICING]

    assert changed_definitions(card.definitions, touched) == names


def test_a_view_for_a_change_has_the_uses_that_it_does_not_show_and_others_have_none() -> None:
    long = "\n".join(f"def step_{number}(rows):\n    return rows[{number}]\n" for number in range(900))
    index = index_of(
        {**SHOP, "src/shop/steps.py": f"{long}\n\ndef last(rows):\n    return rounded(rows[0])\n"}
    )
    change = About(
        title="Round",
        wanted=(PRICING,),
        touched={PRICING: (BODY,)},
        without=frozenset({"tests/test_pricing.py"}),
    )
    view = first_view(index, change, room_tokens=1_200)

    assert "src/shop/cart.py" in {each.path for each in view.files}
    assert view.uses == "rounded:\n  src/shop/steps.py:2703: return rounded(rows[0])"
    assert first_view(index, change._replace(touched={}), room_tokens=1_200).uses == ""
    assert first_view(index, change, room_tokens=200).uses == ""
