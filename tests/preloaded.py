"""What processes that `tests.forking` starts have done already: the imports of every command, and the hub's schema."""

import gc
import importlib

from cogworks.cli import COMMANDS
from cogworks.hub.graphql.endpoint import warm

IMPORTED_LATE = (
    "cogworks.domain_services.over_socket",
    "cogworks.github.rest",
    "cogworks.hub.fault_plans",
    "cogworks.hub.server",
    "cogworks.llm.cassette",
    "cogworks.wiring",
    "tests.chaos.witness",
)
"""By what the commands do, and not at their beginning."""

for name in (*(f"cogworks.commands.{module}" for module in COMMANDS.values()), *IMPORTED_LATE):
    importlib.import_module(name)
warm()
# What is there now stays: a collection in a child would only copy its pages.
gc.collect()
gc.freeze()
