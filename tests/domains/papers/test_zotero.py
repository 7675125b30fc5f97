"""Zotero's documented interface, played by a loopback server: what is asked of it, and what is told of its answers."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from specloom.net.transport import Transport
from specloom.runtime.executor import Executor
from specloom.runtime.presentation import Presenter
from specloom.server.backend import ExecutorBackend
from tests.support.loopback import Call, Loopback, Reply
from tests.support.paper_store import Quiet, model

KEY = "made-up-key-of-nobody"
SERVICE = "https://api.zotero.org"


@dataclass
class Zotero:
    """A library with one collection of made-up items, at one version, as the interface tells it."""

    count: int
    version: int = 42
    most: int = 100
    """Items of a page at most."""
    enabled: bool = True
    key: str = ""
    """The key without which nothing is told."""
    calls: list[Call] = field(default_factory=list)

    def __call__(self, call: Call) -> Reply:
        self.calls.append(call)
        plain = {"Content-Type": "text/plain", "Zotero-API-Version": "3"}
        if not self.enabled:
            return 403, plain, "Local API is not enabled"
        if call.headers.get("zotero-api-version") != "3":
            return 501, plain, "API version not implemented"
        if self.key and call.headers.get("zotero-api-key") != self.key:
            return 403, plain, "Forbidden"
        path = call.path.removeprefix("/api")
        headers = {"Content-Type": "application/json", "Last-Modified-Version": str(self.version)}
        if int(call.headers.get("if-modified-since-version") or 0) >= self.version:
            return 304, headers, ""
        if path == "/users/0/collections":
            return self._page(
                call, headers, [{"key": "QRST6789", "version": 3, "data": {"name": "Thesis"}, "meta": {}}]
            )
        if path == "/users/0/collections/QRST6789/items/top":
            return self._page(call, headers, [self._item(at) for at in range(self.count)])
        return 404, plain, "Not found"

    def _page(self, call: Call, headers: dict[str, str], rows: list[dict[str, Any]]) -> Reply:
        query = dict(call.query)
        start, limit = int(query.get("start", 0)), min(int(query.get("limit", 25)), self.most)
        end = start + limit
        more = {"Total-Results": str(len(rows))}
        if end < len(rows):
            base = SERVICE if self.key else f"http://{call.headers['host']}"
            more["Link"] = f'<{base}{call.path}?limit={limit}&start={end}>; rel="next", <{base}/>; rel="alternate"'
        return 200, headers | more, json.dumps(rows[start:end])

    @staticmethod
    def _item(at: int) -> dict[str, Any]:
        data = {
            "itemType": "book",
            "title": f"Otters {at}",
            "date": "2001",
            "creators": [],
            "tags": [{"tag": "river"}],
            "citationKey": f"otter{at}",
        }
        return {
            "key": f"ABCD{2222 + at}",
            "version": 7,
            "data": data,
            "csljson": {"type": "book", "title": f"Otters {at}"},
        }


class Rerouted:
    """Sends what is meant for the service to the loopback server."""

    def __init__(self, server: str) -> None:
        self._server, self._transport = server, Transport(allow_private=True)

    async def send(self, request: Request) -> Response:
        return await self._transport.send(replace(request, url=request.url.replace(SERVICE, self._server, 1)))

    async def aclose(self) -> None:
        await self._transport.aclose()


def ask(folder: Path, zotero: Zotero, tool: str, *, is_local: bool = True, **arguments: Any) -> dict[str, Any]:
    """What a call tells a client, whether it has failed or not."""

    async def call(server: str) -> dict[str, Any]:
        environ = {"DOIGET_STORE_ROOT": str(folder / "papers"), "ZOTERO_LOCAL_URL": server}
        if not is_local:
            environ |= {"ZOTERO_API_KEY": KEY, "ZOTERO_LIBRARY": "users/0"}
        executor = Executor(model(), environ=environ, sender=Transport() if is_local else Rerouted(server))
        backend = ExecutorBackend(executor, presenter=Presenter(executor, as_json=True))
        try:
            told: dict[str, Any] = json.loads(await backend.call_tool(tool, arguments, Quiet()))
            return told
        finally:
            await executor.aclose()

    with Loopback(zotero) as server:
        return asyncio.run(call(server.url))


def test_a_collection_comes_into_the_store_in_parts(tmp_path: Path) -> None:
    zotero = Zotero(120)

    told = ask(tmp_path, zotero, "zotero_import", collection="thesis", tags=["mine"], collections=["later"])

    answer = told["structuredContent"]
    assert (answer["added"], answer["failed"], answer["total"], answer["libraryVersion"]) == (120, 0, 120, 42)
    queries = [dict(call.query) for call in zotero.calls]
    assert [query.get("start") for query in queries] == [None, None, "100"]
    assert all(call.headers["zotero-api-version"] == "3" for call in zotero.calls)
    assert all(call.headers["zotero-allowed-request"] == "1" for call in zotero.calls)
    assert {call.method for call in zotero.calls} == {"GET"}
    stored = (tmp_path / "papers" / ".metadata" / "key_otter7.toml").read_text("utf-8")
    assert '"mine"' in stored
    assert '"later"' in stored
    assert '"river"' in stored


def test_a_library_that_has_not_changed_is_told_so_by_its_status(tmp_path: Path) -> None:
    zotero = Zotero(3)

    told = ask(tmp_path, zotero, "zotero_search", collection="QRST6789", since=42)

    assert told["structuredContent"]["works"] == []
    assert [call.headers["if-modified-since-version"] for call in zotero.calls] == ["42"]


def test_the_service_is_asked_with_its_key_which_is_never_told(tmp_path: Path) -> None:
    zotero = Zotero(150, key=KEY)

    told = ask(
        tmp_path, zotero, "zotero_search", is_local=False, collection="QRST6789", num_results=130, provider="zotero"
    )

    assert len(told["structuredContent"]["works"]) == 130
    assert [call.headers["zotero-api-key"] for call in zotero.calls] == [KEY, KEY]
    assert KEY not in json.dumps(told)


def test_a_key_that_is_refused_is_told_with_what_to_check(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="check ZOTERO_API_KEY and ZOTERO_LIBRARY") as raised:
        ask(tmp_path, Zotero(1, key="another"), "zotero_search", is_local=False, query="otters", provider="zotero")

    assert KEY not in repr(vars(raised.value))


def test_a_program_that_lets_nobody_in_is_told_with_what_to_switch_on(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="Allow other applications on this computer to communicate with Zotero"):
        ask(tmp_path, Zotero(1, enabled=False), "zotero_search", query="otters", provider="zotero_local")


def test_a_program_that_does_not_run_is_told_with_what_to_start() -> None:
    with Loopback(Zotero(0)) as server:
        closed = server.url

    async def call() -> None:
        executor = Executor(model(), environ={"ZOTERO_LOCAL_URL": closed}, sender=Transport())
        backend = ExecutorBackend(executor, presenter=Presenter(executor, as_json=True))
        try:
            await backend.call_tool("zotero_search", {"query": "otters", "provider": "zotero_local"}, Quiet())
        finally:
            await executor.aclose()

    with pytest.raises(Fault, match="Zotero does not answer on this machine; start it"):
        asyncio.run(call())


class Listening:
    """Whom an engine asks, all of whom refuse."""

    def __init__(self) -> None:
        self.hosts: list[str] = []

    async def send(self, request: Request) -> Response:
        self.hosts.append(request.url.split("/")[2])
        return Response(404, {}, b"", request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


PROGRAM = "127.0.0.1:23119"
WITH_A_KEY = {"ZOTERO_API_KEY": KEY, "ZOTERO_LIBRARY": "users/0"}
CALLS = [
    ("zotero_search", {"query": "otters"}),
    ("zotero_search", {"query": "otters", "provider": "zotero_local"}),
    ("zotero_collections", {}),
    ("zotero_import", {}),
    ("zotero_audit", {}),
    ("zotero_add", {"bibliography": "@book{a, title={Otters}}", "format": "bibtex"}),
    ("zotero_add", {"bibliography": "@book{a, title={Otters}}", "format": "bibtex", "provider": "zotero_local"}),
]


def hosts_of(
    folder: Path, environ: dict[str, str], own: dict[str, str] | None = None, *, is_alone: bool = False
) -> set[str]:
    """Whom all of the tools ask for a tenant, with what is its `own` over what the server has."""
    given = {"DOIGET_STORE_ROOT": str(folder / "papers"), "ZOTERO_WRITE": "true", **environ}

    async def call_all() -> set[str]:
        sender = Listening()
        executor = Executor(model(), environ=given, sender=sender, is_alone=is_alone)
        backend = ExecutorBackend(
            executor if own is None else executor.under({**given, **own}), presenter=Presenter(executor, as_json=True)
        )
        try:
            for tool, arguments in CALLS:
                with suppress(Fault):
                    await backend.call_tool(tool, arguments, Quiet())
            return set(sender.hosts)
        finally:
            await executor.aclose()

    return asyncio.run(call_all())


def test_one_person_reaches_the_program_without_naming_its_address(tmp_path: Path) -> None:
    assert hosts_of(tmp_path, {}, is_alone=True) == {PROGRAM}


def test_no_tenant_reaches_the_program_on_the_machine_of_an_operator_who_has_not_named_it(tmp_path: Path) -> None:
    assert hosts_of(tmp_path, {}) == set()
    assert hosts_of(tmp_path, {}, {"BRAVE_API_KEY": "k"}) == set()
    assert hosts_of(tmp_path, WITH_A_KEY) == {"api.zotero.org"}
    assert hosts_of(tmp_path, {}, WITH_A_KEY) == {"api.zotero.org"}


def test_tenants_reach_the_program_that_an_operator_names(tmp_path: Path) -> None:
    named = {"ZOTERO_LOCAL_URL": f"http://{PROGRAM}"}

    assert hosts_of(tmp_path, named) == {PROGRAM}
    assert hosts_of(tmp_path, {}, named) == {PROGRAM}
    assert hosts_of(tmp_path, named, {"ZOTERO_LOCAL_URL": ""}) == set()


def test_a_tenant_who_names_the_program_is_told_that_nobody_has_set_it_up() -> None:
    async def call() -> None:
        executor = Executor(model(), environ={}, sender=Listening(), is_alone=False)
        backend = ExecutorBackend(executor, presenter=Presenter(executor, as_json=True))
        try:
            await backend.call_tool("zotero_search", {"query": "otters", "provider": "zotero_local"}, Quiet())
        finally:
            await executor.aclose()

    with pytest.raises(Fault, match="provider 'zotero_local' is not configured; set ZOTERO_LOCAL_URL"):
        asyncio.run(call())
