"""Credentials that are refused although they have not ended: single ones by id, or all of a user made before a time."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from specloom.plugins import join_owner

from .identity import Identity, Refusal, say_nothing
from .watched_file import WatchedFile

MOST = 100_000
MOST_IN_A_FILE = 10_000
FILE_NAME = "revocations.json"
"""The file in the folder of the state."""


Revoked: TypeAlias = Mapping[str, Mapping[str, float]]
"""Times by the digest of a name, for `tokens` and for `users`."""


class RevocationsFullError(Exception):
    """There is no room for another revocation, so it was not made."""


class Revocations(Protocol):
    """What is revoked. Asked for every request, so it answers from memory; who shares it keeps that memory up to date.

    A name that was revoked may not be forgotten early: where there is no room, `RevocationsFullError` says so.
    """

    def is_revoked(self, identity: Identity) -> bool:
        """Whether the credential that this caller showed is refused."""

    def revoke_token(self, token_id: str, expires: float) -> None:
        """Refuse the token with this `jti`, or the key with this id; `expires` is when it ends anyway."""

    def revoke_user(self, tenant: str, user: str, before: float) -> None:
        """Refuse what was made for a user before a time, or does not say when; "" is every user of the tenant."""


class MemoryRevocations:
    """The revocations of one process. `clock` tells seconds since the epoch."""

    def __init__(self, *, most: int = MOST, clock: Callable[[], float] = time.time) -> None:
        self._most = most
        self._clock = clock
        self._tokens: dict[str, float] = {}
        self._users: dict[tuple[str, str], float] = {}

    def is_revoked(self, identity: Identity) -> bool:
        """Whether the credential that this caller showed is refused."""
        if identity.token_id and identity.token_id in self._tokens:
            return True
        if not self._users:
            return False
        before = max(self._users.get((identity.tenant, user), 0.0) for user in (identity.user, ""))
        return before > 0 and (identity.issued is None or identity.issued < before)

    def revoke_token(self, token_id: str, expires: float) -> None:
        """Refuse the token with this `jti`, or the key with this id; `expires` is when it ends anyway."""
        if not token_id:
            raise ValueError("a token is revoked by its jti, and this is empty")
        self._make_room()
        # Tokens are good for a little longer than they say.
        self._tokens[token_id] = max(expires + 60.0, self._tokens.get(token_id, 0.0))

    def revoke_user(self, tenant: str, user: str, before: float) -> None:
        """Refuse what was made for a user before a time, or does not say when; "" is every user of the tenant."""
        self._make_room()
        self._users[tenant, user] = max(before, self._users.get((tenant, user), 0.0))

    def _make_room(self) -> None:
        if len(self._tokens) + len(self._users) < self._most:
            return
        now = self._clock()
        self._tokens = {token: expires for token, expires in self._tokens.items() if expires > now}
        if len(self._tokens) + len(self._users) >= self._most:
            raise RevocationsFullError


class RevocationsError(ValueError):
    """A file of revocations that cannot be used: one sentence."""


class RevocationFile:
    """The revocations of all processes of a machine, in a file that outlives them; names are in it as digests alone.

    To revoke takes a lock and writes to the disk, so from a loop it belongs in a thread.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        most: int = MOST_IN_A_FILE,
        warn: Callable[[str], None] = say_nothing,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._file = WatchedFile(path, _parse, what="revocations", error=RevocationsError, warn=warn, timer=timer)
        self._most = most
        self._clock = clock

    def is_revoked(self, identity: Identity) -> bool:
        """Whether the credential that this caller showed is refused; a Refusal (503) where that cannot be read."""
        revoked = self._file.look()
        if revoked is None:
            raise Refusal("keys_unavailable", retry_after=10)
        if identity.token_id and revoked.tokens and _digest("token", identity.token_id) in revoked.tokens:
            return True
        if not revoked.users:
            return False
        names = (_digest("user", identity.owner), _digest("tenant", identity.tenant))
        before = max(revoked.users.get(name, 0.0) for name in names)
        return before > 0 and (identity.issued is None or identity.issued < before)

    def revoke_token(self, token_id: str, expires: float) -> None:
        """Refuse the token with this `jti`, or the key with this id; `expires` is when it ends anyway."""
        if not token_id:
            raise ValueError("a token is revoked by its jti, and this is empty")
        self._change("tokens", _digest("token", token_id), expires + 60.0)

    def revoke_user(self, tenant: str, user: str, before: float) -> None:
        """Refuse what was made for a user before a time, or does not say when; "" is every user of the tenant."""
        self._change("users", _digest("user", join_owner(tenant, user)) if user else _digest("tenant", tenant), before)

    def _change(self, kind: Literal["tokens", "users"], name: str, until: float) -> None:
        self.merge({kind: {name: until}})

    def merge(self, others: Revoked) -> Revoked:
        """Everything that is revoked, with that of `others`, of which the later time counts; the file is written where
        that changes it. RevocationsFullError where there is no room, and a RevocationsError where it cannot be read.
        """
        now = self._clock()
        running = {"tokens": {name: ends for name, ends in others.get("tokens", {}).items() if ends > now}}
        if is_more({**others, **running}, self._current()):
            with self._file.locked():
                kinds = self._current()
                for kind, times in {**others, **running}.items():
                    for name, until in times.items():
                        kinds[kind][name] = max(until, kinds[kind].get(name, 0.0))
                if sum(map(len, kinds.values())) > self._most:
                    raise RevocationsFullError
                self._file.write(kinds)
        return self._current()

    def _current(self) -> dict[str, dict[str, float]]:
        """What the file has, without what has ended."""
        revoked, now = self._file.read(), self._clock()
        tokens = {token: expires for token, expires in revoked.tokens.items() if expires > now}
        return {"tokens": tokens, "users": dict(revoked.users)}


class _Revoked(NamedTuple):
    tokens: Mapping[str, float]
    """When each ends, by digest."""
    users: Mapping[str, float]
    """Before when theirs are refused, by digest of a user or a tenant."""


def is_more(some: Revoked, others: Revoked) -> bool:
    """Whether something is revoked that others lack, or until a later time."""
    return any(
        until > others.get(kind, {}).get(name, 0.0) for kind, times in some.items() for name, until in times.items()
    )


def read_revoked(said: Any) -> Revoked:
    """What somebody else has written as `RevocationFile.merge` gives it; a ValueError for anything else."""
    revoked = _parse(said)
    return {"tokens": revoked.tokens, "users": revoked.users}


def _parse(said: Mapping[str, Any]) -> _Revoked:
    tokens, users = said.get("tokens", {}), said.get("users", {})
    for digest, at in (*tokens.items(), *users.items()):
        if len(bytes.fromhex(digest)) != 32 or not isinstance(at, int | float):
            raise ValueError("no revocation")
    return _Revoked(tokens, users)


def _digest(kind: str, name: str) -> str:
    return hashlib.sha256(f"{kind}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()
