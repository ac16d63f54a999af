"""What is read off one file."""

import ast
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.services.python.code.facts import (
    LITERAL,
    MODULE,
    OWN_CLASS,
    OWN_INSTANCE,
    Binding,
    Call,
    FileFacts,
    Imported,
    Unreadable,
)
from cogworks.services.python.code.gathering import MAX_BYTES, gather
from tests.exhaustive import examples
from tests.services.code.samples import facts_of

LIBRARY = Path(sysconfig.get_path("stdlib"))
MODULES = sorted(path for path in LIBRARY.glob("*.py")) + sorted(LIBRARY.glob("*/*.py"))


def library(count: int) -> list[Path]:
    """So many modules of the standard library, small and large, of many packages."""
    own = [path for path in MODULES if not {"site-packages", "test", "lib2to3"} & set(path.parts)]
    return own[:: max(1, len(own) // count)][:count]


def test_definitions_stand_with_decorators_and_scopes() -> None:
    facts = facts_of("""\
        import functools

        @functools.cache
        async def fetch(url, *, retries=3):
            def once():
                return url
            return once()

        class Cart(Base, metaclass=Meta):
            limit: int = 3

            @property
            def total(self):
                return 0

            @total.setter
            def total(self, value):
                pass
        """)

    assert [
        (each.name, each.ordinal, each.kind, each.lines, each.line, each.parent) for each in facts.definitions
    ] == [
        ("fetch", 1, "function", (3, 7), 4, MODULE),
        ("Cart", 1, "class", (9, 18), 9, MODULE),
        ("once", 1, "function", (5, 6), 5, 0),
        ("limit", 1, "variable", (10, 10), 10, 1),
        ("total", 1, "method", (12, 14), 13, 1),
        ("total", 2, "method", (16, 18), 17, 1),
    ]
    assert facts.definitions[0].is_async
    assert facts.definitions[0].decorators == ("functools.cache",)
    assert facts.definitions[1].bases == ("Base", "metaclass=Meta")
    assert facts.line_count == 18


def test_a_name_is_one_definition_however_often_it_is_assigned() -> None:
    facts = facts_of("x, (y, *z) = 1, 2\nx = 3\ndef f(): ...\nf = cache(f)\nfor i in z: x = i\n")

    assert [(each.name, each.kind, each.line) for each in facts.definitions] == [
        ("x", "variable", 1),
        ("y", "variable", 1),
        ("z", "variable", 1),
        ("f", "function", 3),
    ]


def test_calls_are_kept_with_what_stands_before_the_dot() -> None:
    facts = facts_of("""\
        run()
        def work(cart, rows):
            cart.items.add(make().price)
            rows[0].clear()
            ", ".join(rows)
            (yield).send()
            (lambda: 0)()
        """)

    assert facts.calls == (
        Call(1, MODULE, "run", None),
        Call(3, 0, "add", "cart.items"),
        Call(3, 0, "make", None),
        Call(4, 0, "clear", "rows[]"),
        Call(5, 0, "join", LITERAL),
        Call(6, 0, "send", ""),
    )


def test_decorators_and_defaults_are_called_where_the_definition_stands() -> None:
    facts = facts_of("@outer()\ndef work(start=now(), *, end: late() = later()) -> kind():\n    inner()\n")

    assert [(call.name, call.scope) for call in facts.calls] == [
        ("outer", MODULE),
        ("now", MODULE),
        ("late", MODULE),
        ("later", MODULE),
        ("kind", MODULE),
        ("inner", 0),
    ]


def test_imports_are_kept_as_they_are_written() -> None:
    facts = facts_of("import a.b as c, d.e\ndef f():\n    from ..g import h as i, j\nfrom . import *\n")

    assert facts.imports == (
        Imported(1, MODULE, 0, "a.b", None, "c"),
        Imported(1, MODULE, 0, "d.e", None, None),
        Imported(3, 0, 2, "g", "h", "i"),
        Imported(3, 0, 2, "g", "j", None),
        Imported(4, MODULE, 1, "", "*", None),
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = Cart()", {("x", "Cart()")}),
        ("x = y = other.Cart", {("x", "other.Cart"), ("y", "other.Cart")}),
        ("x: Cart | None = None", {("x", "Cart()")}),
        ("x: 'shop.Cart'", {("x", "shop.Cart()")}),
        ("x: Optional[Cart] = find()", {("x", "Cart()")}),
        ("x: type[Cart]", {("x", "Cart")}),
        ("x: list[Cart] = make()", {("x", "make()")}),
        ("for x in y: pass", {("x", "")}),
        ("a, *b = y", {("a", ""), ("b", "")}),
        ("with open_cart() as x: pass", {("x", "open_cart()")}),
        ("if (x := Cart()): pass", {("x", "Cart()")}),
        ("try: pass\nexcept E as x: pass", {("x", "")}),
        ("self.cart = Cart()", {("self.cart", "Cart()")}),
        ("x = [1]", {("x", LITERAL)}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_binding_knows_what_its_name_stands_for(body: str, expected: set[tuple[str, str]]) -> None:
    bindings = facts_of(body).bindings

    assert {(each.target, each.value) for each in bindings} == expected


def test_the_first_parameter_of_a_method_is_its_object_or_class() -> None:
    facts = facts_of("""\
        class Cart:
            def add(self, other: Cart, *rest): ...
            @classmethod
            def make(cls): ...
            @staticmethod
            def check(cart): ...
            def __new__(cls): ...
        """)

    assert facts.bindings == (
        Binding(1, "self", OWN_INSTANCE),
        Binding(1, "other", "Cart()"),
        Binding(1, "rest", LITERAL),
        Binding(2, "cls", OWN_CLASS),
        Binding(3, "cart", ""),
        Binding(4, "cls", OWN_CLASS),
    )


def test_global_names_are_bound_in_the_module() -> None:
    facts = facts_of(
        "def f():\n    global cart\n    cart = Cart()\n    def g():\n        nonlocal x\n        x = 1\n"
    )

    assert facts.bindings == (Binding(MODULE, "cart", "Cart()"),)


@pytest.mark.parametrize(
    ("text", "names", "is_whole"),
    [
        ("x = 1", None, True),
        ("__all__ = ['a', 'b']", ("a", "b"), True),
        ("__all__ = ('a',)\n__all__ += ['b']", ("a", "b"), True),
        ("__all__ = ['a'] + other.__all__", (), False),
        ("__all__ = ['a', b]", ("a",), False),
        ("__all__ = ['a']\n__all__.extend(other)", ("a",), False),
    ],
    ids=["none", "list", "added", "computed", "partly", "extended"],
)
def test_all_is_read_as_far_as_it_is_written_down(
    text: str, names: tuple[str, ...] | None, is_whole: bool
) -> None:
    facts = facts_of(text)

    assert (facts.exported, facts.is_exported_whole) == (names, is_whole)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"def total(:\n", "invalid syntax (line 1)"),
        (
            b"x = '\xe4'\n",
            "(unicode error) 'utf-8' codec can't decode byte 0xe4 in position 0: unexpected end of data",
        ),
        (b"x = 1\0", "source code string cannot contain null bytes"),
        (b"# coding: klingon\n", "unknown encoding: klingon"),
        (b"x" * (MAX_BYTES + 1), f"is longer than {MAX_BYTES} bytes"),
    ],
    ids=["syntax", "not-utf-8", "null", "encoding", "huge"],
)
def test_a_file_that_cannot_be_read_says_why(data: bytes, reason: str) -> None:
    facts = gather(data)

    assert isinstance(facts, Unreadable)
    assert facts.reason.startswith(reason.split(" (", maxsplit=1)[0])


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000,
        "-" * 100_000 + "1",
        "f" + ".a" * 50_000,
        "f" + "()" * 20_000,
        "1" + "+1" * 50_000,
        "[" * 90 + "]" * 90,
    ],
    ids=["parentheses", "signs", "attributes", "calls", "sums", "lists"],
)
def test_nesting_without_end_does_no_harm(text: str) -> None:
    assert isinstance(gather(text.encode()), FileFacts | Unreadable)


def test_text_is_cut_out_by_columns_of_any_encoding() -> None:
    text = "# coding: latin-1\ndef grüße(ä: 'Ä' = 1, b: Größe[int,\n    str] = 2): ...\n"

    facts = gather(text.encode("latin-1"))

    assert isinstance(facts, FileFacts)
    parameters = facts.definitions[0].parameters
    assert parameters.annotations == (("ä", "'Ä'"), ("b", "Größe[int,\n    str]"))
    assert isinstance(gather(b"#\x80\nx = 1\n"), FileFacts)
    assert gather(b"\xef\xbb\xbf" + b"def f(a: int): ...") == gather(b"def f(a: int): ...")


def reference(tree: ast.Module) -> tuple[Counter[object], Counter[object], Counter[object]]:
    """Definitions, calls and imports by a plain walk, written apart from the reader it judges."""
    definitions: Counter[object] = Counter()
    calls: Counter[object] = Counter()
    imports: Counter[object] = Counter()

    def visit(node: ast.AST, around: str, inside: bool) -> None:
        name = around
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            kind = "class" if isinstance(node, ast.ClassDef) else "method" if inside else "function"
            definitions[(f"{around}.{node.name}", kind, node.lineno, node.end_lineno)] += 1
            name = f"{around}.{node.name}"
            for child in ast.iter_child_nodes(node):
                is_body = any(child is each for each in node.body)
                visit(child, name if is_body else around, is_body and isinstance(node, ast.ClassDef))
            return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            calls[(called, around, node.lineno)] += 1
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                module = alias.name if isinstance(node, ast.Import) else node.module or ""
                taken = None if isinstance(node, ast.Import) else alias.name
                imports[(node.lineno, module, taken, alias.asname)] += 1
        for child in ast.iter_child_nodes(node):
            visit(child, name, inside)

    visit(tree, "", False)
    return definitions, calls, imports


def gathered(facts: FileFacts) -> tuple[Counter[object], Counter[object], Counter[object]]:
    """The same of the reader's facts."""
    names = list(_names(facts))
    definitions = Counter(
        (name, each.kind, each.line, each.lines[1])
        for name, each in zip(names, facts.definitions, strict=True)
        if each.kind != "variable"
    )
    calls = Counter(
        (call.name, "" if call.scope == MODULE else names[call.scope], call.line) for call in facts.calls
    )
    imports = Counter((each.line, each.module, each.name, each.alias) for each in facts.imports)
    return Counter(definitions), Counter(calls), Counter(imports)


def _names(facts: FileFacts) -> Iterator[str]:
    names: list[str] = []
    for each in facts.definitions:
        names.append(f"{'' if each.parent == MODULE else names[each.parent]}.{each.name}")
        yield names[-1]


@pytest.mark.parametrize("count", [12, pytest.param(220, marks=pytest.mark.slow)])
def test_the_facts_of_library_modules_equal_those_of_a_plain_walk(count: int) -> None:
    modules = library(count)
    assert len(modules) == count

    for path in modules:
        data = path.read_bytes()
        facts = gather(data)
        assert isinstance(facts, FileFacts), path
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
        assert gathered(facts) == reference(tree), path


SEEDS = [path.read_bytes() for path in library(40) if path.stat().st_size < 6000][:12]


@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_no_text_breaks_the_reader(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(SEEDS))
    lines = text.splitlines(keepends=True)
    kept = data.draw(st.lists(st.sampled_from(range(len(lines) or 1)), max_size=40)) if lines else []
    start = data.draw(st.integers(0, len(text)))
    scraps = [
        text[:start] + data.draw(st.binary(max_size=8)) + text[start:],
        b"".join(lines[each] for each in kept),
        b"".join(lines[min(kept, default=0) : max(kept, default=0)]),
    ]

    for scrap in scraps:
        assert isinstance(gather(scrap), FileFacts | Unreadable)
