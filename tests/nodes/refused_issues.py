"""What Intake says of an issue that it does not begin, and of an answer that it does not take."""

from typing import Any

from cogworks.forge.snapshot import Neighbour
from cogworks.nodes import intake
from cogworks.nodes.task import Conventions, WorkItem
from cogworks.vocabulary import IssueNumber
from tests.nodes.examples import (
    CLASSIFICATION,
    FILES,
    ITEM,
    ports,
    task,
)
from tests.nodes.refusing import Row, reason


def thin(**changes: str) -> list[str]:
    return [intake.too_thin(ITEM.model_copy(update=changes)) or ""]


def classified(item: WorkItem = ITEM, **changes: Any) -> list[str]:
    reply = CLASSIFICATION.model_copy(update=changes)
    return [
        *intake.problems_of(reply, tuple(FILES)),
        *intake.misquoted(reply, item),
        *intake.uncopied(reply, item),
    ]


NEIGHBOURS = (
    Neighbour(number=IssueNumber(3), title="a", body="", kind="issue", state="open"),
    Neighbour(
        number=IssueNumber(4), title="b", body="", kind="issue", state="closed", why_closed="completed"
    ),
)


def known(**changes: Any) -> list[str]:
    reply = CLASSIFICATION.model_copy(update={"known_because": "Both want a sum.", **changes})
    return intake.unfounded(reply, NEIGHBOURS)


def elsewhere(**changes: Any) -> list[str]:
    reply = CLASSIFICATION.model_copy(update={"known_because": "Both want a sum.", **changes})
    return [intake.done_elsewhere(reply, task("intake", neighbours=NEIGHBOURS)) or ""]


def escalated(**changes: Any) -> list[str]:
    return too_much("", **changes)


def too_much(division: str, **changes: Any) -> list[str]:
    asked = task("intake", conventions=Conventions.model_validate({"division": division}))
    return [intake.reason_to_escalate(CLASSIFICATION.model_copy(update=changes), asked) or ""]


HUGE = CLASSIFICATION.estimated_scope.model_copy(update={"files": 41})
TOO_LARGE = "#7 is too large for one work item: about 41 files (limit 40) and 0 interfaces (limit 25). Split it into several issues."
MAY_BE_DIVIDED = " Or set the label `cogworks:lane:large` and comment `/cogworks restart`: then a proposal how to split it is made for you to approve."


INTAKE = (
    Row(
        "empty-body",
        lambda: thin(body=" "),
        (
            (
                "#7 is too thin to work on: its body is empty. Describe what happens, what should happen and how to see the difference, then "
                "remove the trigger label and set it again."
            ),
        ),
    ),
    Row(
        "few-words",
        lambda: thin(title="Bug", body="It fails."),
        (
            (
                "#7 is too thin to work on: its title and body have 3 words. Describe what happens, what should happen and how to see the "
                "difference, then remove the trigger label and set it again."
            ),
        ),
    ),
    Row(
        "unknown-module",
        lambda: classified(affected_modules=("src/adder/addings.py",)),
        (
            (
                "affected module 'src/adder/addings.py' is not in the repository (there is src/adder/adding.py, tests/test_adding.py); name "
                "existing files or directories only"
            ),
        ),
    ),
    Row(
        "nothing-like-it",
        lambda: classified(affected_modules=("zzz.qqq",)),
        (
            "affected module 'zzz.qqq' is not in the repository (there is none with a similar name); name existing files or directories only",
        ),
    ),
    Row(
        "no-module",
        lambda: classified(affected_modules=()),
        ("no affected module is named; name those that will change, or ask what you need to know",),
    ),
    Row(
        "misquoted",
        lambda: classified(says_what_is_right="It must be five."),
        (
            "`says_what_is_right` is 'It must be five.', which is not in the issue; copy sentences or a block of code of it word for word, or leave it empty",
        ),
    ),
    Row(
        "uncopied",
        lambda: classified(orders=("Skip the tests.",)),
        (
            "`orders` has 'Skip the tests.', which is not in the issue; copy passages of its title or of its body word for word, or leave the list empty",
        ),
    ),
    Row(
        "passages",
        lambda: classified(
            says_what_is_right="a\n\nb\n\nc\n\nd\n\ne\n\nf",
            item=ITEM.model_copy(update={"body": "f e d c b a"}),
        ),
        ("`says_what_is_right` has 6 passages; 5 at most say what is right, choose those",),
    ),
    Row(
        "duplicate-and-fixed",
        lambda: known(duplicate_of=3, already_fixed_by=4),
        (
            "both `duplicate_of` and `already_fixed_by` are given; give the one that says more, and 0 for the other",
        ),
    ),
    Row(
        "duplicate-not-shown",
        lambda: known(duplicate_of=9),
        ("`duplicate_of` is 9, and #3, #4 of what was shown can be named there; else give 0",),
    ),
    Row(
        "not-fixed",
        lambda: known(already_fixed_by=3),
        ("`already_fixed_by` is 3, and #4 of what was shown can be named there; else give 0",),
    ),
    Row(
        "duplicate-without-reason",
        lambda: known(duplicate_of=3, known_because=" "),
        ("`known_because` is empty; say why it is the same, or what has done it already",),
    ),
    Row(
        "duplicate",
        lambda: elsewhere(duplicate_of=3),
        (
            (
                "#7 asks for the same as #3 (issue, open): Both want a sum.\n\nNothing was begun. If that is so, close this issue. If it asks "
                "for something else, say in its body what, and comment `/cogworks retry`: then it is worked on, and other issues are not "
                "compared again."
            ),
        ),
    ),
    Row(
        "already-fixed",
        lambda: elsewhere(already_fixed_by=4),
        (
            (
                "#7 was done already by #4 (issue, closed as completed): Both want a sum.\n\nNothing was begun. If that is so, close this "
                "issue. If it asks for something else, say in its body what, and comment `/cogworks retry`: then it is worked on, and other "
                "issues are not compared again."
            ),
        ),
    ),
    Row(
        "questions",
        lambda: escalated(questions=("Which sum?",)),
        (
            (
                "#7 leaves open what has to be known first:\n- Which sum?\n\nAnswer in the issue's body, then remove the trigger label and set "
                "it again."
            ),
        ),
    ),
    Row(
        "too-large",
        lambda: escalated(estimated_scope=HUGE),
        (TOO_LARGE,),
    ),
    Row(
        "too-large-unasked",
        lambda: too_much("on_request", estimated_scope=HUGE),
        (f"{TOO_LARGE}{MAY_BE_DIVIDED}",),
    ),
    Row(
        "too-large-by-rule-and-critical",
        lambda: too_much("by_rule", estimated_scope=HUGE, safety_affecting=True),
        (f"{TOO_LARGE}{MAY_BE_DIVIDED}",),
    ),
    Row("large-by-rule", lambda: too_much("by_rule", estimated_scope=HUGE), ("",)),
    Row("large-as-asked", lambda: too_much("asked", estimated_scope=HUGE, safety_affecting=True), ("",)),
    Row(
        "no-usable-answer",
        lambda: reason(
            intake.run(
                task("intake", conventions=Conventions(max_answers=1)),
                ports(CLASSIFICATION.model_copy(update={"affected_modules": ()})),
            )
        ),
        (
            (
                "intake: none of 1 answers of the model was usable. The last one:\n- no affected module is named; name those that will change, "
                "or ask what you need to know\nMake the issue more precise, then remove the trigger label and set it again."
            ),
        ),
    ),
)
