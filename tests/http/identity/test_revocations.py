"""What is revoked stays so, and where there is no room for more it is said."""

from __future__ import annotations

import pytest

from specloom.http.identity import Identity, MemoryRevocations, RevocationsFullError
from tests.support.clock import Clock


def caller(user: str = "ann", issued: float | None = 100.0, token_id: str = "j1", tenant: str = "acme") -> Identity:
    return Identity(tenant, user, token_id=token_id, issued=issued)


def test_a_token_is_revoked_by_its_id_and_no_other_is() -> None:
    revocations = MemoryRevocations()
    revocations.revoke_token("j1", expires=1e12)

    assert revocations.is_revoked(caller())
    assert not revocations.is_revoked(caller(token_id="j2"))
    assert not revocations.is_revoked(caller(token_id=""))


def test_an_empty_id_would_be_that_of_every_token_without_one() -> None:
    with pytest.raises(ValueError, match="empty"):
        MemoryRevocations().revoke_token("", expires=1e12)


def test_a_user_is_revoked_as_of_a_time() -> None:
    revocations = MemoryRevocations()
    revocations.revoke_user("acme", "ann", before=150.0)

    assert revocations.is_revoked(caller(issued=149.0))
    assert revocations.is_revoked(caller(issued=None))
    assert not revocations.is_revoked(caller(issued=150.0))
    assert not revocations.is_revoked(caller("bob"))
    assert not revocations.is_revoked(caller(tenant="beta"))


def test_a_tenant_is_revoked_with_all_its_users_and_never_for_an_earlier_time_than_before() -> None:
    revocations = MemoryRevocations()
    revocations.revoke_user("acme", "", before=150.0)
    revocations.revoke_user("acme", "", before=50.0)

    assert revocations.is_revoked(caller("bob"))
    assert not revocations.is_revoked(caller("bob", tenant="beta"))


def test_room_is_made_by_what_has_ended_and_by_nothing_else() -> None:
    clock = Clock(1000.0)
    revocations = MemoryRevocations(most=3, clock=clock)
    revocations.revoke_token("j1", expires=1000.0)
    revocations.revoke_token("j2", expires=1e12)
    revocations.revoke_user("acme", "ann", before=150.0)

    with pytest.raises(RevocationsFullError):
        revocations.revoke_token("j4", expires=1e12)
    clock.now += 61
    revocations.revoke_token("j4", expires=1e12)

    assert [name for name in ("j1", "j2", "j4") if revocations.is_revoked(caller("bob", token_id=name))] == ["j2", "j4"]
