"""Where the APIs of a server are, and whether the token may go there."""

from cogworks.errors import UsageError
from cogworks.forge.addresses import ApiAddresses, api_addresses, is_known_host
from cogworks.settings.config import Environment


def apis_of(environment: Environment, server_url: str) -> ApiAddresses:
    """Where the APIs of a server are.

    Raises:
        UsageError: nobody said that the token may go to that server.
    """
    server = environment.github_server_url.rstrip("/")
    if server == server_url:
        # The variables speak of one server; an issue elsewhere must not be looked up there.
        return api_addresses(
            server,
            rest_url=environment.github_api_url or None,
            graphql_url=environment.github_graphql_url or None,
        )
    if not is_known_host(server_url):
        raise UsageError(
            f"the token would go to {server_url}. If that is your GitHub Enterprise Server, "
            f"say so: GITHUB_SERVER_URL={server_url}"
        )
    return api_addresses(server_url)
