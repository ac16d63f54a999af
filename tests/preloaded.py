"""What processes that `tests.forking` starts have done already: the imports of every command, and the hub's schema."""

import ast
import gc
import importlib
import os
import pkgutil
from collections.abc import Iterator
from pathlib import Path

from cogworks import cli
from cogworks.bounded_http import certificates
from cogworks.hub.graphql.endpoint import warm

IMPORTED_LATE = (
    "cogworks.domain_services.over_wire",
    "cogworks.github.rest",
    "cogworks.hub.faults",
    "cogworks.hub.server",
    "cogworks.llm.providers.cassette",
    "tests.chaos.witness",
)
"""By what the commands work with."""


def named_by_commands() -> Iterator[str]:
    """Every module of a command, and those of cogworks that it imports when it runs."""
    for module in pkgutil.iter_modules(cli.__path__, "cogworks.cli."):
        yield module.name
    for source in Path(*cli.__path__).glob("*.py"):
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("cogworks."):
                yield str(node.module)


for name in (*named_by_commands(), *IMPORTED_LATE):
    importlib.import_module(name)
warm()
for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
    # No command that tests start gets what this machine has there.
    os.environ.pop(variable, None)
certificates()
# What is there now stays: a collection in a child would only copy its pages.
gc.collect()
gc.freeze()
