"""Who may use the admin interface: whoever sends its key, and nobody who guesses."""

from __future__ import annotations

import hashlib
import hmac
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from specloom.core import VariableProblems, dataclass
from specloom.storage import AuditRecord

from .guards import find_network
from .headers import HttpRefusal
from .settings import HttpSettings, SettingsError, read_settings, split_address

if TYPE_CHECKING:
    from specloom.storage import AuditTrail

    from .app import HttpRequest

LEAST_CHARACTERS = 16
ADMIN, METRICS = "/admin", "/metrics"
HEADER = b"x-admin-key"
MOST_FAILURES, WINDOW = 10, 60.0
"""Keys that do not hold, of one address in so many seconds, after which it is not listened to."""
MOST_ADDRESSES = 10_000
Tries = OrderedDict[str, deque[float]]
"""When each address has tried, the last of which are remembered."""


@dataclass(frozen=True, slots=True, repr=False)
class AdminSettings:
    """The keys of the admin interface, and the port that it has of its own."""

    key: str = ""
    previous: str = ""
    ports: Mapping[str, HttpSettings] = MappingProxyType({})
    """What has a port of its own, by its path."""

    def __repr__(self) -> str:
        return f"<AdminSettings: {'with' if self.key else 'without'} a key>"


def read_admin_settings(environ: Mapping[str, str], warn: Callable[[str], object]) -> AdminSettings:
    """The settings of an environment; a SettingsError for a key that is too short, or a port that is none."""
    name = "ADMIN_API_KEY"
    if not environ.get(name, "").strip() and environ.get("CACHE_ADMIN_KEY", "").strip():
        name = "CACHE_ADMIN_KEY"
        warn("CACHE_ADMIN_KEY is an earlier name; write ADMIN_API_KEY")
    problems = VariableProblems()
    key, previous = (
        problems.attempt(lambda one=one: _read_key(environ, one), "")  # type: ignore[misc]
        for one in (name, "ADMIN_API_KEY_PREV")
    )
    ports = {
        path: problems.attempt(lambda one=one: read_port(environ, one), None)  # type: ignore[misc]
        for path, one in ((ADMIN, "ADMIN_PORT"), (METRICS, "METRICS_PORT"))
    }
    for one in ("ADMIN_API_KEY_PREV", "ADMIN_PORT"):
        if environ.get(one, "").strip() and not environ.get(name, "").strip():
            problems.add(f"{one} is set, but ADMIN_API_KEY is not; set it, or leave both out")
    if problems.sentences:
        raise SettingsError(*problems.sentences)
    return AdminSettings(key, previous, {name: one for name, one in ports.items() if one is not None})


def read_port(environ: Mapping[str, str], name: str) -> HttpSettings | None:
    """Where a port of its own listens, as a variable says: on loopback, where it names no host; None without it."""
    text = environ.get(name, "").strip()
    if not text:
        return None
    address = text if ":" in text else f"127.0.0.1:{text}"
    try:
        split_address(address, environ)
    except SettingsError:
        raise SettingsError(f"{name} is {text!r}; write [HOST:]PORT, such as 9090") from None
    settings = read_settings(environ, address)
    # Only on this machine can a page be led to it under another name; elsewhere it is called whatever clients call it.
    return settings if settings.is_loopback else replace(settings, hosts=frozenset({"*"}))


def _read_key(environ: Mapping[str, str], name: str) -> str:
    key = environ.get(name, "").strip()
    if key and len(key) < LEAST_CHARACTERS:
        raise SettingsError(f"{name} has {len(key)} characters; write {LEAST_CHARACTERS} or more")
    if not key.isascii():
        raise SettingsError(f"{name} has characters beyond ASCII, which no header has; write others")
    return key


class AdminKeys:
    """Lets in who sends the key. What fails is audited, and an address that fails often is not listened to."""

    def __init__(
        self,
        settings: AdminSettings,
        trail: AuditTrail,
        *,
        warn: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._digests = [_digest(key.encode()) for key in (settings.key, settings.previous) if key]
        self._trail = trail
        self._warn = warn
        self._clock = clock
        self._guesses: Tries = OrderedDict()
        self._visits: Tries = OrderedDict()
        """Requests without any key. Nothing is guessed by them, so they are no reason to refuse who has one."""

    def check(self, request: HttpRequest) -> None:
        """Nothing for who has the key; else a refusal without a word why (401, or 429 after many)."""
        address, now = find_network(request.client), self._clock()
        if (wait := _find_wait(self._guesses, address, now)) > 0:
            raise HttpRefusal(429, headers=((b"retry-after", b"%d" % math.ceil(wait)),))
        sent = [value for name, value in request.headers if name == HEADER]
        if not sent:
            # So that nobody fills the log, those beyond as many as may be guessed are not written down.
            if _find_wait(self._visits, address, now) <= 0:
                _add_try(self._visits, address, now)
                self.note(request, "admin.refused", error="no_key")
            raise HttpRefusal(401)
        digest = _digest(sent[0]) if len(sent) == 1 else b""
        # All of them, so that the time does not tell which.
        holds = [hmac.compare_digest(digest, known) for known in self._digests]
        if not any(holds):
            _add_try(self._guesses, address, now)
            self.note(request, "admin.refused", error="wrong_key")
            raise HttpRefusal(401)
        if not holds[0]:
            self._warn("the previous admin key was used; replace it where it is, and unset ADMIN_API_KEY_PREV")
            self.note(request, "admin.previous_key")

    def note(
        self,
        request: HttpRequest,
        event: str,
        tenant: str = "",
        user: str = "",
        *,
        error: str = "",
        **metadata: object,
    ) -> None:
        """Write into the audit log what was done, or refused; nothing of what was sent."""
        self._trail.record(
            AuditRecord(
                event,
                tenant,
                user,
                success=not error,
                request_id=request.id,
                source_ip=request.client,
                error_code=error,
                metadata={**metadata, "through": "admin interface"},
            )
        )


def _find_wait(tries: Tries, address: str, now: float) -> float:
    """Seconds until an address may try again; 0 or less for one that may."""
    known = tries.get(address)
    return WINDOW - (now - known[0]) if known is not None and len(known) == MOST_FAILURES else 0.0


def _add_try(tries: Tries, address: str, now: float) -> None:
    tries.setdefault(address, deque(maxlen=MOST_FAILURES)).append(now)
    tries.move_to_end(address)
    if len(tries) > MOST_ADDRESSES:
        tries.popitem(last=False)


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
