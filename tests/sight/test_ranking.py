"""Which files a request is about."""

import pytest

from cogworks.codebase.treefacts import PastCommit
from cogworks.sight.index import Index
from cogworks.sight.question import About
from cogworks.sight.ranking import CERTAIN, rank, subject_of
from tests.sight.trees import SHOP, MemoryTree, index_of


def order(about: About, *history: PastCommit, files: dict[str, str] | None = None) -> list[str]:
    return [each.path for each in rank(index_of({**SHOP, **(files or {})}, *history), about)]


def test_words_of_the_request_lead_to_the_file_that_holds_them() -> None:
    assert order(About(title="Prices are rounded wrongly"))[0] == "src/shop/pricing.py"


def test_a_definition_that_is_named_leads_to_its_file() -> None:
    assert order(About(text="`Cart` forgets its rows"))[0] == "src/shop/cart.py"


@pytest.mark.parametrize(
    ("folder", "is_first"), [("docs_src", True), ("examples", True), ("Demos", True), ("lib/examples", False)]
)
def test_code_that_shows_how_something_is_used_comes_after_the_code_that_does_it(
    folder: str, *, is_first: bool
) -> None:
    files = {
        f"{folder}/late_parcel.py": "from shop.posting import Post\n\nPost('late parcel')  # A parcel that is late.\n",
        "src/shop/posting.py": "class Post:\n    def __init__(self, parcel):\n        self.parcel = parcel\n",
    }

    first, *_ = order(About(title="Wrong parcel"), files=files)

    assert (first == "src/shop/posting.py") is is_first


@pytest.mark.parametrize(("title", "is_first"), [("Benchmark a parcel", True), ("Wrong parcel", False)])
def test_code_that_measures_comes_first_where_the_title_is_about_it(title: str, *, is_first: bool) -> None:
    files = {
        "bench/run.py": "def run():\n    return [send(parcel) for _ in range(9)]  # A parcel.\n",
        "src/shop/post.py": "def send():\n    return 1  # The parcel.\n",
    }

    first, *_ = order(About(title=title), files=files)

    assert (first == "bench/run.py") is is_first


def test_a_path_that_is_named_comes_first() -> None:
    assert (
        order(About(title="Prices are rounded wrongly", text="I changed src/shop/mail.py"))[0]
        == "src/shop/mail.py"
    )


@pytest.mark.parametrize(("others", "is_first"), [(2, True), (9, False)])
def test_a_name_that_many_files_have_stands_for_none_of_them(others: int, *, is_first: bool) -> None:
    files = {
        **{f"demo{number}/main.py": "run()\n" for number in range(others)},
        "src/shop/prices.py": "def rounded(row):\n    return row  # A price.\n",
    }

    first = order(About(title="Wrong price", text="```\npython main.py\n```"), files=files)[0]

    assert first.endswith("/main.py") is is_first


@pytest.mark.parametrize(
    ("said", "is_first"),
    [
        ("TypeError: Cannot read 'key' of null in `render_slot`.", True),
        ("`ValueError: wrong` is raised by `render_slot()`", True),
        ("It is used in `render_slot`.", False),
    ],
)
def test_the_function_that_an_error_comes_from_leads_to_its_file(said: str, *, is_first: bool) -> None:
    files = {
        "src/setup.py": "def define_props(value):\n    return value  # value value setup slot foo fallback template\n",
        "src/slots.py": "def render_slot(slot):\n    return slot\n",
    }
    block = "```\nsetup\ndefine_props(['value'])\nslot foo fallback template\n```"

    first = order(About(title="A value of the slot crashes", text=f"{block}\n\n{said}"), files=files)[0]

    assert (first == "src/slots.py") is is_first


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("lib/rules/one-var.js", "Report `one-var` in other functions"),
        ("lib/neighbor_degree.py", "Wrong neighbor degree in other functions"),
    ],
)
def test_a_file_whose_name_is_said_comes_before_one_that_says_the_words_more_often(
    path: str, said: str
) -> None:
    words = "one var wrong neighbor degree of reactors in other functions"
    files = {path: "function check() {}\n", "lib/render.py": f"def render():\n    pass  # {words}\n" * 9}

    assert order(About(title=said), files=files)[0] == path


def test_of_the_folder_of_a_new_file_one_is_a_sample_of_what_it_looks_like() -> None:
    files = {f"src/shop/rules/rule_{name}.py": f"NAME = '{name}'\n" for name in ("cash", "card", "gift")}
    about = About(title="Pay by gift", wanted=("src/shop/mail.py", "src/shop/rules/rule_token.py"))

    found = rank(index_of({**SHOP, **files}), about)

    assert [(each.path, each.reasons[0]) for each in found[:2]] == [
        ("src/shop/mail.py", "asked for"),
        ("src/shop/rules/rule_gift.py", "a sample of the folder of a new file"),
    ]
    assert "a sample" not in " ".join(reason for each in found[2:] for reason in each.reasons)


def test_a_new_file_of_another_sort_or_without_neighbours_has_no_sample() -> None:
    about = About(title="Pay", wanted=("src/shop/pay.sql", "src/new/pay.py", "pay.py"))

    assert not [each for each in rank(index_of(SHOP), about) if each.score >= CERTAIN]


def test_a_frame_of_another_machine_is_recognised() -> None:
    text = 'Traceback:\n  File "/home/me/site-packages/shop/mail.py", line 3, in send\n'

    assert order(About(title="Cannot buy", text=text))[0] == "src/shop/mail.py"


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("src/shop/audit.py", 'raise ValueError(f"no parcel for {order!r} left in store")'),
        ("src/shop/audit.py", "raise ValueError('no parcel for %s left in %s' % (order, place))"),
        ("tests/test_audit.py", '@pytest.mark.xfail(reason="no parcel for a cat left in store")'),
    ],
)
def test_a_message_that_is_quoted_leads_to_the_file_that_writes_it(path: str, line: str) -> None:
    said = "a parcel is left in the store for an order, no more"
    noise = {
        f"src/shop/depot{number}.py": f"def close{number}(order, store):\n    '''{said}'''\n"
        for number in range(4)
    }
    about = About(
        title="Ordering fails", text="It ends with `ValueError: no parcel for a cat left in store`."
    )
    files = {**noise, path: f"{line}\n" + "filler = 1\n" * 40}

    first, *_ = rank(index_of({**SHOP, **files}), about)

    assert first.path == path
    assert "writes a message that is quoted" in first.reasons


def test_a_message_that_many_files_write_leads_nowhere() -> None:
    line = 'raise ValueError("no parcel for a cat left in store")\n'
    about = About(
        title="Ordering fails", text="It ends with `ValueError: no parcel for a cat left in store`."
    )

    ranked = rank(index_of({**SHOP, **{f"src/shop/audit{number}.py": line for number in range(5)}}), about)

    assert not any("writes a message that is quoted" in each.reasons for each in ranked)


def test_what_is_asked_for_comes_before_everything_else_in_the_order_given() -> None:
    about = About(title="Prices", wanted=("src/shop/mail.py", "shop.cart"))

    assert order(about)[:2] == ["src/shop/mail.py", "src/shop/cart.py"]


def test_files_that_changed_for_such_reasons_before_are_likelier() -> None:
    commits = [PastCommit("Deliver receipts by post instead", ("src/shop/mail.py",))] * 3

    assert order(About(title="Receipts come twice"), *commits)[0] == "src/shop/mail.py"


def test_a_word_that_every_message_says_leads_nowhere() -> None:
    files = {"src/shop/adds.py": "# support support\n", "src/shop/wraps.py": "# parcel parcel\n"}
    about = About(title="Support parcels")
    commits = [PastCommit(f"Support {number}", ("README.md",)) for number in range(30)]

    assert order(about, files=files)[0] == "src/shop/adds.py"
    assert order(about, *commits, files=files)[0] == "src/shop/wraps.py"


def test_what_the_title_begins_with_says_where() -> None:
    def lead(title: str) -> float:
        """How far the file in the folder `ware` is ahead of the one that only speaks of wares."""
        found = rank(index_of({**SHOP, **files}), About(title=title))
        scores = {each.path: each.score for each in found}
        return scores["src/ware/two.py"] - scores["src/a/one.py"]

    files = {"src/a/one.py": "# lost parcel, ware\n", "src/ware/two.py": "# lost parcel\n"}

    assert lead("ware: lost parcel") > lead("Lost parcel ware") == lead("Fix: lost parcel ware")


def test_a_file_that_changes_with_the_best_one_comes_before_one_that_never_does() -> None:
    files = {"src/one.py": "# one\n", "src/two.py": "# two\n", "src/sent.py": "# parcel\n"}
    commits = [PastCommit("Stay", ("src/one.py",)), PastCommit("Go on", ("src/sent.py", "src/two.py"))]
    about = About(title="Ordering fails")

    assert order(about, *commits, files=files)[:2] == ["src/sent.py", "src/two.py"]


def test_source_comes_before_its_tests_and_what_nobody_wrote_comes_last() -> None:
    found = order(About(title="Prices are rounded to cents"))

    assert found.index("src/shop/pricing.py") < found.index("tests/test_pricing.py") < found.index("uv.lock")
    assert found.index("LICENSE") > found.index("README.md")


def test_a_file_that_is_shown_elsewhere_or_hidden_is_not_ranked() -> None:
    about = About(
        title="Prices", without=frozenset({"src/shop/pricing.py"}), hidden=frozenset({"src/shop/cart.py"})
    )

    assert not {"src/shop/pricing.py", "src/shop/cart.py"} & set(order(about))


def test_the_same_tree_and_question_give_the_same_order_whatever_else_the_index_has_read() -> None:
    about = About(title="Prices are rounded wrongly", text="`Cart.total`")
    alone = [(each.path, each.score) for each in rank(index_of(SHOP), about)]
    shared = index_of({**SHOP, "src/shop/cart.py": "price price price\n"})
    again = Index(MemoryTree(SHOP), shared._store)

    assert [(each.path, each.score) for each in rank(again, about)] == alone


@pytest.mark.parametrize(
    "path", ["test_cart.py", "cart_test.go", "Cart.spec.ts", "CartTest.java", "src/cart.rs"]
)
def test_a_file_and_its_tests_are_about_the_same(path: str) -> None:
    assert subject_of(path) == "cart"


def test_configuration_of_the_pipeline_is_nobodys_business() -> None:
    assert ".cogworks/config.toml" not in order(
        About(title="prices"), files={".cogworks/config.toml": "price\n"}
    )
