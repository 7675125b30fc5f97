"""The process that serves HTTP: it binds, loads the catalogue, runs uvicorn as a library, and leaves in order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import uvicorn

from specloom.core import VariableError, VariableProblems, find_tracer, read_variable, state_folder, to_plain
from specloom.runtime import CallerLimits
from specloom.server import (
    check_shared,
    examine_environment,
    load_catalogue,
    load_image,
    load_served,
    make_backends,
    open_run_folder,
    warn,
)
from specloom.storage import (
    RUN_FOLDER,
    STATE_FILE,
    local_backplane,
    local_owner,
    read_redis_settings,
    read_state_settings,
)

from .admin_keys import AdminSettings, read_admin_settings
from .app import HttpApp
from .engine import OwnerEngine, TenantSwitches, read_tenants
from .gate import IdentityGate, OpenGate
from .guards import GuardedProtocol, make_protocol
from .health import Health
from .identity import Authenticator, RevocationFile, SharedRevocations, Tenants, read_identity_settings
from .limits import HttpLimits, LimitedEngine, LimitSettings, find_unasking, read_limits
from .metrics import FOLDER
from .operations import Operations
from .service import HttpService
from .settings import ENDPOINT, HttpSettings, SettingsError, read_settings
from .sharing import describe_sharing
from .supervisor import Life, Supervisor
from .tracing import TracedEngine

if TYPE_CHECKING:
    from specloom.core import Backplane
    from specloom.server import Selection

    from .identity import IdentitySettings, Revocations
    from .operations import Place
    from .service import Engine

BACKLOG = 1024
MOST_WORKERS = 64
SWITCHING = 0.001
"""Seconds that a thread keeps the interpreter while the loop waits for it; the default is five times as long."""
PAUSE = 0.1
"""Seconds without new connections after one that no descriptor was left for."""
USAGE = 2
"""The exit code for a setting that is wrong."""


def serve_http(address: str, selection: Selection, *, workers: str = "", replay: str = "", record: str = "") -> int:
    """Serve until a signal ends it; the exit code. `address` is `[HOST:]PORT`, or empty for HOST and PORT.

    `workers` is their number, or `auto`; more than one are processes of their own.
    """
    environ = os.environ
    try:
        setup = read_setup(environ, address, selection, workers=workers, replays=bool(replay))
        settings, identities, admin, listener = setup.settings, setup.identities, setup.admin, setup.listener
        count, ports, tenants = setup.workers, setup.ports, setup.tenants
        if not replay:
            check_shared(environ)
            check_shared(environ, state=True)
        catalogue = load_catalogue(environ, selection, replay=bool(replay))
        bounds = read_limits(environ, catalogue.tool_names, shared=identities is not None)
    except VariableError as error:
        for problem in error.args:
            warn(to_plain(str(problem)))
        return USAGE
    except SystemExit as stop:
        return int(stop.code or 0)
    where = f"{settings.local_url}{ENDPOINT}"
    if settings.public_url != settings.local_url:
        where += f", which clients know as {settings.public_url}{ENDPOINT},"
    warn(f"{where} answers {describe_callers(identities)}{_say_workers(count)}")
    for sentence in setup.sharing:
        warn(sentence)

    def work(_: int, life: Life | None) -> int:
        # A worker that replaces another has the specs of now, and not those that its parent began with.
        served = catalogue if life is None else load_catalogue(environ, selection, replay=bool(replay))
        is_shared = count > 1 or identities is not None or bool(environ.get("REDIS_URL", "").strip())
        backplane = open_run_folder(environ) if is_shared else local_backplane()
        limits = None
        if identities is not None or bounds != LimitSettings():
            limits = HttpLimits(bounds, backplane.counters, workers=count, unasking=find_unasking(served))
        paced = backplane if is_shared and not replay else None

        tracer = find_tracer()
        own = tenants if life is None else read_tenants(environ)
        switches = TenantSwitches(own, environ)
        engines: list[OwnerEngine] = []

        def load() -> Engine:
            shared = identities is not None
            backends = make_backends(
                environ, served, replay=replay, record=record, shared=shared, may_share=True, backplane=paced
            )
            backends.executor.caller_limits = CallerLimits(
                per_minute=bounds.per_tenant, per_day=bounds.daily_per_tenant, server_per_second=bounds.overall
            )
            if limits is not None:
                backends.executor.count_day = limits.count_day
            engine = operations.engine = OwnerEngine(backends, own, environ, warn)
            engines.append(engine)
            limited = engine if limits is None else LimitedEngine(engine, limits)
            return limited if tracer is None else TracedEngine(limited, tracer)

        folder = Path(state_folder(environ)) / RUN_FOLDER / f"{FOLDER}{os.getppid()}" if life is not None else None
        operations = Operations(admin, ports, environ, warn=warn, folder=folder)
        bus = backplane.bus if life is not None or backplane.link is not None else None
        service = HttpService(served, load, bus=bus, report=report)

        def renew() -> None:
            """Read anew what tenants have set for themselves; what is wrong in it changes nothing."""
            try:
                tenants = read_tenants(environ)
            except VariableError as error:
                warn(to_plain(f"{error}; what was read before goes on"))
                return
            for engine in engines:
                engine.renew(tenants)
            switches.renew(tenants)
            service.forget_backends()
            warn(f"SPECLOOM_TENANTS was read anew: {len(tenants.own)} tenants have settings of their own")

        return asyncio.run(
            _serve(service, settings, identities, listener, life, backplane, limits, operations, switches, renew)
        )

    if count == 1:
        return work(0, None)
    return Supervisor(count, work, seconds=settings.shutdown_seconds, warn=warn).run()


class HttpSetup(NamedTuple):
    """What a server is started with, once all of it has been read."""

    workers: int
    settings: HttpSettings
    identities: IdentitySettings | None
    admin: AdminSettings
    listener: socket.socket
    ports: Mapping[str, socket.socket]
    tenants: Tenants
    sharing: Sequence[str] = ()
    """What an operator is told of things without an owner; see `describe_sharing`."""


def read_setup(
    environ: Mapping[str, str], address: str, selection: Selection, *, workers: str = "", replays: bool = False
) -> HttpSetup:
    """What the environment and the command ask for; a VariableError with a sentence for each thing that is wrong.

    Whoever mends one of them is told of the others in the same run. `selection` is told whether callers are several.
    """
    problems = VariableProblems()
    count = problems.attempt(lambda: count_workers(workers, environ), 1)
    settings = problems.attempt(lambda: read_settings(environ, address), None)
    identities = problems.attempt(lambda: read_identities(environ, settings), None)
    selection.shared = identities is not None
    admin = problems.attempt(lambda: read_admin_settings(environ, warn), AdminSettings())
    for read in (read_redis_settings, read_state_settings):
        problems.attempt(lambda read=read: read(environ), None)  # type: ignore[misc]
    problems.add(*find_unused(environ, identities))
    if count > 1 and not replays:
        compile_apart(environ, selection)
    served = load_served(environ)
    sharing: list[str] = []
    if not served.errors:  # which are shown when the catalogue is loaded
        heads = served.model.heads
        collections = [one.spec for one in served.model.collections.values()]
        found = examine_environment(environ, heads, collections)
        problems.add(*found.problems)
        for notice in found.notices:
            warn(to_plain(notice))
        problems.attempt(lambda: read_limits(environ, heads.tools, shared=identities is not None), None)
        with suppress(ValueError):  # which is told when the catalogue is made
            sharing += describe_sharing(served.model, selection, environ, identities, always_configured=replays)
    tenants = problems.attempt(lambda: read_tenants(environ), Tenants())
    if left := find_left_behind(environ):
        warn(to_plain(left))
    listener = problems.attempt(lambda: bind(settings) if settings is not None else None, None)
    ports: dict[str, socket.socket] = {}
    for name, one in admin.ports.items():
        if (bound := problems.attempt(lambda one=one: bind(one), None)) is not None:  # type: ignore[misc]
            ports[name] = bound
    if problems.sentences or settings is None or listener is None:
        raise VariableError(*problems.sentences)
    settings = read_settings(environ, f"{settings.host}:{listener.getsockname()[1]}")
    return HttpSetup(count, settings, identities, admin, listener, ports, tenants, sharing)


def find_left_behind(environ: Mapping[str, str]) -> str:
    """A sentence where the folder of the state holds what servers with a shared state do not see; "" where not."""
    file = Path(state_folder(environ)) / STATE_FILE
    if environ.get("SPECLOOM_STATE", "").strip().lower() != "redis" or not file.exists():
        return ""
    return (
        f"{file} holds what was remembered before SPECLOOM_STATE=redis, and nobody sees it here: "
        "`SPECLOOM_STATE=folder specloom data export` gives it out, user by user; remove the file when it may go"
    )


def find_unused(environ: Mapping[str, str], identities: IdentitySettings | None) -> Iterator[str]:
    """A sentence for each variable that is set, and that this server would not look at."""

    def is_set(name: str) -> bool:
        return bool(environ.get(name, "").strip())

    is_state = environ.get("SPECLOOM_STATE", "").strip().lower() == "redis"
    if is_set("SPECLOOM_STATE_REDIS_URL") and not is_state:
        yield "SPECLOOM_STATE_REDIS_URL is set, but what is remembered is in a folder; set SPECLOOM_STATE=redis as well"
    if is_set("REDIS_PREFIX") and not is_set("REDIS_URL") and not is_state:
        yield "REDIS_PREFIX is set, but no server is named; set REDIS_URL as well, or leave it out"
    enforces = False
    with suppress(VariableError):  # which is told with all that cannot be read
        enforces = bool(read_variable("ENFORCE_SCOPES", environ))
    if identities is None and enforces:
        yield (
            "ENFORCE_SCOPES is set, but everybody on this machine may call without saying who they are; "
            "set OAUTH_ISSUER_URL or make keys with `specloom keys add`, or leave it out"
        )


def count_workers(said: str, environ: Mapping[str, str]) -> int:
    """How many workers the command asks for, or else SPECLOOM_WORKERS; `auto` is one a processor, eight at most."""
    text = said.strip() or environ.get("SPECLOOM_WORKERS", "").strip()
    if not text:
        return 1
    where = "--workers" if said.strip() else "SPECLOOM_WORKERS"
    if text == "auto":
        count = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, 8)
    elif text.isascii() and text.isdigit() and 0 < int(text) <= MOST_WORKERS:
        count = int(text)
    else:
        raise SettingsError(f"{where} is {text!r}; write 1 to {MOST_WORKERS}, or auto")
    if count > 1 and not hasattr(os, "fork"):
        if text != "auto":
            raise SettingsError(f"this system cannot fork, so there is one worker; leave {where} out")
        count = 1
    return count


def compile_apart(environ: Mapping[str, str], selection: Selection) -> None:
    """Compile what no image is kept of in a process of its own, so that the parent of workers holds none of it.

    What a parent has used is never given back, and all of its workers begin with it. A SystemExit where specs have
    errors, which that process has shown; whatever else is wrong the parent finds itself.
    """
    if load_image(environ, selection) is not None:
        return
    process = os.fork()
    if process == 0:
        code = 0
        try:
            load_catalogue(environ, selection)
        except SystemExit as stop:
            code = int(stop.code or 0)
        finally:
            sys.stderr.flush()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code > 0:
        raise SystemExit(code)


def _say_workers(count: int) -> str:
    return f", with {count} workers" if count > 1 else ""


def describe_callers(identities: IdentitySettings | None) -> str:
    """Who may call, in words."""
    if identities is None:
        return "everybody on this machine"
    who = [f"tokens of {identities.issuer}"] if identities.issuer else []
    who += ["API keys"] if Path(identities.api_keys).exists() else []
    who += ["callers who do not say who they are"] if identities.anonymous else []
    return ", ".join(who)


async def _serve(
    service: HttpService,
    settings: HttpSettings,
    identities: IdentitySettings | None,
    listener: socket.socket,
    life: Life | None,
    backplane: Backplane,
    limits: HttpLimits | None,
    operations: Operations,
    switches: TenantSwitches,
    renew: Callable[[], object],
) -> int:
    """Be a worker; `life` is what its parent has given it, and `renew` what SIGHUP asks of one without a parent."""
    health = Health(operations.find_executor, backplane, warn=warn)
    try:
        if identities is None:
            everybody = OpenGate(local_owner(os.environ, []))
            app = HttpApp(service, settings, everybody, limits=limits)
            app.health = health
            return await run(
                service, settings, app, listener, life=life, others=operations.open(app, service), renew=renew
            )
        authenticator = Authenticator(identities, warn=warn)
        await authenticator.start()
        shared = share_revocations(authenticator.revocations, backplane, os.environ)
        if shared is not None:
            await shared.start()
        try:
            gate = IdentityGate(authenticator, service.catalogue.tool_names, find_off=switches.find_off)
            app = HttpApp(service, settings, gate, authenticator.metadata, limits=limits)
            app.health = health
            others = operations.open(app, service, shared or authenticator.revocations)
            return await run(service, settings, app, listener, life=life, others=others, renew=renew)
        finally:
            if shared is not None:
                await shared.aclose()
            await authenticator.aclose()
    finally:
        await asyncio.to_thread(operations.close)
        await backplane.aclose()


def share_revocations(own: Revocations, backplane: Backplane, environ: Mapping[str, str]) -> SharedRevocations | None:
    """The revocations of this machine with those of the machines that share its Redis; None where none does."""
    redis = read_redis_settings(environ)
    if redis is None or backplane.cache is None or not isinstance(own, RevocationFile):
        return None
    return SharedRevocations(own, backplane.cache, backplane.bus, redis.key, warn=warn)


def read_identities(environ: Mapping[str, str], settings: HttpSettings | None) -> IdentitySettings | None:
    """Who may call, or None where that is everybody on this machine; raises where strangers could, unsaid.

    Without `settings` nobody knows yet who can reach it.
    """
    identities = read_identity_settings(environ)
    if identities.issuer or identities.anonymous or Path(identities.api_keys).exists():
        return identities
    if environ.get("SPECLOOM_API_KEYS", "").strip():
        # Whoever names a file of keys wants nobody in without one.
        raise SettingsError(
            f"SPECLOOM_API_KEYS is {identities.api_keys!r}, which is not there, so nobody would need a key: "
            "make one with `specloom keys add`, or unset it"
        )
    if settings is None or not (reached := _say_reached(settings)):
        return None
    raise SettingsError(
        f"{reached}, and nobody would have to say who they are: set OAUTH_ISSUER_URL, make keys with "
        f"`specloom keys add` (they would stand in {identities.api_keys}), or set ALLOW_ANONYMOUS_HTTP=true where a "
        "proxy in front checks them"
    )


def _say_reached(settings: HttpSettings) -> str:
    """How others than this machine come to the server; nothing where they do not."""
    if not settings.is_loopback:
        return f"{settings.host} can be reached by others"
    if not settings.is_known_here_alone:
        return f"others reach the server at PUBLIC_URL, {settings.public_url}"
    return "others reach the server through the proxy of TRUST_PROXY" if settings.proxies else ""


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
    life: Life | None = None,
    others: Sequence[Place] = (),
    renew: Callable[[], object] = lambda: None,
) -> int:
    """Serve on a socket until a signal, until `stop` is set, or until the parent ends; then drain and close.

    `others` are applications with ports of their own, which are served as long.
    """
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    # What is written behind the answers is written in Python; the loop gets the interpreter back after so long.
    sys.setswitchinterval(SWITCHING)
    stop = stop or asyncio.Event()
    service.start(life.say_ready if life is not None else lambda: None)
    if life is not None:
        asyncio.get_running_loop().add_reader(life.parent, stop.set)
    places = [(app, settings, listener), *others]
    servers = [_Server(_configure(one, bounds), service, is_alone=life is None) for one, bounds, _ in places]
    with _signals(stop, renew if life is None else None):
        await asyncio.gather(*(one.serve_until(stop, place[2]) for one, place in zip(servers, places, strict=True)))
        await service.close(settings.shutdown_seconds)
    return 0


def _configure(app: HttpApp, settings: HttpSettings) -> uvicorn.Config:
    protocol = make_protocol(settings)
    app.guard = protocol.guard
    app.tracer = find_tracer()
    return uvicorn.Config(
        app,
        http=protocol,
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


@contextmanager
def _signals(stop: asyncio.Event, renew: Callable[[], object] | None) -> Iterator[None]:
    """Let the first signal set `stop`, a second one end the process at once, and SIGHUP `renew`.

    Threads of tests have no signals, and the SIGHUP of a worker is its parent's matter.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()

    def note(number: int, _: object) -> None:
        if stop.is_set():
            os._exit(128 + number)
        loop.call_soon_threadsafe(stop.set)

    before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
    if renew is not None and hasattr(signal, "SIGHUP"):
        again = renew
        before[signal.SIGHUP] = signal.signal(signal.SIGHUP, lambda *_: loop.call_soon_threadsafe(again))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Server(uvicorn.Server):
    """uvicorn's server, which ends streams of changes before it waits for connections."""

    def __init__(self, config: uvicorn.Config, service: HttpService, *, is_alone: bool) -> None:
        super().__init__(config)
        self._service = service
        self._is_alone = is_alone
        self._listener: socket.socket | None = None

    async def serve_until(self, stop: asyncio.Event, listener: socket.socket) -> None:
        """Serve until `stop` is set. uvicorn's own handlers would end the process before the engine is closed."""
        serving = asyncio.create_task(self._serve([listener]))
        await stop.wait()
        self.should_exit = True
        await serving

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self._is_alone or not sockets:
            await super().startup(sockets)
            return
        # asyncio takes all connections that wait at once, so one of several workers would have them all.
        self.servers = []
        self._listener = sockets[0]
        asyncio.get_running_loop().add_reader(self._listener, self._accept, self._listener)
        self.started = True

    def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        try:
            connection, _ = listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError:  # no descriptor is free: those that have one go on, and some will end
            loop.remove_reader(listener)
            loop.call_later(
                PAUSE, lambda: None if self.should_exit else loop.add_reader(listener, self._accept, listener)
            )
            return
        connection.setblocking(False)
        task = loop.create_task(self._connect(connection))
        self.server_state.tasks.add(task)
        task.add_done_callback(self.server_state.tasks.discard)

    async def _connect(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            await asyncio.get_running_loop().connect_accepted_socket(self._make_protocol, connection)

    def _make_protocol(self) -> asyncio.Protocol:
        make = cast("Callable[..., asyncio.Protocol]", self.config.http_protocol_class)
        return make(config=self.config, server_state=self.server_state, app_state={})

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.drain()
        cast("type[GuardedProtocol]", self.config.http_protocol_class).guard.is_leaving = True
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
        await super().shutdown(sockets)


def report(error: BaseException) -> None:
    """Tell of a defect on stderr, without what it was about."""
    warn(f"a defect: {type(error).__name__}")
