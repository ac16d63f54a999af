"""Which parts of a long file are shown."""

import re
from itertools import pairwise

import pytest

from cogworks.sight.kinds import is_test
from cogworks.sight.question import About
from cogworks.sight.stretches import closed
from cogworks.sight.view import Shown, first_view
from tests.sight.trees import index_of

FLOATS = About(
    title="floatfmt must not go through float",
    text="`Decimal` values lose digits; `render(rows, floatfmt='.6f')` should format them as they are",
)


def part_of(path: str, text: str, about: About, room_tokens: int = 3_000) -> Shown:
    """How the one long file among small ones is shown."""
    files = {path: text, "src/other.py": "def other():\n    return 1\n"}
    found = next(
        each
        for each in first_view(index_of(files), about, room_tokens=room_tokens).files
        if each.path == path
    )
    assert (found.level, is_test(path)) == ("slices", path.startswith("test"))
    return found


def shown_lines(found: Shown) -> dict[int, str]:
    return {int(each[1]): each[2] for each in re.finditer(r"^ *(\d+)\| (.*)$", found.text, re.MULTILINE)}


def filler(count: int, start: int = 0) -> str:
    return "\n\n".join(
        f"def step_{number}(rows):\n    for row in rows:\n        print(row, {number})\n    return rows\n"
        for number in range(start, start + count)
    )


COMMAND = (
    '\n\ndef command(arguments):\n    """Options: -f format, --float floatfmt, values, digits."""\n'
    + "".join(
        f"    if arguments[{number}] == '--option-{number}':\n        print('format')\n"
        for number in range(60)
    )
    + "    floatfmt = arguments[0]\n"
)
FORMAT = (
    '\n\n# Numbers are written as people want them.\ndef _format(value, kind, floatfmt):\n    """The text of a value."""\n'
    "    if kind is float:\n        return format(float(value), floatfmt)\n    return str(value)\n\n\n"
    "def render(rows, floatfmt):\n    return [_format(row, float, floatfmt) for row in rows]\n"
)
MODULE = filler(150) + FORMAT + filler(150, 150) + COMMAND


def test_a_function_whose_parameters_are_named_comes_before_one_that_says_the_words_more_often() -> None:
    shown = shown_lines(part_of("src/table.py", MODULE, FLOATS)).values()

    assert "        return format(float(value), floatfmt)" in shown
    assert "    return [_format(row, float, floatfmt) for row in rows]" in shown


def test_a_comment_right_above_a_definition_is_shown_with_it() -> None:
    assert (
        "# Numbers are written as people want them."
        in shown_lines(part_of("src/table.py", MODULE, FLOATS)).values()
    )


def test_the_outline_of_a_long_file_names_most_of_it_and_counts_the_rest() -> None:
    text = part_of("src/table.py", MODULE, FLOATS, room_tokens=6_000).text

    named = set(re.findall(r"\b\d+ (step_\d+)", text)) | set(re.findall(r"def (step_\d+)", text))
    more = re.findall(r"… and (\d+) more$", text)
    assert len(named) > 100
    assert len(named) + int(more[0] if more else 0) == 300


def test_an_outline_that_has_no_room_for_all_counts_what_it_leaves_out() -> None:
    text = part_of("src/table.py", MODULE, FLOATS, room_tokens=2_000).text

    (more,) = re.findall(r"… and (\d+) more$", text)
    assert len({*re.findall(r"\b(step_\d+)", text)}) + int(more) == 300


CALLED = (
    filler(200)
    + "\n\ndef rounded_price(price):\n    return round(price, 2)\n"
    + "\n\ndef unrelated(rows):\n    return len(rows)\n"
    + filler(100, 200)
    + "\n\ndef checkout(basket):\n    return sum(rounded_price(each) for each in basket)\n"
)


def test_who_calls_the_function_at_fault_is_shown_as_well() -> None:
    shown = shown_lines(
        part_of("src/table.py", CALLED, About(title="`rounded_price` is off by one cent"))
    ).values()

    assert "    return sum(rounded_price(each) for each in basket)" in shown
    assert "    return len(rows)" not in shown


def long_function(name: str, lines: int, said: str) -> str:
    body = "".join(f"    {said} = {said} + known[{number}]\n" for number in range(lines))
    return f"\n\ndef {name}(known):\n{body}    return {said}\n"


SUMS = filler(100) + long_function("add_up", 200, "subtotal") + filler(100, 100)


def test_the_function_that_matches_best_is_shown_whole_where_it_takes_most_of_the_room() -> None:
    found = part_of("src/sums.py", SUMS, About(title="src/sums.py: the subtotal is wrong"), room_tokens=6_000)

    shown = [line for line in shown_lines(found).values() if "subtotal" in line]
    assert len(shown) == 201
    assert sum(len(line) + 8 for line in shown) / 3 > 0.65 * found.tokens


def test_of_a_function_that_is_named_and_has_no_room_the_likeliest_parts_take_most_of_it() -> None:
    text = filler(60) + long_function("add_up", 900, "subtotal") + filler(60, 100)
    about = About(title="`add_up` in src/sums.py: the subtotal is wrong")

    found = part_of("src/sums.py", text, about, room_tokens=6_000)

    # Lines that go on one after the other say nothing of what is left out between them, and cost nothing for it.
    assert len([line for line in shown_lines(found).values() if "subtotal" in line]) > 200


def test_a_file_behind_the_best_takes_more_where_the_request_names_a_definition_of_it() -> None:
    files = {
        f"src/{name}.py": filler(90) + long_function(f"{name}_price", 220, "subtotal") + filler(90, 90)
        for name in ("basket", "invoice")
    }

    def tokens(text: str) -> int:
        about = About(title="basket.py: the subtotal of an invoice price is wrong", text=text)
        view = first_view(index_of(files), about, room_tokens=9_000)
        first, second = [each for each in view.files if each.path.startswith("src")]
        assert (first.path, second.path) == ("src/basket.py", "src/invoice.py")
        return second.tokens

    assert tokens("So it is with `invoice_price`.") > tokens("So it is elsewhere.")


TABLE = (
    "RULES = [\n"
    + "".join(f"    (r'rule{number}', tokens.Keyword),\n" for number in range(400))
    + "    # Numbers with a decimal point.\n    (r'[0-9]+[.][0-9]+', tokens.Number.Float),\n"
    + "".join(f"    (r'rule{number}', tokens.Keyword),\n" for number in range(400, 800))
    + "]\n"
)


def test_a_long_table_is_shown_around_the_entries_that_match() -> None:
    about = About(title="Float number without leading zero is no number", text="decimal point")
    shown = shown_lines(part_of("src/rules.py", TABLE, about))

    assert shown[1] == "RULES = ["
    assert shown[403] == "    (r'[0-9]+[.][0-9]+', tokens.Number.Float),"
    assert 20 not in shown


README = (
    "[![badge](https://example.org/badge)](x)\n" * 30
    + "".join(f"\n## Topic {number}\n\n" + "Nothing of interest here.\n" * 20 for number in range(40))
    + "\n## Options\n\n| option | what it does |\n|---|---|\n| `basename` | matches the last part of a path |\n"
)


def test_a_long_document_is_shown_at_the_section_that_matches() -> None:
    found = part_of(
        "README.md", README, About(title="README.md: basename ignores paths", text="the last part of a path")
    )
    shown = shown_lines(found).values()

    assert "## Options" in shown
    assert "| `basename` | matches the last part of a path |" in shown
    assert not any("badge" in each for each in shown)
    assert "Topic" in found.text


SPEC = (
    "/* eslint-disable */\n'use strict';\n\nconst assert = require('assert');\nconst { isMatch } = require('..');\n\n"
    "describe('options', () => {\n"
    + "".join(
        f"  it('keeps step {number}', () => {{\n    assert(step({number}));\n  }});\n\n"
        for number in range(200)
    )
    + "  it('matches the basename', () => {\n    assert(isMatch('a/b.js', 'b.js', { basename: true }));\n  });\n});\n"
)


def test_a_part_of_a_test_file_has_its_imports_and_the_nearest_tests() -> None:
    about = About(
        title="`basename` is ignored", text="`isMatch` in test/options.js", wanted=("test/options.js",)
    )
    shown = shown_lines(part_of("test/options.js", SPEC, about))

    assert shown[5] == "const { isMatch } = require('..');"
    assert "    assert(isMatch('a/b.js', 'b.js', { basename: true }));" in shown.values()
    assert 1 not in shown


def test_a_test_that_is_shown_is_shown_whole_with_what_it_uses_of_its_file() -> None:
    row = "    rows = filled(rows, {number}, '0.{number}')\n"
    long = "".join(row.format(number=number) for number in range(90))
    text = (
        f"from table import render\n\n\n{filler(80)}\n\n"
        "def filled(rows, *more):\n    return [*rows, more]\n\n\n"
        f"def test_floatfmt_of_decimals():\n    rows = []\n{long}    assert render(rows, floatfmt='.6f')\n\n\n"
        f"{filler(80, 80)}"
    )
    shown = [*shown_lines(part_of("tests/test_table.py", text, FLOATS)).values()]

    assert sum("rows = filled(" in line for line in shown) == 90
    assert "    assert render(rows, floatfmt='.6f')" in shown
    assert "    return [*rows, more]" in shown


def test_lines_that_a_change_touched_in_a_long_function_are_shown() -> None:
    long = "def long(rows):\n" + "".join(f"    row_{number} = rows[{number}]\n" for number in range(900))
    about = About(title="Review", wanted=("src/long.py",), touched={"src/long.py": (700,)})

    assert 700 in shown_lines(part_of("src/long.py", long, about))


def test_where_the_code_of_one_function_changed_it_comes_before_those_whose_documentation_did() -> None:
    told = "".join(
        f'def told_{n}(graph):\n    """Give a mapping.\n\n    Of {n}.\n'
        + "    More of it.\n" * 30
        + f'    """\n    return morphisms(graph, {n})\n\n\n'
        for n in range(6)
    )
    code = "def morphisms(graph, n):\n" + "".join(f"    step_{n} = graph[{n}]\n" for n in range(60))
    lines = (told + code).splitlines()
    documented = [at for at, line in enumerate(lines, 1) if line.startswith("    Of ")]
    changed = lines.index("    step_30 = graph[30]") + 1
    about = About(title="Mapping", wanted=("src/a.py",), touched={"src/a.py": (*documented, changed)})

    shown = shown_lines(part_of("src/a.py", told + code, about, room_tokens=1_500))

    assert set(range(changed - 30, changed + 30)) <= shown.keys()
    only_documented = About(title="Mapping", wanted=("src/a.py",), touched={"src/a.py": tuple(documented)})
    shown = shown_lines(part_of("src/a.py", told + code, only_documented, room_tokens=1_500))
    assert documented[0] in shown


def test_the_line_that_writes_a_quoted_message_is_shown_in_a_long_function() -> None:
    steps = "".join(f"        message_{n} = key_error(keys, tuples, {n})\n" for n in range(300))
    long = (
        "class Schema:\n    def validate(self, data):\n"
        + steps
        + "        for key in data:\n            prefix = \"Key '%s' error:\" % key\n            raise Failure(prefix)\n"
        + steps
    )
    about = About(
        title="Tuples as keys break messages",
        text="I get `Key '('a', 'b')' error:` with a tuple of two keys.",
    )

    found = shown_lines(part_of("src/schema.py", long, about, room_tokens=1_200))

    assert "            prefix = \"Key '%s' error:\" % key" in found.values()


METER = (
    "    def format_meter(self, n, total):\n"
    '        """Text of a bar.\n\n'
    + "".join(f"        total {number}: how many are expected in all.\n" for number in range(70))
    + '        """\n'
    + "".join(f"        step_{number} = self.rate * {number}\n" for number in range(50))
    + "        if n >= limit_of_all:\n            return None\n"
    + "".join(f"        late_{number} = self.rate * {number}\n" for number in range(50))
    + "        return late_1\n\n"
)
BAR = (
    "class Bar:\n"
    + "".join(
        f"    def step_{number}(self, total):\n        total = total or self.total\n        return total + {number}\n\n"
        for number in range(150)
    )
    + METER
    + "    def close(self):\n        self.total = None\n"
)


def test_of_a_long_function_that_the_request_names_all_code_is_shown_and_its_documentation_left_out() -> None:
    about = About(title="An infinite total breaks the bar", text="`format_meter(5, total=inf)` fails")
    shown = shown_lines(part_of("src/bar.py", BAR, about, room_tokens=3_800)).values()

    assert [line for line in METER.splitlines() if line.strip() and line in shown] == [
        line
        for line in METER.splitlines()
        if line.strip() and "are expected" not in line and '"""' not in line
    ]


def test_the_function_of_the_innermost_frame_of_a_traceback_is_shown_with_the_line_at_fault() -> None:
    traceback = (
        'Traceback (most recent call last):\n  File "/usr/lib/app.py", line 3, in step_7\n    bar.step_9(inf)\n'
        '  File "/usr/lib/site-packages/bar.py", line 900, in meter\n    raise TypeError\nTypeError: inf\n'
    )
    about = About(title="An infinite total breaks step_7, step_9 and step_11", text=traceback)
    bar = BAR.replace("format_meter", "meter")
    shown = shown_lines(part_of("src/bar.py", bar, about, room_tokens=4_500)).values()

    assert "        if n >= limit_of_all:" in shown
    assert "        return late_1" in shown


def test_a_function_that_is_named_with_room_for_all_of_it_keeps_its_documentation() -> None:
    about = About(title="An infinite total breaks the bar", text="`format_meter(5, total=inf)` fails")
    shown = shown_lines(part_of("src/bar.py", BAR, about, room_tokens=6_500)).values()

    assert "        total 69: how many are expected in all." in shown
    assert "        return late_1" in shown


SAID = [
    "buffer",
    "socket",
    "window",
    "header",
    "column",
    "record",
    "ledger",
    "parcel",
    "invoice",
    "basket",
    "ticket",
    "voucher",
    "account",
    "balance",
    "currency",
    "discount",
    "carrier",
    "shipment",
    "warehouse",
    "pallet",
    "barcode",
    "scanner",
    "printer",
    "receipt",
    "customer",
    "supplier",
    "contract",
    "warranty",
    "refund",
    "deposit",
]


def test_of_the_functions_that_a_long_request_names_the_one_it_is_about_comes_first() -> None:
    others = [f"run_{name}" for name in ("rows", "views", "tables", "checks", "keys", "types")]
    body = "".join(f"    {word} = value.{word}\n" for word in SAID)
    less = "".join(f"    {word} = value.{word}\n" for word in SAID[:22])
    text = "".join(f"def {name}(value):\n{body}\n\n" for name in others) + f"def meter(value):\n{less}\n\n"
    text += "".join(f"def step_{number}(value):\n    return value + {number}\n\n\n" for number in range(400))
    named = " ".join(f"`{name}` stays as it is." for name in others)
    about = About(
        title="Let meter read all of it",
        text=f"It is about {', '.join(SAID)}. `meter` is slow. {named} `meter` it is.",
    )

    shown = shown_lines(part_of("src/steps.py", text, about, room_tokens=2_500)).values()

    assert f"    {SAID[21]} = value.{SAID[21]}" in shown
    assert "def meter(value):" in shown


def test_a_section_that_the_request_names_by_its_heading_is_shown_with_all_that_it_says_itself() -> None:
    told = [f"{word} {other}" for word, other in pairwise(SAID)]
    sections = [
        f"Reading {each}\n{'-' * 40}\n\nThe {' and the '.join(SAID)} of the query.\n\n" for each in told
    ]
    own = "\n".join(f"Line {number} of what is wanted." for number in range(20))
    wanted = f"Running `SQL` queries\n{'=' * 40}\n\n{own}\n\n{''.join(sections)}"
    about = About(
        title="Read the query from standard input",
        text=f"It is about {', '.join(SAID)}. It has to be told in *Running SQL queries*, as well.",
        wanted=("docs/cli.rst",),
    )

    shown = shown_lines(part_of("docs/cli.rst", wanted, about, room_tokens=3_000)).values()

    assert [line for line in own.splitlines() if line in shown] == own.splitlines()


def test_a_list_of_exported_names_gives_its_room_to_what_is_meant() -> None:
    names = "".join(
        f'    "floatfmt_values_{number}",\n    "render_digits_{number}",\n' for number in range(60)
    )
    shown = shown_lines(part_of("src/table.py", f"__all__ = [\n{names}]\n\n{MODULE}", FLOATS)).values()

    assert "        return format(float(value), floatfmt)" in shown
    assert not any("render_digits_" in line for line in shown)


API = "# Paths\n\n" + "".join(
    f"### `{name}(input, base)`\n\nWhat {name} does with a base.\n\nIf input has no base, it stays.\n\n**Example:**\n\n"
    f'```js\n{name}("/foo/bar", "/foo"); // "/bar"\n```\n\n'
    for name in ["withBase", "withoutBase", *(f"with{word.capitalize()}" for word in SAID)]
)


@pytest.mark.parametrize("room_tokens", [1_400, 2_000, 3_000])
def test_a_short_section_is_shown_whole_or_not_at_all_and_first_where_its_heading_says_what_is_named(
    room_tokens: int,
) -> None:
    about = About(
        title="withBase and withoutBase match the base inside of a segment",
        text='`withoutBase("/foo-bar", "/foo")` returns a wrong path.',
        wanted=("README.md",),
    )

    shown = shown_lines(part_of("README.md", API, about, room_tokens=room_tokens))

    starts = [number for number, line in shown.items() if line.startswith("### ")]
    assert {API.splitlines()[number - 1] for number in starts} >= {
        "### `withBase(input, base)`",
        "### `withoutBase(input, base)`",
    }
    assert all(number + more in shown for number in starts for more in range(11))


def test_a_short_gap_between_lines_that_are_shown_is_closed_where_there_is_room() -> None:
    lines = [f"line {number}" for number in range(1, 31)]

    assert closed(lines, [(1, 3), (8, 9), (15, 16)], 1_000) == [(1, 9), (15, 16)]
    assert closed(lines, [(1, 3), (8, 9), (15, 16)], 60) == [(1, 3), (8, 9), (15, 16)]
