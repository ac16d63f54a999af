"""What is asked of a service, with what the repository and the operator configured for it."""

from collections.abc import Sequence
from typing import TypeVar

from cogworks.domain_services.checking import PrepareParams, SimulateParams
from cogworks.domain_services.exploring import BesideParams
from cogworks.domain_services.messages import Message

Params = TypeVar("Params", bound=Message)


def as_configured(params: Params, *, command: Sequence[str], limit_s: float) -> Params:
    """The parameters with the configured test command, and with no more time than there is.

    Args:
        command: its words; none: the service's own way.
        limit_s: of the operation. A service that knows it can say what took too long, instead of being ended over it.
    """
    changes: dict[str, object] = {}
    if command and isinstance(params, SimulateParams | PrepareParams):
        changes["command"] = tuple(command)
    if isinstance(params, PrepareParams | BesideParams):
        changes["timeout_s"] = min(params.timeout_s, limit_s)
    return params.model_copy(update=changes) if changes else params
