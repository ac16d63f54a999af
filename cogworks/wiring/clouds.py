"""The part of the composition root that opens the providers of clouds; their libraries are imported here, when one is asked for."""

import random
from collections.abc import Callable

from cogworks.errors import PermissionRefused
from cogworks.llm.providers.clouds import CloudProvider
from cogworks.llm.providers.http_door import STALL_S, Waits
from cogworks.llm.waiting import Heard
from cogworks.settings.config import Environment
from cogworks.settings.credentials import PROXY_VARIABLES

CLOUDS = frozenset({"bedrock", "vertex"})


def cloud_provider(
    name: str,
    environment: Environment,
    *,
    left_s: Callable[[], float | None] = lambda: None,
    stall_s: float,
    heard: Heard | None = None,
) -> CloudProvider:
    """The provider `bedrock` or `vertex`; nothing is sent.

    Raises:
        UsageError: its extra is not installed.
        PermissionRefused: there are no credentials.
        ConfigurationError: a region, a project or an address is missing or cannot be used.
    """
    clouds = environment.clouds
    environment.refuse_unusable(clouds.bedrock_key.variable, *PROXY_VARIABLES)
    heard = heard or Heard()
    waits = Waits(heard.pause, random.random, left_s, stall_s, heard)
    if name == "bedrock":
        from cogworks.llm.providers.bedrock import BedrockProvider, Signature

        signature = Signature(clouds.aws_region, key=clouds.bedrock_key.value)
        return BedrockProvider(signature, waits=waits, base_url=clouds.bedrock_base_url or None)
    from cogworks.llm.providers.vertex import Tokens, VertexProvider

    tokens = Tokens(clouds.vertex_project)
    return VertexProvider(tokens, clouds.vertex_region, waits=waits, base_url=clouds.vertex_base_url or None)


def has_credentials(name: str, environment: Environment) -> bool:
    """Whether a cloud's library finds out who we are; nothing is sent. Raises as `cloud_provider`, but for missing credentials."""
    try:
        cloud_provider(name, environment, stall_s=STALL_S).close()
    except PermissionRefused:
        return False
    return True
