"""The HTML of the pages; whatever people wrote is escaped, Markdown is shown as text."""

import re
from collections.abc import Sequence
from html import escape

from cogworks.hub.actions.hierarchy import blocked_by, sub_issues
from cogworks.hub.actions.timeline import TimelineItem
from cogworks.hub.clock import iso
from cogworks.hub.gitdiff import FileChange
from cogworks.hub.gitobjects import Commit
from cogworks.hub.records import Comment, Issue, Label, Repository, Review, ReviewComment
from cogworks.hub.world import World

_FENCE = re.compile(
    r"^(?P<ticks>`{3,})(?P<kind>\w*)[^\n]*\n(?P<text>.*?)^(?P=ticks)`*[ \t]*$", re.MULTILINE | re.DOTALL
)
_SHOWN_KINDS = ("mermaid", "suggestion")
_HIDDEN = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1f2328}
h1{font-size:1.6rem}h2{font-size:1.1rem;margin-top:2rem}a{color:#0969da}
pre{background:#f6f8fa;padding:.6rem;overflow:auto;font:12px/1.45 ui-monospace,monospace}
pre.mermaid{border-left:4px solid #8250df}
pre.suggestion{border-left:4px solid #1a7f37}pre.suggestion::before{content:"Suggested change\\A"}
.text{white-space:pre-wrap;overflow-wrap:anywhere}
.state{border-radius:1rem;padding:.1rem .7rem;color:#fff}.open{background:#1a7f37}.closed{background:#82071e}
.merged{background:#8250df}.draft{background:#59636e}
.label{border-radius:1rem;padding:0 .6rem;border:1px solid #d1d9e0;font-size:.85rem}
article{border:1px solid #d1d9e0;border-radius:6px;margin:1rem 0;padding:.4rem 1rem}
.quiet{color:#59636e;font-size:.9rem}.add{background:#dafbe1}.del{background:#ffebe9}.hunk{color:#0550ae}
"""


def document(title: str, body: str) -> str:
    """A whole page."""
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def text_html(text: str | None) -> str:
    """Markdown as escaped text; fenced blocks as `pre`, of the class that their fence names if it means something."""
    visible = _HIDDEN.sub("", text or "")
    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(visible):
        parts.append(_prose(visible[end : fence.start()]))
        kind = f' class="{fence["kind"]}"' if fence["kind"] in _SHOWN_KINDS else ""
        parts.append(f"<pre{kind}>{escape(fence['text'])}</pre>")
        end = fence.end()
    return "".join([*parts, _prose(visible[end:])]) or '<p class="quiet">No description.</p>'


def _prose(text: str) -> str:
    return f'<div class="text">{escape(text.strip())}</div>' if text.strip() else ""


def state_of(issue: Issue) -> str:
    """open, closed, merged or draft."""
    if issue.pull is not None and issue.pull.merged_at is not None:
        return "merged"
    return "draft" if issue.is_open and issue.pull is not None and issue.pull.is_draft else issue.state


def address(repository: Repository, issue: Issue) -> str:
    word = "issues" if issue.pull is None else "pull"
    return f"/{repository.full_name}/{word}/{issue.number}"


def _link(repository: Repository, issue: Issue) -> str:
    state = state_of(issue)
    target = escape(address(repository, issue))
    badge = f'<span class="state {state}">{state}</span>'
    return f'{badge} <a href="{target}">#{issue.number} {escape(issue.title)}</a>'


def index_page(repositories: Sequence[Repository], *, hint: str = "") -> str:
    """All of them, and below a hint why there might be more."""
    rows = "".join(
        f'<li><a href="/{escape(each.full_name)}">{escape(each.full_name)}</a></li>' for each in repositories
    )
    return document("Hub", f"<h1>Repositories</h1><ul>{rows}</ul><p>{escape(hint)}</p>")


def repository_page(repository: Repository, issues: Sequence[Issue]) -> str:
    """Issues and pull requests, in the order given."""
    sections = []
    for title, is_pull in (("Pull requests", True), ("Issues", False)):
        rows = "".join(
            f"<li>{_link(repository, issue)}</li>" for issue in issues if (issue.pull is not None) is is_pull
        )
        sections.append(f"<h2>{title}</h2><ul>{rows or '<li>None.</li>'}</ul>")
    name = escape(repository.full_name)
    return document(repository.full_name, f"<h1>{name}</h1>{''.join(sections)}")


def conversation_page(world: World, repository: Repository, issue: Issue, rest: str) -> str:
    """One issue or pull request; `rest` is the HTML below its description."""
    state = state_of(issue)
    labels = " ".join(
        f'<span class="label">{escape(label.name)}</span>'
        for label in world.store.many(Label, issue.label_ids)
    )
    author = escape(world.user(issue.author_id).login)
    home = f'<p><a href="/{escape(repository.full_name)}">{escape(repository.full_name)}</a></p>'
    branches = ""
    if issue.pull is not None:
        ends = f"{escape(issue.pull.base_branch)} ← {escape(issue.pull.head_branch)}"
        branches = f'<p class="quiet">{ends} at {issue.pull.head_oid[:10]}</p>'
    title = f"#{issue.number} {issue.title}"
    body = (
        f'{home}<h1>{escape(title)}</h1><p><span class="state {state}">{state}</span> {labels}</p>{branches}'
        f'<p class="quiet">{author} opened this on {iso(issue.created_at)}</p>'
        f"<article>{text_html(issue.body)}</article>{_relations(world, repository, issue)}{rest}"
    )
    return document(title, body)


def _relations(world: World, repository: Repository, issue: Issue) -> str:
    parent = world.store.get(Issue, issue.parent_id)
    groups = (
        ("Parent", [] if parent is None else [parent]),
        ("Sub-issues", sub_issues(world, issue)),
        ("Blocked by", blocked_by(world, issue)),
    )
    sections = []
    for title, issues in groups:
        rows = "".join(f"<li>{_link(repository, each)}</li>" for each in issues)
        sections.append(f"<h2>{title}</h2><ul>{rows}</ul>" if rows else "")
    return "".join(sections)


def timeline_section(world: World, items: Sequence[TimelineItem], inline: Sequence[ReviewComment]) -> str:
    """Everything that happened, oldest first, inline comments below their review."""
    rows = "".join(_item(world, item, inline) for item in items)
    return f"<h2>Timeline</h2>{rows}" if rows else ""


def _item(world: World, item: TimelineItem, inline: Sequence[ReviewComment]) -> str:
    if isinstance(item, Commit):
        return f'<p class="quiet">commit {item.oid[:10]} {escape(item.headline)}</p>'
    if isinstance(item, Comment):
        who = escape(world.user(item.author_id).login)
        hidden = ' <span class="quiet">(minimized)</span>' if item.minimized_reason else ""
        head = f'<p class="quiet" id="issuecomment-{item.id}">{who} on {iso(item.created_at)}{hidden}</p>'
        return f"<article>{head}{text_html(item.body)}</article>"
    if isinstance(item, Review):
        return _review(world, item, inline)
    who = escape(world.user(item.actor_id).login)
    source = item.details.get("source_id")
    shown: list[object] = [
        value for name, value in item.details.items() if not name.endswith(("_id", "_color"))
    ]
    if isinstance(source, int):
        issue = world.store.get(Issue, source)
        shown = [] if issue is None else [f"#{issue.number} {issue.title}"]
    words = escape(" ".join(str(value) for value in shown if value is not None))
    return f'<p class="quiet">{iso(item.created_at)} {who} {escape(item.kind.replace("_", " "))} {words}</p>'


def _review(world: World, review: Review, inline: Sequence[ReviewComment]) -> str:
    who = escape(world.user(review.author_id).login)
    word = escape(review.state.replace("_", " ").lower())
    head = f'<p class="quiet" id="pullrequestreview-{review.id}">{who} {word} {review.commit_oid[:10]}</p>'
    comments = "".join(
        f"<p>{escape(each.path)}:{_lines(each)}</p><pre>{escape(each.diff_hunk)}</pre>{text_html(each.body)}"
        for each in inline
        if each.review_id == review.id
    )
    return f"<article>{head}{text_html(review.body) if review.body else ''}{comments}</article>"


def _lines(comment: ReviewComment) -> str:
    several = "" if comment.start_line is None else f"{comment.start_line}-"
    return f"{several}{comment.line or ''}"


def changes_section(changes: Sequence[FileChange]) -> str:
    """The diff, file by file."""
    return f"<h2>{len(changes)} changed file(s)</h2>" + "".join(_change(change) for change in changes)


def _change(change: FileChange) -> str:
    name = change.path if change.path == change.old_path else f"{change.old_path} → {change.path}"
    counts = f'<span class="quiet">{change.status} +{change.additions} −{change.deletions}</span>'
    rows = "".join(_diff_line(line) for line in change.patch.split("\n"))
    return f"<h3>{escape(name)} {counts}</h3><pre>{rows}</pre>"


def _diff_line(line: str) -> str:
    kind = {"+": "add", "-": "del", "@": "hunk"}.get(line[:1])
    return f'<span class="{kind}">{escape(line)}</span>\n' if kind else f"{escape(line)}\n"


def commit_section(repository: Repository, commit: Commit, changes: Sequence[FileChange]) -> str:
    """The page of one commit."""
    head = f"<h1>{escape(commit.headline)}</h1><p>{escape(repository.full_name)} {commit.oid}</p>"
    about = f'<p class="quiet">{escape(commit.author.name)} on {iso(commit.author.date)}</p>'
    body = f'<div class="text">{escape(commit.body)}</div>'
    return document(commit.headline, head + about + body + changes_section(changes))
