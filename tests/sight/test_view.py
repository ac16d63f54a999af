"""What a prompt shows of a repository."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.sight.outlines import outline_text
from cogworks.sight.question import About, Beside
from cogworks.sight.ranking import rank
from cogworks.sight.stretches import newest_changes, tokens_of
from cogworks.sight.view import first_view, items_of
from tests.exhaustive import examples
from tests.sight.trees import SHOP, index_of

PRICES = About(title="Prices are rounded wrongly", text="`rounded(0.125)` gives 0.12")
LONG = "\n\n".join(f"def step_{number}(value):\n    return value + {number}\n" for number in range(2_000))


def test_the_best_match_is_shown_whole_and_first() -> None:
    view = first_view(index_of(SHOP), PRICES)

    assert (view.files[0].path, view.files[0].level, view.files[0].text) == (
        "src/shop/pricing.py",
        "whole",
        SHOP["src/shop/pricing.py"],
    )
    assert "defines what is named" in view.files[0].reasons


def test_nothing_that_nobody_wrote_fills_a_view() -> None:
    shown = {each.path for each in items_of(first_view(index_of(SHOP), PRICES))}

    assert not shown & {"CHANGES", "LICENSE", "uv.lock", "locale/de/LC_MESSAGES/shop.po"}


def test_of_a_long_change_log_its_top_is_shown_beside_what_matches() -> None:
    entries = "".join(
        f"## 1.{number}.0\n\n- {'Prices are rounded half up' if number == 7 else f'Change {number}'}.\n\n"
        for number in reversed(range(900))
    )
    files = {**SHOP, "CHANGELOG.md": f"# Changes\n\n## Unreleased\n\n{entries}"}
    about = PRICES._replace(wanted=("CHANGELOG.md",))

    (shown,) = (each for each in first_view(index_of(files), about).files if each.path == "CHANGELOG.md")

    assert shown.level == "slices"
    assert "## Unreleased" in shown.text
    assert "## 1.899.0" in shown.text
    assert "Prices are rounded half up" in shown.text


def test_of_a_change_log_the_newest_section_is_shown_whole_as_far_as_it_is_not_very_long() -> None:
    entries = [f"- Lexer number {number}" for number in range(30)]
    old = "".join(f"## 2.{number}.0\n\n- Fix.\n\n" for number in reversed(range(5_000)))
    files = {
        **SHOP,
        "CHANGELOG.md": "# Changes\n\n## 3.0.0 (unreleased)\n\n" + "\n".join(entries) + f"\n\n{old}",
    }
    about = PRICES._replace(wanted=("CHANGELOG.md",))

    view = first_view(index_of(files), about, room_tokens=2_000)
    (shown,) = (each for each in view.files if each.path == "CHANGELOG.md")

    assert "- Lexer number 29" in shown.text


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# Changes\n\n## [1.2.0] - 2024-01-02\n" + "- a\n" * 20 + "## [1.1.0]\n" + "- b\n" * 90, 23),
        ("Version 2.21.0\n----\n" + "- a\n" * 90, 50),
        ("- a\n" * 90, 50),
        ("2024-05-06\n- a\n2024-05-05\n" + "- b\n" * 90, 15),
        ("## Unreleased\n" + "- a\n" * 17 + "v1.0.0\n" + "- b\n" * 90, 18),
        ("1.0\n- a\n", 2),
        ("", 0),
    ],
)
def test_the_newest_section_of_a_change_log_ends_where_the_next_release_begins(text: str, lines: int) -> None:
    assert newest_changes(text.splitlines()) == lines


def test_a_test_that_the_request_names_is_shown_to_whoever_writes_more_though_others_are_nearer() -> None:
    files = {
        **SHOP,
        "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_cart() -> None:\n    assert Cart()\n",
        "tests/test_more.py": "from shop.cart import Cart\n\n\ndef test_more() -> None:\n    assert Cart\n",
        "test/week.test.js": 'test("week", () => setUnset("week"));\n',
    }
    about = About(
        title="Total of the cart",
        text="As `setUnset` in test/week.test.js.",
        wanted=("src/shop/cart.py",),
        wants_tests=True,
    )

    shown = {each.path: each for each in first_view(index_of(files), about).files}

    assert shown["test/week.test.js"].reasons[0] == "tests near"
    assert 'setUnset("week")' in shown["test/week.test.js"].text


def test_decisions_and_standards_about_the_request_are_shown_with_that_reason_and_scenarios_never() -> None:
    adr = "# 7. Round half to even\n\nPrices are rounded half to even, so that a rounded sum has no drift.\n"
    files = {
        **SHOP,
        "docs/adr/0007-rounding.md": adr,
        "docs/adr/0001-record-decisions.md": "# 1. Record decisions\n\nWe write them down.\n",
        "docs/standards/prices.md": "# Prices\n\nEvery rounded price has two decimals.\n",
        ".cogworks/scenarios/rounding.toml": 'given = "prices are rounded"\n',
    }

    shown = {each.path: each.reasons for each in first_view(index_of(files), PRICES).files}

    assert shown["docs/adr/0007-rounding.md"] == ("words", "a decision of the project")
    assert shown["docs/standards/prices.md"] == ("words", "a standard of the project")
    assert "docs/adr/0001-record-decisions.md" not in shown
    assert not any(path.startswith(".cogworks/") for path in shown)


def test_a_file_that_only_hands_names_on_takes_little_room_unless_it_is_asked_for() -> None:
    names = [f"price_rule_number_{number}" for number in range(200)]
    listing = "".join(f"from shop.rules.{name} import {name}\n" for name in names)
    listing += "__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"
    index = index_of({**SHOP, "src/shop/rules/__init__.py": listing})
    about = About(title="A price rule is wrong", text="`price_rule_number_7` rounds the price of a rule")

    (found,) = (each for each in first_view(index, about).files if each.path.endswith("rules/__init__.py"))
    asked = first_view(index, about._replace(wanted=("src/shop/rules/__init__.py",)))

    assert found.tokens <= 0.05 * 12_000
    assert "from shop.rules.price_rule_number_7 import price_rule_number_7" in found.text
    assert asked.files[0].text == listing


def test_a_lock_file_that_the_request_names_is_shown() -> None:
    shown = {each.path for each in first_view(index_of(SHOP), About(text="uv.lock is out of date")).files}

    assert "uv.lock" in shown


def test_of_a_file_that_is_too_long_the_definition_that_is_meant_is_shown_with_its_lines() -> None:
    files = {**SHOP, "src/shop/steps.py": LONG}
    view = first_view(index_of(files), About(title="`step_1234` adds too much"), room_tokens=3_000)

    found = next(each for each in view.files if each.path == "src/shop/steps.py")
    assert found.level == "slices"
    assert "def step_1234(value):" in found.text
    line = LONG.splitlines().index("def step_1234(value):") + 1
    assert f"{line}| def step_1234(value):" in found.text
    assert any(first <= line <= last for first, last in found.lines)
    assert "are not shown" in found.text


def test_the_definitions_around_touched_lines_are_shown_with_numbers() -> None:
    files = {**SHOP, "src/shop/steps.py": LONG}
    line = LONG.splitlines().index("def step_777(value):") + 2
    about = About(title="Review", wanted=("src/shop/steps.py",), touched={"src/shop/steps.py": (line,)})

    found = first_view(index_of(files), about, room_tokens=2_000).files[0]
    assert found.path == "src/shop/steps.py"
    assert f"{line}|     return value + 777" in found.text


def test_changed_functions_are_shown_to_a_reviewer_before_what_they_call() -> None:
    body = "".join(f"    total += rounded(value) * {number}\n" for number in range(40))
    functions = "".join(
        f"def total_{name}(value):\n    total = 0\n{body}    return total\n\n\n" for name in "abc"
    )
    text = f"from shop.pricing import rounded\n\n\n{functions}" + LONG
    touched = tuple(number for number, line in enumerate(text.splitlines(), 1) if line.endswith(" * 39"))
    files = {**SHOP, "src/shop/steps.py": text, "src/shop/pricing.py": SHOP["src/shop/pricing.py"] + LONG}
    about = About(
        title="Total", text="`rounded`", wanted=("src/shop/steps.py",), touched={"src/shop/steps.py": touched}
    )

    shown = first_view(index_of(files), about, room_tokens=2_900).files[0]

    assert shown.path == "src/shop/steps.py"
    assert all(f" def total_{name}(value):" in shown.text for name in "abc")
    assert shown.text.count("    total += rounded(value) * ") == 120


def test_in_an_outline_repeated_names_say_what_they_are_of_and_values_of_classes_are_left_out() -> None:
    classes = "".join(
        f"class Lexer{number}:\n    name = '{number}'\n    url = ''\n\n    def tokens(self):\n        return []\n\n\n"
        for number in range(60)
    )
    index = index_of({"lexers.py": f"WIDTH = 80\n\n\ndef only_one():\n    return WIDTH\n\n\n{classes}"})
    (card,) = index.cards(["lexers.py"]).values()

    outline = outline_text(card.definitions, [0.0] * len(card.definitions), 700)

    assert "Lexer7.tokens" in outline
    assert "only_one" in outline
    assert " name " not in outline.replace("·", " ")
    assert outline.splitlines()[-1].endswith(" more")


def test_manifest_and_rules_for_contributors_are_always_there() -> None:
    shown = {each.path: each.reasons for each in first_view(index_of(SHOP), PRICES).files}

    assert shown["pyproject.toml"][0] == "manifest"
    assert shown["CONTRIBUTING.md"][0] == "rules for contributors"


def test_a_small_repository_is_listed_whole_and_a_large_one_by_folders() -> None:
    assert first_view(index_of(SHOP), PRICES).folders.splitlines() == sorted(SHOP)
    many = {f"src/part{number % 7}/module{number}.py": f"x = {number}\n" for number in range(500)}

    folders = first_view(index_of(many), PRICES).folders
    assert "src/part3/ 71" in folders
    assert "module" not in folders


def test_what_is_listed_is_told_from_what_is_hidden() -> None:
    hidden = frozenset({"tests/test_mail.py"})
    view = first_view(index_of(SHOP), PRICES._replace(hidden=hidden, without=frozenset({"src/shop/mail.py"})))

    assert view.folders.splitlines() == sorted({*SHOP} - hidden)
    assert (view.file_count, view.hidden_count, view.lists_all) == (len(SHOP), 1, True)


def test_few_files_with_long_paths_are_listed_by_folder_and_it_says_so() -> None:
    deep = {f"src/{'long_folder_name_' * 8}{number}/module.py": "x = 1\n" for number in range(100)}

    view = first_view(index_of(deep), PRICES)
    assert not view.lists_all
    assert "module" not in view.folders


def test_whoever_writes_tests_sees_the_tests_of_the_module() -> None:
    others = {
        f"tests/test_other_{number}.py": "def test_round_price():\n    assert 1\n" for number in range(5)
    }
    exercise = "from shop.pricing import rounded\n\n\ndef test_values():\n    assert rounded(1)\n"
    files = {**SHOP, **others, "tests/test_values.py": exercise}
    about = About(title="Change the cents", wanted=("src/shop/pricing.py",))

    unasked = {each.path for each in first_view(index_of(files), about).files}
    shown = {each.path: each for each in first_view(index_of(files), about._replace(wants_tests=True)).files}
    assert not unasked & {"tests/test_pricing.py", "tests/test_values.py"}
    assert shown["tests/test_pricing.py"].text == SHOP["tests/test_pricing.py"]
    assert shown["tests/test_values.py"].reasons[0] == "tests near"


def test_the_sample_for_a_new_file_takes_little_room_from_the_file_that_is_changed() -> None:
    rules = "".join(f"def rule_{number}(row):\n    return row > {number}\n\n\n" for number in range(400))
    files = {**SHOP, "src/shop/rules/large.py": rules}
    about = About(title="Rules of gifts", wanted=("src/shop/cart.py", "src/shop/rules/gifts.py"))

    view = first_view(index_of(files), about)
    sample = next(each for each in view.files if each.path == "src/shop/rules/large.py")
    assert (view.files[0].path, view.files[0].level) == ("src/shop/cart.py", "whole")
    assert sample.level == "slices"
    assert 100 < sample.tokens <= 1_200


def test_a_test_file_that_was_asked_for_gives_up_no_room_because_tests_are_wanted() -> None:
    rows = "".join(f"    assert rounded({number}.125) == {number}.12\n" for number in range(150))
    files = {
        **SHOP,
        "tests/test_pricing.py": f"from shop.pricing import rounded\n\n\ndef test_rounding():\n{rows}",
    }
    about = About(title="Round", wanted=("tests/test_pricing.py",), wants_tests=True)

    assert first_view(index_of(files), about).files[0].level == "whole"


def test_room_that_nothing_else_needs_goes_to_the_best_file() -> None:
    body = "".join(f"    value = value + {number}\n" for number in range(12))
    steps = "\n\n".join(f"def step_{number}(value):\n{body}    return value\n" for number in range(200))
    files = {"src/steps.py": steps, "README.md": "Steps.\n"}
    view = first_view(
        index_of(files), About(title="step value", text="every step adds a value"), room_tokens=6_000
    )

    assert view.tokens > 3_800


def test_of_a_folder_of_tests_for_one_file_the_one_about_what_is_said_is_near() -> None:
    names = ("body", "header", "length", "status", "type")
    tests = {f"test/reply/{name}.test.js": f"it('{name}', () => {{ same('{name}') }})\n" for name in names}
    files = {
        **SHOP,
        **tests,
        "lib/reply.js": "".join(f"exports.{name} = () => '{name}'\n" for name in names),
        "test/app/reply.test.js": "it('replies', () => { same('reply') })\n",
        "test/app/parser.test.js": "it('parses a wrong body', () => { body(body) })\n" * 3,
    }
    about = About(title="Wrong body", wanted=("lib/reply.js",), wants_tests=True)

    shown = {each.path for each in first_view(index_of(files), about).files if "tests near" in each.reasons}

    assert shown == {"test/reply/body.test.js", "test/app/reply.test.js"}


def test_a_short_file_is_shown_whole_however_little_is_left_for_it() -> None:
    short = "".join(f"def rounded_{number}(price):\n    return price\n" for number in range(18))
    files = {**SHOP, "src/shop/steps.py": LONG, "src/shop/more.py": LONG, "src/shop/short.py": short}
    about = PRICES._replace(wanted=("src/shop/steps.py", "src/shop/more.py", "src/shop/short.py"))

    view = first_view(index_of(files), about, room_tokens=1_000)

    assert 150 < tokens_of(short) < 300
    assert {each.path: each.level for each in view.files}["src/shop/short.py"] == "whole"


def test_room_that_nothing_else_needs_goes_to_the_tests_near_for_whoever_writes_more() -> None:
    tests = "\n\n".join(
        f"def test_rounded_{number}():\n    price = rounded({number}.125)\n    assert price == {number}.12\n"
        for number in range(200)
    )
    files = {**SHOP, "tests/test_pricing.py": f"from shop.pricing import rounded\n\n\n{tests}"}
    about = About(title="Round the price", wanted=("src/shop/pricing.py",), wants_tests=True)

    shown = {each.path: each for each in first_view(index_of(files), about, room_tokens=6_000).files}

    assert shown["src/shop/pricing.py"].level == "whole"
    assert 3_000 < shown["tests/test_pricing.py"].tokens <= 6_000
    assert shown["tests/test_pricing.py"].reasons[0] == "tests near"


def test_tests_are_near_whose_name_has_words_of_the_file_that_they_are_about() -> None:
    unlike = "def test_all():\n    assert render('the slot')\n"
    files = {
        "src/ssrRenderSlot.py": "def ssr_render_slot(slot):\n    return slot\n",
        "tests/test_ssrSlot.py": "def test_named():\n    assert render('x')\n",
        **{f"tests/test_render{number}.py": unlike for number in range(4)},
    }
    about = About(title="Wrong", wanted=("src/ssrRenderSlot.py",), wants_tests=True, most_tests=1)

    near = [each.path for each in first_view(index_of(files), about).files if "tests near" in each.reasons]

    assert near == ["tests/test_ssrSlot.py"]


def test_what_was_looked_at_before_for_the_same_work_is_shown_though_the_request_does_not_say_it() -> None:
    steps = "\n\n".join(
        f"def step_{number}(value):\n    return value * {number}\n" + f"    # {number}\n" * 20
        for number in range(200)
    )
    files = {**SHOP, "src/shop/steps.py": steps}
    [line] = [number for number, text in enumerate(steps.splitlines(), 1) if text == "def step_140(value):"]
    about = About(title="Round the price")

    before = first_view(index_of(files), about, room_tokens=4_000)
    after = first_view(
        index_of(files), about._replace(looked={"src/shop/steps.py": [(line, line + 2)]}), room_tokens=4_000
    )

    shown = {each.path: each for each in after.files}["src/shop/steps.py"]
    assert "src/shop/steps.py" not in {each.path for each in before.files}
    assert "    return value * 140" in shown.text
    assert "    return value * 20\n" not in shown.text
    assert "looked at before" in shown.reasons


def test_what_was_looked_at_but_is_hidden_from_this_reader_is_not_shown() -> None:
    about = About(
        title="Round", looked={"src/shop/cart.py": [(1, 2)]}, hidden=frozenset(["src/shop/cart.py"])
    )

    view = first_view(index_of(SHOP), about)

    assert "src/shop/cart.py" not in {each.path for each in (*view.files, *view.named)}


def test_an_empty_repository_has_an_empty_view() -> None:
    view = first_view(index_of({}), PRICES)

    assert (view.files, view.named, view.file_count) == ((), (), 0)


@settings(max_examples=examples(30))
@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,6}/[a-z]{1,6}\.(py|md|toml|txt|js)", fullmatch=True),
        st.text(max_size=2_000),
        max_size=12,
    ),
    st.text(max_size=200),
    st.integers(min_value=1_000, max_value=3_000),
)
def test_a_view_never_takes_more_than_its_room(files: dict[str, str], text: str, room: int) -> None:
    view = first_view(index_of(files), About(text=text, wanted=tuple(files)[:2]), room_tokens=room)

    assert view.tokens <= room
    assert all(each.tokens == tokens_of(each.text) for each in view.files)


def test_a_line_of_ten_megabytes_takes_no_room() -> None:
    view = first_view(
        index_of({**SHOP, "src/shop/data.py": "x = '" + "round price " * 800_000 + "'\n"}), PRICES
    )

    assert view.tokens <= 12_000
    assert view.files[0].path == "src/shop/pricing.py"


UART = "fn uart_send(byte: u8) -> Result<(), Busy> {\n    wait_until_ready()?;\n    write(byte)\n}\n"
SPI = "fn spi_send(byte: u8) {\n    write(byte)\n}\n"
LONG_UART = "".join(f"fn uart_{n}(byte: u8) -> u8 {{\n    byte + {n}\n}}\n\n" for n in range(300)) + UART
HAL = (
    Beside("octo-org/hal:src/spi.rs", "src/spi.rs", SPI),
    Beside("octo-org/hal:src/uart.rs", "src/uart.rs", UART, why="how errors are reported"),
)


def test_files_of_other_repositories_are_ranked_by_the_request_and_stand_apart() -> None:
    about = About(title="`uart_send` blocks", text="It waits until the uart is ready.", beside=HAL)

    view = first_view(index_of(SHOP), about)

    assert [(each.path, each.level, each.text) for each in view.beside] == [
        ("octo-org/hal:src/uart.rs", "whole", UART),
        ("octo-org/hal:src/spi.rs", "whole", SPI),
    ]
    assert view.beside[0].score > view.beside[1].score
    assert view.beside[0].reasons == ("how errors are reported",)
    assert {each.path for each in view.beside}.isdisjoint(each.path for each in view.files)
    assert [each.path for each in items_of(view)][-2:] == [each.path for each in view.beside]
    assert view.tokens == first_view(index_of(SHOP), about._replace(beside=())).tokens + sum(
        each.tokens for each in view.beside
    )


def test_of_a_long_file_of_another_repository_the_part_that_matters_is_shown_within_its_room() -> None:
    long = Beside("octo-org/hal:src/uart.rs", "src/uart.rs", LONG_UART)

    [shown] = first_view(
        index_of(SHOP), About(title="`uart_send` blocks", beside=(long,)), room_tokens=4_000
    ).beside

    assert shown.level == "slices"
    assert "fn uart_send(byte: u8) -> Result<(), Busy> {" in shown.text
    assert shown.tokens <= 0.15 * 4_000 + 50


def test_a_standard_of_a_pack_is_shown_though_it_shares_no_word_with_the_request() -> None:
    files = {**SHOP, "docs/rules/zeal.md": "# Zeal\n\nQuiet quartz.\n"}
    about = About(title="Wrong total of a basket")

    plain = first_view(index_of(files), about)
    asked = first_view(index_of(files), about._replace(standards={"docs/rules/zeal.md": "a standard of p"}))

    assert "docs/rules/zeal.md" not in {each.path for each in plain.files}
    [found] = [each for each in asked.files if each.path == "docs/rules/zeal.md"]
    assert "a standard of p" in found.reasons


def test_a_decision_of_the_project_counts_as_much_named_by_a_pack_or_by_its_folder() -> None:
    text = "# Prices\n\nA price has two decimals, and a total of a basket is rounded once.\n"
    about = About(title="Wrong total of a basket")
    named = about._replace(standards={"notes/prices.md": "a standard of p"})

    [by_folder] = [
        each.score
        for each in rank(index_of({**SHOP, "docs/adr/prices.md": text}), about)
        if each.path == "docs/adr/prices.md"
    ]
    [by_pack] = [
        each.score
        for each in rank(index_of({**SHOP, "notes/prices.md": text}), named)
        if each.path == "notes/prices.md"
    ]
    [unnamed] = [
        each.score
        for each in rank(index_of({**SHOP, "notes/prices.md": text}), about)
        if each.path == "notes/prices.md"
    ]

    assert by_pack >= by_folder > unnamed


def test_nothing_beside_leaves_the_view_as_it_was() -> None:
    about = About(title="Wrong total of a basket")

    assert first_view(index_of(SHOP), about).beside == ()


PACKAGE = (
    '{\n  "name": "shop",\n  "version": "1.0.0",\n  "exports": {\n'
    + "".join(f'    "./part{number}": "./dist/part{number}.js",\n' for number in range(30))
    + '    ".": "./dist/index.js"\n  },\n  "scripts": {\n    "build": "tsc",\n    "lint": "eslint .",\n    "test": "vitest"\n  },\n'
    '  "devDependencies": {\n    "vitest": "^3.0.0"\n  }\n}\n'
)


def test_a_short_manifest_is_shown_whole() -> None:
    view = first_view(
        index_of({**SHOP, "package.json": PACKAGE, "pyproject.toml": ""}), PRICES, room_tokens=4_800
    )

    (shown,) = (each for each in view.files if each.path == "package.json")
    assert shown.tokens > 0.08 * 4_800
    assert (shown.level, shown.text) == ("whole", PACKAGE)


def test_of_a_long_manifest_the_parts_that_say_how_tests_run_are_shown_without_gaps() -> None:
    long = PACKAGE.replace(
        '    ".":', "".join(f'    "./more{n}": "./dist/more{n}.js",\n' for n in range(200)) + '    ".":'
    )
    view = first_view(index_of({**SHOP, "package.json": long}), PRICES, room_tokens=4_800)

    (shown,) = (each for each in view.files if each.path == "package.json")
    lines = long.splitlines()
    start = lines.index('  "scripts": {') + 1
    assert any(first <= start and start + 4 <= last for first, last in shown.lines)


def test_whoever_plans_sees_the_one_test_file_that_is_nearest() -> None:
    about = About(
        title="Change the cents", text="`src/shop/pricing.py`: `rounded`", wants_tests=True, most_tests=1
    )

    reasons = [
        each.reasons for each in first_view(index_of(SHOP), about).files if each.path.startswith("tests")
    ]

    assert [each[0] for each in reasons] == ["tests near"]


def upgrades(*classes: str) -> str:
    """A long file of tests, each class with a `prepare` of its own and two tests."""
    return "\n\n".join(
        f"class {name}(Case):\n    def prepare(self):\n        super().prepare()\n        self.name = {name!r}\n\n"
        f"    def test_price_of_{name}(self):\n        self.buy({name!r})\n{'        # .' * 8}\n\n"
        f"    def test_price_again_{name}(self):\n        self.buy({name!r})\n{'        # .' * 8}"
        for name in classes
    )


def test_of_several_classes_with_a_method_of_one_name_the_named_class_is_shown_with_its_members() -> None:
    text = upgrades(
        *(f"Case{number}" for number in range(60)), "UpgradeCase", *(f"More{n}" for n in range(60))
    )
    files = {**SHOP, "tests/test_upgrades.py": text}
    about = About(
        title="Round the price",
        text="New tests go into `UpgradeCase`, whose `prepare` stays as it is.",
        wanted=("src/shop/pricing.py", "tests/test_upgrades.py"),
        wants_tests=True,
    )

    shown = {each.path: each for each in first_view(index_of(files), about, room_tokens=4_000).files}

    text = shown["tests/test_upgrades.py"].text
    assert "class UpgradeCase(Case):" in text
    assert "self.name = 'UpgradeCase'" in text
    assert "def test_price_of_UpgradeCase(self):" in text
    assert "def test_price_again_UpgradeCase(self):" in text
    assert "self.name = 'Case0'" not in text


def test_a_test_that_was_asked_for_has_the_room_of_a_test_besides_its_own() -> None:
    text = upgrades(*(f"Case{number}" for number in range(200)))
    files = {**SHOP, "tests/test_upgrades.py": text}
    about = About(
        title="Prices of cases", wanted=("src/shop/pricing.py", "tests/test_upgrades.py"), wants_tests=False
    )

    def tokens(asked: About) -> int:
        view = first_view(index_of(files), asked, room_tokens=4_000)
        return next(each.tokens for each in view.files if each.path == "tests/test_upgrades.py")

    assert tokens(about._replace(wants_tests=True)) >= tokens(about)


CHANGES = (
    "# Changes\n\n## Unreleased\n\n- Prices may be negative.\n\n## 1.1\n\n" + "- Something else.\n" * 400
)


def test_whoever_may_write_an_entry_sees_the_top_of_the_change_log() -> None:
    files = {**SHOP, "packages/other/CHANGES": CHANGES, "CHANGES": CHANGES}
    about = About(title="Round the price")

    def tops(asked: About) -> list[tuple[str, tuple[tuple[int, int], ...]]]:
        view = first_view(index_of(files), asked)
        return [(each.path, each.lines) for each in view.files if each.path.endswith("CHANGES")]

    assert tops(about) == []
    assert tops(about._replace(wants_change_log=True)) == [("CHANGES", ((1, 15),))]


def test_a_change_log_that_was_asked_for_is_shown_once_and_one_that_is_shown_elsewhere_is_not() -> None:
    files = {**SHOP, "CHANGES": CHANGES}
    about = About(title="Round the price", wants_change_log=True)
    asked = first_view(index_of(files), about._replace(wanted=("CHANGES",)))
    without = first_view(index_of(files), about._replace(without=frozenset({"CHANGES"})))

    assert [each.path for each in asked.files].count("CHANGES") == 1
    assert "CHANGES" not in {each.path for each in without.files}


def test_of_a_long_file_that_is_asked_for_its_imports_are_shown() -> None:
    text = f"import math\nfrom shop import rates\n\n{LONG}\n\ndef rounded(price):\n    return price\n"
    index = index_of({**SHOP, "src/shop/long.py": text})

    def shown(about: About) -> str:
        return "".join(
            each.text for each in first_view(index, about).files if each.path == "src/shop/long.py"
        )

    asked = About(title="Round prices", text="`rounded` is wrong", wanted=("src/shop/long.py",))
    assert "    2| from shop import rates" in shown(asked)
    assert "from shop import rates" not in shown(asked._replace(wanted=()))


def test_a_test_that_the_request_names_by_its_title_is_shown_whole() -> None:
    others = "".join(
        f"  it('rounds prices in case {number}', () => {{\n    expect(rounded({number})).toBe({number})\n  }})\n\n"
        for number in range(400)
    )
    own = "  it('keeps an empty basket as it is', () => {\n    expect(basket([]))\n      .toEqual([])\n  })\n"
    index = index_of({**SHOP, "test/basket.test.js": f"describe('shop', () => {{\n{others}{own}}})\n"})
    about = About(
        title="Round prices",
        text="`rounded` is wrong. The test `keeps an empty basket as it is` has to expect an error.",
        wanted=("test/basket.test.js",),
        wants_tests=True,
    )

    (shown,) = (each for each in first_view(index, about, room_tokens=4_000).files if "basket" in each.path)

    assert "      .toEqual([])" in shown.text
    assert not any(
        "basket([])" in each.text for each in first_view(index, about._replace(text="`rounded`")).files
    )


def test_files_without_words_are_not_named_as_files_that_may_matter() -> None:
    many = {f"src/shop/part_{number}.py": f"PRICE_{number} = {number}\n" for number in range(400)}
    texts: dict[str, str] = {
        **SHOP,
        **many,
        "src/shop/__init__.py": "",
        "src/shop/price.woff": "",
        "src/prices.bin": "\1\2",
    }

    named = {each.path for each in first_view(index_of(texts), PRICES).named}

    assert any(path.startswith("src/shop/part_") for path in named)
    assert named.isdisjoint({"src/shop/__init__.py", "src/shop/price.woff", "src/prices.bin"})
