"""The issues of an approved division: what people read of them, and how they are created, linked and started."""

from collections.abc import Iterable, Mapping, Sequence

from cogworks.canonical import canonical
from cogworks.forge.effects import CreateSubIssue, LinkDependency, SetLabels
from cogworks.leaving import in_markdown, in_title
from cogworks.nodes.artifacts import DONE_WHEN, output_of
from cogworks.nodes.contract import BuiltIn, NodePorts, Outcome, Succeeded
from cogworks.nodes.replies import DividedPart, Division
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.elements import DIVISION, PARTS
from cogworks.vocabulary import SubItemKey

MOST_CHARS = 55_000
"""Of a comment; what does not fit is in the ledger."""

_HOW_TO_DECIDE = (
    "Nothing is created yet. The status comment has the line that approves this proposal; `/cogworks reject {node} <why>` has another one "
    "made, with your reason. Each issue then goes its own way, those that others need go first, and this issue is closed with the last "
    "of them."
)


def proposal(task: NodeTask, reply: Division, statements: Sequence[str]) -> str:
    """The comment in which a division is put to people; its parts are in dependency order."""
    again = " The one before is replaced by it." if task.visit.ordinal > 1 else ""
    rows = [
        f"| {part.key} | {_cell(part.title)} | {', '.join(part.depends_on) or '–'} | {_ranges(part.covers)} |"
        for part in reply.parts
    ]
    head = [
        f"### Proposal: #{task.item.number} as {len(reply.parts)} issues",
        f"{in_markdown(reply.rationale.strip())}{again}",
        "\n".join(["| | Issue | Needs first | Statements |", "|---|---|---|---|", *rows]),
        _HOW_TO_DECIDE.format(node=task.visit.node),
    ]
    bodies = [_folded(f"{part.key}: {in_title(part.title)}", part_text(part)) for part in reply.parts]
    numbered = _folded("The statements of this issue", _statements(statements, reply))
    text = "\n\n".join([*head, *bodies, numbered])
    if len(text) <= MOST_CHARS:
        return text
    return "\n\n".join(
        [
            *head,
            "The texts of the issues are too long for a comment: they are in the ledger, in the `output.json` of this visit.",
        ]
    )


def issue_body(task: NodeTask, part: DividedPart, titles: Mapping[str, str]) -> str:
    """Body of an issue that a division creates; the numbers of those it waits for are where GitHub shows what blocks it."""
    first = ", ".join(f"*{in_title(titles[key])}*" for key in part.depends_on)
    waits = f" It needs {first} first, and waits until that is closed." if first else ""
    return f"One of the parts of #{task.item.number}.{waits}\n\n{part_text(part)}"


def part_text(part: DividedPart) -> str:
    """What is wanted of a part, and what says that it is done."""
    done = "\n".join(
        f"- [ ] {in_markdown(' '.join(each.split()))}" for each in part.done_when if each.strip()
    )
    return f"{in_markdown(part.body.strip())}\n\n### {DONE_WHEN}\n\n{done}"


def _statements(statements: Sequence[str], reply: Division) -> str:
    of = {number: part.key for part in reversed(reply.parts) for number in part.covers}
    keys = {number: ", ".join(part.key for part in reply.parts if number in part.covers) for number in of}
    return "\n".join(
        f"{number}. {keys.get(number) or 'asks for nothing'}: {_cell(each)}"
        for number, each in enumerate(statements, 1)
    )


def _ranges(numbers: Iterable[int]) -> str:
    """`1–3, 5` of 1, 2, 3 and 5."""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{first}–{last}" if last > first else f"{first}" for first, last in spans)


def _cell(text: str) -> str:
    line = " ".join(in_markdown(text).split()).replace("|", "\\|")
    return line if len(line) <= 200 else f"{line[:199]}…"


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


ISSUES_FILE = "issues.json"


def create(task: NodeTask, ports: NodePorts) -> Outcome:
    """An issue for each part, below the one that was divided, and a link for each that waits for another.

    The visit that proposed them identifies them: a repetition finds those that are there.
    """
    division = Division.model_validate(output_of(task, DIVISION))
    titles = {part.key: part.title for part in division.parts}
    made_by = task.made_by[DIVISION]
    created = [
        CreateSubIssue(
            key=SubItemKey(part.key),
            title=" ".join(part.title.split()),
            body=issue_body(task, part, titles),
            labels=(task.conventions.safety_critical,) if task.conventions.safety_critical else (),
            visit_key=made_by,
        )
        for part in division.parts
    ]
    # Kept before anything is made, under the lease: a runner that slept through its end is stopped by that write.
    ports.keep(ISSUES_FILE, canonical([{"title": each.title, "body": each.body} for each in created]))
    links = [
        LinkDependency(blocked=SubItemKey(part.key), blocking=SubItemKey(other))
        for part in division.parts
        for other in sorted(set(part.depends_on))
    ]
    return Succeeded(
        output={
            PARTS: [
                {"key": part.key, "title": part.title, "depends_on": sorted(set(part.depends_on))}
                for part in division.parts
            ]
        },
        effects=(*created, *links),
        summary=f"{len(created)} issues created",
    )


def start(task: NodeTask, ports: NodePorts) -> Outcome:
    """The trigger label on each of them; what waits for another one begins when that is closed."""
    del ports
    trigger = task.conventions.trigger
    return Succeeded(
        output={"passed": True, "issues": [part.number for part in task.parts]},
        effects=tuple(SetLabels(number=part.number, add=(trigger,)) for part in task.parts),
        summary=f"started: {', '.join(f'#{part.number}' for part in task.parts)}",
    )


CREATING = BuiltIn(run=create)
STARTING = BuiltIn(run=start)
