"""How a provider is opened: each name in `settings.providers` has a module `providers/NAME.py` with an `OPENING`."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from importlib import import_module

from cogworks.errors import UsageError
from cogworks.llm.provider import Provider
from cogworks.llm.waiting import Waits
from cogworks.settings.config import Environment
from cogworks.settings.providers import PROVIDERS
from cogworks.settings.sections import LlmConfig
from cogworks.vocabulary import Value


class Readiness(Value):
    """Whether a provider could be asked on this machine."""

    found: str
    remedy: str = ""
    """What to do; empty where it can be asked."""


class Opening(ABC):
    """What one provider needs of this machine, and how it is opened. It holds nothing of any of them."""

    @abstractmethod
    def open(
        self, llm: LlmConfig, environment: Environment, waits: Waits
    ) -> AbstractContextManager[Provider]:
        """The provider; nothing is sent.

        Raises:
            PermissionRefused: its credentials are missing.
            ConfigurationError: its credentials, its address or a proxy cannot be used.
            UsageError: this machine lacks what it needs.
        """

    @abstractmethod
    def readiness(self, environment: Environment) -> Readiness:
        """Whether it could be asked; nothing is sent.

        Raises:
            ConfigurationError, UsageError: as `open`.
        """

    def is_local(self, environment: Environment) -> bool:
        """Whether it is a server of this machine, which costs nothing. Raises: ConfigurationError as `open`."""
        del environment
        return False


def opening_of(name: str) -> Opening:
    """The opening of a provider.

    Raises:
        UsageError: there is no such provider, or what it needs is not installed.
    """
    if name not in PROVIDERS:
        known = f"{', '.join(PROVIDERS[:-1])} and {PROVIDERS[-1]}"
        raise UsageError(f"`COGWORKS_LLM_PROVIDER` is {name!r}; known providers are {known}.")
    # Each brings libraries of its own, and one of them is asked.
    opening: Opening = import_module(f"cogworks.llm.providers.{name}").OPENING
    return opening
