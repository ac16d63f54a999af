"""The operations that grammars answer, in the form every bundled service dispatches them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from cogworks.domain_services.messages import Request, Response
from cogworks.services.command.grammars.call_graphing import call_graph
from cogworks.services.command.grammars.dependency_graphing import dependency_graph
from cogworks.services.command.grammars.indexing import index
from cogworks.services.command.grammars.interfaces import extract_interfaces
from cogworks.services.command.grammars.knowledge import Reads
from cogworks.services.command.grammars.signing import signatures
from cogworks.services.command.grammars.validating import validate

METHODS: Mapping[str, Callable[[Request, Path, Reads], Response]] = MappingProxyType(
    {
        "validate": validate,
        "extract_interfaces": extract_interfaces,
        "dependency_graph": dependency_graph,
        "index": index,
        "call_graph": call_graph,
        "signatures": signatures,
    }
)
"""Who answers what; each is handed the request, the repository's directory and the machine, and may raise `OSError` and
the `ValidationError` of its parameters. `validate` knows syntax and names; whoever runs a linter adds its findings."""
