"""How a command is isolated, what that means in words, and what is missing."""

from typing import NamedTuple

from cogworks.services.sandbox.inside.order import Engine


class Lacking(NamedTuple):
    """A wall this machine cannot build."""

    wall: str
    why: str
    remedy: str
    """What to install or to switch on."""


class Isolation(NamedTuple):
    """The strongest isolation this machine can build, as it was tried."""

    engine: Engine
    program: str = ""
    """The path of bubblewrap, where that is the engine."""
    landlock_abi: int = 0
    """0: none."""
    is_filtered: bool = False
    lacking: tuple[Lacking, ...] = ()
    lays_over: bool = False
    """Whether a command can be shown files that it changes for itself alone, without a copy of them."""
    is_linux: bool = True
    """Whether the launcher can use what only Linux has, also where there is no isolation."""
    is_root: bool = False
    """Whether commands run as the administrator of this machine."""
    group: str = ""
    """The folder of the control group in which each run has one of its own; empty: runs have none."""
    ungrouped: Lacking | None = None
    """Why they have none, where that was tried."""

    @property
    def is_complete(self) -> bool:
        """Whether a command can neither reach a network, nor read or write files that are not its own, nor outlive its time."""
        return self.engine != "none"

    @property
    def layers(self) -> tuple[str, ...]:
        """What is active, in words for the operator."""
        limits = "resource limits" if self.is_linux else "limits of each process"
        grouped = ("a control group",) if self.group else ()
        return (*_BY_ENGINE[self.engine], *self._kernel(), *_ALWAYS, limits, *grouped)

    @property
    def unprotected(self) -> tuple[str, ...]:
        """What a command could do that it should not be able to; empty in complete isolation."""
        if self.is_complete:
            return ()
        gaps = [] if self.is_filtered else ["reach the network"]
        gaps += list(_WITHOUT_NAMESPACES)
        if self.landlock_abi < _LANDLOCK_TRUNCATES:
            gaps.append(
                "write outside its copy" if not self.landlock_abi else "truncate files outside its copy"
            )
        if not self.landlock_abi:
            gaps.append("read the files of this user")
        if self.landlock_abi < _LANDLOCK_SIGNALS:
            gaps.append("end other processes of this user")
        if not self.is_linux:
            gaps += list(_WITHOUT_LINUX)
        return tuple(gaps)

    def _kernel(self) -> tuple[str, ...]:
        features = []
        if self.landlock_abi:
            features.append(f"Landlock (version {self.landlock_abi})")
        if self.is_filtered:
            features.append(
                "filtered system calls" if self.is_complete else "no sockets, filtered system calls"
            )
        return tuple(features)


_NAMESPACES = ("no network", "processes of its own", "file system of its own, read-only but for the copy")
_BY_ENGINE: dict[Engine, tuple[str, ...]] = {
    "bubblewrap": (*_NAMESPACES, "built by bubblewrap"),
    "namespaces": (*_NAMESPACES, "built from user namespaces"),
    "none": (),
}
_WITHOUT_NAMESPACES = (
    "change permissions of files outside its copy",
    "see which processes run here",
    "use this user's shared memory",
)
_WITHOUT_LINUX = (
    "go on after its run in a process that leaves its group",
    "use more memory and processes than the limit of all together",
    "hang in one test until the time of the whole run is over",
)
_ALWAYS = ("own copy of the files", "scrubbed environment")
_LANDLOCK_TRUNCATES = 3
_LANDLOCK_SIGNALS = 6
_NOT_TRUSTED = "this item is safety-critical or comes from somebody who is not trusted, so its code runs only in complete isolation"
_NOT_AS_ROOT = (
    "cogworks runs as root, and whatever a repository's code did would be done as root (change devices, end every process, "
    "write every file that is left open). Run it as another user. As root such code runs only in complete isolation"
)
NO_ISOLATION = Isolation("none")
"""Limits and nothing else."""


def elsewhere(system: str, *, is_root: bool) -> Isolation:
    """What there is where the system is not Linux."""
    why = f"{system} has no namespaces, no Landlock and no seccomp"
    remedy = (
        "Run cogworks on Linux, or in a Linux container or virtual machine, for items that need isolation."
    )
    return Isolation("none", lacking=(Lacking("isolation", why, remedy),), is_linux=False, is_root=is_root)


def refusal(isolation: Isolation, *, needs_walls: bool) -> str | None:
    """Why code of a repository is not run here, None when it may be.

    Args:
        needs_walls: whether it may run in complete isolation alone.
    """
    if isolation.is_complete or not (needs_walls or isolation.is_root):
        return None
    reasons = (
        "; ".join(f"no {each.wall}: {each.why}" for each in isolation.lacking) or "they were not asked for"
    )
    remedies = " Or: ".join(dict.fromkeys(each.remedy for each in isolation.lacking if each.remedy))
    why = _NOT_AS_ROOT if isolation.is_root else _NOT_TRUSTED
    return f"{why}, and this machine has none ({reasons}). {remedies} `cogworks doctor` shows what is there."


def namespaces_remedy(settings: dict[str, str]) -> str:
    """What to do where the kernel gives no user namespaces.

    Args:
        settings: name below /proc/sys -> value, of those that exist.
    """
    if settings.get("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return "Run `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, or give bubblewrap an AppArmor profile."
    if settings.get("kernel/unprivileged_userns_clone") == "0":
        return "Run `sudo sysctl -w kernel.unprivileged_userns_clone=1`."
    if settings.get("user/max_user_namespaces") == "0":
        return "Run `sudo sysctl -w user.max_user_namespaces=15000`."
    return "In a container, allow user namespaces and an unmasked /proc (e.g. `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`)."
