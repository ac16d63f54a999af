"""What an answer of the REST API other than success means."""

import json
from collections.abc import Mapping
from typing import Any

from cogworks.errors import CogworksError, LostRace, PermissionRefused, TryAgainLater, UsageError
from cogworks.github.documents import OutcomeUnknown
from cogworks.github.responses import Limited, Refused, judge_forbidden
from cogworks.leaving import masked


class AlreadyExists(CogworksError):
    """What should be made is there already."""


def failure(
    call: str, status: int, body: str, headers: Mapping[str, str], *, is_write: bool
) -> CogworksError:
    """The error for one answer outside 200 to 299.

    Args:
        call: verb and URL, for the message.
        headers: looked up by lower-case names.
    """
    problem = f"{call} answered {status}: {said_by(body)}"
    if status < 400:
        # PyGithub takes these for success and would return an empty object.
        return UsageError(
            f"{problem}. It has moved to {headers.get('location', 'an unknown place')}; nothing was done. Use the new name."
        )
    if status == 401:
        return PermissionRefused(
            f"{problem}. The token is not valid or has expired. Set a new one and run the step again."
        )
    if status in (403, 429):
        return _forbidden(status, headers, problem)
    if status in (404, 410):
        return UsageError(
            f"{problem}. It does not exist (any more) or the token cannot see it; check the name and the token's access."
        )
    if status == 409:
        return LostRace(f"{problem}. Somebody else was first; nothing was done.")
    if status == 422:
        return _unprocessable(problem, body)
    if status >= 500 and is_write:
        return OutcomeUnknown(
            f"{problem}. Whether it was done is unknown. Run the step again: it looks before it repeats."
        )
    if status >= 500:
        return TryAgainLater(f"{problem}. GitHub is out of order; run the step again later.")
    return CogworksError(f"{problem}. Nothing was done.")


def parsed(body: str) -> Any:
    """The body as JSON; None when it is empty or is not JSON."""
    try:
        return json.loads(body)
    except ValueError:
        return None


def said_by(body: str) -> str:
    """GitHub's message and the messages of its single errors, in one line of at most 400 characters."""
    content = parsed(body)
    if not isinstance(content, dict):
        return masked(" ".join(body.split()))[:400] or "an empty body"
    errors = content.get("errors")
    details = [_detail(entry) for entry in errors] if isinstance(errors, list) else []
    return masked("; ".join([str(content.get("message", "no message")).rstrip("."), *details]))[:400]


def _detail(entry: object) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    if entry.get("message"):
        return str(entry["message"])
    return " ".join(str(entry[key]) for key in ("resource", "field", "code") if entry.get(key))


def _forbidden(status: int, headers: Mapping[str, str], problem: str) -> CogworksError:
    match judge_forbidden(status, headers, problem, problem):
        case Limited(_, wait_s):
            return TryAgainLater(
                f"{problem}. The rate limit is used up; run the step again later.", retry_after_s=wait_s
            )
        case Refused(error):
            return error


def _unprocessable(problem: str, body: str) -> CogworksError:
    text = body.lower()
    if "already exists" in text or "already_exists" in text:
        return AlreadyExists(f"{problem}.")
    if "rule violation" in text or "creations being restricted" in text:
        return PermissionRefused(
            f"{problem}. A rule of the repository forbids it; allow the branches `cogworks/**` in its rulesets and run the step again."
        )
    return CogworksError(f"{problem}. Nothing was done.")
