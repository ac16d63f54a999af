"""What the providers `bedrock` and `vertex` take from the environment, under the names that the vendor's own client reads.

Credentials are found by the clouds' own libraries; only a key of Bedrock's own is read here.
"""

from collections.abc import Mapping

from pydantic import Field

from cogworks.settings.credentials import Credential, first_credential
from cogworks.vocabulary import Value


class Clouds(Value):
    """Where models are at clouds, and who asks."""

    aws_region: str = ""
    bedrock_key: Credential = Field(default=Credential(), repr=False)
    bedrock_base_url: str = ""
    """Empty: Bedrock of the region."""
    vertex_project: str = ""
    """Empty: that of the credentials."""
    vertex_region: str = ""
    vertex_base_url: str = ""
    """Empty: Vertex AI of the region."""


def clouds_of(env: Mapping[str, str]) -> Clouds:
    """The part of an environment that is about clouds."""
    base_url = env.get("COGWORKS_LLM_BASE_URL", "")
    return Clouds(
        aws_region=env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION", ""),
        bedrock_key=first_credential(env, "AWS_BEARER_TOKEN_BEDROCK"),
        bedrock_base_url=base_url or env.get("ANTHROPIC_BEDROCK_BASE_URL", ""),
        vertex_project=env.get("ANTHROPIC_VERTEX_PROJECT_ID") or env.get("GOOGLE_CLOUD_PROJECT", ""),
        vertex_region=env.get("CLOUD_ML_REGION", ""),
        vertex_base_url=base_url or env.get("ANTHROPIC_VERTEX_BASE_URL", ""),
    )
