"""What of its own file is shown beside a definition that the request names."""

import pytest

from cogworks.sight.called import called_by, used_by_test, users_of
from cogworks.sight.cards import card_of
from cogworks.sight.question import About
from tests.sight.test_excerpts import filler, part_of, shown_lines

SPLIT = (
    "def _split_parts(value):\n"
    + "".join(f"    part_{n} = value[{n}:]\n" for n in range(60))
    + "    return part_1\n"
)
ALIKE = "\n\n".join(
    f'def query_path_{n}(url):\n    """A url with a query and a path, in a scheme that is special.\n\n'
    + f"    >>> query_path_{n}('https://example.com?a=b')\n" * 12
    + '    """\n    return url\n'
    for n in range(12)
)
URLS = (
    f"{filler(40)}\n\n{SPLIT}\n\n{ALIKE}\n\n"
    'def safe_url(url):\n    """See _joined(url)."""\n    return "".join(_split_parts(url))\n\n\n'
    f"def _joined(parts):\n    return sum(parts)\n\n\n{filler(40, 40)}"
)
SAFE = About(
    title="safe_url() keeps a url without a path",
    text="A url of a special scheme that has a query and no path stays as it is.",
)


def test_what_a_named_function_calls_in_its_file_comes_before_what_only_shares_words() -> None:
    shown = [*shown_lines(part_of("src/urls.py", URLS, SAFE, room_tokens=2_600)).values()]

    assert '    return "".join(_split_parts(url))' in shown
    assert [line for line in SPLIT.splitlines() if line in shown] == SPLIT.splitlines()


DEEP = URLS.replace("    return part_1\n", "    return _first_of(part_1)\n") + (
    "\n\ndef _first_of(parts):\n    return _deeper(parts)[0]\n\n\ndef _deeper(parts):\n    return [*parts]\n"
)


def test_what_the_called_functions_call_themselves_comes_next_and_no_further() -> None:
    shown = [*shown_lines(part_of("src/urls.py", DEEP, SAFE, room_tokens=2_600)).values()]

    assert [line for line in SPLIT.splitlines()[:-1] if line in shown] == SPLIT.splitlines()[:-1]
    assert "    return _deeper(parts)[0]" in shown
    assert "    return [*parts]" not in shown


def test_what_the_documentation_of_a_function_says_is_no_call() -> None:
    shown = shown_lines(part_of("src/urls.py", URLS, SAFE, room_tokens=2_600)).values()

    assert "    return sum(parts)" not in shown


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "a.py",
            "def own():\n    first()\n    x.other()\n\ndef other(): ...\n\ndef first(): ...\n",
            ["first"],
        ),
        (
            "a.py",
            "class A:\n    def own(self):\n        self.close(x.total())\n\n    def total(self): ...\n\n    def close(self): ...\n",
            ["close"],
        ),
        (
            "a.ts",
            "function own() { return late(a<b>(1)); }\nfunction late(a: string): void;\nfunction late(a: any) {\n  return a;\n}\n",
            ["late"],
        ),
        (
            "a.go",
            "package a\n\nfunc (c *Call) own() { c.send(); d.stop() }\n\nfunc (c *Call) send() {}\n\nfunc (c *Call) stop() {}\n",
            ["send"],
        ),
        ("a.rs", "fn own() { Self::made(); helper::<u8>(1) }\n\nfn helper<T>(a: T) {}\n", ["helper"]),
        ("a.py", "def own():\n    own()\n    return [made for made in x]\n\ndef made(): ...\n", []),
    ],
    ids=["functions", "methods of the object", "overloads", "receiver", "type arguments", "itself and names"],
)
def test_calls_of_the_same_file_are_told_from_others(path: str, text: str, expected: list[str]) -> None:
    definitions = card_of(path, text).definitions
    [own] = [place for place, each in enumerate(definitions) if each.name == "own"]
    code = "\n".join(text.splitlines()[definitions[own].first - 1 : definitions[own].last])

    found = called_by(own, definitions, code)

    assert [definitions[place].name for place in found] == expected
    assert all(definitions[place].last - definitions[place].first >= 2 for place in found if path == "a.ts")
    assert called_by(own, definitions, code, but=found) == []


MANY = (
    "def to_iri(url):\n    return decode_host(url), decode_user(url), decode_path(url), decode_name(url), decode_query_value(url)\n\n\n"
    + "\n\n".join(
        f"def decode_{name}(url):\n    return [{name!r} for _ in url]\n"
        for name in ("host", "user", "path", "name", "query_value")
    )
)


def test_of_many_functions_that_are_called_those_the_request_is_about_come_first() -> None:
    about = About(title="to_iri() changes a plus in the value of a query", text="`to_iri` decodes it.")

    found = part_of("src/urls.py", f"{filler(60)}\n\n{MANY}\n\n{filler(60, 60)}", about, room_tokens=1_200)

    said = "\n".join(shown_lines(found).values())
    assert "return ['query_value' for _ in url]" in said
    assert said.count("for _ in url]") == 4


MAPS = (
    "PLUS_MAP = made('+')\nOTHER_MAP = made('-')\n\n\n"
    f"{filler(60)}\n\n"
    "def decoded_value(text):\n    return decoded(text, PLUS_MAP)\n\n\n"
    f"def decoded_name(text):\n    return decoded(text, OTHER_MAP)\n\n\n{filler(60, 60)}"
)


@pytest.mark.parametrize(
    ("touched", "expected"), [({"src/maps.py": (1,)}, "PLUS_MAP"), ({"src/maps.py": (2,)}, "OTHER_MAP")]
)
def test_whoever_uses_a_constant_that_was_changed_is_shown_beside_it(
    touched: dict[str, tuple[int, ...]], expected: str
) -> None:
    found = part_of("src/maps.py", MAPS, About(title="Keep it", text="", touched=touched), room_tokens=1_200)

    said = "\n".join(shown_lines(found).values())
    users = [name for name in ("PLUS_MAP", "OTHER_MAP") if f"return decoded(text, {name})" in said]
    assert users == [expected]


def test_what_uses_a_value_is_told_by_whole_words_and_limited() -> None:
    text = "MAP = 1\nMAP_2 = MAP\n\n" + "\n".join(f"def use_{n}():\n    return MAP\n" for n in range(6))
    text += "\ndef other():\n    return MAP_2\n"
    definitions = card_of("a.py", text).definitions
    lines = text.splitlines()
    texts = ["\n".join(lines[each.first - 1 : each.last]) for each in definitions]
    scores = [9.0 if each.name == "use_5" else 1.0 for each in definitions]

    found = users_of(0, definitions, texts, scores=scores)

    assert [definitions[place].name for place in found] == ["use_5", "use_0", "use_1", "use_2"]
    assert [definitions[each].name for each in users_of(0, definitions, texts, but=found)] == [
        "use_3",
        "use_4",
    ]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "test_a.py",
            (
                "class TestOther:\n    def prepare(self): ...\n\nclass TestOwn:\n    def prepare(self): ...\n\n"
                "    def test_own(self):\n        self.prepare()\n        helper()\n\ndef helper(): ...\n"
            ),
            ["TestOwn.prepare", "helper"],
        ),
        (
            "a.test.js",
            (
                "describe('a', () => {\n  function build() {}\n  describe('b', () => {\n    function other() {}\n"
                "    it('test_own', () => { build(); other(); });\n  });\n});\n"
            ),
            ["a.build", "b.other"],
        ),
    ],
)
def test_a_test_is_shown_with_helpers_of_its_own_class_and_of_those_around_it(
    path: str, text: str, expected: list[str]
) -> None:
    card = card_of(path, text)
    names = [each.name for each in card.definitions]
    place = next(place for place, name in enumerate(names) if "test_own" in name)
    own = card.definitions[place]
    lines = text.splitlines()[own.first - 1 : own.last]

    places = used_by_test(place, card.definitions, "\n".join(lines))

    def full(at: int) -> str:
        parent = card.definitions[at].parent
        return f"{names[parent]}.{names[at]}" if parent >= 0 else names[at]

    assert [full(at) for at in places] == expected
