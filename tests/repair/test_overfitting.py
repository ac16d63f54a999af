import pytest

from cogworks.codebase.diffmodel import Diff
from cogworks.codebase.diffplacing import between
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.overfitting import brings_values, known_data, literals, warnings_of
from cogworks.repair.proof import Proof, Runs, Tree, caution, markdown, proven_tests, summarised
from cogworks.repair.reranking import Traits, in_order
from cogworks.repair.violations import TestRules
from cogworks.vocabulary import CommitOid

BEFORE = (
    'def slug(text):\n    if text == "":\n        return "none"\n    return text.lower().replace(" ", "-")\n'
)
TEST = (
    "@pytest.mark.parametrize(('given', 'wanted'), [('Hello, World', 'hello-world'), ('a  b', 'a-b')])\n"
    "def test_slug(given, wanted):\n    assert slug(given) == wanted\n    assert steps(6) == 8\n    assert size(4711) == 12\n    assert pages(0, 10) == 2\n"
)


def found(old: str, new: str, before: str = BEFORE) -> tuple[str, ...]:
    after = before.replace(old, new)
    diff = Diff(files=(between("slug.py", before, after),))
    return known_data(diff, [TEST], {"slug.py": after}.get, TestRules())


@pytest.mark.parametrize(
    ("new", "shared"),
    [
        ('    if text == "Hello, World":\n        return "hello-world"\n', ("Hello, World", "hello-world")),
        ("    if text in {'Hello, World': 1}:\n        pass\n", ("Hello, World",)),
        ("    if n == 6:\n        return 8\n", ("6", "8")),
        ("    return {0: 0, 10: 2}[n]\n", ("0", "10", "2")),
        ("    if n == 4_711:\n        return n\n", ("4711",)),
    ],
    ids=["table", "one input", "two small numbers", "three common ones", "a telling number"],
)
def test_a_change_that_holds_the_data_of_its_tests_is_found(new: str, shared: tuple[str, ...]) -> None:
    assert found("    return text", f"{new}    return text") == shared


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('replace(" ", "-")', 'replace("  ", " ").replace(" ", "-")'),
        ("text.lower()", "text.strip().lower()[:8]"),
        ('return "none"', 'return "none" + "hello"'),
        ('if text == "":', 'if not text or text == "":'),
    ],
    ids=["blanks", "one small number", "another text", "a text from before"],
)
def test_a_repair_that_shares_little_with_its_tests_is_not(old: str, new: str) -> None:
    assert found(old, new) == ()


@pytest.mark.parametrize(
    ("old", "new", "does"),
    [
        ("text.lower()", "text.upper()", False),
        ("return text", "return text.strip()\n    return text", False),
        ('replace(" ", "-")', 'replace("-", " ")', False),
        ('replace(" ", "-")', 'replace(" ", "-", 1)', True),
        ("return text", 'return {"a": "b"}.get(text) or text', True),
        ("return text", "if text is None:\n        return text\n    return text", True),
        ("return text", "from cases import known\n    return known(text) or text", True),
        ("def slug(text)", "def slug(text, utf8)", False),
    ],
    ids=[
        "another name",
        "a line more",
        "moved texts",
        "a number",
        "a table",
        "nothing",
        "from elsewhere",
        "a digit in a name",
    ],
)
def test_whether_a_change_writes_a_value_that_could_tell_inputs_apart(old: str, new: str, does: bool) -> None:
    diff = Diff(files=(between("slug.py", BEFORE, BEFORE.replace(old, new)),))

    assert brings_values(diff, TestRules()) is does


def test_a_literal_that_was_there_before_says_nothing() -> None:
    before = 'NAMES = {"Hello, World": 1}\n\n\ndef slug(text):\n    return text\n'

    assert found("return text", 'return NAMES.get("Hello, World", text)', before) == ()


def test_texts_and_numbers_are_read_as_they_are() -> None:
    assert literals("f(b'abcd', \"it's\", 0x1f, x1, 3.25, 9_000)  ") == {"abcd", "it's", "3.25", "9000"}


def test_the_proof_says_so_first_and_is_no_proof_without_it() -> None:
    after = BEFORE.replace(
        "    return text", '    if text == "Hello, World":\n        return "hello-world"\n    return text'
    )
    diff = Diff(files=(between("slug.py", BEFORE, after),))
    (warning,) = warnings_of(diff, [TEST], {"slug.py": after}.get, TestRules())
    side = Tree(commit=CommitOid("a"), tree="b")
    runs = Runs(
        TestReport(cases=(TestCase(id="t", outcome="failed"), TestCase(id="u", outcome="passed"))),
        TestReport(cases=(TestCase(id="t", outcome="passed"), TestCase(id="u", outcome="passed"))),
    )
    proof = Proof(base=side, head=side, commands=(), tests=proven_tests(runs), warnings=(warning,))

    assert "'Hello, World', 'hello-world'" in warning
    assert caution(summarised(proof)) == warning
    assert markdown(summarised(proof)).startswith(f"{warning}\n\n**Proven, with a warning**: 1 test(s)")
    without = proof.model_copy(update={"warnings": ()})
    assert markdown(summarised(without)).startswith("**Proven**: 1 test(s)")


def test_what_knows_the_tests_is_tried_after_all_that_does_not() -> None:
    far = Traits(id="far", distance_lines=None, changed_lines=10, files=2, is_lint_clean=False)
    table = Traits(
        id="table", distance_lines=0, changed_lines=1, files=1, is_lint_clean=True, knows_tests=True
    )

    assert [each.id for each in in_order([table, far], most_lines=12, most_files=2)] == ["far", "table"]
