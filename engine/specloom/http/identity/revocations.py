"""Credentials that are refused although they have not ended: single ones by id, or all of a user made before a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from .identity import Identity

MOST = 100_000


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
