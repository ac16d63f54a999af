"""The files of handed-over tests as whoever makes them pass is shown them."""

from collections.abc import Iterator, Sequence

from cogworks.codebase.diffparsing import parse_diff
from cogworks.codegen.prompt import ShownFile
from cogworks.nodes.contract import NodePorts, Workspace
from cogworks.sight.changed import around_changes
from cogworks.sight.sizes import tokens_of

MAX_SHOWN_TOKENS = 5_000
"""Of a longer file that was there before, what is new is shown and what is around it."""


def shown_tests(
    ports: NodePorts, workspace: Workspace, paths: Sequence[str], *, base: str
) -> Iterator[ShownFile]:
    """Those of the files that are there, in their order; a new one whole, however long it is.

    Args:
        base: the branch or commit that the change starts from.
    """
    texts = {path: text for path in paths if (text := workspace.read(path)) is not None}
    is_any_long = any(tokens_of(text) > MAX_SHOWN_TOKENS for text in texts.values())
    changed = parse_diff(workspace.diff(base)).diff.files if is_any_long else ()
    added = {file.path: file.added_lines for file in changed if file.kind == "modify"}
    for path, text in texts.items():
        part = None
        if path in added and tokens_of(text) > MAX_SHOWN_TOKENS:
            part = around_changes(
                ports.index(), path, added[path], room_tokens=MAX_SHOWN_TOKENS, is_test=True
            )
        yield ShownFile(path=path, text=part or text, is_cut=part is not None)
