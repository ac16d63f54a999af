"""Into which issues is one divided that is too large for one work item? A proposal for people, and no issue before they approve it.

Every statement of the issue has a number (the end of this file says what is one), so that the proposal can be checked for what it leaves out.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from cogworks.forge.effects import PostComment
from cogworks.nodes.asking import Question, ask_until_sound
from cogworks.nodes.contract import BuiltIn, Failed, NodePorts, Outcome, Succeeded
from cogworks.nodes.intake import issue
from cogworks.nodes.parting import proposal
from cogworks.nodes.planning import find_cycle, in_dependency_order
from cogworks.nodes.replies import DividedPart, Division
from cogworks.nodes.shown import repository_view, view_variables
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.elements import DIVISION
from cogworks.sight.question import About

FEWEST_PARTS = 2
MOST_PARTS = 8
"""More issues at once than anybody looks through before approving them."""
_EXCERPT_CHARS = 80


def run(task: NodeTask, ports: NodePorts) -> Outcome:
    """Propose the parts of the issue in a comment; approving it has them created, and rejecting it has others proposed."""
    statements = statements_of(task.item.body)
    view = repository_view(task, ports, About(title=task.item.title, text=task.item.body))
    ports.say("proposing how to divide the issue")
    question = Question(
        prompt="division",
        variables={
            "item": issue(task.item),
            "statements": dict(enumerate(statements, 1)),
            "earlier": task.earlier.get(DIVISION),
            "most": MOST_PARTS,
            **view_variables(view),
        },
        view=view,
        reply_type=Division,
        check=lambda reply: problems_of(reply, statements),
    )
    reply = ask_until_sound(ports, task, question)
    if isinstance(reply, Failed):
        return reply
    if reply.indivisible.strip():
        return Failed(
            reason=indivisible(reply, task), category="escalated", output=reply.model_dump(mode="json")
        )
    ordered = reply.model_copy(update={"parts": in_dependency_order(reply.parts)})
    comment = PostComment(
        number=task.item.number,
        topic=f"node-{task.visit.node}",
        body=proposal(task, ordered, statements),
        visit_key=task.visit.visit_key,
    )
    titles = "; ".join(f"{part.key} {part.title}" for part in ordered.parts)
    return Succeeded(
        output=ordered.model_dump(mode="json"),
        effects=(comment,),
        summary=f"{len(ordered.parts)} issues proposed: {titles}",
    )


def indivisible(reply: Division, task: NodeTask) -> str:
    """Why the item ends here although everything went well."""
    return (
        f"#{task.item.number} was not divided: {reply.indivisible.strip().rstrip('.')}. To have it built as one, set the label "
        "`cogworks:lane:default` and comment `/cogworks restart`; or make the issue more precise, and comment `/cogworks retry`."
    )


def problems_of(reply: Division, statements: Sequence[str]) -> list[str]:
    """Everything that the model has to correct; empty when people can be asked."""
    if reply.indivisible.strip():
        return [
            "`indivisible` says why the issue cannot be divided, and there are parts; give one or the other"
        ] * bool(reply.parts)
    problems = [*_number_problems(reply.parts), *_part_problems(reply.parts), *_repeated(reply.parts)]
    keys = {part.key for part in reply.parts}
    unknown = [
        f"{part.key} depends on {other!r}, which is no key of a part ({', '.join(sorted(keys))})"
        for part in reply.parts
        for other in part.depends_on
        if other not in keys
    ]
    problems += unknown
    cycle = [] if unknown else find_cycle({part.key: part.depends_on for part in reply.parts})
    if cycle:
        problems.append(
            f"the parts wait for each other in a circle: {' -> '.join(cycle)}; remove one of the dependencies"
        )
    return [*problems, *_coverage_problems(reply, statements)]


def _number_problems(parts: Sequence[DividedPart]) -> Iterator[str]:
    if len(parts) > MOST_PARTS:
        yield f"there are {len(parts)} parts, and {MOST_PARTS} at most are looked through; put together what belongs together"
    if len(parts) < FEWEST_PARTS:
        complaint = "there is only one part" if parts else "there is no part"
        yield f"{complaint}; divide the issue into {FEWEST_PARTS} to {MOST_PARTS}, or say in `indivisible` why it cannot be divided"


def _part_problems(parts: Sequence[DividedPart]) -> Iterator[str]:
    for part in parts:
        if not part.title.strip():
            yield f"the title of {part.key} is empty; say in one line what is true when it is done"
        if not part.body.strip():
            yield f"the body of {part.key} is empty; write it for somebody who reads nothing else"
        if not any(each.strip() for each in part.done_when):
            yield f"`done_when` of {part.key} is empty; say what can be checked when it is done"
        if not part.covers:
            yield f"{part.key} covers no statement of the issue; a part does something that the issue asks for"


def _repeated(parts: Sequence[DividedPart]) -> Iterator[str]:
    for key, count in Counter(part.key for part in parts).items():
        if count > 1:
            yield f"the key {key!r} is used {count} times; give every part its own"
    titles = Counter(" ".join(part.title.casefold().split()) for part in parts if part.title.strip())
    for title, count in titles.items():
        if count > 1:
            yield f"{count} parts are called {title!r}; give every part a title of its own"


def _coverage_problems(reply: Division, statements: Sequence[str]) -> Iterator[str]:
    known = range(1, len(statements) + 1)
    named = [(f"`covers` of {part.key}", number) for part in reply.parts for number in part.covers]
    named += [("`background`", number) for number in reply.background]
    for where, number in named:
        if number not in known:
            yield f"{where} names statement {number}, and the issue has 1 to {len(statements)}"
    covered = {number for _, number in named}
    for number, statement in enumerate(statements, 1):
        if number not in covered:
            yield f"statement {number} is in no part ({excerpt(statement)!r}); say which part covers it, or name it in `background`"


def excerpt(statement: str) -> str:
    """The beginning of a statement, on one line."""
    line = " ".join(statement.split())
    return line if len(line) <= _EXCERPT_CHARS else f"{line[: _EXCERPT_CHARS - 1]}…"


MOST = 150
"""Where sentences are more than this, paragraphs and lines are the statements."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"^\s{0,3}#{1,6}(\s|$)|^\s*(=+|-{2,}|\*{3,}|_{3,})\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_ROW = re.compile(r"^\s*\|")
_RULE = re.compile(r"^[\s|:-]+$")
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[`*_]*[A-Z0-9])")


def statements_of(body: str) -> tuple[str, ...]:
    """The sentences of a body, its list items and table rows, and each block of code as one; headings say nothing by themselves."""
    blocks = tuple(_blocks(_COMMENT.sub("", body.replace("\r\n", "\n"))))
    sentences = tuple(each for text, is_code in blocks for each in ((text,) if is_code else _sentences(text)))
    return sentences if len(sentences) <= MOST else tuple(text for text, _ in blocks)


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in _END.split(text) if each.strip())


def _blocks(body: str) -> Iterator[tuple[str, bool]]:
    """Paragraphs, list items, rows and blocks of code, each with whether it is code."""
    gathered: list[str] = []
    fence = ""
    for line in body.split("\n"):
        if fence:
            gathered.append(line)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
                yield from _taken(gathered, is_code=True)
            continue
        opening = _FENCE.match(line)
        if opening or not line.strip() or _HEADING.match(line) or _ITEM.match(line) or _ROW.match(line):
            yield from _taken(gathered)
        if opening:
            fence = opening[1]
            gathered.append(line)
        elif _ROW.match(line):
            if not _RULE.match(line):
                yield " ".join(line.split()), False
        elif line.strip() and not _HEADING.match(line):
            gathered.append(_ITEM.sub("", line))
    yield from _taken(gathered, is_code=bool(fence))


def _taken(gathered: list[str], *, is_code: bool = False) -> Iterator[tuple[str, bool]]:
    text = "\n".join(gathered) if is_code else " ".join(" ".join(gathered).split())
    gathered.clear()
    if text.strip():
        yield text, is_code


NODE = BuiltIn(run=run, replies={"division": Division})
