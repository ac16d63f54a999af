"""A proof as a pull request shows it: three lines, what speaks against it, and the table that a reader can open."""

from cogworks.leaving import in_code
from cogworks.repair.proof import Summary, objections, run_in_words, table, unlisted, verdict_word

MAX_ROWS = 12
_MAX_NAMED = 3
ONLY_READING = "That a change does not make its tests lie, only whoever reads it knows."
"""What no proof excludes, as short as it can be said; the whole proof says why."""


def in_brief(summary: Summary, figures: str, *, whole: str) -> str:
    """The proof for the readers of the pull request.

    Args:
        figures: how many tests there are, in sentences.
        whole: where every test is listed, in words that end a sentence.
    """
    ground = f"{run_in_words(summary)} Every test is in {whole}. {ONLY_READING}"
    lines = [f"- {_proven(summary)}", f"- {figures}", f"- {ground}"]
    against = objections(summary, MAX_ROWS)
    rows, shown = table(summary, MAX_ROWS)
    total = len(summary.tests)
    of = f"{len(shown)} of {total}" if total > len(shown) else f"{len(shown)}"
    more = unlisted(summary, shown)
    folded = [
        f"<details><summary>Tests that changed: {of}</summary>",
        "\n".join(rows),
        f"Not listed: {more}." if more else "",
        "</details>",
    ]
    parts = ["\n".join(lines), "\n".join(against), *(folded if rows else [])]
    return "\n\n".join(part for part in parts if part)


def _proven(summary: Summary) -> str:
    names = [in_code(test.id) for test in summary.tests if test.verdict == "fail_to_pass"]
    count = max(len(names), summary.counts.get("fail_to_pass", 0))
    word = f"**{verdict_word(summary)}**"
    if not count:
        return f"{word}: no test failed before this change and passes now."
    named = names[:_MAX_NAMED]
    rest = [f"{count - len(named)} more"] if count > len(named) else []
    listed = [*named, *rest]
    tests = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
    return f"{word}: {tests} failed before this change and {'passes' if count == 1 else 'pass'} now."
