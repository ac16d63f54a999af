"""What the command lines of a repository's own tools say: what they install, and how they run its tests."""

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from packaging.requirements import InvalidRequirement, Requirement

from cogworks.services.python.recipe.result import Asked
from cogworks.services.python.recipe.scripts import script_of
from cogworks.services.python.recipe.texts import canonical

_PATH_OPTIONS = (
    "-c",
    "--config-file",
    "--ignore",
    "--ignore-glob",
    "--deselect",
    "--rootdir",
    "--confcutdir",
)
"""Of pytest: their value is a path."""
_PLACES_OF_UNITTEST = {"-s": "-s", "--start-directory": "-s", "-t": "-t", "--top-level-directory": "-t"}


def below(folder: str, path: str) -> str:
    """The path from the root of what stands in a folder."""
    return posixpath.normpath(posixpath.join(folder, path))


def from_root(asked: Asked, folder: str) -> Asked:
    """How the same tests run from the root.

    Args:
        folder: in which the command runs, from the root; empty or `.`: the root itself.
    """
    if posixpath.normpath(folder or ".") == ".":
        return asked
    if asked.script:
        asked = asked.model_copy(update={"script": below(folder, asked.script), "is_beside": True})
    if asked.runner == "pytest":
        paths = tuple(below(folder, path) for path in asked.paths) or (posixpath.normpath(folder),)
        return asked.model_copy(update={"paths": paths, "command": _pytest(asked.command, folder)})
    if asked.runner == "unittest":
        return asked.model_copy(update={"command": _unittest(asked.command, folder)})
    if asked.runner == "django":
        command = [
            below(folder, each) if posixpath.basename(each) == "manage.py" else each for each in asked.command
        ]
        return asked.model_copy(update={"command": tuple(command)})
    return asked


def _pytest(words: Sequence[str], folder: str) -> tuple[str, ...]:
    rebased: list[str] = []
    for before, word in zip(("", *words), words, strict=False):
        option, equals, value = word.partition("=")
        if before in _PATH_OPTIONS:
            rebased.append(below(folder, word))
        elif equals and option in _PATH_OPTIONS:
            rebased.append(f"{option}={below(folder, value)}")
        else:
            rebased.append(word)
    return tuple(rebased)


def _unittest(words: Sequence[str], folder: str) -> tuple[str, ...]:
    """Discovery begins in the folder; modules that are named are left as they are."""
    begin = words.index("unittest") + 1
    rest, options, places = list(words[begin:]), list[str](), dict[str, str]()
    if rest[:1] == ["discover"]:
        rest.pop(0)
    elif any(not word.startswith("-") for word in rest):
        return tuple(words)
    while rest:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if option in _PLACES_OF_UNITTEST and (equals or rest):
            places[_PLACES_OF_UNITTEST[option]] = below(folder, value if equals else rest.pop(0))
        elif not word.startswith("-") and not (options and options[-1] in ("-p", "-k", "--pattern")):
            places.setdefault("-s", below(folder, word))
        else:
            options.append(word)
    start = places.setdefault("-s", posixpath.normpath(folder))
    places.setdefault("-t", start)
    return (*words[:begin], "discover", *options, *(word for place in places.items() for word in place))


_TOOLS = frozenset(
    ["pip", "wheel", "uv", "tox", "tox-gh-actions", "tox-gh", "tox-uv", "nox", "hatch", "poetry", "pdm", "pipenv",
     "build", "twine", "virtualenv", "codecov", "coveralls", "pre-commit", "pipx", "hatchling", "invoke"]
)  # fmt: skip
"""What starts tests or publishes, and is nothing that tests need."""
USUAL_GROUPS = ("dev", "test", "tests")
"""What tools install without being asked to, where there is such a group."""
_WITHOUT_DEFAULTS = (
    "--no-dev",
    "--without",
    "--only",
    "--prod",
    "--production",
    "--no-default-groups",
    "--only-group",
    "--only-dev",
    "--no-sync",
)
_OWN = re.compile(r"(?:\./?|file:\.)?(?:\[(?P<extras>[^\]]*)\])?")
_VARIABLE = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_ENDS = ("&&", "||", ";", "|", "&")
_PIP_VALUES = ("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--timeout", "--progress-bar", "--upgrade-strategy",
               "--python", "--cache-dir", "--prefer-binary", "--resolution", "--no-binary", "--only-binary", "-p", "--target", "--config-settings", "-C")  # fmt: skip
_DROPPED = ("--cov", "--no-cov", "--junit", "--html", "--durations", "--color", "--tb", "--maxfail", "--numprocesses", "--dist", "--maxprocesses", "--codspeed",
            "--benchmark", "--basetemp", "--showlocals", "--verbose", "--quiet", "--exitfirst", "--cache-", "--last-failed", "--lf", "--ff", "--report", "--self-contained")  # fmt: skip
"""Options of pytest that change what is reported or how fast, not what a test comes to."""
_SHORT_DROPPED = re.compile(r"-(v+|q+|x|r\w*|l|n\d+|nauto|[vqx]+)")
_WITH_VALUES = ("-n", "-r", "--cov", "--cov-report", "--cov-config", "--tb", "--durations", "--maxfail", "--color", "--numprocesses", "--dist", "--junitxml", "--junit-xml", "--html", "--basetemp")  # fmt: skip
_KEPT_VALUES = ("-m", "-k", "-p", "-W", "-c", "-o", "--ignore", "--deselect", "--ignore-glob", "--rootdir", "--import-mode", "--timeout", "--ds", "--pythonwarnings",
                "--override-ini", "--doctest-glob", "--confcutdir", "--asyncio-mode")  # fmt: skip
_UV_RUN_VALUES = ("--python", "-p", "--with", "--extra", "--group", "--with-requirements", "--directory", "--project", "--env-file", "--resolution", "--only-group", "--no-group", "--with-editable", "--index-url")  # fmt: skip


_EXPRESSION = re.compile(r"\$\{\{[^\n]*?\}\}")
"""Of a workflow: its value is known while it runs, and its words are none of the command's."""


def lines_of(script: str) -> Iterator[list[str]]:
    """The commands of a shell script as words, as far as they are clear without running it."""
    for line in _EXPRESSION.sub("$", script).replace("\\\n", " ").splitlines():
        try:
            lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;")
            lexer.whitespace_split = True
            words = list(lexer)
        except ValueError:
            continue
        begun: list[str] = []
        for word in (*words, ";"):
            if word in _ENDS:
                if begun:
                    yield begun
                begun = []
            else:
                begun.append(word)


def bare(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """A command without what only sets variables before it, and these."""
    rest, variables = list(words), dict[str, str]()
    while rest and (
        rest[0] in ("env", "sudo", "time", "exec", "command", "-", "!") or _VARIABLE.fullmatch(rest[0])
    ):
        if "=" in rest[0]:
            name, _, value = rest[0].partition("=")
            variables[name] = value
        rest.pop(0)
    if rest and rest[0].startswith("-") and len(rest[0]) > 1:
        rest[0] = rest[0][1:]
    return rest, variables


def command_needs(words: Sequence[str], *, folder: str = "") -> Asked:
    """What one command says; nothing where it neither installs nor tests.

    Args:
        folder: in which it runs, from the root; what it names is taken from there.
    """
    rest, variables = bare(words)
    if not rest:
        return Asked()
    needs = _installed(rest, folder)
    tests = from_root(tested(rest), folder)
    # What only wraps another command, as `uv run` alone does, is none itself.
    other = shlex.join(_unwrapped(rest))
    if other and not (folder or needs.installs or tests.runner or tests.script):
        needs = needs.model_copy(update={"others": (other,)})
    return (needs.joined(tests) if tests.runner or tests.script else needs).model_copy(
        update={"variables": {**needs.variables, **(variables if tests.runner else {})}}
    )


def _installed(rest: list[str], folder: str) -> Asked:
    if rest[:2] == ["uv", "run"]:
        options = _until_command(rest[2:])
        return _of_tool("uv", options).joined(Asked(default_groups=_has_defaults(options)))
    if rest[:2] == ["uv", "pip"]:
        rest = rest[1:]
    name = posixpath.basename(rest[0])
    if re.fullmatch(r"python[\d.]*", name) and rest[1:3] == ["-m", "pip"]:
        rest, name = rest[2:], "pip"
    if re.fullmatch(r"pip[\d.]*", name) and rest[1:2] == ["install"]:
        return pip_needs(rest[2:], folder)
    if (name, *rest[1:2]) in (("uv", "sync"), ("poetry", "install"), ("pdm", "install"), ("pdm", "sync")):
        needs = _of_tool(name, rest[2:])
        if not _has_defaults(rest[2:]):
            return needs
        # These install the group for development without being asked to, and Poetry all that are not optional.
        if name == "uv":
            return needs.joined(Asked(default_groups=True))
        return needs.joined(Asked(groups=USUAL_GROUPS if name == "poetry" else USUAL_GROUPS[:1]))
    return Asked()


def _has_defaults(options: Sequence[str]) -> bool:
    """Whether a tool that installs installs what it does without being asked to."""
    return not any(word.partition("=")[0] in _WITHOUT_DEFAULTS for word in options)


def pip_needs(words: Sequence[str], folder: str = "") -> Asked:
    """What the arguments of `pip install` name."""
    needs = Asked()
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        option, _, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if re.fullmatch(r"-[rc].+", word):
            option, value = word[:2], word[2:]
        if option in ("-r", "--requirement", "-c", "--constraint", "--group", "-e", "--editable", "--extra"):
            value = value or (waiting.pop(0) if waiting else "")
            needs = needs.joined(_named_by(option, value, folder))
        elif option in _PIP_VALUES and not value:
            del waiting[:1]
        elif not word.startswith("-"):
            needs = needs.joined(_named_by("", word, folder))
    return needs


def _named_by(option: str, value: str, folder: str) -> Asked:
    if not value or "$" in value or "{" in value:
        return Asked()
    if option in ("-r", "--requirement"):
        return Asked(files=(below(folder, value),))
    if option in ("-c", "--constraint"):
        return Asked(files=(f"-c {below(folder, value)}",))
    if option == "--group":
        return Asked(groups=(canonical(value.rpartition(":")[2]),))
    if option == "--extra":
        return Asked(extras=(canonical(value),))
    if (own := _OWN.fullmatch(value)) is not None:
        return Asked(extras=_split(own["extras"] or ""))
    try:
        requirement = Requirement(value)
    except InvalidRequirement:
        return (
            Asked()
            if value.endswith((".whl", ".gz")) or "*" in value
            else Asked(notes=(f"{value!r} is a path or an address, and is not installed",))
        )
    if canonical(requirement.name) in _TOOLS:
        return Asked()
    return Asked(requirements=(value,))


def _split(text: str) -> tuple[str, ...]:
    return tuple(canonical(each) for each in re.split(r"[\s,]+", text) if each)


def _of_tool(tool: str, words: Sequence[str]) -> Asked:
    """The options of `uv sync`, `uv run`, `poetry install` and `pdm install`."""
    extras, groups, requirements = list[str](), list[str](), list[str]()
    flags = {"--all-extras": False, "--all-groups": False}
    waiting = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    while waiting:
        word = waiting.pop(0)
        if word in flags:
            flags[word] = True
            continue
        if word in ("--extra", "--extras", "-E"):
            extras += _split(waiting.pop(0) if waiting else "")
        elif word in ("--group", "-G", "--only-group", "--only"):
            groups += _split(waiting.pop(0) if waiting else "")
        elif word == "--with" and waiting:
            value = waiting.pop(0)
            if tool == "uv":
                requirements += [each for each in value.split(",") if canonical(each) not in _TOOLS]
            else:
                groups += _split(value)
    return Asked(
        extras=tuple(each for each in extras if "$" not in each),
        groups=tuple(each for each in groups if "$" not in each),
        requirements=tuple(each for each in requirements if "$" not in each and "{" not in each),
        every_extra=flags["--all-extras"],
        every_group=flags["--all-groups"],
    )


def _until_command(words: Sequence[str]) -> list[str]:
    """The options of `uv run` before the command that it runs."""
    options, waiting = list[str](), list(words)
    while waiting and waiting[0].startswith("-") and waiting[0] != "--":
        options.append(waiting.pop(0))
        if options[-1] in _UV_RUN_VALUES and waiting:
            options.append(waiting.pop(0))
    return options


def tested(words: Sequence[str]) -> Asked:
    """How a command runs tests; nothing where it runs none."""
    rest = _unwrapped(list(words))
    if not rest:
        return Asked()
    name = posixpath.basename(rest[0])
    if name in ("pytest", "py.test"):
        return pytest_run(rest[1:])
    if re.fullmatch(r"python[\d.]*", name):
        options = _interpreters(rest[1:])
        module = rest[1 + len(options) :]
        if module[:2] == ["-m", "pytest"]:
            return pytest_run(module[2:])
        if module[:2] in (["-m", "unittest"], ["-m", "doctest"]):
            return Asked(runner=module[1], command=("python", *options, *module))
        if module and posixpath.basename(module[0]) == "manage.py" and module[1:2] == ["test"]:
            return Asked(runner="django", command=("python", *options, *module))
        if module[:2] == ["setup.py", "test"]:
            return Asked(runner="pytest")
        return Asked(script=script_of(module))
    if name == "django-admin" and rest[1:2] == ["test"]:
        return Asked(runner="django", command=tuple(rest))
    return Asked()


def _interpreters(words: Sequence[str]) -> list[str]:
    """The options of Python itself that stand before `-m` or a script."""
    options, waiting = list[str](), list(words)
    while waiting and waiting[0].startswith("-") and waiting[0] != "-m":
        options.append(waiting.pop(0))
        if options[-1] in ("-X", "-W") and waiting:
            options.append(waiting.pop(0))
    return options


def _unwrapped(rest: list[str]) -> list[str]:
    """Without `uv run`, `poetry run`, `coverage run` and their kind."""
    while rest:
        if rest[:2] == ["uv", "run"]:
            rest = rest[2 + len(_until_command(rest[2:])) :]
            rest = rest[1:] if rest[:1] == ["--"] else rest
        elif rest[0] in ("poetry", "pdm", "pipenv", "rye") and rest[1:2] == ["run"]:
            rest = rest[2:]
        elif rest[0] in ("xvfb-run", "dbus-run-session", "--"):
            rest = [word for word in rest[1:] if word not in ("-a", "--auto-servernum")]
        elif (begun := _coverage_begins(rest)) is not None:
            options = rest[begun:]
            while options and options[0].startswith("-") and options[0] != "-m":
                options.pop(0)
            rest = ["python", *options]
        else:
            return rest
    return rest


def _coverage_begins(rest: list[str]) -> int | None:
    if rest[:2] == ["coverage", "run"]:
        return 2
    if re.fullmatch(r"python[\d.]*", rest[0]) and rest[1:4] == ["-m", "coverage", "run"]:
        return 4
    return None


def pytest_run(words: Sequence[str]) -> Asked:
    """The options of pytest that change what a test comes to, and apart from them what is run."""
    kept, paths, waiting = list[str](), list[str](), list(words)
    while waiting:
        word = waiting.pop(0)
        if "$" in word or "{" in word:
            continue
        if word.startswith("-"):
            name = word.split("=", 1)[0]
            valued = name == word and waiting and (not waiting[0].startswith("-"))
            value = [waiting.pop(0)] if valued and name in (*_WITH_VALUES, *_KEPT_VALUES) else []
            if not _is_dropped(name) and not any("$" in each for each in value):
                kept += [word, *value]
        else:
            paths.append(posixpath.normpath(word))
    command = ("pytest", *kept) if kept else ()
    return Asked(runner="pytest", command=command, paths=tuple(path for path in paths if path != "."))


def _is_dropped(name: str) -> bool:
    return (
        name.startswith(_DROPPED)
        or name in ("-n", "-r", "--", "-s")
        or _SHORT_DROPPED.fullmatch(name) is not None
    )


def script_needs(script: str, *, folder: str = "", variables: Mapping[str, str] | None = None) -> Asked:
    """What all commands of a script say together."""
    needs = Asked(variables=dict(variables or {}))
    for words in lines_of(script):
        needs = needs.joined(command_needs(words, folder=folder))
    return needs
