"""The connection to Redis or Valkey: one that all calls share, each bounded in time, behind a circuit breaker.

Calls that come together go out together. After the first that fails none is tried any more, so that a server that
hangs costs a process one wait and not one for each call; a probe in the background finds out when it is back.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import ipaddress
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from specloom.core import KEY_VARIABLE, BackplaneError, VariableError, dataclass, load_key, project_id, read_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


PATIENCE = 0.25
"""Seconds that a call may take, with whatever it waits for, where nothing else is said."""
AWAY = "what processes share is each one's own until it is back"
FIRST_PROBE, LAST_PROBE = 0.05, 1.0
"""Seconds before the first look whether a server is back, and between two at the most."""
START = 5.0
"""Seconds within which a server has to answer when a process starts."""
AT_ONCE = 256
"""Calls that go out together, at most."""
OLDEST = (6, 2)
KEEPS_ALL, SYNCS = "noeviction", "always"
URL_VARIABLE, PREFIX_VARIABLE = "REDIS_URL", "REDIS_PREFIX"
STATE_PLACE, STATE_URL_VARIABLE = "SPECLOOM_STATE", "SPECLOOM_STATE_REDIS_URL"
_SCHEMES = ("redis", "rediss", "unix")
_OPTIONS = {"db", "ssl_ca_certs", "ssl_certfile", "ssl_keyfile"}
"""What an address may say behind its `?`; the library would let it change timeouts and the protocol too."""
_PREFIX = re.compile(r"[A-Za-z0-9_:.-]{0,64}")


class RedisRefusal(BackplaneError):  # noqa: N818 - an answer, and not a failure of the server
    """What the server does not do; it can be reached."""

    def __init__(self, place: str, error: Exception) -> None:
        super().__init__(f"Redis at {place} refused it ({_words(error)})")
        self.words = {*_words(error).split(", ")}
        """The library's word for it and the server's, as far as there are any."""

    @property
    def is_full(self) -> bool:
        """Whether there is no memory left for it."""
        return not self.words.isdisjoint({"OOM", "OutOfMemoryError"})

    @property
    def is_passing(self) -> bool:
        """Whether the server will do it soon, by itself: it is loading its data, is busy, or is being replaced."""
        return not self.words.isdisjoint(_PASSING)


_PASSING = {
    *("BusyLoadingError", "ReadOnlyError", "MasterDownError", "TryAgainError", "ClusterDownError"),
    *("LOADING", "BUSY", "READONLY", "MASTERDOWN", "TRYAGAIN", "NOREPLICAS"),
}


# --- Settings ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class RedisSettings:
    """Where the server is, what our keys there begin with, and the key of tags and seals."""

    url: str
    prefix: str
    key: bytes
    variable: str = URL_VARIABLE
    """The variable that names it."""

    @property
    def place(self) -> str:
        """The server as a sentence may name it: without the password."""
        parts = urlsplit(self.url)
        return parts.path if parts.scheme == "unix" else f"{parts.hostname}:{parts.port or 6379}"

    @property
    def is_open(self) -> bool:
        """Whether what is said goes over a network in the clear."""
        parts = urlsplit(self.url)
        return parts.scheme == "redis" and not _is_loopback(parts.hostname or "")


def read_redis_settings(environ: Mapping[str, str], variable: str = URL_VARIABLE) -> RedisSettings | None:
    """The settings, or None without REDIS_URL; VariableError says what to write."""
    url = environ.get(variable, "").strip()
    if not url:
        return None
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in _SCHEMES and bool(parts.path if parts.scheme == "unix" else parts.hostname)
        is_good = is_good and (parts.scheme == "unix" or parts.port != 0)
        odd = sorted(set(parse_qs(parts.query, keep_blank_values=True)) - _OPTIONS)
    except ValueError:
        is_good, odd = False, []
    if not is_good:
        raise VariableError(
            f"{variable} is not the address of a Redis server: write rediss://USER:PASSWORD@HOST:PORT/0, or "
            "redis:// without TLS, or unix:///PATH"
        )
    if odd:
        raise VariableError(f"{variable} may not set {', '.join(odd)}: only {', '.join(sorted(_OPTIONS))}")
    prefix = str(read_variable(PREFIX_VARIABLE, environ))
    if not environ.get(PREFIX_VARIABLE, "").strip() and (project := project_id(environ)):
        prefix = f"{project}:"
    if not _PREFIX.fullmatch(prefix):
        raise VariableError(f"{PREFIX_VARIABLE} is {prefix[:80]!r}: write at most 64 letters, digits and _ : . -")
    if not environ.get(KEY_VARIABLE, "").strip():
        raise VariableError(
            f"{variable} needs {KEY_VARIABLE} in the environment, the same on every machine: what is shared is "
            "sealed with it, and a key file of one machine is not another's"
        )
    try:
        return RedisSettings(url, prefix, load_key(Path(), environ), variable)
    except ValueError as error:
        raise VariableError(str(error)) from None


def read_state_settings(environ: Mapping[str, str]) -> RedisSettings | None:
    """The server that keeps what is remembered, or None where the folder of the state does; VariableError as above."""
    if read_variable(STATE_PLACE, environ) != "redis":
        return None
    settings = read_redis_settings(environ, STATE_URL_VARIABLE) or read_redis_settings(environ)
    if settings is None:
        raise VariableError(
            f"{STATE_PLACE} is redis, and no server is named: set {URL_VARIABLE}, or {STATE_URL_VARIABLE} for a server "
            "that keeps the state alone"
        )
    return settings


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_redis(
    settings: RedisSettings, warn: Callable[[str], None], *, within: float = START, keeps_state: bool = False
) -> None:
    """Return once the server has answered and is one that we can use; else a BackplaneError with what to do.

    One that `keeps_state` has to keep what it has acknowledged. What an operator should know of it goes to `warn`.
    """
    if settings.is_open:
        warn(
            f"Redis at {settings.place} is reached without TLS: its password and the times of calls can be read on the "
            f"way; write rediss:// in {settings.variable}"
        )
    redis = _library()
    until, why = time.monotonic() + within, ""
    client: Any = None
    while (left := until - time.monotonic()) > 0:
        client = redis.Redis.from_url(
            settings.url,
            socket_timeout=left,
            socket_connect_timeout=left,
            protocol=3,
            retry=redis.retry.Retry(_none(), 0),
        )
        try:
            client.ping()
            info = client.info()
            fsync = _read_fsync(redis, client) if keeps_state else ""
        except (redis.AuthenticationError, redis.ResponseError) as error:
            client.close()
            if not isinstance(error, redis.BusyLoadingError):
                raise BackplaneError(
                    f"Redis at {settings.place} does not let us in ({_words(error)}): {settings.variable} needs a user "
                    "who may use the keys of REDIS_PREFIX, EVAL, PUBLISH and INFO"
                ) from None
            why = "it is loading"
        except (redis.RedisError, OSError, ValueError) as error:
            client.close()
            why = _words(error)
        else:
            client.close()
            check_info(settings, info, warn if not keeps_state else lambda _: None)
            if keeps_state:
                check_durability(settings, info, fsync, warn)
            return
        time.sleep(min(0.1, max(0.0, until - time.monotonic())))
    raise BackplaneError(
        f"Redis at {settings.place} gave no answer within {within:g} seconds ({why}); see {settings.variable}"
    )


def check_info(settings: RedisSettings, info: Mapping[str, Any], warn: Callable[[str], None]) -> None:
    """Return if a server is one that we can use, by what it tells of itself; else a BackplaneError."""
    version = str(info.get("redis_version", ""))
    found = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if found < OLDEST:
        raise BackplaneError(f"Redis at {settings.place} is {version or 'of no version'}: 6.2 or newer is needed")
    policy = str(info.get("maxmemory_policy", KEEPS_ALL))
    if policy != KEEPS_ALL:
        warn(
            f"Redis at {settings.place} drops keys when its memory is full (maxmemory-policy {policy}): limits and "
            "quotas that it drops begin anew"
        )


def check_durability(settings: RedisSettings, info: Mapping[str, Any], fsync: str, warn: Callable[[str], None]) -> None:
    """Return if a server keeps what it has acknowledged; else a BackplaneError. `fsync` is when it syncs its file."""
    policy = str(info.get("maxmemory_policy", KEEPS_ALL))
    if policy != KEEPS_ALL:
        raise BackplaneError(
            f"Redis at {settings.place} drops keys when its memory is full (maxmemory-policy {policy}), and what is "
            f"remembered would be among them: set it to {KEEPS_ALL}, or name a server that keeps the state alone as "
            f"{STATE_URL_VARIABLE}"
        )
    if not info.get("aof_enabled"):
        raise BackplaneError(
            f"Redis at {settings.place} writes nothing to its disk as it goes, so a restart would lose what is "
            "remembered: set `appendonly yes` and `appendfsync always` there"
        )
    if fsync != SYNCS:
        said = f"appendfsync {fsync}" if fsync else "it does not say when (CONFIG GET appendfsync)"
        warn(
            f"Redis at {settings.place} may lose the last second of what is remembered when its machine fails "
            f"({said}): `appendfsync always` there keeps all that was acknowledged"
        )


def _read_fsync(redis: Any, client: Any) -> str:
    try:
        return str(client.config_get("appendfsync").get("appendfsync", ""))
    except redis.ResponseError:
        return ""


def _library() -> Any:
    try:
        import redis
    except ImportError:
        raise BackplaneError(
            "what machines share needs the library of Redis, which is not installed: install specloom[redis]"
        ) from None
    return redis


def _none() -> Any:
    from redis.backoff import NoBackoff

    return NoBackoff()


def _words(error: BaseException) -> str:
    """What went wrong, in few words; nothing that a server could have put into them beyond its code."""
    name = type(error).__name__
    code = re.match(r"[A-Z]{3,24}\b", str(error))
    return f"{name}, {code[0]}" if code else name


# --- The connection ---------------------------------------------------------------------------------------------------


class Script:
    """A Lua script and the digest by which the server knows it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


class _Call(NamedTuple):
    words: tuple[Any, ...]
    answer: asyncio.Future[Any]
    until: float


def _make_client(settings: RedisSettings, patience: float) -> Any:
    from redis.asyncio import Redis
    from redis.asyncio.retry import Retry

    return Redis.from_url(
        settings.url,
        protocol=3,
        socket_timeout=patience,
        socket_connect_timeout=patience,
        retry=Retry(_none(), 0),
        health_check_interval=0,
    )


class RedisLink:
    """What all that share a server speak through. Used on one event loop; connected by the first call.

    Made anywhere, and where there is time: the library takes longer to import than a call may take.
    """

    def __init__(
        self, settings: RedisSettings, warn: Callable[[str], None], *, patience: float = PATIENCE, away: str = AWAY
    ) -> None:
        """`patience` is how many seconds a call may take, and `away` what is told when the server cannot be reached."""
        self.settings = settings
        self.patience = patience
        """Seconds that a call may take."""
        self._away = away
        self._warn = warn
        self._faults: tuple[type[Exception], ...] = (_library().RedisError, OSError, TimeoutError)
        self.client = _make_client(settings, patience)
        """The library's client."""
        self._calls: list[_Call] = []
        self._sending: asyncio.Task[None] | None = None
        self._probing: asyncio.Task[None] | None = None
        self._why = ""
        """Why calls fail at once; empty while they are sent."""
        self._closed = False

    @property
    def faults(self) -> tuple[type[Exception], ...]:
        """What the library raises where a server cannot be reached."""
        return self._faults

    @property
    def is_away(self) -> bool:
        """Whether calls fail at once because the server could not be reached."""
        return bool(self._why)

    async def execute(self, *words: Any) -> Any:
        """What the server answers to a command; BackplaneError within its patience, and at once while it is away."""
        answer = await self._ask(words)
        if isinstance(answer, Exception):
            raise RedisRefusal(self.settings.place, answer)
        return answer

    async def run(self, script: Script, keys: tuple[str, ...], *values: Any) -> Any:
        """What a script returns; one that the server has forgotten is sent again."""
        answer = await self._ask(("EVALSHA", script.sha, len(keys), *keys, *values))
        if isinstance(answer, Exception) and type(answer).__name__ == "NoScriptError":
            return await self.execute("EVAL", script.text, len(keys), *keys, *values)
        if isinstance(answer, Exception):
            raise RedisRefusal(self.settings.place, answer)
        return answer

    async def _ask(self, words: tuple[Any, ...]) -> Any:
        if self._why or self._closed:
            raise BackplaneError(self._why or "the connection to Redis is closed")
        loop = asyncio.get_running_loop()
        call = _Call(words, loop.create_future(), loop.time() + self.patience)
        self._calls.append(call)
        if self._sending is None:
            self._sending = loop.create_task(self._send())
        return await call.answer

    async def _send(self) -> None:
        """Send what there is to send until nothing is left. One batch is under way at a time."""
        batch: list[_Call] = []
        try:
            while self._calls:
                batch, self._calls = self._calls[:AT_ONCE], self._calls[AT_ONCE:]
                batch = [one for one in batch if not one.answer.done()]
                if not batch:
                    continue
                try:
                    async with asyncio.timeout_at(batch[0].until), self.client.pipeline(transaction=False) as pipe:
                        for one in batch:
                            pipe.execute_command(*one.words)
                        answers = await pipe.execute(raise_on_error=False)
                except self._faults as error:
                    self._open(batch, error)
                    return
                for one, answer in zip(batch, answers, strict=True):
                    if not one.answer.done():
                        one.answer.set_result(answer)
        except asyncio.CancelledError:
            self._fail([*batch, *self._calls], "the connection to Redis is closed")
            raise
        finally:
            self._sending = None

    def _open(self, batch: list[_Call], error: BaseException) -> None:
        """Open the breaker: whoever waits fails now, and whoever comes fails at once until a probe has succeeded."""
        self._why = f"Redis at {self.settings.place} cannot be reached ({_words(error)})"
        calls, self._calls = [*batch, *self._calls], []
        self._fail(calls, self._why)
        if self._probing is None and not self._closed:
            self._probing = asyncio.get_running_loop().create_task(self._probe())

    def _fail(self, calls: list[_Call], why: str) -> None:
        for one in calls:
            if not one.answer.done():
                one.answer.set_exception(BackplaneError(why))

    async def _probe(self) -> None:
        """Ask until the server answers; then close the breaker."""
        wait, is_told = FIRST_PROBE, False
        while True:
            await asyncio.sleep(wait)
            with contextlib.suppress(*self._faults):
                async with asyncio.timeout(self.patience):
                    # What was connected before may be dead and not know it.
                    await self.client.connection_pool.disconnect(inuse_connections=False)
                    await self.client.ping()
                break
            # A loop that was held up for a moment is no news.
            if not is_told:
                is_told = True
                self._warn(f"{self._why}: {self._away}")
            wait = min(2 * wait, LAST_PROBE)
        self._why, self._probing = "", None
        if is_told:
            self._warn(f"Redis at {self.settings.place} is back")

    async def aclose(self) -> None:
        """Let go of the connections; calls fail from now on."""
        self._closed = True
        for task in (self._probing, self._sending):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        self._fail(self._calls, "the connection to Redis is closed")
        await self.client.aclose()
