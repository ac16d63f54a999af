"""The published table of the zoo."""

from collections.abc import Sequence

from scripts.benchmarks.zoo.comparing import Compared

_MIB = 1024**2
_MOST_CHARS = 300


_MOST_NAMED = 3


def table(found: Sequence[Compared], unseen: Sequence[Compared] = ()) -> str:
    """Markdown: a row for each package, the figures that count, and of what does not work the reason.

    Args:
        unseen: packages chosen after the rules had been mended by the others; they have figures of their own as well.
    """
    both = [*found, *unseen]
    rows = [
        "| package | shape | here | tests that agree | differ | only in its own run | only here | cold | warm | disk |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *(_row(each) for each in both),
    ]
    apart = [
        "",
        "Of these, packages chosen after the rules had been mended by the others:",
        *_figures(unseen),
    ]
    return "\n".join([*rows, "", *_figures(both), *(apart if unseen else []), "", *_reasons(both)])


def _reasons(found: Sequence[Compared]) -> list[str]:
    return [f"- {each.animal.name}: {_reason(each)}" for each in found if not each.works]


def _reason(each: Compared) -> str:
    if each.problem:
        return f"its own way: {_last_line(each.problem)}"
    if each.refusal:
        return _last_line(each.refusal)
    lost = [f"{test} ({each.differ.get(test, 'not here')}{_why(each, test)})" for test in each.lost]
    more = f" and {len(lost) - _MOST_NAMED} more" if len(lost) > _MOST_NAMED else ""
    unloaded = f"; not loaded: {_last_line(each.unloaded[0])}" if each.unloaded else ""
    return f"{', '.join(lost[:_MOST_NAMED])}{more}{unloaded}"


def _why(each: Compared, test: str) -> str:
    return f"; {each.reasons[test]}" if each.reasons.get(test) else ""


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1][:_MOST_CHARS]


def _row(each: Compared) -> str:
    animal = each.animal
    return (
        f"| {animal.name} {animal.version} | {', '.join(animal.shape)} | {_verdict(each)} | {each.agree} | {len(each.differ)} "
        f"| {len(each.only_own)} | {len(each.only_here)} | {each.cold_s:.0f} s | {each.warm_s:.1f} s "
        f"| {each.disk_bytes / _MIB:.0f} MiB |"
    )


def _verdict(each: Compared) -> str:
    if each.works:
        lines = each.animal.configured_lines
        return "works" if not lines else f"works with {lines} line(s)"
    if each.is_rightly_refused:
        return "refused, rightly" if each.refusal else f"works but for {len(each.held)} that it tells of"
    return "its own way fails" if each.problem else "does not work"


def _figures(found: Sequence[Compared]) -> list[str]:
    counted = [each for each in found if not each.problem]
    bare = sum(each.works and not each.animal.configured_lines for each in counted)
    helped = sum(each.works and bool(each.animal.configured_lines) for each in counted)
    refused = sum(each.is_rightly_refused and not each.works for each in counted)
    return [
        (
            f"{len(counted)} packages whose own way works here: {bare} work with no configuration, {helped} with a few lines, "
            f"{refused} are rightly refused, in whole or in single tests, {len(counted) - bare - helped - refused} do not work."
        ),
        f"Tests: {sum(each.agree for each in counted)} agree, {sum(len(each.differ) for each in counted)} differ.",
    ]


def is_met(found: Sequence[Compared]) -> bool:
    """Nine in ten without configuration, the others with at most two lines or a refusal whose reason is right."""
    counted = [each for each in found if not each.problem]
    bare = sum(each.works and not each.animal.configured_lines for each in counted)
    all_well = all(
        each.is_rightly_refused or (each.works and each.animal.configured_lines <= 2) for each in counted
    )
    return bool(counted) and bare >= 0.9 * len(counted) and all_well
