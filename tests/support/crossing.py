"""Whether what one owner keeps reaches another: one who keeps something everywhere, and one who asks everything for it.

What is called comes from the catalogue and from what procedures say they keep, so a new tool is swept with the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mcp import Client, MCPError

from specloom.compiler.collection import reached_by
from specloom.model.tool import Tool
from specloom.plugins.collections import ENGINE_NEEDS
from specloom.plugins.registry import PROCEDURES
from tests.support.research_server import Web, ask, begin, shipped

SECRET = "zanzibar"
"""A word that only Ada uses: in every text, name and address that she gives."""
SPACE = f"{SECRET}-space"
PURPOSES = ("memory", "analytics", "workspace", "monitoring")
WRITES_ONLY = {
    *("memory_save", "workspace_contribute", "monitor_query_save", "monitor_query_stop"),
    "monitor_query_change",
    *("library_notes", "zotero_add", "zotero_audit"),
}
"""Tools that keep something and tell nothing of what is kept; of those that write into a folder or keep a report, too.
"""
ADDRESSES = {"source", "paper", "ref", "keep", "cursor"}
"""Inputs, and with an `s` lists of them, that name what is kept by its address, or go on with what was told before."""
COUNTS = {"get_my_analytics", "monitor_query_list", "monitor_query_digest"}
"""Tools that tell of what is kept in numbers, or in words that the asking client gives itself; and what is new of all
that is watched, which a sweep is told by monitor_query_check before."""


def keeps(tool: Tool) -> bool:
    """Whether a tool keeps something, or runs a procedure that does, beside who has agreed to what."""
    engine = {one.name for one in ENGINE_NEEDS}
    if set(reached_by(tool)) - engine:
        return True
    named = [one.hook for one in (*tool.plan, *tool.after) if one.kind == "procedure"]
    while named:
        procedure = PROCEDURES[named.pop()]
        if {one.name for one in procedure.keeps} - engine:
            return True
        named += procedure.runs
    return False


def find_arguments(tool: Tool, ids: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Ways to call a tool: as little as it takes, and with every identifier in every text that could be one."""
    said = tool.input_schema["properties"]
    least = {
        name: plain_value(name, one) for name, one in said.items() if name in tool.input_schema.get("required", ())
    }
    yield least
    texts = [name for name, one in said.items() if one.get("type") == "string" and "enum" not in one]
    for name in texts:
        looks_like_one = name.lower().endswith(("id", "key", "identifier")) or name in {"topic", "query", "provider"}
        for word in ids.values() if looks_like_one and keeps(tool) else [ids["session"]][:looks_like_one]:
            yield {**least, name: word}
            if "stepNumber" in said:
                yield {**least, name: word, "stepNumber": 2}
    for name, one in said.items():
        if name in ADDRESSES and name in texts:
            words = [ids["cursor"]] if name == "cursor" else [ids["resource"], ids["report"], ids["address"]]
        elif name.removesuffix("s") in ADDRESSES and one.get("items", {}).get("type") == "string":
            words = [ids["session"], ids["resource"]]
        else:
            continue
        yield from ({**least, name: word if name in texts else [word]} for word in words)


def plain_value(name: str, said: Mapping[str, Any]) -> Any:
    if "enum" in said:
        return said["enum"][0]
    if said["type"] == "array":
        return ["otters"]
    if said["type"] == "object":
        return {}
    text = "https://o.example/" if name == "url" else "otters"
    return {"integer": 1, "number": 1, "boolean": False}.get(said["type"], text)


async def live(client: Client, web: Web, *, query: str = "otters") -> dict[str, str]:
    """Keep something of everything, with the word in it, and ask one question; the identifiers of what is kept."""
    short = await begin(client, researchGoal=SECRET)
    session = await begin(client, researchGoal=SECRET, reasoning=SECRET, knowledgeGap=SECRET)
    web.results.append({"title": SECRET, "url": f"https://{SECRET}.example/", "description": SECRET})
    await ask(client, "web_search", query=query, sessionId=session)
    for number in range(2, 10):
        told = {"searchStep": f"{SECRET} " * 400, "stepNumber": number, "nextStepNeeded": True}
        await ask(client, "sequential_search", **told, sessionId=session)
    web.results.append({"title": SECRET, "url": f"https://{SECRET}.example/more", "description": SECRET})
    paged = await ask(client, "web_search", query=query, num_results=1)
    web.results.pop()
    linked = await ask(client, "research_export", sessionId=session)
    exported = await client.call_tool("research_export", {"sessionId": session, "format": "html"})
    saved = await ask(client, "memory_save", note=SECRET, topic=SECRET, tags=[SECRET])
    shared = await ask(client, "workspace_contribute", workspace_id=SPACE, note=SECRET)
    watched = await ask(client, "monitor_query_save", query=f"otters {SECRET}")
    web.results.pop()
    return {
        "session": session,
        "short": short,
        "resource": linked["resource"],
        "artifact": linked["resource"].rpartition("/")[2],
        "report": next(str(one.uri) for one in exported.content if one.type == "resource_link"),
        "address": f"research://session/{session}",
        "cursor": paged["nextCursor"],
        "memory": saved["id"],
        "finding": shared["id"],
        "space": SPACE,
        "query": watched["query"],
    }


async def sweep(client: Client, ids: Mapping[str, str]) -> dict[str, str]:
    """All that a client is told: by every tool, resource, template, completion and prompt, as text by name."""
    heard: dict[str, str] = {}
    tools = [shipped().tools[one.name] for one in (await client.list_tools()).tools]

    async def call_each(*, destructive: bool) -> None:
        for tool in tools:
            if tool.annotations["destructive"] == destructive:
                said = [await client.call_tool(tool.name, arguments) for arguments in find_arguments(tool, ids)]
                heard[tool.name] = "\n".join(one.model_dump_json() for one in said)

    await call_each(destructive=False)
    uris = [str(one.uri) for one in (await client.list_resources()).resources]
    templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
    for template in templates:
        start = template.partition("{")[0]
        uris += [ids["resource"], ids["report"], *(start + word for word in ids.values())]
        argument = template.partition("{")[2].partition("}")[0]
        for typed in ("", SECRET[:3], ids["session"][:4]):
            found = await client.complete(
                ref={"type": "ref/resource", "uri": template}, argument={"name": argument, "value": typed}
            )
            heard[f"complete {template}"] = heard.get(f"complete {template}", "") + found.model_dump_json()
    for uri in uris:
        try:
            heard[uri] = (await client.read_resource(uri)).model_dump_json()
        except MCPError as error:
            heard[uri] = error.message
    for prompt in (await client.list_prompts()).prompts:
        for one in prompt.arguments or []:
            found = await client.complete(
                ref={"type": "ref/prompt", "name": prompt.name}, argument={"name": one.name, "value": ""}
            )
            heard[f"complete {prompt.name}"] = heard.get(f"complete {prompt.name}", "") + found.model_dump_json()
        for word in ids.values():
            try:
                told = await client.get_prompt(prompt.name, {one.name: word for one in prompt.arguments or []})
                heard[f"prompt {prompt.name}"] = heard.get(f"prompt {prompt.name}", "") + told.model_dump_json()
            except MCPError as error:
                heard[f"prompt {prompt.name}"] = heard.get(f"prompt {prompt.name}", "") + error.message
    await call_each(destructive=True)  # the last, because nothing is left to be told of what is deleted
    return heard


def without_the_question(heard: str, ids: Mapping[str, str]) -> str:
    """What was heard without the identifiers that the asking client itself gave."""
    for word in ids.values():
        heard = heard.replace(word, "")
    return heard
