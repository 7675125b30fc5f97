"""The context of an example: what a procedure asks is answered by the example, and nothing is sent or kept."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import tempfile
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from specloom.core import Answer, Fault, Request, Response, all_failed, dataclass
from specloom.model import Model, Operation, Row, Tool
from specloom.plugins import (
    ARTIFACTS,
    PROCEDURES,
    Collection,
    CollectionSpec,
    Item,
    Kept,
    SitePage,
    SiteRoute,
    WholeText,
)
from specloom.runtime import (
    NO_FAILURE,
    Ask,
    Offer,
    PageIndex,
    Run,
    Shortfall,
    find_position,
    make_page,
    none_configured,
    resolve,
)

if TYPE_CHECKING:
    from specloom.storage import StateStore


Result = TypeVar("Result")


@dataclass(slots=True)
class ExampleState:
    """What the calls of one example share: who calls, what is kept, and how many identifiers were given out."""

    now: float
    collections: Mapping[str, CollectionSpec] = field(default_factory=dict)
    owner: str = ""
    store: StateStore | None = field(default=None, repr=False)
    ids: int = 0

    def collection(self, collection: str, space: str = "") -> Collection:
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


@dataclass(frozen=True, eq=False)
class ExampleContext:
    """A `specloom.plugins.context.Context` for one example of a tool; procedures keep things by it while it lives."""

    tool: Tool
    model: Model
    offer: Offer
    config: Mapping[str, Any]
    call_state: ExampleState
    answer: Callable[[Ask], Answer | Fault]
    reply: Callable[[Request], Response | Fault]
    told: list[Shortfall | str] = field(default_factory=list)
    allow_private: bool = False
    is_live: bool = False
    is_personal: bool = True
    is_alone: bool = True
    running: Run | None = None

    @property
    def owner(self) -> str:
        return self.call_state.owner

    def now(self) -> float:
        return self.call_state.now

    def tell(self, done: float, total: float | None, message: str) -> None:
        """Nobody listens."""

    def offering(self, operation: str) -> tuple[str, ...]:
        return self.offer.orders.get(operation, ())

    async def ask(
        self, operation: str, arguments: Mapping[str, Any], *, provider: str = "", resumes: bool = False
    ) -> Answer:
        if provider:
            resolve(provider, operation, self.tool, self.model, self.offer)
        failed: list[Fault] = []
        silent: Answer | None = None
        running = self.running if resumes else None
        names, position = find_position(running, [provider] if provider else self.offering(operation))
        for name in names:
            taken = self.model.providers[name].operations[operation].input
            passed = {key: arguments[key] for key in taken if arguments.get(key) is not None}
            answer = self.answer(Ask(name, operation, passed, position=position))
            if isinstance(answer, Answer) and not answer.asked:
                silent = silent or answer
                continue
            if isinstance(answer, Answer):
                if failed:
                    self.told.append(Shortfall(tuple(failed), operation, name))
                if running is not None and position is not None:
                    running.pages.append((name, position, answer))
                return answer
            if self.model.capabilities[operation].writes:
                raise answer
            failed.append(answer)
        if silent is not None and not failed:
            return silent
        raise all_failed(failed) if failed else none_configured(self.tool, self.model, self.offer, (operation,))

    def notice(self, sentence: str) -> None:
        self.told.append(sentence)

    def lack(self, operation: str, fault: Fault, *, instead: str = "") -> None:
        if fault.kind not in NO_FAILURE:
            self.told.append(Shortfall((fault,), operation, instead))

    def find_site(self, url: str) -> SiteRoute | None:
        match = PageIndex(self.model.pages).find(url)
        return match.route if match and match.page.provider in self.offer.configured else None

    async def read_site(self, route: SiteRoute) -> SitePage:
        match = PageIndex(self.model.pages).find(route.url)
        assert match is not None

        async def ask(_: str, operation: Operation, arguments: Mapping[str, Any]) -> Answer:
            got = self.answer(Ask(operation.provider, operation.name, arguments))
            if isinstance(got, Fault):
                raise got
            return got

        return await make_page(match, ask)

    async def run(self, procedure: str, parameters: Mapping[str, Any]) -> Row:
        return await PROCEDURES[procedure].function(self, parameters)

    async def send(self, request: Request) -> Response:
        await asyncio.sleep(0)
        response = self.reply(request)
        if isinstance(response, Fault):
            raise response
        return response

    async def remember(self, key: str, ttl: float, make: Callable[[], Awaitable[Any]]) -> Kept:  # noqa: ARG002
        return Kept(await make())

    async def recall(self, key: str) -> Kept | None:  # noqa: ARG002
        return None

    async def keep(self, key: str, value: Any, ttl: float) -> None:
        """Nothing is kept."""

    def new_id(self) -> str:
        return self.call_state.new_id()

    def state(self, collection: str, *, space: str = "") -> Collection:
        return self.call_state.collection(collection, space)

    async def keep_artifact(self, content: str | bytes, *, name: str, mime_type: str) -> str:  # noqa: ARG002
        encoded = content.encode() if isinstance(content, str) else content
        return self.model.address_artifact(hashlib.sha256(encoded).hexdigest()[:32])

    async def read_artifact(self, address: str) -> WholeText | None:
        found = self.model.find_artifact(address)
        if found is None:
            return None
        resource, identifier = found
        item = await self.state(ARTIFACTS.name).get(identifier)
        if item is None:
            raise Fault("not_found", f"Nothing is kept under {address}; {resource.missing}")
        return WholeText(text=item.value["text"], kind=item.value["mime_type"])


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


def furnish(state: ExampleState, items: Iterable[Mapping[str, Any]]) -> Fault | None:
    """Put items into the collections of an example; what is wrong with one of them."""

    async def work() -> Fault | None:
        for item in items:
            if item["in"] not in state.collections:
                names = sorted(state.collections)
                return Fault("not_found", f"there is no collection {item['in']!r}", alternatives=names)
            collection = state.collection(item["in"], str(item.get("space", "")))
            try:
                for number in range(item.get("times", 1)):
                    await collection.put(str(item["key"]).replace(NUMBER, str(number)), item["value"])
            except Fault as fault:
                return fault
        return None

    return run_through(work())


def find_kept(state: ExampleState, item: Mapping[str, Any]) -> Item | None:
    """What is kept where an example expects an item."""
    if item["in"] not in state.collections:
        return None
    return run_through(state.collection(item["in"], str(item.get("space", ""))).get(str(item["key"])))


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
def placed(stated: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """An example with its files on disk and the path of their folder for `{folder}` in `args` and `config`; the path,
    "" where it has no files."""
    files = stated.get("files")
    if not files:
        yield stated, ""
        return
    with tempfile.TemporaryDirectory(prefix="specloom-example-") as folder:
        for name, text in files.items():
            many = text if isinstance(text, Mapping) else {"times": 1, "of": text}
            for number in range(many["times"]):
                path = Path(folder, name.replace(NUMBER, str(number)))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(many["of"].replace(NUMBER, str(number)), encoding="utf-8")
        parts = {part: _with_folder(stated[part], folder) for part in ("args", "config") if part in stated}
        yield {**stated, **parts}, folder


def without_folder(value: Any, folder: str) -> Any:
    """What a call gave, with `{folder}` for the path of the example's files."""
    if isinstance(value, Mapping):
        return {name: without_folder(inner, folder) for name, inner in value.items()}
    if isinstance(value, list):
        return [without_folder(inner, folder) for inner in value]
    return value.replace(folder, FOLDER) if isinstance(value, str) and folder else value


def _with_folder(value: Any, folder: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _with_folder(inner, folder) for name, inner in value.items()}
    return value.replace(FOLDER, folder) if isinstance(value, str) else value
