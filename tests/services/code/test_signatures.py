"""How public names may be used."""

import pytest

from cogworks.domain_services.exploring import Signature
from cogworks.services.python.operations import signatures_of
from tests.services.code.samples import code_of


def signed(text: str, path: str = "m.py") -> dict[str, Signature]:
    return {each.id: each for each in signatures_of(code_of({path: text})).signatures}


def test_a_function_says_everything_a_caller_may_rely_on() -> None:
    found = signed(
        "@cache(size = 3)\nasync def f(a, /, b: int, c=1, *rest: str, d, e='x', **more) -> list[ int ]: ...\n"
    )

    assert found == {
        "m.f": Signature(
            id="m.f",
            kind="function",
            artifact="m.py",
            line=2,
            is_async=True,
            decorators=("cache(size=3)",),
            positional_only=("a",),
            positional=("b", "c"),
            var_positional="rest",
            keyword_only=("d", "e"),
            var_keyword="more",
            with_default=("c", "e"),
            annotations={"b": "int", "rest": "str", "return": "list[int]"},
        )
    }


def test_the_ways_of_a_class_are_told_apart() -> None:
    found = signed("""\
        import functools
        class Cart(Base, metaclass=Meta):
            limit = 3
            def __init__(self, owner): ...
            def add(self): ...
            @staticmethod
            def check(): ...
            @classmethod
            def make(cls): ...
            def __new__(cls): ...
            def __class_getitem__(cls, item): ...
            @property
            def total(self): ...
            @total.setter
            def total(self, value): ...
            @functools.cached_property
            def slow(self): ...
            def _own(self): ...
            class Row:
                def price(self): ...
            class _Hidden:
                def open(self): ...
        """)

    assert {name: each.kind for name, each in found.items()} == {
        "m.Cart": "class",
        "m.Cart.__init__": "method",
        "m.Cart.add": "method",
        "m.Cart.check": "static_method",
        "m.Cart.make": "class_method",
        "m.Cart.__new__": "static_method",
        "m.Cart.__class_getitem__": "class_method",
        "m.Cart.total": "property",
        "m.Cart.total#2": "property",
        "m.Cart.slow": "property",
        "m.Cart.Row": "class",
        "m.Cart.Row.price": "method",
    }
    assert found["m.Cart"].bases == ("Base", "metaclass=Meta")
    assert found["m.Cart.total#2"].positional == ("self", "value")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(): ...\ndef _g(): ...", {"m.f"}),
        ("__all__ = ['_g']\ndef f(): ...\ndef _g(): ...\nclass _C:\n    def h(self): ...", {"m.f", "m._g"}),
        ("__all__ = ['_C']\nclass _C:\n    def h(self): ...", {"m._C", "m._C.h"}),
        ("def f():\n    def inner(): ...\n    class C: ...", {"m.f"}),
        ("if x:\n    def f(): ...\nelse:\n    def f(a): ...", {"m.f", "m.f#2"}),
        (
            "@overload\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\ndef f(a): ...",
            {"m.f", "m.f#2", "m.f#3"},
        ),
        ("def __getattr__(name): ...\nX = 1", set()),
    ],
    ids=["underscore", "listed", "listed-class", "inside-a-function", "conditional", "overloads", "no-names"],
)
def test_public_is_what_others_can_reach(text: str, names: set[str]) -> None:
    assert set(signed(text)) == names


@pytest.mark.parametrize(
    ("head", "positional", "keyword_only", "with_default"),
    [
        ("@dataclass\nclass C:", ("a", "b", "c"), (), ("b", "c")),
        ("@dataclasses.dataclass(frozen=True, kw_only=True)\nclass C:", (), ("a", "b", "c"), ("b", "c")),
        ("class C(NamedTuple):", ("a", "b", "c"), (), ("b", "c")),
        ("class C:", (), (), ()),
    ],
    ids=["dataclass", "keywords", "named-tuple", "plain"],
)
def test_the_fields_of_a_record_are_the_parameters_of_its_constructor(
    head: str, positional: tuple[str, ...], keyword_only: tuple[str, ...], with_default: tuple[str, ...]
) -> None:
    body = (
        "    a: int\n    b: str = ''\n    c: list = field(default_factory=list)\n    d: ClassVar[int] = 1\n"
    )

    found = signed(f"{head}\n{body}    e: int = field(init=False)\n")["m.C"]

    assert (found.positional, found.keyword_only, found.with_default) == (
        positional,
        keyword_only,
        with_default,
    )


def test_a_marker_makes_the_following_fields_keywords() -> None:
    text = "@dataclass\nclass C:\n    a: int\n    _: dataclasses.KW_ONLY\n    b: int\n    c: int = field(kw_only=False)\n"

    found = signed(text)["m.C"]

    assert (found.positional, found.keyword_only) == (("a", "c"), ("b",))


@pytest.mark.parametrize(
    "text",
    [
        "@cache( size=3 )\ndef f(a:  'int' ,b : Dict[str,\n    int]=1)->None:\n    return 2\n",
        '\n\n# why\n@cache(size=3)\ndef f(a: "int", b: Dict[str, int] = 99) -> None: ...\n',
    ],
)
def test_formatting_bodies_and_values_play_no_part(text: str) -> None:
    plain = signed("@cache(size=3)\ndef f(a: 'int', b: Dict[str, int] = 1) -> None: ...\n")["m.f"]

    assert signed(text)["m.f"].model_copy(update={"line": plain.line}) == plain


def test_a_star_in_an_annotation_stays_as_it_is() -> None:
    assert signed("def f(*args: *Ts): ...\n")["m.f"].annotations == {"args": "*Ts"}
