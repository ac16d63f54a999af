"""What the machine lends to the Python service."""

from typing import NamedTuple

from cogworks.services.python.cloning import Clones
from cogworks.services.python.code.files import Reading
from cogworks.services.python.code.gathering import gather
from cogworks.services.python.environments import Environments
from cogworks.services.sandbox.isolation import Isolation


class Machine(NamedTuple):
    """Handed to every operation; the same for the whole life of the process."""

    search_path: str
    """PATH of whatever is run."""
    isolation: Isolation
    environments: Environments | None = None
    """Of the repositories; None: whatever is run, is run with the service's own Python."""
    facts_of: Reading = gather
    """What a file says; the running service keeps it in memory."""
    clones: Clones | None = None
    """Where repositories of other machines come from; None: there are none."""
