"""Who calls is found out once a minute for a token, and what is revoked, gone or unreachable counts at once."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.http.identity import ANONYMOUS, ApiKeyFile, Authenticator, Identity, IdentitySettings, Refusal, tokens
from specloom.http.identity import authenticator as module
from specloom.http.identity.scopes import ScopePolicy
from tests.support.clock import Clock
from tests.support.loopback import Call, Reply
from tests.support.token_issuer import JSON, METADATA, TokenIssuer, make_key


@pytest.fixture
def issuer() -> Iterator[TokenIssuer]:
    with TokenIssuer() as running:
        yield running


@pytest.fixture
def clock(issuer: TokenIssuer) -> Clock:
    return Clock(issuer.now)


@pytest.fixture
async def door(issuer: TokenIssuer, clock: Clock) -> AsyncIterator[Authenticator]:
    made = Authenticator(issuer.settings(), clock=clock, timer=clock)
    await made.start()
    yield made
    await made.aclose()


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every token that was verified and not only looked up."""
    texts: list[str] = []
    real = tokens._verify

    def note(token: Any, key: Any) -> Any:
        texts.append(token.text)
        return real(token, key)

    monkeypatch.setattr(tokens, "_verify", note)
    return texts


async def refuse(door: Authenticator, *headers: str | bytes, **more: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await door.identify(headers, **more)
    return caught.value


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
async def test_a_token_of_each_algorithm_names_its_caller(algorithm: str) -> None:
    with TokenIssuer([make_key("a", algorithm)]) as issuer:
        door = Authenticator(issuer.settings())
        await door.start()

        found = await door.identify([f"Bearer {issuer.sign(scp=['tool:demo_find', 'operator'])}"])

        assert found == Identity(
            "acme",
            "ann",
            frozenset({"research", "tool:demo_find", "operator"}),
            "j1",
            float(int(issuer.now) + 300),
            float(int(issuer.now)),
        )
        assert found.owner == "acme:ann"
        await door.aclose()


async def test_a_token_is_verified_once_a_minute(
    door: Authenticator, issuer: TokenIssuer, clock: Clock, verified: list[str]
) -> None:
    header = f"Bearer {issuer.sign()}"
    found = [await door.identify([header]) for _ in range(10)]
    clock.now += 59.9
    await door.identify([header])
    before = len(verified)
    clock.now += 0.1
    await door.identify([header])

    assert (before, len(verified)) == (1, 2)
    assert len(set(found)) == 1


async def test_a_token_that_was_verified_ends_when_it_ends(
    door: Authenticator, issuer: TokenIssuer, clock: Clock
) -> None:
    header = f"Bearer {issuer.sign(exp=int(issuer.now) + 10)}"
    await door.identify([header])

    clock.now = int(issuer.now) + 39.0
    assert (await door.identify([header])).user == "ann"
    clock.now = int(issuer.now) + 40.0
    assert (await refuse(door, header)).reason == "expired"


async def test_what_is_not_genuine_is_never_kept(door: Authenticator, issuer: TokenIssuer, verified: list[str]) -> None:
    forged = issuer.sign()[:-4] + "AAAA"

    for _ in range(3):
        assert (await refuse(door, f"Bearer {forged}")).reason == "signature"
    assert len(verified) == 3


async def test_tokens_that_are_kept_are_bounded(
    issuer: TokenIssuer, clock: Clock, verified: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 5)
    door = Authenticator(issuer.settings(), clock=clock, timer=clock)
    headers = [f"Bearer {issuer.sign(jti=str(number))}" for number in range(8)]
    for header in headers:
        await door.identify([header])
    assert len(door._kept._entries) == 5
    verified.clear()

    for header in (headers[7], headers[3], headers[2]):
        await door.identify([header])

    assert len(verified) == 1
    await door.aclose()


async def test_a_revoked_token_is_refused_at_once_although_it_was_verified(
    door: Authenticator, issuer: TokenIssuer
) -> None:
    headers = [f"Bearer {issuer.sign(jti='a')}", f"Bearer {issuer.sign(jti='b')}", f"Bearer {issuer.sign(sub='bob')}"]
    for header in headers:
        await door.identify([header])

    door.revocations.revoke_token("a", issuer.now + 300)
    first = (await refuse(door, headers[0])).reason
    still = (await door.identify([headers[1]])).user
    door.revocations.revoke_user("acme", "ann", issuer.now + 1)

    assert (first, still) == ("revoked", "ann")
    assert (await refuse(door, headers[1])).reason == "revoked"
    assert (await door.identify([headers[2]])).user == "bob"


async def test_without_keys_it_is_not_ready_and_tokens_are_to_be_sent_again_later(
    issuer: TokenIssuer, clock: Clock
) -> None:
    issuer.replies = {"/jwks": (500, {}, ""), METADATA: (500, {}, "")}
    said: list[str] = []
    door = Authenticator(issuer.settings(), clock=clock, timer=clock, warn=said.append)
    await door.start()

    refusal = await refuse(door, f"Bearer {issuer.sign()}")

    assert (door.ready, refusal.status, refusal.error) == (False, 503, "")
    assert refusal.retry_after > 0
    assert len(said) == 1
    await door.aclose()


async def test_after_a_day_without_the_issuer_tokens_that_are_kept_are_not_taken_either(
    door: Authenticator, issuer: TokenIssuer, clock: Clock
) -> None:
    header = f"Bearer {issuer.sign(exp=int(issuer.now) + 200_000)}"
    clock.now += 86_399
    await door.identify([header])
    issuer.replies = {"/jwks": (500, {}, ""), METADATA: (500, {}, "")}
    clock.now += 2

    # Keys that nobody has asked for again are a day old by now.
    assert (door.ready, (await refuse(door, header)).status) == (False, 503)


async def test_a_start_does_not_wait_long_for_an_issuer_that_hangs(
    issuer: TokenIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "START_WAIT", 0.05)
    released = threading.Event()

    def hang(call: Call) -> Reply:
        released.wait(120)
        return 200, JSON, json.dumps(issuer.key_set())

    issuer.replies["/jwks"] = hang
    door = Authenticator(issuer.settings())
    try:
        async with asyncio.timeout(60):
            await door.start()
        assert not door.ready
        waiting = asyncio.create_task(door.identify([f"Bearer {issuer.sign()}"]))
        await asyncio.sleep(0)
        released.set()
        # Who comes while the keys are on their way waits for them.
        assert (await waiting).user == "ann"
        assert (door.ready, issuer.count()) == (True, 1)
    finally:
        released.set()
        await door.aclose()


HEADERS = st.text(max_size=60) | st.binary(max_size=60) | st.builds("Bearer {}".format, st.text(max_size=60))


@given(
    st.lists(HEADERS, max_size=2),
    st.text(max_size=30) | st.binary(max_size=30),
    st.lists(HEADERS | st.builds("slk_{}".format, st.text(max_size=60)), max_size=2),
)
async def test_whatever_is_sent_is_refused_and_breaks_nothing(
    authorization: list[str | bytes], query: str | bytes, api_key: list[str | bytes]
) -> None:
    door = Authenticator(IdentitySettings(api_keys="/nowhere/keys.json"))

    with pytest.raises(Refusal):
        await door.identify(authorization, query, api_key=api_key)


async def test_keys_are_read_again_in_time_without_anybody_asking(issuer: TokenIssuer) -> None:
    door = Authenticator(issuer.settings(refresh=0.02))
    await door.start()
    async with asyncio.timeout(60):
        while issuer.count() < 3:  # noqa: ASYNC110 - the issuer is a thread, which sets no event of this loop
            await asyncio.sleep(0.005)
    await door.aclose()
    asked = issuer.count()
    await asyncio.sleep(0)

    # One may have been on its way.
    assert issuer.count() <= asked + 1


async def test_nobody_is_let_in_only_where_that_is_asked_for() -> None:
    closed, opened = Authenticator(IdentitySettings()), Authenticator(IdentitySettings(anonymous=True))

    assert (await refuse(closed)).reason == "no_credential"
    found = await opened.identify([])
    assert (found.tenant, found.user, found.is_anonymous) == (ANONYMOUS, ANONYMOUS, True)


async def test_a_credential_that_does_not_hold_is_not_taken_for_none(issuer: TokenIssuer, tmp_path: Path) -> None:
    door = Authenticator(issuer.settings(anonymous=True, api_keys=str(tmp_path / "keys.json")))
    await door.start()

    for header in ("Bearer a.b.c", "Basic YTpi", "", f"Bearer {issuer.sign(exp=1)}", "Bearer slk_x"):
        assert (await refuse(door, header)).status == 401
    assert (await refuse(door, api_key=[""])).status == 401
    await door.aclose()


async def test_who_is_not_let_in_is_told_which_scopes_to_ask_for(issuer: TokenIssuer) -> None:
    door = Authenticator(issuer.settings(scopes=ScopePolicy(enforced=True, required=("org:read",))))
    await door.start()

    for header in ([], ["Bearer a.b.c"], [f"Bearer {issuer.sign(exp=1)}"], ["Basic x"]):
        assert (await refuse(door, *header)).scopes == ("org:read", "research")
    await door.aclose()


async def test_an_api_key_is_taken_in_either_header_and_beside_an_issuer(issuer: TokenIssuer, tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    _, text = ApiKeyFile(path).add("acme", user="ann", scopes=["research"], now=issuer.now)
    door = Authenticator(issuer.settings(api_keys=str(path)))
    await door.start()

    found = [await door.identify([f"Bearer {text}"]), await door.identify([], api_key=[text.encode()])]

    assert [(one.owner, one.kind) for one in found] == [("acme:ann", "key")] * 2
    assert (await door.identify([f"Bearer {issuer.sign()}"])).kind == "token"
    assert issuer.count() == 1
    await door.aclose()


async def test_without_an_issuer_tokens_are_refused_and_nobody_is_asked(tmp_path: Path) -> None:
    with TokenIssuer() as issuer:
        door = Authenticator(IdentitySettings(api_keys=str(tmp_path / "keys.json")))
        await door.start()

        assert (await refuse(door, f"Bearer {issuer.sign()}")).status == 401
        assert (door.ready, door.metadata, issuer.asked) == (True, None, [])
        await door.aclose()


def test_what_verifies_tokens_is_not_imported_before_there_is_one() -> None:
    code = (
        "import sys, specloom.http.identity as i; i.Authenticator(i.IdentitySettings());"
        "print([name for name in ('jwt', 'cryptography', 'uvicorn', 'specloom.server') if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
