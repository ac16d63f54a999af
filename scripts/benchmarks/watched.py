"""One process that `scripts/bench startup` watches: a step, or the reading of what ships beside the code. Told as JSON on standard error.

It imports nothing that a step would import, before it is watched.
"""

import builtins
import json
import sys
import time
from collections.abc import Callable
from typing import Any


class Watch:
    """What took how long, by name; what is nested counts for the outermost alone."""

    def __init__(self) -> None:
        self.taken_s: dict[str, float] = {}
        self._depth = 0

    def timed(
        self, name: str, call: Callable[..., Any], clock: Callable[[], float] = time.process_time
    ) -> Callable[..., Any]:
        """The same function, on the watch."""

        def watched(*args: Any, **named: Any) -> Any:
            self._depth += 1
            started_s = clock()
            try:
                return call(*args, **named)
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self.taken_s[name] = self.taken_s.get(name, 0.0) + clock() - started_s

        return watched


def _step(url: str) -> dict[str, float]:
    """One step in this process, on the watch."""
    watch = Watch()
    plain = builtins.__import__
    builtins.__import__ = watch.timed("imports", plain)
    import httpx

    from cogworks.cli.main import main as cogworks
    from cogworks.engine import consider
    from cogworks.settings.config import require_config

    vars(consider)["require_config"] = watch.timed("configuration", require_config)
    httpx.Client.send = watch.timed("GitHub", httpx.Client.send, time.perf_counter)  # type: ignore[method-assign]
    try:
        cogworks(["process", url, "--json", "--quiet"])
    except SystemExit as ended:
        if ended.code:
            raise
    return {name: taken_s * 1000 for name, taken_s in watch.taken_s.items()}


def _data() -> dict[str, float]:
    """Everything that is shipped beside the code, read once in this process."""
    from cogworks.injection.detecting import scan
    from cogworks.llm.budget import shipped_prices
    from cogworks.llm.prompts import shipped_prompts, shipped_schemas

    watch = Watch()

    def templates() -> None:
        shipped_prompts().render("condition", _QUESTION)

    watch.timed("signatures", scan)("")
    watch.timed("templates", templates)()
    watch.timed("schemas", shipped_schemas)()
    watch.timed("prices", shipped_prices)()
    return {name: taken_s * 1000 for name, taken_s in watch.taken_s.items()}


_QUESTION: dict[str, Any] = {
    "item": {
        "number": 1,
        "title": "Read decimals",
        "body": "I expect 1.5h to be 90 minutes.",
        "repository": "a/b",
    },
    "node": "review",
    "parts": [{"text": "{}", "label": "output"}],
    "question": "Is it so?",
}


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    told = _step(*rest) if what == "step" else _data()
    print(json.dumps(told), file=sys.stderr)  # noqa: T201 - the parent reads it
