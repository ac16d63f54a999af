"""What counts as a bug of the benchmark follows from the written rule."""

import pytest

from cogworks.domain_services.exploring import Signature, Signatures
from scripts.benchmarks.realbugs.hunks import Hunk
from scripts.benchmarks.realbugs.selection import api_refusal, has_effect, kind_refusal, size_refusal


def hunk(path: str = "shop.py", removed: int = 1, added: int = 1, line: str = "x = 1\n") -> Hunk:
    return Hunk(path=path, start=0, removed=(line,) * removed, added=(line,) * added)


@pytest.mark.parametrize(
    ("hunks", "reason"),
    [
        ([hunk(removed=20, added=20)], None),
        ([hunk(removed=20, added=21)], "41 changed lines, more than 40"),
        ([hunk(f"{name}.py") for name in "abc"], None),
        ([hunk(f"{name}.py") for name in "abcd"], "4 files, more than 3"),
    ],
    ids=["as large as may be", "too many lines", "as many files as may be", "too many files"],
)
def test_a_fix_is_small(hunks: list[Hunk], reason: str | None) -> None:
    assert size_refusal(hunks) == reason


def test_a_new_version_is_no_fix() -> None:
    assert kind_refusal([hunk(line='__version__ = "1.2"\n')]) == "changes nothing but the version"
    assert kind_refusal([hunk(line='__version__ = "1.2"\n'), hunk()]) is None


def signatures(*parameters: str, name: str = "shop.total") -> Signatures:
    found = Signature(id=name, kind="function", artifact="shop.py", line=1, positional=parameters)
    return Signatures(signatures=(found,))


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (signatures("prices"), None),
        (signatures("prices", "rate"), "changes a public signature"),
        (signatures("rows"), "changes a public signature"),
        (Signatures(signatures=()), "changes a public signature: shop.total: the public function is gone"),
        (
            Signatures(
                signatures=(*signatures("prices").signatures, *signatures(name="shop.new").signatures)
            ),
            None,
        ),
    ],
    ids=["same", "further parameter", "renamed", "gone", "a new name"],
)
def test_a_fix_changes_no_public_signature(after: Signatures, reason: str | None) -> None:
    found = api_refusal(signatures("prices"), after)

    assert found is None if reason is None else reason in (found or "")


@pytest.mark.parametrize(
    ("text", "differs"),
    [
        ("def f():\n    '''Other words.'''\n    return 1  # a comment\n", False),
        ("def f():\n    '''Words.'''\n    return 2\n", True),
    ],
    ids=["comments and documentation", "code"],
)
def test_comments_and_documentation_repair_nothing(text: str, differs: bool) -> None:
    assert has_effect("def f():\n    '''Words.'''\n    return 1\n", text) is differs
