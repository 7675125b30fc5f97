"""Runs operations of providers: behind their breakers, within their limits, and with the key whose turn it is."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from typing import Any

from .breaker import Breakers
from .cache import AnswerCache
from .cachekeys import request_key
from .counts import Count
from .driving import drive_live
from .faults import Fault
from .keyring import SPENT, Key, Keyring
from .limits import Limiter
from .model_providers import Operation, Provider
from .perform import perform
from .recording import Sender, from_recording, secrets_of, to_recording
from .vault import redact, redact_body
from .wire import Answer, Request, Response


class Upstreams:
    """All providers as they can be asked; what is kept between requests is theirs, and not a call's."""

    def __init__(
        self,
        providers: Mapping[str, Provider],
        settings: Mapping[str, Mapping[str, Any]],
        *,
        sender: Sender,
        breakers: Breakers,
        cache: AnswerCache | None,
        clock: Callable[[], float],
    ) -> None:
        self.counts: dict[str, Count] = {}
        """How each operation fared, by its id; of those that were asked."""
        self._providers = providers
        self._settings = settings
        self._sender = sender
        self._breakers = breakers
        self._cache = cache
        self._clock = clock
        self._limiters: dict[str, Limiter] = {}
        self._keyrings = {one.name: Keyring(one, settings[one.name]) for one in providers.values()}

    async def ask(
        self, name: str, operation_name: str, arguments: Mapping[str, Any], *, within: float | None = None
    ) -> Answer:
        """Run one operation of one provider behind its breaker and its limits, in `within` seconds; raises Fault."""
        provider = self._providers[name]
        operation = provider.operations[operation_name]
        count = self.counts.setdefault(operation.id, Count())
        began = time.perf_counter()
        try:
            with self._breakers.of(name, operation_name).acquire() as permit:
                async with _bounded(within, provider.title):
                    answer = await self._with_keys(provider, operation, arguments)
                permit.succeed()
        except Fault as fault:
            count.add(time.perf_counter() - began, fault)
            raise self._owned(fault, name) from None
        count.add(time.perf_counter() - began)
        return answer

    async def _with_keys(self, provider: Provider, operation: Operation, arguments: Mapping[str, Any]) -> Answer:
        """The answer with the key whose turn it is; where that one is spent, with the next."""
        spent: Fault | None = None
        for key in self._keyrings[provider.name].turn():
            try:
                return await self._drive(provider, operation, arguments, key)
            except Fault as fault:
                if fault.kind not in SPENT or fault.ours:
                    raise
                spent = fault
        assert spent is not None
        raise spent

    async def _drive(self, provider: Provider, operation: Operation, arguments: Mapping[str, Any], key: Key) -> Answer:
        fresh: list[Response] = []
        readable: list[tuple[Request, Response]] = []

        async def send(request: Request) -> Response:
            kept = await self._recall(request)
            if kept is not None:
                return kept
            response = await self._send_now(provider, request)
            body = redact_body(response.body, [*key.secrets(), *secrets_of(request)])
            response = response if body is response.body else replace(response, body=body)
            if request.keep_for:
                fresh.append(response)
            return response

        def note(request: Request, response: Response) -> None:
            # Of what came out of the cache the time does not begin anew.
            if any(response is one for one in fresh):
                readable.append((request, response))

        running = perform(provider, operation, arguments, key.settings, self._clock(), key.tokens, note)
        try:
            answer = await drive_live(running, send)
        except Fault as fault:
            # What could be read and then not be worked with is as bad as what could not be read.
            if fault.kind != "layout_changed":
                await self._keep(readable)
            raise
        await self._keep(readable)
        return answer

    async def _recall(self, request: Request) -> Response | None:
        """The response that was kept for such a request."""
        if not request.keep_for or self._cache is None:
            return None
        entry = await self._cache.get("kept:" + request_key(request))
        return from_recording(json.loads(entry.value)["response"], request.url) if entry is not None else None

    async def _keep(self, readable: list[tuple[Request, Response]]) -> None:
        if self._cache is None:
            return
        for request, response in readable:
            if response.status < 300:
                kept = json.dumps(to_recording(request, response)).encode()
                await self._cache.put("kept:" + request_key(request), kept, request.keep_for, soon=True)

    async def _send_now(self, provider: Provider, request: Request) -> Response:
        service = provider.service
        if service.rate is None and service.concurrency is None and not service.faster:
            return await self._sender.send(request)
        limiter = self._limiters.get(provider.name)
        if limiter is None:
            values = self._settings[provider.name]
            rate = next((one for name, one in service.faster if values.get(name) is not None), service.rate)
            limiter = self._limiters[provider.name] = Limiter(rate, service.concurrency, name=provider.title)
        async with limiter.slot(request.policy.timeout):
            return await self._sender.send(request)

    def _owned(self, fault: Fault, provider: str) -> Fault:
        """The fault with the provider's name, and without any secret that the upstream may have echoed."""
        known = self._keyrings[provider].secrets()
        return fault.told_as(
            message=redact(fault.message, known),
            provider=fault.provider or provider,
            detail=redact(fault.detail, known),
        )


@contextlib.asynccontextmanager
async def _bounded(seconds: float | None, title: str) -> AsyncIterator[None]:
    """A fault of the upstream where what is inside takes longer; None for as long as it takes."""
    if seconds is None:
        yield
        return
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise Fault("upstream_unavailable", f"{title} gave no answer in {seconds:.3g} seconds") from None
