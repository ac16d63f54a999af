"""What people ask for in comments: `/cogworks <verb> …` on the first line, parsed."""

import difflib
import re

from cogworks.forge.facts import Comment
from cogworks.forge.markers import parse_marker
from cogworks.pipeline.inputs import HOW_TO_WRITE, Verb
from cogworks.vocabulary import IssueNumber, Value

MAX_WHY_CHARS = 500
_LINE = re.compile(r"/cogworks(?P<rest>(\s.*)?)")
_NODE = re.compile(r"[a-z][a-z0-9_]{0,39}(@[A-Za-z0-9_-]{1,40})?")
_NUMBER = re.compile(r"#?[1-9][0-9]{0,9}")
_HASH = re.compile(r"[0-9a-f]{7,64}")
_SHOWN = re.compile(r"[A-Za-z0-9_@./-]{1,30}")


class Command(Value):
    """A comment that asks for something cogworks can do."""

    verb: Verb
    node: str = ""
    """`<node>` or `<node>@<sub-item>`, for `approve` and `reject`."""
    pull_request: IssueNumber | None = None
    """For `update`; None: all that can be."""
    artifact: str = ""
    """7 to 64 hex digits of what is approved."""
    why: str = ""


class Misspelt(Value):
    """A comment that speaks to cogworks and says nothing it understands."""

    problem: str


class Edited(Value):
    """A command that was changed after it was posted, so that nobody knows who asked for what."""


Said = Command | Misspelt | Edited


def parse_command(body: str) -> Command | Misspelt | None:
    """What a comment asks for; None when its first line does not speak to cogworks."""
    lines = body.strip().splitlines()
    found = _LINE.fullmatch(lines[0].rstrip()) if lines else None
    if found is None:
        return None
    words = found["rest"].split()
    if not words:
        return Misspelt(problem="it names no verb")
    verb, rest = words[0].lower(), words[1:]
    match verb:
        case "approve":
            return _approve(rest)
        case "reject":
            return _reject(rest)
        case "update":
            return _update(rest)
        case "resume" if not rest:
            return Misspelt(problem="`resume` needs a reason why the item may go on")
        case "hold" | "resume":
            return Command(verb=verb, why=_why(rest))
        case "run" | "retry" | "cancel" | "restart" | "status" if not rest:
            return Command(verb=verb)
        case "run" | "retry" | "cancel" | "restart" | "status":
            return Misspelt(problem=f"`{verb}` takes nothing after it")
        case _:
            return _unknown(verb)


def new_commands(comments: tuple[Comment, ...], *, after: int) -> tuple[tuple[Comment, Said], ...]:
    """The comments with an id above `after` that speak to cogworks, oldest first; our own never do."""
    found: list[tuple[Comment, Said]] = []
    for comment in sorted(comments, key=lambda each: each.database_id):
        if comment.database_id <= after or parse_marker(comment.body) is not None:
            continue
        said = parse_command(comment.body)
        if said is not None:
            # Who edits after posting may put words into the mouth of somebody with more rights.
            found.append((comment, Edited() if comment.edited else said))
    return tuple(found)


def _approve(words: list[str]) -> Command | Misspelt:
    if not words or not _NODE.fullmatch(words[0]):
        return Misspelt(problem="`approve` needs the node and the hash of what is approved")
    if len(words) != 2 or not _HASH.fullmatch(words[1].lower()):
        return Misspelt(
            problem=f"the approval of {words[0]} names no hash of 7 to 64 hex digits, so it is not clear what is approved"
        )
    return Command(verb="approve", node=words[0], artifact=words[1].lower())


def _reject(words: list[str]) -> Command | Misspelt:
    if not words or not _NODE.fullmatch(words[0]):
        return Misspelt(problem="`reject` needs the node and a reason")
    if len(words) < 2:
        return Misspelt(problem=f"the rejection of {words[0]} gives no reason")
    return Command(verb="reject", node=words[0], why=_why(words[1:]))


def _update(words: list[str]) -> Command | Misspelt:
    if not words:
        return Command(verb="update")
    if len(words) > 1 or not _NUMBER.fullmatch(words[0]):
        return Misspelt(problem="`update` takes the number of one pull request, or nothing")
    return Command(verb="update", pull_request=IssueNumber(int(words[0].removeprefix("#"))))


def _unknown(verb: str) -> Misspelt:
    close = difflib.get_close_matches(verb[:30], HOW_TO_WRITE, n=1)
    hint = f"; did you mean `{close[0]}`?" if close else ""
    # Whatever else stands there is not repeated: the answer is posted under our name.
    shown = f"`{verb}`" if _SHOWN.fullmatch(verb) else "the first word"
    return Misspelt(problem=f"{shown} is not a verb I know{hint}")


def _why(words: list[str]) -> str:
    return " ".join(words)[:MAX_WHY_CHARS]


_COMMANDING = frozenset({"admin", "maintain", "write"})


def may_command(permission: str) -> bool:
    """Whether somebody with this permission is obeyed: write or better."""
    return permission.lower() in _COMMANDING
