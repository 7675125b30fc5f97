"""The context of a live call: what a procedure asks goes through the executor, and what it keeps through the cache."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from specloom.cache import AnswerCache
from specloom.core import Answer, Fault, Request, Response, all_failed, redact_response, to_plain
from specloom.model import Model, Operation, Tool
from specloom.plugins import (
    PROCEDURES,
    Artifact,
    ArtifactKeeper,
    Collection,
    Collections,
    Kept,
    SitePage,
    SiteRoute,
    WholeText,
)

from .cursor import find_position
from .degradation import NO_FAILURE, say_parts
from .notices import none_configured, resolve
from .pages import PageIndex, make_page
from .plan import Life, Offer, Progress, Run, Shortfall
from .providers import Upstreams, name_part
from .recordings import Sender
from .request import Writes, secrets_of
from .single_flight import Flights
from .spending import CallBill, PaidQuestion, Spending


class LiveEngine(Protocol):
    """What a live call needs of the executor that runs it."""

    model: Model
    sender: Sender
    upstreams: Upstreams
    spending: Spending
    flights: Flights
    cache: AnswerCache | None
    drawers: Collections | None
    artifacts: ArtifactKeeper | None
    clock: Callable[[], float]
    allow_private: bool
    is_live: bool
    is_personal: bool
    is_alone: bool
    tool_settings: dict[str, dict[str, Any]]

    @property
    def sites(self) -> PageIndex:
        """The pages of sites that providers read."""

    def offer(self) -> Offer:
        """Who can be asked now."""

    def sharing(self, owner: str) -> str:
        """Who shares what is kept of an owner's calls: a tenant, or everybody, as ""."""


class LiveContext:
    """One call's `specloom.plugins.context.Context` over an executor."""

    def __init__(
        self,
        engine: LiveEngine,
        tool: Tool,
        owner: str,
        progress: Progress | None,
        told: list[Shortfall | str] | None = None,
        *,
        is_shared: bool = False,
        bill: CallBill | None = None,
        written: list[Writes] | None = None,
        running: Run | None = None,
    ) -> None:
        """With `is_shared` others get the answer as well, and whatever is one owner's is a defect of the tool.

        All that is asked is on the `bill`, and each ask is a question with a ceiling of its own. `written` gets a count
        of what is written for each operation that is asked, and `running` the answers that a caller can go on with.
        """
        self._engine = engine
        self._is_shared = is_shared
        self._told = [] if told is None else told
        self._tool = tool
        self._progress = progress
        self._owner = owner
        self._tenant = engine.sharing(owner)
        self._since = engine.cache.generation if engine.cache is not None else None
        self._bill = bill if bill is not None else CallBill()
        self._written = written
        self._running = running
        self.has_sent = False
        """Whether it has sent a request of its own, such as for a page; what providers were asked is on the bill."""
        self.lives: list[Life] = []
        """Of everything that came from the cache, when it was made and when it ends, in seconds since the epoch."""
        self.artifacts: list[Artifact] = []
        """What was kept for the caller, in the order in which it was."""

    @property
    def owner(self) -> str:
        return self._owner

    @property
    def config(self) -> Mapping[str, Any]:
        return self._engine.tool_settings[self._tool.name]

    @property
    def allow_private(self) -> bool:
        return self._engine.allow_private

    @property
    def is_live(self) -> bool:
        return self._engine.is_live

    @property
    def is_personal(self) -> bool:
        return self._engine.is_personal

    @property
    def is_alone(self) -> bool:
        return self._engine.is_alone

    def now(self) -> float:
        return self._engine.clock()

    def tell(self, done: float, total: float | None, message: str) -> None:
        if self._progress is not None:
            self._progress(done, total, to_plain(message))

    def offering(self, operation: str) -> tuple[str, ...]:
        return self._engine.offer().orders.get(operation, ())

    async def ask(
        self, operation: str, arguments: Mapping[str, Any], *, provider: str = "", resumes: bool = False
    ) -> Answer:
        model, offer = self._engine.model, self._engine.offer()
        if provider:
            resolve(provider, operation, self._tool, model, offer)
        question = PaidQuestion(self._bill, self._engine.spending)
        failed: list[Fault] = []
        silent: Answer | None = None
        running = self._running if resumes else None
        names, position = find_position(running, [provider] if provider else offer.orders.get(operation, ()))
        for name in names:
            taken = model.providers[name].operations[operation].input
            given = {key: arguments[key] for key in taken if arguments.get(key) is not None}
            try:
                answer = await self._engine.upstreams.ask(
                    name,
                    operation,
                    given,
                    lives=self.lives,
                    tenant=self._tenant,
                    position=position,
                    goes_on=running is not None and running.cursor is not None,
                    question=question,
                    written=self._written,
                )
            except Fault as fault:
                if model.capabilities[operation].writes:
                    # Who has failed may have written, and the next would write it again.
                    raise
                failed.append(fault)
                continue
            if not answer.asked:
                # Who has nothing of the kind is no answer beside others, whether these come after it or have failed.
                silent = silent or answer
                continue
            if failed:
                self._told.append(Shortfall(tuple(failed), operation, name))
            self._told += say_parts(name, answer, model)
            if running is not None and position is not None:
                running.pages.append((name, position, answer))
            return answer
        if silent is not None and not failed:
            return silent
        raise all_failed(failed) if failed else none_configured(self._tool, model, offer, (operation,))

    def notice(self, sentence: str) -> None:
        self._told.append(sentence)

    def lack(self, operation: str, fault: Fault, *, instead: str = "") -> None:
        if fault.kind not in NO_FAILURE:
            self._told.append(Shortfall((fault,), operation, instead))

    def find_site(self, url: str) -> SiteRoute | None:
        match = self._engine.sites.find(url)
        return match.route if match and match.page.provider in self._engine.offer().configured else None

    async def read_site(self, route: SiteRoute) -> SitePage:
        match = self._engine.sites.find(route.url)
        if match is None:
            raise Fault("internal", f"no provider reads {route.url}")

        async def ask(_: str, operation: Operation, arguments: Mapping[str, Any]) -> Answer:
            return await self._engine.upstreams.ask(
                operation.provider,
                operation.name,
                arguments,
                lives=self.lives,
                tenant=self._tenant,
                question=PaidQuestion(self._bill, self._engine.spending),
            )

        return await make_page(match, ask)

    async def run(self, procedure: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        return await PROCEDURES[procedure].function(self, parameters)

    async def send(self, request: Request) -> Response:
        self.has_sent = True
        return redact_response(await self._engine.sender.send(request), secrets_of(request))

    async def remember(self, key: str, ttl: float, make: Callable[[], Awaitable[Any]]) -> Kept:
        async def look(_: Progress) -> Kept:
            kept = await self.recall(key)
            if kept is not None:
                return kept
            made = await make()
            await self.keep(key, made, ttl)
            return Kept(made)

        # Who joins another call's look has the same old part in its answer.
        kept: Kept = await self._engine.flights.run(self._full(key), look)
        self._note(kept)
        return kept

    async def recall(self, key: str) -> Kept | None:
        cache = self._engine.cache
        entry = await cache.get(self._full(key)) if cache is not None else None
        if entry is None:
            return None
        kept = Kept(json.loads(entry.value), entry.age(self.now()), entry.ttl)
        self._note(kept)
        return kept

    def _note(self, kept: Kept) -> None:
        if kept.ttl:
            made = self.now() - kept.age
            self.lives.append((made, made + kept.ttl))

    async def keep(self, key: str, value: Any, ttl: float) -> None:
        if self._engine.cache is not None:
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            encoded = text.encode("utf-8", "surrogatepass")
            await self._engine.cache.put(self._full(key), encoded, ttl, soon=True, since=self._since)

    def _full(self, key: str) -> str:
        """The key in the cache: tenants share what is public unless their answers are kept apart."""
        return f"made:{name_part(self._tenant)}\0{key}"

    def new_id(self) -> str:
        import uuid

        return str(uuid.uuid4())

    def _expect_own(self) -> None:
        if self._is_shared:
            sentence = f"{self._tool.name} wants what is its caller's, and its answer is shared: it may not be kept"
            raise Fault("internal", sentence)

    def state(self, collection: str, *, space: str = "") -> Collection:
        self._expect_own()
        drawers = self._engine.drawers
        if drawers is None:
            raise Fault("config", "This server keeps no state, so nothing can be remembered or recalled.")
        return drawers.drawer(collection, self._owner, space=space)

    async def keep_artifact(self, content: str | bytes, *, name: str, mime_type: str) -> str:
        self._expect_own()
        keeper, cache = self._engine.artifacts, self._engine.cache
        # Whoever was erased meanwhile has nothing new kept of them by a call from before.
        if keeper is None or (cache is not None and cache.generation != self._since):
            return ""
        kept = await keeper.keep(self._owner, content, name=name, mime_type=mime_type)
        self.artifacts.append(kept)
        return kept.uri

    async def read_artifact(self, address: str) -> WholeText | None:
        self._expect_own()
        found = self._engine.model.find_artifact(address)
        if found is None:
            return None
        resource, identifier = found
        keeper = self._engine.artifacts
        kept = await keeper.read(self._owner, identifier) if keeper is not None else None
        if kept is None:
            raise Fault("not_found", f"Nothing is kept under {address[:200]}; {resource.missing}")
        if isinstance(kept.content, bytes):
            message = f"{address[:200]} is a file of the type {kept.mime_type} and no text; save it and open it"
            raise Fault("validation", message, action="fix_arguments")
        return WholeText(text=kept.content, kind=kept.mime_type)
