"""What the Python service builds into a file for a run that is thrown away."""

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.exploring import Instrumented
from cogworks.services.python.code.insertion import body_at, checking, noting
from tests.services.asking import ask, laid_out

SHOP = """\
#!/usr/bin/env python
# -*- coding: utf-8 -*-
\"\"\"Prices.\"\"\"
from __future__ import annotations


@staticmethod
def total(prices, *, rebate=0):
    \"\"\"What is to be paid.\"\"\"
    result = 0
    for price in prices:
        result += price
    return result - rebate
"""


def built(folder: Path, text: str | bytes = SHOP, **params: Any) -> Instrumented:
    laid_out(folder, {"shop.py": text})
    response = ask("instrument", folder, **{"artifact": "shop.py", "line": 12, "mode": "note", **params})
    return Instrumented.model_validate(response.result)


def test_what_a_function_was_given_is_kept_right_after_its_docstring(tmp_path: Path) -> None:
    found = built(tmp_path)

    assert found.content is not None
    before, after = SHOP.split("\n"), found.content.split("\n")
    assert (after[:9], after[10:]) == (before[:9], before[9:])
    assert after[9].startswith("    cogworks_probe_prices = (type(prices).__name__")
    assert "; cogworks_probe_rebate = " in after[9]
    assert (found.lines, found.statements) == ((10, 14), ((10, 10), (11, 12), (13, 13)))
    assert (tmp_path / "shop.py").read_text() == SHOP


@pytest.mark.parametrize(
    ("given", "kinds"),
    [
        ("[]", "list empty"),
        ("[1]", "list"),
        ("-1", "int negative"),
        ("None", "NoneType"),
        ("''", "str empty"),
    ],
)
def test_the_kind_of_a_value_is_its_type_its_sign_and_whether_it_holds_anything(
    tmp_path: Path, given: str, kinds: str
) -> None:
    found = built(tmp_path, "def f(x):\n    return cogworks_probe_x\n", line=1)

    # Code of this test, not of a repository.
    space: dict[str, Any] = {}
    exec(found.content or "", space)
    assert space["f"](ast.literal_eval(given)) == kinds


def test_a_check_fails_for_a_kind_that_is_not_allowed(tmp_path: Path) -> None:
    found = built(tmp_path, mode="check", allowed={"prices": ("list",), "rebate": ("int", "float")})

    space: dict[str, Any] = {}
    exec((found.content or "").replace("@staticmethod\n", ""), space)  # as above
    assert space["total"]([1, 2], rebate=1) == 2
    with pytest.raises(AssertionError, match=r"^cogworks_probe_prices$"):
        space["total"]([])


def test_statements_are_left_out_whole_and_one_stays(tmp_path: Path) -> None:
    found = built(tmp_path, mode="shorten", without=[(11, 12)])
    refused = built(tmp_path, mode="shorten", without=[(10, 10), (11, 12), (13, 13)])
    strange = built(tmp_path, mode="shorten", without=[(11, 11)])

    assert found.content == SHOP.replace("    for price in prices:\n        result += price\n", "")
    assert (refused.content, refused.reason) == (None, "shop.py:12: nothing would be left of the function")
    assert strange.reason == "shop.py:12: 11-11 is no statement of the function"
    assert strange.statements == ((10, 10), (11, 12), (13, 13))


@pytest.mark.parametrize(
    ("text", "params", "reason"),
    [
        ("x = 1\n", {"line": 1}, "no function is there"),
        ("def f(a): return a\n", {"line": 1}, "the body has no line of its own"),
        ("def f(a):\n    '''doc'''; return a\n", {"line": 1}, "the body has no line of its own"),
        ("def f():\n    return 1\n", {"line": 1}, "the function has no parameters"),
        ("def f(a):\n    type = 1\n    return a\n", {"line": 1}, "names of its own for type"),
        ("def f(:\n", {"line": 1}, "cannot be parsed"),
        ("def f(a):\r    return a\r", {"line": 1}, "a carriage return alone"),
        (b"def f(a):\n    return '\xff'\n", {"line": 1}, "cannot be parsed"),
        ("def f(a):\n    return a\n", {"line": 1, "mode": "check", "allowed": {"b": ["int"]}}, "no parameter is called b"),
        ("def f(a):\n    return a\n", {"line": 1, "artifact": "none.py"}, "none.py is no file"),
    ],
    ids=["no function", "one line", "docstring shares", "no parameters", "hidden names", "broken", "old ends", "encoding", "unknown", "no file"],
)  # fmt: skip
def test_what_cannot_be_done_is_said(
    tmp_path: Path, text: str | bytes, params: dict[str, Any], reason: str
) -> None:
    found = built(tmp_path, text, **params)

    assert found.content is None
    assert reason in found.reason


def test_a_path_that_leads_out_is_refused(tmp_path: Path) -> None:
    response = ask("instrument", tmp_path, artifact="../evil.py", line=1, mode="note")

    assert response.error is not None


HEADS = st.lists(
    st.sampled_from(
        ["#!/usr/bin/env python3", "# -*- coding: utf-8 -*-", "# a remark", ""],
    ),
    max_size=3,
).map(lambda lines: "".join(f"{line}\n" for line in lines))
DOCUMENTATION = st.sampled_from(["", '"""One line."""\n', '"""Two\nlines."""\n', "'' 'joined'\n"])
FUTURE = st.sampled_from(["", "from __future__ import annotations\n"])
BODY = st.sampled_from(
    [
        "return a",
        "'doc'\n    return a",
        '"""a\n\n    b"""\n    x = (a,\n  1)\n    return x',
        "if a:\n        return a\n    elif b:\n        pass",
    ]
)
ENDS = st.sampled_from(["\n", "\r\n"])


ABOVE = st.tuples(HEADS, DOCUMENTATION, FUTURE).map("".join)


@given(ABOVE, BODY, ENDS, st.sampled_from(["note", "check"]))
def test_whatever_stands_above_a_function_stays_valid_and_as_it_was(
    above: str, body: str, ends: str, mode: str
) -> None:
    text = f"{above}def f(a, b=1):\n    {body}\n".replace("\n", ends)
    line = text.count("\n")

    found = body_at(text.encode(), line)
    after = noting(found) if mode == "note" else checking(found, {"a": ("int",)})

    before, tree = ast.parse(text), ast.parse(after)
    assert ast.get_docstring(tree) == ast.get_docstring(before)
    assert ast.get_docstring(tree.body[-1]) == ast.get_docstring(before.body[-1])  # type: ignore[arg-type]  # a function
    assert after.startswith(text[: text.index("def f")])
    assert after.count(ends) == text.count(ends) + 1
    (added,) = [row for row in after.split(ends) if row not in text.split(ends)]
    assert after.replace(f"{added}{ends}", "") == text
