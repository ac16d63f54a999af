"""The sections of documents and configuration."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.sight.outlines import sections_of

MARKDOWN = "# Shop\n\n```sh\n# no heading\n```\n\n## Use\n\ntext\n\n### Prices ###\n\n## Licence\n"
RST = "Shop\n====\n\nUse\n---\n\ntext\n\nPrices\n~~~~~~\n\nLicence\n-------\nfree\n"
TOML = "[project]\nname = 'a'\n\n[tool.x]\ny = [1]\n[[tool.z]]\n"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "README.md",
            MARKDOWN,
            [("Shop", 1, 13, -1), ("Use", 7, 12, 0), ("Prices", 11, 12, 1), ("Licence", 13, 13, 0)],
        ),
        (
            "README.rst",
            RST,
            [("Shop", 1, 14, -1), ("Use", 4, 11, 0), ("Prices", 9, 11, 1), ("Licence", 12, 14, 0)],
        ),
        (
            "pyproject.toml",
            TOML,
            [("project", 1, 3, -1), ("tool.x", 4, 5, -1), ("tool.z", 6, 6, -1)],
        ),
        (
            "package.json",
            '{\n  "name": "a",\n  "scripts": {\n    "test": [\n    ]\n  },\n  "files": [\n  ]\n}\n',
            [("scripts", 3, 6, -1), ("files", 7, 9, -1)],
        ),
        ("a.py", "# not a heading\n", []),
    ],
)
def test_sections_have_their_lines_and_what_they_are_in(
    path: str, text: str, expected: list[tuple[str, int, int, int]]
) -> None:
    found = sections_of(path, text.splitlines())

    assert [(each.name, each.first, each.last, each.parent) for each in found] == expected


@given(
    st.text(alphabet="#=-~ ab\n[]`'\":{", max_size=300),
    st.sampled_from(["a.md", "a.rst", "a.toml", "a.adoc", "a.json"]),
)
def test_any_text_has_sections_inside_of_each_other(text: str, path: str) -> None:
    lines = text.splitlines()

    for place, each in enumerate(found := sections_of(path, lines)):
        assert 1 <= each.first <= each.last <= len(lines)
        if each.parent >= 0:
            around = found[each.parent]
            assert each.parent < place
            assert around.first <= each.first
            assert each.last <= around.last
