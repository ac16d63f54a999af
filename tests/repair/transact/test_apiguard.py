"""What breaks a caller is refused in both directions; what no caller can notice never is."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.domain_services.checking import Unread
from cogworks.domain_services.exploring import Signature, Signatures
from cogworks.repair.transact.validators import api_changes, refused_changes


def of(**more: Any) -> Signature:
    return Signature.model_validate(
        {"id": "shop.Cart.add", "kind": "method", "artifact": "shop.py", "line": 3} | more
    )


PLAIN = of(positional=("self", "item", "count"), with_default=("count",))
TABLE = [
    ("nothing", PLAIN, PLAIN, set(), set()),
    ("another line", PLAIN, of(**dict(PLAIN) | {"line": 30}), set(), set()),
    ("another file", PLAIN, of(**dict(PLAIN) | {"artifact": "cart.py"}), set(), set()),
    ("async", PLAIN, of(**dict(PLAIN) | {"is_async": True}), {"async_changed"}, {"async_changed"}),
    ("decorator", PLAIN, of(**dict(PLAIN) | {"decorators": ("cache",)}), {"decorators_changed"}, {"decorators_changed"}),
    ("function to method", of(kind="function"), of(kind="method"), {"kind_changed"}, {"kind_changed"}),
    ("static to class method", of(kind="static_method"), of(kind="class_method"), {"kind_changed"}, {"kind_changed"}),
    ("method to property", of(kind="method"), of(kind="property"), {"kind_changed"}, {"kind_changed"}),
    ("required parameter", of(positional=("a",)), of(positional=("a", "b")), {"required_parameter_added"}, {"parameter_removed"}),
    ("optional parameter", of(positional=("a",)), of(positional=("a", "b"), with_default=("b",)), set(), {"parameter_removed"}),
    ("optional in front", of(positional=("a",), with_default=("a",)), of(positional=("b", "a"), with_default=("a", "b")), {"parameters_reordered"}, {"parameter_removed"}),
    ("renamed", of(positional=("a", "b")), of(positional=("a", "c")), {"parameter_renamed"}, {"parameter_renamed"}),
    ("reordered", of(positional=("a", "b")), of(positional=("b", "a")), {"parameters_reordered"}, {"parameters_reordered"}),
    ("default removed", PLAIN, of(**dict(PLAIN) | {"with_default": ()}), {"default_removed"}, set()),
    ("default removed and renamed", of(positional=("a",), with_default=("a",)), of(positional=("b",)), {"default_removed", "parameter_renamed"}, {"parameter_renamed"}),
    ("to keyword only", of(positional=("a",)), of(keyword_only=("a",)), {"passing_changed"}, {"passing_changed"}),
    ("to positional only", of(positional=("a",)), of(positional_only=("a",)), {"passing_changed"}, {"passing_changed"}),
    ("positional only to keyword only", of(positional_only=("a",)), of(keyword_only=("a",)), {"passing_changed"}, {"passing_changed"}),
    ("positional only renamed", of(positional_only=("a",)), of(positional_only=("b",)), {"parameter_renamed"}, {"parameter_renamed"}),
    ("keyword only renamed", of(keyword_only=("a",)), of(keyword_only=("b",)), {"parameter_renamed"}, {"parameter_renamed"}),
    ("keyword only in another order", of(keyword_only=("a", "b")), of(keyword_only=("b", "a")), set(), set()),
    ("keyword only required", of(), of(keyword_only=("a",)), {"required_parameter_added"}, {"parameter_removed"}),
    ("keyword only with default", of(), of(keyword_only=("a",), with_default=("a",)), set(), {"parameter_removed"}),
    ("star args", of(), of(var_positional="args"), set(), {"parameter_removed"}),
    ("star star args", of(), of(var_keyword="rest"), set(), {"parameter_removed"}),
    ("star args renamed", of(var_positional="args"), of(var_positional="parts"), set(), set()),
    ("base added", of(kind="class"), of(kind="class", bases=("Base",)), set(), {"base_removed"}),
    ("base exchanged", of(kind="class", bases=("A",)), of(kind="class", bases=("B",)), {"base_removed"}, {"base_removed"}),
    ("annotation", PLAIN, of(**dict(PLAIN) | {"annotations": {"item": "str"}}), {"annotation_changed"}, {"annotation_changed"}),
    ("several at once", of(positional=("a",)), of(positional=("a", "b"), is_async=True), {"async_changed", "required_parameter_added"}, {"async_changed", "parameter_removed"}),
    ("two renamed", of(positional=("a", "b")), of(positional=("c", "d")), {"parameter_renamed"}, {"parameter_renamed"}),
]  # fmt: skip


def differences(old: Signature, new: Signature) -> set[str]:
    changes = api_changes(Signatures(signatures=(old,)), Signatures(signatures=(new,)))
    assert all(change.id == old.id and change.text for change in changes)
    return {change.difference for change in changes}


@pytest.mark.parametrize(
    ("old", "new", "there", "back"),
    [case[1:] for case in TABLE],
    ids=[str(case[0]) for case in TABLE],
)
def test_what_a_caller_may_notice(old: Signature, new: Signature, there: set[str], back: set[str]) -> None:
    assert differences(old, new) == there
    assert differences(new, old) == back


def test_the_table_has_thirty_cases() -> None:
    assert len(TABLE) >= 30


def test_a_public_name_that_is_gone_breaks_and_a_new_one_does_not() -> None:
    one, none = Signatures(signatures=(PLAIN,)), Signatures(signatures=())

    assert [change.difference for change in api_changes(one, none)] == ["removed"]
    assert api_changes(none, one) == ()


def test_nothing_is_said_of_a_file_that_cannot_be_read() -> None:
    unread = Signatures(signatures=(), unread=(Unread(artifact="shop.py", reason="syntax error"),))

    assert api_changes(Signatures(signatures=(PLAIN,)), unread) == ()


def test_annotations_are_told_and_not_refused() -> None:
    new = PLAIN.model_copy(update={"annotations": {"return": "int"}})

    changes = api_changes(Signatures(signatures=(PLAIN,)), Signatures(signatures=(new,)))

    assert [change.difference for change in changes] == ["annotation_changed"]
    assert refused_changes(changes, ()) == ()


def test_only_the_names_that_are_allowed_may_change() -> None:
    other = PLAIN.model_copy(update={"id": "shop.Cart.remove"})
    changes = api_changes(Signatures(signatures=(PLAIN, other)), Signatures(signatures=()))

    assert [change.id for change in refused_changes(changes, ["shop.Cart.add"])] == ["shop.Cart.remove"]


NAMES = st.lists(st.sampled_from("abcd"), unique=True, max_size=4).map(tuple)


@settings(deadline=None)
@given(names=NAMES, others=NAMES, cut=st.integers(0, 4))
def test_a_signature_differs_from_itself_in_nothing_and_from_others_in_something(
    names: tuple[str, ...], others: tuple[str, ...], cut: int
) -> None:
    old = of(positional_only=names[:cut], positional=names[cut:], with_default=names[2:])
    new = of(positional_only=others[:cut], positional=others[cut:], with_default=others[2:])

    assert differences(old, old) == set()
    if len(others) < len(names):
        assert differences(old, new) != set()
