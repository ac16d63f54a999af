"""Stands before the whole hub: counts every request, lets faults strike, and stops the world for a snapshot."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cogworks.hub.clock import Clock
from cogworks.hub.fault_answers import Replica, encoded, instead, spoilt
from cogworks.hub.faults import FaultPlan, Faults, Rule
from cogworks.hub.journal import Asked, Entry, Journal, asked
from cogworks.hub.ratelimits import BILL

ADMIN_ROOT = "/_hub/"
_CUT_BEFORE = frozenset({"refuse"})
_INSTEAD = frozenset({"error_before", "redirect", "rate_limited", "rate_limited_200", "missing"})


class Cut(Exception):
    """No answer leaves for this request: the server of the application breaks the connection."""


class Gate:
    """Open: any number of requests are being handled. Closed: none is, and new ones wait."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._inside = 0
        self._is_closed = False

    @asynccontextmanager
    async def passing(self) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: not self._is_closed)
            self._inside += 1
        try:
            yield
        finally:
            async with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @asynccontextmanager
    async def closed(self) -> AsyncIterator[None]:
        """Alone with the hub, once everything that was being handled is done."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._is_closed)
            self._is_closed = True
            await self._changed.wait_for(lambda: self._inside == 0)
        try:
            yield
        finally:
            async with self._changed:
                self._is_closed = False
                self._changed.notify_all()


class Holding:
    """Requests that are held until somebody lets them go."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._held: dict[int, Entry] = {}
        self._round = 0

    async def hold(self, entry: Entry) -> None:
        """Return when the request is released."""
        async with self._changed:
            self._held[entry.number] = entry
            self._changed.notify_all()
            start = self._round
            try:
                await self._changed.wait_for(lambda: self._round > start)
            finally:
                self._held.pop(entry.number, None)

    async def release(self) -> int:
        """Let all go; how many there were."""
        async with self._changed:
            count = len(self._held)
            self._round += 1
            self._changed.notify_all()
            return count

    async def held(self, wait_s: float) -> list[Entry]:
        """Who is held; waits for the first one so long at most."""
        async with self._changed:
            if not self._held:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait_for(lambda: bool(self._held)), wait_s)
            return list(self._held.values())


@dataclass
class Controls:
    """What the administrator of a running hub has at hand."""

    clock: Clock
    newest_id: Callable[[], int]
    """The number of the newest record."""
    faults: Faults = field(default_factory=Faults)
    replicas: dict[int, Replica] = field(default_factory=dict)
    journal: Journal = field(default_factory=Journal)
    gate: Gate = field(default_factory=Gate)
    holding: Holding = field(default_factory=Holding)

    def play(self, plan: FaultPlan) -> None:
        """Replace the plan; all its counts start at nothing."""
        self.faults = Faults(plan)
        self.replicas = {id(rule): Replica(newest_id=self.newest_id()) for rule in plan.faults}


class FaultMiddleware:
    """The application inside, seen through the desk's plan."""

    def __init__(self, app: ASGIApp, controls: Controls) -> None:
        self._app = app
        self._desk = controls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = await _read(receive)
        request = asked(
            scope["method"], scope["path"], scope.get("query_string", b"").decode("latin-1"), body
        )
        controls = self._desk
        entry = controls.journal.open(request, controls.clock.now())
        struck = controls.faults.meets(request)
        entry.fault = ", ".join(rule.kind for rule in struck)
        for rule in struck:
            if rule.kind == "latency":
                await asyncio.sleep((rule.latency_ms or 0) / 1000)
        exchange = _Exchange(self._app, controls, entry, scope, body, receive, send)
        strikes = [rule for rule in struck if rule.kind != "latency"]
        if strikes:
            await exchange.struck_by(strikes[0])
        else:
            await exchange.handle(exchange.pass_on)


@dataclass
class _Exchange:
    """One request on its way."""

    app: ASGIApp
    controls: Controls
    entry: Entry
    scope: Scope
    body: bytes
    receive: Receive
    send: Send

    @property
    def request(self) -> Asked:
        return self.entry.asked

    async def struck_by(self, rule: Rule) -> None:
        if rule.kind in _CUT_BEFORE:
            raise Cut
        if rule.kind in _INSTEAD:
            await self._answer_instead(rule)
            return
        if rule.kind == "hold_before":
            if await self._is_gone():
                raise Cut
            await self.handle(self.pass_on)
            return
        answer = _Kept()
        await self.handle(answer.keep)
        await self._after(rule, answer)

    async def _after(self, rule: Rule, answer: "_Kept") -> None:
        match rule.kind:
            case "cut_after":
                raise Cut
            case "hold_after" if await self._is_gone():
                raise Cut
            case "error_after":
                await self._answer_instead(rule)
                return
            case "partial":
                answer.change(lambda body: spoilt(rule, body))
            case "stale":
                replica = self.controls.replicas[id(rule)]
                answer.change(lambda body: replica.seen_through(rule, self.request, body))
            case _:
                pass
        for message in answer.messages:
            await self.pass_on(message)

    async def handle(self, send: Send) -> None:
        bill: list[int] = []
        token = BILL.set(bill)
        try:
            async with self.controls.gate.passing():
                await self.app(self.scope, self._replayed(), send)
                self.entry.was_handled = True
                self.entry.points = sum(bill)
                self.controls.faults.handled(self.request)
        finally:
            BILL.reset(token)

    async def pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.entry.status = message["status"]
        await self.send(message)

    async def _answer_instead(self, rule: Rule) -> None:
        reply = instead(rule, self.request, self.controls.clock.now())
        content = encoded(reply.body)
        headers = {**reply.headers, "content-type": "application/json", "content-length": str(len(content))}
        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        await self.pass_on({"type": "http.response.start", "status": reply.status, "headers": raw})
        await self.pass_on({"type": "http.response.body", "body": content})

    async def _is_gone(self) -> bool:
        """Hold the request until it is released (False) or its client is gone (True)."""
        held = asyncio.create_task(self.controls.holding.hold(self.entry))
        leaving = asyncio.create_task(self._client_leaves())
        try:
            await asyncio.wait({held, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return leaving.done()
        finally:
            for task in (held, leaving):
                task.cancel()
            await asyncio.gather(held, leaving, return_exceptions=True)

    async def _client_leaves(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass

    def _replayed(self) -> Receive:
        is_read = False

        async def receive() -> Message:
            nonlocal is_read
            if is_read:
                return await self.receive()
            is_read = True
            return {"type": "http.request", "body": self.body, "more_body": False}

        return receive


class _Kept:
    """An answer that waits."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def keep(self, message: Message) -> None:
        self.messages.append(message)

    def change(self, change: Callable[[Any], Any]) -> None:
        """Rewrite the JSON body; an answer of another kind stays as it is."""
        body = b"".join(message.get("body", b"") for message in self.messages)
        start = self.messages[0]
        try:
            content = encoded(change(json.loads(body)))
        except ValueError:
            return
        headers = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
        headers.append((b"content-length", str(len(content)).encode()))
        self.messages = [{**start, "headers": headers}, {"type": "http.response.body", "body": content}]


async def _read(receive: Receive) -> bytes:
    chunks: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(chunks)
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(chunks)
