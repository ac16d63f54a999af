"""What processes that `tests.forking` starts have done already: the imports of every command, and the hub's schema."""

import gc
import importlib

from cogworks.cli import COMMANDS
from cogworks.hub.graphql.endpoint import warm

for module in COMMANDS.values():
    importlib.import_module(f"cogworks.commands.{module}")
warm()
# What is there now stays: a collection in a child would only copy its pages.
gc.collect()
gc.freeze()
