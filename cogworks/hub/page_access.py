"""Who may see the pages of private repositories: the browser that once opened the link with the token."""

import hmac
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from cogworks.hub.kept_tokens import PAGES, kept_token
from cogworks.hub.world import World

ASKING = f"""Not Found

Pages of private repositories need the token of this hub. Open the link with ?token= that `cogworks hub serve` printed;
the token is also in {PAGES} of the hub's directory.
"""
"""The same for what is not there and for what is private: nobody learns which."""


class Doorkeeper:
    """Knows the token, and the cookie in which a browser keeps it."""

    def __init__(self, world: World) -> None:
        self._token = kept_token(world.directory, PAGES).encode()
        # Cookies are shared by all ports of a host, and so would be those of two hubs.
        self._cookie = f"hub_pages_{urlsplit(world.base_url).port or 80}"

    def admits(self, request: Request) -> bool:
        """Whether the browser brings the cookie."""
        return self._fits(request.cookies.get(self._cookie, ""))

    def entry(self, request: Request) -> Response | None:
        """The way in for a link with the token: the cookie, and the page's address without it. None for any other."""
        if not self._fits(request.query_params.get("token", "")):
            return None
        # Not the whole address: where it leads is never for the link to say.
        answer = RedirectResponse("/" + request.url.path.lstrip("/"), 303)
        answer.set_cookie(self._cookie, self._token.decode(), httponly=True, samesite="strict")
        return answer

    def _fits(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token)
