"""What operators have of one worker: their routes, on the port of callers or on one of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from specloom.plugins import split_owner
from specloom.storage import AuditTrail, local_owner

from .admin import Admin, describe_tenants
from .admin_keys import ADMIN, AdminKeys, AdminSettings

if TYPE_CHECKING:
    import socket

    from specloom.runtime import Executor

    from .app import HttpApp
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
    ) -> None:
        self.engine: Performer | None = None
        self.trail = AuditTrail(environ, warn)
        self._settings = settings
        self._ports = ports
        self._environ = environ
        self._warn = warn

    def open(self, app: HttpApp, service: HttpService, revocations: Revocations | None = None) -> list[Place]:
        """Add the routes to the application; what is served on ports of its own."""
        if not self._settings.key:
            return []

        async def find_executor() -> Executor:
            await service.wait_for_engine()
            assert self.engine is not None
            return self.engine.executor

        tenant = split_owner(local_owner(self._environ, []))[0]
        admin = Admin(
            AdminKeys(self._settings, self.trail, warn=self._warn),
            self.trail,
            find_executor,
            self._environ,
            revocations=revocations,
            analytics=lambda executor: describe_tenants(executor, tenant),
        )
        routes = admin.routes()
        if ADMIN not in self._ports:
            app.routes |= routes
            return []
        listener = self._ports[ADMIN]
        number = listener.getsockname()[1]
        settings = self._settings.ports[ADMIN].move(number)
        self._warn(f"the admin interface is at http://{settings.host}:{number}{ADMIN}")
        return [(app.narrow(routes, settings), settings, listener)]

    def close(self) -> None:
        """Write what is waiting for the audit log."""
        self.trail.close()
