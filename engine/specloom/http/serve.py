"""The process that serves HTTP: it binds, loads the catalogue, runs uvicorn as a library, and leaves in order."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from specloom.core import VariableError, to_plain
from specloom.server import load_catalogue, make_backends, warn
from specloom.storage import local_owner

from .app import HttpApp
from .gate import IdentityGate, OpenGate
from .guards import make_protocol
from .identity import Authenticator, read_identity_settings
from .service import HttpService
from .settings import ENDPOINT, HttpSettings, SettingsError, read_settings

if TYPE_CHECKING:
    from specloom.server import Backend, Backends, Selection

    from .gate import Caller
    from .identity import IdentitySettings

BACKLOG = 1024
USAGE = 2
"""The exit code for a setting that is wrong."""


def serve_http(address: str, selection: Selection, *, replay: str = "", record: str = "") -> int:
    """Serve until a signal ends it; the exit code. `address` is `[HOST:]PORT`, or empty for HOST and PORT."""
    environ = os.environ
    try:
        settings = read_settings(environ, address)
        identities = read_identities(environ, settings)
        listener = bind(settings)
        settings = read_settings(environ, f"{settings.host}:{listener.getsockname()[1]}")
        selection.shared = identities is not None
        catalogue = load_catalogue(environ, selection, replay=bool(replay))
    except (SettingsError, VariableError) as error:
        warn(to_plain(str(error)))
        return USAGE
    except SystemExit as stop:
        return int(stop.code or 0)

    def load() -> OwnerEngine:
        return OwnerEngine(
            make_backends(environ, catalogue, replay=replay, record=record, shared=identities is not None)
        )

    return asyncio.run(_serve(HttpService(catalogue, load, report=report), settings, identities, listener))


class OwnerEngine:
    """The engine as each caller sees it."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends

    def make_backend(self, caller: Caller) -> Backend:
        """What answers a caller."""
        return self._backends.make(
            caller.owner, tools=caller.tools, is_operator=caller.is_operator, remembers=not caller.is_nobody
        )

    async def aclose(self) -> None:
        """Close it."""
        await self._backends.aclose()


async def _serve(
    service: HttpService, settings: HttpSettings, identities: IdentitySettings | None, listener: socket.socket
) -> int:
    where = f"{settings.public_url}{ENDPOINT}"
    if identities is None:
        warn(f"{where} answers everybody on this machine")
        everybody = OpenGate(local_owner(os.environ, []))
        return await run(service, settings, HttpApp(service, settings, everybody), listener)
    authenticator = Authenticator(identities, warn=warn)
    who = [f"tokens of {identities.issuer}"] if identities.issuer else []
    who += ["API keys"] if authenticator.api_keys is not None else []
    who += ["callers who do not say who they are"] if identities.anonymous else []
    warn(f"{where} answers {', '.join(who)}")
    await authenticator.start()
    try:
        gate = IdentityGate(authenticator, service.catalogue.tool_names)
        return await run(service, settings, HttpApp(service, settings, gate, authenticator.metadata), listener)
    finally:
        await authenticator.aclose()


def read_identities(environ: Mapping[str, str], settings: HttpSettings) -> IdentitySettings | None:
    """Who may call, or None where that is everybody on this machine; raises where strangers could, unsaid."""
    identities = read_identity_settings(environ)
    if identities.issuer or identities.anonymous or Path(identities.api_keys).exists():
        return identities
    if settings.is_loopback:
        return None
    raise SettingsError(
        f"{settings.host} can be reached by others, and nobody would have to say who they are: set OAUTH_ISSUER_URL, "
        "make keys with `specloom keys add`, or set ALLOW_ANONYMOUS_HTTP=true where a proxy in front checks them"
    )


def bind(settings: HttpSettings) -> socket.socket:
    """The listening socket; raises SettingsError where the address cannot be had.

    It is made with its protocol number, without which asyncio leaves Nagle's algorithm on for every connection of it
    (uvicorn issue 3149): 44 ms for each answer.
    """
    try:
        family, kind, _, _, place = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, socket.IPPROTO_TCP)
    except OSError as error:
        raise SettingsError(f"cannot listen on {settings.host}: {error.strerror or error}") from None
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise SettingsError(f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}") from None
    listener.setblocking(False)
    return listener


async def run(
    service: HttpService,
    settings: HttpSettings,
    app: HttpApp,
    listener: socket.socket,
    *,
    stop: asyncio.Event | None = None,
) -> int:
    """Serve on a socket until a signal, or until `stop` is set; then drain and close."""
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        app,
        http=make_protocol(settings),
        ws="none",
        loop="asyncio",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=max(round(settings.idle_seconds), 1),
        timeout_graceful_shutdown=max(round(settings.shutdown_seconds), 1),
    )
    server = _Server(config, service)
    service.start()
    stop = stop or asyncio.Event()
    with _signals(stop):
        await server.serve_until(stop, listener)
        await service.close(settings.shutdown_seconds)
    return 0


@contextmanager
def _signals(stop: asyncio.Event) -> Iterator[None]:
    """Let the first signal set `stop`, and a second one end the process at once. Threads of tests have no signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()

    def note(number: int, _: object) -> None:
        if stop.is_set():
            os._exit(128 + number)
        loop.call_soon_threadsafe(stop.set)

    before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Server(uvicorn.Server):
    """uvicorn's server, which ends streams of changes before it waits for connections."""

    def __init__(self, config: uvicorn.Config, service: HttpService) -> None:
        super().__init__(config)
        self._service = service

    async def serve_until(self, stop: asyncio.Event, listener: socket.socket) -> None:
        """Serve until `stop` is set. uvicorn's own handlers would end the process before the engine is closed."""
        serving = asyncio.create_task(self._serve([listener]))
        await stop.wait()
        self.should_exit = True
        await serving

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.drain()
        await super().shutdown(sockets)


def report(error: BaseException) -> None:
    """Tell of a defect on stderr, without what it was about."""
    warn(f"a defect: {type(error).__name__}")
