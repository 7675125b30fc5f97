"""What everything is held against: a server on the official SDK with one tool that greets.

With UPSTREAM as its argument it also has `search`, which asks that address with httpx and maps the answer by hand: what
one would write without a compiler, and without checks, cache, limits or a guard. With `--http PORT` it is served over
HTTP, in the SDK's quickest way: without sessions, and with JSON for answers.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

PORT = int(sys.argv[2]) if sys.argv[1:2] == ["--http"] else 0
UPSTREAM = sys.argv[1] if len(sys.argv) > 1 and not PORT else ""
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
shared: dict[str, Any] = {}


async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
    tools = [types.Tool(name="hello", description="Greets.", input_schema=NAME)]
    if UPSTREAM:
        tools.append(types.Tool(name="search", description="Searches.", input_schema=QUERY))
    return types.ListToolsResult(tools=tools)


async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    arguments = params.arguments or {}
    if params.name == "hello":
        return types.CallToolResult(content=[types.TextContent(type="text", text=f"Hello, {arguments['name']}.")])
    import httpx

    if "client" not in shared:
        shared["client"] = httpx.AsyncClient(trust_env=False)
    response = await shared["client"].get(UPSTREAM + "/search", params={"q": arguments["query"], "format": "json"})
    rows = response.json()["results"][:5]
    results = [{"title": row["title"], "url": row["url"], "snippet": row["content"]} for row in rows]
    answer = {"query": arguments["query"], "results": results}
    content = [types.TextContent(type="text", text=json.dumps(answer))]
    return types.CallToolResult(content=content, structured_content=answer)


async def main() -> None:
    server: Server[Any] = Server("hello", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    if PORT:
        import uvicorn

        app = server.streamable_http_app(json_response=True, stateless_http=True)
        await uvicorn.Server(uvicorn.Config(app, port=PORT, log_level="critical", access_log=False)).serve()
        return
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
