"""What is to be known of a language, as data; `gathering` is the one engine that reads it.

To add a language: write `languages/<name>.py` with a `LanguageSpec`, name it in `languages/registry.py`, add its grammar to `pyproject.toml`, and a
realistic file with what is expected of it to `tests/services/command/grammars/`. Node types are those of the grammar (`node-types.json` of its sources).

The query is a pattern file of tree-sitter whose captures are these:

| capture | what it marks |
|---|---|
| `@def.KIND` with `@name` | a definition; of two patterns for one node the earlier counts |
| `@owner` | beside `@name`: the type that a definition outside of it belongs to |
| `@scope` with `@name` | a stretch whose name goes into ids but which is no definition (`impl Cart`) |
| `@lead` | a comment, attribute or decorator: what stands right above a definition belongs to it |
| `@mark` | an attribute or decorator inside the definition it belongs to |
| `@call` | the name that is called |
| `@base` | a type that the definition around it extends |
| `@import` | a statement whose text `imports` takes apart |
| `@package` | the name of what the file is part of |
| `@exported` | a stretch whose definitions other files may use, or a name of one |
| `@access` | a word from which on members are public or private (`private:`) |
| `@doubt.WHY` | what leaves open which names there are; `WHY` is a key of `doubts` |
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from cogworks.grammars.resolving.tree import Resolving, unresolved

Names = tuple[str, str | None, str | None]
"""Module, name, alias."""


@dataclass(frozen=True)
class Visible:
    """What is known of a definition when it is asked whether other files may use it."""

    name: str
    kind: str
    header: str
    """The text from the beginning of the declaration to its body."""
    is_exported: bool
    access: str
    """The last access word before it in the same scope; empty: none."""
    around: str
    """The kind of the definition around it; empty: none."""


@dataclass(frozen=True, eq=False)
class LanguageSpec:
    """One language."""

    name: str
    suffixes: tuple[str, ...]
    grammar: str
    """`module:function` of the package that brings the grammar; it is loaded when the first such file is read."""
    query: str
    imports: Callable[[str], Iterable[Names]]
    """What an import statement takes."""
    is_public: Callable[[Visible], bool]
    resolving: Resolving = unresolved
    """To which files of the repository an import leads."""
    documentation: tuple[str, ...] = ("/**", "///")
    """How a comment begins that documents what stands below it."""
    test_files: tuple[str, ...] = ()
    """Patterns of paths that hold nothing but tests; `name/` is a folder at any depth."""
    test_marks: tuple[str, ...] = ()
    """What stands in or right above the header of a test."""
    test_names: str = ""
    """Expression for the names of functions that are tests in such a file; empty: names say nothing."""
    test_sign: str = ""
    """Expression for what the header of a test by name contains as well."""
    doubts: Mapping[str, str] = field(default_factory=dict)
    """Why -> in words for people."""
    is_exact: bool = True
    """Whether what the grammar cannot read is wrong for certain; not where macros may stand for anything."""
    gaps: str = ""
    """Expression for lines, or messages below them, that are right and that the grammar takes for mistakes; empty: none are known."""
    self_words: frozenset[str] = frozenset({"this", "self", "super"})
    """Receivers that mean the type around."""
    separator: str = "."
    """Between the parts of a qualified name as it is written."""
