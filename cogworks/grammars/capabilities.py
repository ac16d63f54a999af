"""What code can do beyond its own memory, as its syntax shows it: the network, processes, evaluation, foreign objects, files.

An author who wants to hide it can: a name put together while the code runs is not seen. What is seen is there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from cogworks.grammars.facts import Call, FileFacts, Imported, Unreadable
from cogworks.grammars.gathering import gather
from cogworks.grammars.languages.capable import REACHES, Capability, Reach, parts_of
from cogworks.grammars.languages.registry import grammar_of
from cogworks.grammars.parsing import matches, parse
from cogworks.grammars.spec import LanguageSpec

_MAX_SHOWN = 60


class Use(NamedTuple):
    """One place where code reaches beyond itself."""

    line: int
    capability: Capability
    what: str
    """The module or the call, as the code names it."""


def uses_of(path: str, text: str) -> tuple[Use, ...] | None:
    """Every place of a file that reaches beyond it, in the order of its lines; None: no grammar reads such a file, or this one."""
    spec = grammar_of(path)
    reach = REACHES.get(spec.name) if spec else None
    if spec is None or reach is None:
        return None
    data = text.encode(errors="replace")
    facts = gather(spec, data)
    if isinstance(facts, Unreadable):
        return None
    uses = {*_imported(facts, reach), *_called(facts, reach), *_formed(spec, data, reach)}
    return tuple(sorted(uses))


def _imported(facts: FileFacts, reach: Reach) -> Iterator[Use]:
    for each in facts.imports:
        names = _names(each)
        for capability, ways in reach.ways.items():
            if any(map(ways.harmless, names)):
                continue
            if any(ways.imported(name) or ".".join(name) in ways.calls for name in names):
                yield Use(each.line, capability, _in_words(each))


def _names(imported: Imported) -> tuple[tuple[str, ...], ...]:
    """The parts of the module, and with what is taken from it; none of the repository's own."""
    if imported.module.startswith("."):
        return ()
    parts = parts_of(imported.module)
    is_part = imported.name not in (None, "*", "default")
    return (parts, (*parts, imported.name or "")) if is_part else (parts,)


def _called(facts: FileFacts, reach: Reach) -> Iterator[Use]:
    behind = dict(_aliases(facts))
    own = {each.name for each in facts.definitions if each.kind in ("function", "class", "method")}
    for call in facts.calls:
        names = _spellings(call, behind, own)
        for capability, ways in reach.ways.items():
            if not names.isdisjoint(ways.calls):
                yield Use(
                    call.line, capability, f"{call.receiver}.{call.name}" if call.receiver else call.name
                )


def _spellings(call: Call, behind: Mapping[str, str], own: set[str]) -> set[str]:
    """A call as tables may name it."""
    if call.receiver is None:
        known = behind.get(call.name)
        return {known} if known else set() if call.name in own else {call.name}
    owner = behind.get(call.receiver, call.receiver)
    return {f"{owner}.{call.name}", f"{call.receiver}.{call.name}", f"*.{call.name}"}


def _aliases(facts: FileFacts) -> Iterator[tuple[str, str]]:
    """What a word means that an import brought."""
    for each in facts.imports:
        if each.name in ("*", "default"):
            continue
        whole = f"{each.module}.{each.name}" if each.name else each.module
        if word := each.alias or each.name:
            yield word, whole


def _formed(spec: LanguageSpec, data: bytes, reach: Reach) -> Iterator[Use]:
    if not reach.forms:
        return
    for form, capability in reach.forms.items():
        asking = replace(spec, query=form)
        parsed = parse(asking, data)
        if isinstance(parsed, Unreadable):
            continue
        for _, captures in matches(asking, parsed):
            for node in captures.get("form", ()):
                text = (node.text or b"").decode(errors="replace")
                yield Use(node.start_point.row + 1, capability, " ".join(text.split())[:_MAX_SHOWN])


def _in_words(imported: Imported) -> str:
    is_part = imported.name not in (None, "*", "default")
    return f"{imported.module}, {imported.name}" if is_part else imported.module
