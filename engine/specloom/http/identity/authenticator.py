"""From the headers of a request to who calls: by a token of the issuer, by an API key, or nobody where that is let in.

Knows no web framework: it is given the values of headers and the query, and gives an `Identity` or raises a `Refusal`.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from .api_keys import PREFIX, ApiKeyFile
from .identity import NOBODY, Identity, Refusal, say_nothing
from .issuer_keys import IssuerKeys
from .metadata import ResourceMetadata
from .revocations import MemoryRevocations, RevocationFile, Revocations
from .scopes import ScopePolicy
from .settings import IdentitySettings
from .tokens import LONGEST_TOKEN, verify_token

if TYPE_CHECKING:
    from specloom.net import Transport
    from specloom.runtime import Sender

KEPT_FOR = 60.0
"""Seconds for which a verified token is not verified again."""
MOST_KEPT = 10_000
START_WAIT = 1.0
"""Seconds for which a start waits for the issuer."""
_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE)  # RFC 6750, 2.1
_IN_QUERY = frozenset({"access_token", "api_key", "x-api-key", "authorization"})
_MOST_PARAMETERS = 100


class Authenticator:
    """Finds out who calls. For one event loop: `start` before the first request, `aclose` after the last.

    `sender` asks the issuer; without one a guarded transport is made and closed here. `revocations` are those of the
    file that the settings name, or of this process, unless they are given. `clock` tells seconds since the epoch,
    `timer` seconds that only go on. `warn` gets one sentence, without anything of a credential, for what an operator
    should know.
    """

    def __init__(
        self,
        settings: IdentitySettings,
        *,
        sender: Sender | None = None,
        revocations: Revocations | None = None,
        warn: Callable[[str], None] = say_nothing,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = settings
        self.revocations = revocations or _make_revocations(settings, warn, clock, timer)
        self.api_keys = ApiKeyFile(settings.api_keys, warn=warn, timer=timer) if settings.api_keys else None
        self._clock = clock
        self._timer = timer
        self._own: Transport | None = None
        self._issuer_keys: IssuerKeys | None = None
        if settings.issuer:
            if sender is None:
                sender = self._own = _make_transport()
            self._issuer_keys = IssuerKeys(settings.issuer, sender, refresh=settings.refresh, warn=warn, clock=timer)
        self._kept = _KeptTokens(MOST_KEPT)
        self._refreshing: asyncio.Task[None] | None = None

    @property
    def scopes(self) -> ScopePolicy:
        """Which tools a caller may use."""
        return self.settings.scopes

    @property
    def metadata(self) -> ResourceMetadata | None:
        """What clients read before they ask for a token; None without an issuer."""
        return self.settings.metadata

    @property
    def ready(self) -> bool:
        """Whether credentials can be verified; for readiness."""
        return self._issuer_keys is None or self._issuer_keys.ready

    async def start(self) -> None:
        """Read the issuer's keys, and from now on in time. Where they cannot be read it is said and tried again.

        An issuer that is slow is waited for a second; `ready` says when its keys are there.
        """
        if self._issuer_keys is not None and self._refreshing is None:
            await self._issuer_keys.refresh(wait=START_WAIT)
            self._refreshing = asyncio.get_running_loop().create_task(self._keep_fresh(self._issuer_keys))

    async def aclose(self) -> None:
        """Ask the issuer no more."""
        if self._refreshing is not None:
            self._refreshing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._refreshing
            self._refreshing = None
        if self._issuer_keys is not None:
            await self._issuer_keys.aclose()
        if self._own is not None:
            await self._own.aclose()

    async def identify(
        self, authorization: Sequence[bytes | str], query: bytes | str = b"", *, api_key: Sequence[bytes | str] = ()
    ) -> Identity:
        """The caller that a request shows: every value of `Authorization` and `X-API-Key`, and its query string.

        A Refusal for whoever is not let in. A credential that does not hold is never taken for none.
        """
        try:
            return self._check_revoked(await self._identify(authorization, query, api_key))
        except Refusal as refusal:
            if refusal.status == 401:
                refusal.scopes = self.scopes.initial
            raise

    def _check_revoked(self, identity: Identity) -> Identity:
        if self.revocations.is_revoked(identity):
            raise Refusal("revoked")
        return identity

    async def _identify(
        self, authorization: Sequence[bytes | str], query: bytes | str, api_key: Sequence[bytes | str]
    ) -> Identity:
        if query:
            _check_query(query)
        if len(authorization) + len(api_key) > 1:
            raise Refusal("two_credentials")
        if api_key:
            return self._find_key(_to_text(api_key[0]).strip(" \t"))
        if not authorization:
            if self.settings.anonymous:
                return NOBODY
            raise Refusal("no_credential")
        text = _to_text(authorization[0])
        credential = _BEARER.fullmatch(text)
        if credential is None:
            raise Refusal("malformed" if text[:6].lower() == "bearer" else "other_scheme")
        if credential[1].startswith(PREFIX):
            return self._find_key(credential[1])
        return await self._verify(credential[1])

    async def _verify(self, token: str) -> Identity:
        keys = self._issuer_keys
        if keys is None:
            raise Refusal("opaque")
        now = self._clock()
        digest = hashlib.sha256(token.encode("ascii")).digest()
        identity = self._kept.find(digest, keys.generation, self._timer()) if keys.ready else None
        if identity is None or now >= identity.expires:
            identity = await verify_token(token, keys, self.settings, now)
            self._kept.keep(digest, identity, keys.generation, self._timer() + KEPT_FOR)
        return identity

    def _find_key(self, text: str) -> Identity:
        if self.api_keys is None:
            raise Refusal("api_key")
        return self.api_keys.find(text, self._clock())

    async def _keep_fresh(self, keys: IssuerKeys) -> None:
        while True:
            await asyncio.sleep(max(keys.due_in, 0.01))
            if keys.due_in <= 0:
                await keys.refresh()


class _KeptTokens:
    """Who tokens were verified to be from, by their digests; as many as fit, the oldest leave first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._generation = 0
        self._entries: dict[bytes, tuple[float, Identity]] = {}

    def find(self, digest: bytes, generation: int, now: float) -> Identity | None:
        """Whose token it is, where it was verified with the keys of this generation and not too long ago."""
        if generation != self._generation:
            self._entries.clear()
        until, identity = self._entries.get(digest, (0.0, None))
        return identity if now < until else None

    def keep(self, digest: bytes, identity: Identity, generation: int, until: float) -> None:
        """Keep who a token is from."""
        if generation != self._generation:
            self._entries.clear()
            self._generation = generation
        self._entries.pop(digest, None)
        if len(self._entries) >= self._most:
            del self._entries[next(iter(self._entries))]
        self._entries[digest] = until, identity


def _to_text(value: bytes | str) -> str:
    """A header value as text; one that is no ASCII, or too long for any credential, is refused."""
    if len(value) > LONGEST_TOKEN + len("Bearer "):
        raise Refusal("too_large")
    try:
        return value.decode("ascii") if isinstance(value, bytes) else value.encode("ascii").decode("ascii")
    except UnicodeError:
        raise Refusal("malformed") from None


def _check_query(query: bytes | str) -> None:
    text = query.decode("latin-1") if isinstance(query, bytes) else query
    try:
        names = {name.lower() for name, _ in parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)}
    except ValueError:
        raise Refusal("credential_in_query") from None
    if not names.isdisjoint(_IN_QUERY):
        raise Refusal("credential_in_query")


def _make_revocations(
    settings: IdentitySettings, warn: Callable[[str], None], clock: Callable[[], float], timer: Callable[[], float]
) -> Revocations:
    if not settings.revocations:
        return MemoryRevocations(clock=clock)
    return RevocationFile(settings.revocations, warn=warn, clock=clock, timer=timer)


def _make_transport() -> Transport:
    from specloom.net import Transport

    return Transport(max_connections=4)
