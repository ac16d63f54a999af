"""What a command that starts tests by another tool runs in the end, read from that tool's files as text; a pure rule.

Such tools install by themselves, and where tests run there is no network. What is not certain is left as it is.
"""

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from pydantic import Field

from cogworks.services.python.recipe.commands import bare, tested
from cogworks.services.python.recipe.hatch import hatch_asked
from cogworks.services.python.recipe.makefiles import Unclear, recipe_lines
from cogworks.services.python.recipe.nox import FILE as NOXFILE
from cogworks.services.python.recipe.nox import nox_asked
from cogworks.services.python.recipe.result import Asked
from cogworks.services.python.recipe.tox import tox_asked
from cogworks.vocabulary import Value

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_TOX_FILES = ("tox.ini", "tox.toml", "setup.cfg", "pyproject.toml")
_SHELLS = ("sh", "bash", "dash", "zsh")
_HARMLESS = frozenset(
    ["echo", "printf", "set", "true", ":", "rm", "mkdir", "touch", "export", "flake8", "mypy", "ruff", "black", "isort", "pylint", "pyflakes",
     "pycodestyle", "bandit", "pre-commit", "codecov", "coveralls", "pip", "pip3", "uv", "which", "source", ".", "exit", "shellcheck", "pyright",
     "venv", "virtualenv", "ensurepip", "codespell", "black", "compileall", "twine", "poetry", "pdm", "hatch"]
)  # fmt: skip
"""What may stand beside the tests: it checks, tidies up, or installs what the environment has anyway."""
_REPORTS = ("report", "html", "xml", "json", "erase", "combine", "lcov")
_SHELL_SYNTAX = re.compile(
    r"`|\$\(|<|\b(?:if|then|else|fi|for|while|until|do|done|case|esac|function)\b|[(){}|]"
)
_OWN_FOLDER = re.compile(
    r'cd\s+"?\$\(\s*dirname\s+(?:--\s+)?"?\$(?:0|\{?BASH_SOURCE(?:\[0\])?\}?)"?\s*\)"?\s*(?:\|\|.*)?'
)
_ARGUMENTS = re.compile(r'"?\$(?:@|\*|\{@\}|\{\*\})"?')
_DEEPEST = 4
_MOST_CHARS = 400_000


class Translated(Value):
    """The same tests without the tool."""

    command: tuple[str, ...]
    """Words that begin with `python` or `pytest`."""
    paths: tuple[str, ...] = ()
    """What runs of pytest's tests where nothing is selected; none: all."""
    variables: dict[str, str] = Field(default_factory=dict)
    source: str = ""
    """The place that says so."""


def files_read(words: Sequence[str]) -> tuple[str, ...]:
    """Which files say what a command runs; none: nothing has to say it, or it is unknown."""
    if not words:
        return ()
    name = posixpath.basename(words[0])
    if name in ("make", "gmake"):
        return MAKEFILES
    if name == "tox":
        return _TOX_FILES
    if name == "nox":
        return (NOXFILE,)
    if name == "hatch":
        return ("hatch.toml", "pyproject.toml")
    script = _script(words)
    return (script,) if script else ()


def translated(words: Sequence[str], texts: Mapping[str, str]) -> Translated | None:
    """The command without the tool; None where it is none of these tools, or does more than is clear.

    Args:
        texts: path -> text, of those of `files_read` that are there.
    """
    try:
        return _translated(tuple(words), {path: text[:_MOST_CHARS] for path, text in texts.items()}, 0)
    except Unclear:
        return None


def _translated(words: tuple[str, ...], texts: Mapping[str, str], depth: int) -> Translated | None:
    name = posixpath.basename(words[0]) if words else ""
    if depth > _DEEPEST:
        raise Unclear
    if name in ("make", "gmake"):
        path = next((each for each in MAKEFILES if each in texts), "")
        lines = recipe_lines(texts[path], words[1:]) if path else []
        return _of_lines(lines, texts, depth, path)
    if name == "tox":
        return _of_tool(tox_asked(texts, ""), _named(words, ("-e", "--env")), _is_environment_of_tests)
    if name == "nox":
        return _of_tool(
            nox_asked(texts.get(NOXFILE, "")), _named(words, ("-s", "-e", "--session", "--sessions")), _names
        )
    if name == "hatch" and words[1:2] in (("test",), ("run",)):
        return _of_tool(hatch_asked(texts), "", _names)
    script = _script(words)
    if script and script in texts:
        return _of_lines(
            _script_lines(texts[script], words[words.index(script) + 1 :] if script in words else words[1:]),
            texts,
            depth,
            script,
        )
    return None


def _script(words: Sequence[str]) -> str:
    """The shell script of the repository that a command runs; empty: none."""
    named = (
        [word for word in words[1:] if not word.startswith("-")]
        if words and words[0] in _SHELLS
        else [*words[:1]]
    )
    path = posixpath.normpath(named[0]) if named else ""
    is_own = path and not path.startswith(("/", "..")) and ("/" in named[0] or words[0] in _SHELLS)
    return path if is_own and not path.endswith(".py") else ""


def _script_lines(text: str, arguments: Sequence[str]) -> Iterator[str]:
    first, _, rest = text.partition("\n")
    if first.startswith("#!") and not any(
        first.rstrip().split()[0].endswith(each) or each in first.split()
        for each in ("/sh", "/bash", "/dash", "sh", "bash")
    ):
        raise Unclear
    if arguments and not _ARGUMENTS.search(text):
        raise Unclear
    for line in (rest if first.startswith("#!") else text).replace("\\\n", " ").splitlines():
        plain = line.strip()
        if plain and not plain.startswith("#") and not _OWN_FOLDER.fullmatch(plain):
            yield _ARGUMENTS.sub(lambda _: shlex.join(arguments), plain)


def _of_lines(
    lines: Iterator[str] | Sequence[str], texts: Mapping[str, str], depth: int, source: str
) -> Translated | None:
    """What the lines of a script come to, where one of them runs the tests and the others are harmless."""
    translations: list[Translated] = []
    variables: dict[str, str] = {}
    for words in _commands(lines):
        if words[0] == "export" or all("=" in word for word in words):
            variables |= dict(word.split("=", 1) for word in words if "=" in word)
            continue
        one = _of_command(words, texts, depth)
        if one is not None:
            translations.append(one)
    if len(translations) != 1:
        raise Unclear
    [only] = translations
    return only.model_copy(
        update={"variables": {**variables, **only.variables}, "source": only.source or source}
    )


def _commands(lines: Iterator[str] | Sequence[str]) -> Iterator[list[str]]:
    for line in lines:
        try:
            lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;")
            lexer.whitespace_split = True
            words = list(lexer)
        except ValueError:
            raise Unclear from None
        begun: list[str] = []
        for word in (*words, ";"):
            if word not in ("&&", ";", "||", "|", "&"):
                begun.append(word)
                continue
            if begun:
                if not _is_harmless(begun) and (
                    word in ("|", "&") or _SHELL_SYNTAX.search(shlex.join(begun))
                ):
                    raise Unclear
                yield begun
            begun = []


def _of_command(words: Sequence[str], texts: Mapping[str, str], depth: int) -> Translated | None:
    """None: harmless."""
    rest, variables = bare(words)
    tests = tested(rest)
    if tests.runner:
        if any("$" in word for word in words):
            raise Unclear
        return _of_asked(_with_options_of_python(tests, rest), variables)
    if not rest or _is_harmless(rest):
        return None
    inner = _translated(tuple(rest), texts, depth + 1)
    if inner is None:
        raise Unclear
    return inner.model_copy(update={"variables": {**variables, **inner.variables}})


def _with_options_of_python(asked: Asked, words: Sequence[str]) -> Asked:
    """`python -W error -m pytest`: what is an error there is one here."""
    place = words.index("-m") if "-m" in words else 0
    is_python = re.fullmatch(r"python[\d.]*", posixpath.basename(words[0])) is not None
    if not (is_python and place > 1 and words[place + 1 : place + 2] == ["pytest"]):
        return asked
    command = ("python", *words[1:place], "-m", "pytest", *asked.command[1:])
    return asked.model_copy(update={"command": command})


def _is_harmless(words: Sequence[str]) -> bool:
    name = posixpath.basename(words[0])
    if re.fullmatch(r"python[\d.]*", name) and list(words[1:2]) == ["-m"] and len(words) > 2:
        name, words = words[2], words[2:]
    if name == "coverage":
        return words[1] in _REPORTS if len(words) > 1 else False
    if name in ("uv", "poetry", "pdm", "hatch"):
        return words[1] not in ("run", "test") if len(words) > 1 else False
    return name in _HARMLESS or (name == "cd" and list(words[1:]) in (["."], ["./"]))


def _of_tool(asked: Asked | None, environment: str, fits: Callable[[str, str], bool]) -> Translated | None:
    if asked is None or not asked.runner or (environment and not fits(environment, asked.source)):
        raise Unclear
    return _of_asked(asked, asked.variables).model_copy(update={"source": asked.source})


def _of_asked(asked: Asked, variables: Mapping[str, str]) -> Translated:
    command = asked.command or ("pytest",)
    return Translated(command=command, paths=asked.paths, variables={**asked.variables, **variables})


def _named(words: Sequence[str], options: Sequence[str]) -> str:
    """Which environment or session a command names; of several, all."""
    for place, word in enumerate(words):
        name, _, value = word.partition("=")
        if name in options:
            return value or (words[place + 1] if place + 1 < len(words) else "")
    return ""


def _is_environment_of_tests(environment: str, source: str) -> bool:
    """Environments that differ in their Python alone run the same."""
    return _names(environment, source) or re.fullmatch(r"py(?:thon)?[\d.]*", environment) is not None


def _names(environment: str, source: str) -> bool:
    plain = re.sub(r"-\d[\d.]*$", "", environment)
    return re.search(rf"(?<![\w-]){re.escape(plain)}(?![\w-])", source) is not None


def doctest_words(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """`python -m doctest` as options and files of pytest, which reports each; None: it is something else."""
    begin = next((place for place, word in enumerate(words) if word == "-m"), 0)
    if not begin or list(words[begin : begin + 2]) != ["-m", "doctest"]:
        return None
    options: list[str] = []
    files: list[str] = []
    waiting = list(words[begin + 2 :])
    flags: list[str] = []
    while waiting:
        word = waiting.pop(0)
        if word in ("-o", "--option") and waiting:
            flags.append(waiting.pop(0))
        elif not word.startswith("-"):
            files.append(word)
    names = sorted({posixpath.basename(file) for file in files if not file.endswith(".py")})
    options += ["--doctest-modules", *(f"--doctest-glob={name}" for name in names)]
    if flags:
        options += ["-o", f"doctest_optionflags={' '.join(flags)}"]
    return (*words[:begin], "-m", "pytest", *options), tuple(files)
