"""JSON-RPC frames: what came in is taken apart, what goes out is put together, both as bytes of one line."""

from __future__ import annotations

import json
from math import isinf

from .protocol import INVALID_REQUEST, PARSE_ERROR, ProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn, TypeGuard

    from specloom.core import Fault


# --- How an answer or a fault looks as a `CallToolResult`; the only module that knows this shape ----------------------


_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_dump_ascii = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode

DEFECT = "The tool failed because of a defect of the server; the same call will fail again, so try another tool."
STOPPED = "The server was stopped before the tool had answered; start it again and repeat the call."


def to_bytes(value: Any) -> bytes:
    """`value` as compact JSON in UTF-8, without a line break anywhere."""
    try:
        return _dump(value).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON may carry escaped and UTF-8 may not
        return _dump_ascii(value).encode()


def success(data: dict[str, Any], meta: dict[str, Any] | None = None) -> dict[str, Any]:
    """The result that carries `data` twice: as one text block of JSON, and as structured content."""
    result: dict[str, Any] = {"content": [{"type": "text", "text": _dump(data)}], "structuredContent": data}
    return {"_meta": meta, **result} if meta else result


def failure(fault: Fault) -> dict[str, Any]:
    """The result that tells a model what went wrong: a sentence, an empty line, and the block for programs."""
    return {"content": [{"type": "text", "text": f"{fault.message}\n\n{_dump(fault.to_json())}"}], "isError": True}


def defect(sentence: str = DEFECT) -> dict[str, Any]:
    """The result for what no tool may tell: an unexpected exception, or a stop in the middle of a call."""
    from specloom.core import Fault

    return failure(Fault("internal", sentence))


def encode(result: dict[str, Any]) -> bytes:
    """`result` as JSON with `_meta` first, so that the protocol can add to it without decoding it again."""
    meta = result.get("_meta")
    if not meta:
        return to_bytes({key: value for key, value in result.items() if key != "_meta"})
    return to_bytes({"_meta": meta, **result})


def render_text(
    body: str,
    meta: dict[str, Any] | None = None,
    links: Sequence[dict[str, Any]] = (),
    *,
    text: str | None = None,
) -> bytes:
    """The result whose data is already JSON text, as kept answers are; beside it a `resource_link` for each of `links`.

    `text` is what stands in its text block; for None that is the data.
    """
    head = f'{{"_meta":{_dump(meta)},"content":' if meta else '{"content":'
    more = "".join("," + _dump({"type": "resource_link", **link}) for link in links)
    block = _dump(body if text is None else text)
    return f'{head}[{{"type":"text","text":{block}}}{more}],"structuredContent":{body}}}'.encode("utf-8", "replace")


VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"

META_HEAD = b'{"_meta":{'


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _to_finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text} is too large")
    return number


_decode = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_to_finite).decode


def parse(raw: bytes) -> Any:
    """The JSON value of one line; raises `ProtocolError` for what is not UTF-8 and JSON, or a number beyond 1.8e308."""
    try:
        return _decode(raw.decode())
    except (ValueError, RecursionError):
        raise ProtocolError(PARSE_ERROR, "Parse error: a line must be one JSON object in UTF-8") from None


def is_id(value: Any) -> TypeGuard[str | int]:
    """Whether `value` may name a request: a string or an integer."""
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def check_message(message: Any) -> dict[str, Any]:
    """`message` as a JSON-RPC 2.0 object without a faulty id; raises `ProtocolError` otherwise."""
    if isinstance(message, list):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: batches are not part of the protocol, send single lines")
    if not isinstance(message, dict):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: a message must be a JSON object")
    if "id" in message and not is_id(message["id"]):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: the id must be a string or an integer")
    if message.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, 'Invalid request: "jsonrpc" must be "2.0"')
    if not isinstance(message.get("method", ""), str):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: the method must be a string")
    if not message.keys() & {"method", "result", "error"}:
        raise ProtocolError(INVALID_REQUEST, "Invalid request: a message needs a method, a result or an error")
    return message


def to_result(request_id: str | int, result: bytes) -> bytes:
    """The frame that answers `request_id` with a result that is already JSON."""
    return b'{"jsonrpc":"2.0","id":' + to_bytes(request_id) + b',"result":' + result + b"}\n"


def to_error(request_id: str | int | None, error: ProtocolError) -> bytes:
    """The frame that answers `request_id` with an error."""
    body = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return to_bytes({"jsonrpc": "2.0", "id": request_id, "error": body}) + b"\n"


def to_notification(method: str, params: dict[str, Any] | None) -> bytes:
    """The frame of a notification."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return to_bytes(message) + b"\n"


def to_request(request_id: str | int, method: str, params: dict[str, Any]) -> bytes:
    """The frame of a request of ours to the client."""
    return to_bytes({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}) + b"\n"


def stamp(result: bytes, server: bytes, *, complete: bool = True) -> bytes:
    """An encoded result as modern clients want it: with `resultType`, and with the server named in `_meta`.

    `server` is the member to add, `"…/serverInfo":{…}`. `result` has `_meta` first or not at all.
    """
    head = b'{"resultType":"complete","_meta":{' if complete else META_HEAD
    if result.startswith(META_HEAD):
        rest = result[len(META_HEAD) :]
        return head + server + (b"" if rest.startswith(b"}") else b",") + rest
    return head + server + b"}" + (b"}" if result == b"{}" else b"," + result[1:])
