"""Who may speak to the hub: programs of this machine, and the hub's own pages in a browser.

A page of the web reaches a loopback port too: by a name of its own that it binds to 127.0.0.1, or by a request across origins.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from cogworks.loopback import is_loopback


def from_here_alone(app: ASGIApp, url: str) -> ASGIApp:
    """The application, which is asked nothing by a foreign name (421) or from a page of another origin (403).

    Args:
        url: where the hub is served.
    """

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _refusal(Headers(scope=scope), url) if scope["type"] == "http" else None
        await (refusal or app)(scope, receive, send)

    return guarded


def _refusal(headers: Headers, url: str) -> JSONResponse | None:
    hosts, origins = headers.getlist("host"), headers.getlist("origin")
    if len(hosts) != 1 or not _is_of_this_machine(hosts[0], url):
        message = (
            f"The hub does not answer to the name in `Host`. Ask {url}, or this machine by a loopback name."
        )
        return JSONResponse({"message": message}, 421)
    # A browser sends no `Origin` that a page could choose; other programs send none.
    if any(origin.lower() not in (url, f"http://{hosts[0].lower()}") for origin in origins):
        message = f"`Origin` names another site. Only the hub's own pages at {url} may ask from a browser."
        return JSONResponse({"message": message}, 403)
    return None


def _is_of_this_machine(host: str, url: str) -> bool:
    """Whether the value of a `Host` header is a loopback name, with any port: a tunnel has another than the hub."""
    try:
        asked = urlsplit(f"http://{host}")
        name, _ = asked.hostname or "", asked.port
    except ValueError:
        return False
    is_a_name_alone = asked.netloc == host and "@" not in host
    return is_a_name_alone and (is_loopback(name) or name == urlsplit(url).hostname)
