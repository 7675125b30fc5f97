"""Attacks 1 to 8 over a real socket: whoever shows nothing true gets a challenge of fixed words and nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specloom.http.app import HttpApp
from specloom.http.gate import IdentityGate
from specloom.http.identity import ApiKeyFile, Authenticator
from specloom.http.identity.scopes import ScopePolicy
from tests.support.demo_server import catalogue
from tests.support.http_server import HttpDemo
from tests.support.server_process import call, request
from tests.support.token_issuer import AUDIENCE, JSON, METADATA, SigningKey, TokenIssuer, encode, make_key

URL = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
PLANTED = "Pl4ntedV4lue"
ANOTHER = SigningKey("k1", "ES256", make_key("another").private)


class Door:
    """The demo server behind an issuer."""

    def __init__(self, issuer: TokenIssuer, keys: Path, **settings: Any) -> None:
        self.issuer, self.keys = issuer, ApiKeyFile(keys)
        self.authenticator = Authenticator(issuer.settings(api_keys=str(keys), **settings))
        gate = IdentityGate(self.authenticator, catalogue().tool_names)
        self.server = HttpDemo(gate=gate)
        self.server.app = HttpApp(self.server.service, self.server.settings, gate, self.authenticator.metadata)

    def __enter__(self) -> Door:
        self.server.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        assert self.server._loop is not None
        asyncio.run_coroutine_threadsafe(self.authenticator.aclose(), self.server._loop).result(20)
        self.server.__exit__(*error)

    def post(self, token: str = "", message: Any = None, **headers: str) -> Any:
        shown = {"Authorization": f"Bearer {token}"} if token else {}
        return self.server.post(message or call(1, "echo", {"text": "x"}), **shown, **headers)

    def raw(self, *lines: bytes, path: bytes = b"/mcp") -> bytes:
        body = json.dumps(request(1, "ping")).encode()
        head = b"POST %b HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n" % (
            path,
            self.server.port,
        )
        length = b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        return self.server.raw(head, *(line + b"\r\n" for line in lines), length, body)


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with TokenIssuer() as issuer, Door(issuer, tmp_path_factory.mktemp("keys") / "keys.json") as opened:
        yield opened


def test_without_a_token_the_answer_is_a_challenge_and_nothing_else(door: Door) -> None:
    answer = door.post()

    assert (answer.status, answer.body) == (401, b"")
    assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{URL}"'


def test_a_token_of_the_issuer_lets_its_caller_in(door: Door) -> None:
    answer = door.post(door.issuer.sign())

    assert (answer.status, answer.json["result"]["structuredContent"]) == (200, {"text": "x"})


def test_an_api_key_lets_its_caller_in_by_either_header(door: Door) -> None:
    _, text = door.keys.add("acme", scopes=["research"], now=door.issuer.now)
    door.authenticator.api_keys._looked_at = None  # type: ignore[union-attr]

    assert door.post(text).status == 200
    assert door.post(X_API_Key=text).status == 200
    assert door.post(X_API_Key=text[:-1]).status == 401


FALSE: dict[str, dict[str, Any]] = {
    "another audience": {"aud": f"https://{PLANTED}.example.com"},
    "ended": {"exp": 1_000_000_000},
    "not yet begun": {"nbf": 2**52},
    "another issuer": {"iss": f"https://{PLANTED}.example.com"},
    "no user": {"sub": None},
    "an empty user": {"sub": ""},
    "a user with a line break": {"sub": f"{PLANTED}\r\nX-Admin: 1"},
    "a tenant with NUL": {"tenant_id": f"{PLANTED}\0"},
    "an ID token": {"nonce": PLANTED},
    "for another resource": {"aud": "https://other.example.com", "resource": AUDIENCE},
    "no signature": {"header": {"alg": "none"}},
    "a secret": {"header": {"alg": "HS256"}},
    "an unknown key": {"header": {"kid": PLANTED}},
    "a path": {"header": {"kid": "../../dev/null"}},
    "a key of its own": {"header": {"jwk": make_key("mine").jwk}},
    "another key under the name": {"key": ANOTHER},
    "a logout token": {"header": {"typ": "logout+jwt"}},
}


@pytest.mark.parametrize("false", FALSE)
def test_a_false_token_is_told_nothing_but_fixed_words(door: Door, false: str) -> None:
    answer = door.post(door.issuer.sign(**FALSE[false]))

    challenge = answer.headers["www-authenticate"]
    assert (answer.status, answer.body) == (401, b"")
    assert challenge.startswith(f'Bearer resource_metadata="{URL}", error="invalid_token", error_description="')
    assert len(challenge.split('error_description="')[1].rstrip('"').split()) <= 6
    assert PLANTED not in str(answer.headers)
    assert "x-admin" not in answer.headers


def test_a_token_that_was_changed_is_refused(door: Door) -> None:
    head, _, signature = door.issuer.sign().split(".")

    assert door.post(f"{head}.{encode(door.issuer.claims(sub='bob'))}.{signature}").status == 401
    assert door.post(door.issuer.sign()[:-4]).status == 401
    assert door.post("a" * 9000).status == 401


@pytest.mark.parametrize("path", [b"/mcp?access_token=x", b"/mcp/?a=1&access%5Ftoken=x"])
def test_a_token_in_the_address_is_a_bad_request(door: Door, path: bytes) -> None:
    said = door.raw(b"Authorization: Bearer " + door.issuer.sign().encode(), path=path)

    assert said.startswith(b"HTTP/1.1 400")
    assert b'error="invalid_request"' in said


def test_two_headers_are_a_bad_request(door: Door) -> None:
    header = b"Authorization: Bearer " + door.issuer.sign().encode()

    assert door.raw(header, header).startswith(b"HTTP/1.1 400")
    assert door.raw(header, b"X-API-Key: slk_x").startswith(b"HTTP/1.1 400")
    assert door.raw(header.replace(b"Bearer", b"bEARER")).startswith(b"HTTP/1.1 200")


def test_the_metadata_is_there_for_everybody_and_does_not_ask_what_the_host_is(door: Door) -> None:
    with door.server.client() as client:
        answers = [
            client.get(path, Origin="https://somewhere.example")
            for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp")
        ]
        made_up = client.get("/.well-known/oauth-authorization-server")

    assert [answer.status for answer in answers] == [200, 200]
    assert (
        answers[0].json
        == answers[1].json
        == {
            "resource": AUDIENCE,
            "authorization_servers": [door.issuer.url],
            "bearer_methods_supported": ["header"],
            "resource_name": "specloom",
        }
    )
    assert answers[0].headers["access-control-allow-origin"] == "*"
    assert made_up.status == 404


def test_scopes_that_do_not_suffice_are_named_with_all_that_would(tmp_path: Path) -> None:
    policy = ScopePolicy(enforced=True, required=("org:read",))
    with TokenIssuer() as issuer, Door(issuer, tmp_path / "keys.json", scopes=policy) as door:
        first = door.post()
        few = door.post(issuer.sign(scope="org:read"))
        other = door.post(issuer.sign(scope="org:read tool:echoX"))
        enough = door.post(issuer.sign(scope="org:read", scp=["tool:echo"]))
        listed = door.post(issuer.sign(scope="org:read tool:echo"), request(1, "tools/list"))

    assert first.headers["www-authenticate"] == f'Bearer resource_metadata="{URL}", scope="org:read research"'
    assert (few.status, other.status, enough.status) == (403, 403, 200)
    assert 'error="insufficient_scope"' in few.headers["www-authenticate"]
    assert few.headers["www-authenticate"].endswith('scope="org:read research"')
    assert other.headers["www-authenticate"].endswith('scope="org:read tool:echo"')
    assert [tool["name"] for tool in listed.json["result"]["tools"]] == ["echo"]


def test_a_revoked_token_and_one_whose_key_is_gone_are_refused(tmp_path: Path) -> None:
    with TokenIssuer() as issuer, Door(issuer, tmp_path / "keys.json") as door:
        tokens = [issuer.sign(jti="a"), issuer.sign(jti="b")]
        before = [door.post(token).status for token in tokens]
        door.authenticator.revocations.revoke_token("a", issuer.now + 300)
        revoked = [door.post(token).status for token in tokens]
        issuer.keys[:] = [make_key("k2")]
        assert door.server._loop is not None
        refresh = door.authenticator._issuer_keys.refresh()  # type: ignore[union-attr]
        asyncio.run_coroutine_threadsafe(refresh, door.server._loop).result(20)

        assert (before, revoked) == ([200, 200], [401, 200])
        assert door.post(tokens[1]).status == 401
        assert door.post(issuer.sign()).status == 200


def test_while_the_issuer_is_away_a_token_is_to_be_sent_again(tmp_path: Path) -> None:
    with TokenIssuer() as issuer, Door(issuer, tmp_path / "keys.json") as door:
        issuer.replies = {"/jwks": (500, JSON, "{}"), METADATA: (500, JSON, "{}")}
        answer = door.post(issuer.sign())
        with door.server.client() as client:
            away = client.get("/health/ready")
        issuer.replies.clear()
        assert door.server._loop is not None
        refresh = door.authenticator._issuer_keys.refresh()  # type: ignore[union-attr]
        asyncio.run_coroutine_threadsafe(refresh, door.server._loop).result(20)
        with door.server.client() as client:
            back = client.get("/health/ready")
        later = door.post(issuer.sign())

    assert (away.status, back.status, later.status) == (503, 200, 200)
    assert answer.status == 503
    assert int(answer.headers["retry-after"]) > 0
    assert "www-authenticate" not in answer.headers
