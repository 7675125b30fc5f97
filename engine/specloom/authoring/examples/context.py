"""The context of an example: what a procedure asks is answered by the example, and nothing is sent or kept."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import tempfile
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from specloom.core import Answer, Fault, Request, Response, all_failed
from specloom.model import Model, Row, Tool
from specloom.plugins import PROCEDURES, Collection, CollectionSpec, Item, Kept
from specloom.runtime import Ask, Offer, Run, none_configured, resolve

if TYPE_CHECKING:
    from specloom.storage import StateStore


Answering = Callable[[Ask], Answer | Fault]
Replying = Callable[[Request], Response | Fault]
Result = TypeVar("Result")


@dataclass(slots=True)
class ExampleState:
    """What the calls of one example share: who calls, what is kept, and how many identifiers were given out."""

    now: float
    collections: Mapping[str, CollectionSpec] = field(default_factory=dict)
    owner: str = ""
    store: StateStore | None = field(default=None, repr=False)
    ids: int = 0

    def drawer(self, collection: str, space: str = "") -> Collection:
        """The caller's view of a collection that is kept in memory."""
        if self.store is None:
            from specloom.storage import open_memory

            self.store = open_memory(self.collections.values(), clock=lambda: self.now)
        return self.store.drawer(collection, self.owner, space=space)

    def close(self) -> None:
        """Forget what is kept."""
        if self.store is not None:
            self.store.close()

    def new_id(self) -> str:
        """The next of a fixed row of identifiers."""
        self.ids += 1
        return f"00000000-0000-4000-8000-{self.ids:012d}"


class ExampleContext:
    """A `specloom.plugins.context.Context` for one example of a tool."""

    def __init__(
        self,
        tool: Tool,
        model: Model,
        offer: Offer,
        config: Mapping[str, Any],
        room: ExampleState,
        answer: Answering,
        reply: Replying,
    ) -> None:
        self._tool, self._model, self._offer = tool, model, offer
        self._config, self._room = config, room
        self._answer, self._reply = answer, reply

    @property
    def owner(self) -> str:
        return self._room.owner

    @property
    def config(self) -> Mapping[str, Any]:
        return self._config

    @property
    def allow_private(self) -> bool:
        return False

    @property
    def is_live(self) -> bool:
        return False

    def now(self) -> float:
        return self._room.now

    def tell(self, done: float, total: float | None, message: str) -> None:
        """Nobody listens."""

    def offering(self, operation: str) -> tuple[str, ...]:
        return self._offer.orders.get(operation, ())

    async def ask(self, operation: str, arguments: Mapping[str, Any], *, provider: str = "") -> Answer:
        if provider:
            resolve(provider, operation, self._tool, self._model, self._offer)
        failed: list[Fault] = []
        for name in [provider] if provider else self.offering(operation):
            taken = self._model.providers[name].operations[operation].input
            given = {key: arguments[key] for key in taken if arguments.get(key) is not None}
            got = self._answer(Ask(name, operation, given))
            if isinstance(got, Answer):
                return got
            failed.append(got)
        raise all_failed(failed) if failed else none_configured(self._tool, self._model, self._offer, (operation,))

    async def run(self, procedure: str, parameters: Mapping[str, Any]) -> Row:
        return await PROCEDURES[procedure].function(self, parameters)

    async def send(self, request: Request) -> Response:
        await asyncio.sleep(0)
        got = self._reply(request)
        if isinstance(got, Fault):
            raise got
        return got

    async def remember(self, key: str, ttl: float, make: Callable[[], Awaitable[Any]]) -> Kept:  # noqa: ARG002
        return Kept(await make())

    async def recall(self, key: str) -> Kept | None:  # noqa: ARG002
        return None

    async def keep(self, key: str, value: Any, ttl: float) -> None:
        """Nothing is kept."""

    def new_id(self) -> str:
        return self._room.new_id()

    def state(self, collection: str, *, space: str = "") -> Collection:
        return self._room.drawer(collection, space)

    async def keep_artifact(self, text: str, *, name: str, mime_type: str) -> str:  # noqa: ARG002
        return self._model.address_artifact(hashlib.sha256(text.encode()).hexdigest()[:32])


def run_procedure(run: Run, context: ExampleContext) -> Row | Fault:
    """What a procedure gives at this context; it runs to its end before this returns."""

    async def work() -> Row | Fault:
        try:
            return await run.function(context, run.parameters)
        except Fault as fault:
            return fault
        except Exception as error:  # noqa: BLE001 - it is told at the example, and the others still run
            return Fault("internal", f"the procedure {run.procedure} has a defect: {type(error).__name__}: {error}")

    return run_through(work())


def furnish(room: ExampleState, items: Iterable[Mapping[str, Any]]) -> Fault | None:
    """Put items into the room of an example; what is wrong with one of them."""

    async def work() -> Fault | None:
        for one in items:
            if one["in"] not in room.collections:
                known = sorted(room.collections)
                return Fault("not_found", f"there is no collection {one['in']!r}", alternatives=known)
            collection = room.drawer(one["in"], str(one.get("space", "")))
            try:
                for number in range(one.get("times", 1)):
                    await collection.put(str(one["key"]).replace(NUMBER, str(number)), one["value"])
            except Fault as fault:
                return fault
        return None

    return run_through(work())


def find_kept(room: ExampleState, item: Mapping[str, Any]) -> Item | None:
    """What is kept where an example expects an item."""
    if item["in"] not in room.collections:
        return None
    return run_through(room.drawer(item["in"], str(item.get("space", ""))).get(str(item["key"])))


def run_through(work: Coroutine[Any, Any, Result]) -> Result:
    """What a coroutine gives, also where a loop is running already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    # A loop cannot wait for another one in its own thread.
    done: list[Result] = []
    thread = threading.Thread(target=lambda: done.append(asyncio.run(work)), name="example")
    thread.start()
    thread.join()
    return done[0]


# --- The files that are there when an example begins: in a folder of its own, which goes with it ----------------------


FOLDER, NUMBER = "{folder}", "{number}"


@contextlib.contextmanager
def placed(said: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """An example with its files on disk and the path of their folder for `{folder}` in `args` and `config`."""
    files = said.get("files")
    if not files:
        yield said
        return
    with tempfile.TemporaryDirectory(prefix="specloom-example-") as folder:
        for name, text in files.items():
            many = text if isinstance(text, Mapping) else {"times": 1, "of": text}
            for number in range(many["times"]):
                path = Path(folder, name.replace(NUMBER, str(number)))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(many["of"].replace(NUMBER, str(number)), encoding="utf-8")
        yield {**said, **{part: _put(said[part], folder) for part in ("args", "config") if part in said}}


def _put(value: Any, folder: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _put(one, folder) for name, one in value.items()}
    return value.replace(FOLDER, folder) if isinstance(value, str) else value
