"""What Division says of a proposal that it does not put to people."""

from cogworks.nodes.division import indivisible, problems_of, run, statements_of
from cogworks.nodes.replies import Division
from cogworks.nodes.task import Conventions
from tests.nodes.dividing import BODY, EXPORT, LARGE, division, part
from tests.nodes.examples import ports, task
from tests.nodes.refusing import Row, reason


def refused(reply: Division) -> list[str]:
    return problems_of(reply, statements_of(BODY))


DIVISION = (
    Row("sound", lambda: refused(division()), ()),
    Row(
        "one-part",
        lambda: refused(division(part(covers=(3, 4, 5, 6, 7)))),
        (
            "there is only one part; divide the issue into 2 to 8, or say in `indivisible` why it cannot be divided",
        ),
    ),
    Row(
        "no-part",
        lambda: refused(Division(parts=(), background=tuple(range(1, 8)), rationale="-")),
        ("there is no part; divide the issue into 2 to 8, or say in `indivisible` why it cannot be divided",),
    ),
    Row(
        "nine-parts",
        lambda: refused(division(*(part(key) for key in "ACDEFGHI"), EXPORT)),
        ("there are 9 parts, and 8 at most are looked through; put together what belongs together",),
    ),
    Row(
        "no-title",
        lambda: refused(division(part(title=" "), EXPORT)),
        ("the title of A is empty; say in one line what is true when it is done",),
    ),
    Row(
        "no-body",
        lambda: refused(division(part(body="\n"), EXPORT)),
        ("the body of A is empty; write it for somebody who reads nothing else",),
    ),
    Row(
        "never-done",
        lambda: refused(division(part(done_when=("",)), EXPORT)),
        ("`done_when` of A is empty; say what can be checked when it is done",),
    ),
    Row(
        "covers-nothing",
        lambda: refused(division(part(), EXPORT, part("C", covers=()))),
        ("C covers no statement of the issue; a part does something that the issue asks for",),
    ),
    Row(
        "same-key",
        lambda: refused(division(part(), part(title="Another"), EXPORT)),
        ("the key 'A' is used 2 times; give every part its own",),
    ),
    Row(
        "same-title",
        lambda: refused(division(part(), EXPORT.model_copy(update={"title": "part a  WORKS"}))),
        ("2 parts are called 'part a works'; give every part a title of its own",),
    ),
    Row(
        "unknown-dependency",
        lambda: refused(division(part(depends_on=("Z",)), EXPORT)),
        ("A depends on 'Z', which is no key of a part (A, B)",),
    ),
    Row(
        "circle",
        lambda: refused(division(part(depends_on=("B",)), EXPORT)),
        ("the parts wait for each other in a circle: A -> B -> A; remove one of the dependencies",),
    ),
    Row(
        "itself",
        lambda: refused(division(part(depends_on=("A",)), EXPORT)),
        ("the parts wait for each other in a circle: A -> A; remove one of the dependencies",),
    ),
    Row(
        "uncovered",
        lambda: refused(division(background=(1,))),
        (
            "statement 2 is in no part ('Three things are missing.'); say which part covers it, or name it in `background`",
        ),
    ),
    Row(
        "unknown-statement",
        lambda: refused(division(part(covers=(3, 4, 8)), EXPORT, background=(0, 1, 2))),
        (
            "`covers` of A names statement 8, and the issue has 1 to 7",
            "`background` names statement 0, and the issue has 1 to 7",
        ),
    ),
    Row(
        "divided-and-indivisible",
        lambda: refused(division(indivisible="It is one change.")),
        ("`indivisible` says why the issue cannot be divided, and there are parts; give one or the other",),
    ),
    Row(
        "indivisible",
        lambda: [
            indivisible(Division(parts=(), indivisible="It is one change.", rationale="-"), task("division"))
        ],
        (
            (
                "#7 was not divided: It is one change. To have it built as one, set the label `cogworks:lane:default` and comment "
                "`/cogworks restart`; or make the issue more precise, and comment `/cogworks retry`."
            ),
        ),
    ),
    Row(
        "no-usable-answer",
        lambda: reason(
            run(
                task("division", item=LARGE, conventions=Conventions(max_answers=1)),
                ports(division(part(body=""), EXPORT)),
            )
        ),
        (
            (
                "division: none of 1 answers of the model was usable. The last one:\n"
                "- the body of A is empty; write it for somebody who reads nothing else\n"
                "Make the issue more precise, then remove the trigger label and set it again."
            ),
        ),
    ),
)
