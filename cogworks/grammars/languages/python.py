"""Python, as far as a grammar shows it; the service for Python knows more."""

import re
from collections.abc import Iterator

from cogworks.grammars.spec import LanguageSpec, Names, Visible

_FROM = re.compile(r"from\s+(?P<module>[.\w]+)\s+import\s+(?P<names>.+)", re.DOTALL)
_AS = re.compile(r"(?<!\s)\s+as\s+")


def imported(statement: str) -> Iterator[Names]:
    """What `import a.b as c` and `from .a import b, c` take."""
    plain = " ".join(statement.replace("\\\n", " ").replace("(", " ").replace(")", " ").split())
    if match := _FROM.match(plain):
        for part in filter(None, (each.strip() for each in match["names"].split(","))):
            name, *alias = _AS.split(part)
            yield match["module"], name, alias[0] if alias else None
        return
    for part in filter(None, (each.strip() for each in plain.removeprefix("import").split(","))):
        name, *alias = _AS.split(part)
        yield name, None, alias[0] if alias else None


def is_public(seen: Visible) -> bool:
    """Whether the name says so."""
    return not seen.name.startswith("_")


PYTHON = LanguageSpec(
    name="Python",
    suffixes=(".py", ".pyi"),
    grammar="tree_sitter_python:language",
    query="""
(comment) @lead
(decorator) @lead
(class_definition name: (_) @name) @def.class
(class_definition body: (block (function_definition name: (_) @name) @def.method))
(class_definition body: (block (decorated_definition definition: (function_definition name: (_) @name) @def.method)))
(function_definition name: (_) @name) @def.function
(module (expression_statement (assignment left: (identifier) @name) @def.variable))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @def.variable)))
(class_definition superclasses: (argument_list (_) @base))
(call function: (identifier) @call)
(call function: (attribute attribute: (identifier) @call))
[(import_statement) (import_from_statement)] @import
""",
    imports=imported,
    is_public=is_public,
    documentation=("#",),
    test_files=("test_*.py", "*_test.py", "tests/", "test/", "testing/"),
    test_names=r"test",
    self_words=frozenset({"self", "cls", "super"}),
)
