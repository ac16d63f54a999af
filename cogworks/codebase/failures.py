"""What can go wrong between a working copy and its remote, and what that means for the operator."""

from collections.abc import Sequence
from typing import Literal

from cogworks.errors import CogworksError, MachineUnfit, PermissionRefused, TryAgainLater, UsageError

FailureKind = Literal["network", "permission", "missing", "moved", "disk", "time_limit", "other"]

_SIGNS: tuple[tuple[FailureKind, tuple[str, ...]], ...] = (
    ("disk", ("No space left on device", "Disk quota exceeded", "Read-only file system")),
    (
        "permission",
        (
            "Authentication failed",
            "could not read Username",
            "could not read Password",
            "terminal prompts disabled",
            "returned error: 401",
            "returned error: 403",
        ),
    ),
    ("moved", tuple(f"returned error: {status}" for status in (301, 302, 303, 307, 308))),
    (
        "missing",
        (
            "does not appear to be a git repository",
            "returned error: 404",
            "' not found",
            "couldn't find remote ref",
            "not our ref",
        ),
    ),
    (
        "network",
        (
            "Could not resolve host",
            "Failed to connect",
            "Couldn't connect",
            "Connection refused",
            "Connection reset",
            "Empty reply from server",
            "timed out",
            "early EOF",
            "unexpected disconnect",
            "hung up unexpectedly",
            "RPC failed",
            "returned error: 429",
            "returned error: 5",
            "TLS connection",
        ),
    ),
)


class CodebaseError(CogworksError):
    """The working copy cannot be brought to the state that was asked for."""


class RollbackFailed(CodebaseError):
    """A working copy could not be brought back to where it was; nothing in it may be trusted."""


class GitFailed(CodebaseError):
    """A git command failed; the text shows the command, its exit code and everything it said, secrets left out."""

    def __init__(
        self, command: Sequence[str], code: int, stdout: str, stderr: str, kind: FailureKind
    ) -> None:
        self.command = tuple(command)
        self.code = code
        self.kind = kind
        self.stdout = stdout
        self.stderr = stderr
        super().__init__(
            f"git failed: {' '.join(command)}\n"
            f"exit code: {code} ({_MEANINGS[kind]})\n"
            f"stdout: {stdout.strip() or '(nothing)'}\n"
            f"stderr: {stderr.strip() or '(nothing)'}"
        )


def failure_kind(stderr: str) -> FailureKind:
    """What kind of failure git's own words (locale C) point to."""
    for kind, signs in _SIGNS:
        if any(sign in stderr for sign in signs):
            return kind
    return "other"


def understood(error: CodebaseError) -> CogworksError:
    """The same failure as the kind of error the caller of a working copy acts on."""
    match error.kind if isinstance(error, GitFailed) else "other":
        case "network" | "time_limit":
            return TryAgainLater(f"{error}\nRun the step again; nothing was lost.")
        case "permission":
            return PermissionRefused(
                f"{error}\nGive a token that may read and write the repository's contents."
            )
        case "disk":
            return MachineUnfit(f"{error}\nMake room there, or set `COGWORKS_WORK_DIR` to another directory.")
        case "moved":
            return UsageError(
                f"{error}\ncogworks follows no redirect, because it would carry the token on. Use the address it "
                "leads to."
            )
        case "missing" | "other":
            return error


_MEANINGS: dict[FailureKind, str] = {
    "network": "the remote could not be reached",
    "permission": "the remote refused the credential",
    "moved": "the remote sends on to another address",
    "missing": "the remote or an object is not there",
    "disk": "this machine's disk is full or read-only",
    "time_limit": "killed at its time limit",
    "other": "see below",
}
