"""Answers the protocol from an executor: tools, resources, prompts and completions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

from specloom.runtime import Executor
from specloom.specs import Prompt, complete, render_prompt

from .connection import UPDATED
from .frames import render_text
from .protocol import INVALID_PARAMS, Backend, Call, ProtocolError
from .resources import Resources

MOST_VALUES = 100
NO_PROMPTS: Mapping[str, Prompt] = {}


class ExecutorBackend(Backend):
    """The backend of `serve`: one owner, who is whoever started the process.

    `tools` are the names that this client sees; prompts speak of no others.
    """

    def __init__(
        self,
        executor: Executor,
        *,
        owner: str = "",
        prompts: Mapping[str, Prompt] = NO_PROMPTS,
        tools: Collection[str] | None = None,
    ) -> None:
        self._executor = executor
        self._owner = owner
        self._resources = Resources(executor, owner)
        self._prompts = prompts
        self._tools = frozenset(executor.model.tools if tools is None else tools)

    def call_now(self, name: str, arguments: dict[str, Any]) -> bytes | None:
        done = self._executor.peek(name, arguments, owner=self._owner)
        return render_text(done.body, done.meta) if done else None

    async def call_tool(self, name: str, arguments: dict[str, Any], call: Call) -> bytes:
        try:
            done = await self._executor.call(name, arguments, owner=self._owner, progress=call.progress)
        finally:
            self._tell_changes(name, arguments, call)
        if done.linked is None:
            return render_text(done.body, done.meta)
        one = done.linked
        title = done.answer["summary"]
        link = {"uri": one.uri, "name": one.name, "title": title, "mimeType": one.mime_type, "size": one.size}
        return render_text(done.body, done.meta, link)

    def _tell_changes(self, name: str, arguments: Mapping[str, Any], call: Call) -> None:
        """Tell whoever watches a resource that a call has changed it, such as a session by a source or by its end."""
        tool = self._executor.model.tools.get(name)
        if tool is not None and (tool.record is not None or not tool.annotations["idempotent"]):
            for uri in self._resources.changed_by(arguments):
                call.notify(UPDATED, {"uri": uri})

    async def read_resource(self, uri: str, call: Call) -> dict[str, Any]:  # noqa: ARG002
        return await self._resources.read(uri)

    async def get_prompt(self, name: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:  # noqa: ARG002
        prompt = self._prompt(name)
        text = render_prompt(prompt, arguments, self._tools, self._catalogues)
        return {
            "description": prompt.description,
            "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
        }

    async def complete(self, ref: dict[str, Any], argument: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        known = await self._vocabulary(ref, str(argument.get("name", "")))
        found = complete(known, str(argument.get("value", "")))
        return {"values": found[:MOST_VALUES], "total": len(found), "hasMore": len(found) > MOST_VALUES}

    async def close(self, grace: float) -> None:  # noqa: ARG002
        await self._executor.aclose()

    def _prompt(self, name: str) -> Prompt:
        if name not in self._prompts:
            raise ProtocolError(INVALID_PARAMS, f"Unknown prompt: {name[:100]}")
        return self._prompts[name]

    @cached_property
    def _catalogues(self) -> Mapping[str, Collection[str]]:
        """The vocabularies that are not written out in a prompt, by name."""
        return {"lenses": sorted(self._executor.model.lenses)}

    async def _vocabulary(self, ref: Mapping[str, Any], name: str) -> Collection[str]:
        """What an argument of a prompt or of a resource's address may be; nothing where it may be anything."""
        if ref.get("type") == "ref/prompt":
            argument = self._prompt(str(ref.get("name", ""))).argument(name)
            if argument is None:
                return ()
            return argument.choices or self._catalogues.get(argument.catalogue, ())
        if ref.get("type") == "ref/resource":
            return await self._resources.complete(str(ref.get("uri", "")), name)
        raise ProtocolError(INVALID_PARAMS, "Nothing is completed for this reference")
