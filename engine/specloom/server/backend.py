"""Answers the protocol from an executor: tools, resources, prompts and completions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from specloom.core import (
    VIEW_ADDRESS,
    VIEW_META,
    VIEW_MIME,
    Fault,
    clean,
    did_you_mean,
    dump_clean,
    is_clean,
    shows_views,
)
from specloom.model import Resource
from specloom.plugins import PROCEDURES, Artifact, Item
from specloom.runtime import (
    USAGE,
    Done,
    Executor,
    LiveContext,
    Presented,
    Presenter,
    ResourceContext,
    answer_resource,
    count_usage,
    list_rows,
    parameters_of,
    read_table,
    show_answer,
    view_document,
)

from .connection import UPDATED
from .daily_quota import DAY
from .frames import render_text
from .protocol import INVALID_PARAMS, Backend, Call, Looked, NotFound, ProtocolError
from .tool_search import CALL_TOOL, FIND_TOOL, ToolSearch

if TYPE_CHECKING:
    from specloom.specs import Prompt

MOST_VALUES = 100
NO_PROMPTS: Mapping[str, Prompt] = {}


def to_link(kept: Artifact) -> dict[str, Any]:
    """What a `resource_link` says of something kept."""
    return {"uri": kept.uri, "name": kept.name, "mimeType": kept.mime_type, "size": kept.size}


class ExecutorBackend(Backend):
    """The backend of one owner: over stdio whoever started the process, who is its operator as well.

    `tools` are the names that this client sees; prompts speak of no others. Who is no operator is told of the calls,
    failures and counts of their own tenant, and of nothing from which those of others could be seen.
    """

    def __init__(
        self,
        executor: Executor,
        *,
        owner: str = "",
        prompts: Mapping[str, Prompt] = NO_PROMPTS,
        tools: Collection[str] | None = None,
        presenter: Presenter | None = None,
        is_operator: bool = True,
    ) -> None:
        self._executor = executor
        self._owner = owner
        self._presenter = presenter or Presenter(executor)
        self._resources = Resources(executor, owner, is_operator=is_operator)
        self._prompts = prompts
        self._tools = frozenset(executor.model.tools if tools is None else tools)
        self._search: ToolSearch | None = None
        if {FIND_TOOL, CALL_TOOL} <= self._tools:
            self._search = ToolSearch({name: one for name, one in executor.model.tools.items() if name in self._tools})

    def call_now(self, name: str, arguments: dict[str, Any], request_id: str | int = "") -> bytes | Looked | None:
        try:
            if self._search is not None:
                if name == FIND_TOOL:
                    return self._search.answer(arguments)
                if name == CALL_TOOL:
                    name, arguments = self._search.unpack(arguments)
        except Fault:
            # What is wrong with the arguments is told where calls are answered that may wait; it is no defect.
            return None
        outcome = self._executor.look(name, arguments, owner=self._owner, request=str(request_id))
        if not isinstance(outcome, Done):
            return Looked(outcome) if outcome is not None else None
        presented = self._presenter.present_now(name, outcome)
        return render_text(presented.body, outcome.meta, text=presented.text) if presented else None

    async def call_tool(self, name: str, arguments: dict[str, Any], call: Call) -> bytes:
        is_named = name != CALL_TOOL
        if self._search is not None:
            if name == FIND_TOOL:
                return self._search.answer(arguments)
            if name == CALL_TOOL:
                name, arguments = self._search.unpack(arguments)
        try:
            outcome = await self._executor.call(
                name,
                arguments,
                owner=self._owner,
                progress=call.progress,
                request=str(call.request_id),
                prepared=call.looked.found if call.looked is not None else None,
            )
        finally:
            self._tell_changes(name, arguments, call)
        call.is_kept = outcome.meta.get("cached") is True
        presented = await self._presenter.present(name, outcome, self._owner)
        meta = outcome.meta
        if is_named and self._executor.model.tools[name].view is not None and shows_views(call.client_capabilities):
            meta = {**meta, **self._show(name, outcome, presented)}
        whole = outcome.linked or presented.whole
        links = {kept.uri: to_link(kept) for kept in (*([whole] if whole else ()), *outcome.artifacts)}
        if outcome.linked is not None:
            links[outcome.linked.uri]["title"] = outcome.answer["summary"]
        return render_text(presented.body, meta, [*links.values()], text=presented.text)

    def _show(self, name: str, done: Done, presented: Presented) -> dict[str, Any]:
        """What a view of the answer is given, in `_meta`; nothing where the tool has none, or failed or was linked."""
        tool = self._executor.model.tools[name]
        if tool.view is None or done.arguments is None or done.fault or done.linked is not None:
            return {}
        shown = show_answer(tool, self._executor.model, done.arguments, json.loads(presented.body))
        return {} if shown is None else {VIEW_META: shown}

    def _tell_changes(self, name: str, arguments: Mapping[str, Any], call: Call) -> None:
        """Tell whoever watches a resource that a call has changed it, such as a session by a source or by its end."""
        tool = self._executor.model.tools.get(name)
        if tool is not None and (tool.record is not None or not tool.annotations["idempotent"]):
            for uri in self._resources.changed_by(arguments):
                call.notify(UPDATED, {"uri": uri})

    async def read_resource(self, uri: str, call: Call) -> dict[str, Any]:  # noqa: ARG002
        if uri.startswith(VIEW_ADDRESS):
            return self._read_view(uri)
        return await self._resources.read(uri)

    def _read_view(self, uri: str) -> dict[str, Any]:
        """The document of a view, the same for all answers; a client may keep it."""
        views = self._executor.model.views
        name = uri.removeprefix(VIEW_ADDRESS)
        if name not in views:
            raise NotFound(uri, did_you_mean(name, views))
        contents = {"uri": uri, "mimeType": VIEW_MIME, "text": view_document(views[name])}
        return {
            "contents": [{**contents, "_meta": {"ui": {"prefersBorder": True}}}],
            "ttlMs": round(DAY * 1000),
            "cacheScope": "public",
        }

    async def get_prompt(self, name: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:  # noqa: ARG002
        from specloom.specs import render_prompt

        prompt = self._prompt(name)
        text, _ = clean(render_prompt(prompt, arguments, self._tools, self._catalogues))
        return {
            "description": prompt.description,
            "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
        }

    async def complete(self, ref: dict[str, Any], argument: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        vocabulary = await self._vocabulary(ref, str(argument.get("name", "")))
        values = complete(vocabulary, str(argument.get("value", "")))
        return {"values": values[:MOST_VALUES], "total": len(values), "hasMore": len(values) > MOST_VALUES}

    def prepare(self) -> Iterator[None]:
        """Load what a first call uses: the store of answers, and the core tools that ask for one kind of answer."""
        from specloom.runtime import rehearse

        from .catalogue import CORE

        if self._executor.cache is not None:
            self._executor.cache.prepare()
            yield
        for name, tool in self._executor.model.heads.tools.items():
            if name in self._tools and CORE in tool.toolsets and len(tool.sources) == 1:
                rehearse(self._executor, name)
                yield

    def note_stall(self, seconds: float, where: str) -> None:
        self._executor.stalls.add(seconds, where, at=self._executor.clock())

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


def complete(known: Collection[str], typed: str) -> list[str]:
    """The words that begin with what is typed, then those that have it in them; each kind in its own order."""
    wanted = typed.strip().casefold()
    words = list(dict.fromkeys(known))
    first = [word for word in words if word.casefold().startswith(wanted)]
    return first + [word for word in words if wanted in word.casefold()[1:] and word not in first]


class Backends:
    """The backends of one executor: one an owner, made when it is first asked for."""

    def __init__(
        self, executor: Executor, *, prompts: Mapping[str, Prompt], tools: Collection[str], presenter: Presenter
    ) -> None:
        self.executor = executor
        self._prompts = prompts
        self._tools = frozenset(tools)
        self._presenter = presenter

    def make(
        self, owner: str, *, tools: Collection[str] | None = None, is_operator: bool = True, remembers: bool = True
    ) -> ExecutorBackend:
        """What answers an owner, with those of `tools` alone that are served at all.

        Unless it `remembers`, nothing of this owner is kept and nothing kept is found.
        """
        executor, presenter = (self.executor, self._presenter) if remembers else self._forgetful
        return ExecutorBackend(
            executor,
            owner=owner,
            prompts=self._prompts,
            tools=self._tools if tools is None else self._tools.intersection(tools),
            presenter=presenter,
            is_operator=is_operator,
        )

    def under(self, environ: Mapping[str, str]) -> Backends:
        """The same with the settings of another environment, such as a tenant's own keys."""
        executor = self.executor.under(environ)
        return Backends(executor, prompts=self._prompts, tools=self._tools, presenter=self._presenter.over(executor))

    @cached_property
    def _forgetful(self) -> tuple[Executor, Presenter]:
        """The engine for those of whom nothing is kept, and what presents its answers."""
        from specloom.storage import NullCollections

        specs = {name: one.spec for name, one in self.executor.model.collections.items()}
        executor = self.executor.over(NullCollections(specs))
        return executor, self._presenter.over(executor)

    async def aclose(self) -> None:
        """Close the engine, with everything that it started."""
        await self.executor.aclose()


# --- What can be read beside calling tools, as the specs of resources declare it --------------------------------------


MOST_ITEMS = 100
"""Items of a collection that are looked into, the newest first."""


class Resources:
    """The resources of one owner over an executor."""

    def __init__(self, executor: Executor, owner: str, *, is_operator: bool = True) -> None:
        self._executor = executor
        self._owner = owner
        self._is_operator = is_operator
        # An address is that of a template only where it is none of its own.
        self._resources = sorted(executor.model.resources.values(), key=lambda one: one.is_template)
        self._changing = [one for one in self._resources if one.changes_with]

    async def read(self, uri: str) -> dict[str, Any]:
        """The result of reading an address; raises NotFound where there is nothing for this owner."""
        for resource in self._resources:
            holes = resource.match(uri)
            if holes is not None:
                return await self._read(uri, resource, holes)
        raise NotFound(uri)

    async def complete(self, uri: str, hole: str) -> list[str]:
        """What may fill a hole of a template; nothing where it may be anything."""
        resource = next((one for one in self._resources if one.is_template and one.uri == uri), None)
        if resource is None:
            return []
        if resource.source.kind == "one_of" and resource.source.name == hole:
            return [str(row[hole]) for row in list_rows(resource, self._context(resource, {}))]
        completion = resource.complete.get(hole)
        items = await self._items(completion.collection, completion.limit) if completion else []
        # A key that holds what nobody sees can be completed by nobody.
        return [item.key for item in items if is_clean(item.key)]

    def changed_by(self, arguments: Mapping[str, Any]) -> list[str]:
        """The addresses of what is changed by a call with these arguments that changes something."""
        addresses = []
        for resource in self._changing:
            values = {hole: arguments.get(name) for hole, name in resource.changes_with.items()}
            if all(isinstance(text, str) and text for text in values.values()):
                addresses.append(resource.fill({hole: str(text) for hole, text in values.items()}))
        return addresses

    async def _read(self, uri: str, resource: Resource, holes: Mapping[str, str]) -> dict[str, Any]:
        source = resource.source
        if source.kind == "artifact":
            return await self._read_artifact(uri, resource, holes[source.name])
        used = await count_usage(self._executor, self._owner) if USAGE in resource.tables else None
        context = self._context(resource, holes, used)
        if source.kind == "collection":
            items = await self._items(source.name, MOST_ITEMS)
            context.rows = [{"key": item.key, "value": item.value} for item in items]
        elif source.kind == "procedure":
            context.result = await self._run(uri, resource, parameters_of(resource, context))
        data = answer_resource(resource, context)
        if data is None:
            values = [str(row[source.name]) for row in list_rows(resource, context)]
            raise NotFound(uri, did_you_mean(holes[source.name], values) or resource.missing)
        text = dump_clean(data)
        return {
            "contents": [{"uri": uri, "mimeType": resource.mime_type, "text": text}],
            "ttlMs": round(resource.ttl * 1000),
            "cacheScope": "private",
        }

    def _context(self, resource: Resource, holes: Mapping[str, str], used: int | None = None) -> ResourceContext:
        tables = {
            name: read_table(self._executor, self._owner, name, is_operator=self._is_operator, used=used)
            for name in resource.tables
        }
        return ResourceContext(holes, tables, self._executor.clock())

    async def _read_artifact(self, uri: str, resource: Resource, identifier: str) -> dict[str, Any]:
        keeper = self._executor.artifacts
        artifact = await keeper.read(self._owner, identifier) if keeper is not None else None
        if artifact is None:
            raise NotFound(uri, resource.missing if keeper is not None else "")
        from base64 import b64encode

        content = artifact.content
        told = {"text": content} if isinstance(content, str) else {"blob": b64encode(content).decode()}
        return {"contents": [{"uri": uri, "mimeType": artifact.mime_type, **told}], "cacheScope": "private"}

    async def _items(self, collection: str, limit: int) -> list[Item]:
        """The newest items of a collection that the owner sees; none where nothing is kept."""
        drawers = self._executor.drawers
        return await drawers.drawer(collection, self._owner).items(limit=limit) if drawers is not None else []

    async def _run(self, uri: str, resource: Resource, parameters: Mapping[str, Any]) -> dict[str, Any]:
        # A context is a tool's; whose settings it shows does not matter here.
        tool = next(iter(self._executor.model.tools.values()), None)
        if tool is None or self._executor.drawers is None:
            raise NotFound(uri)
        context = LiveContext(self._executor, tool, self._owner, None)
        try:
            return await PROCEDURES[resource.source.name].function(context, parameters)
        except Fault as fault:
            if fault.kind.endswith("not_found"):
                raise NotFound(uri, resource.missing) from None
            raise
