"""Who wants to hear of changes: streams that modern clients opened, and resources that older ones watch."""

from __future__ import annotations

from .contract import INVALID_PARAMS, INVALID_REQUEST, ProtocolError
from .envelope import SUBSCRIPTION_KEY, to_notification
from .results import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .contract import Catalogue

MOST_STREAMS = 64
KINDS = {
    "notifications/tools/list_changed": ("tools", "toolsListChanged"),
    "notifications/prompts/list_changed": ("prompts", "promptsListChanged"),
    "notifications/resources/list_changed": ("resources", "resourcesListChanged"),
}
UPDATED = "notifications/resources/updated"


class Listeners:
    """The subscriptions of one client. Only changes that the catalogue declares can be subscribed to."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._streams: dict[str | int, dict[str, Any]] = {}
        self._watched: set[str] = set()
        self.offered = bool(catalogue.list_changed or catalogue.subscribe)

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._streams

    def add(self, request_id: str | int, params: dict[str, Any]) -> bytes:
        """Open a stream and return its first frame, which says what it will carry."""
        wanted = params.get("notifications")
        if not isinstance(wanted, dict):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: notifications must be an object")
        if len(self._streams) >= MOST_STREAMS:
            raise ProtocolError(INVALID_REQUEST, f"No more than {MOST_STREAMS} subscriptions may be open")
        honoured: dict[str, Any] = {
            key: True
            for family, key in KINDS.values()
            if wanted.get(key) is True and family in self._catalogue.list_changed
        }
        uris = wanted.get("resourceSubscriptions")
        if self._catalogue.subscribe and isinstance(uris, list) and uris:
            honoured["resourceSubscriptions"] = [uri for uri in uris if self._catalogue.tells(uri)]
        self._streams[request_id] = honoured
        params = {"notifications": honoured, "_meta": {SUBSCRIPTION_KEY: request_id}}
        return to_notification("notifications/subscriptions/acknowledged", params)

    def remove(self, request_id: str | int) -> None:
        """Close a stream without a word; unknown ids are fine."""
        self._streams.pop(request_id, None)

    def watch(self, uri: Any, *, on: bool) -> None:
        """Begin or end the watch of one resource, for clients with a handshake."""
        if not isinstance(uri, str):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: uri must be text")
        if not self._catalogue.tells(uri):
            raise ProtocolError(INVALID_PARAMS, "This resource does not tell of changes", {"uri": uri[:2048]})
        if on:
            self._watched.add(uri)
        else:
            self._watched.discard(uri)

    def frames(self, method: str, params: dict[str, Any] | None, *, modern: bool) -> list[bytes] | None:
        """The frames that tell all subscribers of a change, or `None` if `method` is not about a change."""
        if method != UPDATED and method not in KINDS:
            return None
        uri = (params or {}).get("uri")
        if not modern:
            wanted = uri in self._watched if method == UPDATED else KINDS[method][0] in self._catalogue.list_changed
            return [to_notification(method, params)] if wanted else []
        return [
            to_notification(method, {**(params or {}), "_meta": {SUBSCRIPTION_KEY: request_id}})
            for request_id, honoured in self._streams.items()
            if (uri in honoured.get("resourceSubscriptions", ()) if method == UPDATED else KINDS[method][1] in honoured)
        ]

    def end(self) -> list[tuple[str | int, bytes]]:
        """Close all streams; each gets the result that says so."""
        ended = [(request_id, encode({"_meta": {SUBSCRIPTION_KEY: request_id}})) for request_id in self._streams]
        self._streams.clear()
        return ended
