"""The keys under which answers and responses are kept: all that can change them, and nothing that can be read back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from specloom.core import Request, Secret
from specloom.model import Model, Tool

from .arguments import Arguments
from .recordings import request_id


def key_prefix(
    tool: Tool,
    model: Model,
    orders: Mapping[str, tuple[str, ...]],
    settings: Mapping[str, Mapping[str, Any]],
    own: Mapping[str, Any],
) -> bytes:
    """What is the same for every call of a tool: the specs and settings behind it, and who is asked in which order."""
    parts: list[Any] = [model.digest, tool.name, tool.digest, tool.cache.shape if tool.cache else 0, _plain(own)]
    parts.append({name: list(order) for name, order in orders.items()})
    parts.append({name: _plain(values) for name, values in settings.items()})
    return json.dumps(parts, sort_keys=True).encode()


def answer_key(tool: Tool, arguments: Arguments, prefix: bytes, owner: str) -> str:
    """SHA-256 of the prefix and of all inputs but those which are proved to change nothing.

    What the caller wrote out counts apart from what was filled in, because hints tell them apart.
    """
    ignored = tool.cache.ignore if tool.cache else ()
    explicit = (name for name in arguments.explicit if name not in ignored and tool.inputs[name].default is not None)
    given = {name: value for name, value in arguments.given.items() if name not in ignored}
    said = [given, arguments.requested, sorted(explicit), owner]
    digest = hashlib.sha256(prefix)
    digest.update(json.dumps(said, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def request_key(request: Request) -> str:
    """A digest of the request with its secrets, because what one key may see another may not."""
    headers = [[name, value.reveal() if isinstance(value, Secret) else value] for name, value in request.headers]
    query = [[name, value.reveal()] for name, value in request.query if isinstance(value, Secret)]
    hidden = [one.reveal() for one in request.hidden]
    return hashlib.sha256(json.dumps([request_id(request), headers, query, hidden]).encode()).hexdigest()


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they count for a digest; secrets only as digests of their own."""

    def one(value: Any) -> Any:
        if isinstance(value, Secret):
            return hashlib.sha256(b"setting\0" + value.reveal().encode()).hexdigest()
        return {name: one(inner) for name, inner in value.items()} if isinstance(value, dict) else value

    return {name: one(value) for name, value in values.items()}
