"""One turn of looks: governed tools, one after the other, under a policy, each on record."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cogworks.leaving import masked
from cogworks.llm.conversation import MAX_LOOKS
from cogworks.llm.prompts import delimited
from cogworks.llm.schemas import Schema
from cogworks.sight.looks.lines import lines_in
from cogworks.sight.looks.room import Room
from cogworks.sight.looks.running import Trials
from cogworks.sight.looks.schema import GUIDE, MASKED, RUNNING, RUNNING_GUIDE, Look, RunningLook
from cogworks.sight.looks.showing import shown
from cogworks.sight.seen import Seen
from cogworks.tools.approvals import Approvals
from cogworks.tools.calling import Budget, Retries
from cogworks.tools.executor import Executor, Means
from cogworks.tools.plans import PlanStep
from cogworks.tools.policy import POLICY_FOLDER, Enforcer, Policy, Rule, parse_policy
from cogworks.tools.records import Trail
from cogworks.tools.registry import Call, Handler, ToolRegistry

PROFILE = "sight"
POLICY_FILE = f"policies/{PROFILE}.toml"
"""Below `.cogworks`."""
MAX_LOOK_CHARS = 20_000
"""Of one result; about 6 000 tokens."""
MAX_TURN_CHARS = 40_000
"""Of all results of one turn: short ones stay whole, and long ones share what is left."""
_DESCRIPTIONS: Mapping[str, str] = {
    "read": "Shows lines of a file.",
    "search": "Finds a text in all files.",
    "outline": "Lists the definitions of a file.",
    "definition": "Shows where a name is defined.",
    "references": "Lists where a name is used.",
    "tests_of": "Lists tests of a file or name.",
    "list": "Lists what is in a folder.",
    "history": "Lists commits of a path.",
    "run": "Runs tests in isolation.",
    "try": "Runs tests in isolation with edits that nobody keeps.",
}
_NUMBERED = ("read", "definition", "tests_of")
"""Looks whose results are lines of files with their numbers."""
_OUTPUT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
POLICY = Policy(
    profile=PROFILE,
    summary="What a model may look at before it answers.",
    effects=("read", "write", "external"),
    approval_for=(),
    tools={name: Rule() for name in _DESCRIPTIONS},
    max_cost=100.0,
)


def sight_policy(files: Mapping[str, str]) -> Policy:
    """The policy of the profile `sight` in a repository.

    Args:
        files: those below `.cogworks`, of the default branch.

    Raises:
        ConfigurationError: the repository's file is malformed, or would loosen the built-in policy.
    """
    text = files.get(POLICY_FILE)
    return (
        POLICY
        if text is None
        else parse_policy(text, source=f"{POLICY_FOLDER}/{PROFILE}.toml", built_in=POLICY)
    )


class GovernedLooks:
    """Who answers the looks of one question series; obeys `cogworks.llm.conversation.Looks`."""

    def __init__(
        self,
        room: Callable[[], Room],
        *,
        policy: Policy,
        trail: Trail,
        tree: Callable[[], str],
        trials: Trials | None = None,
        secrets: Sequence[str] = (),
        seen: Seen | None = None,
    ) -> None:
        """Args:
        room: where to look, as it is when a turn begins.
        tree: names the files of the working copy as they are now.
        trials: runs tests; None: the model may run nothing.
        secrets: what no result may hold.
        seen: gets each line of a file that a result shows.
        """
        self._room = room
        self._seen = seen
        self._trials = trials
        self._tree = tree
        self._secrets = tuple(secrets)
        self._here: Room | None = None
        registry = ToolRegistry()
        for name, handler in self._handlers().items():
            registry.register(
                PROFILE,
                name,
                handler=handler,
                description=_DESCRIPTIONS[name],
                effects="read",
                input_schema={"type": "object"},
                output_schema=_OUTPUT,
                timeout_s=3_600.0 if name in RUNNING else 60.0,
                capabilities=(name,),
                # 200 looks within the most that a policy may allow.
                cost=0.5,
            )
        self._means = Means(
            view=registry.sandbox(PROFILE),
            enforcer=Enforcer([policy]),
            trail=trail,
            budget=Budget(policy.max_cost),
            approvals=self._approvals(),
            retries=Retries(max_attempts=1),
            sleep=_no_pause,
        )
        self._count = 0

    @property
    def schema(self) -> Schema:
        return (RunningLook if self._trials else Look).model_json_schema()

    @property
    def guide(self) -> str:
        return GUIDE + (RUNNING_GUIDE if self._trials else "") + MASKED

    def carry_out(self, looks: Sequence[Mapping[str, Any]]) -> str:
        """The results of a turn, numbered in the order asked, each between delimiters it cannot forge."""
        self._here = None
        asked = looks[:MAX_LOOKS]
        results = [masked(self._one(look), self._secrets, is_code=True) for look in asked]
        parts: list[str] = []
        for number, (look, result, room) in enumerate(zip(asked, results, rooms_of(results), strict=True), 1):
            text = _cut(result, room)
            self._remember(look, text)
            parts.append(delimited(text, f"result {number}: {_named(look)}"))
        return "\n\n".join(parts)

    def _remember(self, look: Mapping[str, Any], text: str) -> None:
        """What of a result is left after every cut counts as seen."""
        if self._seen is not None and look.get("look") in _NUMBERED:
            for path, line in lines_in(text):
                self._seen.note(path, line, line)

    def _one(self, look: Mapping[str, Any]) -> str:
        self._count += 1
        step = PlanStep(
            name=f"{self._count}:{look.get('look', '')}",
            tool=str(look.get("look", "")),
            profile=PROFILE,
            input=dict(look),
        )
        executed = Executor(replace(self._means, approvals=self._approvals())).execute(
            [step], metadata={}, known={}
        )
        (done,) = executed.steps
        if done.status == "success" and done.output is not None:
            return str(done.output.get("text", ""))
        if done.status == "waiting":
            return f"The policy `{PROFILE}` wants a person to approve this look, so it was not made. Go on without it."
        return f"The look was not made: {done.error.message_redacted if done.error else done.status}"

    def _handlers(self) -> dict[str, Handler]:
        names = [name for name in _DESCRIPTIONS if name not in RUNNING]
        handlers: dict[str, Handler] = dict.fromkeys(names, self._show)
        if (trials := self._trials) is not None:
            handlers["run"] = lambda look, _: {"text": self._allowed(look, trials.run)}
            handlers["try"] = lambda look, _: {"text": self._allowed(look, trials.try_out)}
        return handlers

    def _show(self, look: dict[str, Any], call: Call) -> Mapping[str, Any]:
        del call
        self._here = self._here or self._room()
        return {
            "text": shown(
                Look.model_validate({name: look[name] for name in Look.model_fields if name in look}),
                self._here,
            )
        }

    def _allowed(self, look_given: Mapping[str, Any], run: Callable[[RunningLook], str]) -> str:
        look = RunningLook.model_validate(look_given)
        room = self._here = self._here or self._room()
        paths = [each.partition("::")[0] for each in (*look.tests, *(edit.path for edit in look.edits))]
        unseen = [path for path in dict.fromkeys(paths) if not room.sees(path)]
        seen = [each for each in look.tests if each.partition("::")[0] not in unseen]
        if not unseen:
            return run(look)
        listed = f"{', '.join(unseen)}: not for you to see"
        if not seen or any(edit.path in unseen for edit in look.edits):
            return f"{listed}, so nothing was run."
        # The tests that may be named answer all the same: another turn would cost more than it shows.
        return (
            f"{listed}, so only the others were run.\n{run(look.model_copy(update={'tests': tuple(seen)}))}"
        )

    def _approvals(self) -> Approvals:
        return Approvals(tree=self._tree)


_UNFIT = re.compile(r'[<>"]')
_NAME_CHARS = 160
_SPARE = 10
"""What is longer by a tenth is not worth another turn."""


def _named(look: Mapping[str, Any]) -> str:
    """What a look asked for, so that two of one kind can be distinguished."""
    tests = ", ".join(map(str, _listed(look, "tests")))
    edits = [each.get("path") for each in _listed(look, "edits") if isinstance(each, Mapping)]
    edited = sorted({str(path) for path in edits if path})
    # These signs cannot stand in an opening delimiter, and a pattern without them would be another one.
    text = "" if _UNFIT.search(str(look.get("text"))) else look.get("text")
    # The edits distinguish two tries better than the tests, whose names are long.
    ran = f"with edits of {', '.join(edited)} on {tests}" if edited else tests
    words = (look.get("look"), look.get("target"), text, ran)
    name = " ".join(str(word) for word in words if word)
    return (
        name
        if len(name) <= _NAME_CHARS
        else f"{name[:_NAME_CHARS].rpartition(' ')[0] or name[:_NAME_CHARS]} …"
    )


def rooms_of(results: Sequence[str]) -> list[int]:
    """How many characters of each result are shown: of those that take more than an equal share, each gets the same."""
    rooms = [0] * len(results)
    left = MAX_TURN_CHARS
    for waiting, place in enumerate(sorted(range(len(results)), key=lambda place: len(results[place]))):
        rooms[place] = min(MAX_LOOK_CHARS, left // (len(results) - waiting))
        left -= min(rooms[place], len(results[place]))
    return rooms


def _listed(look: Mapping[str, Any], name: str) -> Sequence[Any]:
    """What a model may have given as something else."""
    value = look.get(name)
    return value if isinstance(value, list | tuple) else ()


def _cut(text: str, room: int) -> str:
    """The first lines of a result; a cut in the midst of a line would show what is in no file."""
    if len(text) <= room + room // _SPARE:
        return text
    end = text.rfind("\n", 0, room)
    kept = text[:end] if end > 0 else text[:room]
    left = text[len(kept) :].count("\n") if end > 0 else 0
    rest = f"{left} more lines" if left else f"{len(text) - len(kept)} more characters"
    return f"{kept}\n… {rest} of this result are cut: go on from the last line that is shown, with `first_line`, or ask for less"


def _no_pause(seconds: float) -> None:
    del seconds
