"""GraphQL over HTTP: one POST in, one JSON object out, status 200 unless the request itself is malformed."""

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from cogworks.hub.actions.access import Actor, authenticate
from cogworks.hub.git_http import basic_token
from cogworks.hub.graphql.endpoint import execute
from cogworks.hub.refusals import BadRequest, Refusal, Unauthenticated
from cogworks.hub.rest.dispatch import json_response, parsed_json, refusal_response, standard_headers
from cogworks.hub.world import World


class GraphqlEndpoint:
    """The endpoint of `/graphql`; every request needs a token."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def answer(self, request: Request) -> Response:
        raw = await request.body()
        token = basic_token(request.headers.get("authorization"))
        return await run_in_threadpool(self._execute, token, raw)

    def _execute(self, token: str | None, raw: bytes) -> Response:
        world = self._world
        try:
            actor = authenticate(world, token)
            if actor.user is None:
                raise Unauthenticated("This endpoint requires you to be authenticated.")
            body = parsed(raw)
        except Refusal as refusal:
            return refusal_response(refusal, standard_headers(world, None, "graphql"))
        answer = execute(
            world,
            actor,
            body["query"],
            body.get("variables"),
            body.get("operationName"),
            with_extensions=world.has_graphql_extensions,
        )
        return json_response(200, answer, self._headers(actor))

    def _headers(self, actor: Actor) -> dict[str, str]:
        return standard_headers(self._world, actor, "graphql")


def parsed(raw: bytes) -> dict[str, Any]:
    """The request object of a GraphQL POST. Raises `BadRequest` for anything else."""
    body = parsed_json(raw)
    if not isinstance(body, dict) or not isinstance(body.get("query"), str):
        raise BadRequest("A query attribute must be specified and must be a string.")
    if not isinstance(body.get("variables") or {}, dict):
        raise BadRequest("Variables are invalid JSON.")
    return body
