"""What one worker serves: the catalogue, the engine once it is loaded, and what must be known across requests.

Requests stand alone, so the little that outlives one is here: who listens for changes, which calls run, and the
questions that wait for a client's answer. All of it belongs to an owner, and nobody else can reach it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from specloom.core import MOST_PAYLOAD, BackplaneError
from specloom.server import Announcements

if TYPE_CHECKING:
    from specloom.core import Bus
    from specloom.server import Backend, Catalogue, LiveCall

    from .gate import Caller

    class Engine(Protocol):
        """The engine once it is loaded."""

        def make_backend(self, caller: Caller) -> Backend: ...
        async def aclose(self) -> None: ...

    Answered = Callable[[dict[str, Any] | None], object]

    class Listener(Protocol):
        """A client's open stream of changes."""

        owner: str

        def tell_change(self, method: str, params: Mapping[str, Any] | None) -> None: ...
        def hang_up(self) -> None: ...


MOST_OWNERS = 4096
"""Owners whose views of the engine are remembered; making one takes microseconds."""
MOST_SELECTIONS = 256
"""Selections of tools, as scopes make them, whose lists are remembered."""
MOST_STREAMS, MOST_STREAMS_AN_OWNER = 1000, 64
"""Streams of changes that a worker, and an owner, may have open."""
LAST_CALLS = 1.5
CHANGED = "changed"
"""The topic of the bus on which workers tell each other of changes."""
CLOSING = 2.0
"""Seconds, at most, that the engine has to close."""


class HttpService:
    """The engine as one worker serves it, to any number of owners."""

    def __init__(
        self,
        catalogue: Catalogue,
        load: Callable[[], Engine],
        *,
        bus: Bus | None = None,
        report: Callable[[BaseException], object] = lambda _: None,
    ) -> None:
        """`load` makes the engine and runs in a thread; `bus` is that of the workers that answer the same clients."""
        self.catalogue = catalogue
        self._announcements: OrderedDict[frozenset[str] | None, Announcements] = OrderedDict()
        self.report = report
        self.is_alone = bus is None
        self._bus = bus
        self.is_draining = False
        self.last_calls = LAST_CALLS
        """Seconds after the beginning of the end in which calls are still taken."""
        self._drained = 0.0
        self.streams = 0
        self._load = load
        self._engine: Engine | None = None
        self._loading: asyncio.Task[Engine] | None = None
        self._thread = threading.get_ident()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._backends: OrderedDict[Hashable, Backend] = OrderedDict()
        self._listening: dict[str, set[Listener]] = {}
        self._running: dict[tuple[str, str | int], list[LiveCall]] = {}
        self._questions: dict[str, tuple[str, Answered]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._telling: set[asyncio.Task[None]] = set()
        self._hearing: asyncio.Task[None] | None = None

    # The engine.

    @property
    def is_ready(self) -> bool:
        """Whether calls are answered without waiting for the engine."""
        return self._engine is not None

    def start(self, when_ready: Callable[[], object] = lambda: None) -> None:
        """Begin to load the engine, and say when it is there; runs on the loop that serves."""
        self._thread = threading.get_ident()
        self._loop = asyncio.get_running_loop()
        self._begin().add_done_callback(lambda _: when_ready() if self.is_ready else None)
        if self._bus is not None:
            self._hearing = self._loop.create_task(self._hear(self._bus))

    def _begin(self) -> asyncio.Task[Engine]:
        if self._loading is None or (self._loading.done() and self._engine is None):
            self._loading = asyncio.get_running_loop().create_task(asyncio.to_thread(self._load))
            self._loading.add_done_callback(self._loaded)
        return self._loading

    def _loaded(self, loading: asyncio.Task[Engine]) -> None:
        if loading.cancelled():
            return
        if (error := loading.exception()) is not None:
            self.report(error)
        else:
            self._engine = loading.result()

    def announce(self, caller: Caller) -> Announcements:
        """What a caller is told of the server: the tools that they may use."""
        announced = self._announcements.get(caller.tools)
        if announced is None:
            catalogue = self.catalogue if caller.tools is None else self.catalogue.narrow(caller.tools)
            announced = self._announcements[caller.tools] = Announcements(catalogue, watches=False)
            if len(self._announcements) > MOST_SELECTIONS:
                self._announcements.popitem(last=False)
        return announced

    def find_backend(self, caller: Caller) -> Backend | None:
        """The engine as a caller sees it, if it is loaded."""
        key = caller.key
        backend = self._backends.get(key)
        if backend is not None:
            self._backends.move_to_end(key)
        elif self._engine is not None:
            backend = self._backends[key] = self._engine.make_backend(caller)
            if len(self._backends) > MOST_OWNERS:
                self._backends.popitem(last=False)
        return backend

    async def wait_for_engine(self) -> Engine:
        """The engine, once it is loaded; raises what keeps it from being loaded."""
        if self._engine is None:
            self._engine = await asyncio.shield(self._begin())
        return self._engine

    def forget_backends(self) -> None:
        """Make the engine's views anew for who calls next; the calls that run go on with theirs."""
        self._backends.clear()

    async def wait_for_backend(self, caller: Caller) -> Backend:
        """The same, once it is loaded; raises what keeps it from being loaded."""
        await self.wait_for_engine()
        backend = self.find_backend(caller)
        assert backend is not None
        return backend

    # Running calls.

    def run(self, caller: Caller, call: LiveCall) -> asyncio.Task[None]:
        """The task that performs a call, and that cancelling the call ends."""
        task = asyncio.get_running_loop().create_task(self._perform(caller, call))
        key = (caller.owner, call.request_id)
        self._running.setdefault(key, []).append(call)
        self._tasks.add(task)
        call.on_cancel = task.cancel

        def end(ended: asyncio.Task[None]) -> None:
            self._tasks.discard(ended)
            calls = self._running.get(key, [])
            calls.remove(call)
            if not calls:
                self._running.pop(key, None)
            # A task that is cancelled before its first step never gets to answer for itself.
            if ended.cancelled() or ended.exception() is not None:
                call.fail()

        task.add_done_callback(end)
        return task

    async def _perform(self, caller: Caller, call: LiveCall) -> None:
        try:
            backend = await self.wait_for_backend(caller)
        except Exception:  # noqa: BLE001 - reported where it was loaded; the client is told that it failed
            call.fail()
            return
        await call.run(backend)

    @property
    def running(self) -> int:
        """How many calls run."""
        return len(self._tasks)

    def cancel(self, owner: str, request_id: str | int) -> None:
        """Cancel the call of an owner that has this id; where several of its clients use the id, none."""
        calls = self._running.get((owner, request_id), [])
        if len(calls) == 1:
            calls[0].cancel()

    # Streams of changes.

    def open_stream(self, listener: Listener) -> bool:
        """Count a stream of changes; False where there are too many."""
        own = self._listening.get(listener.owner, set())
        if self.streams >= MOST_STREAMS or len(own) >= MOST_STREAMS_AN_OWNER:
            return False
        self._listening.setdefault(listener.owner, own).add(listener)
        self.streams += 1
        return True

    def close_stream(self, listener: Listener) -> None:
        """Forget a stream of changes."""
        own = self._listening.get(listener.owner, set())
        if listener in own:
            own.discard(listener)
            self.streams -= 1
        if not own:
            self._listening.pop(listener.owner, None)

    def tell_change(self, owner: str, method: str, params: Mapping[str, Any] | None) -> None:
        """Tell every stream of an owner of a change, whichever worker has it. May be called from any thread."""
        if threading.get_ident() != self._thread and self._loop is not None:
            self._loop.call_soon_threadsafe(self.tell_change, owner, method, params)
            return
        if self._bus is None:
            self._tell_here(owner, method, params)
            return
        payload = json.dumps([owner, method, params], separators=(",", ":")).encode()
        if len(payload) <= MOST_PAYLOAD:
            telling = asyncio.get_running_loop().create_task(self._tell_all(self._bus, payload))
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)

    async def _tell_all(self, bus: Bus, payload: bytes) -> None:
        try:
            await bus.tell(CHANGED, payload)
        except BackplaneError:
            owner, method, params = json.loads(payload)
            self._tell_here(owner, method, params)

    async def _hear(self, bus: Bus) -> None:
        """Tell the streams of this worker of changes that any worker has made."""
        async for payload in bus.listen(CHANGED):
            try:
                owner, method, params = json.loads(payload)
            except ValueError:
                continue
            self._tell_here(owner, method, params)

    def _tell_here(self, owner: str, method: str, params: Mapping[str, Any] | None) -> None:
        for listener in tuple(self._listening.get(owner, ())):
            listener.tell_change(method, params)

    # Questions to clients.

    def ask(self, owner: str, answered: Answered) -> str:
        """The id of a new question to a client of an owner; nobody else can guess it, or answer it."""
        number = secrets.token_hex(16)
        self._questions[number] = (owner, answered)
        return number

    def settle(self, owner: str, number: object, result: dict[str, Any] | None) -> None:
        """Hand an answer to whoever asked; an unknown id, or that of another owner's question, is let pass."""
        waiting = self._questions.get(number) if isinstance(number, str) else None
        if waiting is not None and waiting[0] == owner:
            self.forget(str(number))
            waiting[1](result)

    def forget(self, number: str) -> None:
        """No longer wait for an answer."""
        self._questions.pop(number, None)

    # The end.

    @property
    def takes_calls(self) -> bool:
        """Whether calls are still taken: who has just connected could not know that the server leaves."""
        return not self.is_draining or time.monotonic() - self._drained < self.last_calls

    def drain(self) -> None:
        """Soon take no more calls, and end the streams of changes with their result."""
        if not self.is_draining:
            self.is_draining, self._drained = True, time.monotonic()
        for listeners in tuple(self._listening.values()):
            for listener in tuple(listeners):
                listener.hang_up()

    async def close(self, seconds: float) -> None:
        """Wait for what runs, at most so long, cancel the rest, and close the engine."""
        self.drain()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSING)
        if self._hearing is not None:
            self._hearing.cancel()
        if self._engine is None:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._engine.aclose(), CLOSING)

    def is_own_thread(self) -> bool:
        """Whether this runs on the thread of the loop that serves."""
        return threading.get_ident() == self._thread

    def call_soon(self, function: Callable[..., object], *values: object) -> None:
        """Run a function on the loop that serves; from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(function, *values)
