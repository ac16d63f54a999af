"""Turns a command that starts tests by another tool into what it runs, by the files of the commit a change started from."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.codebase.failures import GitFailed
from cogworks.codebase.git import Git
from cogworks.domain_services.messages import Request
from cogworks.domain_services.testwords import PLACE, pytest_begins
from cogworks.services.python.recipe.scripts import starts_django
from cogworks.services.python.recipe.translation import doctest_words, files_read, translated
from cogworks.services.python.roots import whole_of
from cogworks.services.python.runners import of_program, program_of
from cogworks.services.python.wanted import Wanted

_GIT_LIMIT_S = 60.0
_VALUED = frozenset(
    ["-c", "-k", "-m", "-n", "-o", "-p", "-r", "-W", "--basetemp", "--confcutdir", "--cov", "--cov-config", "--cov-report", "--deselect",
     "--doctest-glob", "--ds", "--durations", "--ignore", "--ignore-glob", "--import-mode", "--junitxml", "--log-file", "--maxfail",
     "--override-ini", "--rootdir", "--tb", "--timeout"]
)  # fmt: skip
"""Options of pytest and of usual plugins whose value is a word of its own."""


def in_other_words(run: Wanted, request: Request, folder: Path, search_path: str) -> Wanted:
    """The run with a command that takes and reports single tests, where the configured one can be translated into that.

    What says `{tests}` hands ids on by itself and is left alone.
    """
    words = tuple(run.command)
    if not words or any(PLACE in word for word in words):
        return run
    base = request.repository.base if request.repository else None
    root = request.repository.root if request.repository else ""
    texts = _texts(folder, base, root, (*files_read(words), *filter(None, [program_of(words)])), search_path)
    if starts_django(texts.get(program_of(words), "")):
        return run._replace(command=of_program(words))
    translation = translated(words, texts) if texts else None
    if translation is not None:
        original = f"`{shlex.join(words)}`, by {translation.source}"
        run = run._replace(
            command=translation.command,
            tests=run.tests or translation.paths,
            environment={**translation.variables, **run.environment},
            instead_of=original,
        )
    return _with_paths_apart(_with_doctests(run), folder)


def _with_doctests(run: Wanted) -> Wanted:
    doctests = doctest_words(run.command)
    if doctests is None:
        return run
    words, files = doctests
    return run._replace(
        command=words, tests=run.tests or files, instead_of=run.instead_of or f"`{shlex.join(run.command)}`"
    )


def _with_paths_apart(run: Wanted, folder: Path) -> Wanted:
    """Files, folders and ids among the words of pytest say what all is; they have no place beside a selection."""
    begin = pytest_begins(run.command)
    if begin is None:
        return run
    options: list[str] = []
    paths: list[str] = []
    for before, word in zip(("", *run.command[begin:]), run.command[begin:], strict=False):
        is_path = (
            not word.startswith("-") and before not in _VALUED and (folder / word.split("::")[0]).exists()
        )
        (paths if is_path else options).append(word)
    if not run.tests or not paths:
        return run
    return run._replace(command=(*run.command[:begin], *options))


def _texts(
    folder: Path, base: str | None, root: str, paths: Sequence[str], search_path: str
) -> dict[str, str]:
    """Those of the files that are there: of the commit, so that no change decides how its own tests run."""
    whole = whole_of(folder, root)
    texts: dict[str, str] = {}
    for path in paths:
        if base is None or not (whole / ".git").exists():
            file = read_file(folder, path)
            if file is not None:
                texts[path] = file.data.decode(errors="replace")
        elif (text := _committed(whole, base, f"{root}/{path}" if root else path, search_path)) is not None:
            texts[path] = text
    return texts


def _committed(whole: Path, base: str, path: str, search_path: str) -> str | None:
    git = Git(environment={"PATH": search_path}, home=whole, time_limit_s=_GIT_LIMIT_S)
    extra = {"GIT_CEILING_DIRECTORIES": str(whole.parent)}
    try:
        if not git.run("ls-tree", "-z", base, "--", path, cwd=whole, extra=extra).startswith("100"):
            return None
        return git.run("cat-file", "blob", f"{base}:{path}", cwd=whole, extra=extra)
    except GitFailed:
        # Whoever makes the environment says what is wrong with the repository.
        return None
