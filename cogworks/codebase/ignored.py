"""Which files git ignores, and by which rule: what nobody tracks is made on each machine, and is nobody's to commit."""

from collections.abc import Callable, Iterable, Mapping

from cogworks.codebase.lying_files import parents_of
from cogworks.codebase.plumbing import zsplit

RULES = ".gitignore"
SUBMODULE = "160000"
_PARTS = 4
"""Source, line, pattern and path; see `git check-ignore -v -z`."""


def ignored_by(run: Callable[..., str], paths: Iterable[str]) -> dict[str, str]:
    """Of these paths those that git ignores and the last commit does not hold, each with the rule in words.

    The rules are those on the disk: the repository's `.gitignore` files and its own `info/exclude`; git runs without the user's.

    Args:
        run: `Git.run` in the working copy.
        paths: that can be files of it, none behind a symbolic link.
    """
    wanted = list(dict.fromkeys(paths))
    if not wanted:
        return {}
    entries = [entry.split("\t", 1) for entry in zsplit(run("ls-tree", "-r", "-z", "HEAD"))]
    tracked = {path for _, path in entries}
    # Git does not look into submodules.
    submodules = {path for about, path in entries if about.startswith(SUBMODULE)}
    asked = [path for path in wanted if path not in tracked and not submodules & {*parents_of(path)}]
    listed = "".join(f"{path}\0" for path in asked)
    answer = run("check-ignore", "-v", "-z", "--no-index", "--stdin", stdin=listed, ok=(0, 1)).split("\0")
    found: dict[str, str] = {}
    for at in range(0, len(answer) - 1, _PARTS):
        source, line, pattern, path = answer[at : at + _PARTS]
        # The last rule that fits decides, and it may be one that lets the file in.
        if not pattern.startswith("!"):
            place = source if source.endswith(RULES) else "git's own info/exclude"
            found[path] = (
                f"{path} is ignored by {place}:{line} `{pattern}`; what git ignores is never committed. Leave the file out, "
                "or put what is needed where it is not ignored"
            )
    return found


def sets_rules(paths: Iterable[str]) -> bool:
    """Whether a change to these files may change what is ignored."""
    return any(path.rpartition("/")[2] == RULES for path in paths)


def in_words(found: Mapping[str, str]) -> str | None:
    """Why the files are not written, None when none of them is ignored."""
    return "\n".join(found.values()) or None
