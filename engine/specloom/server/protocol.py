"""What the protocol needs from the engine: a catalogue that never changes, and a backend that answers calls.

Nothing heavy is imported here, because a server that only lists its tools reads this module and little else.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from typing import Any


PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Revisions that `initialize` may agree on, oldest first; a request for any other is answered with the last."""
MODERN_VERSIONS = ("2026-07-28",)
"""Revisions without a handshake, named by each request."""

LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

LISTS = {
    "tools/list": ("tools", "tools"),
    "resources/list": ("resources", "resources"),
    "resources/templates/list": ("resourceTemplates", "resource_templates"),
    "prompts/list": ("prompts", "prompts"),
}
"""The lists that a client may ask for: the member of the answer, and the field of the catalogue that holds it."""
FAMILIES = {
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "prompts/list": "prompts",
    "prompts/get": "prompts",
    "completion/complete": "completions",
}
"""The capability without which a method does not exist."""


class ProtocolError(Exception):
    """A request that is answered with a JSON-RPC error; the message travels, so it holds nothing private."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        if not (message.isascii() and message.isprintable()):
            # Imported here: no plain message has the start of a server wait for it.
            from specloom.core import to_plain

            message = to_plain(message)
        self.code = code
        self.message = message
        self.data = data


class NotFound(ProtocolError):  # noqa: N818 - the name of the answer, as with faults
    """The resource that was asked for does not exist. Both eras get the same code, with the address beside it.

    `hint` says what there is instead, or how to get it.
    """

    def __init__(self, uri: str, hint: str = "") -> None:
        message = f"Resource not found: {uri[:200]}" + (f"; {hint}" if hint else "")
        super().__init__(INVALID_PARAMS, message, {"uri": uri})


class UnknownTool(ProtocolError):  # noqa: N818 - see NotFound
    """A tool that this client is not served."""

    def __init__(self, name: str, known: Collection[str]) -> None:
        from specloom.core import did_you_mean  # what it imports is for no start

        hint = did_you_mean(name[:100], known)
        super().__init__(INVALID_PARAMS, f"Unknown tool: {name[:100]}" + (f"; {hint}" if hint else ""))


class MissingCapability(ProtocolError):  # noqa: N818 - see NotFound
    """The call cannot be answered unless the client declares `required`, an object such as `{"sampling": {}}`."""

    def __init__(self, required: dict[str, Any]) -> None:
        message = f"This request needs client capabilities that were not declared: {', '.join(sorted(required))}"
        super().__init__(MISSING_CAPABILITY, message, {"requiredCapabilities": required})


class NoChannel(Exception):  # noqa: N818 - see NotFound
    """The client cannot be asked anything now: wrong era, capability not declared, or it has left."""


class Catalogue:
    """Everything a server tells about itself, compiled to JSON and fixed for the life of the process.

    `tools`, `resources`, `resource_templates` and `prompts` are JSON arrays in their final order. A family that is
    `None` is not declared, and its methods do not exist; an empty array is declared and answers with an empty list.
    `views` are the tools whose answers clients can show, each with its template, and `view_resources` the entries of
    these templates; both are for clients that say that they show views.
    `subscribe` are the beginnings of the addresses whose changes are told, and `list_changed` the families whose lists
    change.
    """

    def __init__(
        self,
        *,
        name: str,
        version: str,
        title: str = "",
        instructions: str = "",
        tools: bytes = b"[]",
        tool_names: frozenset[str] = frozenset(),
        resources: bytes | None = None,
        resource_templates: bytes | None = None,
        prompts: bytes | None = None,
        completions: bool = False,
        logging: bool = False,
        subscribe: tuple[str, ...] = (),
        left_out: str = "",
        list_changed: frozenset[str] = frozenset(),
        ttl_ms: int = 3_600_000,
        scope: str = "public",
        views: Mapping[str, str] | None = None,
        view_resources: bytes = b"[]",
    ) -> None:
        self.name = name
        self.version = version
        self.title = title
        self.instructions = instructions
        self.tools = tools
        self.tool_names = tool_names
        self.resources = resources
        self.resource_templates = resource_templates
        self.prompts = prompts
        self.completions = completions
        self.logging = logging
        self.subscribe = subscribe
        self.left_out = left_out
        self.list_changed = list_changed
        self.ttl_ms = ttl_ms
        self.scope = scope
        self.views = dict(views or {})
        self.view_resources = view_resources

    def narrow(self, names: frozenset[str]) -> Catalogue:
        """The same with these tools alone, for whoever may use no others."""
        import copy
        import json

        tools = [one for one in json.loads(self.tools) if one["name"] in names]
        narrowed = copy.copy(self)
        narrowed.views = {name: view for name, view in self.views.items() if name in names}
        narrowed.tools = json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode()
        narrowed.tool_names = self.tool_names & names
        narrowed.scope = "private"
        return narrowed

    def with_views(self, field: str) -> bytes:
        """The list of a field as a client has it that shows views: tools name theirs, and resources have them."""
        import json

        from specloom.core import VIEW_ADDRESS

        listed = json.loads(getattr(self, field) or b"[]")
        if field == "tools":
            for tool in listed:
                if tool["name"] in self.views:
                    tool["_meta"] = {"ui": {"resourceUri": f"{VIEW_ADDRESS}{self.views[tool['name']]}"}}
        elif field == "resources":
            used = {f"{VIEW_ADDRESS}{name}" for name in self.views.values()}
            listed += [one for one in json.loads(self.view_resources) if one["uri"] in used]
        return json.dumps(listed, ensure_ascii=False, separators=(",", ":")).encode()

    def info(self) -> dict[str, Any]:
        """The `Implementation` object that names this server."""
        info = {"name": self.name, "version": self.version}
        return {**info, "title": self.title} if self.title else info

    def capabilities(self) -> dict[str, Any]:
        """The capabilities object: the families that are declared, and of each only what really works."""
        declared: dict[str, Any] = {"tools": self._family("tools")}
        if self.resources is not None or self.resource_templates is not None:
            declared["resources"] = self._family("resources")
            if self.subscribe:
                declared["resources"]["subscribe"] = True
        if self.prompts is not None:
            declared["prompts"] = self._family("prompts")
        if self.completions:
            declared["completions"] = {}
        if self.logging:
            declared["logging"] = {}
        return declared

    def introduction(self) -> dict[str, Any]:
        """What every client is told first: the capabilities, and the instructions where there are any."""
        about = {"capabilities": self.capabilities()}
        return {**about, "instructions": self.instructions} if self.instructions else about

    def tells(self, uri: object) -> bool:
        """Whether changes of this resource are told to who watches it."""
        return isinstance(uri, str) and uri.startswith(self.subscribe)

    def freshness(self) -> dict[str, Any]:
        """How long what is told here holds, and for whom; modern answers say so."""
        return {"ttlMs": self.ttl_ms, "cacheScope": self.scope}

    def _family(self, name: str) -> dict[str, Any]:
        return {"listChanged": True} if name in self.list_changed else {}


class Looked:
    """That an answer is not in memory, with what the backend has worked out to see that; `call_tool` gets it back."""

    __slots__ = ("found",)

    def __init__(self, found: Any) -> None:
        self.found = found


class Call:
    """One running request as the backend sees it. Hosts implement it; every method is safe to call at any time."""

    request_id: str | int = ""
    era: str
    """`legacy` (handshake) or `modern` (every request stands alone)."""
    protocol_version: str
    client_capabilities: dict[str, Any]
    meta: dict[str, Any]
    input_responses: dict[str, Any] | None
    """What the client sent back after an `input_required` result, or `None` on a first call."""
    looked: Looked | None = None
    """What `call_now` gave for this call, if anything."""
    request_state: str | None
    """The state that came back with it. The client could have changed it: seal it, and check the seal."""
    is_kept: bool = False
    """Whether the answer had been kept, and nobody was asked for it; the backend says so."""

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far the call is, if the client asked; steps back, and steps too close together, are dropped."""
        raise NotImplementedError

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Send a log message, if the client asked for messages of this level."""
        raise NotImplementedError

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a notification; a change of a list or a resource goes to its subscribers only."""
        raise NotImplementedError

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The client's result of `method` (legacy only); raises `NoChannel` when it cannot be asked."""
        raise NotImplementedError


class Backend:
    """What answers the calls of a catalogue. Every method runs on the host's event loop, except `call_now`."""

    def call_now(
        self,
        name: str,  # noqa: ARG002
        arguments: dict[str, Any],  # noqa: ARG002
        request_id: str | int,  # noqa: ARG002
    ) -> bytes | dict[str, Any] | Looked | None:
        """A complete tool result if the answer is in memory, else what spares the call some work, or `None`.

        Runs on the reader's thread: never wait here.

        Bytes are taken as they are and must come from `frames.render_text` or `frames.encode`.
        """
        return None

    async def call_tool(self, name: str, arguments: dict[str, Any], call: Call) -> bytes | dict[str, Any]:
        """A `CallToolResult`, or an `input_required` result for modern clients. Faults are rendered by the host."""
        raise NotImplementedError

    async def read_resource(self, uri: str, call: Call) -> dict[str, Any]:
        """`{"contents": […]}` with `ttlMs` and `cacheScope` if known; raises `NotFound`."""
        raise NotImplementedError

    async def get_prompt(self, name: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        """`{"messages": […]}`; raises `ProtocolError` for an unknown name or a missing argument."""
        raise NotImplementedError

    async def complete(self, ref: dict[str, Any], argument: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
        """`{"values": […], "total": …, "hasMore": …}`, best first; more than a hundred values are cut off."""
        raise NotImplementedError

    def prepare(self) -> Iterator[None]:
        """Short steps that make a first call quicker; the host takes one after the other while there is none."""
        return iter(())

    def note_stall(self, seconds: float, where: str) -> None:
        """Count that the host's event loop stood still so long, at a place in the source. Runs on any thread."""

    async def close(self, grace: float) -> None:
        """End everything the backend started (browsers included) within `grace` seconds."""


if TYPE_CHECKING:
    LoadBackend = Callable[[], Backend]
