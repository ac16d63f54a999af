"""Which differences between two sets of signatures break somebody's call."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from cogworks.domain_services.exploring import Signature, Signatures

Difference = Literal[
    "removed",
    "kind_changed",
    "async_changed",
    "decorators_changed",
    "base_removed",
    "parameter_removed",
    "parameter_renamed",
    "parameters_reordered",
    "required_parameter_added",
    "default_removed",
    "passing_changed",
    "annotation_changed",
]


class ApiChange(NamedTuple):
    """One difference of one public name."""

    id: str
    difference: Difference
    text: str

    @property
    def is_breaking(self) -> bool:
        """Annotations are told and never refused."""
        return self.difference != "annotation_changed"


def api_changes(before: Signatures, after: Signatures) -> tuple[ApiChange, ...]:
    """Every difference that callers may notice, by name; a new public name is none."""
    there = {signature.id: signature for signature in after.signatures}
    unread = {found.artifact for found in after.unread}
    changes: list[ApiChange] = []
    for old in before.signatures:
        new = there.get(old.id)
        if new is not None:
            changes += _differences(old, new)
        # Of a file that could not be read nothing is known; that it cannot be read is reported elsewhere.
        elif old.artifact not in unread:
            changes.append(ApiChange(old.id, "removed", f"the public {old.kind} is gone"))
    return tuple(changes)


def refused_changes(changes: Iterable[ApiChange], allowed: Collection[str]) -> tuple[ApiChange, ...]:
    """Those that break a call and are not among the names that may change."""
    return tuple(change for change in changes if change.is_breaking and change.id not in allowed)


def _differences(old: Signature, new: Signature) -> Iterator[ApiChange]:
    if old.kind != new.kind:
        yield ApiChange(old.id, "kind_changed", f"was a {old.kind} and is a {new.kind}")
    if old.is_async != new.is_async:
        yield ApiChange(old.id, "async_changed", f"is {'' if new.is_async else 'no longer '}async")
    if old.decorators != new.decorators:
        names = (", ".join(decorators) or "none" for decorators in (old.decorators, new.decorators))
        yield ApiChange(old.id, "decorators_changed", "decorators were {} and are {}".format(*names))
    if lost := [base for base in old.bases if base not in new.bases]:
        yield ApiChange(old.id, "base_removed", f"no longer inherits from {', '.join(lost)}")
    yield from _parameters(old, new)
    for name in sorted(old.annotations.keys() | new.annotations.keys()):
        if old.annotations.get(name) != new.annotations.get(name):
            yield ApiChange(old.id, "annotation_changed", f"the annotation of {name!r} differs")


def _parameters(old: Signature, new: Signature) -> Iterator[ApiChange]:
    before, renamed = _named(old), dict(_renamed(old, new))
    for name in before:
        yield from _parameter(name, old, new, renamed)
    for name in sorted(_required(new) - before.keys() - set(renamed.values())):
        yield ApiChange(old.id, "required_parameter_added", f"callers would have to pass {name!r}")
    shared = [name for name in _in_order(old) if name in _in_order(new)]
    if shared != [name for name in _in_order(new) if name in shared]:
        yield ApiChange(old.id, "parameters_reordered", "the parameters stand in another order")
    elif not renamed and _pushed_back(old, new):
        yield ApiChange(old.id, "parameters_reordered", "a new parameter stands before old ones")
    catch_alls = (("*", old.var_positional, new.var_positional), ("**", old.var_keyword, new.var_keyword))
    for mark, was, now in catch_alls:
        if was is not None and now is None:
            yield ApiChange(old.id, "parameter_removed", f"{mark}{was} is gone")


def _parameter(name: str, old: Signature, new: Signature, renamed: Mapping[str, str]) -> Iterator[ApiChange]:
    was, now = _named(old)[name], _named(new).get(name)
    if name in renamed:
        yield ApiChange(old.id, "parameter_renamed", f"{name!r} is called {renamed[name]!r} now")
    elif now is None:
        yield ApiChange(old.id, "parameter_removed", f"the parameter {name!r} is gone")
    elif was != now:
        yield ApiChange(old.id, "passing_changed", f"{name!r} was {was} and is {now}")
    if name in old.with_default and renamed.get(name, name) in _required(new):
        yield ApiChange(old.id, "default_removed", f"{name!r} has no default any more")


def _named(signature: Signature) -> dict[str, str]:
    """Parameter -> how it is passed."""
    ways = (
        ("positional only", signature.positional_only),
        ("positional or by name", signature.positional),
        ("by name only", signature.keyword_only),
    )
    return {name: way for way, names in ways for name in names}


def _required(signature: Signature) -> set[str]:
    return _named(signature).keys() - set(signature.with_default)


def _in_order(signature: Signature) -> list[str]:
    """The parameters whose place matters to a caller."""
    return [*signature.positional_only, *signature.positional]


def _renamed(old: Signature, new: Signature) -> Iterator[tuple[str, str]]:
    """Names that gave way to another in the same place, when neither is known to the other side."""
    before, after = _named(old), _named(new)
    for group in ("positional_only", "positional", "keyword_only"):
        names, others = getattr(old, group), getattr(new, group)
        if len(names) == len(others):
            yield from (
                (name, other)
                for name, other in zip(names, others, strict=True)
                if name != other and other not in before and name not in after
            )


def _pushed_back(old: Signature, new: Signature) -> bool:
    """Whether a parameter with a default came in before old positional ones: calls by place would mean another."""
    order = _in_order(old)
    kept = [name for name in _in_order(new) if name in order]
    return bool(kept) and _in_order(new)[: len(kept)] != kept
