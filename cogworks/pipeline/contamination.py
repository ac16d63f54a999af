"""Texts of people that give orders to the model: which of them an item waits for, and who answered for which."""

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from cogworks.canonical import sha256
from cogworks.pipeline.people import Cleared, Contaminated, Inputs
from cogworks.pipeline.state import RunState
from cogworks.pipeline.waiting import WaitingFor

if TYPE_CHECKING:
    from cogworks.injection.detecting import Finding

MAX_NAMED = 3
"""Texts that one question quotes."""


def suspected(state: RunState, texts: Iterable[tuple[str, str]], *, holds: bool) -> RunState:
    """The state that waits for a person about each text that gives orders, unless somebody answered for this very text.

    Args:
        texts: what each is, and the text.
        holds: False: nobody is asked; whoever reads the texts sees them marked.
    """
    answered_for = {each.digest for each in state.inputs.cleared}
    found = tuple(_found(texts, answered_for)) if holds else ()
    if found == state.inputs.contaminated:
        return state
    return state.model_copy(update={"inputs": state.inputs.model_copy(update={"contaminated": found})})


def _found(texts: Iterable[tuple[str, str]], answered_for: Collection[str]) -> Iterator[Contaminated]:
    # Slow to load, and a step that waits reads nothing.
    from cogworks.injection.detecting import scan  # noqa: PLC0415 - slow, and seldom needed

    for source, text in texts:
        if (scanned := scan(text)).is_injection and sha256(text) not in answered_for:
            yield contaminated(source, text, scanned.findings)


def contaminated(source: str, text: str, findings: "tuple[Finding, ...]") -> Contaminated:
    """What is remembered of one text: its heaviest finding, fit to be shown."""
    from cogworks.injection.quoting import quoted  # noqa: PLC0415 - slow, and seldom needed

    worst = max(findings, key=lambda each: each.weight)
    return Contaminated(
        source=source,
        digest=sha256(text),
        kind=worst.kind,
        signature=worst.signature,
        version=worst.version,
        line=worst.line,
        why=worst.why,
        how=worst.how,
        quote=quoted(worst.said),
    )


def answered(inputs: Inputs, *, by: str, why: str) -> Inputs:
    """The inputs after somebody said why the texts that were asked about may be used."""
    if not inputs.contaminated:
        return inputs
    new = tuple(
        Cleared(source=each.source, digest=each.digest, by=by, why=why) for each in inputs.contaminated
    )
    return inputs.model_copy(update={"contaminated": (), "cleared": (*inputs.cleared, *new)})


def question(found: tuple[Contaminated, ...]) -> WaitingFor:
    """What a person has to decide about these texts."""
    told = "; ".join(_told(each) for each in found[:MAX_NAMED])
    more = f"; and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    return WaitingFor(
        kind="resume",
        who="anyone with write permission",
        ask=f"{told}{more}. No model has read it; edit the text, or say why it may be used as it is",
        paste="/cogworks resume <why>",
    )


def _told(each: Contaminated) -> str:
    how = f", {each.how}" if each.how else ""
    return (
        f"{each.source} {each.why} (line {each.line}{how}): `{each.quote}` "
        f"[{each.kind}, signature {each.signature} of {each.version}]"
    )
