"""A server over HTTP with an engine, stores and an admin key: the demo specs, and callers who say who they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specloom.cache import ERASURES, AnswerCache
from specloom.compiler import load_collections
from specloom.http.admin_keys import read_admin_settings
from specloom.http.app import HttpApp
from specloom.http.engine import OwnerEngine
from specloom.http.gate import Caller
from specloom.http.health import Health
from specloom.http.identity import Tenants
from specloom.http.identity.revocations import FILE_NAME, RevocationFile
from specloom.http.operations import Operations
from specloom.http.serve import bind
from specloom.http.service import HttpService
from specloom.plugins import join_owner
from specloom.runtime import Executor, Presenter
from specloom.server.backend import Backends
from specloom.server.catalogue import Selection, make_catalogue
from specloom.specs import Prompt, layer_roots, listed_prompt
from specloom.storage import AuditTrail, StateStores
from tests.support.demo_specs import demo_executor, write_demo
from tests.support.http_server import Answer, Client, HttpDemo
from tests.support.loopback import Call, Loopback, Reply

KEY = "the admin key of this test"
PAGE: Reply = (
    200,
    {"Content-Type": "application/json"},
    '{"results": [{"title": "A", "link": "https://example.org/a"}]}',
)


class NamedGate:
    """Callers are who `X-Test-Owner` names, as TENANT/USER."""

    is_ready = True

    async def admit(self, headers: Any, query: bytes) -> Caller:
        tenant, _, user = dict(headers).get(b"x-test-owner", b"acme/ann").decode().partition("/")
        return Caller(join_owner(tenant, user))

    def check(self, caller: Caller, message: dict[str, Any]) -> None:
        """Everything is allowed."""


@dataclass
class Operated:
    """A running server, and what stands behind it."""

    server: HttpDemo
    service: HttpService
    executor: Any
    folder: Path
    revocations: RevocationFile
    asked: list[Any]
    ports: dict[str, int]
    warned: list[str]
    trail: AuditTrail

    def ask(
        self, path: str, method: str = "GET", body: Any = None, *, key: str = KEY, port: int = 0, **headers: str
    ) -> Answer:
        """The answer to an operator's request."""
        sent = {"X-Admin-Key": key} if key else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        with Client(port or self.server.port) as client:
            client.connection.request(method, path, data, sent)
            response = client.connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())

    def call(self, query: str, owner: str = "acme/ann") -> Answer:
        """The answer to a call of the demo tool."""
        params = {"name": "demo_find", "arguments": {"query": query}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self.server.post(message, X_Test_Owner=owner)

    def audit(self) -> list[dict[str, Any]]:
        """The rows of the audit log, as the admin interface gives them."""
        return [json.loads(line) for line in self.ask("/admin/audit").body.splitlines()]


@contextmanager
def operated(
    tmp_path: Path,
    environ: Mapping[str, str] | None = None,
    *,
    reply: Any = None,
    gate: Any = None,
    isolate: bool = False,
    **options: Any,
) -> Iterator[Operated]:
    """A server in a folder; `reply` is what its upstream answers. Tenants share kept answers, or `isolate` them."""
    asked: list[Call] = []

    def handler(call: Call) -> Any:
        asked.append(call)
        return reply(call) if reply is not None else PAGE

    state = tmp_path / "state"
    state.mkdir(parents=True, exist_ok=True)
    settings = {
        "SPECLOOM_STATE_DIR": str(state),
        "SPECLOOM_CACHE_DIR": str(tmp_path / "cache"),
        "DOIGET_STORE_ROOT": str(tmp_path / "papers"),
        "DOIGET_CACHE_ROOT": str(tmp_path / "texts"),
        "ADMIN_API_KEY": KEY,
        **(environ or {}),
    }
    warned: list[str] = []
    collections = list(load_collections(layer_roots({})).values())
    stores = StateStores(settings, collections)
    with Loopback(handler) as upstream:
        executor = demo_executor(
            write_demo(tmp_path / "specs"),
            upstream.url,
            environ=settings,
            drawers=stores,
            cache=AnswerCache(disk=None, key=None, warn=warned.append, erasures=state / ERASURES),
            audit=AuditTrail(settings, warned.append),
            by_tenant=True,
            isolate=isolate,
        )
        with operate(executor, settings, state, asked, warned, gate=gate, **options) as running:
            yield running


@contextmanager
def operate(
    executor: Executor,
    settings: Mapping[str, str],
    state: Path,
    asked: list[Any],
    warned: list[str],
    *,
    prompts: Mapping[str, Prompt] | None = None,
    gate: Any = None,
    **options: Any,
) -> Iterator[Operated]:
    """A server with this engine, whose callers are who they say and whose operators have the admin key."""
    listed = [listed_prompt(one) for one in (prompts or {}).values()]
    catalogue = make_catalogue(executor.model, Selection(["all"]), settings, prompts=listed, always_configured=True)
    presenter = Presenter(executor)
    backends = Backends(executor, prompts=prompts or {}, tools=catalogue.tool_names, presenter=presenter)
    engine = OwnerEngine(backends, Tenants(), settings, warned.append)
    server = HttpDemo(dict(settings), **options)
    server.service = HttpService(catalogue, lambda: engine, report=server.reported.append)
    server.app = HttpApp(server.service, server.settings, gate or NamedGate())
    admin = read_admin_settings(settings, warned.append)
    ports = {name: bind(one) for name, one in admin.ports.items()}
    revocations = RevocationFile(state / FILE_NAME, warn=warned.append)
    operations = Operations(admin, ports, settings, warn=warned.append)
    operations.engine = engine
    server.app.health = Health(operations.find_executor, warn=warned.append)
    server.others = operations.open(server.app, server.service, revocations)
    numbers = {name: listener.getsockname()[1] for name, listener in ports.items()}
    with server:
        yield Operated(server, server.service, executor, state, revocations, asked, numbers, warned, operations.trail)
    operations.close()
