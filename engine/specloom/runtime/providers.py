"""Runs operations of providers: behind their breakers, within their limits, and with the key whose turn it is."""

from __future__ import annotations

import functools
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from specloom.cache import AnswerCache
from specloom.core import (
    Answer,
    Fault,
    Limiter,
    PagePosition,
    Rate,
    Request,
    Response,
    Secret,
    dataclass,
    field,
    parse_rate,
    redact,
    redact_response,
    refuse_start,
    replace,
)
from specloom.core.lazy import LateModule
from specloom.model import COST_FACT, HALF_GIVEN, Operation, Provider

from .circuit_breaker import LONGEST_REST, Breakers
from .metrics import Count
from .operation import LONGEST_PAUSE, drive_live, perform
from .plan import Life
from .quota_headers import read_quota
from .recordings import KEPT_HEADERS, Sender
from .request import STEP as TOKEN_STEP
from .request import Tokens, Writes, secrets_of
from .spending import AskMeter, PaidQuestion, price_of

if TYPE_CHECKING:
    import asyncio

    from specloom.core import Counters

    from .pace import SharedPace
else:
    asyncio = LateModule("asyncio")

# --- The settings of a provider, once for each of its keys: keys are used in turn, and a spent one is passed over -----


LAST_WORD = 0.1
"""Seconds before the end of the time of an operation at which it is done without what has not come yet."""
SPENT = frozenset({"rate_limited", "quota_exhausted", "auth_required"})
"""Kinds of fault for which the next key is worth a try."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One set of settings, with the tokens that were got with it."""

    settings: Mapping[str, Any]
    tokens: Tokens = field(default_factory=dict)

    def secrets(self) -> list[Secret]:
        """Everything secret in it, tokens included."""
        values = [
            one for value in self.settings.values() for one in (value.values() if isinstance(value, dict) else [value])
        ]
        return [one for one in values if isinstance(one, Secret)] + [token for token, _ in self.tokens.values()]


class Keyring:
    """Hands out a provider's keys, each call beginning with the next one."""

    def __init__(self, provider: Provider, values: Mapping[str, Any]) -> None:
        turning = {
            one.name: parts
            for one in provider.settings.values()
            if one.rotate and len(parts := _parts(values.get(one.name))) > 1
        }
        count = max((len(parts) for parts in turning.values()), default=1)
        sets = ({**values, **{name: parts[at % len(parts)] for name, parts in turning.items()}} for at in range(count))
        self._keys = [ApiKey(settings) for settings in sets]
        self._next = 0

    def __len__(self) -> int:
        return len(self._keys)

    def secrets(self) -> list[Secret]:
        """Everything secret in all the keys."""
        return [one for key in self._keys for one in key.secrets()]

    def turn(self) -> Iterator[ApiKey]:
        """Every key once, beginning with the one whose turn it is."""
        start = self._next
        self._next = (start + 1) % len(self._keys)
        for at in range(len(self._keys)):
            yield self._keys[(start + at) % len(self._keys)]


def _parts(value: Any) -> list[Any]:
    text = value.reveal() if isinstance(value, Secret) else value
    if not isinstance(text, str):
        return []
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return [Secret(part) for part in parts] if isinstance(value, Secret) else parts


def name_part(tenant: str) -> str:
    """A tenant as a part of a key, which ends where it ends whatever is in it; nothing for everybody."""
    return json.dumps(tenant) if tenant else ""


# --- Responses that are kept, each with what a spec may read of its headers -------------------------------------------


def _kept_key(request: Request, tenant: str) -> str:
    """A digest of what is sent, with its secrets, because what one key may see another may not.

    It is the same for all operations of a provider that send this request.
    """
    named = [
        [[name, value.reveal() if isinstance(value, Secret) else value] for name, value in pairs]
        for pairs in (request.query, request.headers)
    ]
    body = None if request.body is None else request.body.decode("latin-1")
    sent = json.dumps([request.provider, request.method, request.url, body, *named])
    return f"kept:{name_part(tenant)}{hashlib.sha256(sent.encode()).hexdigest()}"


def _to_kept(response: Response) -> bytes:
    """A line of JSON with status and headers, and the body behind it as it came."""
    headers = {name: value for name, value in response.headers.items() if name in KEPT_HEADERS}
    return json.dumps([response.status, headers]).encode() + b"\n" + response.body


def _from_kept(kept: bytes, url: str) -> Response:
    head, _, body = kept.partition(b"\n")
    status, headers = json.loads(head)
    return Response(status, headers, body, url)


# --- What answers the questions of all calls --------------------------------------------------------------------------


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
        counters: Counters | None = None,
    ) -> None:
        """With `counters` the pace of a provider holds over all processes that share them."""
        self.counts: dict[str, Count] = {}
        """How each operation fared, by its id; of those that were asked."""
        self._providers = providers
        self._settings = settings
        self._sender = sender
        self._breakers = breakers
        self._cache = cache
        self._clock = clock
        self._counters = counters
        self._limiters: dict[str, Limiter | SharedPace] = {}
        self._keyrings: dict[str, Keyring] = {}
        self._learned: dict[str, Rate] = {}
        """The pace that upstreams have told of."""
        self._renewals: dict[str, float] = {}
        """Until when upstreams have told that nothing is left."""

    def under(self, settings: Mapping[str, Mapping[str, Any]], breakers: Breakers) -> Upstreams:
        """The same providers with other settings, keys and breakers; what an operator counts is counted together."""
        other = Upstreams(
            self._providers,
            settings,
            sender=self._sender,
            breakers=breakers,
            cache=self._cache,
            clock=self._clock,
            counters=self._counters,
        )
        other.counts = self.counts
        return other

    def _keyring(self, name: str) -> Keyring:
        if name not in self._keyrings:
            self._keyrings[name] = Keyring(self._providers[name], self._settings[name])
        return self._keyrings[name]

    async def ask(
        self,
        name: str,
        operation_name: str,
        arguments: Mapping[str, Any],
        *,
        within: float | None = None,
        lives: list[Life] | None = None,
        tenant: str = "",
        position: PagePosition | None = None,
        goes_on: bool = False,
        question: PaidQuestion | None = None,
        written: list[Writes] | None = None,
    ) -> Answer:
        """Run one operation of one provider behind its breaker and its limits, in `within` seconds; raises Fault.

        With a `position` it begins there, and its answer can be kept for whoever goes on, who then gets what was kept.
        `question` is on whose bill it goes. `lives` gets the life of each response that was kept from before: for
        `tenant`, where that is named, since one that comes at once tells that somebody has asked before. `written` gets
        the count of what it writes, which goes on also where nobody waits for the answer.
        """
        provider = self._providers[name]
        operation = provider.operations[operation_name]
        count = self.counts.setdefault(f"{name}.{operation_name}", Count())
        began = time.perf_counter()
        meter = answer = None
        writes = Writes()
        if written is not None:
            written.append(writes)
        try:
            with self._breakers.of(name, operation_name).call():
                if question is not None:
                    meter = question.meter(name, price_of(name, provider.service.cost, self._settings[name]))
                    if meter.price:
                        # All who are asked at once have a place for a first page before anybody takes one for a second.
                        await asyncio.sleep(0)
                drive = functools.partial(
                    self._drive, provider, operation, arguments, lives, tenant, meter, position, writes, goes_on=goes_on
                )
                answer = await self._in_time(provider, drive, within, writes)
        except Fault as fault:
            self._slow_down(provider, fault)
            count.add(time.perf_counter() - began, fault)
            raise self._owned(fault, name) from None
        finally:
            if meter is not None:
                await meter.settle(answer.meta.get(COST_FACT) if answer is not None else None)
        count.add(time.perf_counter() - began)
        return answer

    def _slow_down(self, provider: Provider, fault: Fault) -> None:
        """Let the next requests wait for as long as the upstream said, where that is short enough to wait for."""
        if fault.kind == "rate_limited" and not fault.ours and 0 < (fault.said_after or 0) <= LONGEST_PAUSE:
            self._limiter(provider).pause(float(fault.said_after or 0))

    async def _in_time(
        self,
        provider: Provider,
        drive: Callable[[ApiKey, float | None], Awaitable[Answer]],
        seconds: float | None,
        writes: Writes,
    ) -> Answer:
        """The answer with the key whose turn it is; where that one is spent, with the next.

        What has written is not begun anew with another key.
        """
        spent: Fault | None = None
        try:
            async with asyncio.timeout(seconds) as limit:
                for key in self._keyring(provider.name).turn():
                    try:
                        return await drive(key, limit.when())
                    except Fault as fault:
                        if fault.kind not in SPENT or fault.ours or writes.open:
                            raise
                        spent = fault
        except TimeoutError:
            if seconds is None:
                raise
            sentence = f"{provider.title} gave no answer in {seconds:.3g} seconds"
            late = Fault("upstream_unavailable", sentence, late=True)
            raise (late.after_writing() if writes.open else late) from None
        assert spent is not None
        raise spent

    async def _drive(
        self,
        provider: Provider,
        operation: Operation,
        arguments: Mapping[str, Any],
        lives: list[Life] | None,
        tenant: str,
        meter: AskMeter | None,
        position: PagePosition | None,
        writes: Writes,
        key: ApiKey,
        until: float | None,
        *,
        goes_on: bool,
    ) -> Answer:
        fresh: list[Response] = []
        readable: list[tuple[Request, Response]] = []

        async def send(request: Request) -> Response:
            kept = await self._recall(request, tenant) if request.keep_for or goes_on else None
            if kept is not None:
                if lives is not None:
                    lives.append(kept[1])
                return kept[0]
            response = await self._send_in_turn(provider, request, until, meter, is_first=not readable)
            # The answer to a request for a token is itself the secret, and is shown to nobody.
            if request.step != TOKEN_STEP:
                response = redact_response(response, [*key.secrets(), *secrets_of(request)])
            if request.keep_for or position is not None:
                fresh.append(response)
            return response

        since = self._cache.generation if self._cache is not None else None
        running = perform(
            provider,
            operation,
            arguments,
            key.settings,
            self._clock(),
            key.tokens,
            readable.append,
            position,
            meter.afford if meter is not None and meter.price else None,
            writes,
        )
        try:
            answer = await drive_live(running, send, until)
        except Fault as fault:
            # What could be read and then not be worked with is as bad as what could not be read.
            if fault.kind != "layout_changed":
                await self._keep(readable, fresh, tenant, since)
            raise
        least = HALF_GIVEN if goes_on or (answer.following is not None and answer.following.skip) else 0.0
        await self._keep(readable, fresh, tenant, since, least)
        if position is None or least:
            return answer
        return replace(answer, keep=functools.partial(self._keep, readable, fresh, tenant, since, HALF_GIVEN))

    async def _recall(self, request: Request, tenant: str) -> tuple[Response, Life] | None:
        """The response that was kept for such a request, with its life."""
        if self._cache is None:
            return None
        entry = await self._cache.get(_kept_key(request, tenant))
        if entry is None:
            return None
        life = (entry.stored_at, entry.stored_at + entry.ttl)
        return _from_kept(entry.value, request.url), life

    async def _keep(
        self,
        readable: list[tuple[Request, Response]],
        fresh: list[Response],
        tenant: str,
        since: int | None,
        least: float = 0.0,
    ) -> None:
        """Keep what could be read and did not come out of the cache, whose time does not begin anew.

        What its spec does not say is kept is so for `least` seconds, and not at all where that is none.
        """
        if self._cache is None:
            return
        for request, response in readable:
            seconds = max(request.keep_for, least)
            # The fresh ones give no secret away.
            if seconds and response.status < 300 and any(response is one for one in fresh):
                key, kept = _kept_key(request, tenant), _to_kept(response)
                await self._cache.put(key, kept, seconds, soon=True, since=since)

    async def _send_in_turn(
        self, provider: Provider, request: Request, until: float | None, meter: AskMeter | None, *, is_first: bool
    ) -> Response:
        """The response; one for a further page has to come before the time is over, so that the first are not lost."""
        if is_first or until is None:
            return await self._send_metered(provider, request, meter)
        try:
            async with asyncio.timeout_at(until - LAST_WORD):
                return await self._send_metered(provider, request, meter)
        except TimeoutError:
            sentence = f"{provider.title} gave no further page in time"
            raise Fault("upstream_unavailable", sentence, provider=provider.name, ours=True, late=True) from None

    async def _send_metered(self, provider: Provider, request: Request, meter: AskMeter | None) -> Response:
        if meter is None or request.step == TOKEN_STEP:
            return await self._send_now(provider, request)
        await meter.before()
        refused = True
        try:
            response = await self._send_now(provider, request)
            refused = response.status >= 400
        finally:
            if refused:
                await meter.refused()
        return response

    async def _send_now(self, provider: Provider, request: Request) -> Response:
        service = provider.service
        left = self._renewals.get(provider.name, 0.0) - self._clock()
        if left > 0:
            raise refuse_start(provider.title, left)
        limiter = self._limiters.get(provider.name)
        if limiter is None:
            if not (service.rate or service.concurrency or service.learned or service.faster):
                return await self._sender.send(request)
            limiter = self._limiter(provider)
        async with limiter.slot(request.policy.timeout):
            response = await self._sender.send(request)
        if service.learned is not None and request.step != TOKEN_STEP:
            self._learn(provider, response)
        return response

    def _limiter(self, provider: Provider) -> Limiter | SharedPace:
        """The limiter of a provider, made when it is first needed."""
        limiter = self._limiters.get(provider.name)
        if limiter is None:
            rate = self.pace_of(provider.name)
            limiter = Limiter(rate, provider.service.concurrency, name=provider.title)
            if self._counters is not None and (rate is not None or provider.service.learned is not None):
                from .pace import SharedPace

                key = f"provider:{provider.name}"
                limiter = SharedPace(limiter, self._counters, rate, key=key, name=provider.title)
            self._limiters[provider.name] = limiter
        return limiter

    def pace_of(self, name: str) -> Rate | None:
        """How often a provider is asked: as its operator says, else as it told itself, else as its file does."""
        service, values = self._providers[name].service, self._settings[name]
        if own := values.get(f"{name.upper()}_RATE"):
            return parse_rate(own)
        spec = next((one for setting, one in service.faster if values.get(setting) is not None), service.rate)
        return self._learned.get(name, spec)

    def _learn(self, provider: Provider, response: Response) -> None:
        """Go at the pace that the upstream tells of this account, and wait where it tells that nothing is left.

        An operator's own pace stays as it is, and of several keys one that is used up says nothing of the others.
        """
        name = provider.name
        quota = read_quota(provider.service.learned, response.headers, self._clock())
        if quota.rate is not None and quota.rate != self._learned.get(name) and response.status < 400:
            self._learned[name] = quota.rate
            self._limiter(provider).set_rate(self.pace_of(name))
        if quota.is_used_up and len(self._keyring(name)) == 1:
            seconds = min(float(quota.renews or 0), LONGEST_REST)
            if seconds <= LONGEST_PAUSE:
                self._limiter(provider).pause(seconds)
            else:
                self._renewals[name] = self._clock() + seconds

    def _owned(self, fault: Fault, provider: str) -> Fault:
        """The fault with the provider's name, and without any secret that the upstream may have echoed."""
        known = self._keyring(provider).secrets()
        return fault.told_as(
            message=redact(fault.message, known),
            provider=fault.provider or provider,
            detail=redact(fault.detail, known),
        )
