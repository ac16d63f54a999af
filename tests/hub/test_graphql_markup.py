import pytest

from cogworks.hub.graphql.scalars import html_of


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("", ""),
        ("one\ntwo\n\nthree", '<p dir="auto">one<br>two</p>\n<p dir="auto">three</p>'),
        ("<script>&", '<p dir="auto">&lt;script&gt;&amp;</p>'),
        ("a\n\n```mermaid\nA --> B\n```\n\nb", '<p dir="auto">a</p>\n<pre><code>A --&gt; B\n</code></pre>\n<p dir="auto">b</p>'),
    ],
    ids=["empty", "paragraphs", "escaped", "fence"],
)  # fmt: skip
def test_markdown_becomes_escaped_html(text: str, html: str) -> None:
    assert html_of(text) == html
