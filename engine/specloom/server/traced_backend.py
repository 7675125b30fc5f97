"""A backend that makes a span of each call, below the one that the client names."""

from __future__ import annotations

import time

from specloom.core import Tracer

from .daily_quota import ForwardingBackend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .protocol import Backend, Call, Looked


class TracedBackend(ForwardingBackend):
    """A backend whose calls, readings and prompts are traced."""

    def __init__(self, backend: Backend, tracer: Tracer) -> None:
        super().__init__(backend)
        self._tracer = tracer

    def call_now(
        self, name: str, arguments: dict[str, Any], request_id: str | int
    ) -> bytes | dict[str, Any] | Looked | None:
        began = time.time_ns()
        found = super().call_now(name, arguments, request_id)
        if isinstance(found, bytes | dict):
            attributes = {**_describe("tools/call", name), "specloom.kept": True}
            self._tracer.note(f"tools/call {name}", attributes, began, kind="SERVER")
        return found

    async def call_tool(self, name: str, arguments: dict[str, Any], call: Call) -> bytes | dict[str, Any]:
        parent = self._tracer.find_parent(call.meta)
        described = _describe("tools/call", name, call)
        with self._tracer.span(f"tools/call {name}", described, kind="SERVER", parent=parent) as span:
            result = await super().call_tool(name, arguments, call)
            if call.is_kept:
                span.set_attribute("specloom.kept", True)
            if isinstance(result, dict) and result.get("isError"):
                self._tracer.mark(span, "tool_error")
            return result

    async def read_resource(self, uri: str, call: Call) -> dict[str, Any]:
        parent, method = self._tracer.find_parent(call.meta), "resources/read"
        with self._tracer.span(method, _describe(method, call=call), kind="SERVER", parent=parent):
            return await super().read_resource(uri, call)

    async def get_prompt(self, name: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        parent, method = self._tracer.find_parent(call.meta), "prompts/get"
        with self._tracer.span(f"{method} {name}", _describe(method, call=call), kind="SERVER", parent=parent):
            return await super().get_prompt(name, arguments, call)


def _describe(method: str, tool: str = "", call: Call | None = None) -> Mapping[str, Any]:
    """What a span tells of a call, in the words of OpenTelemetry's conventions for MCP."""
    said = {"mcp.method.name": method}
    if tool:
        said |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
    if call is not None and call.protocol_version:
        said["mcp.protocol.version"] = call.protocol_version
    return said
