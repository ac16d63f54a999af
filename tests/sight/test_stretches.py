"""Lines of a file as they are written out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.sight.stretches import imports_in, shortened


@given(st.integers(0, 2_000))
def test_a_line_is_cut_only_where_that_saves_room_and_says_by_how_much(length: int) -> None:
    line = "x" * length

    shown = shortened(line)

    assert len(shown) <= max(len(line), 430)
    if shown != line:
        kept, _, count = shown.removesuffix(" more characters").partition(" … ")
        assert len(shown) < len(line)
        assert len(kept) + int(count) == length


@pytest.mark.parametrize(
    ("text", "stretch"),
    [
        ('"""Rows."""\n\nimport os\nfrom a import b\n\nX = 1\n', (3, 4)),
        ("import os\n\nfrom a import (\n    b,\n    c,\n)\n\ndef d(): ...\n", (1, 6)),
        ("// Rows.\nimport { a } from 'a';\nimport {\n  b,\n} from 'b';\nf();\n", (2, 5)),
        ("'use strict';\nconst { a } = require('a');\nvar b = require('b')\n", (2, 3)),
        ("#include <a.h>\n#include <b.h>\nint x;\n", (1, 2)),
        ("use std::fmt;\npub use crate::a;\n", (1, 2)),
        ("".join(f"import a{number}\n" for number in range(60)), (1, 40)),
        ("\n" * 200 + "import late\n", None),
        ("def from_a(): ...\nimportant = 1\n", None),
        ("", None),
    ],
)
def test_what_a_file_brings_in_is_known_in_many_languages(text: str, stretch: tuple[int, int] | None) -> None:
    assert imports_in(text.splitlines()) == stretch
