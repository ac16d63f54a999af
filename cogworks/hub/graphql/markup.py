"""How Markdown text appears as HTML and as plain text where a field asks for it."""

import html
import re

_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)


def html_of(text: str) -> str:
    """The text as escaped paragraphs and preformatted blocks; inline markup stays as it was written."""
    parts = []
    position = 0
    for fence in _FENCE.finditer(text):
        parts += _paragraphs(text[position : fence.start()])
        parts.append(f"<pre><code>{html.escape(fence[1])}</code></pre>")
        position = fence.end()
    return "\n".join([*parts, *_paragraphs(text[position:])])


def _paragraphs(text: str) -> list[str]:
    blocks = (block.strip() for block in re.split(r"\n\s*\n", text))
    return [f'<p dir="auto">{html.escape(block).replace(chr(10), "<br>")}</p>' for block in blocks if block]
