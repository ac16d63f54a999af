"""What each set of isolation is called, what it lacks, and when code is not run behind it."""

import pytest

from cogworks.services.sandbox.isolation import NO_ISOLATION, Isolation, Lacking, namespaces_remedy, refusal

COMPLETE = Isolation("namespaces", landlock_abi=7, is_filtered=True)
LACKING = Lacking("namespaces", "mount: Operation not permitted", "Install bubblewrap.")


def test_complete_walls_are_named_layer_by_layer() -> None:
    assert COMPLETE.layers == (
        "no network",
        "processes of its own",
        "file system of its own, read-only but for the copy",
        "built from user namespaces",
        "Landlock (version 7)",
        "filtered system calls",
        "own copy of the files",
        "scrubbed environment",
        "resource limits",
    )
    assert COMPLETE.unprotected == ()


@pytest.mark.parametrize(
    ("isolation", "unprotected"),
    [
        (
            NO_ISOLATION,
            (
                "reach the network",
                "change permissions of files outside its copy",
                "see which processes run here",
                "use this user's shared memory",
                "write outside its copy",
                "read the files of this user",
                "end other processes of this user",
            ),
        ),
        (
            Isolation("none", landlock_abi=2, is_filtered=True),
            (
                "change permissions of files outside its copy",
                "see which processes run here",
                "use this user's shared memory",
                "truncate files outside its copy",
                "end other processes of this user",
            ),
        ),
        (
            Isolation("none", landlock_abi=6, is_filtered=True),
            (
                "change permissions of files outside its copy",
                "see which processes run here",
                "use this user's shared memory",
            ),
        ),
    ],
)
def test_what_is_not_kept_out_is_said(isolation: Isolation, unprotected: tuple[str, ...]) -> None:
    assert not isolation.is_complete
    assert isolation.unprotected == unprotected


def test_code_that_needs_walls_is_run_behind_complete_ones_only() -> None:
    assert refusal(COMPLETE, needs_walls=True) is None
    assert refusal(NO_ISOLATION, needs_walls=False) is None
    lacking = Isolation("none", landlock_abi=7, is_filtered=True, lacking=(LACKING,))
    reason = refusal(lacking, needs_walls=True)
    assert reason is not None
    assert "no namespaces: mount: Operation not permitted" in reason
    assert "Install bubblewrap." in reason


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel/apparmor_restrict_unprivileged_userns": "1"}, "apparmor_restrict_unprivileged_userns=0"),
        ({"kernel/unprivileged_userns_clone": "0"}, "unprivileged_userns_clone=1"),
        ({"user/max_user_namespaces": "0"}, "max_user_namespaces=15000"),
        ({"user/max_user_namespaces": "9"}, "In a container"),
    ],
)
def test_the_remedy_fits_what_forbids_namespaces(settings: dict[str, str], words: str) -> None:
    assert words in namespaces_remedy(settings)
