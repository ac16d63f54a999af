"""The languages of the bundled service of commands: their files, the manifests that show them, and their programs."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import NamedTuple


class Language(NamedTuple):
    """How a language is recognised."""

    patterns: tuple[str, ...]
    """Of its files."""
    marks: Mapping[str, tuple[str, ...]]
    """Of names at the root of what is written in it -> the programs that such a manifest asks for."""


_MAVEN, _GRADLE, _DOTNET = ("mvn", "java"), ("java",), ("dotnet",)
LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {
        "go": Language(("*.go",), {"go.mod": ("go",)}),
        "rust": Language(("*.rs",), {"Cargo.toml": ("cargo", "rustc")}),
        "typescript": Language(
            ("*.ts", "*.tsx", "*.mts", "*.cts", "*.js", "*.jsx", "*.mjs", "*.cjs"),
            {"package.json": ("node",)},
        ),
        "java": Language(
            ("*.java", "*.kt"), {"pom.xml": _MAVEN, "build.gradle": _GRADLE, "build.gradle.kts": _GRADLE}
        ),
        "csharp": Language(("*.cs",), {"*.sln": _DOTNET, "*.csproj": _DOTNET}),
        "ruby": Language(
            ("*.rb", "*.rake"), {"Gemfile": ("ruby",), "*.gemspec": ("ruby",), "Rakefile": ("ruby",)}
        ),
        "php": Language(("*.php", "*.phtml"), {"composer.json": ("php",)}),
        "c": Language(
            (
                "*.c",
                "*.h",
                "*.cc",
                "*.cpp",
                "*.cxx",
                "*.c++",
                "*.hpp",
                "*.hh",
                "*.hxx",
                "*.ipp",
                "*.tpp",
                "*.inl",
            ),
            {"CMakeLists.txt": ("cmake", "ctest"), "Makefile": ("make",)},
        ),
    }
)
"""By the name that `language` takes; in the order in which the root of a repository is looked at."""
REPORTS = (
    "junit", "tap", "go-json", "cargo", "libtest-json", "node-test", "jest-json", "vitest-json", "trx", "exit-code",
)  # fmt: skip
"""What a test command may write; `exit-code`: nothing that separates one test from another."""
_PYTHON_MARKS = ("*.py", "pyproject.toml", "setup.cfg", "requirements*.txt", "tox.ini", "Pipfile")
_WEAK_MARKS = {
    "Makefile": ("*.c", "*.cc", "*.cpp", "*.h", "configure*"),
    "Rakefile": ("*.rb", "*.gemspec", "lib"),
}
"""What a repository in any language may have -> what has to lie beside it to show its language."""


def languages_at(names: Sequence[str]) -> tuple[str, ...]:
    """The languages that the names at a root show, the likeliest first."""
    return tuple(
        name
        for name, language in LANGUAGES.items()
        if any(fnmatchcase(each, mark) for mark in language.marks for each in names)
    )


def programs_for(names: Sequence[str], language: str = "") -> tuple[str, ...]:
    """The programs that the likeliest manifest at a root asks for; none: nothing there asks for one."""
    for each in [language] if language else languages_at(names):
        for mark, programs in LANGUAGES[each].marks.items():
            if any(fnmatchcase(name, mark) for name in names):
                return programs
    return ()


def patterns_of(language: str = "") -> tuple[str, ...]:
    """The files of a language; of all where none is named."""
    chosen = [LANGUAGES[language]] if language in LANGUAGES else LANGUAGES.values()
    return tuple(pattern for each in chosen for pattern in each.patterns)


def languages_shown_by(names: Sequence[str]) -> tuple[bool, bool]:
    """Whether the names at a root show Python, and whether a language of the service of commands."""
    python = any(fnmatchcase(name, mark) for mark in _PYTHON_MARKS for name in names)
    marks = [
        name
        for name in names
        if name not in _WEAK_MARKS
        or (not python and any(fnmatchcase(each, beside) for beside in _WEAK_MARKS[name] for each in names))
    ]
    return python, bool(languages_at(marks))
