"""What kind of work does the issue ask for, and can anyone start on it?"""

import re
from collections.abc import Iterable, Mapping, Sequence

from cogworks.forge.labels import LANE_LABEL
from cogworks.forge.snapshot import Neighbour
from cogworks.injection.folding import folded
from cogworks.nodes.asking import Question, ask_until_sound
from cogworks.nodes.contract import BuiltIn, Failed, NodePorts, Outcome, Succeeded
from cogworks.nodes.replies import Classification
from cogworks.nodes.shown import close_to, files_of, repository_view, view_variables
from cogworks.nodes.task import NodeTask, WorkItem
from cogworks.pipeline.lane_choice import MAX_FILES, MAX_INTERFACES, is_too_large
from cogworks.sight.question import About

MIN_WORDS = 8
"""Of title and body together; less than this cannot be classified."""
MAX_PASSAGES = 5
"""Of the issue that say together what is right."""
MAX_ORDERS = 3
"""Passages that try to steer whoever reads them; a person who is shown as many reads the issue."""
MAX_NEIGHBOUR_CHARS = 1_200
"""Of the body of another issue that are shown."""
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)


def run(task: NodeTask, ports: NodePorts) -> Outcome:
    """Classify the issue; an issue that is too thin, unclear or too large is escalated to a person."""
    if reason := too_thin(task.item):
        return Failed(reason=reason, category="escalated")
    ports.say("reading the issue")
    workspace = ports.workspace()
    files = workspace.files()
    view = repository_view(task, ports, About(title=task.item.title, text=task.item.body))
    question = Question(
        prompt="intake",
        variables={
            "item": issue(task.item),
            "pipelines": task.conventions.pipelines,
            "neighbours": [_shown(each) for each in task.neighbours],
            **view_variables(view),
        },
        view=view,
        reply_type=Classification,
        check=lambda reply: [
            *problems_of(reply, files),
            *misquoted(reply, task.item),
            *uncopied(reply, task.item),
            *unfounded(reply, task.neighbours),
        ],
    )
    reply = ask_until_sound(ports, task, question)
    if isinstance(reply, Failed):
        return reply
    # They are for people: no later prompt repeats them.
    output, orders = reply.model_dump(mode="json", exclude={"orders"}), orders_of(reply)
    if reason := done_elsewhere(reply, task) or reason_to_escalate(reply, task):
        return Failed(reason=reason, category="escalated", output=output, orders=orders)
    return Succeeded(
        output=output, summary=summary(reply), caution=reply.is_wrong_about.strip(), orders=orders
    )


def issue(item: WorkItem) -> dict[str, object]:
    """What a prompt says of an issue; nothing in it changes during a run."""
    return {"number": item.number, "title": item.title, "body": item.body, "repository": item.repository}


def too_thin(item: WorkItem) -> str | None:
    """Why nobody could start on this issue, whatever the model thinks."""
    words = len(f"{item.title} {item.body}".split())
    if item.body.strip() and words >= MIN_WORDS:
        return None
    extent = f"its title and body have {words} words" if item.body.strip() else "its body is empty"
    return (
        f"#{item.number} is too thin to work on: {extent}. Describe what happens, what should happen and how to see "
        "the difference, then remove the trigger label and set it again."
    )


def problems_of(reply: Classification, files: Sequence[str]) -> list[str]:
    """What the model has to correct: modules that the repository does not have."""
    problems = []
    for name in reply.affected_modules:
        if not files_of(name, files):
            near = ", ".join(close_to(name, files)) or "none with a similar name"
            problems.append(
                f"affected module {name!r} is not in the repository (there is {near}); "
                "name existing files or directories only"
            )
    if not reply.affected_modules and not reply.questions:
        problems.append(
            "no affected module is named; name those that will change, or ask what you need to know"
        )
    return problems


def misquoted(reply: Classification, item: WorkItem) -> list[str]:
    """What the model has to correct: passages that are not in the issue, however their blanks, lines and fences are set."""
    whole = _words(f"{item.title}\n{item.body}")
    quoted = reply.says_what_is_right
    # A block of code may hold empty lines itself.
    if _words(quoted) in whole:
        return []
    passages = _passages(re.split(r"\n[ \t]*\n", quoted), whole)
    problems = [
        f"`says_what_is_right` is {words!r}, which is not in the issue; copy sentences or a block of code of it word for word, or "
        "leave it empty"
        for words in passages
        if words not in whole
    ]
    if len(passages) > MAX_PASSAGES:
        problems.append(
            f"`says_what_is_right` has {len(passages)} passages; {MAX_PASSAGES} at most say what is right, choose those"
        )
    return problems


def orders_of(reply: Classification) -> tuple[str, ...]:
    """The passages that try to steer whoever reads them, as many as people are shown."""
    return tuple(filter(_words, reply.orders))[:MAX_ORDERS]


def uncopied(reply: Classification, item: WorkItem) -> list[str]:
    """What the model has to correct: orders that the issue does not give in these words.

    Marks on letters and unseen characters count for nothing: no model copies a disguise sign by sign.
    """
    texts = (_plain(item.title), _plain(item.body))
    return [
        f"`orders` has {passage!r}, which is not in the issue; copy passages of its title or of its body word for word, or leave "
        "the list empty"
        for passage in orders_of(reply)
        if not any(_plain(passage) in text for text in texts)
    ]


def _plain(text: str) -> str:
    return " ".join(folded(_words(text)).split())


def _passages(parts: Iterable[str], whole: str) -> list[str]:
    """The parts of a quotation, those joined that follow each other in the issue: code has empty lines of its own."""
    passages: list[str] = []
    for words in filter(None, map(_words, parts)):
        if passages and f"{passages[-1]} {words}" in whole:
            passages[-1] += f" {words}"
        else:
            passages.append(words)
    return passages


def unfounded(reply: Classification, neighbours: Sequence[Neighbour]) -> list[str]:
    """What the model has to correct: another issue that was not shown, of the wrong kind, or without a reason.

    Where nothing was shown the numbers mean nothing, and no turn is paid to have them corrected.
    """
    if not neighbours:
        return []
    shown = {each.number: each for each in neighbours}
    same, fixed = reply.duplicate_of, reply.already_fixed_by
    if same and fixed:
        return [
            "both `duplicate_of` and `already_fixed_by` are given; give the one that says more, and 0 for the other"
        ]
    issues = {number for number, each in shown.items() if each.kind == "issue"}
    done = {
        number for number, each in shown.items() if each.state == "merged" or each.why_closed == "completed"
    }
    problems = []
    for name, number, allowed in (("duplicate_of", same, issues), ("already_fixed_by", fixed, done)):
        if number and number not in allowed:
            listed = ", ".join(f"#{each}" for each in sorted(allowed)) or "none"
            problems.append(
                f"`{name}` is {number}, and {listed} of what was shown can be named there; else give 0"
            )
    if (same or fixed) and not reply.known_because.strip():
        problems.append("`known_because` is empty; say why it is the same, or what has done it already")
    return problems


def _words(text: str) -> str:
    return " ".join(_FENCE.sub(" ", text).split())


def _shown(neighbour: Neighbour) -> Mapping[str, object]:
    body = neighbour.body.strip()
    cut = f"{body[:MAX_NEIGHBOUR_CHARS]} …" if len(body) > MAX_NEIGHBOUR_CHARS else body
    why = f" as {neighbour.why_closed}" if neighbour.why_closed else ""
    return {
        "kind": neighbour.kind,
        "number": neighbour.number,
        "state": f"{neighbour.state}{why}",
        "title": neighbour.title,
        "body": cut,
    }


def done_elsewhere(reply: Classification, task: NodeTask) -> str | None:
    """Why nothing is begun although the issue is clear: it is asked for, or done, elsewhere."""
    number = reply.duplicate_of or reply.already_fixed_by
    if not number or not task.neighbours:
        return None
    other = next(each for each in task.neighbours if each.number == number)
    relation = "asks for the same as" if reply.duplicate_of else "was done already by"
    why = f", closed as {other.why_closed}" if other.why_closed else f", {other.state}"
    return (
        f"#{task.item.number} {relation} #{number} ({other.kind}{why}): {reply.known_because.strip()}\n\n"
        "Nothing was begun. If that is so, close this issue. If it asks for something else, say in its body what, and comment "
        "`/cogworks retry`: then it is worked on, and other issues are not compared again."
    )


def reason_to_escalate(reply: Classification, task: NodeTask) -> str | None:
    """Why a person has to look before anything else happens."""
    item = task.item
    if reply.questions:
        listed = "\n".join(f"- {question}" for question in reply.questions)
        return (
            f"#{item.number} leaves open what has to be known first:\n{listed}\n\n"
            "Answer in the issue's body, then remove the trigger label and set it again."
        )
    scope, division = reply.estimated_scope, task.conventions.division
    is_divided = division == "asked" or (division == "by_rule" and not reply.safety_affecting)
    if is_divided or not is_too_large(scope.files, scope.interfaces):
        return None
    proposal = (
        f" Or set the label `{LANE_LABEL}large` and comment `/cogworks restart`: then a proposal how to split it is made for you to "
        "approve."
    )
    return (
        f"#{item.number} is too large for one work item: about {scope.files} files (limit {MAX_FILES}) and "
        f"{scope.interfaces} interfaces (limit {MAX_INTERFACES}). Split it into several issues."
        f"{proposal if division else ''}"
    )


def summary(reply: Classification) -> str:
    """The classification in one line."""
    scope = reply.estimated_scope
    safety = ", affects safety" if reply.safety_affecting else ""
    return (
        f"{reply.type.replace('_', ' ')} in {', '.join(reply.affected_modules)}; about {scope.files} files, "
        f"complexity {scope.complexity}{safety}"
    )


NODE = BuiltIn(run=run, replies={"intake": Classification})
