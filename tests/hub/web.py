"""An HTTP client that calls an ASGI application in this process; what the application raises comes out."""

import asyncio

import httpx
from starlette.types import ASGIApp


class InProcess(httpx.BaseTransport):
    """One event loop per request, so that tests stay synchronous."""

    def __init__(self, app: ASGIApp) -> None:
        self._inner = httpx.ASGITransport(app)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return asyncio.run(self._answer(request))

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        answer = await self._inner.handle_async_request(request)
        content = await answer.aread()
        return httpx.Response(answer.status_code, headers=answer.headers, content=content)


def web_client(app: ASGIApp, **headers: str) -> httpx.Client:
    """A client of `http://hub.test`."""
    return httpx.Client(transport=InProcess(app), base_url="http://hub.test", headers=headers)
