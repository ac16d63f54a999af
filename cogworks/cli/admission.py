"""What a command looks at before it loads what speaks to GitHub: whether there is anything to speak with."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cogworks.settings.config import Environment


def admitted(repository: str) -> "Environment":
    """The environment, in which a credential for GitHub may be found.

    Args:
        repository: owner/name

    Raises:
        PermissionRefused: there is none.
        ConfigurationError: the first that is there cannot be sent.
    """
    from cogworks.github.credentials import refuse_without_any
    from cogworks.settings.config import child_environment, read_environment

    environment = read_environment()
    refuse_without_any(environment, repository=repository, child_environment=child_environment())
    return environment
