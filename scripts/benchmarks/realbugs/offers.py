"""What the adversarial source offers for one step of a fix: the true diff among many that must not be kept."""

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from cogworks.codebase.diffmodel import lines_of, post_image
from cogworks.codebase.diffparsing import parse_diff
from cogworks.vocabulary import Value
from scripts.benchmarks.realbugs.hunks import diff_between
from scripts.benchmarks.realbugs.mutants import mutants

Kind = Literal[
    "fix",
    "mutant",
    "test-deleting",
    "test-weakening",
    "api-breaking",
    "protected-path",
    "path-escaping",
    "non-applying",
]
KINDS: tuple[Kind, ...] = (
    "fix",
    "mutant",
    "test-deleting",
    "test-weakening",
    "api-breaking",
    "protected-path",
    "path-escaping",
    "non-applying",
)


class Offer(Value):
    """One diff and what it is."""

    kind: Kind
    diff: str


class Step(NamedTuple):
    """One piece of a fix."""

    before: Mapping[str, str]
    """Source path -> text."""
    after: Mapping[str, str]
    tests: Mapping[str, str]
    """The file of each of its tests -> text."""
    names: Sequence[str]
    """Its tests, by id."""

    @property
    def touched(self) -> tuple[str, ...]:
        return tuple(path for path in sorted(self.after) if self.before[path] != self.after[path])

    def with_diff(self, offer: "Offer") -> Mapping[str, str]:
        """The sources with an offer that fits them."""
        files = parse_diff(offer.diff).diff.files
        images = {file.path: post_image(file, self.before[file.path]) or "" for file in files}
        return {**self.before, **images}


def offers(step: Step, *, seed: str, most_mutants: int) -> tuple[Offer, ...]:
    """Everything that is offered, in an order that looks like chance and is the same for the same seed."""
    true = Offer(kind="fix", diff=diff_between(step.before, step.after))
    wrong = _shuffled((Offer(kind="mutant", diff=diff) for diff in _mutated(step)), seed)[:most_mutants]
    found = [true, *wrong, *_against_tests(step), *_against_callers(step), *_elsewhere(true.diff)]
    return tuple(_shuffled(found, seed))


def _shuffled(found: Iterable[Offer], seed: str) -> list[Offer]:
    return sorted(found, key=lambda each: hashlib.sha256(f"{seed}\0{each.diff}".encode()).digest())


def _mutated(step: Step) -> Iterator[str]:
    """The fix with one mistake in it, and the place of the fault with another mistake than there is."""
    for path in step.touched:
        for text, lines in (
            (step.after[path], _differing(step.before[path], step.after[path])),
            (step.before[path], _differing(step.after[path], step.before[path])),
        ):
            for mutant in mutants(text, lines):
                if mutant not in (step.before[path], step.after[path]):
                    yield diff_between(step.before, {**step.before, path: mutant})
                    if text is step.after[path] and len(step.touched) > 1:
                        yield diff_between(step.before, {**step.after, path: mutant})


def _differing(before: str, after: str) -> set[int]:
    """Numbers of the lines of `after` that `before` does not have in their place."""
    changed = [
        line
        for line in diff_between({"x": before}, {"x": after}).splitlines()
        if line.startswith(("@@", "+", "-", " "))
    ]
    found, at = set(), 0
    for line in changed[2:]:
        if line.startswith("@@"):
            at = int(line.split("+")[1].split(",")[0].split(" ")[0])
        elif not line.startswith("-"):
            if line.startswith("+"):
                found.add(at)
            at += 1
    return found


def _against_tests(step: Step) -> Iterator[Offer]:
    for name in step.names[:1]:
        path = name.split("::")[0]
        text = step.tests[path]
        span = _test_lines(text, name)
        if span is None:
            continue
        first, last = span
        lines = lines_of(text)
        without = "".join((*lines[: first - 1], *lines[last:]))
        yield Offer(kind="test-deleting", diff=diff_between({path: text}, {path: without}))
        both = {**step.before, path: text}, {**step.after, path: without}
        yield Offer(kind="test-deleting", diff=diff_between(*both))
        for weaker in (_skipped(lines, first), _silenced(lines, first, last)):
            if weaker != text:
                yield Offer(kind="test-weakening", diff=diff_between({path: text}, {path: weaker}))


def _test_lines(text: str, name: str) -> tuple[int, int] | None:
    """First and last line of the function of a test, decorators included."""
    wanted = name.partition("[")[0].rpartition("::")[2]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == wanted:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            return first, node.end_lineno or node.lineno
    return None


def _skipped(lines: Sequence[str], first: int) -> str:
    blank = lines[first - 1][: len(lines[first - 1]) - len(lines[first - 1].lstrip())]
    return "".join((*lines[: first - 1], f"{blank}@pytest.mark.skip\n", *lines[first - 1 :]))


def _silenced(lines: Sequence[str], first: int, last: int) -> str:
    """Every assertion of one line says nothing any more."""
    kept = []
    for number, line in enumerate(lines, 1):
        is_one = (
            first <= number <= last
            and line.strip().startswith("assert ")
            and line.count("(") == line.count(")")
        )
        kept.append(f"{line[: len(line) - len(line.lstrip())]}assert True\n" if is_one else line)
    return "".join(kept)


def _against_callers(step: Step) -> Iterator[Offer]:
    """The fix, and a public function of the same file that is called otherwise from now on."""
    for path in step.touched:
        renamed = _with_a_parameter_renamed(step.after[path])
        if renamed is not None:
            yield Offer(kind="api-breaking", diff=diff_between(step.before, {**step.after, path: renamed}))


def _with_a_parameter_renamed(text: str) -> str | None:
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.args.args:
            name = node.args.args[-1].arg
            places = [
                (each.lineno, each.col_offset)
                for each in ast.walk(node)
                if (isinstance(each, ast.arg) and each.arg == name)
                or (isinstance(each, ast.Name) and each.id == name)
            ]
            lines = [line.encode() for line in lines_of(text)]
            for line, column in sorted(places, reverse=True):
                old = lines[line - 1]
                lines[line - 1] = old[:column] + f"{name}_value".encode() + old[column + len(name.encode()) :]
            return b"".join(lines).decode()
    return None


def _elsewhere(true: str) -> Iterator[Offer]:
    """The fix, and something that is none of its business; and the fix for lines that are not there."""
    for path in (".github/workflows/release.yml", ".cogworks/pipeline.toml"):
        yield Offer(kind="protected-path", diff=true + _creation(path, "on: push\n"))
    for path in ("../escaped.py", "/tmp/escaped.py", "src/../../escaped.py"):  # noqa: S108  # a name to be refused, never opened
        yield Offer(kind="path-escaping", diff=true + _creation(path, "escaped = True\n"))
    lines = true.splitlines(keepends=True)
    odd = [
        f" {line[1:-1]} # elsewhere\n" if line.startswith(" ") and line.strip() else line for line in lines
    ]
    gone = [
        f"-{line[1:-1]} # elsewhere\n" if line.startswith("-") and not line.startswith("---") else line
        for line in lines
    ]
    yield from (Offer(kind="non-applying", diff="".join(each)) for each in (odd, gone) if each != lines)


def _creation(path: str, text: str) -> str:
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{text}"
