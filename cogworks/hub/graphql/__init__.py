"""GitHub's GraphQL API: the whole official schema, executed over the hub's store."""

from cogworks.hub.graphql.endpoint import answer as execute
from cogworks.hub.graphql.endpoint import warm

__all__ = ["execute", "warm"]
