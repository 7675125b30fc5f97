"""How an answer or a fault looks as a `CallToolResult`; the only module that knows this shape."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..faults import Fault

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
    from ..faults import Fault

    return failure(Fault("internal", sentence))


def render(data: dict[str, Any], meta: dict[str, Any] | None = None) -> bytes:
    """`encode(success(data, meta))`, with `data` encoded once."""
    body = _dump(data)
    head = f'{{"_meta":{_dump(meta)},"content":' if meta else '{"content":'
    text = f'{head}[{{"type":"text","text":{_dump(body)}}}],"structuredContent":{body}}}'
    try:
        return text.encode()
    except UnicodeEncodeError:
        return to_bytes(success(data, meta))


def encode(result: dict[str, Any]) -> bytes:
    """`result` as JSON with `_meta` first, so that the protocol can add to it without decoding it again."""
    meta = result.get("_meta")
    if not meta:
        return to_bytes({key: value for key, value in result.items() if key != "_meta"})
    return to_bytes({"_meta": meta, **result})


def render_text(body: str, meta: dict[str, Any] | None = None, link: dict[str, Any] | None = None) -> bytes:
    """The result whose data is already JSON text, as kept answers are; with `link`, a `resource_link` beside it."""
    head = f'{{"_meta":{_dump(meta)},"content":' if meta else '{"content":'
    more = "," + _dump({"type": "resource_link", **link}) if link else ""
    text = f'{head}[{{"type":"text","text":{_dump(body)}}}{more}],"structuredContent":{body}}}'
    return text.encode("utf-8", "replace")
