"""The issuer's verification keys (JWKS, RFC 7517), found by its metadata (RFC 8414, OpenID Connect Discovery).

What a token says never decides whom we ask. An unknown `kid` causes at most one request a minute, which all who wait
share. Keys go on for a day where the issuer cannot be reached, and a key that it no longer lists is gone at once.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from specloom.core import Fault, Policy, Request, dataclass

from .identity import Refusal, say_nothing
from .settings import check_key_url, is_loopback

if TYPE_CHECKING:
    from specloom.runtime import Sender

ALGORITHMS: Mapping[str, tuple[str, str]] = {
    "RS256": ("RSA", ""),
    "PS256": ("RSA", ""),
    "ES256": ("EC", "P-256"),
    "EdDSA": ("OKP", "Ed25519"),
}
"""What a token may be signed with, and the type and curve of the key for it."""
MOST_BYTES = 256 * 1024
MOST_KEYS = 100
TIMEOUT = 5.0
"""Seconds for one request, and for which a caller waits for keys."""
PAUSE = 60.0
"""Seconds between two requests that tokens cause."""
LASTS = 86_400.0
"""Seconds for which keys hold when they cannot be read again."""
LONGEST_KID = 256
RSA_BITS = range(2048, 8193)
_FIELDS: Mapping[str, tuple[str, ...]] = {"RSA": ("n", "e"), "EC": ("crv", "x", "y"), "OKP": ("crv", "x")}


@dataclass(frozen=True, slots=True, repr=False)
class VerificationKey:
    """One public key of the issuer."""

    kid: str
    algorithms: frozenset[str]
    public: Any
    """The key as `cryptography` has it."""


class KeySetError(ValueError):
    """Keys that cannot be had or used: one sentence that names the issuer's host at most."""


class IssuerKeys:
    """The keys of one issuer, for one event loop.

    `clock` tells seconds that only go on. `warn` gets one sentence for each time that they could not be read.
    """

    def __init__(
        self,
        issuer: str,
        sender: Sender,
        *,
        refresh: float = 3600.0,
        warn: Callable[[str], None] = say_nothing,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer = issuer
        self._host = check_key_url(issuer).host
        self._sender = sender
        self._refresh_after = refresh
        self._warn = warn
        self._clock = clock
        self._keys: Mapping[str, VerificationKey] = {}
        self._address = ""
        self._read_at: float | None = None
        self._asked_at: float | None = None
        self._reading: asyncio.Task[None] | None = None
        self.generation = 0
        """Goes up when the set changes, so that what was verified with an older one is verified anew."""

    @property
    def ready(self) -> bool:
        """Whether tokens can be verified: the keys were read within a day."""
        return self._read_at is not None and self._clock() - self._read_at < LASTS

    @property
    def due_in(self) -> float:
        """Seconds until the keys should be read again; after a failure a minute, or less where there are none yet."""
        if self._asked_at is None:
            return 0.0
        failed = self._read_at is None or self._read_at < self._asked_at
        pause = PAUSE if self.ready else PAUSE / 6
        return max(0.0, self._asked_at + (pause if failed else self._refresh_after) - self._clock())

    def check_ready(self) -> None:
        """Nothing while tokens can be verified, else a Refusal with 503."""
        if not self.ready:
            raise Refusal("keys_unavailable", retry_after=10)

    async def find(self, kid: str) -> VerificationKey:
        """The key of this name; a Refusal where the issuer has none, or where it cannot be asked (503)."""
        if not self.ready:
            # Where nothing is known yet, who comes first waits as well, but asks no more often than others.
            await self._read_within_pause(whole=True)
            self.check_ready()
        key = self._keys.get(kid)
        if key is None and await self._read_within_pause():
            key = self._keys.get(kid)
        if key is None:
            raise Refusal("unknown_key")
        return key

    async def refresh(self, *, wait: float | None = None) -> None:
        """Discover and read the keys now, or wait for who does, `wait` seconds at most; what fails is only told."""
        await asyncio.wait([self._start_reading(whole=True)], timeout=wait)

    async def aclose(self) -> None:
        """End what is being read."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    async def _read_within_pause(self, *, whole: bool = False) -> bool:
        """Whether the keys have just been read for this caller, by itself or by another; False where it is too soon."""
        if self._reading is None:
            if self._asked_at is not None and self._clock() - self._asked_at < PAUSE:
                return False
            self._start_reading(whole=whole)
        assert self._reading is not None
        await asyncio.wait([self._reading], timeout=TIMEOUT)
        return True

    def _start_reading(self, *, whole: bool) -> asyncio.Task[None]:
        if self._reading is None:
            self._asked_at = self._clock()
            self._reading = asyncio.get_running_loop().create_task(self._read(whole=whole))
            self._reading.add_done_callback(self._forget)
        return self._reading

    def _forget(self, reading: asyncio.Task[None]) -> None:
        self._reading = None
        if not reading.cancelled() and (defect := reading.exception()) is not None:
            self._warn(f"the keys of the issuer could not be read because of a defect: {type(defect).__name__}")

    async def _read(self, *, whole: bool) -> None:
        asked = self._clock()
        try:
            address = self._address
            if whole or not address:
                address = await self._discover()
            keys = parse_key_set(await self._fetch(address))
        except (KeySetError, Fault) as error:
            why = error.message if isinstance(error, Fault) else str(error)
            then = "those that are there go on" if self.ready else "tokens cannot be verified until then"
            self._warn(f"the keys of the issuer could not be read, {then}: {why}")
            return
        if keys != self._keys:
            self.generation += 1
        self._keys, self._address, self._read_at = keys, address, asked

    async def _discover(self) -> str:
        """Where the keys are: from the metadata that names this issuer, else as before, else at the usual place."""
        other = False
        for url in _metadata_urls(self._issuer):
            try:
                said = _parse_object(await self._fetch(url))
            except (KeySetError, Fault):
                continue
            if said.get("issuer") != self._issuer:
                other = True
            elif isinstance(address := said.get("jwks_uri"), str):
                self._check_address(address)
                return address
        if other:
            raise KeySetError("its metadata names another issuer than OAUTH_ISSUER_URL, which has to be the same text.")
        return self._address or f"{self._issuer.rstrip('/')}/.well-known/jwks.json"

    def _check_address(self, address: str) -> None:
        try:
            parsed = check_key_url(address)
        except ValueError:
            raise KeySetError("its metadata names an address of keys that is not https.") from None
        if parsed.scheme == "http" and not is_loopback(self._host):
            raise KeySetError("its metadata names an address of keys that is not https.")

    async def _fetch(self, url: str) -> bytes:
        host = check_key_url(url).host
        # The operator has named the issuer's host, so it may be private; any other has to be public. A redirect is
        # not followed: who controls one address could lead us to any other.
        private = host == self._host or (is_loopback(host) and is_loopback(self._host))
        policy = Policy(timeout=TIMEOUT, max_bytes=MOST_BYTES, redirects=0, allow_private=private)
        response = await self._sender.send(
            Request("GET", url, headers=(("Accept", "application/json"),), policy=policy)
        )
        if response.status != 200:
            what = "redirects, which is not followed" if 300 <= response.status < 400 else f"answered {response.status}"
            raise KeySetError(f"{host} {what}.")
        return response.body


def _metadata_urls(issuer: str) -> Iterable[str]:
    """Where an issuer's metadata may be: inserted before its path (RFC 8414, 3.1), then behind it (OpenID Connect)."""
    parts = urlsplit(issuer)
    start, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    return dict.fromkeys(
        (
            f"{start}/.well-known/oauth-authorization-server{path}",
            f"{start}/.well-known/openid-configuration{path}",
            f"{start}{path}/.well-known/openid-configuration",
        )
    )


def _parse_object(body: bytes) -> dict[str, Any]:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        raise KeySetError("what it answered is not JSON.") from None
    if not isinstance(said, dict):
        raise KeySetError("what it answered is no JSON object.")
    return said


def parse_key_set(body: bytes) -> dict[str, VerificationKey]:
    """The usable keys of a set by `kid`; what is for something else is left out, and two of one name refuse the set."""
    listed = _parse_object(body).get("keys")
    if not isinstance(listed, list):
        raise KeySetError("its key set has no list of keys.")
    if len(listed) > MOST_KEYS:
        raise KeySetError(f"its key set has {len(listed)} keys and {MOST_KEYS} are allowed.")
    keys: dict[str, VerificationKey] = {}
    names: set[str] = set()
    for one in listed:
        kid = one.get("kid") if isinstance(one, dict) else None
        if not isinstance(kid, str) or not is_kid(kid):
            continue
        if kid in names:
            raise KeySetError("its key set has two keys of one name.")
        names.add(kid)
        key = _to_key(kid, one)
        if key is not None:
            keys[kid] = key
    return keys


def is_kid(text: object) -> bool:
    """Whether a value may name a key."""
    return isinstance(text, str) and 1 <= len(text) <= LONGEST_KID and text.isprintable()


def _to_key(kid: str, said: Mapping[str, Any]) -> VerificationKey | None:
    """The public key that a JWK says, whatever private parts it may have; None where no token can be signed with it."""
    from jwt.algorithms import get_default_algorithms
    from jwt.exceptions import PyJWTError

    kind, curve = said.get("kty"), said.get("crv")
    fitting = {name for name, (kty, crv) in ALGORITHMS.items() if kty == kind and crv in ("", curve)}
    if said.get("alg") is not None:
        fitting &= {said["alg"]} if isinstance(said["alg"], str) else set()
    operations = said.get("key_ops", ["verify"])
    usable = said.get("use", "sig") == "sig" and isinstance(operations, list) and "verify" in operations
    if not fitting or not usable:
        return None
    public = {"kty": kind, **{name: said.get(name) for name in _FIELDS[str(kind)]}}
    if not all(isinstance(value, str) for value in public.values()):
        return None
    try:
        key: Any = get_default_algorithms()[min(fitting)].from_jwk(public)
        if kind == "RSA":
            exponent = key.public_numbers().e
            if key.key_size not in RSA_BITS or not 3 <= exponent < 2**32:
                return None
    except (PyJWTError, ValueError, TypeError, OverflowError):
        return None
    return VerificationKey(kid, frozenset(fitting), key)
