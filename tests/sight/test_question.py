"""What a request names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.sight.question import About, named_in

TRACEBACK = """It fails:

```
Traceback (most recent call last):
  File "/usr/lib/python3.11/runpy.py", line 88, in _run_code
  File "/home/me/shop/src/shop/cart.py", line 12, in total
    return rounded(price)
  File "/home/me/shop/src/shop/pricing.py", line 7, in rounded
ValueError
```
"""


def test_the_innermost_frame_of_a_traceback_comes_first() -> None:
    assert named_in(About(text=TRACEBACK)).frames == (
        "/home/me/shop/src/shop/pricing.py",
        "/home/me/shop/src/shop/cart.py",
        "/usr/lib/python3.11/runpy.py",
    )


def test_frames_of_scripts_and_plain_places_are_read() -> None:
    text = "    at Object.total (/app/lib/cart.js:12:3)\nsrc/cart.go:7: undefined: x\n"

    assert set(named_in(About(text=text)).frames) == {"/app/lib/cart.js", "src/cart.go"}


def test_the_functions_in_which_an_error_arose_are_surer_than_any_other_name() -> None:
    symbols = named_in(About(title="Cart fails", text=TRACEBACK + "\nSee `Cart`.\n")).symbols

    assert (symbols["rounded"], symbols["total"], symbols["_run_code"]) == (1.5, 1.3, 1.1)
    assert symbols["Cart"] == 1.0


def test_functions_are_read_from_frames_of_scripts_and_of_pytest() -> None:
    text = "    at Object.total (/app/lib/cart.js:12:3)\n    at /app/index.js:1:1\nsrc/shop/cart.py:7: in priced\nsrc/shop/pricing.py:9: TypeError\n"

    assert {"total": 1.3, "priced": 1.5}.items() <= named_in(About(text=text)).symbols.items()


def test_paths_are_found_as_they_are_written() -> None:
    assert set(named_in(About(text="see src/shop/cart.py and docs/usage.rst.")).paths) >= {
        "src/shop/cart.py",
        "docs/usage.rst",
    }


def test_code_in_quotes_is_surer_than_what_only_looks_like_code() -> None:
    symbols = named_in(
        About(text="`rounded` breaks `Cart.total` when apply_discount runs; the price is wrong")
    ).symbols

    assert symbols["rounded"] == symbols["total"] == 1.0
    assert symbols["Cart"] == 0.6
    assert symbols["apply_discount"] == 0.7
    assert "price" not in symbols


def test_the_headline_counts_more_than_the_text() -> None:
    terms = named_in(About(title="rounding", text="mail")).terms

    assert terms["round"] > terms["mail"]


@given(st.text(max_size=500), st.text(max_size=100))
def test_any_request_is_read(text: str, title: str) -> None:
    named = named_in(About(title=title, text=text))

    assert all(weight > 0 for weight in named.terms.values())


@pytest.mark.parametrize(
    ("title", "scope"),
    [
        ("parser: crash at the end", ("parser",)),
        ("fix(parser): crash at the end", ("parser",)),
        ("feat(http, cookie)!: crash at the end", ("http", "cooki")),
        ("[Http] Crash at the end", ("http",)),
        ("net/http: crash at the end", ("net", "http")),
        ("[Bug]: crash at the end", ()),
        ("Feature request: end", ()),
        ("Crash at the end of parser", ()),
        ("Crash in the parser, which reads: far too much at the end", ()),
        ("std::move is wrong", ()),
        ("", ()),
    ],
)
def test_what_a_title_begins_with_says_which_part_is_meant(title: str, scope: tuple[str, ...]) -> None:
    assert named_in(About(title=title)).scope == scope


def test_a_path_whose_name_has_several_dots_is_found_whole() -> None:
    text = "All in `test/base.test.ts`, see eslint.config.mjs and src/cart.spec.js."

    assert set(named_in(About(text=text)).paths) == {
        "test/base.test.ts",
        "eslint.config.mjs",
        "src/cart.spec.js",
    }
