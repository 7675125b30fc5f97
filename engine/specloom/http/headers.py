"""What the headers of a request have to say: whom it is for, where it comes from, its form, and what its body says.

Every check is a plain function over header values, which raises `HttpRefusal` with the status that the client gets.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from specloom.server import HANDSHAKE_VERSIONS, MODERN_VERSIONS, UNSUPPORTED_VERSION, ProtocolError

from .settings import LOOPBACK_NAMES

if TYPE_CHECKING:
    from .settings import HttpSettings

HEADER_MISMATCH = -32020
"""The error code of a header that does not say what the body says (MCP 2026-07-28)."""
VERSION_HEADER = b"mcp-protocol-version"
METHOD_HEADER = b"mcp-method"
NAME_HEADER = b"mcp-name"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Methods whose `Mcp-Name` says what they are about: the member of the parameters that it repeats."""
HANDSHAKE_ONLY = frozenset({"initialize", "ping", "logging/setLevel"})
"""Methods that requests with a modern version do not have."""
LONGEST_SHOWN = 80
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_ENCODED = re.compile(r"=\?base64\?([A-Za-z0-9+/]*={0,2})\?=")

Headers = Sequence[tuple[bytes, bytes]]


class HttpRefusal(Exception):  # noqa: N818 - the name of the answer, as with faults
    """A request that is answered with a status alone, or with a status and an error of the protocol."""

    def __init__(
        self,
        status: int,
        error: ProtocolError | None = None,
        headers: Headers = (),
        *,
        is_failed_attempt: bool = False,
    ) -> None:
        """`is_failed_attempt` says that a credential was shown and did not hold."""
        super().__init__(str(status))
        self.status = status
        self.error = error
        self.headers = tuple(headers)
        self.is_failed_attempt = is_failed_attempt


def index(headers: Headers) -> dict[bytes, bytes]:
    """The headers by name in lower case, as ASGI gives them; of a repeated one the last."""
    return dict(headers)


def check_host(headers: Headers, settings: HttpSettings) -> None:
    """Refuse a request for another host (421), as a page sends that DNS was rebound for, or for none or two (400)."""
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) != 1:
        raise HttpRefusal(400)
    if "*" not in settings.hosts and hosts[0].decode("latin-1").lower() not in settings.hosts:
        raise HttpRefusal(421)


def check_origin(origin: bytes | None, settings: HttpSettings) -> bytes | None:
    """The origin that may read the answer, or None for a caller that is no web page; refuses others (403)."""
    if origin is None:
        return None
    text = origin.decode("latin-1").lower()
    if text in settings.origins or (settings.any_loopback_origin and _is_loopback_origin(text)):
        return origin
    if "*" in settings.origins or not settings.strict_origins:
        return origin
    raise HttpRefusal(403)


def _is_loopback_origin(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and (parts.hostname or "") in LOOPBACK_NAMES and not parts.path


def check_form(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a body that is not JSON (415), and a client that does not take both kinds of answers (406)."""
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind != b"application/json" or headers.get(b"content-encoding", b"identity").strip().lower() != b"identity":
        raise HttpRefusal(415)
    accepted = headers.get(b"accept")
    if accepted is None:
        return
    kinds = {part.partition(b";")[0].strip().lower() for part in accepted.split(b",")}
    if b"*/*" in kinds:
        return
    has_json = bool(kinds & {b"application/json", b"application/*"})
    if not (has_json and kinds & {b"text/event-stream", b"text/*"}):
        raise HttpRefusal(406)


def find_era(headers: Mapping[bytes, bytes], message: Any, version_key: str) -> tuple[bool, str]:
    """Whether a request is of the era without a handshake, and the version it names; refuses unknown ones (400)."""
    named = headers.get(VERSION_HEADER)
    version = named.decode("latin-1").strip() if named is not None else ""
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    if (isinstance(meta, dict) and version_key in meta) or version in MODERN_VERSIONS:
        return True, version
    if version and version not in HANDSHAKE_VERSIONS:
        data = {"supported": [*MODERN_VERSIONS, *reversed(HANDSHAKE_VERSIONS)], "requested": version[:LONGEST_SHOWN]}
        raise HttpRefusal(400, ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data))
    return False, version


def check_repeated(headers: Mapping[bytes, bytes], message: Mapping[str, Any], version_key: str) -> None:
    """Refuse a modern request whose headers do not repeat what its body says (400), as the protocol wants them to."""
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    method = message.get("method")
    if not isinstance(method, str):
        return
    meta = params.get("_meta")
    version = meta.get(version_key) if isinstance(meta, dict) else None
    _compare("MCP-Protocol-Version", headers.get(VERSION_HEADER), version)
    _compare("Mcp-Method", headers.get(METHOD_HEADER), method)
    member = NAMED.get(method)
    if member is not None:
        _compare("Mcp-Name", _decode(headers.get(NAME_HEADER)), params.get(member))


def _compare(name: str, said: bytes | None, wanted: object) -> None:
    if not isinstance(wanted, str):
        return  # what the body lacks is told as that
    if said is None:
        raise HttpRefusal(400, ProtocolError(HEADER_MISMATCH, f"Header mismatch: {name} is missing"))
    text = said.decode("utf-8", "replace").strip()
    if text != wanted:
        sentence = f"Header mismatch: {name} is {text[:LONGEST_SHOWN]!r}, the body says {wanted[:LONGEST_SHOWN]!r}"
        raise HttpRefusal(400, ProtocolError(HEADER_MISMATCH, sentence))


def _decode(said: bytes | None) -> bytes | None:
    """A header's value with its encoding for texts beyond ASCII undone; a broken one is a mismatch."""
    if said is None or not said.strip().startswith(b"=?"):
        return said
    found = _ENCODED.fullmatch(said.strip().decode("latin-1"))
    try:
        return base64.b64decode(found[1], validate=True) if found else b""
    except (binascii.Error, ValueError):
        return b""


def find_request_id(headers: Mapping[bytes, bytes]) -> str:
    """The id of a request that its client gave, where it is a plain word; else ""."""
    text = headers.get(b"x-request-id", b"").decode("latin-1").strip()
    return text if _REQUEST_ID.fullmatch(text) else ""


def find_client(peer: str, forwarded: Iterable[bytes], proxies: Sequence[Any]) -> str:
    """The address of the client: the peer's, or the right-most of `X-Forwarded-For` that is no proxy of ours.

    Every proxy appends, so what stands further left could have been made up by the client.
    """
    if not proxies or not is_proxy(peer, proxies):
        return peer
    named = [part.strip() for value in forwarded for part in value.decode("latin-1").split(",")]
    for address in reversed(named):
        try:
            ipaddress.ip_address(address)
        except ValueError:
            return peer
        if not is_proxy(address, proxies):
            return address
        peer = address
    return peer


def is_proxy(address: str, proxies: Sequence[Any]) -> bool:
    """Whether an address is that of a proxy whose word is taken."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in proxies if network.version == parsed.version)
