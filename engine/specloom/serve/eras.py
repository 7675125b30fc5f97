"""What the two eras ask of a client: a handshake once, or a version and capabilities with each request."""

from __future__ import annotations

from .contract import (
    HANDSHAKE_VERSIONS,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LOG_LEVELS,
    MODERN_VERSIONS,
    UNSUPPORTED_VERSION,
    ProtocolError,
)
from .envelope import CAPABILITIES_KEY, LOG_LEVEL_KEY, VERSION_KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LATEST = HANDSHAKE_VERSIONS[-1]


def agree(params: dict[str, Any], *, modern: bool) -> tuple[str, dict[str, Any]]:
    """The version that a handshake comes to, and the client's capabilities; `modern` is a connection without one."""
    wanted, client = params.get("protocolVersion"), params.get("capabilities")
    if modern:
        data = {"supported": list(MODERN_VERSIONS), "requested": wanted if isinstance(wanted, str) else ""}
        raise ProtocolError(UNSUPPORTED_VERSION, "This connection has no handshake; send requests with _meta", data)
    if not isinstance(wanted, str) or not isinstance(client, dict) or not isinstance(params.get("clientInfo"), dict):
        raise ProtocolError(INVALID_PARAMS, "Invalid params: protocolVersion, capabilities and clientInfo are required")
    return (wanted if wanted in HANDSHAKE_VERSIONS else LATEST), client


def check_legacy(meta: dict[str, Any]) -> None:
    """Refuse a version in a request after a handshake."""
    if VERSION_KEY in meta:
        raise ProtocolError(INVALID_REQUEST, "This connection began with a handshake; leave the version out")


def check_modern(meta: dict[str, Any]) -> str:
    """The version of a request that stands alone."""
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: _meta lacks {' and '.join(missing)}")
    version = meta[VERSION_KEY]
    if not isinstance(version, str) or not isinstance(meta[CAPABILITIES_KEY], dict):
        raise ProtocolError(INVALID_PARAMS, "Invalid params: the version must be text, the capabilities an object")
    if version not in MODERN_VERSIONS:
        data = {"supported": list(MODERN_VERSIONS), "requested": version}
        raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    if meta.get(LOG_LEVEL_KEY, "info") not in LOG_LEVELS:
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: the log level is one of {', '.join(LOG_LEVELS)}")
    return version
