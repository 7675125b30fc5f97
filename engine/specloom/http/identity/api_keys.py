"""API keys for callers without an issuer: made once, kept as hashes in one file, gone within a second when revoked.

A key is 256 random bits, so its SHA-256 is as good as out of reach for whoever reads the file: there is no list of
likely keys to try. A slow hash protects what people choose; here it would only let strangers burn our time.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import math
import os
import secrets
import string
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from specloom.core import dataclass, read_variable, state_folder
from specloom.plugins import JsonObject

from .identity import Identity, Refusal, is_name, is_scope, say_nothing
from .watched_file import WatchedFile

FILE_NAME = "api-keys.json"
"""The file in the folder of the state, where no other is named."""
PREFIX = "slk_"
"""How every key begins, by which people and scanners know one."""
MOST_KEYS = 10_000
_ID_SIGNS = string.ascii_lowercase + string.digits
_ID_LENGTH = 10
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True, repr=False)
class IssuedKey:
    """What is kept of a key: whose it is and the hash by which it is known; never the key."""

    id: str
    tenant: str
    user: str
    scopes: tuple[str, ...]
    digest: str
    """SHA-256 of the whole key, in hexadecimal digits."""
    created: float
    expires: float | None = None

    def to_identity(self) -> Identity:
        """Who calls with it."""
        ends = math.inf if self.expires is None else self.expires
        return Identity(self.tenant, self.user, frozenset(self.scopes), self.id, ends, self.created, kind="key")


class ApiKeyError(ValueError):
    """A file of keys, or a key to be made, that is not usable: one sentence that shows no key."""


class ApiKeyFile:
    """The keys of a server. A running one reads the file again when it has changed; commands change it under a lock.

    `timer` tells seconds that only go on; `warn` gets one sentence when the file cannot be used.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        warn: Callable[[str], None] = say_nothing,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._file: WatchedFile[Mapping[str, IssuedKey]] = WatchedFile(
            path, _parse, what="API keys", error=ApiKeyError, warn=warn, timer=timer
        )
        self.path = self._file.path

    def find(self, text: str, now: float) -> Identity:
        """Who calls with a key; a Refusal for one that is not known, has ended, or cannot be looked up."""
        keys = self._file.look()
        if keys is None:
            raise Refusal("keys_unavailable", retry_after=10)
        key = keys.get(text[len(PREFIX) : len(PREFIX) + _ID_LENGTH])
        # A key that is not known is compared as well, so that the time tells nobody which ids there are.
        known = bytes.fromhex(key.digest) if key is not None else bytes(_SECRET_BYTES)
        same = hmac.compare_digest(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), known)
        if key is None or not same or (key.expires is not None and now >= key.expires):
            raise Refusal("api_key")
        return key.to_identity()

    def add(
        self, tenant: str, *, user: str = "", scopes: Sequence[str] = (), expires: float | None = None, now: float
    ) -> tuple[IssuedKey, str]:
        """A new key, and its text, which is kept nowhere. Without a user the key is a user of its own."""
        check_owner(tenant, user)
        for scope in scopes:
            if not is_scope(scope):
                raise ApiKeyError(f"{scope!r} is no scope; write visible ASCII without blanks and quotes")
        name = "".join(secrets.choice(_ID_SIGNS) for _ in range(_ID_LENGTH))
        text = f"{PREFIX}{name}_{base64.urlsafe_b64encode(secrets.token_bytes(_SECRET_BYTES)).decode().rstrip('=')}"
        digest = hashlib.sha256(text.encode("ascii")).hexdigest()
        key = IssuedKey(name, tenant, user or f"key-{name}", tuple(dict.fromkeys(scopes)), digest, now, expires)
        with self._file.locked():
            keys = self.read()
            if len(keys) >= MOST_KEYS:
                raise ApiKeyError(f"{self.path} has {MOST_KEYS} keys; revoke some first")
            if name in keys:
                raise ApiKeyError("the new key has the id of another; try again")
            self._write([*keys.values(), key])
        return key, text

    def revoke(self, key_id: str) -> IssuedKey | None:
        """Remove a key; what it was, or None when there is none of this id."""
        with self._file.locked():
            keys = dict(self.read())
            key = keys.pop(key_id, None)
            if key is not None:
                self._write(list(keys.values()))
        return key

    def revoke_owner(self, tenant: str, user: str = "") -> list[IssuedKey]:
        """Remove every key of a user, or of all users of a tenant; what they were.

        A file that can only be read, such as a secret that is mounted, is an ApiKeyError where it has such keys.
        """
        if not (theirs := self._find_of(tenant, user)):
            return []
        try:
            with self._file.locked():
                gone = self._find_of(tenant, user)
                self._write([key for key in self.read().values() if key not in gone])
        except TimeoutError:
            raise
        except OSError as error:
            ids = ", ".join(key.id for key in theirs)
            raise ApiKeyError(
                f"{self.path} cannot be changed ({error.strerror or error}); take {ids} out of it where it comes from, "
                "then ask again"
            ) from None
        return gone

    def _find_of(self, tenant: str, user: str) -> list[IssuedKey]:
        return [key for key in self.read().values() if key.tenant == tenant and user in (key.user, "")]

    def read(self) -> Mapping[str, IssuedKey]:
        """The keys of the file by id, none where there is no file; an ApiKeyError for one that cannot be used."""
        return self._file.read()

    def _write(self, keys: Sequence[IssuedKey]) -> None:
        self._file.write({"keys": [_to_json(key) for key in keys]})


def find_api_keys(environ: Mapping[str, str]) -> str:
    """Where the file of API keys is."""
    named = read_variable("SPECLOOM_API_KEYS", environ)
    return str(Path(str(named)).expanduser() if named else Path(state_folder(environ)) / FILE_NAME)


def check_owner(tenant: str, user: str = "") -> None:
    """Nothing for names that a caller may have; an ApiKeyError with what to write for others."""
    for what, name in (("tenant", tenant), *([("user", user)] if user else [])):
        if not is_name(name):
            raise ApiKeyError(f"{name!r} is no {what}; write 1 to 255 characters without line breaks, not 'anonymous'")


def _to_json(key: IssuedKey) -> JsonObject:
    said: dict[str, Any] = {"id": key.id, "tenant": key.tenant, "user": key.user, "scopes": list(key.scopes)}
    return {**said, "sha256": key.digest, "created": key.created, "expires": key.expires}


def _parse(said: Mapping[str, Any]) -> dict[str, IssuedKey]:
    """The keys by id; a ValueError, KeyError or TypeError for what is no file of keys."""
    keys = [_from_json(one) for one in (said["keys"] if said else ())]
    return {key.id: key for key in keys}


def _from_json(said: Mapping[str, Any]) -> IssuedKey:
    key_id, scopes, created, expires = said["id"], tuple(said["scopes"]), said["created"], said["expires"]
    if not (
        len(key_id) == _ID_LENGTH
        and is_name(said["tenant"])
        and is_name(said["user"])
        and all(isinstance(scope, str) and is_scope(scope) for scope in scopes)
        and isinstance(created, int | float)
        and (expires is None or isinstance(expires, int | float))
        and len(bytes.fromhex(said["sha256"])) == _SECRET_BYTES
    ):
        raise ValueError("a key that cannot be")
    return IssuedKey(key_id, said["tenant"], said["user"], scopes, said["sha256"], created, expires)
