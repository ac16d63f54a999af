"""The issues of an approved division: first they are created and linked, then each is started as an item of its own."""

from cogworks.canonical import canonical
from cogworks.forge.effects import CreateSubIssue, LinkDependency, SetLabels
from cogworks.nodes.artifacts import output_of
from cogworks.nodes.contract import NodePorts, Outcome, Succeeded
from cogworks.nodes.division_texts import issue_body
from cogworks.nodes.replies import Division
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.elements import DIVISION, PARTS
from cogworks.vocabulary import SubItemKey

ISSUES_FILE = "issues.json"


def create(task: NodeTask, ports: NodePorts) -> Outcome:
    """An issue for each part, below the one that was divided, and a link for each that waits for another.

    They are told apart by the visit that proposed them: whoever does this again finds those that are there.
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
