"""What operators have of one worker: their routes, on the port of callers or on one of their own."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from specloom.plugins import split_owner
from specloom.storage import AuditTrail, local_owner

from .admin import Admin
from .admin_keys import ADMIN, METRICS, AdminKeys, AdminSettings
from .dashboard import Dashboard
from .metrics import Meter
from .request_log import RequestLog, make_log

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    from specloom.runtime import Executor

    from .app import HttpApp, HttpRequest, Route
    from .identity import Revocations
    from .service import HttpService
    from .settings import HttpSettings

    Place = tuple[HttpApp, HttpSettings, socket.socket]

    class Performer(Protocol):
        """The engine of a worker."""

        @property
        def executor(self) -> Executor: ...


class Operations:
    """Opened once the application is there, and closed with the worker.

    `ports` are the listening sockets of what has a port of its own. `engine` has to be set when it is loaded.
    """

    def __init__(
        self,
        settings: AdminSettings,
        ports: Mapping[str, socket.socket],
        environ: Mapping[str, str],
        *,
        warn: Callable[[str], None],
        folder: Path | None = None,
    ) -> None:
        """`folder` is where workers of one server tell each other their numbers; None for who is alone."""
        self.engine: Performer | None = None
        self._meter: Meter | None = None
        self._folder = folder
        self._log: RequestLog | None = None
        self.trail = AuditTrail(environ, warn)
        self._settings = settings
        self._ports = ports
        self._environ = environ
        self._warn = warn

    def open(self, app: HttpApp, service: HttpService, revocations: Revocations | None = None) -> list[Place]:
        """Add the routes to the application; what is served on ports of its own."""
        log = make_log(self._environ)
        app.log = log.add if log is not None else None
        self._log = log
        if not self._settings.key and METRICS not in self._ports:
            return []
        tenant = split_owner(local_owner(self._environ, []))[0]
        meter = self._meter = Meter(app, service, self.trail, self.find_executor, self._folder, tenant=tenant)
        meter.start()
        places = []
        if METRICS in self._ports:
            places.append(self._place(app, METRICS, {METRICS: functools.partial(tell_metrics, meter)}))
        if not self._settings.key:
            return places

        async def wait_for_executor() -> Executor:
            await service.wait_for_engine()
            assert self.engine is not None
            return self.engine.executor

        keys = AdminKeys(self._settings, self.trail, warn=self._warn)
        admin = Admin(
            keys,
            self.trail,
            wait_for_executor,
            self._environ,
            revocations=revocations,
            analytics=meter.add_up_tenants,
        )

        async def tell_metrics_to_operators(request: HttpRequest) -> None:
            keys.check(request)
            await tell_metrics(meter, request)

        dashboard = Dashboard(keys, meter, wait_for_executor)
        routes = {**admin.routes(), **dashboard.routes(), METRICS: tell_metrics_to_operators}
        if ADMIN in self._ports:
            return [*places, self._place(app, ADMIN, routes)]
        app.routes |= routes
        return places

    def find_executor(self) -> Executor | None:
        """The executor of the engine, once that is loaded."""
        return self.engine.executor if self.engine is not None else None

    def _place(self, app: HttpApp, name: str, routes: Mapping[str, Route]) -> Place:
        """What is served on a port of its own."""
        listener = self._ports[name]
        number = listener.getsockname()[1]
        settings = self._settings.ports[name].move(number)
        return app.narrow(routes, settings), settings, listener

    def close(self) -> None:
        """Write what is waiting for the audit log, and what was counted."""
        if self._meter is not None:
            self._meter.stop()
        if self._log is not None:
            self._log.close()
        self.trail.close()


async def tell_metrics(meter: Meter, request: HttpRequest) -> None:
    """Answer with the numbers of all workers."""
    request.only("GET", "HEAD")
    body = (await asyncio.to_thread(meter.render)).encode()
    await request.answer(200, body, ((b"content-type", b"text/plain; version=0.0.4; charset=utf-8"),))
