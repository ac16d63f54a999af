"""Whether a change knows the data of the tests it repairs, or decides by itself what its tests say."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from cogworks.codebase.changes import matching
from cogworks.codebase.diffmodel import Diff, FileDiff
from cogworks.repair.transact.validators import looks_at
from cogworks.repair.violations import TestRules

_TEXT = re.compile(r"""(?<![\w"'])[rbuRBU]{0,2}("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""")
_NUMBER = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_VALUE = re.compile(
    r"""["'`]|(?<!\w)\d[\w.]*|\b(?:None|True|False|null|nil|undefined|true|false|import|include|require|use)\b"""
)
"""What code can tell one input from another by, or what brings such from elsewhere."""
_COMMON = frozenset(
    [
        "0",
        "1",
        "2",
        "10",
        "24",
        "60",
        "100",
        "255",
        "256",
        "365",
        "400",
        "1000",
        "1024",
        "3600",
        "0.0",
        "1.0",
        "0.5",
        "utf-8",
        "utf8",
    ]
)
_TELLING_DIGITS, _TELLING_CHARS = 3, 4
"""So much of one literal is no chance any more; of shorter ones it takes several."""
_SEVERAL, _MANY = 2, 3
"""Literals that say something together: of those that stand everywhere it takes one more."""
_SHOWN = 4
_SHOWN_CHARS = 40


def literals(text: str) -> frozenset[str]:
    """The texts and numbers that stand in code, each as it is read: `'ab'` and `"ab"` are one."""
    texts = {each[1:-1] for each in _TEXT.findall(text)}
    texts |= {each.replace("_", "") for each in _NUMBER.findall(_TEXT.sub('""', text))}
    return frozenset(each for each in texts if each.strip())


def warnings_of(
    diff: Diff, tests: Iterable[str], text: Callable[[str], str | None], rules: TestRules
) -> tuple[str, ...]:
    """What speaks for a change that knows its tests, a sentence each.

    Args:
        tests: what stands in the failing tests and their fixtures.
        text: a file as the change leaves it.
    """
    shared = known_data(diff, tests, text, rules)
    return (_in_words(shared),) if shared else ()


def known_data(
    diff: Diff, tests: Iterable[str], text: Callable[[str], str | None], rules: TestRules
) -> tuple[str, ...]:
    """The literals that a change brings and that stand in the failing tests; nothing where that may be chance.

    Args:
        tests, text: as `warnings_of`.
    """
    in_tests = frozenset[str]().union(*map(literals, tests))
    files = [file for file in diff.files if matching(file.path, rules.files) is None]
    brought = frozenset[str]().union(*(_brought(file, text(file.path) or "") for file in files))
    shared = sorted(brought & in_tests)
    rare = [each for each in shared if each not in _COMMON]
    is_known = any(map(_is_telling, rare)) or len(rare) >= _SEVERAL or len(shared) >= _MANY
    return tuple(shared) if is_known else ()


def brings_values(diff: Diff, rules: TestRules) -> bool:
    """Whether a change writes a text, a number or another value that the lines it takes away did not have.

    One that does not cannot know the inputs of a test: it has nothing to tell them from others by.
    """
    return any(_new_values(file) for file in diff.files if matching(file.path, rules.files) is None)


def _new_values(file: FileDiff) -> Counter[str]:
    signs: dict[str, list[str]] = {"+": [], "-": [], " ": []}
    for hunk in file.hunks:
        for line in hunk.lines:
            signs[line.sign].append(line.text)
    added, removed = (Counter(_VALUE.findall("\n".join(signs[each]))) for each in "+-")
    return added - removed


def _in_words(shared: Sequence[str]) -> str:
    shown = ", ".join(repr(each[:_SHOWN_CHARS]) for each in shared[:_SHOWN])
    more = f" and {len(shared) - _SHOWN} more" if len(shared) > _SHOWN else ""
    return f"The change holds data of the tests it repairs ({shown}{more}): it may know their inputs instead of repairing the cause."


def _brought(file: FileDiff, after: str) -> frozenset[str]:
    """The literals of the added lines that stand nowhere else in the file, and did not stand in the removed ones."""
    lines = [line for hunk in file.hunks for line in hunk.lines]
    added = {line.text.rstrip("\r\n") for line in lines if line.sign == "+"}
    rest = [line for line in after.splitlines() if line not in added]
    removed = [line.text for line in lines if line.sign == "-"]
    return literals("\n".join(added)) - literals("\n".join((*rest, *removed)))


def _is_telling(literal: str) -> bool:
    if _NUMBER.fullmatch(literal):
        return len(literal.replace(".", "").lstrip("0")) >= _TELLING_DIGITS
    return len(literal) >= _TELLING_CHARS


_DECIDES = (
    (
        "a hook of pytest that may decide about outcomes",
        re.compile(
            r"^\s*(?:async\s+)?def\s+pytest_(?:runtest|pyfunc_call|collection|collect_|itemcollected|make_|pycollect|fixture_setup"
            r"|exception_interact|report_teststatus|session|configure|unconfigure|cmdline|plugin_registered|ignore_collect)\w*"
        ),
    ),
    ("a plugin of pytest", re.compile(r"^\s*pytest_plugins\s*[:=]")),
    ("the end of the test process", re.compile(r"\bos\._exit\(|\bpytest\.exit\(")),
    ("what reports the tests", re.compile(r"\b_pytest\b|\bcogworks_\w+|/proc/self/fd|\b(?:TestResult|TextTestRunner)\b")),
)  # fmt: skip
"""What in tests and their configuration has a say in what becomes of them."""
_MOST = 5
_STEERING_CHARS = 80


def steering(diff: Diff, rules: TestRules) -> tuple[str, ...]:
    """A sentence for each place of a change that may decide what its tests say, few of them."""
    files = [file for file in diff.files if file.path.endswith(".py")]
    sentences = list(dict.fromkeys(each for file in files for each in _of_file(file, rules)))
    more = [f"There are {len(sentences) - _MOST} more such places."] if len(sentences) > _MOST else []
    return (*sentences[:_MOST], *more)


def _of_file(file: FileDiff, rules: TestRules) -> Iterator[str]:
    added = [line.text for hunk in file.hunks for line in hunk.lines if line.sign == "+"]
    there = "\n".join(line.text for hunk in file.hunks for line in hunk.lines if line.sign != "+")
    if matching(file.path, rules.files) is not None or file.path.rpartition("/")[2] == "conftest.py":
        for what, line in _deciding(added):
            yield f"`{file.path}` brings {what} (`{_shown(line)}`): read it before you believe the tests."
    else:
        for what, line in looks_at(added, there):
            yield f"`{file.path}` looks at {what} (`{_shown(line)}`): read it before you believe the tests."


def _deciding(added: Sequence[str]) -> Iterator[tuple[str, str]]:
    for what, form in _DECIDES:
        if (line := next((each for each in added if form.search(each)), None)) is not None:
            yield what, line


def _shown(line: str) -> str:
    return line.strip()[:_STEERING_CHARS].replace("`", "'")
