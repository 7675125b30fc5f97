"""One running request: it performs itself on a backend, and answers once or, when cancelled, never."""

from __future__ import annotations

import time

from .frames import LOG_LEVEL_KEY, STOPPED, defect, encode, failure, is_id, to_error, to_notification, to_result
from .protocol import INTERNAL_ERROR, INVALID_PARAMS, LOG_LEVELS, Call, NoChannel, NotFound, ProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from specloom.core import Fault

    from .protocol import Backend

    class Client(Protocol):
        """What a running request needs of the connection that it came over."""

        era: str
        version: str
        log_level: str | None
        closed: bool
        refusal: ProtocolError | None
        report: Callable[[BaseException], object]

        def capabilities_of(self, meta: dict[str, Any]) -> dict[str, Any]: ...
        def seal(self, result: bytes, *, complete: bool = True) -> bytes: ...
        def is_running(self, call: LiveCall) -> bool: ...
        def drop(self, call: LiveCall) -> None: ...
        def finish(self, call: LiveCall, frame: bytes) -> None: ...
        def send_for(self, call: LiveCall, frame: bytes) -> None: ...
        def publish(self, method: str, params: dict[str, Any] | None, call: LiveCall) -> None: ...
        def ask(
            self, method: str, params: dict[str, Any], answered: Callable[[dict[str, Any] | None], object]
        ) -> str | int: ...
        def forget(self, number: str | int) -> None: ...


BURST = 5.0
"""Steps of progress that may follow each other at once; after them a few a second get through."""
STEPS_PER_SECOND = 4.0
MOST_VALUES = 100
"""Values that a completion may hold, by the protocol."""
KIND_NAMES: dict[type, str] = {dict: "an object", str: "text"}
OPTIONAL: dict[str, dict[str, type]] = {
    "tools/call": {"arguments": dict, "inputResponses": dict, "requestState": str},
    "resources/read": {"inputResponses": dict, "requestState": str},
    "prompts/get": {"arguments": dict, "inputResponses": dict, "requestState": str},
    "completion/complete": {"context": dict},
}
NEEDED = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}


class LiveCall(Call):
    """A request that the backend answers, with the channel back to the client while it runs."""

    def __init__(self, connection: Client, request_id: str | int, method: str, params: dict[str, Any]) -> None:
        self._connection = connection
        self.request_id = request_id
        self.method = method
        self.params = params
        self.era = connection.era
        self.protocol_version = connection.version
        self.meta = params.get("_meta") or {}
        self.client_capabilities = connection.capabilities_of(self.meta)
        self.input_responses = params.get("inputResponses")
        self.request_state = params.get("requestState")
        token = self.meta.get("progressToken")
        self._token: str | int | None = token if is_id(token) else None
        self._reached: float | None = None
        self._credit = BURST
        self._moment = 0.0
        self.on_cancel: Any = None
        """What stops the work; set by the host when it has started."""

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self._token is None or (self._reached is not None and progress <= self._reached):
            return
        now = time.monotonic()
        self._credit = min(BURST, self._credit + (now - self._moment) * STEPS_PER_SECOND)
        self._moment = now
        last = total is not None and progress >= total
        if self._credit < 1.0 and not last:
            return
        self._credit -= 1.0
        self._reached = progress
        step = {"progressToken": self._token, "progress": progress, "total": total, "message": message}
        fields = {name: value for name, value in step.items() if value is not None}
        self._connection.send_for(self, to_notification("notifications/progress", fields))

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        if shows(level, self.meta.get(LOG_LEVEL_KEY) if self.era == "modern" else self._connection.log_level):
            entry = {"level": level, "data": data} | ({"logger": logger} if logger is not None else {})
            self._connection.send_for(self, to_notification("notifications/message", entry))

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        self._connection.publish(method, params, self)

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        import asyncio

        if self.era != "legacy":
            raise NoChannel("Modern clients are not asked; return an input_required result instead.")
        if NEEDED.get(method, method) not in self.client_capabilities:
            raise NoChannel(f"The client has not declared that it answers {method}.")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[dict[str, Any]] = loop.create_future()

        def settle(result: dict[str, Any] | None) -> None:
            if answer.done():
                return
            if result is None:
                answer.set_exception(NoChannel(f"The client refused {method} or has left."))
            else:
                answer.set_result(result)

        number = self._connection.ask(method, params, lambda result: loop.call_soon_threadsafe(settle, result))
        try:
            return await answer
        finally:
            self._connection.forget(number)

    async def run(self, backend: Backend) -> None:
        """Perform the request on `backend` and send the answer, unless the client has cancelled it."""
        from asyncio import CancelledError

        try:
            frame = await self._perform(backend)
        except ProtocolError as error:
            self._connection.refusal = error
            frame = to_error(self.request_id, error)
        except CancelledError:
            if self._connection.is_running(self):
                self.fail(STOPPED if self._connection.closed else None)
            raise
        except BaseException as error:  # noqa: BLE001 - even an exit asked for by a tool must not end the server
            self._connection.report(error)
            self.fail()
            return
        self._connection.finish(self, frame)

    def cancel(self) -> None:
        """Stop the work; no answer is sent."""
        self._connection.drop(self)

    def fail(self, sentence: str | None = None) -> None:
        """Answer with a fixed text: a tool error for a tool, a protocol error for anything else."""
        if self.method == "tools/call":
            result = defect(sentence) if sentence else defect()
            frame = to_result(self.request_id, self._connection.seal(encode(result)))
        else:
            frame = to_error(self.request_id, ProtocolError(INTERNAL_ERROR, "Internal error"))
        self._connection.finish(self, frame)

    async def _perform(self, backend: Backend) -> bytes:
        from specloom.core import Fault

        try:
            result = await ask_backend(backend, self.method, self.params, self)
        except Fault as fault:
            if self.method != "tools/call":
                raise to_protocol_error(fault, self.method, self.params) from None
            result = failure(fault)
        if isinstance(result, bytes):
            return to_result(self.request_id, self._connection.seal(result))
        return to_result(self.request_id, self._shape(result))

    def _shape(self, result: dict[str, Any]) -> bytes:
        kind = result.get("resultType", "complete")
        if kind == "complete" and self.method == "tools/call" and not isinstance(result.get("content"), list):
            raise TypeError("a tool result needs a list of content")
        if self.era == "modern":
            if self.method == "resources/read":
                result = {"ttlMs": 0, "cacheScope": "private", **result}
            return self._connection.seal(encode(result), complete="resultType" not in result)
        if kind != "complete":
            raise TypeError(f"a client of the handshake era cannot be answered with a result of type {kind!r}")
        return encode({key: value for key, value in result.items() if key not in {"resultType", "ttlMs", "cacheScope"}})


async def ask_backend(backend: Backend, method: str, params: Mapping[str, Any], call: Call) -> bytes | dict[str, Any]:
    """What the backend answers to a request that has passed `check_params`."""
    if method == "tools/call":
        return await backend.call_tool(params["name"], params.get("arguments") or {}, call)
    if method == "resources/read":
        return await backend.read_resource(params["uri"], call)
    if method == "prompts/get":
        return await backend.get_prompt(params["name"], params.get("arguments") or {}, call)
    context = params.get("context") or {}
    completion = await backend.complete(params["ref"], params["argument"], context.get("arguments") or {})
    return {"completion": {**completion, "values": list(completion["values"])[:MOST_VALUES]}}


def shows(level: str, least: object) -> bool:
    """Whether a log message of a level is sent to a client that asked for this one and all above; to nobody unasked."""
    return least in LOG_LEVELS and LOG_LEVELS.index(level) >= LOG_LEVELS.index(str(least))


def to_protocol_error(fault: Fault, method: str, params: dict[str, Any]) -> ProtocolError:
    """The protocol error that tells a fault where there is no tool result to tell it."""
    if fault.kind == "not_found" and method == "resources/read":
        return NotFound(params["uri"])
    if fault.kind in {"not_found", "validation", "bad_request"}:
        return ProtocolError(INVALID_PARAMS, fault.message)
    return ProtocolError(INTERNAL_ERROR, fault.message, fault.to_json())


def check_params(method: str, params: dict[str, Any]) -> None:
    """Raise `ProtocolError` unless `params` have the members that `method` needs, with their types."""
    for key, kind in OPTIONAL[method].items():
        if params.get(key) is not None and not isinstance(params[key], kind):
            raise ProtocolError(INVALID_PARAMS, f"Invalid params: {key} must be {KIND_NAMES[kind]}")
    required = {"resources/read": "uri", "prompts/get": "name"}.get(method)
    if required and not isinstance(params.get(required), str):
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: {required} must be text")
    if method == "completion/complete":
        argument = params.get("argument")
        if not isinstance(params.get("ref"), dict) or not isinstance(argument, dict):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: ref and argument must be objects")
        if not isinstance(argument.get("name"), str) or not isinstance(argument.get("value"), str):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: an argument needs a name and a value, both text")
