"""What is revoked stays so in every process of the machine, and where there is no room for more it is said."""

from __future__ import annotations

import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from specloom.http.identity import (
    Authenticator,
    Identity,
    MemoryRevocations,
    Refusal,
    RevocationFile,
    Revocations,
    RevocationsError,
    RevocationsFullError,
)
from tests.support.clock import Clock
from tests.support.token_issuer import TokenIssuer

Make = Callable[..., Revocations]


def caller(user: str = "ann", issued: float | None = 100.0, token_id: str = "j1", tenant: str = "acme") -> Identity:
    return Identity(tenant, user, token_id=token_id, issued=issued)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "revocations.json"


@pytest.fixture(params=["memory", "file"])
def make(request: pytest.FixtureRequest, path: Path) -> Make:
    """Makes revocations of either kind; those of a file are looked at anew each time."""

    def made(**options: Any) -> Revocations:
        return MemoryRevocations(**options) if request.param == "memory" else RevocationFile(path, **options)

    return made


def test_a_token_is_revoked_by_its_id_and_no_other_is(make: Make) -> None:
    revocations = make()
    revocations.revoke_token("j1", expires=1e12)

    assert revocations.is_revoked(caller())
    assert not revocations.is_revoked(caller(token_id="j2"))
    assert not revocations.is_revoked(caller(token_id=""))


def test_an_empty_id_would_be_that_of_every_token_without_one(make: Make) -> None:
    with pytest.raises(ValueError, match="empty"):
        make().revoke_token("", expires=1e12)


def test_a_user_is_revoked_as_of_a_time(make: Make) -> None:
    revocations = make()
    revocations.revoke_user("acme", "ann", before=150.0)

    assert revocations.is_revoked(caller(issued=149.0))
    assert revocations.is_revoked(caller(issued=None))
    assert not revocations.is_revoked(caller(issued=150.0))
    assert not revocations.is_revoked(caller("bob"))
    assert not revocations.is_revoked(caller(tenant="beta"))


def test_a_tenant_is_revoked_with_all_its_users_and_never_for_an_earlier_time_than_before(make: Make) -> None:
    revocations = make()
    revocations.revoke_user("acme", "", before=150.0)
    revocations.revoke_user("acme", "", before=50.0)

    assert revocations.is_revoked(caller("bob"))
    assert not revocations.is_revoked(caller("bob", tenant="beta"))


def test_a_token_that_is_revoked_twice_stays_so_until_the_later_end(make: Make) -> None:
    clock = Clock(1000.0)
    revocations = make(most=2, clock=clock)
    revocations.revoke_token("j1", expires=5000.0)
    revocations.revoke_token("j1", expires=1000.0)
    clock.now = 2000.0
    revocations.revoke_token("j2", expires=5000.0)

    assert revocations.is_revoked(caller())


def test_room_is_made_by_what_has_ended_and_by_nothing_else(make: Make) -> None:
    clock = Clock(1000.0)
    revocations = make(most=3, clock=clock)
    revocations.revoke_token("j1", expires=1000.0)
    revocations.revoke_token("j2", expires=1e12)
    revocations.revoke_user("acme", "ann", before=150.0)

    with pytest.raises(RevocationsFullError):
        revocations.revoke_token("j4", expires=1e12)
    clock.now += 61
    revocations.revoke_token("j4", expires=1e12)

    assert [name for name in ("j1", "j2", "j4") if revocations.is_revoked(caller("bob", token_id=name))] == ["j2", "j4"]


# --- The file ---------------------------------------------------------------------------------------------------------


def test_another_process_and_a_later_start_know_it_within_a_second(path: Path) -> None:
    clock = Clock()
    running = RevocationFile(path, timer=clock)
    before = running.is_revoked(caller())
    RevocationFile(path).revoke_token("j1", expires=1e12)
    clock.now += 1

    assert (before, running.is_revoked(caller()), RevocationFile(path).is_revoked(caller())) == (False, True, True)


def test_the_file_is_for_its_owner_alone_and_has_no_names(path: Path) -> None:
    revocations = RevocationFile(path)
    revocations.revoke_token("Pl4nted", expires=1e12)
    revocations.revoke_user("Pl4nted", "Pl4nted", before=150.0)
    revocations.revoke_user("Pl4nted", "", before=150.0)

    assert "Pl4nted" not in path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_who_revokes_at_the_same_time_loses_nothing(path: Path) -> None:
    names = [str(number) for number in range(12)]
    workers = [threading.Thread(target=RevocationFile(path).revoke_token, args=(name, 1e12)) for name in names]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    revocations = RevocationFile(path)
    assert all(revocations.is_revoked(caller(token_id=name)) for name in names)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 2}', '{"format": 1, "tokens": {"x": 1}}', '{"format": 1, "users": []}']
)
def test_where_it_cannot_be_read_nobody_is_let_in_and_nothing_is_lost(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700)
    path.write_text(text, encoding="utf-8")
    said: list[str] = []
    revocations = RevocationFile(path, warn=said.append)

    for _ in range(3):
        with pytest.raises(Refusal) as caught:
            revocations.is_revoked(caller())
        assert caught.value.status == 503
    with pytest.raises(RevocationsError):
        revocations.revoke_token("j1", expires=1e12)

    assert len(said) == 1
    assert path.read_text(encoding="utf-8") == text


async def test_callers_are_held_against_the_file_that_the_settings_name(path: Path) -> None:
    with TokenIssuer() as issuer:
        clock = Clock(issuer.now)
        door = Authenticator(issuer.settings(revocations=str(path)), clock=clock, timer=clock)
        await door.start()
        header = f"Bearer {issuer.sign(jti='j1')}"
        await door.identify([header])
        RevocationFile(path).revoke_token("j1", issuer.now + 300)
        clock.now += 1

        with pytest.raises(Refusal) as caught:
            await door.identify([header])

        assert caught.value.reason == "revoked"
        await door.aclose()
